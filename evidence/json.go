package evidence

import "encoding/json"

// The JSON is read by programs, for which an empty list is a list: no field that holds one is ever null.

// MarshalJSON writes the item with lists that are never null.
func (it Item) MarshalJSON() ([]byte, error) {
	type plain Item
	p := plain(it)
	if p.Args == nil {
		p.Args = json.RawMessage("{}")
	}
	p.Columns, p.Rows, p.Sources = list(p.Columns), list(p.Rows), list(p.Sources)
	return json.Marshal(p)
}

// MarshalJSON writes the source with lists that are never null.
func (s Source) MarshalJSON() ([]byte, error) {
	type plain Source
	s.Notes = list(s.Notes)
	return json.Marshal(plain(s))
}

// MarshalJSON writes the finding with lists that are never null.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	f.Evidence = list(f.Evidence)
	return json.Marshal(plain(f))
}

// MarshalJSON writes the record with lists that are never null.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	r.Figures, r.Findings, r.NotChecked = list(r.Figures), list(r.Findings), list(r.NotChecked)
	r.Evidence, r.Steering = list(r.Evidence), list(r.Steering)
	return json.Marshal(plain(r))
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
