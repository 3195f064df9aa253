package verify

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"There are **12** orders.":                 "12",
		"Revenue was **1,234.50** in March 2026.":  "1,234.50",
		"Revenue rose to $1.2M from €950k.":        "$1.2M €950k",
		"It is 1 234,5 kg and 1.234,5 m.":          "1 234,5 1.234,5",
		"It fell by 7.4 % (18,204 to 16,857).":     "7.4 % 18,204 16,857",
		"Margin: -3.5%, last time −2.1 %.":         "-3.5% −2.1 %",
		"The loss is (1,200.00).":                  "-1,200.00",
		"12–15 orders a day":                       "12 15",
		"1. First\n2. Second: 7 orders":            "7",
		"On 2026-03-01 at 14:05 there were 3.":     "3",
		"On 5 March 2026 and March 7, 9 failed":    "9",
		"`SELECT 5` gives 6":                       "6",
		"```sql\nSELECT 5\n```\nso 6":              "6",
		"See https://x.example/12?a=3 for 4 more":  "4",
		"order #123 and INV-001 and e2 and v1.2.3": "",
		"In 2026 we sold 2,026 units":              "2,026",
		"The top 3 regions have 40 orders":         "40",
		"| EU | 1,204 |\n| US | 980 |":             "1,204 980",
		"USD 45.10 per order, 3 million users":     "USD 45.10 3 million",
		"Version 2 was released on the 3rd":        "",
		"<@123456> asked about 5 things":           "5",
		"half of the 12 orders":                    "12",
		"Q3 had 10 incidents, Q4 had 11":           "10 11",
		"It took 2.5 s (2,500 ms)":                 "2.5 2,500",
		"no figures here":                          "",
	} {
		var got []string
		for _, n := range find(text) {
			got = append(got, n.text)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestDigits(t *testing.T) {
	for text, want := range map[string][2]float64{
		"12": {12, .5}, "1,234": {1234, .5}, "1,234.50": {1234.5, .005}, "1.234,5": {1234.5, .05}, "3,5": {3.5, .05}, "0.10": {.1, .005}, "1'234": {1234, .5}, "1.234.567": {1234567, .5},
	} {
		v, half, ok := digits(text)
		if !ok || math.Abs(v-want[0]) > 1e-12 || math.Abs(half-want[1]) > 1e-12 {
			t.Errorf("digits(%q) = %v ± %v, %t", text, v, half, ok)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("Revenue was **$1,234.50** (−3 %) in `x` on 2026-01-02.")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range find(text) {
			if n.at < 0 || n.at > len(text) || math.IsNaN(n.value) {
				t.Errorf("%+v", n)
			}
		}
	})
}
