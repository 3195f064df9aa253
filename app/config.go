// Package app reads the configuration and builds the programs from it: one straight constructor, in the order of need,
// with the undoing of each step beside it. The commands are thin over what is here.
package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Config is the configuration file. Both programs take the same one.
type Config struct {
	DataDir string            `yaml:"data_dir"`
	NATS    Address           `yaml:"nats"`
	Ledger  Address           `yaml:"ledger"`
	Log     Log               `yaml:"log"`
	HTTP    HTTP              `yaml:"http"`
	Slack   *Slack            `yaml:"slack"`
	Discord *Discord          `yaml:"discord"`
	Models  Models            `yaml:"models"`
	Sources []Source          `yaml:"sources"`
	Access  []Rule            `yaml:"access"`
	Budgets map[string]Budget `yaml:"budgets"`
	Limits  Limits            `yaml:"limits"`

	oneQuestion bool // the process answers one question and ends

	file string    // for messages
	tree *ast.File // for the places of what is wrong; nil without a file
}

// The parts of a Config.
type (
	Address struct {
		URL string `yaml:"url"`
	}
	Log struct {
		Level  string `yaml:"level"`
		Format string `yaml:"format"`
	}
	HTTP struct {
		Listen    string `yaml:"listen"`
		PublicURL string `yaml:"public_url"`
	}
	Slack struct {
		AppToken string `yaml:"app_token"`
		BotToken string `yaml:"bot_token"`
		APIURL   string `yaml:"api_url"`
	}
	Discord struct {
		Token         string `yaml:"token"`
		APIURL        string `yaml:"api_url"`
		CommandsGuild string `yaml:"commands_guild"`
	}
	Models struct {
		Primary  *Model  `yaml:"primary"`
		Fast     *Model  `yaml:"fast"`
		Fallback []Model `yaml:"fallback"`
	}
	Model struct {
		Provider string `yaml:"provider"`
		BaseURL  string `yaml:"base_url"`
		APIKey   string `yaml:"api_key"`
		Name     string `yaml:"name"` // of the model; for a script, its file
		Price    *Price `yaml:"price"`
	}
	Price struct {
		Input  float64 `yaml:"input"`
		Output float64 `yaml:"output"`
	}
	Source struct {
		Name       string   `yaml:"name"`
		Kind       string   `yaml:"kind"`
		Path       string   `yaml:"path"`
		URL        string   `yaml:"url"`
		Namespaces []string `yaml:"namespaces"`
		Kubeconfig string   `yaml:"kubeconfig"`
		Allow      []string `yaml:"allow"`
	}
	Rule struct {
		Where   string   `yaml:"where"`
		Sources []string `yaml:"sources"`
		Admins  []string `yaml:"admins"`
		Budget  string   `yaml:"budget"`
	}
	// Budget has pointers so that a file may change one limit of a budget that is built in.
	Budget struct {
		ModelCalls *int     `yaml:"model_calls"`
		ToolCalls  *int     `yaml:"tool_calls"`
		Tokens     *int     `yaml:"tokens"`
		CostUSD    *float64 `yaml:"cost_usd"`
		Wall       *string  `yaml:"wall"`
		SoftStop   *int     `yaml:"soft_stop"`
	}
	Limits struct {
		Runs              int     `yaml:"runs"`
		RunsPerUserHour   int     `yaml:"runs_per_user_hour"`
		CostUSDChannelDay float64 `yaml:"cost_usd_channel_day"`
		Lease             string  `yaml:"lease"`
	}
)

// Wrong is a fault of the configuration, with its place.
type Wrong struct {
	File         string
	Line, Column int
	Why          string
}

func (e *Wrong) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Why)
}

// Load reads a configuration file, strictly: what it does not know, cannot read or misses is an error with its place.
func Load(file string, getenv func(string) (string, bool)) (Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Config{}, fmt.Errorf("the configuration cannot be read: %w; write one as in the README, or ask about a folder with -dir DIR", err)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Config{}, wrong(file, err)
	}
	c := defaults()
	c.file, c.tree = file, tree
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return Config{}, &Wrong{File: file, Why: "the file is empty; README.md shows the smallest configuration"}
	}
	if len(tree.Docs) > 1 {
		return Config{}, &Wrong{File: file, Why: "the file holds several documents; one is wanted"}
	}
	if err := expand(file, tree.Docs[0].Body, getenv); err != nil {
		return Config{}, err
	}
	if err := yaml.NodeToValue(tree.Docs[0].Body, &c, yaml.Strict(), yaml.DisallowUnknownField()); err != nil {
		return Config{}, wrong(file, err)
	}
	c.relative(filepath.Dir(file))
	return c, c.check()
}

// defaults is a configuration in which only what must be said is missing.
func defaults() Config {
	return Config{DataDir: "./.plumb", Log: Log{Level: "info", Format: "json"}, HTTP: HTTP{Listen: "127.0.0.1:8080"},
		Limits: Limits{Runs: 64, RunsPerUserHour: 60, CostUSDChannelDay: 50, Lease: "30s"}}
}

// Folder is the whole configuration of a question about one folder: the files in it, everything else at its default.
func Folder(dir string) (Config, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Config{}, err
	}
	if info, err := os.Stat(abs); err != nil {
		return Config{}, fmt.Errorf("the folder %s cannot be read: %w", dir, err)
	} else if !info.IsDir() {
		return Config{}, fmt.Errorf("%s is not a folder; -dir wants one with the files to ask about", dir)
	}
	c := defaults()
	c.file = "-dir " + dir
	c.Sources = []Source{{Name: sourceName(abs), Kind: "files", Path: abs}}
	return c, c.check()
}

// sourceName is a folder's name in a form that can be a source's.
func sourceName(dir string) string {
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(filepath.Base(dir), "_"), "_")
	if name == "" {
		return "files"
	}
	return name
}

// relative makes paths in the file relative to the file, wherever the program is started.
func (c *Config) relative(dir string) {
	c.DataDir = under(dir, c.DataDir)
	if m := c.Models.Primary; m != nil && m.Provider == "script" {
		m.Name = under(dir, m.Name)
	}
	for i := range c.Sources {
		if s := &c.Sources[i]; s.Path != "" {
			s.Path = under(dir, s.Path)
		}
	}
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand puts the environment's values in.
func expand(file string, node ast.Node, getenv func(string) (string, bool)) error {
	var first error
	ast.Walk(visit(func(n ast.Node) {
		s, ok := n.(*ast.StringNode)
		if !ok {
			return
		}
		s.Value = variable.ReplaceAllStringFunc(s.Value, func(ref string) string {
			name := ref[2 : len(ref)-1]
			value, set := getenv(name)
			if !set && first == nil {
				first = at(file, s.GetToken(), "the environment variable "+name+" is not set")
			}
			return value
		})
	}), node)
	return first
}

type visit func(ast.Node)

func (v visit) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

func at(file string, t *token.Token, why string) error {
	w := &Wrong{File: file, Why: why}
	if t != nil && t.Position != nil {
		w.Line, w.Column = t.Position.Line, t.Position.Column
	}
	return w
}

// wrong turns the YAML library's error into one of ours.
func wrong(file string, err error) error {
	if e, ok := err.(yaml.Error); ok {
		return at(file, e.GetToken(), e.GetMessage())
	}
	return &Wrong{File: file, Why: err.Error()}
}

// duration reads a duration that check has found good.
func duration(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}
