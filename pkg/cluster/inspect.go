package cluster

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// Holder is who holds a lock.
type Holder struct {
	NodeID string
	Lease  clientv3.LeaseID
	Fence  Fence     // zero if not known
	Since  time.Time // when the holder asked for the lock, by its own clock; zero if not known
}

// Info is what [Locks.List] says about one lock.
type Info struct {
	Scope   Scope
	Name    string // for people, as [Name.String]
	Holder  Holder
	Waiters []Holder // for it, in the order in which they get it
}

// Listing is a part of the list of locks, all of it as it stood at one revision.
type Listing struct {
	Locks    []Info
	Next     string // the cursor for what follows; "" at the end
	Revision int64
}

// Inspect tells who holds a lock, or false if nobody does. It asks etcd only if
// this node does not hold it. The answer may be out of date when it arrives.
func (l *Locks) Inspect(ctx context.Context, name Name) (Holder, bool, error) {
	prefix := l.s.root + name.path() + "/"
	if e := l.s.Epoch(); e != nil {
		if own := e.holder(prefix + leaseHex(e.Lease)); own != nil {
			return l.ownHolder(own), true, nil
		}
	}
	h, held, err := l.s.readHolder(ctx, prefix)
	if err != nil {
		return Holder{}, false, fmt.Errorf("inspect %s: %w", name, err)
	}
	return h, held, nil
}

// Claims are the nodes that claim a lock as they stood at a revision, in the order in
// which they get it: the first holds it, the others wait or are about to give up.
func (l *Locks) Claims(ctx context.Context, name Name, revision int64) ([]Holder, error) {
	ctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := l.s.cfg.Client.Get(ctx, l.s.root+name.path()+"/", clientv3.WithPrefix(), clientv3.WithRev(revision),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, err)
	}
	claims := make([]Holder, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		claims[i] = l.s.holderOf(kv)
	}
	return claims, nil
}

// Mine reports whether err is a refusal by this very node: a holder in this
// process, or its clean-up after an acquisition that got no answer.
func (l *Locks) Mine(err error) bool {
	var held *HeldError
	return errors.As(err, &held) && held.Holder.NodeID == l.s.cfg.NodeID
}

func (l *Locks) ownHolder(own *Lock) Holder {
	return Holder{NodeID: l.s.cfg.NodeID, Lease: own.e.Lease, Fence: own.fence, Since: own.since}
}

func (s *Session) readHolder(ctx context.Context, prefix string) (Holder, bool, error) {
	ctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, prefix, clientv3.WithFirstCreate()...)
	if err != nil || len(resp.Kvs) == 0 {
		return Holder{}, false, err
	}
	return s.holderOf(resp.Kvs[0]), true, nil
}

// holderOf reads a lock key. A key without a readable value is a lock too.
func (s *Session) holderOf(kv *mvccpb.KeyValue) Holder {
	if kv == nil {
		return Holder{}
	}
	var v mutex.Value
	_ = json.Unmarshal(kv.Value, &v)
	key := string(kv.Key)
	h := Holder{
		NodeID: v.Node,
		Lease:  clientv3.LeaseID(kv.Lease),
		Fence:  Fence{Key: key, Prefix: key[:lastSlash(key)+1], Revision: kv.CreateRevision},
		Since:  v.Since,
	}
	if h.NodeID == "" {
		for _, n := range s.members.Nodes() {
			if n.LeaseID == strconv.FormatInt(kv.Lease, 16) {
				h.NodeID = n.ID
			}
		}
	}
	return h
}

// ErrBadCursor says that a cursor was not made by [Locks.List].
var ErrBadCursor = errors.New("the cursor is not one of this list")

// List lists the locks of a scope, or of all scopes if scope is empty, in the
// order of their keys, at most limit (1 to 1000, 100 if it is 0 or less).
func (l *Locks) List(ctx context.Context, scope Scope, limit int, cursor string) (Listing, error) {
	if limit <= 0 {
		limit = 100
	}
	limit = min(limit, 1000)
	dir := l.s.root + lockDir
	if scope != "" {
		dir += string(scope) + "/"
	}
	from, end := dir, clientv3.GetPrefixRangeEnd(dir)
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || !strings.HasPrefix(l.s.root+string(last), dir) || !strings.HasSuffix(string(last), "/") {
			return Listing{}, ErrBadCursor
		}
		from = clientv3.GetPrefixRangeEnd(l.s.root + string(last)) // past all keys of that lock
	}
	var list Listing
	for {
		page := max(16, limit+1-len(list.Locks)) // one more tells whether there are more, and a few for those who wait
		cctx, cancel := call.WithTimeout(ctx)
		resp, err := l.s.cfg.Client.Get(cctx, from, clientv3.WithRange(end), clientv3.WithLimit(int64(page)),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend), clientv3.WithRev(list.Revision))
		cancel()
		if err != nil {
			return Listing{}, fmt.Errorf("list the locks: %w", err)
		}
		if list.Revision == 0 {
			list.Revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			h := l.s.holderOf(kv)
			if n := len(list.Locks); n > 0 && list.Locks[n-1].Holder.Fence.Prefix == h.Fence.Prefix {
				list.Locks[n-1].add(h)
				continue
			}
			if len(list.Locks) == limit {
				last := strings.TrimPrefix(list.Locks[limit-1].Holder.Fence.Prefix, l.s.root)
				list.Next = base64.RawURLEncoding.EncodeToString([]byte(last))
				return list, nil
			}
			list.Locks = append(list.Locks, l.s.info(h, kv))
		}
		if !resp.More {
			return list, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

func (s *Session) info(h Holder, kv *mvccpb.KeyValue) Info {
	var v mutex.Value
	_ = json.Unmarshal(kv.Value, &v)
	path := strings.TrimPrefix(h.Fence.Prefix, s.root+lockDir)
	scope, segment, _ := strings.Cut(strings.TrimSuffix(path, "/"), "/")
	if v.Name == "" {
		v.Name = scope + " " + segment
	}
	return Info{Scope: Scope(scope), Name: v.Name, Holder: h}
}

// add takes one more key of the same lock: the oldest one is the holder's, and the
// others get it by their age.
func (i *Info) add(h Holder) {
	if h.Fence.Revision < i.Holder.Fence.Revision {
		h, i.Holder = i.Holder, h
	}
	at, _ := slices.BinarySearchFunc(i.Waiters, h, func(a, b Holder) int { return cmp.Compare(a.Fence.Revision, b.Fence.Revision) })
	i.Waiters = slices.Insert(i.Waiters, at, h)
}
