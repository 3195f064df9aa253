package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"plumb/adapters/discord"
	"plumb/adapters/slack"
	"plumb/bus"
	"plumb/model"
	"plumb/tools/ops"
	"plumb/tools/python"
	"plumb/tools/tables"
)

// A check looks at one part and says what is so, or what is wrong and what to do.
type check struct {
	part string
	look func(context.Context) (string, error)
}

// Doctor checks every part that the configuration names and writes a line about each. It says whether all is well.
func Doctor(ctx context.Context, c Config, w io.Writer, log *slog.Logger) bool {
	well := true
	for _, k := range c.checks(log) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		said, err := k.look(ctx)
		cancel()
		if err != nil {
			well = false
			fmt.Fprintf(w, "FAIL  %-24s %s\n", k.part, err)
			continue
		}
		fmt.Fprintf(w, "ok    %-24s %s\n", k.part, said)
	}
	return well
}

func (c Config) checks(log *slog.Logger) []check {
	out := []check{{"data_dir", c.checkDataDir}, {"nats", c.lookAtNATS(log)}, {"ledger", c.lookAtLedger}}
	if c.Models.Primary == nil {
		out = append(out, check{"models.primary", func(context.Context) (string, error) {
			return "", fmt.Errorf("no model is configured; set models.primary")
		}})
	}
	for i, m := range append([]*Model{c.Models.Primary, c.Models.Fast}, pointers(c.Models.Fallback)...) {
		if m != nil {
			out = append(out, check{[]string{"models.primary", "models.fast", "models.fallback"}[min(i, 2)], m.look})
		}
	}
	for _, s := range c.Sources {
		out = append(out, check{"source " + s.Name, s.look(log)})
	}
	if s := c.Slack; s != nil {
		out = append(out, check{"slack", func(ctx context.Context) (string, error) {
			return slack.Check(ctx, slack.Config{AppToken: s.AppToken, BotToken: s.BotToken, APIURL: s.APIURL})
		}})
	}
	if d := c.Discord; d != nil {
		out = append(out, check{"discord", func(ctx context.Context) (string, error) {
			return discord.Check(ctx, discord.Config{Token: d.Token, APIURL: d.APIURL})
		}})
	}
	out = append(out, check{"run_python", func(context.Context) (string, error) {
		if _, err := os.Stat(python.File(os.Getenv)); err != nil {
			return "not offered: " + python.ErrNoInterpreter.Error(), nil // a choice, and no fault
		}
		return "the interpreter is at " + python.File(os.Getenv), nil
	}})
	return append(out, check{"access", c.lookAtAccess})
}

func pointers(ms []Model) []*Model {
	var out []*Model
	for i := range ms {
		out = append(out, &ms[i])
	}
	return out
}

func (c Config) checkDataDir(context.Context) (string, error) {
	if err := os.MkdirAll(c.DataDir, 0o755); err != nil {
		return "", fmt.Errorf("cannot be made: %w", err)
	}
	f, err := os.CreateTemp(c.DataDir, "doctor-")
	if err != nil {
		return "", fmt.Errorf("cannot be written: %w", err)
	}
	_ = f.Close()
	return c.DataDir + " can be written", os.Remove(f.Name())
}

func (c Config) lookAtNATS(log *slog.Logger) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if c.NATS.URL == "" {
			return "embedded, in this process, no port opened", nil
		}
		b, err := bus.Open(ctx, bus.Options{URL: c.NATS.URL, Log: log})
		if err != nil {
			return "", err
		}
		b.Close()
		return "answers, with JetStream", nil
	}
}

func (c Config) lookAtLedger(ctx context.Context) (string, error) {
	l, err := OpenLedger(ctx, c)
	if err != nil {
		return "", err
	}
	defer l.Close()
	if err := l.Ping(ctx); err != nil {
		return "", err
	}
	if c.Ledger.URL == "" {
		return "SQLite at " + filepath.Join(c.DataDir, "ledger.db"), nil
	}
	return "PostgreSQL answers, schema up to date", nil
}

// look asks a model for one word.
func (m *Model) look(ctx context.Context) (string, error) {
	built, err := m.build()
	if err != nil {
		return "", err
	}
	if m.Provider == "script" || m.Provider == "offline" {
		return m.Provider + ", needs no key", nil
	}
	_, err = model.Collect(ctx, built, model.Request{System: "Answer with one word.", Turns: []model.Turn{{Role: model.User, Text: "doctor: Are you there?"}}}, nil)
	if err != nil {
		return "", fmt.Errorf("%s (%w)", model.KindOf(err).For(), err)
	}
	return m.Provider + " " + m.Name + " answers", nil
}

func (s Source) look(log *slog.Logger) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if s.Kind == "prometheus" {
			p, err := ops.OpenPrometheus(s.Name, s.URL, nil)
			if err != nil {
				return "", err
			}
			return p.Check(ctx)
		}
		if s.Kind != "files" {
			return "", fmt.Errorf("sources of kind %s cannot be read by this version; its questions are answered without it", s.Kind)
		}
		temp, err := os.MkdirTemp("", "plumb-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(temp)
		f, err := tables.Open(ctx, s.Name, s.Path, tables.Options{Temp: temp, Log: log})
		if err != nil {
			return "", err
		}
		defer f.Close()
		c := f.Catalog()
		return fmt.Sprintf("%d tables, %d documents, %d files skipped", len(c.Tables), len(c.Documents), len(c.Skipped)), nil
	}
}

func (c Config) lookAtAccess(context.Context) (string, error) {
	if (c.Slack != nil || c.Discord != nil) && len(c.Access) == 0 {
		return "", fmt.Errorf("no rule allows anything anywhere; add one, such as { where: \"slack:*:*\", sources: [NAME] }")
	}
	return fmt.Sprintf("%d rules; what none of them allows is refused", len(c.Access)), nil
}
