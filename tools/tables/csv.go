package tables

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// sampleBytes is how much of a file is read to see how it is written. What is seen is never taken for the whole:
// delimiter, header and encoding come from it, types do not.
const sampleBytes = 256 << 10

// A shape is how a CSV file is written.
type shape struct {
	comma   rune
	headers []string
	skip    int        // lines above the first row of data
	width   float64    // the average length of a line
	data    [][]string // the first rows of data
	notes   []string
}

var errNoCSV = errors.New("its lines do not split into the same fields, so it is no table")

// sniff finds a file's shape from its beginning; whole says that this is all of it.
func sniff(sample []byte, whole, tabs bool) (shape, error) {
	if !whole {
		// The last line may be cut off in the middle.
		if i := bytes.LastIndexByte(sample, '\n'); i > 0 {
			sample = sample[:i+1]
		}
	}
	if head := bytes.ToLower(bytes.TrimSpace(sample[:min(len(sample), 200)])); bytes.HasPrefix(head, []byte("<!doctype")) ||
		bytes.HasPrefix(head, []byte("<html")) {
		return shape{}, errors.New("an HTML page, not a table")
	}
	candidates := []rune{',', ';', '\t', '|'}
	if tabs {
		candidates = []rune{'\t', ',', ';', '|'}
	}
	var best split
	torn := 0.0
	for _, comma := range candidates {
		s := divide(sample, comma)
		torn = max(torn, s.torn)
		if s.score() > best.score() {
			best = s
		}
	}
	if len(best.records) == 0 {
		return shape{}, errors.New("it holds no lines")
	}
	// Prose has commas in most lines, but never the same number.
	if len(best.records) > 3 && (best.share < 0.5 || best.width == 1 && torn > 0.5) {
		return shape{}, errNoCSV
	}
	return best.shape(sample), nil
}

// A split is a sample taken apart at one delimiter.
type split struct {
	comma   rune
	records [][]string
	ends    []int64 // where each record ends
	width   int     // the number of fields that most records have
	share   float64 // of the records that have it
	torn    float64 // of the records with more than one field
}

// divide takes a sample apart with quotes respected, so that a delimiter inside them counts for nothing.
func divide(sample []byte, comma rune) split {
	r := csv.NewReader(bytes.NewReader(sample))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
	s := split{comma: comma}
	counts := map[int]int{}
	for len(s.records) < 500 {
		record, err := r.Read()
		if err != nil {
			break
		}
		s.records, s.ends = append(s.records, record), append(s.ends, r.InputOffset())
		counts[len(record)]++
	}
	for width, n := range counts {
		if n > counts[s.width] || n == counts[s.width] && width > s.width {
			s.width = width
		}
	}
	if len(s.records) > 0 {
		s.share = float64(counts[s.width]) / float64(len(s.records))
		s.torn = 1 - float64(counts[1])/float64(len(s.records))
	}
	return s
}

// score prefers what splits lines evenly, then what splits them at all. No split beats one into a single field only
// when it is uneven.
func (s split) score() float64 {
	if s.width < 2 {
		return 0.5 * s.share
	}
	return s.share + 0.01*float64(min(s.width, 50))
}

func (s split) shape(sample []byte) shape {
	out := shape{comma: s.comma}
	top := 0
	for top < min(len(s.records), 20) && len(s.records[top]) < s.width {
		top++
	}
	if top == min(len(s.records), 20) {
		top = 0
	}
	if top > 0 {
		out.notes = append(out.notes, fmt.Sprintf("%d lines above the header were skipped: %s", top, excerpt(strings.Join(s.records[0], " "))))
	}
	first, data := s.records[top], s.records[top+1:]
	start := int64(0)
	if header(first, data) {
		out.headers, start = first, s.ends[top]
	} else {
		out.headers, data = make([]string, len(first)), s.records[top:]
		out.notes = append(out.notes, "the file has no header line, so its columns are numbered")
		if top > 0 {
			start = s.ends[top-1]
		}
	}
	out.skip = lines(sample[:start])
	out.data = data
	out.width = float64(len(sample)) / float64(len(s.records))
	return out
}

// lines counts line ends of any of the three kinds.
func lines(b []byte) int {
	if n := bytes.Count(b, []byte("\n")); n > 0 {
		return n
	}
	return bytes.Count(b, []byte("\r"))
}

// header says whether the first record names the columns. It does not when it looks like the rest: wherever the column
// below holds numbers or dates, so does it. Years are an exception, because tables have them across.
func header(first []string, data [][]string) bool {
	typed, alike, years := 0, 0, 0
	for i, cell := range first {
		n, all := 0, 0
		for _, row := range data[:min(len(data), 50)] {
			if i < len(row) && strings.TrimSpace(row[i]) != "" {
				all++
				if guess(row[i]) != varchar {
					n++
				}
			}
		}
		if all == 0 || n*5 < all*4 {
			continue
		}
		typed++
		if guess(cell) != varchar {
			alike++
		}
		if y, err := strconv.Atoi(strings.TrimSpace(cell)); err == nil && y >= 1900 && y <= 2100 {
			years++
		}
	}
	return typed == 0 || alike < typed || years == alike
}

// A text is a file made readable as UTF-8: itself, or a copy under the temporary folder.
type text struct {
	name   string // for DuckDB
	gzip   bool
	sample []byte
	whole  bool // the sample is all of it
	note   string
	close  func()
}

// readable opens a text file, and copies it into UTF-8 when it is written otherwise. force takes it for Windows-1252
// though its beginning looks like UTF-8.
func readable(f *os.File, zipped, force bool, temp string) (text, error) {
	sample, whole, err := head(f, zipped)
	if err != nil {
		return text{}, err
	}
	from, label := charset(sample, whole, force)
	switch {
	case label == "":
		if bytes.IndexByte(sample, 0) >= 0 {
			return text{}, errors.New("it is not text")
		}
		return text{name: device(f), gzip: zipped, sample: bytes.TrimPrefix(sample, bom), whole: whole, close: func() {}}, nil
	case temp == "":
		temp = os.TempDir()
	}
	copied, err := recode(f, zipped, from, temp)
	if err != nil {
		return text{}, err
	}
	remove := func() { copied.Close(); os.Remove(copied.Name()) }
	sample, whole, err = head(copied, false)
	if err != nil {
		remove()
		return text{}, err
	}
	return text{name: copied.Name(), sample: sample, whole: whole, note: "read as " + label, close: remove}, nil
}

var bom = []byte("\xef\xbb\xbf")

// head reads the beginning of a file and goes back to its start.
func head(f *os.File, zipped bool) (sample []byte, whole bool, err error) {
	defer f.Seek(0, io.SeekStart)
	r, err := unzip(f, zipped)
	if err != nil {
		return nil, false, err
	}
	sample, err = io.ReadAll(io.LimitReader(r, sampleBytes+1))
	if err != nil {
		return nil, false, err
	}
	if len(sample) > sampleBytes {
		return sample[:sampleBytes], false, nil
	}
	return sample, true, nil
}

func unzip(r io.Reader, zipped bool) (io.Reader, error) {
	if !zipped {
		return r, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, errors.New("it is not gzip")
	}
	return z, nil
}

// charset names the encoding of what is not UTF-8.
func charset(sample []byte, whole, force bool) (encoding.Encoding, string) {
	if bytes.HasPrefix(sample, []byte{0xff, 0xfe}) || bytes.HasPrefix(sample, []byte{0xfe, 0xff}) {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "UTF-16"
	}
	if !whole {
		sample = sample[:len(sample)-utf8.UTFMax]
	}
	valid := utf8.Valid(sample)
	for cut := 1; !whole && !valid && cut < utf8.UTFMax && cut < len(sample); cut++ {
		valid = utf8.Valid(sample[:len(sample)-cut])
	}
	if valid && !force || bytes.IndexByte(sample, 0) >= 0 {
		return nil, ""
	}
	return charmap.Windows1252, "Windows-1252"
}

// recode copies a file into UTF-8.
func recode(f *os.File, zipped bool, from encoding.Encoding, temp string) (*os.File, error) {
	defer f.Seek(0, io.SeekStart)
	r, err := unzip(f, zipped)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	to, err := os.CreateTemp(temp, "recoded-*")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(to, io.LimitReader(from.NewDecoder().Reader(r), maxBytes))
	if err == nil {
		_, err = to.Seek(0, io.SeekStart)
	}
	if err != nil {
		to.Close()
		os.Remove(to.Name())
		return nil, err
	}
	return to, nil
}

// excerpt is the beginning of a text, for a sentence.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
