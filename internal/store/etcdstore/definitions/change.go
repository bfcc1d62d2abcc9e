package definitions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// change is one write of a definition: a new head, and what goes with it.
//
//	If    ModRevision(head) = as read (0: there never was one), stands
//	Then  put head, the rest of ops
//	Else  get head
//
// With guards, which can become true again and so must not stand outside, Then
// is one inner transaction
//
//	If    guards
//	Then  put head, the rest of ops
//	Else  reads
type change struct {
	what   string
	before *store.DefinitionState
	head   store.DefinitionHead // as it is to be; Writes and UpdatedAt are filled in
	ops    *db.Ops
	stands []clientv3.Cmp // beside the head's: compares that never hold again once they did not
	guards []clientv3.Cmp
	reads  db.Reads // tell which guard did not hold
	// refused makes the error of a guard that did not hold from the reads.
	refused func(*pb.TxnResponse) error
}

// How much a change leaves and is sent.
const (
	KeptWrites = 16 // proofs in a head: that many later writes do not hide one
	Resends    = 4  // of a change whose outcome is not known
)

// newChange begins a change from what was read. Its head is the one read, with
// what every change changes.
func (s *Definitions) newChange(what string, st *store.DefinitionState, at time.Time) *change {
	c := &change{what: what + " definition " + st.ID, before: st, ops: db.NewOps()}
	c.head = store.DefinitionHead{ID: st.ID}
	if st.Head != nil {
		c.head = *st.Head
	}
	c.head.UpdatedAt = at
	c.head.Writes = append([]string{rand.Text()}, c.head.Writes[:min(len(c.head.Writes), KeptWrites-1)]...)
	return c
}

func (c *change) id() string { return c.head.Writes[0] }

// modified is the revision of the head that the change is based on.
func (c *change) modified() int64 {
	if c.before.Head == nil {
		return 0
	}
	return c.before.Head.Modified
}

// apply sends the change, the identical transaction again while its outcome is
// unknown, and gives the head as written. Errors: [store.ErrHeadMoved], what
// refused gives, [db.ErrTooLarge], all definite; or one that wraps [db.ErrUnknown].
func (s *Definitions) apply(ctx context.Context, c *change) (*store.DefinitionHead, error) {
	c.ops.Put(s.conn.Keys.Head(c.head.ID), c.head)
	then, err := c.ops.Render()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.what, err)
	}
	if len(c.guards) > 0 {
		then = []clientv3.Op{clientv3.OpTxn(c.guards, then, c.reads.Ops)}
	}
	var otherwise db.Reads
	head := otherwise.Value(s.conn.Keys.Head(c.head.ID))
	doubt := false // a copy may still be under way
	for try := 1; ; try++ {
		resp, err := s.conn.Txn(ctx, c.what, s.headStands(c), then, otherwise.Ops)
		if err == nil && !resp.Succeeded {
			return s.ownMove(c, head.One(resp))
		}
		if err == nil {
			return s.classifyGuards(ctx, c, resp, doubt)
		}
		if !errors.Is(err, db.ErrUnknown) {
			if doubt {
				return nil, fmt.Errorf("%w: %w", db.ErrUnknown, err)
			}
			return nil, err
		}
		doubt = true
		if try > Resends || !pace.Pause(ctx, time.Duration(try*try)*20*time.Millisecond) {
			return nil, err
		}
	}
}

// headStands is monotone: a mod revision that has passed never comes back, and
// as heads are not deleted neither does 0. No more does a create revision.
func (s *Definitions) headStands(c *change) []clientv3.Cmp {
	return append([]clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Head(c.head.ID), c.modified())}, c.stands...)
}

// classifyGuards tells whether the guards held.
func (s *Definitions) classifyGuards(ctx context.Context, c *change, resp *pb.TxnResponse, doubt bool) (*store.DefinitionHead, error) {
	if len(c.guards) > 0 {
		if inner := db.LastOf.Nested(resp); !inner.Succeeded {
			if doubt {
				if done, err := s.seal(ctx, c); !errors.Is(err, errSealed) {
					return done, err
				}
			}
			return nil, c.refused(inner)
		}
	}
	done := c.head
	done.Modified = resp.Header.Revision
	return &done, nil
}

// ownMove tells whether the head, which is as kv says now, moved by this very change.
func (s *Definitions) ownMove(c *change, kv *mvccpb.KeyValue) (*store.DefinitionHead, error) {
	if kv == nil {
		return nil, store.ErrHeadMoved
	}
	now, err := record.DecodeHead(kv)
	if err != nil {
		return nil, err
	}
	if !now.Wrote(c.id()) {
		return nil, store.ErrHeadMoved
	}
	done := c.head
	if now.Writes[0] == c.id() {
		done.Modified = now.Modified
	}
	return &done, nil
}

// errSealed says that no copy of a change can be applied any more, and none was.
var errSealed = errors.New("sealed")

// seal makes a guard's refusal conclusive when a copy of the change may still be
// under way and the guard could hold again when it arrives: it moves the head
// without changing anything else, so that the outer compare refuses the copy.
//
//	If    ModRevision(head) = as read
//	Then  put head as it was, with one more write id
//	Else  get head
func (s *Definitions) seal(ctx context.Context, c *change) (*store.DefinitionHead, error) {
	same := s.newChange("seal", c.before, c.head.UpdatedAt)
	if c.before.Head == nil {
		same.head.Deleted = &c.head.UpdatedAt
		same.head.Purged = true
	}
	key := s.conn.Keys.Head(c.head.ID)
	raw, err := db.Encode(same.head)
	if err != nil {
		return nil, err
	}
	t := s.conn.Begin(same.what, s.headStands(c)...)
	t.PutRaw(key, raw)
	head := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", db.ErrUnknown, err) // of the change, also if it is sealed
	}
	if resp.Succeeded {
		return nil, errSealed
	}
	return s.ownMove(c, head.One(resp))
}
