package ledgertest

import (
	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
)

var changes = []test{
	{"(S17) a remark that nobody has heard is heard as it was changed", changedRemark},
	{"(S17) a question that nobody has heard is heard as it was changed", changedQuestion},
	{"(S17) a remark that was taken back is not heard", withdrawnRemark},
	{"(S17) a question taken back before the start ends the run", withdrawnQuestion},
	{"(S17) what was heard stays as it was", changedTooLate},
	{"(S17) what is over or unknown stays as it was", changedPast},
}

func (b bench) amend(m chat.Message, text string, deleted bool) ledger.Amended {
	b.Helper()
	a, err := b.ledger.Amend(b.Context(), chat.Change{Conversation: m.Conversation, Message: m.ID, Text: text, Deleted: deleted})
	if err != nil {
		b.Fatalf("Amend: %v", err)
	}
	return a
}

func changedRemark(b bench) {
	b.ask("r")
	m := b.remark("r", "2", bob, "only Asia")
	b.is("amended", b.amend(m, "only EU", false), ledger.Amended{Fate: ledger.Unheard, Was: m, Run: "r"})
	b.is("heard", texts(b.claim("r", long).Steps[0].Heard), []string{"how many orders?", "only EU"})
}

func changedQuestion(b bench) {
	m := b.ask("r")
	b.amend(m, "how many refunds?", false)
	h := b.claim("r", long)
	b.is("heard", texts(h.Steps[0].Heard), []string{"how many refunds?"})
	b.is("question", h.Run.Question.Text, "how many refunds?")
}

func withdrawnRemark(b bench) {
	b.ask("r")
	m := b.remark("r", "2", bob, "only Asia")
	b.amend(m, "", true)
	b.is("heard", texts(b.claim("r", long).Steps[0].Heard), []string{"how many orders?"})
	b.is("again", b.amend(m, "only EU", false).Fate, ledger.Past)
}

func withdrawnQuestion(b bench) {
	m := b.ask("r")
	b.is("fate", b.amend(m, "", true).Fate, ledger.Unheard)
	b.is("status", b.run("r").Status, evidence.Stopped)
	_, err := b.ledger.Claim(b.Context(), "r", "w", long)
	b.fails("Claim", err, ledger.ErrTaken)
	b.receive(message("r", "9", ann, "and now?"), starts("r2"))
}

func changedTooLate(b bench) {
	m := b.ask("r")
	b.claim("r", long)
	b.is("amended", b.amend(m, "how many refunds?", false), ledger.Amended{Fate: ledger.Heard, Was: m, Run: "r"})
	b.is("question", b.run("r").Question.Text, "how many orders?")
}

func changedPast(b bench) {
	b.is("unknown", b.amend(message("x", "1", ann, "hello"), "bye", false).Fate, ledger.Past)
	m := message("t", "1", ann, "hello")
	b.receive(m, says(ledger.Decision{Kind: ledger.Ignore}))
	b.is("ignored", b.amend(m, "bye", false).Fate, ledger.Past)
}
