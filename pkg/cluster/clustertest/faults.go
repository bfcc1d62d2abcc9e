package clustertest

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

// Fault is a way in which a call to etcd can go wrong.
type Fault int

// The faults.
const (
	// FailBefore answers with an error; etcd never sees the call.
	FailBefore Fault = iota
	// LoseAnswer lets etcd apply the call and answers with an error.
	LoseAnswer
	// DelayBefore waits for [Rule.Delay] before sending, or until the call's context ends.
	DelayBefore
	// DelayAnswer sends, and waits for [Rule.Delay] before it gives the answer.
	DelayAnswer
	// ApplyTwice sends the call twice and gives the second answer, as a client
	// does that repeats mutations on its own.
	ApplyTwice
	// DeliverLate answers with an error at once and keeps the call back until
	// [Faults.Deliver].
	DeliverLate
)

// ErrInjected is the answer of a spoiled call, an error that leaves the outcome
// unknown.
var ErrInjected = status.Error(codes.Unavailable, "clustertest: injected fault")

// Call is what a [Rule] looks at.
type Call struct {
	Op   string   // "get", "put", "delete" or "txn"
	Keys []string // of the call, or of the operations of the transaction, nested ones too
	// Mutating is true if the call may write. A transaction is mutating if any
	// of its branches is.
	Mutating bool
	// Puts and Deletes are the keys that the call may put or delete.
	Puts, Deletes []string
}

// Touches tells whether a key of the call begins with prefix.
func (c Call) Touches(prefix string) bool { return anyPrefix(c.Keys, prefix) }

// PutsUnder tells whether the call may put a key that begins with prefix.
func (c Call) PutsUnder(prefix string) bool { return anyPrefix(c.Puts, prefix) }

// DeletesUnder tells whether the call may delete a key that begins with prefix.
func (c Call) DeletesUnder(prefix string) bool { return anyPrefix(c.Deletes, prefix) }

func anyPrefix(keys []string, prefix string) bool {
	for _, k := range keys {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

// Rule says which calls to spoil, and how.
type Rule struct {
	Fault Fault
	Match func(Call) bool // nil: every mutating call
	Times int             // how often at most; 0: for ever
	Prob  float64         // of spoiling a call that matches; 0 means 1
	Delay time.Duration   // for the delays
	Err   error           // instead of [ErrInjected]
}

// Armed is a rule at work.
type Armed struct {
	Rule
	fired atomic.Int64
	off   atomic.Bool
}

// Fired is how often the rule has spoiled a call.
func (a *Armed) Fired() int { return int(a.fired.Load()) }

// Disarm ends the rule.
func (a *Armed) Disarm() { a.off.Store(true) }

// Faults spoils the calls of the clients that it wraps. Rules are tried in the
// order in which they were added; the first that applies spoils the call.
type Faults struct {
	mu    sync.Mutex
	rand  *rand.Rand     // guarded by mu
	rules []*Armed       // guarded by mu
	late  []func()       // guarded by mu
	calls map[string]int // by Call.Op; guarded by mu

	values, keys, counted atomic.Int64
}

// NewFaults makes a set of faults without rules. The seed decides about rules
// with a probability.
func NewFaults(seed uint64) *Faults {
	return &Faults{rand: rand.New(rand.NewPCG(seed, seed)), calls: map[string]int{}}
}

// Wrap makes calls of the client's KV go through the faults, and returns the
// same client. Leases and watches are not touched; use a [Proxy] for those.
func (f *Faults) Wrap(client *clientv3.Client) *clientv3.Client {
	if group, ok := client.KV.(*groupcommit.KV); ok {
		group.KV = &faultyKV{KV: group.KV, f: f} // between it and etcd
		return client
	}
	client.KV = &faultyKV{KV: client.KV, f: f}
	return client
}

// Add arms a rule.
func (f *Faults) Add(r Rule) *Armed {
	a := &Armed{Rule: r}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, a)
	return a
}

// Calls is how many calls of a kind ("get", "put", "delete", "txn") were made.
func (f *Faults) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// Values is how many bytes of values etcd has answered reads with.
func (f *Faults) Values() int64 { return f.values.Load() }

// Keys is how many keys etcd has answered reads with.
func (f *Faults) Keys() int64 { return f.keys.Load() }

// Counted is how many keys etcd has counted for reads: all of a range, however few of them it gave.
func (f *Faults) Counted() int64 { return f.counted.Load() }

func (f *Faults) read(kvs []*mvccpb.KeyValue, counted int64) {
	f.keys.Add(int64(len(kvs)))
	f.counted.Add(counted)
	for _, kv := range kvs {
		f.values.Add(int64(len(kv.Value)))
	}
}

// Deliver sends the calls that [DeliverLate] kept back, in their order, and
// returns how many there were.
func (f *Faults) Deliver() int {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, send := range late {
		send()
	}
	return len(late)
}

// pick finds the rule for a call, or nil.
func (f *Faults) pick(c Call) *Armed {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c.Op]++
	for _, a := range f.rules {
		switch {
		case a.off.Load():
		case a.Times > 0 && a.Fired() >= a.Times:
		case a.Match == nil && !c.Mutating, a.Match != nil && !a.Match(c):
		case a.Prob > 0 && f.rand.Float64() >= a.Prob:
		default:
			a.fired.Add(1)
			return a
		}
	}
	return nil
}

// spoil runs one call.
func spoil[T any](ctx context.Context, f *Faults, c Call, send func(context.Context) (T, error)) (T, error) {
	var none T
	a := f.pick(c)
	if a == nil {
		return send(ctx)
	}
	fail := a.Err
	if fail == nil {
		fail = ErrInjected
	}
	// What etcd is to see, it sees also if the caller's context has ended.
	apply := func() (T, error) {
		dctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return send(dctx)
	}
	switch a.Fault {
	case LoseAnswer:
		_, _ = apply()
		return none, fail
	case DelayBefore:
		if err := sleep(ctx, a.Delay); err != nil {
			return none, err
		}
		return send(ctx)
	case DelayAnswer:
		got, err := apply()
		if cerr := sleep(ctx, a.Delay); cerr != nil {
			return none, cerr
		}
		return got, err
	case ApplyTwice:
		_, _ = apply()
		return send(ctx)
	case DeliverLate:
		f.mu.Lock()
		f.late = append(f.late, func() { _, _ = apply() })
		f.mu.Unlock()
		return none, fail
	default:
		return none, fail
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	pace.Pause(ctx, d)
	return ctx.Err()
}
