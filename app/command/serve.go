package command

import (
	"errors"

	"plumb/app"
)

type runCmd struct {
	Config string `help:"The configuration file." placeholder:"FILE"`
}

func (c *runCmd) Run(s *session) error {
	config, err := target{Config: c.Config}.load(s)
	if err != nil {
		return err
	}
	return s.serve(config, config.BotSides())
}

type executeCmd struct {
	Config string `help:"The configuration file, the same as the bot's." placeholder:"FILE"`
}

func (c *executeCmd) Run(s *session) error {
	config, err := target{Config: c.Config}.load(s)
	if err != nil {
		return err
	}
	if config.NATS.URL == "" || config.Ledger.URL == "" {
		return usage{errors.New("an executor needs nats.url and a PostgreSQL ledger.url: without them the bot does all the work in its own process")}
	}
	return s.serve(config, app.WorkSide)
}

// serve runs a program until it is told to end.
func (s *session) serve(c app.Config, sides app.Side) error {
	a, err := app.New(s.ctx, c, sides, s.logger(c))
	if err != nil {
		return err
	}
	defer a.Close()
	return a.Run(s.ctx)
}

type doctorCmd struct {
	Config string `help:"The configuration file." placeholder:"FILE"`
}

func (c *doctorCmd) Run(s *session) error {
	config, err := target{Config: c.Config}.load(s)
	if err != nil {
		return err
	}
	if !app.Doctor(s.ctx, config, s.Out, s.quiet()) {
		return errSaid
	}
	return nil
}
