package ops

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"plumb/evidence"
	"plumb/tools"
)

// read turns the kinds of value that the library knows into series; it fails on the fourth, a text, by itself.
func read(value model.Value) ([]tools.Series, error) {
	var out []tools.Series
	switch v := value.(type) {
	case model.Vector:
		for _, s := range v {
			out = append(out, tools.Series{Labels: labels(s.Metric), Points: []tools.Point{point(s.Timestamp, s.Value, s.Histogram)}})
		}
	case model.Matrix:
		for _, s := range v {
			out = append(out, tools.Series{Labels: labels(s.Metric), Points: points(s)})
		}
	case *model.Scalar:
		out = []tools.Series{{Points: []tools.Point{point(v.Timestamp, v.Value, nil)}}}
	default:
		return nil, fmt.Errorf("a kind of value that is not known here (%T)", value)
	}
	return out, nil
}

func labels(m model.Metric) map[string]string {
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[string(name)] = string(value)
	}
	return out
}

// points merges the numbers and the histograms of a series, each of which is in the order of time.
func points(s *model.SampleStream) []tools.Point {
	out := make([]tools.Point, 0, len(s.Values)+len(s.Histograms))
	rest := s.Histograms
	for _, v := range s.Values {
		for len(rest) > 0 && rest[0].Timestamp < v.Timestamp {
			out = append(out, point(rest[0].Timestamp, 0, rest[0].Histogram))
			rest = rest[1:]
		}
		out = append(out, point(v.Timestamp, v.Value, nil))
	}
	for _, h := range rest {
		out = append(out, point(h.Timestamp, 0, h.Histogram))
	}
	return out
}

// point is a number, or the text of what is none. A native histogram is its count and sum, which PromQL can take apart.
func point(at model.Time, value model.SampleValue, h *model.SampleHistogram) tools.Point {
	if h != nil {
		return tools.Point{Time: moment(at), Value: fmt.Sprintf("histogram: count %v, sum %v", float64(h.Count), float64(h.Sum))}
	}
	return tools.Point{Time: moment(at), Value: evidence.Cell(float64(value))}
}

func moment(at model.Time) time.Time { return at.Time().UTC() }
