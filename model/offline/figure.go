package offline

import (
	"math"
	"strconv"
	"strings"
)

// figure writes a number for people: thousands apart, two decimals where it has more, more of them for small ones.
func figure(cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case cell == "":
		return "–"
	case err != nil || math.IsInf(v, 0) || math.IsNaN(v):
		return cell
	case !strings.ContainsAny(cell, ".eE"):
		return thousands(cell)
	case math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return thousands(strconv.FormatFloat(v, 'f', 2, 64))
}

// percent has one decimal, or more when that would be nothing.
func percent(cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return "–"
	}
	if v != 0 && math.Abs(v) < 0.1 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// thousands sets groups of three digits apart.
func thousands(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + whole + rest
}
