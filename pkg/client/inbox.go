package client

import (
	"slices"
	"sync"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// inbox holds the commands that callers of this node have handed in for one
// instance. Any goroutine may call it. A command waits, is taken into a burst,
// and is answered; a burst may also give it back, or apply it and go on.
type inbox struct {
	mu      sync.Mutex
	waiting []*waiter // for the next burst; guarded by mu
	running []*waiter // part of the burst under way; guarded by mu
	applied []*waiter // by a commit after which their burst goes on; guarded by mu
	told    bool      // of mail, since the last look into the mailbox began; guarded by mu
	closed  bool      // nobody may hand in any more; guarded by mu
}

// inboxLimit is how many commands may wait; more are ErrBusy.
const inboxLimit = 1000

// waiter is a command in hand, and who waits for it.
type waiter struct {
	cmd     workflow.Command
	created int64 // of its mailbox key, once it is durable; guarded by inbox.mu
	stage   stage // guarded by inbox.mu
	read    bool  // the mailbox was read since it came; guarded by inbox.mu
	decided bool  // its effect is durable, and is being written in several transactions; guarded by inbox.mu

	done   chan struct{} // closed once result and err are set
	result Result
	err    error
}

// stage is how far a command in hand has come, until it is answered.
type stage int

const (
	stageWaiting stage = iota
	stageRunning
	stageApplied
)

func newWaiter(cmd workflow.Command) *waiter { return &waiter{cmd: cmd, done: make(chan struct{})} }

// finish gives the answer, unless there is one. Two goroutines may not call it at
// the same time.
func (w *waiter) finish(r Result, err error) {
	if !w.finished() {
		w.result, w.err = r, err
		close(w.done)
	}
}

// acceptedOr is the answer to a command that is not run now: it is accepted if it is
// durable. The inbox's lock is held.
func (w *waiter) acceptedOr(now workflow.Instance, err error) (Result, error) {
	if w.created > 0 {
		return Result{Accepted: true, Instance: now}, nil
	}
	return Result{}, err
}

func (w *waiter) finished() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// offer hands in a command. It returns the waiter to wait for (the twin's, if the
// same call is here already; nil if the inbox is full), and whether the inbox is
// still open.
func (in *inbox) offer(w *waiter) (*waiter, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, false
	}
	for _, twin := range slices.Concat(in.running, in.applied, in.waiting) {
		if twin.cmd.ID != w.cmd.ID {
			continue
		}
		if k, other := w.cmd.Key, twin.cmd.Key; k != nil && other != nil && (k.BodyHash != other.BodyHash || !sameGuard(k.Guard, other.Guard)) {
			w.finish(Result{}, workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key is in use for another request; use a new key for a new request"))
			return w, true
		}
		return twin, true
	}
	if len(in.waiting) >= inboxLimit {
		return nil, true
	}
	in.waiting = append(in.waiting, w)
	return w, true
}

func sameGuard(a, b *workflow.Guard) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// tell says that there is mail. It is false if the inbox is closed.
func (in *inbox) tell() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.told = in.told || !in.closed
	return !in.closed
}

// looks is called before the mailbox is looked at, which may be as part of a commit:
// what was told until then is seen. It gives whether anything was.
func (in *inbox) looks() (told bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	told, in.told = in.told, false
	in.readFor()
	return told
}

// reads is called before the mailbox is read.
func (in *inbox) reads() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.readFor()
}

func (in *inbox) readFor() {
	for _, w := range in.waiting {
		w.read = true
	}
}

// unseen tells whether somebody told of mail that nobody has looked for since.
func (in *inbox) unseen() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.told
}

// idle tells whether no command waits.
func (in *inbox) idle() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.waiting) == 0
}

// takeBack removes a command that no burst has taken yet, and that is not durable:
// the mail of what is durable was taken out of the list already, and would stay in
// the mailbox. Others may wait for it too, with the same key: their call is as busy.
func (in *inbox) takeBack(w *waiter) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	at := slices.Index(in.waiting, w)
	if w.stage != stageWaiting || w.created > 0 || at < 0 {
		return false
	}
	in.waiting = slices.Concat(in.waiting[:at], in.waiting[at+1:])
	w.finish(Result{}, ErrBusy)
	return true
}

// giveBack puts commands that a burst took, and did not apply, in front of those
// that wait; running are those that the burst goes on with.
func (in *inbox) giveBack(hands []*waiter, running ...*waiter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, w := range hands {
		w.stage = stageWaiting
	}
	in.waiting = slices.Concat(hands, in.waiting)
	in.running = running
}

// durable is the create revision of a command's mailbox key, 0 while it is only in
// hand.
func (in *inbox) durable(w *waiter) int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return w.created
}

// persisted notes that a command was put into the mailbox.
func (in *inbox) persisted(w *waiter, created int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	w.created = created
}

// lasting tells whether a command is durable, or its effect is.
func (in *inbox) lasting(w *waiter) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return w.created > 0 || w.decided || w.stage == stageApplied
}

// decide notes that what the commands of served do is decided, and not yet written.
func (in *inbox) decide(served []served) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range served {
		served[i].w.decided = !served[i].nothing()
	}
}

// runningMail are the commands of the burst under way that are durable by now.
func (in *inbox) runningMail() (mail []store.Mail) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, w := range in.running {
		if w.created > 0 {
			mail = append(mail, store.Mail{Command: w.cmd, Created: w.created})
		}
	}
	return mail
}

// firstRunning is the first command of the burst under way; nil: it has none in hand.
func (in *inbox) firstRunning() *workflow.Command {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.running) == 0 {
		return nil
	}
	return &in.running[0].cmd
}

// answerWaiting answers commands that wait and are not to be run.
func (in *inbox) answerWaiting(answer func(*waiter) (Result, error, bool)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.drop(answer)
}

// drop needs mu.
func (in *inbox) drop(answer func(*waiter) (Result, error, bool)) {
	in.waiting = slices.DeleteFunc(in.waiting, func(w *waiter) bool {
		r, err, ok := answer(w)
		if ok {
			w.finish(r, err)
		}
		return ok
	})
}

// answerRunning ends the burst under way, which applied nothing.
func (in *inbox) answerRunning(answer func(*waiter) (Result, error)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, w := range in.running {
		w.finish(answer(w))
	}
	in.running = nil
}

// accept answers a command that came to nothing, if it is durable by now.
func (in *inbox) accept(w *waiter, now workflow.Instance) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.created > 0 {
		w.finish(Result{Accepted: true, Instance: now}, nil)
	}
	return w.created > 0
}

// commit notes what a commit has done of the burst under way: the commands of served
// are applied, or came to nothing, which is answered at once. If the burst goes on
// after the commit, the answers to what it applied wait for the end of the burst.
// closed: the commit has freed the lock, so that nobody may hand in any more.
func (in *inbox) commit(served []served, response *workflow.Response, now workflow.Instance, goesOn, closed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.running = nil
	in.closed = in.closed || closed
	if n := len(in.applied); n > 0 && in.applied[n-1].result.Response == nil { // the burst went on after the last of them
		in.applied[n-1].result.Response = response
	}
	for _, s := range served {
		r := Result{Effect: s.effect, Response: s.response}
		if s.nothing() { // what the burst goes on to do is not its answer, nor may it count as durable
			r.Instance = now
			s.w.finish(r, nil)
			continue
		}
		s.w.result, s.w.stage = r, stageApplied
		in.applied = append(in.applied, s.w)
	}
	if !goesOn {
		in.answerApplied(now, false)
	}
}

// answerApplied needs mu. accepted: their burst did not come to its end here.
func (in *inbox) answerApplied(now workflow.Instance, accepted bool) {
	for _, w := range in.applied {
		w.result.Accepted, w.result.Instance = accepted, now
		w.finish(w.result, nil)
	}
	in.applied = nil
}

// acceptApplied answers those whose commands are applied and whose burst goes on for long.
func (in *inbox) acceptApplied(now workflow.Instance) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.answerApplied(now, true)
}

// shut lets nobody hand in any more.
func (in *inbox) shut() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
}

// close shuts the inbox and answers everybody who is left.
func (in *inbox) close(now workflow.Instance, answer func(w *waiter) (Result, error)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.answerApplied(now, true)
	for _, w := range slices.Concat(in.running, in.waiting) {
		w.finish(answer(w))
	}
	in.running, in.waiting = nil, nil
}

// choose calls f while nothing is handed in or taken back, so that it chooses for
// the next burst among all that wait.
func (in *inbox) choose(f func(choice)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f(choice{in})
}

// choice is an inbox that does not change but by its methods. It is gone when
// [inbox.choose] returns.
type choice struct{ in *inbox }

// putOff answers commands that are not run now: those that are in the mailbox are
// accepted, the others get err.
func (c choice) putOff(now workflow.Instance, err error, which func(*waiter) bool) {
	c.in.drop(func(w *waiter) (Result, error, bool) {
		r, rerr := w.acceptedOr(now, err)
		return r, rerr, which(w)
	})
}

// twin tells whether the command of m waits here too. Then it is durable from now on;
// unless m is to be run as mail, which foreign says of one that was only in hand here.
func (c choice) twin(m *store.Mail, foreign bool) bool {
	for _, w := range c.in.waiting {
		if w.cmd.ID == m.Command.ID && (w.created > 0 || !foreign) {
			w.created, w.cmd.CreatedAt = m.Created, m.Command.CreatedAt
			return true
		}
	}
	return false
}

// any tells whether a command waits that is so.
func (c choice) any(is func(*waiter) bool) bool { return slices.ContainsFunc(c.in.waiting, is) }

// toFront puts the commands that are so before the others that wait, and tells how many they are.
func (c choice) toFront(are func(*waiter) bool) int {
	var front, rest []*waiter
	for _, w := range c.in.waiting {
		if are(w) {
			front = append(front, w)
		} else {
			rest = append(rest, w)
		}
	}
	c.in.waiting = append(front, rest...)
	return len(c.in.waiting) - len(rest)
}

// first are the first n commands that wait, or as many as there are.
func (c choice) first(n int) []*waiter {
	n = min(len(c.in.waiting), n)
	return c.in.waiting[:n:n]
}

// take takes the first n commands that wait into the next burst.
func (c choice) take(n int) []*waiter {
	hands := c.first(n)
	c.in.waiting = c.in.waiting[n:] // what is appended to it or deleted from it leaves hands alone
	for _, w := range hands {
		w.stage = stageRunning
	}
	c.in.running = hands
	return hands
}
