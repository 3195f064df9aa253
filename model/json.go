package model

import "encoding/json"

// stored is a call as it is kept: the arguments as a text, because a model may write what is no JSON, and what it wrote
// must come back as it was.
type stored struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// MarshalJSON writes the call down, whatever its arguments are.
func (c Call) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{c.ID, c.Name, string(c.Arguments)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Call) UnmarshalJSON(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*c = Call{ID: s.ID, Name: s.Name, Arguments: json.RawMessage(s.Arguments)}
	return nil
}
