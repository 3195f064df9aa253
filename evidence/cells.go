package evidence

import (
	"encoding/json"
	"math"
	"strconv"
)

// exact is the largest integer that every JSON reader keeps exactly.
const exact = 1 << 53

// Cell makes any number, text or nil a value that JSON holds exactly: integers beyond 2^53, NaN and infinities become
// text. What comes from a database must have been made one of Go's basic types before.
func Cell(v any) any {
	switch x := v.(type) {
	case nil, bool, string:
		return x
	case int64:
		if x > exact || x < -exact {
			return strconv.FormatInt(x, 10)
		}
		return x
	case uint64:
		if x > exact {
			return strconv.FormatUint(x, 10)
		}
		return int64(x)
	case int32:
		return int64(x)
	case int:
		return Cell(int64(x))
	case float32:
		return Cell(float64(x))
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return x
	}
	return nil
}

// Text is a cell as people read it. A missing value is an en dash, which no data of its own is likely to be.
func Text(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		return strconv.FormatFloat(x, 'g', 15, 64) // the last bits of a sum are nothing to read
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// UnmarshalJSON reads an item back with whole numbers as int64, as they were when it was written.
func (it *Item) UnmarshalJSON(b []byte) error {
	type plain Item
	if err := json.Unmarshal(b, (*plain)(it)); err != nil {
		return err
	}
	for _, row := range it.Rows {
		for i, v := range row {
			if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) <= exact {
				row[i] = int64(f)
			}
		}
	}
	return nil
}
