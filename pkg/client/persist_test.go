package client

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/workflow"
)

// A burst that goes on gives its calls back. One whose twin came by mail is durable,
// and the mail is this owner's to do now: taken back, it would be left to the sweep.
func TestOnlyACallWithoutMailIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mail []store.Mail
		want bool
	}{
		"in hand only":        {nil, true},
		"its twin is mail":    {[]store.Mail{{Command: workflow.Command{ID: "call"}, Created: 7}}, false},
		"another one is mail": {[]store.Mail{{Command: workflow.Command{ID: "other"}, Created: 7}}, true},
	} {
		o := &owner{handle: newHandle(&Node{quarantine: admission.NewQuarantine(nil)}, "i")}
		w := newWaiter(workflow.Command{ID: "call"})
		if _, open := o.inbox.offer(w); !open {
			t.Fatal("the owner is closed")
		}
		work := o.collect(tt.mail, false)
		if o.inbox.takeBack(w) {
			t.Errorf("%s: taken back out of a burst", name)
		}
		o.inbox.giveBack(work.hands)
		if got := o.inbox.takeBack(w); got != tt.want {
			t.Errorf("%s: taken back: %v", name, got)
		}
		if again := o.collect(nil, false); (len(again.hands) == 0) != tt.want {
			t.Errorf("%s: the next burst has %d calls", name, len(again.hands))
		}
	}
}

type free struct{ ownership }

func (free) Context() context.Context { return context.Background() }

// A node whose time to stop is over drops what it is about to take too.
func TestWhatIsBeingTakenWhenTheNodeStopsIsDropped(t *testing.T) {
	t.Parallel()
	for name, stopped := range map[string]bool{"while it is taken": true, "never": false} {
		life, end := context.WithCancelCause(context.Background())
		n := &Node{warm: warm.New(warm.Bytes, nil), life: life, end: end}
		h := newHandle(n, "i")
		o, _, err := h.take(t.Context(), func(context.Context, preload) (ownership, *store.Loaded, error) {
			if stopped {
				n.end(errStopped)
			}
			return free{}, &store.Loaded{}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if stopped {
			select {
			case <-o.ctx.Done():
			case <-time.After(10 * time.Second):
			}
		}
		if got := errors.Is(context.Cause(o.ctx), errStopped); got != stopped {
			t.Errorf("%s: dropped: %t", name, got)
		}
		o.stop(nil)
		n.end(nil)
	}
}
