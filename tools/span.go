package tools

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Span is a time range with the distance of its points; both ends belong to it.
type Span struct {
	Start, End time.Time
	Step       time.Duration
}

// mostPoints is the most points that a series of a range has.
const mostPoints = 200

// span reads a range. Its step is widened where the series would have too many points, and the notes say so.
func span(start, end, step string, now time.Time) (over Span, notes []string, err error) {
	if start == "" {
		return over, nil, errors.New("a range needs a start, such as -1h; for one moment of the past give it as start and as end")
	}
	if over.Start, err = moment(start, now); err != nil {
		return over, nil, fmt.Errorf("the start %w", err)
	}
	over.End = now
	if end != "" {
		if over.End, err = moment(end, now); err != nil {
			return over, nil, fmt.Errorf("the end %w", err)
		}
	}
	length := over.End.Sub(over.Start)
	if length < 0 {
		return over, nil, fmt.Errorf("the start (%s) is after the end (%s)", over.Start.Format(time.RFC3339), over.End.Format(time.RFC3339))
	}
	least := (length + mostPoints - 2) / (mostPoints - 1)
	asked, err := distance(step)
	if err != nil {
		return over, nil, err
	}
	over.Step = asked
	widened := over.Step < least
	if widened {
		over.Step = rounded(least)
	}
	notes = []string{fmt.Sprintf("from %s to %s, a point every %s", over.Start.Format(time.RFC3339), over.End.Format(time.RFC3339), brief(over.Step))}
	if widened && step != "" {
		notes[0] += fmt.Sprintf("; the step was widened from %s so that a series has at most %d points, and what lies between them is not seen", step, mostPoints)
	}
	return over, notes, nil
}

// moment reads a time: RFC 3339, a date or time of UTC, unix seconds, or one relative to now.
func moment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return sane(text, t)
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if math.Abs(f) > 1e11 || f != f {
			return time.Time{}, fmt.Errorf("%q is no time in unix seconds", short(text, 40))
		}
		return sane(text, time.UnixMilli(int64(math.Round(f*1000))))
	}
	offset := strings.TrimSpace(strings.TrimPrefix(text, "now"))
	if offset == "" && text != "" {
		return now, nil
	}
	if sign, rest := offset[:min(1, len(offset))], strings.TrimSpace(offset[min(1, len(offset)):]); sign == "-" || sign == "+" {
		if d, err := duration(rest); err == nil {
			if sign == "-" {
				d = -d
			}
			return sane(text, now.Add(d))
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-03-01T00:00:00Z, unix seconds, now, or a time before now like -1h or -7d", short(text, 40))
}

// sane refuses times that nobody has metrics of, so that no arithmetic on times can overflow.
func sane(text string, t time.Time) (time.Time, error) {
	if y := t.Year(); y < 1970 || y > 2200 {
		return time.Time{}, fmt.Errorf("%q is no time between 1970 and 2200", short(text, 40))
	}
	return t.UTC(), nil
}

// usualStep is the distance of points that nobody has chosen: most servers look that often.
const usualStep = 15 * time.Second

// distance reads a step, which may be a number of seconds.
func distance(text string) (time.Duration, error) {
	if text = strings.TrimSpace(text); text == "" {
		return usualStep, nil
	}
	d, err := duration(text)
	if f, bad := strconv.ParseFloat(text, 64); bad == nil {
		d, err = duration(strconv.FormatFloat(f, 'f', -1, 64) + "s")
	}
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("the step %q is no duration; write it like 30s, 5m or 1d", short(text, 40))
	}
	return d, nil
}

// units are those of Prometheus, where a day always has 24 hours.
var units = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour}

// duration reads numbers with units, such as 1h30m or 1.5d.
func duration(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no duration", short(text, 40))
	var sum float64
	for rest := text; rest != ""; {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		number, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil {
			return 0, bad
		}
		rest = rest[n:]
		u := len(rest) - len(strings.TrimLeft(rest, "mshdwy"))
		unit, ok := units[rest[:u]]
		if sum += number * float64(unit); !ok || sum > float64(250*units["y"]) {
			return 0, bad
		}
		rest = rest[u:]
	}
	if text == "" {
		return 0, bad
	}
	return time.Duration(sum), nil
}

// rounded is the next step that people would choose.
func rounded(d time.Duration) time.Duration {
	for _, s := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200} {
		if d <= s*time.Second {
			return s * time.Second
		}
	}
	day := units["d"]
	return (d + day - 1) / day * day
}

// brief writes a duration without the zeros of smaller units.
func brief(d time.Duration) string {
	if day := units["d"]; d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
