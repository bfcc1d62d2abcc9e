package answers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Reply is what a request was answered with.
type Reply = store.Reply

// Keeper keeps the replies to requests with a caller's key that change something and leave no record of their own. The reply
// is not in one transaction with what was done: if a node dies in between, a repeat is done again, where that does no harm,
// or told that nobody knows. Make it with [NewKeeper].
type Keeper struct {
	waiter  *Waiter
	alarmed func() bool
}

// NewKeeper makes a keeper; alarmed tells that etcd takes no transaction that puts.
func NewKeeper(waiter *Waiter, alarmed func() bool) *Keeper { return &Keeper{waiter, alarmed} }

// Begun is a request that is under way.
type Begun struct {
	keeper *Keeper
	key    *workflow.CommandKey
	write  string
	at     int64 // revision of its note
}

const (
	keepTime = 5 * time.Second // for the note of what became of a request
	mostKept = 1 << 20         // bytes of a reply
)

// Begin notes that a request is under way, or gives the reply that is kept for it. again: doing it twice does no harm, so
// that a repeat whose first try left no reply is done, and so is one that cannot be noted because etcd is full. Errors:
// the key was used for another request; nobody knows what became of the first try; etcd.
func (k *Keeper) Begin(ctx context.Context, key *Key, again bool) (*Begun, *Reply, error) {
	if again && k.alarmed() {
		return nil, nil, nil
	}
	b := &Begun{keeper: k, key: key.Command(), write: workflow.NewID()}
	kept, err := b.note(ctx)
	if err == nil && kept != nil && kept.Began != "" && kept.Reply == nil && kept.BodyHash == key.BodyHash {
		within, cancel := context.WithTimeout(ctx, k.waiter.wait)
		k.waiter.Answer(within, b.key.Name, func(_ context.Context, a *store.Answer) bool { return a.Reply != nil })
		cancel()
		kept, err = b.note(ctx) // it has a reply by now, or was refused and is gone, or is as it was
	}
	switch {
	case err != nil:
		return nil, nil, etcdstore.Unavailable("the Idempotency-Key could not be noted, and nothing was done", err)
	case kept == nil:
		return b, nil, nil
	}
	if err := Check(kept, b.key); err != nil {
		return nil, nil, err
	}
	if kept.Began == "" {
		return nil, nil, workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used with another request before; use a new key for a new request")
	}
	switch {
	case kept.Reply != nil && kept.Reply.Body == nil && kept.Reply.Type != "":
		return nil, nil, workflow.Fail(workflow.CodeUnknownOutcome, fmt.Sprintf(
			"this request was done and answered with %d; its answer is not kept, as it needed more room than a record has", kept.Reply.Status))
	case kept.Reply != nil:
		return nil, kept.Reply, nil
	case again:
		b.write = kept.Began // who is ready first puts the reply
		return b, nil, nil
	}
	return nil, nil, &workflow.Error{Code: workflow.CodeUnknownOutcome, RetryAfter: time.Second, Detail: fmt.Sprintf(
		"a request with this Idempotency-Key began at %s and is under way, or its node ended before it had answered; look what was done before you ask with a new key", kept.At.UTC().Format(time.RFC3339))}
}

// note notes the request, or gives what is kept for its key, and since when.
func (b *Begun) note(ctx context.Context) (kept *store.Answer, err error) {
	err = untilKnown(ctx, func() (err error) {
		kept, b.at, err = etcdstore.RequestsOf(b.keeper.waiter.stimuli).Begin(ctx, b.key, b.write)
		return err
	})
	return kept, err
}

// untilKnown makes a transaction again until etcd says what became of it.
func untilKnown(ctx context.Context, txn func() error) error {
	return pace.Repeat(ctx, pace.Doubling(20*time.Millisecond).UpTo(time.Second).Spread(20), func() (again bool, err error) {
		err = txn()
		return errors.Is(err, etcdstore.ErrUnknown), err
	})
}

// End notes the reply to a request; nil: it did nothing, and its key is free again. It does not end with ctx. An error says
// that nothing was noted.
func (b *Begun) End(ctx context.Context, reply *Reply) error {
	if b == nil {
		return nil
	}
	if reply != nil && len(reply.Body) > mostKept {
		short := *reply
		short.Body = nil
		reply = &short
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	return untilKnown(ctx, func() error {
		return etcdstore.RequestsOf(b.keeper.waiter.stimuli).End(ctx, b.key, b.write, b.at, reply)
	})
}
