package app

import (
	"fmt"

	"plumb/loop"
	"plumb/model"
	"plumb/model/anthropic"
	"plumb/model/offline"
	"plumb/model/openai"
	"plumb/model/script"
)

// primary is the model that converses: the configured one with its retries, then the fallbacks.
func (c Config) primary() (model.Model, error) {
	if c.Models.Primary == nil {
		return nil, c.fault("", "no model is configured: set models.primary, or ask with -model offline")
	}
	var all []model.Model
	for _, m := range append([]Model{*c.Models.Primary}, c.Models.Fallback...) {
		built, err := m.build()
		if err != nil {
			return nil, err
		}
		all = append(all, model.WithRetry(built, model.RetryOptions{}))
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return model.Fallback(all...), nil
}

func (m Model) build() (model.Model, error) {
	switch m.Provider {
	case "openai":
		return openai.New(openai.Options{BaseURL: m.BaseURL, APIKey: m.APIKey, Name: m.Name}), nil
	case "anthropic":
		return anthropic.New(anthropic.Options{BaseURL: m.BaseURL, APIKey: m.APIKey, Name: m.Name}), nil
	case "offline":
		return offline.New(), nil
	case "script":
		return script.Open(m.Name)
	}
	return nil, fmt.Errorf("there is no model provider %q", m.Provider)
}

// price is the primary model's; zero where it is not known.
func (c Config) price() loop.Price {
	if p := c.Models.Primary; p != nil && p.Price != nil {
		return loop.Price{Input: p.Price.Input, Output: p.Price.Output}
	}
	return loop.Price{}
}

// label says under every answer what wrote it, where that is no language model.
func (c Config) label() string {
	if p := c.Models.Primary; p != nil && p.Provider == "offline" {
		return "offline planner, no language model"
	}
	return ""
}

// UseModel makes -model NAME the primary model: offline, script:FILE, or the name of another model of the provider
// that is configured.
func (c *Config) UseModel(name string) error {
	switch {
	case name == "":
	case name == "offline":
		c.Models = Models{Primary: &Model{Provider: "offline"}}
	case len(name) > 7 && name[:7] == "script:":
		c.Models = Models{Primary: &Model{Provider: "script", Name: name[7:]}}
	case c.Models.Primary == nil:
		return fmt.Errorf("-model %s: no provider is configured; use -model offline, -model script:FILE, or a configuration with models.primary", name)
	default:
		m := *c.Models.Primary
		m.Name, m.Price = name, nil
		c.Models = Models{Primary: &m}
	}
	return nil
}
