package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Mend is the transaction that repairs one finding. It compares the mod revision of
// every key that the finding was judged by, so that beside a working cluster it
// changes only what is still as it was, and does nothing a second time.
type Mend struct {
	cmps  []clientv3.Cmp
	Ops   *db.Ops
	aside []*mvccpb.KeyValue // kept below damaged/ with it
	lost  string             // an instance that is removed, in the place of ops
	first bool               // nothing else can be judged before
}

// repair says what is done about a finding, judged by the keys by, and gives the
// operations to be filled in. What another version wrote all of is no ground to
// judge by, nor is what has an id of a newer one.
func (f *fsck) repair(n *Finding, what string, by ...string) *db.Ops {
	m := &Mend{Ops: db.NewOps()}
	for _, key := range by {
		name := f.below(key)
		n.newer = n.newer || OfNewer(name)
		if f.foreign[name] {
			n.Hint = "run weft fsck of the version that wrote " + name
			return m.Ops
		}
		var modified int64 // of what is not there
		if kv := f.kvs[name]; kv != nil {
			modified = kv.ModRevision
		}
		m.cmps = append(m.cmps, db.ModifiedAt(f.s.conn.Keys.Root+name, modified))
	}
	n.Repair, n.Mend = what, m
	return m.Ops
}

// setAside is repair for a record that nobody can use: it is moved below damaged/.
func (f *fsck) setAside(n *Finding, kv *mvccpb.KeyValue, by ...string) *db.Ops {
	return f.replace(n, kv, "", by...)
}

// replace is setAside for a record in whose place something is put.
func (f *fsck) replace(n *Finding, kv *mvccpb.KeyValue, what string, by ...string) *db.Ops {
	o := f.repair(n, "sets it aside as "+f.below(f.s.conn.Keys.Aside(string(kv.Key), kv.ModRevision, 0))+what, append(by, string(kv.Key))...)
	if n.Mend != nil {
		n.Mend.aside = append(n.Mend.aside, kv)
	}
	o.Del(string(kv.Key))
	return o
}

// putAside keeps a value, but for its first parts if it is large: these go before,
// each in a transaction of its own. False: something moved.
func (s *Checker) putAside(ctx context.Context, m *Mend, kv *mvccpb.KeyValue) (bool, error) {
	value := kv.Value
	for part := 0; ; part++ {
		chunk := value[:min(len(value), record.AsidePart)]
		value = value[len(chunk):]
		at := s.conn.Keys.Aside(string(kv.Key), kv.ModRevision, part)
		if len(value) == 0 {
			m.Ops.PutRaw(at, chunk)
			return true, nil
		}
		t := s.conn.Begin("repair", m.cmps...)
		t.PutRaw(at, chunk)
		if done, err := db.Applied(t.Submit(ctx)); err != nil || !done {
			return false, err
		}
	}
}

// Repairs is what Upkeep.Repair did, and what is left.
type Repairs struct {
	Done  []Finding `json:"done"` // each as it was found
	Check *Check    `json:"check"`
}

// repairRounds bounds how often a repair looks again: what it does shows what else
// has to be done, and beside a working cluster something may have moved.
const repairRounds = 10

// Repair checks every key as Upkeep.Fsck does, sets aside what cannot be read and
// makes again what follows from the rest, until there is nothing left that it can
// repair. What is set aside stays below damaged/, as it was. Nodes may be running:
// each transaction compares what it was judged by. locks gives the prefix of an
// instance's lock. An error may come after some was repaired; a second run goes on.
func (s *Checker) Repair(ctx context.Context, locks func(id string) string) (*Repairs, error) {
	out := &Repairs{Done: []Finding{}}
	for range repairRounds {
		check, err := s.Fsck(ctx)
		if err != nil {
			return out, err
		}
		out.Check = check
		todo := ToRepair(check)
		if len(todo) == 0 {
			return out, nil
		}
		for len(todo) > 0 {
			some, rest := Together(todo)
			done, err := s.Mend(ctx, some, locks)
			switch {
			case errors.Is(err, db.ErrTooLarge):
				some[0].Repair, some[0].Hint = "", "it does not fit a transaction: "+err.Error()
			case err != nil:
				return out, fmt.Errorf("repair %s: %w (run it again: nothing is done twice)", some[0].Key, err)
			}
			for _, n := range done {
				out.Done = append(out.Done, *n)
			}
			todo = rest
		}
	}
	check, err := s.Fsck(ctx)
	if err == nil {
		out.Check = check
	}
	return out, err
}

// ToRepair are the findings of a check that can be repaired now.
func ToRepair(check *Check) []*Finding {
	var todo []*Finding
	for i := range check.Findings {
		n := &check.Findings[i]
		switch {
		case n.Mend == nil || n.Passing:
		case n.Mend.first:
			return []*Finding{n}
		default:
			todo = append(todo, n)
		}
	}
	return todo
}

// Small mends share a transaction, in which each has its own compares: one that moved keeps none of the others back. An
// instance that waits at 100,000 places may lack a key for each.
const (
	MostMends = 50
	mostOfOne = 20 // compares, and writes
)

// Together chooses of these what can be repaired in one transaction: the first, or as many as are small and touch no key
// that one before them writes. rest are the others, in their order.
func Together(todo []*Finding) (some, rest []*Finding) {
	written, size := map[string]bool{}, 0
	for i, n := range todo {
		m := n.Mend
		own := m.Ops.Size + db.SizeOf(m.cmps)
		size += own
		alone := own > db.MaxRequest/2 || m.lost != "" || len(m.aside) > 0 || m.Ops.Err != nil || len(m.Ops.Tail) > 0 || len(m.cmps) > mostOfOne || len(m.Ops.Writes) > mostOfOne
		switch {
		case i == 0 && alone:
			return todo[:1], todo[1:]
		case alone || size > db.MaxRequest/2 || len(some) == MostMends:
			return some, append(rest, todo[i:]...)
		}
		touched := slices.ContainsFunc(m.cmps, func(c clientv3.Cmp) bool { return written[string(c.KeyBytes())] })
		for _, op := range m.Ops.Writes {
			touched = touched || written[string(op.KeyBytes())]
		}
		for _, op := range m.Ops.Writes {
			written[string(op.KeyBytes())] = true
		}
		if touched {
			rest = append(rest, n)
		} else {
			some = append(some, n)
		}
	}
	return some, rest
}

// Mend repairs what [Together] chose, and gives those of which nothing had moved.
func (s *Checker) Mend(ctx context.Context, todo []*Finding, locks func(id string) string) (done []*Finding, err error) {
	t := s.conn.Begin("repair")
	for _, n := range todo {
		m := n.Mend
		for _, kv := range m.aside {
			if kept, err := s.putAside(ctx, m, kv); err != nil || !kept {
				return nil, err
			}
		}
		if m.lost != "" {
			if removed, err := s.removeLost(ctx, m, locks); err != nil || !removed {
				return nil, err
			}
			return todo, nil
		}
		if len(todo) == 1 {
			t.Cmps, t.Ops = m.cmps, m.Ops
		} else {
			t.Nested(m.cmps, m.Ops, nil)
		}
	}
	resp, err := t.Submit(ctx)
	if err != nil || !resp.Succeeded {
		return nil, err
	}
	if len(todo) == 1 {
		return todo, nil
	}
	for i, r := range resp.Responses {
		if r.GetResponseTxn().Succeeded {
			done = append(done, todo[i])
		}
	}
	return done, nil
}

// removeLost removes an instance whose record is of no use, with what the mend has.
//
// If: the record as judged; nobody holds or waits for its lock, which can come true
// again: then a later look removes it.
func (s *Checker) removeLost(ctx context.Context, m *Mend, locks func(id string) string) (bool, error) {
	r, err := commits.LookToRemove(ctx, s.conn, nil, m.lost, time.Now().UTC())
	if err != nil || r == nil {
		return false, err
	}
	r.Guard, r.Beside = m.cmps, m.Ops
	if locks != nil {
		r.Guard = append(slices.Clone(m.cmps), db.NoneNewer(locks(m.lost), 0))
	}
	if done, err := r.Readable(ctx); err != nil || !done {
		return false, err
	}
	if done, err := r.KeepJournal(ctx); err != nil || !done {
		return false, err
	}
	if err := r.BuryMail(ctx); errors.Is(err, store.ErrFenced) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return r.Remove(ctx)
}
