package client

import (
	"cmp"
	"time"

	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/engine"
)

// working is the state in which the burst runs, on a goroutine of its own. It is the
// only one in which the owner answers requests: no commit is under way, so a command
// may be made durable. In all other states requests wait, and the answers of a commit
// come before theirs.
type working struct {
	*round
	x    *burst
	work batch
}

func (s working) next(o *owner) state {
	var took time.Duration
	err := o.serve(s.x.b, func() error {
		began := time.Now()
		defer func() { took = time.Since(began) }()
		return s.x.work(s.ctx, &s.work)
	})
	o.course.deletion = cmp.Or(s.x.deletion, o.course.deletion)
	o.n.cfg.Metrics.Burst(took, tracing.TraceID(s.ctx))
	if err != nil {
		return s.failed(o.fail(err))
	}
	return committing(s)
}

// serve runs a burst, and answers requests until it is over. It returns when nothing is
// under way any more, neither the burst nor what was asked for.
func (o *owner) serve(b *engine.Burst, run func() error) error {
	o.running.Store(b)
	ran := make(chan error, 1)
	go func() { ran <- run() }()
	var (
		err       error
		persisted chan persisted // the one that is under way
		unmarked  chan struct{}
		dropped   = o.dropped.Done()
	)
	for ran != nil || persisted != nil || unmarked != nil {
		asked := o.asked
		if ran == nil || persisted != nil {
			asked = nil
		}
		select {
		case err = <-ran:
			ran = nil
			o.running.Store(nil)
		case <-asked:
			if r, ok := o.inbox.nextRequest(); ok {
				persisted = o.persist(r)
				o.wake() // there may be more
			}
		case p := <-persisted:
			persisted = nil
			o.persisted(p)
		case <-dropped:
			// An activity that does not end with its context is no reason to count this
			// as a death.
			dropped, unmarked = nil, o.unmark()
		case <-unmarked:
			unmarked = nil
		}
	}
	return err
}

// unmark takes the mark back while the burst runs.
func (o *owner) unmark() chan struct{} {
	h, ctx, m := o.handle, o.ctx, o.mark
	o.mark = nil
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		h.takeBackMark(ctx, m)
	}()
	return taken
}
