package mutex

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/weft-run/weft/pkg/cluster/call"
)

// Acquisition is one attempt to take a lock. It is the KV of a client value that
// exists for this attempt only and that is given to [concurrency.Mutex]. So it sees
// what the Mutex sends, and makes it stronger:
//
//   - The caller's reads are part of the transaction that takes the lock.
//   - The put of the lock key carries who asked, so that holders have a name.
//   - The key is put only if no other node has one. The plain Mutex always puts
//     it and deletes it again; until then others take it for the holder's.
//   - Each delete compares the create revision, so that one that arrives late
//     cannot remove the key of a later acquisition of the same session.
//   - Each call has a deadline.
//
// An acquisition is used by one goroutine at a time.
type Acquisition struct {
	clientv3.KV
	Prefix string // of the lock, with the slash at its end
	Key    string // prefix + lease
	Value  string
	Lease  clientv3.LeaseID
	Reads  []clientv3.Op

	// What happened so far.
	Sent   bool                  // our key may exist
	Rev    int64                 // create revision of our key, 0 while unknown
	Owner  *mvccpb.KeyValue      // the owner that was met
	owned  bool                  // a transaction has shown us as the owner
	Loaded *clientv3.TxnResponse // the reads, from that transaction; nil if it had none
}

// Value is the value of a lock key: who asked for the lock, for people and
// for Inspect of package cluster. The truth about ownership is the key's create revision.
type Value struct {
	Node  string    `json:"node"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

// Encode gives what stands in etcd.
func (v Value) Encode() string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // strings and a time always marshal; without a value the lock works too
	}
	return string(b)
}

// errRefused ends a try inside the Mutex: somebody else owns the lock and no key
// of ours was put.
var errRefused = errors.New("refused: somebody else owns the lock")

// errNotOwner ends a try that the Mutex takes for a success and that is none.
var errNotOwner = errors.New("the try ended without ownership")

// IsRefusal tells whether a try ended because somebody else owns the lock.
func IsRefusal(err error) bool {
	return errors.Is(err, errRefused) || errors.Is(err, concurrency.ErrLocked)
}

// Try tries a new Mutex, for the lock at this path: one that has been used is never used again.
func (a *Acquisition) Try(ctx context.Context, base *clientv3.Client, path string) error {
	mutex, err := a.mutex(ctx, base, path)
	if err != nil {
		return err
	}
	if err := mutex.TryLock(call.RequireLeader(ctx)); err != nil {
		return err
	}
	if !a.owned {
		return errNotOwner // cannot be: no path of the Mutex ends here
	}
	return nil
}

// mutex makes the Mutex of this acquisition. Ctx is its client's context too.
func (a *Acquisition) mutex(ctx context.Context, base *clientv3.Client, path string) (*concurrency.Mutex, error) {
	client := clientv3.NewCtxClient(ctx, clientv3.WithZapLogger(base.GetLogger()))
	client.KV, client.Lease = a, ownedLease{base.Lease}
	session, err := concurrency.NewSession(client, concurrency.WithLease(a.Lease), concurrency.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return concurrency.NewMutex(session, path), nil
}

// ownedLease keeps a concurrency.Session from renewing the lease: one loop owns
// the lease, and this is not it.
type ownedLease struct{ clientv3.Lease }

// KeepAlive gives a channel without renewals, so that the session's goroutine,
// which waits for its end, has none: a Mutex asks the session for its client and
// its lease only, never whether it lives.
func (ownedLease) KeepAlive(context.Context, clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	return noRenewals, nil
}

var noRenewals = func() <-chan *clientv3.LeaseKeepAliveResponse {
	ended := make(chan *clientv3.LeaseKeepAliveResponse)
	close(ended)
	return ended
}()

// Txn is how the Mutex puts its key.
func (a *Acquisition) Txn(ctx context.Context) clientv3.Txn { return &acquisitionTxn{a: a, ctx: ctx} }

// acquisitionTxn collects the Mutex's transaction:
//
//	If CreateRevision(key)=0  Then put key, get owner  Else get key, get owner
//
// and sends
//
//	If CreateRevision(every key of the lock)=0  Then put key, reads  Else get key, get owner
type acquisitionTxn struct {
	a           *Acquisition
	ctx         context.Context // of this one call, as clientv3's own Txn keeps it
	then, other []clientv3.Op
}

func (t *acquisitionTxn) If(...clientv3.Cmp) clientv3.Txn { return t }

func (t *acquisitionTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

func (t *acquisitionTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.other = append(t.other, ops...)
	return t
}

// own is the number of operations in each branch that belong to the Mutex.
const own = 2

func (t *acquisitionTxn) Commit() (*clientv3.TxnResponse, error) {
	a := t.a
	if len(t.then) != own || len(t.other) != own || !t.then[0].IsPut() || string(t.then[0].KeyBytes()) != a.Key {
		return nil, errors.New("cluster: concurrency.Mutex sent a transaction of an unknown shape")
	}
	t.then[0].WithValueBytes([]byte(a.Value))
	a.Sent = true
	ctx, cancel := call.WithTimeout(t.ctx)
	defer cancel()
	// On an empty range the create revision is 0. So the node whose key is put is the
	// owner; it need not read the owner.
	resp, err := a.KV.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(a.Prefix), "=", 0).WithPrefix()).
		Then(slices.Concat(t.then[:1], a.Reads)...).
		Else(t.other...).
		Commit()
	if err != nil {
		// Only a definite refusal proves that our key was not put.
		a.Sent = !call.IsDefinite(err)
		return nil, err
	}
	if resp.Succeeded {
		a.Rev, a.owned = resp.Header.Revision, true
		a.Loaded = &clientv3.TxnResponse{Header: resp.Header, Succeeded: true, Responses: resp.Responses[1:]}
		return &clientv3.TxnResponse{Header: resp.Header, Succeeded: true, Responses: []*pb.ResponseOp{resp.Responses[0], nobody}}, nil
	}
	mine, owner := resp.Responses[0].GetResponseRange().Kvs, resp.Responses[1].GetResponseRange().Kvs
	if len(mine) == 0 {
		a.Owner, a.Sent = owner[0], false
		return nil, errRefused
	}
	// Left by an acquisition whose outcome nobody knew, on this very lease: ours if it
	// is the oldest, without the reads, and else a waiter, which the Mutex deletes.
	a.Rev = mine[0].CreateRevision
	if a.owned = owner[0].CreateRevision == a.Rev; !a.owned {
		a.Owner = owner[0]
	}
	return resp, nil
}

// nobody is the answer to a Mutex that asks for the owner: none. Such a Mutex is the
// owner itself.
var nobody = &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{ResponseRange: &pb.RangeResponse{}}}

// Delete is how the Mutex removes its own key.
func (a *Acquisition) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	if key != a.Key || len(opts) > 0 {
		return nil, errors.New("cluster: concurrency.Mutex deletes a key that is not its own")
	}
	ctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := DeleteKey(ctx, a.KV, key, a.Rev)
	if err != nil {
		return nil, err
	}
	a.Sent = false
	return &clientv3.DeleteResponse{Header: resp.Header}, nil
}

// DeleteKey removes a lock key if it is still the one with this create revision,
// which never comes back: it may be applied twice and at any time. No error
// means that the key with this revision is gone.
func DeleteKey(ctx context.Context, kv clientv3.KV, key string, rev int64) (*clientv3.TxnResponse, error) {
	return kv.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", rev)).
		Then(clientv3.OpDelete(key)).
		Commit()
}
