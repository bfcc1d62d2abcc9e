package engine

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// What runs for a command is told one time, which a repeat of the command is told too: else a call that is
// made again under the same key could say something else. It is when the command came, and after a save for
// which the definition asks (moveOn) when that was made. A save for another reason (an
// interrupt, the time since the last one, the size) moves it not: a repeat may have it at another place, and what
// the burst before called behind that place is not known. The wall clock is for what only the save has: when a
// timer is due, the journal.

// maxTimes bounds what an execution remembers of the times that what is in it was told: who runs again with
// the same keys is told them again.
const maxTimes = 64

// told is the time that what x does is told, in milliseconds since 1970.
func told(x *Execution) int64 {
	b := x.b
	b.asked = true
	t := cmp.Or(b.cmd.At, b.saved) // a program of before saved none
	switch {
	case b.asAt != 0 && b.calling == x:
		t = b.asAt
	case b.cmd.ID != x.born: // no call of another execution has this key
	default:
		if x.key != "" {
			t = toldBefore(x, t)
		}
		x.first = cmp.Or(x.first, t)
	}
	x.told = t
	return t
}

// seen is how many times of its command an execution was told, and the last of them.
type seen struct {
	N  int   `json:"n"`
	At int64 `json:"at"`
}

// toldBefore is the time for x, whose key another execution may have had, or will have: what that was told,
// one time after the other; t, if it was told none yet.
func toldBefore(x *Execution, t int64) int64 {
	home := x
	for home.parent != nil && home.parent.key != "" {
		home = home.parent
	}
	list := home.times[x.key]
	if x.seen.At != t {
		x.seen = seen{x.seen.N + 1, t}
		if len(list) == x.seen.N-1 && count(home.times) < maxTimes {
			if home.times == nil {
				home.times = map[string][]int64{}
			}
			list = append(list, t)
			home.times[x.key] = list
		}
	}
	if x.seen.N > len(list) {
		return t
	}
	return list[x.seen.N-1]
}

func count(times map[string][]int64) (n int) {
	for _, list := range times {
		n += len(list)
	}
	return n
}

// keptTimes is what an execution that makes the calls of x again, with its keys, is told; nil: x was told nothing.
func keptTimes(x *Execution) map[string][]int64 {
	if len(x.times) > 0 || x.first == 0 {
		return x.times
	}
	key, _ := x.CallKeys()
	return map[string][]int64{key: {x.first}}
}

// newCommand is the command for what Run was given. Where several came that were not saved apart from each other, the
// later one is told no earlier time than the saves before it.
func newCommand(b *Burst, cmd *workflow.Command) *command {
	at := cmd.CreatedAt
	if at.IsZero() {
		at = b.env.Now()
	}
	return &command{ID: cmd.ID, At: max(at.UnixMilli(), b.clock)}
}

// moveOn lets what comes behind the save that is asked for be told the time of that save.
func moveOn(b *Burst) {
	b.clock = max(b.clock, b.env.Now().UnixMilli())
	for i := range b.schedule.left() {
		c := b.schedule.left()[i].cmd
		c.At = max(c.At, b.clock)
	}
}

// secure makes what asked for the time durable, before something of it goes outside.
func secure(ctx context.Context, b *Burst) error {
	if !b.asked || b.secured || b.env.Secure == nil || b.fatal != nil {
		return b.fatal
	}
	if err := b.env.Secure(ctx); err != nil {
		b.fatal = err
		return err
	}
	b.secured = true
	return nil
}

// Now is the time for what an activity sends, keeps or computes: a repeat of the call with the same
// [Execution.IdempotencyKey] is given the same one. It is when what the instance works on came (its start, an
// event, a timer), or of the last save that the definition asked for, to the millisecond: it stands still in
// between. See [Execution.Clock].
func (x *Execution) Now() time.Time {
	at := told(x)
	if x.b.out != nil { // the activity is at it already
		if err := secure(x.b.ctx, x.b); err != nil {
			panic(err)
		}
	}
	return time.UnixMilli(at).UTC()
}

// Clock is what the clock of the node says now: for when a timer is due, and how long something takes. It is
// another one in a repeat, so nothing that goes outside may depend on it.
func (x *Execution) Clock() time.Time { return x.b.env.Now() }

func (s *scope) Now() time.Time { return time.UnixMilli(told(s.x)).UTC() }

// NewID makes an id that a repeat of the call with the same key makes too.
func (s *scope) NewID() string { return drawID(s.x, "value") }

// NewID makes an id that is stable when the burst is repeated, and, of an activity that may have an
// effect outside, when its call is made again with the same [Execution.IdempotencyKey].
func (x *Execution) NewID() string {
	if x.node.desc.NoEffect {
		return x.b.deriveID(x.node, "id")
	}
	return drawID(x, "id")
}

// drawID makes the next id of x. Its key is that of the call, and no other execution that is not the same call to the
// outside has it.
func drawID(x *Execution, kind string) string {
	x.drawn++
	return workflow.DeriveID(x.b.header.ID, x.IdempotencyKey(), kind, strconv.Itoa(x.drawn))
}
