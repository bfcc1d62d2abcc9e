package lists

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Lineage are an instance's ancestors and descendants, as they were at one revision.
type Lineage struct {
	Of       []Relative // the farthest ancestor first, then the instance, then its descendants, each behind its parent
	Whole    bool       // nobody is missing at either end, but what is gone
	Revision int64
}

// Relative is one of them.
type Relative struct {
	Instance workflow.Instance // of one that is gone the id only; of a damaged one what its key says
	Depth    int               // 0: the instance itself; of its children 1, of its parent -1
	Parent   string            // id; "": it has none, or that is not known
	Gone     bool              // it was deleted
	Children int64             // how many are there; of an ancestor 0, as only one is told
}

// mostAncestors bounds those of one instance.
const mostAncestors = 100

// Lineage reads it: descendants to a depth, and so many of them at most, the newest children
// first, level by level. Nil: there is no such instance.
func (s *Lists) Lineage(ctx context.Context, id string, depth, most int) (*Lineage, error) {
	for {
		l := &family{listing: listing{s: s}, depth: depth, most: most, Lineage: Lineage{Whole: true}}
		found, err := l.trace(ctx, id)
		switch {
		case errors.Is(err, rpctypes.ErrCompacted): // between two of its reads
			continue
		case err != nil || !found:
			return nil, err
		}
		l.Lineage.Revision = l.revision
		return &l.Lineage, nil
	}
}

// family is a lineage while it is read.
type family struct {
	listing
	Lineage
	depth, most int
	bytes       db.Budget
}

// records reads some, in their order. Of those behind what one answer may hold nothing is read.
func (l *family) records(ctx context.Context, ids []string) (read []Relative, err error) {
	for len(read) < len(ids) {
		chunk := ids[len(read):min(len(ids), len(read)+l.bytes.Chunk())]
		ops := make([]clientv3.Op, len(chunk))
		for i, id := range chunk {
			ops[i] = l.at(l.s.conn.Keys.Instance(id))
		}
		resp, err := l.read(ctx, ops)
		if err != nil {
			return nil, err
		}
		for i, r := range resp.Responses {
			is := Relative{Instance: workflow.Instance{ID: chunk[i]}, Gone: true}
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				if !l.bytes.Takes(kvs[0].Value) {
					l.Whole = false
					return read, nil
				}
				is.Gone = false
				if rec, damage := record.DecodeRecord(kvs[0]); damage != nil {
					is.Instance.Damaged = damage.Error()
				} else {
					is.Instance = rec.Header
				}
				if p := is.Instance.Parent; p != nil {
					is.Parent = p.InstanceID
				}
			}
			read = append(read, is)
		}
	}
	return read, nil
}

func (l *family) trace(ctx context.Context, id string) (found bool, err error) {
	self, err := l.records(ctx, []string{id})
	if err != nil || self[0].Gone {
		return false, err
	}
	if err := l.ancestors(ctx, self[0].Parent); err != nil {
		return true, err
	}
	return true, l.descendants(ctx, self[0])
}

func (l *family) ancestors(ctx context.Context, id string) error {
	for id != "" && len(l.Of) < mostAncestors && !slices.ContainsFunc(l.Of, func(r Relative) bool { return r.Instance.ID == id }) {
		read, err := l.records(ctx, []string{id})
		if err != nil || len(read) == 0 {
			return err
		}
		read[0].Depth = -1 - len(l.Of)
		l.Of = append(l.Of, read[0])
		id = read[0].Parent
	}
	l.Whole = l.Whole && (id == "" || len(l.Of) < mostAncestors)
	slices.Reverse(l.Of)
	return nil
}

// descendants reads level by level, so that a bound cuts the farthest.
func (l *family) descendants(ctx context.Context, self Relative) error {
	all, level, left := []Relative{self}, []int{0}, l.most
	children := map[int][]int{} // places in all
	for depth := 1; len(level) > 0; depth++ {
		var next []int
		for chunk := range slices.Chunk(level, db.MaxLevel) {
			ops := make([]clientv3.Op, len(chunk))
			for i, at := range chunk {
				list := l.s.conn.Keys.Children(all[at].Instance.ID)
				ops[i] = l.at(list, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(int64(max(1, left))))
			}
			resp, err := l.read(ctx, ops)
			if err != nil {
				return err
			}
			for i, at := range chunk {
				entries := db.Read(i).In(resp)
				all[at].Children = entries.Count
				n := min(left, len(entries.Kvs))
				if depth > l.depth {
					n = 0
				}
				l.Whole = l.Whole && int64(n) == entries.Count
				ids := make([]string, n)
				for j, kv := range entries.Kvs[:n] {
					key := string(kv.Key)
					ids[j] = key[strings.LastIndexByte(key, '/')+1:]
				}
				found, err := l.records(ctx, ids)
				if err != nil {
					return err
				}
				left -= len(found)
				for _, child := range found {
					child.Depth, child.Parent = depth, all[at].Instance.ID
					children[at] = append(children[at], len(all))
					next = append(next, len(all))
					all = append(all, child)
				}
			}
		}
		level = next
	}
	var tell func(at int)
	tell = func(at int) {
		l.Of = append(l.Of, all[at])
		for _, child := range children[at] {
			tell(child)
		}
	}
	tell(0)
	return nil
}
