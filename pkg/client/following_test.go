package client

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestWhatFollowsACommit(t *testing.T) {
	t.Parallel()
	mail := func(kinds ...workflow.CommandKind) batch {
		b := batch{}
		for _, k := range kinds {
			b.mail = append(b.mail, store.Mail{Command: workflow.Command{ID: string(k), Kind: k}, Created: 1})
		}
		return b
	}
	inHand := batch{hands: []*waiter{call("a")}}
	rekeyed := &store.Commit{Before: &store.Record{}, After: store.Record{Header: workflow.Instance{CorrelationID: "new"}}}
	bookmarks := &store.Commit{Created: []workflow.Bookmark{{ID: "b"}}}
	nothingNew := &store.Commit{Before: &store.Record{}}
	more := batch{hands: inHand.hands, more: true}
	kept := &store.Kept{Mail: mail(workflow.CommandResume).mail}
	queue := &store.Kept{Queue: []store.QueueItem{{ID: "q"}}}
	tooLarge := fmt.Errorf("a commit: %w", etcdstore.ErrTooLarge)
	buried := burst{dead: make([]store.DeadLetter, 1), consumed: make([]store.Consumed, 1)}
	for name, tt := range map[string]struct {
		c         *store.Commit
		res       *store.Committed
		err       error
		x         burst
		work      batch
		unmatched bool
		want      action
	}{
		"released":                               {c: bookmarks, res: &store.Committed{Released: true}, work: inHand, want: lockReleased},
		"released, though it was resolved":       {c: nothingNew, res: &store.Committed{Released: true, Resolved: true}, work: inHand, want: lockReleased},
		"kept for mail":                          {c: bookmarks, res: &store.Committed{Kept: kept}, work: inHand, want: lockKeptWithMail},
		"kept for mail of a burst that goes on":  {c: bookmarks, res: &store.Committed{Kept: kept}, x: burst{goOn: true}, work: inHand, want: lockKeptWithMail},
		"kept for queued stimuli":                {c: bookmarks, res: &store.Committed{Kept: queue}, work: inHand, want: lockKeptWithQueue},
		"kept for what is in the queue unread":   {c: bookmarks, res: &store.Committed{Kept: &store.Kept{Mail: kept.Mail, Unread: true}}, work: inHand, want: lockKeptWithQueue},
		"kept for mail, and more is there":       {c: bookmarks, res: &store.Committed{Kept: kept}, work: more, want: mailboxAgain},
		"more was there":                         {c: nothingNew, res: &store.Committed{}, work: more, want: mailboxAgain},
		"the burst goes on":                      {c: nothingNew, res: &store.Committed{}, x: burst{goOn: true}, work: inHand, want: mailboxAgain},
		"the answer was lost":                    {c: nothingNew, res: &store.Committed{Resolved: true}, work: inHand, want: mailboxAndQueueAgain},
		"the answer was lost, and the lock kept": {c: nothingNew, res: &store.Committed{Resolved: true, Kept: kept}, work: inHand, want: mailboxAndQueueAgain},
		"new bookmarks":                          {c: bookmarks, res: &store.Committed{}, work: inHand, want: queueToLookAt},
		"another correlation":                    {c: rekeyed, res: &store.Committed{}, work: inHand, want: queueToLookAt},
		"bookmarks of a commit on the way":       {c: nothingNew, res: &store.Committed{}, work: inHand, unmatched: true, want: queueToLookAt},
		"nothing":                                {c: nothingNew, res: &store.Committed{}, work: inHand, want: nothingLeft},
		"stale":                                  {err: store.ErrStale, work: inHand, want: commitStale},
		"conflict":                               {err: store.ErrConflict, work: inHand, want: commitConflict},
		"fenced":                                 {err: store.ErrFenced, work: inHand, want: commitFailed},
		"another has the gate":                   {err: &store.GatedError{}, work: inHand, want: commitGated},
		"a refusal came behind a late copy":      {err: store.ErrOvertaken, work: inHand, want: commitFailed},
		"breach":                                 {err: store.ErrBreach, work: inHand, want: commitFailed},
		"unknown":                                {err: etcdstore.ErrUnknown, work: inHand, want: commitFailed},
		"not built":                              {err: errors.New("no state"), work: inHand, want: commitFailed},
		"too large together":                     {err: tooLarge, work: mail(workflow.CommandResume, workflow.CommandResume), want: commitHalves},
		"too large together, and to be buried":   {err: tooLarge, x: buried, work: mail(workflow.CommandResume, workflow.CommandResume), want: commitHalves},
		"too large, and the instance needs it":   {err: tooLarge, work: mail(workflow.CommandChildEnd), want: commitWithout},
		"too large, and it is set aside already": {err: tooLarge, x: burst{why: "large"}, work: mail(workflow.CommandChildEnd), want: commitParks},
		"too large to be buried with the record": {err: tooLarge, x: buried, work: mail(workflow.CommandResume), want: commitOneByOne},
		"too large":                              {err: tooLarge, work: mail(workflow.CommandResume), want: commitParks},
		"too large, in hand":                     {err: tooLarge, work: inHand, want: commitParks},
		"too large, and the burst is to go on":   {err: tooLarge, x: burst{goOn: true, dead: buried.dead, consumed: buried.consumed}, work: inHand, want: commitParks},
	} {
		s := &sent{tt.c, tt.res, tt.err}
		if got := s.after(&tt.x, &tt.work, tt.unmatched); got != tt.want {
			t.Errorf("%s: action %d follows, want %d", name, got, tt.want)
		}
	}
}

// TestADroppedBurstPassesNoBarrier has the lock, and a burst that was dropped when it was taken.
func TestADroppedBurstPassesNoBarrier(t *testing.T) {
	t.Parallel()
	o := &owner{ctx: t.Context()} // without one of its own it has the lock
	burst, drop := context.WithCancelCause(t.Context())
	if err := o.lockFor(burst); err != nil {
		t.Errorf("with the lock: %v", err)
	}
	moved := errors.New("moved")
	drop(moved)
	if err := o.lockFor(burst); !errors.Is(err, moved) {
		t.Errorf("dropped: %v", err)
	}
}
