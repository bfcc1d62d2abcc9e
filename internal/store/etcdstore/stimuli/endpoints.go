package stimuli

import (
	"context"
	"errors"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Shapes reads the shapes that a path with so many segments may match, keys only.
func (s *Stimuli) Shapes(ctx context.Context, method string, segments int) ([]string, error) {
	prefixes := []string{s.conn.Keys.Shapes(method, record.SegmentsIn(segments)), s.conn.Keys.Shapes(method, record.AnySegments)}
	var reads []clientv3.Op
	for _, p := range prefixes {
		reads = append(reads, clientv3.OpGet(p, clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	}
	resp, err := s.conn.Read(ctx, "read shapes of endpoints", reads...)
	if err != nil {
		return nil, err
	}
	var shapes []string
	for i, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().Kvs {
			shapes = append(shapes, strings.TrimPrefix(string(kv.Key), prefixes[i]))
		}
	}
	return shapes, nil
}

// Endpoint is a pattern of a method, and what is there.
type Endpoint struct {
	Method, Pattern string
	Hash            string            // of the stimuli for it
	Route           *store.RouteEntry // of the definition that it starts; nil: none
	Waiting         string            // an instance that waits there; "": none
}

// FindEndpoint gives the first of these at which something starts or waits; nil if
// nothing does anywhere. It reads one bookmark of each at most, however many wait.
func (s *Stimuli) FindEndpoint(ctx context.Context, among []Endpoint) (*Endpoint, error) {
	for len(among) > 0 {
		n := min(len(among), db.MaxLevel/2)
		var ask db.Reads
		routes, bookmarks := make([]db.Read, n), make([]db.Read, n)
		for i, e := range among[:n] {
			routes[i] = ask.Value(s.conn.Keys.Route(e.Method, e.Pattern))
			if bookmarks[i] = followedRead; !s.conn.Waiting.Has(s.conn.Keys.Bookmarks(e.Hash)) {
				bookmarks[i] = ask.Add(db.Below(firstOp, s.conn.Keys.Bookmarks(e.Hash)))
			}
		}
		resp, err := s.conn.Read(ctx, "look for an endpoint", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i := range among[:n] {
			e := &among[i]
			if kv := routes[i].One(resp); kv != nil {
				e.Route = &store.RouteEntry{Modified: kv.ModRevision}
				if err := db.DecodeWhole(kv.Value, e.Route); errors.Is(err, db.ErrDamaged) {
					s.conn.Left(kv.Key, err)
					e.Route = nil
				} else if err != nil {
					return nil, err
				}
			}
			kv, err := s.firstWaiting(ctx, e.Hash, bookmarks[i], resp)
			if err != nil {
				return nil, err
			}
			if kv != nil {
				var b record.BookmarkEntry
				if err := db.DecodeWhole(kv.Value, &b); errors.Is(err, db.ErrDamaged) {
					s.conn.Left(kv.Key, err)
					parts := strings.Split(string(kv.Key), "/")
					b.Instance = parts[len(parts)-2]
				} else if err != nil {
					return nil, err
				}
				e.Waiting = b.Instance
			}
			if e.Route == nil && e.Waiting == "" {
				continue
			}
			return e, nil
		}
		among = among[n:]
	}
	return nil, nil
}

var firstOp = clientv3.OpGet("", clientv3.WithLimit(1))

// followedRead stands for the read of a range that is followed.
const followedRead db.Read = -2

// firstWaiting is a bookmark of a hash; nil if there is none. It was read with a request, or
// is as of its revision or later.
func (s *Stimuli) firstWaiting(ctx context.Context, hash string, asked db.Read, resp *pb.TxnResponse) (*mvccpb.KeyValue, error) {
	prefix := s.conn.Keys.Bookmarks(hash)
	if asked != followedRead {
		r := asked.In(resp)
		s.conn.Waiting.Looked(prefix, r.Count)
		return asked.One(resp), nil
	}
	if kvs, n, _, ok := s.conn.Waiting.At(ctx, prefix, resp.Header.Revision, 1); ok {
		if n == 0 {
			return nil, nil
		}
		return kvs[0], nil
	}
	now, err := s.conn.Get(ctx, "look for an endpoint", prefix, clientv3.WithPrefix(), clientv3.WithLimit(1))
	if err != nil || len(now.Kvs) == 0 {
		return nil, err
	}
	return now.Kvs[0], nil
}
