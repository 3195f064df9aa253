package discord

import (
	"context"
	"fmt"

	"github.com/bwmarrin/discordgo"
)

// Check asks Discord whether the token works, and says who the bot is.
func Check(ctx context.Context, c Config) (string, error) {
	who, err := newClient(c).session.User("@me", discordgo.WithContext(ctx))
	if err != nil {
		return "", fmt.Errorf("discord.token is not accepted, or Discord cannot be reached: %w", err)
	}
	return "the token works; the bot is " + who.Username, nil
}
