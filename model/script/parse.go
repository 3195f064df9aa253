package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plumb/model"
)

// A line is the model's side of one call.
type line struct {
	Expect    *expect      `json:"expect"`
	Text      string       `json:"text"`
	ToolCalls []call       `json:"tool_calls"`
	Usage     *model.Usage `json:"usage"`
	DelayMS   int          `json:"delay_ms"` // before the first token
	ChunkMS   int          `json:"chunk_ms"` // between tokens
	Error     *failure     `json:"error"`

	number int // in the file, from 1
}

// An expect says what the request must hold. Tools that are given but empty mean that no call may be possible.
type expect struct {
	Contains []string `json:"contains"`
	Tools    []string `json:"tools"`
}

type call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type failure struct {
	Status    int    `json:"status"`
	AfterText string `json:"after_text"`
}

// Open reads a script from a file.
func Open(file string) (model.Model, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("the script cannot be read: %w", err)
	}
	defer f.Close()
	s, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("script %s, %w", filepath.Base(file), err)
	}
	s.name = "script:" + filepath.Base(file)
	return s, nil
}

// Parse reads a script: a JSON object a line, blank lines aside. What the format does not know is an error.
func Parse(r io.Reader) (model.Model, error) {
	s, err := parse(r)
	if err != nil {
		return nil, fmt.Errorf("script, %w", err)
	}
	return s, nil
}

func parse(r io.Reader) (*player, error) {
	s := &player{name: "script", answered: map[digest]int{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 64<<20)
	n := 1
	for ; in.Scan(); n++ {
		text := bytes.TrimSpace(in.Bytes())
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors put a byte order mark there
		}
		if len(text) == 0 {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		l.number = n
		s.lines = append(s.lines, l)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return s, nil
}

func parseLine(text []byte) (line, error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the object does not end on this line")
		}
		return l, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return l, errors.New("there is more than one object on this line")
	}
	if text[0] != '{' {
		return l, errors.New("this is no object")
	}
	return l, l.check()
}

func (l *line) check() error {
	for i := range l.ToolCalls {
		c := &l.ToolCalls[i]
		if c.Name == "" {
			return errors.New("a tool call needs a name")
		}
		if len(c.Arguments) == 0 || string(c.Arguments) == "null" {
			c.Arguments = json.RawMessage("{}")
		}
	}
	if l.DelayMS < 0 || l.ChunkMS < 0 {
		return errors.New("delay_ms and chunk_ms cannot be negative")
	}
	if e := l.Error; e != nil && e.Status != 0 && (e.Status < 400 || e.Status > 599) {
		return fmt.Errorf("status %d is no error; a status is from 400 to 599, or 0 for a connection that is cut", e.Status)
	}
	if u := l.Usage; u != nil && (u.InputTokens < 0 || u.OutputTokens < 0) {
		return errors.New("usage cannot be negative")
	}
	return nil
}
