package cluster

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// Reservation is a lock that a transaction of the caller takes with what else it writes. On this
// node the name is taken from [Locks.Reserve] on, so that nobody here asks for it, and the
// janitor leaves the key alone, before that is known to be there. The transaction does
//
//	If   nothing is below Prefix
//	Then put Key with Value, on Lease
//
// as a transaction inside its own: the answer says whether the key was put, and its
// revision is that of the whole. Either Taken or Abandon ends a reservation.
type Reservation struct {
	Key, Prefix, Value string
	Lease              clientv3.LeaseID

	l    *Locks
	e    *Epoch
	a    *mutex.Acquisition
	name Name
	from time.Time
}

// Reserve begins to take a lock for work that began with a membership. It is false if
// somebody on this node has the lock, takes it, or has not got rid of its key yet.
func (l *Locks) Reserve(m *Membership, name Name) (*Reservation, bool) {
	from := time.Now()
	a := l.newAcquisition(m.e, name, nil, from)
	if !m.e.enter(a.Key) {
		return nil, false
	}
	return &Reservation{Key: a.Key, Prefix: a.Prefix, Value: a.Value, Lease: a.Lease, l: l, e: m.e, a: a, name: name, from: from}, true
}

// Taken gives the lock whose key the transaction put, at this revision of the store. It is
// an error if the epoch has ended.
func (r *Reservation) Taken(ctx context.Context, revision int64) (*Lock, error) {
	r.a.Sent, r.a.Rev = true, revision
	lock, err := r.l.handle(r.e, r.a, r.name)
	if err != nil {
		return nil, err
	}
	r.l.s.cfg.Metrics.LockAcquired(r.name.scope, time.Since(r.from), tracing.TraceID(ctx))
	return lock, nil
}

// Abandon ends a reservation whose key is not known to be there. sent says that a transaction
// may have put it: then the name stays taken here until the key is surely gone. A copy
// of the transaction that comes later still puts what the janitor removes.
func (r *Reservation) Abandon(sent bool) {
	r.a.Sent = sent
	if sent {
		r.e.ask() // the transaction may have been sent again and again until now
	}
	r.l.s.abandon(r.e, r.a)
}
