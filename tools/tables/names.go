package tables

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// names hands out names that need no quotes, each once.
type names map[string]bool

// give makes a free name of a spelling; fallback is the name of what has none.
func (n names) give(spelling, fallback string) string {
	base := Name(spelling)
	if base == "" {
		base = fallback
	}
	name := base
	for i := 2; n[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	n[name] = true
	return name
}

// Name makes a spelling a name that needs no quotes: lower case, every run of characters that are neither letters nor
// digits one underscore, t_ before a leading digit. Letters of other scripts stay, because DuckDB takes them as they
// are and a column of a Japanese file would have no name without them.
func Name(spelling string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(spelling, " "))) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		if b.Len() == 0 && unicode.IsDigit(r) {
			b.WriteString("t_")
		}
		b.WriteRune(r)
	}
	if gap {
		b.WriteByte('_')
	}
	return b.String()
}

// stem is a file's name without folder and extensions: sales/2024 Q1.csv.gz gives "2024 Q1".
func stem(file string) string {
	base := strings.TrimSuffix(path.Base(file), ".gz")
	if s := strings.TrimSuffix(base, path.Ext(base)); s != "" {
		return s
	}
	return base
}

// quote writes a name as an SQL identifier, literal a text as an SQL string.
func quote(name string) string   { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }
