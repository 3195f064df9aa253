package app

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"plumb/access"
	"plumb/loop"
)

// check finds what would go wrong later, at the door. It stops at the first fault, which it names with its place.
func (c *Config) check() error {
	for _, part := range []func() error{c.checkBasics, c.checkPlatforms, c.checkModels, c.checkSources, c.checkAccess, c.checkBudgets} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// fault is an error at a place of the file, as a YAML path without its $.
func (c *Config) fault(path, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if c.tree != nil {
		for ; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
			if p, err := yaml.PathString("$" + path); err == nil {
				if n, err := p.FilterFile(c.tree); err == nil && n != nil {
					return at(c.file, first(n).GetToken(), why)
				}
			}
		}
	}
	return &Wrong{File: c.file, Why: why}
}

// first is where a node begins: for a mapping, its first key.
func first(n ast.Node) ast.Node {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key
	}
	return n
}

func (c *Config) checkBasics() error {
	switch {
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level):
		return c.fault(".log.level", "log.level is debug, info, warn or error, not %q", c.Log.Level)
	case !slices.Contains([]string{"json", "text"}, c.Log.Format):
		return c.fault(".log.format", "log.format is json or text, not %q", c.Log.Format)
	case c.Ledger.URL != "" && !strings.HasPrefix(c.Ledger.URL, "postgres://") && !strings.HasPrefix(c.Ledger.URL, "postgresql://"):
		return c.fault(".ledger.url", "ledger.url begins with postgres://, or is empty for a SQLite file under data_dir")
	case c.NATS.URL != "" && c.Ledger.URL == "":
		return c.fault(".nats.url", "with nats.url the executors are programs of their own, and share a PostgreSQL: set ledger.url too")
	case c.Limits.Runs < 1:
		return c.fault(".limits.runs", "limits.runs is 1 at least, not %d", c.Limits.Runs)
	}
	lease, err := time.ParseDuration(c.Limits.Lease)
	if err != nil || lease < 2*time.Second {
		return c.fault(".limits.lease", "limits.lease is a duration of 2s at least, such as 30s, not %q", c.Limits.Lease)
	}
	return nil
}

func (c *Config) checkPlatforms() error {
	if s := c.Slack; s != nil {
		switch {
		case !strings.HasPrefix(s.AppToken, "xapp-"):
			return c.fault(".slack.app_token", "slack.app_token is missing or is no app-level token (they begin with xapp-)")
		case !strings.HasPrefix(s.BotToken, "xoxb-"):
			return c.fault(".slack.bot_token", "slack.bot_token is missing or is no bot token (they begin with xoxb-)")
		}
	}
	if d := c.Discord; d != nil && strings.TrimSpace(d.Token) == "" {
		return c.fault(".discord.token", "discord.token is missing")
	}
	return nil
}

func (c *Config) checkModels() error {
	models := map[string]*Model{".models.primary": c.Models.Primary, ".models.fast": c.Models.Fast}
	for i := range c.Models.Fallback {
		models[fmt.Sprintf(".models.fallback[%d]", i)] = &c.Models.Fallback[i]
	}
	for path, m := range models {
		if m == nil {
			continue
		}
		name := path[1:]
		switch {
		case !slices.Contains([]string{"openai", "anthropic", "offline", "script"}, m.Provider):
			return c.fault(path+".provider", "%s.provider is openai, anthropic, offline or script, not %q", name, m.Provider)
		case m.Name == "" && m.Provider != "offline":
			return c.fault(path+".name", "%s.name is missing: the model's name, or a script's file", name)
		case m.APIKey == "" && m.Provider == "anthropic", m.APIKey == "" && m.Provider == "openai" && m.BaseURL == "":
			return c.fault(path+".api_key", "%s.api_key is missing", name)
		case m.BaseURL != "" && !isURL(m.BaseURL, "http", "https"):
			return c.fault(path+".base_url", "%s.base_url is no http(s) URL", name)
		}
	}
	return nil
}

func isURL(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

// needs says what a source of each kind must have.
var needs = map[string]func(Source) string{
	"files":      func(s Source) string { return missing(s.Path == "", "path") },
	"postgres":   func(s Source) string { return missing(!isURL(s.URL, "postgres", "postgresql"), "url (postgres://…)") },
	"prometheus": func(s Source) string { return missing(!isURL(s.URL, "http", "https"), "url (http://…)") },
	"loki":       func(s Source) string { return missing(!isURL(s.URL, "http", "https"), "url (http://…)") },
	"searxng":    func(s Source) string { return missing(!isURL(s.URL, "http", "https"), "url (http://…)") },
	"http":       func(s Source) string { return missing(len(s.Allow) == 0, "allow (a list of URL prefixes)") },
	"kubernetes": func(s Source) string { return missing(len(s.Namespaces) == 0, "namespaces") },
}

func missing(yes bool, what string) string {
	if yes {
		return what
	}
	return ""
}

var nameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

func (c *Config) checkSources() error {
	seen := map[string]bool{}
	for i, s := range c.Sources {
		path := fmt.Sprintf(".sources[%d]", i)
		need, known := needs[s.Kind]
		switch {
		case !nameRE.MatchString(s.Name):
			return c.fault(path+".name", "a source's name is of letters, digits, - and _, not %q", s.Name)
		case seen[s.Name]:
			return c.fault(path+".name", "there are two sources named %s", s.Name)
		case !known:
			return c.fault(path+".kind", "the source %s is of no known kind: files, postgres, prometheus, loki, kubernetes, http or searxng, not %q", s.Name, s.Kind)
		case need(s) != "":
			return c.fault(path, "the source %s of kind %s needs %s", s.Name, s.Kind, need(s))
		}
		seen[s.Name] = true
	}
	return nil
}

func (c *Config) checkAccess() error {
	names := map[string]bool{}
	for _, s := range c.Sources {
		names[s.Name] = true
	}
	budgets := c.budgets()
	for i, r := range c.Access {
		path := fmt.Sprintf(".access[%d]", i)
		if err := access.Pattern(r.Where).Check(); err != nil {
			return c.fault(path+".where", "%s", err)
		}
		for j, s := range r.Sources {
			if !names[s] {
				return c.fault(fmt.Sprintf("%s.sources[%d]", path, j), "the rule for %s names a source %q that is not among the sources", r.Where, s)
			}
		}
		if _, ok := budgets[r.Budget]; !ok && r.Budget != "" {
			return c.fault(path+".budget", "the rule for %s names a budget %q that there is not", r.Where, r.Budget)
		}
	}
	return nil
}

func (c *Config) checkBudgets() error {
	for name, b := range c.Budgets {
		path := ".budgets." + name
		if b.Wall != nil {
			if _, err := time.ParseDuration(*b.Wall); err != nil {
				return c.fault(path+".wall", "%s.wall is a duration such as 30m, not %q", path[1:], *b.Wall)
			}
		}
		switch l := c.budgets()[name]; {
		case l.ModelCalls < 2 || l.ModelCalls > 120:
			return c.fault(path+".model_calls", "%s.model_calls is 2 to 120, not %d", path[1:], l.ModelCalls)
		case l.Wall < time.Minute || l.Wall > 4*time.Hour:
			return c.fault(path+".wall", "%s.wall is 1m to 4h, not %s", path[1:], l.Wall)
		case l.ToolCalls < 1, l.Tokens < 1, l.CostUSD <= 0, l.SoftStop < 0:
			return c.fault(path, "the limits of %s are above zero", path[1:])
		}
	}
	return nil
}

// budgets are those that are built in with what the file changes, and those that it adds.
func (c *Config) budgets() map[string]loop.Budget {
	out := map[string]loop.Budget{"work": loop.Work(), "conversation": loop.Conversation()}
	for name, b := range c.Budgets {
		l, known := out[name]
		if !known {
			l = loop.Work()
		}
		if b.ModelCalls != nil { // tool calls and tokens keep their ratio to it unless they are set
			l.ToolCalls, l.Tokens = l.ToolCalls**b.ModelCalls/l.ModelCalls, l.Tokens/l.ModelCalls**b.ModelCalls
			l.ModelCalls = *b.ModelCalls
		}
		set(&l.ToolCalls, b.ToolCalls)
		set(&l.Tokens, b.Tokens)
		set(&l.CostUSD, b.CostUSD)
		set(&l.SoftStop, b.SoftStop)
		if b.Wall != nil {
			l.Wall = duration(*b.Wall)
		}
		out[name] = l
	}
	return out
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// policy is the access rules. Whoever has the configuration file in hand has its sources: the terminal may use all of
// them unless a rule says otherwise.
func (c *Config) policy() *access.Policy {
	var rules []access.Rule
	for _, r := range c.Access {
		rules = append(rules, access.Rule{Where: access.Pattern(r.Where), Sources: r.Sources, Admins: r.Admins, Budget: r.Budget})
	}
	all := access.Rule{Where: "cli"}
	for _, s := range c.Sources {
		all.Sources = append(all.Sources, s.Name)
	}
	return access.New(append(rules, all))
}
