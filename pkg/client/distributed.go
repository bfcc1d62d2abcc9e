package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Distributed is an instance on a node of a cluster: it takes the instance's
// lock, retrying transient failures, and works like [Local] with the lock's
// fence in every commit.
type Distributed struct {
	n     *Node
	locks *cluster.Locks
	id    string
	retry RetryPolicy
}

var _ Client = Distributed{}

// RetryPolicy is how the acquisition of a lock is retried; zero fields take
// Elsa's: 3 retries, 500 ms, exponential, with jitter.
type RetryPolicy struct {
	Retries uint64
	Base    time.Duration
}

// Distributed makes the client of one instance.
func (n *Node) Distributed(locks *cluster.Locks, id string, policy RetryPolicy) Distributed {
	if policy.Retries == 0 {
		policy.Retries = 3
	}
	if policy.Base == 0 {
		policy.Base = 500 * time.Millisecond
	}
	return Distributed{n: n, locks: locks, id: id, retry: policy}
}

// Do implements [Client].
func (d Distributed) Do(ctx context.Context, cmd workflow.Command) (Result, error) {
	return d.Resume(ctx, cmd, nil)
}

// Resume implements [Client].
func (d Distributed) Resume(ctx context.Context, cmd workflow.Command, found *store.BookmarkRef) (Result, error) {
	acquire := d.take
	if d.n.cfg.UnlockedResumes && cmd.Kind == workflow.CommandResume {
		acquire = func(ctx context.Context, a preload) (ownership, *store.Loaded, error) {
			return d.resumeUnlocked(ctx, a, found)
		}
	}
	return d.n.do(ctx, d.id, acquire, &cmd, false, nil)
}

// Begin implements [Client].
func (d Distributed) Begin(ctx context.Context, cmd workflow.Command) (Result, error) {
	return d.n.do(ctx, d.id, d.startUnlocked, &cmd, false, nil)
}

// Work implements [Client].
func (d Distributed) Work(ctx context.Context, recovered bool, placed func()) error {
	defer d.n.seen(d.id)
	_, err := d.n.do(ctx, d.id, d.take, nil, recovered, placed)
	return err
}

// Remove implements [Client]: under the lock, as any delete.
func (d Distributed) Remove(ctx context.Context) error {
	lock, err := d.acquire(ctx, cluster.InstanceLock(d.id), d.n.cfg.Store.Loading(d.id, "", "", nil))
	if err != nil {
		return err
	}
	defer func() {
		if rerr := lock.Release(context.WithoutCancel(ctx)); rerr != nil {
			d.n.cfg.Log.WarnContext(ctx, "lock not released; its lease will free it", "instanceId", d.id, "error", rerr)
		}
	}()
	lines, err := d.n.cfg.Store.Remove(ctx, owned{lock}.Fence(), d.id, d.n.cfg.Env().Now())
	d.n.cfg.Wakeups.Lines(lines)
	return err
}

// Busy implements [Client]: one read of the lock's prefix, if somebody else held
// the lock a moment ago. Most instances that are sent something are idle, and a
// try that finds them held says so; only where one tries again and again is the
// try, which is a proposal, dearer than the look. None either if this node holds
// it, since then the command joins the owner.
func (d Distributed) Busy(ctx context.Context) (bool, error) {
	if !d.n.contended.lately(d.id) || d.n.Holds(d.id) {
		return false, nil
	}
	_, held, err := d.locks.Inspect(ctx, cluster.InstanceLock(d.id))
	if held {
		d.n.contended.note(d.id)
	}
	return held, err
}

// Found is where an instance waits, as this node committed it last; nil: it is not known to wait there. It is for a
// resume, which compares that.
func (n *Node) Found(instance, bookmark string) *store.BookmarkRef {
	return n.warm.Found(instance, bookmark)
}

// Holds reports whether this node works an instance at the moment.
func (n *Node) Holds(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owners[id] != nil
}

// take takes the lock; the instance is loaded in the same transaction.
func (d Distributed) take(ctx context.Context, a preload) (ownership, *store.Loaded, error) {
	name := cluster.InstanceLock(d.id)
	ctx, span := tracing.Lock(ctx, d.id)
	defer span.End()
	loading := a.reads(d.n.cfg.Store, d.id)
	lock, err := d.acquire(ctx, name, loading)
	switch {
	case errors.Is(err, ErrBusy):
		span.Outcome("busy")
		return nil, nil, err
	case err != nil:
		span.Fail("lock")
		return nil, nil, err
	}
	o := owned{lock}
	var loaded *store.Loaded
	if resp, ok := lock.Reads(); ok {
		loaded, err = loading.Decode(ctx, resp.Responses, resp.Header.Revision)
	} else {
		loaded, err = loading.Load(ctx)
	}
	if err != nil {
		if rerr := lock.Release(ctx); rerr != nil {
			d.n.cfg.Log.WarnContext(ctx, "lock not released; its lease will free it", "instanceId", d.id, "error", rerr)
		}
		return nil, nil, unavailable(fmt.Sprintf("instance %s could not be loaded", d.id), err)
	}
	return o, loaded, nil
}

// acquire tries for the lock without waiting. Only transient failures are
// retried: a held lock means that somebody is at work, and the command belongs
// into the mailbox.
func (d Distributed) acquire(ctx context.Context, name cluster.Name, beside *etcdstore.Loading) (*cluster.Lock, error) {
	waits := pace.Doubling(d.retry.Base).Spread(20).Times(d.retry.Retries)
	attempt := 0
	var lock *cluster.Lock
	err := context.Cause(ctx)
	if err == nil {
		err = pace.Repeat(ctx, waits, func() (again bool, err error) {
			attempt++
			lock, err = d.try(ctx, name, beside)
			if again = !errors.Is(err, ErrBusy) && cluster.IsTransient(err); again {
				d.n.cfg.Metrics.LockRetry(name.Scope(), cluster.RetryReason(err))
				d.n.cfg.Log.WarnContext(ctx, "lock not acquired; trying again", "instanceId", d.id, "attempt", attempt, "error", err)
			}
			return again, err
		})
	}
	switch {
	case err == nil:
		return lock, nil
	case errors.Is(err, cluster.ErrHeld), errors.Is(err, ErrBusy):
		d.n.contended.note(d.id)
		return nil, ErrBusy
	case attempt > int(d.retry.Retries):
		d.n.cfg.Metrics.LockRetriesExhausted(name.Scope())
	}
	return nil, unavailable(fmt.Sprintf("the lock of instance %s could not be acquired in %d attempts", d.id, attempt), errors.Join(context.Cause(ctx), err))
}

// try is one attempt. That this node itself is in the way is its clean-up after
// a try that got no answer, as no other owner of the instance is here: it is
// waited for.
func (d Distributed) try(ctx context.Context, name cluster.Name, beside *etcdstore.Loading) (*cluster.Lock, error) {
	for range cleanUpLooks {
		lock, err := d.locks.TryAcquire(ctx, name, beside.Ops()...)
		if err == nil || !d.locks.Mine(err) {
			return lock, err
		}
		if !pace.Pause(ctx, cleanUpLook) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, ErrBusy
}

const (
	cleanUpLook  = 20 * time.Millisecond
	cleanUpLooks = 100
)

// owned is a cluster lock as an ownership.
type owned struct{ *cluster.Lock }

// Fence gives the lock's fence as the store compares it.
func (o owned) Fence() *store.Fence {
	f := o.Lock.Fence()
	return &store.Fence{Key: f.Key, Prefix: f.Prefix, Revision: f.Revision}
}

func isUnknown(err error) bool { return errors.Is(err, etcdstore.ErrUnknown) }
