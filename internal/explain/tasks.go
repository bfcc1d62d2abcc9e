package explain

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// task says who has a task, since when and until when, and what was said of it last; or, of one that nobody has, how it
// went before.
func (r *Reason) task(t *etcdstore.Task) {
	if c := t.Claim; c != nil {
		r.Text += fmt.Sprintf(": worker %s has it since %s, attempt %d, until %s unless it says more", plain(c.Worker), stamp(c.Since), c.Attempt, stamp(c.Until))
		r.said(c)
		r.lasts(c.Last)
		r.limit(c.DoneBy, "is to be done by")
		return
	}
	r.Text += ": nobody has it"
	if p := &t.Past; p.Attempts > 0 || p.Why != "" {
		r.Text += fmt.Sprintf(", after %d failed", p.Attempts)
		if p.Worker != "" {
			r.Text += ", the last by worker " + plain(p.Worker)
		}
		r.lasts(p.Why)
	}
	r.limit(t.Past.ClaimBy, "is to be claimed by")
	r.limit(t.Past.DoneBy, "is to be done by")
}

func (r *Reason) said(c *store.TaskClaim) {
	if c.Progress != nil {
		r.Text += fmt.Sprintf("; it is at %g %%", *c.Progress)
	}
	if c.Text != "" {
		r.Text += "; it says " + plain(c.Text)
	}
}

func (r *Reason) lasts(why string) {
	if why != "" {
		r.Text += "; the attempt before ended so: " + plain(why)
	}
}

// limit says until when something is to happen to a task, or it fails.
func (r *Reason) limit(by time.Time, what string) {
	if !by.IsZero() {
		r.Text += fmt.Sprintf("; it %s %s, or it fails", what, stamp(by))
		r.Until = by
	}
}
