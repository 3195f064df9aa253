package discord

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// The kinds of first answer to an interaction.
const (
	answerDeferred       = 5 // a message will follow
	answerDeferredUpdate = 6 // the message with the button stays, or will change
)

// tokenLife is how long an interaction takes follow-ups: Discord's fifteen minutes, less the time to get there.
const tokenLife = 14 * time.Minute

// A token lets us answer one interaction.
type token struct {
	app, secret string
	at          time.Time
}

// replied is our message that stands for an interaction.
type replied struct{ channel, message string }

// commands are the slash commands. Only what works is registered.
func commands() []*discordgo.ApplicationCommand {
	const text = discordgo.ApplicationCommandOptionString
	return []*discordgo.ApplicationCommand{
		{Name: "ask", Description: "Ask about the team's data", Options: []*discordgo.ApplicationCommandOption{
			{Type: text, Name: "question", Description: "What do you want to know?", Required: true},
			{Type: text, Name: "source", Description: "The source to look at, if only one is meant"},
		}},
		{Name: "stop", Description: "Stop what runs in this thread"},
		{Name: "steer", Description: "Add something to the question that runs in this thread", Options: []*discordgo.ApplicationCommandOption{
			{Type: text, Name: "text", Description: "What should change?", Required: true},
		}},
	}
}

// register tells Discord the commands, in place of all that it knew.
func (a *Adapter) register(ctx context.Context) {
	app := a.me.Load().ID // of every bot that is younger than 2016
	url := discordgo.EndpointApplicationGlobalCommands(app)
	if a.cfg.CommandsGuild != "" {
		url = discordgo.EndpointApplicationGuildCommands(app, a.cfg.CommandsGuild)
	}
	err := persist(ctx, func() error {
		return a.rest.do(ctx, request{http.MethodPut, url, url, commands(), nil}, nil)
	})
	if err != nil {
		a.log.Error("the slash commands could not be registered", "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.registered = err
}

// interacted takes an interaction off the gateway. Each has a queue of its own: its first answer must be out within three
// seconds, whatever else is slow.
func (a *Adapter) interacted(i *discordgo.Interaction) {
	if i == nil || i.Data == nil {
		return
	}
	who, ok := presser(i)
	if !ok {
		return
	}
	var act func(context.Context, *discordgo.Interaction, chat.Person)
	switch d := i.Data.(type) {
	case discordgo.ApplicationCommandInteractionData:
		act = map[string]func(context.Context, *discordgo.Interaction, chat.Person){"ask": a.asked, "steer": a.steered, "stop": a.stopCommand}[d.Name]
	case discordgo.MessageComponentInteractionData:
		act = a.pressed
	}
	if act == nil {
		return
	}
	a.crew.do("interaction/"+i.ID, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, jobTime)
		defer cancel()
		act(ctx, i, who)
	})
}

// presser is who used a command or a button.
func presser(i *discordgo.Interaction) (chat.Person, bool) {
	switch {
	case i.Member != nil && i.Member.User != nil:
		return chat.Person{ID: i.Member.User.ID, Name: i.Member.DisplayName()}, true
	case i.User != nil:
		return chat.Person{ID: i.User.ID, Name: i.User.DisplayName()}, true
	}
	return chat.Person{}, false
}

// acknowledge gives the first answer, and says whether it is worth going on. It is no longer when Discord does not know
// the interaction any more, as with those that a resumed connection replays, or when another copy of the bot has it.
func (a *Adapter) acknowledge(ctx context.Context, i *discordgo.Interaction, kind, flags int) bool {
	ctx, cancel := context.WithTimeout(ctx, a.pace.ack)
	defer cancel()
	body := map[string]any{"type": kind}
	if flags != 0 {
		body["data"] = map[string]any{"flags": flags}
	}
	err := a.rest.do(ctx, request{method: http.MethodPost, url: discordgo.EndpointInteractionResponse(i.ID, i.Token), body: body}, nil)
	if c := code(err); c == codeUnknownInteraction || c == codeAlreadyAnswered {
		a.log.Info("an interaction is not ours to answer", "interaction", i.ID, "code", c)
		return false
	}
	if err != nil {
		// It may have arrived all the same; if it did not, the next step fails.
		a.log.Warn("an interaction's first answer failed", "interaction", i.ID, "error", err)
	}
	return true
}

// fill writes the answer to an interaction that was deferred, or changes the message whose button was pressed.
func (a *Adapter) fill(ctx context.Context, i *discordgo.Interaction, m message) (*discordgo.Message, error) {
	var made discordgo.Message
	url := discordgo.EndpointInteractionResponseActions(i.AppID, i.Token)
	err := persist(ctx, func() error {
		return a.rest.do(ctx, request{http.MethodPatch, url, "", m, m.files}, &made)
	})
	if err != nil {
		a.log.Warn("an interaction could not be answered", "interaction", i.ID, "error", err)
	}
	return &made, err
}

// whisper shows something to the person of an interaction alone.
func (a *Adapter) whisper(ctx context.Context, t token, m message) (string, error) {
	m.Flags |= flagEphemeral
	m.Nonce, m.EnforceNonce, m.Reference = "", false, nil
	var made discordgo.Message
	err := a.rest.do(ctx, request{http.MethodPost, discordgo.EndpointFollowupMessage(t.app, t.secret), "", m, m.files}, &made)
	return made.ID, err
}

// asked is /ask: the question becomes a line for all to read, and a thread hangs on it.
func (a *Adapter) asked(ctx context.Context, i *discordgo.Interaction, who chat.Person) {
	question := option(i, "question")
	if source := option(i, "source"); source != "" {
		question += "\n\nSource: " + source
	}
	if !a.acknowledge(ctx, i, answerDeferred, 0) {
		return
	}
	at, err := a.locate(ctx, i.GuildID, i.ChannelID)
	if err != nil {
		a.log.Warn("a question could not be placed", "channel", i.ChannelID, "error", err)
		_, _ = a.fill(ctx, i, text(sorry))
		return
	}
	line, err := a.fill(ctx, i, text(shorten("**@"+name(who)+" asks:** "+undisguised(question), contentLimit)))
	if err != nil {
		return
	}
	said := &chat.Message{Conversation: chat.Conversation{Place: at.place, Thread: at.thread}, ID: i.ID, Who: who, Text: question, Addressed: true, At: born(i.ID)}
	if at.thread == "" {
		said.Opens = true
		said.Conversation.Thread = a.startThread(ctx, at.place, line.ID, question)
	}
	a.remark(ctx, i, said, replied{i.ChannelID, line.ID})
}

// steered is /steer: a remark into the conversation, for all to read.
func (a *Adapter) steered(ctx context.Context, i *discordgo.Interaction, who chat.Person) {
	if !a.acknowledge(ctx, i, answerDeferred, 0) {
		return
	}
	at, err := a.locate(ctx, i.GuildID, i.ChannelID)
	switch {
	case err != nil:
		_, _ = a.fill(ctx, i, text(sorry))
		return
	case at.thread == "":
		_, _ = a.fill(ctx, i, text("Use /steer in the thread of the question that it is about."))
		return
	}
	remark := option(i, "text")
	line, err := a.fill(ctx, i, text(shorten("**@"+name(who)+":** "+undisguised(remark), contentLimit)))
	if err != nil {
		return
	}
	said := &chat.Message{Conversation: chat.Conversation{Place: at.place, Thread: at.thread}, ID: i.ID, Who: who, Text: remark, Addressed: true, At: born(i.ID)}
	a.remark(ctx, i, said, replied{i.ChannelID, line.ID})
}

// remark publishes what a command said.
func (a *Adapter) remark(ctx context.Context, i *discordgo.Interaction, said *chat.Message, line replied) {
	a.replies.put(said.ID, line)
	a.remember(i, said.Who, said.Conversation)
	if err := a.publish(ctx, chat.Event{Key: said.ID, Message: said}); err != nil {
		a.log.Error("a command could not be published", "interaction", i.ID, "error", err)
		a.apologise(ctx, i)
		return
	}
	a.Mark(chat.Mark{Conversation: said.Conversation, Message: said.ID, Sign: chat.Taken})
}

// stopCommand is /stop: whatever runs in this thread.
func (a *Adapter) stopCommand(ctx context.Context, i *discordgo.Interaction, who chat.Person) {
	if !a.acknowledge(ctx, i, answerDeferred, flagEphemeral) {
		return
	}
	at, err := a.locate(ctx, i.GuildID, i.ChannelID)
	switch {
	case err != nil:
		_, _ = a.fill(ctx, i, text(sorry))
		return
	case at.thread == "":
		_, _ = a.fill(ctx, i, text("Use /stop in the thread of what is to be stopped."))
		return
	}
	if a.press(ctx, i, who, chat.Conversation{Place: at.place, Thread: at.thread}, chat.Button{Action: chat.Stop}) {
		_, _ = a.fill(ctx, i, text("I passed that on. What runs in this thread will stop, if you may stop it."))
		return
	}
	_, _ = a.fill(ctx, i, text(sorry))
}

// pressed is a button. Its custom id says what it is for and of which run, so that it works for as long as the message
// is there, whatever was restarted since.
func (a *Adapter) pressed(ctx context.Context, i *discordgo.Interaction, who chat.Person) {
	action, run, _ := strings.Cut(i.Data.(discordgo.MessageComponentInteractionData).CustomID, ":")
	switch action {
	case string(chat.Evidence), csvAction:
		if a.acknowledge(ctx, i, answerDeferred, flagEphemeral) {
			a.reveal(ctx, i, who, action, run)
		}
		return
	case pageAction:
		if a.acknowledge(ctx, i, answerDeferredUpdate, 0) {
			a.reveal(ctx, i, who, action, run)
		}
		return
	}
	if !a.acknowledge(ctx, i, answerDeferredUpdate, 0) {
		return
	}
	if action != string(chat.Stop) && action != string(chat.Continue) {
		return
	}
	at, err := a.locate(ctx, i.GuildID, i.ChannelID)
	conv := chat.Conversation{Place: at.place, Thread: at.thread}
	if conv.Thread == "" {
		conv.Thread = i.ChannelID // where threads can not be had
	}
	if err != nil || !a.press(ctx, i, who, conv, chat.Button{Action: chat.Action(action), Run: run}) {
		a.apologise(ctx, i)
	}
}

// press publishes a press, and says whether that went well.
func (a *Adapter) press(ctx context.Context, i *discordgo.Interaction, who chat.Person, conv chat.Conversation, b chat.Button) bool {
	a.remember(i, who, conv)
	press := &chat.Press{Conversation: conv, Who: who, Button: b, At: born(i.ID)}
	if err := a.publish(ctx, chat.Event{Key: i.ID, Press: press}); err != nil {
		a.log.Error("a press could not be published", "interaction", i.ID, "error", err)
		return false
	}
	return true
}

// remember keeps the means to answer somebody privately in a conversation.
func (a *Adapter) remember(i *discordgo.Interaction, who chat.Person, conv chat.Conversation) {
	a.tokens.put(who.ID+"/"+conv.Thread, token{i.AppID, i.Token, time.Now()})
}

func (a *Adapter) apologise(ctx context.Context, i *discordgo.Interaction) {
	if _, err := a.whisper(ctx, token{i.AppID, i.Token, time.Now()}, text(sorry)); err != nil {
		a.log.Warn("an apology could not be given", "interaction", i.ID, "error", err)
	}
}

// option is the text of a command's option.
func option(i *discordgo.Interaction, name string) string {
	data, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	if !ok {
		return ""
	}
	for _, o := range data.Options {
		if s, ok := o.Value.(string); ok && o.Name == name {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// name is how a person is called in a post.
func name(p chat.Person) string {
	if p.Name == "" {
		return p.ID
	}
	return oneLine(undisguised(p.Name))
}
