package etcdstore

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

// rest is the command that a commit leaves whose burst goes on.
func (w *world) rest() *workflow.Command {
	return &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: w.now}
}

// The rest of a burst is written with the first of its commits, and deleted with the
// last. One that was taken over is written again, without its attempts.
func TestTheRestOfABurstIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for name, took := range map[string]func(*workflow.Command){
		"as it was":          nil,
		"attempts":           func(c *workflow.Command) { c.Attempts = 1 },
		"begun by a process": func(c *workflow.Command) { c.Begun = []workflow.Begun{{Process: "p"}} },
	} {
		w := newWorld(t)
		f := w.lock("a", "me")
		first := w.first("a", f)
		first.Continue = w.rest()
		put := w.commit(first).Modified
		if took != nil {
			m := w.mailOf("a")[0]
			took(&m.Command)
			_, err := w.CountAttempt(w.ctx(), f, "a", m.Command, m.Created)
			w.ok(err)
		}
		on := w.consumes(w.next("a", f))
		on.Consumed[0].Drop, on.Continue = true, w.rest()
		on.Continue.CreatedAt = w.now.AddDate(0, 0, 1)
		done := w.commit(on)
		mail := w.mailOf("a")
		if len(mail) != 1 || mail[0].Created != put || (mail[0].Modified == put) != (took == nil) || mail[0].Command.Attempts != 0 || len(mail[0].Command.Begun) != 0 {
			t.Errorf("%s: mail %+v, first written at %d", name, mail, put)
		}
		if k := done.Kept; k == nil || len(k.Mail) != 1 || k.Mail[0].Created != put {
			t.Errorf("%s: %+v", name, done)
		}
		last := w.consumes(ends(w.next("a", f)))
		last.Consumed[0].Drop = true
		w.commit(last)
		w.want("mailbox/", 0)
	}
}
