package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"plumb/chat"
)

// Bounds of the window with the evidence. Slack's are 100 blocks and 250 KB; a page ends well before them.
const (
	pageBlocks  = 60
	pageSize    = 60_000 // characters
	openTimeout = 2500 * time.Millisecond
	viewTimeout = 30 * time.Second
)

// A window is what a modal remembers about itself, so that its pages can be turned after a restart too.
type window struct {
	Place chat.Place `json:"place"`
	Run   string     `json:"run"`
}

// pages lays the exhibits out over as many pages as they take; there is always at least one.
func pages(exhibits []chat.Exhibit) [][]slack.Block {
	var all [][]slack.Block
	var page []slack.Block
	n := 0
	for _, e := range exhibits {
		for _, b := range whole(e) {
			s := size([]slack.Block{b})
			if len(page) == pageBlocks || n+s > pageSize {
				all, page, n = append(all, page), nil, 0
			}
			page = append(page, b)
			n += s
		}
	}
	if page == nil {
		page = []slack.Block{section("This run has left no evidence.")}
	}
	return append(all, page)
}

// view is the window with some blocks in it.
func view(w window, blocks ...slack.Block) slack.ModalViewRequest {
	memory, _ := json.Marshal(w) // strings only: cannot fail
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: slack.NewTextBlockObject(slack.PlainTextType, "Evidence", false, false),
		Close:  slack.NewTextBlockObject(slack.PlainTextType, "Close", false, false),
		Blocks: slack.Blocks{BlockSet: blocks}, PrivateMetadata: string(memory),
	}
}

// page is the window at one of its pages.
func page(w window, exhibits []chat.Exhibit, number int) slack.ModalViewRequest {
	all := pages(exhibits)
	number = min(max(number, 0), len(all)-1)
	blocks := all[number]
	if len(all) > 1 {
		var turn []slack.BlockElement
		if number > 0 {
			turn = append(turn, button(actionPrevious, strconv.Itoa(number-1), "Previous"))
		}
		if number < len(all)-1 {
			turn = append(turn, button(actionNext, strconv.Itoa(number+1), "Next"))
		}
		blocks = concat(blocks, []slack.Block{small(fmt.Sprintf("Page %d of %d", number+1, len(all))), slack.NewActionBlock("", turn...)})
	}
	return view(w, blocks...)
}

// open shows the evidence to who pressed the button. The window has to be opened within three seconds of the press, so
// it opens empty, and the evidence is fetched after that.
func (a *Adapter) open(ctx context.Context, c click) {
	w := window{Place: c.at.Place, Run: c.value}
	opening, cancel := context.WithTimeoutCause(ctx, openTimeout, errors.New("opening a window takes too long"))
	v, err := a.api.OpenViewContext(opening, c.trigger, view(w, section("Fetching the evidence …")))
	cancel()
	if err != nil {
		a.log.Warn("the evidence window did not open", "run", c.value, "error", a.clean(err))
		_, err := a.api.PostEphemeralContext(ctx, c.at.Channel, c.who.ID, slack.MsgOptionTS(c.at.Thread),
			slack.MsgOptionText("Slack did not let me open the evidence in time. Please press the button again.", true))
		if err != nil {
			a.log.Warn("nor could that be said", "error", a.clean(err))
		}
		return
	}
	a.fill(ctx, v.ID, w, c.who, 0)
}

// fill asks for the evidence anew, in the name of who looks at it now, and shows a page of it.
func (a *Adapter) fill(ctx context.Context, id string, w window, who chat.Person, number int) {
	ctx, cancel := context.WithTimeoutCause(ctx, viewTimeout, errors.New("the evidence takes too long"))
	defer cancel()
	var content slack.ModalViewRequest
	exhibits, err := a.deps.Exhibits(ctx, w.Run, who, w.Place)
	switch {
	case err == nil:
		content = page(w, exhibits, number)
	case ctx.Err() != nil:
		content = view(w, section("The evidence could not be fetched in time. Please close this and press the button again."))
	default:
		a.log.Info("evidence is not shown", "run", w.Run, "who", who.ID, "error", a.clean(err))
		content = view(w, section(clip(a.clean(err).Error(), sectionLimit)))
	}
	update, done := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer done()
	if _, err := a.api.UpdateViewContext(update, content, "", "", id); err != nil {
		a.log.Warn("the evidence window was not filled", "run", w.Run, "error", a.clean(err))
	}
}
