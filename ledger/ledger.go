// Package ledger is the durable record: conversations and what was said in them, runs with their steps, calls and
// evidence, and the posts on their way out. What a run did, and how it goes on after a crash, is readable from here
// alone. One port, two databases (the folders sqlite and postgres), one suite that both pass (ledgertest).
//
// Two ideas carry the rest. A message is recorded and routed in one transaction under its conversation's row, so that
// there is never more than one run under way in a conversation. And whoever works on a run holds a [Lease] with a fence
// that rises at each claim; every write names its fence, so that a worker that was given up cannot write any more.
package ledger

import (
	"context"
	"errors"
	"time"

	"plumb/chat"
	"plumb/evidence"
	"plumb/model"
)

// The errors that callers tell apart.
var (
	ErrFenced  = errors.New("the run belongs to another worker now")
	ErrTaken   = errors.New("the run is held by another worker, or over")
	ErrUnread  = errors.New("something was said that the run has not heard")
	ErrStopped = errors.New("the run was stopped by a person")
	ErrUnknown = errors.New("there is no such run")
)

// A Ledger keeps the record. All times that decide anything are the database's.
type Ledger interface {
	// Receive records a message once and does what decide says, in one transaction under the conversation's row. A
	// message that is known already changes nothing: its receipt says Duplicate and what was decided then.
	Receive(ctx context.Context, m chat.Message, decide func(Situation) Decision) (Receipt, error)

	// Amend changes what somebody has said, or takes it back, if no run has heard it yet. The question of a run that has
	// not begun, taken back, ends the run. What was heard stays as it was; the amendment tells.
	Amend(ctx context.Context, c chat.Change) (Amended, error)

	// Claim takes a run for a worker until ttl from now: one that waits, or one whose lease has run out. It raises the
	// fence, counts the attempt, drains the inbox for the step to come and returns all that is needed to go on. The
	// question itself is the first thing that step 1 hears. While results of calls are missing nothing is drained:
	// what waits is heard once they are in. ErrTaken if the run cannot be had.
	Claim(ctx context.Context, run, worker string, ttl time.Duration) (Held, error)
	// Extend keeps a lease for another ttl. ErrFenced when it is lost, ErrStopped when somebody has stopped the run
	// (the lease is kept all the same).
	Extend(ctx context.Context, l Lease, ttl time.Duration) error
	// Release hands a run back, for another worker to claim at once.
	Release(ctx context.Context, l Lease) error

	// Reply records what the model said at a step, the calls that it asked for as not yet run, and what it took.
	Reply(ctx context.Context, l Lease, step int, r model.Reply, spent evidence.Usage) error
	// Results records what came of a step's calls and drains the inbox: what it returns is heard at the next step.
	// With no calls done it only drains.
	Results(ctx context.Context, l Lease, step int, done []Call, spent evidence.Usage) ([]Said, error)
	// Finish ends a run and puts its posts into the outbox, in one transaction; unless something unheard is in the
	// inbox and the ending does not say that it does not matter: then nothing is written, and the error is ErrUnread.
	// Nor does a run that a person has stopped end in any way but stopped or failed: the error is ErrStopped.
	// It says whether something was unheard, so that the linked run has been started.
	Finish(ctx context.Context, l Lease, e Ending) (next bool, err error)
	// Stop marks a run as to be stopped. It says whether there was anything to stop; a run that still waits ends here,
	// and only then do the posts go to the outbox. Messages waiting for the run are cancelled with it.
	Stop(ctx context.Context, run string, by chat.Person, posts []chat.Post) (Stopping, error)

	// Due lists runs that have waited for a worker for at least age, and those whose worker has let its lease run out.
	Due(ctx context.Context, age time.Duration, limit int) ([]string, error)
	// Outbox lists posts that are not yet delivered and were never handed on, or last before age ago, oldest first.
	Outbox(ctx context.Context, age time.Duration, limit int) ([]chat.Post, error)
	// HandedOn notes that posts are on their way to their platform.
	HandedOn(ctx context.Context, posts []string) error
	// Delivered notes what became of a post. Saying it again changes nothing; that it arrived outweighs an error.
	Delivered(ctx context.Context, d Delivery) error

	// Run is one run whole.
	Run(ctx context.Context, id string) (Run, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, limit int) ([]Run, error)
	// Ping says whether the database answers.
	Ping(ctx context.Context) error
	Close() error
}

// A Situation is what is so in a conversation when a message comes.
type Situation struct {
	Own    bool // the thread began with a message to the bot, so that what is said in it is said to the bot
	Active *Run // the run under way, without its evidence
	Last   *Run // the newest run that is over, likewise
}

// A Decision is what a message means.
type Decision struct {
	Kind   DecisionKind `json:"kind"`
	Run    string       `json:"run,omitempty"`    // the run to start (a new id), steer or stop
	Parent string       `json:"parent,omitempty"` // the run that this one continues
	Budget string       `json:"budget,omitempty"` // of a run that starts
	Posts  []chat.Post  `json:"posts,omitempty"`  // to go out with the decision: a refusal, a word about a stop
	Why    string       `json:"why,omitempty"`    // for the record
}

// A DecisionKind is what a message does.
type DecisionKind string

// The decisions.
const (
	Start  DecisionKind = "start"
	Steer  DecisionKind = "steer"
	Halt   DecisionKind = "stop"   // stop the active run
	Refuse DecisionKind = "refuse" // say no, with a post
	Ignore DecisionKind = "ignore" // not for the bot; it leaves no trace but its key
)

// A Receipt says what was done with a message.
type Receipt struct {
	Duplicate bool     `json:"-"`
	Decision  Decision `json:"decision"`
	Stopping  Stopping `json:"stopping,omitempty"` // of a Halt
}

// Amended says what an amendment met.
type Amended struct {
	Fate Fate
	Was  chat.Message // before
	Run  string       // that the message is for
}

// A Fate is what has become of a message before somebody changed it.
type Fate string

// It was changed or withdrawn before anybody heard it; a run has heard it; it is no message for a run, or over.
const (
	Unheard Fate = "unheard"
	Heard   Fate = "heard"
	Past    Fate = "past"
)

// Stopping says what a stop met.
type Stopping string

// Nothing was under way; the run had not begun, and is over; the run is under way and has been told.
const (
	StopIdle    Stopping = "idle"
	StopWaiting Stopping = "waiting"
	StopRunning Stopping = "running"
)

// A Lease is the right to work on a run.
type Lease struct {
	Run   string
	Fence int64
}

// Held is a run that was claimed, with all that is needed to go on.
type Held struct {
	Lease Lease
	Run   Run
	Steps []Step // oldest first; the last may lack its reply, or results of its calls
	Past  []Run  // earlier runs of the conversation, oldest first, without evidence
}

// A Step is one round of the loop: what was heard, what the model replied, what came of its calls.
type Step struct {
	N     int
	Heard []Said
	Reply *model.Reply
	Calls []Call
}

// Said is a message that a run has heard.
type Said struct {
	Message chat.Message
	Seq     int64 // its place in the conversation
}

// A Call is one tool call of a step.
type Call struct {
	N      int // its place in the run, from 1
	Call   model.Call
	Done   bool
	Text   string // what the model reads
	Failed bool
	Item   *evidence.Item // what it left behind; nil until it is done
}

// A Run is one question and its working out.
type Run struct {
	ID           string
	Conversation chat.Conversation
	Question     chat.Message
	Budget       string
	Parent       string
	Status       evidence.Status
	Attempts     int
	Worker       string
	Started      time.Time // when it was asked
	Claimed      time.Time // when a worker first took it; zero before
	Ended        time.Time // zero before
	Delivered    bool      // its last post has arrived
	Usage        evidence.Usage
	Steerers     []chat.Person // who, besides the asker, was heard

	StopRequested bool        // somebody has stopped it: what is left to do is the stopped ending
	StoppedBy     chat.Person // who that was

	Record evidence.Record // whole only from [Ledger.Run]
}

// An Ending is how a run ends.
type Ending struct {
	Step    int
	Reply   *model.Reply // the reply that the ending rests on; nil if the run did not end with one
	Spent   evidence.Usage
	Record  evidence.Record // what there is to keep besides the evidence, which is there already
	Posts   []chat.Post
	Unheard bool   // end even if something is unheard; it goes to a linked run
	Next    string // the id of that run
}

// A Delivery is what became of a post.
type Delivery struct {
	Post  string   `json:"post"`
	IDs   []string `json:"ids"`             // the platform's, one a part
	Error string   `json:"error,omitempty"` // why it could not be delivered at all
}
