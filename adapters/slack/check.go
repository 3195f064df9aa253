package slack

import (
	"context"
	"fmt"
)

// Check asks Slack whether both tokens work, and says who the bot is.
func Check(ctx context.Context, c Config) (string, error) {
	a := New(c, Deps{})
	who, err := a.api.AuthTestContext(ctx)
	if err != nil {
		if problem := tokenProblem("bot", err); problem != nil {
			return "", problem
		}
		return "", fmt.Errorf("slack.bot_token cannot be tried: %w", a.clean(err))
	}
	if _, _, err := a.api.StartSocketModeContext(ctx); err != nil {
		if problem := tokenProblem("app", err); problem != nil {
			return "", problem
		}
		return "", fmt.Errorf("slack.app_token does not open a socket: %w", a.clean(err))
	}
	return fmt.Sprintf("both tokens work; the bot is %s in %s", who.User, who.Team), nil
}
