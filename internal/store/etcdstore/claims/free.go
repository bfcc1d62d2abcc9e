package claims

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Page is a part of the free tasks of one name, the oldest first.
type Page struct {
	Free     []Free
	More     bool  // within the same end
	Counted  int64 // that etcd walked over, at least
	Revision int64
}

// Free reads the free tasks of a name behind a place ("": from the first on) that were made before a time (zero: all). Etcd walks over all
// that lie between, also over those that were deleted since it was last compacted.
func (s *Claims) Free(ctx context.Context, name, behind string, before time.Time, limit int64) (Page, error) {
	prefix := s.conn.Keys.Tasks(name)
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	if behind != "" {
		from = s.conn.Keys.Tasks("") + behind + "\x00"
	}
	if !before.IsZero() {
		end = prefix + record.Millis(before)
	}
	if from >= end {
		return Page{}, nil
	}
	resp, err := s.conn.Get(ctx, "look for free tasks", from, clientv3.WithRange(end), clientv3.WithLimit(limit))
	if err != nil {
		return Page{}, err
	}
	p := Page{More: resp.More, Counted: resp.Count, Revision: resp.Header.Revision}
	for _, kv := range resp.Kvs {
		p.Free = append(p.Free, s.free(kv))
	}
	return p, nil
}

func (s *Claims) free(kv *mvccpb.KeyValue) Free {
	return Free{Place: strings.TrimPrefix(string(kv.Key), s.conn.Keys.Tasks("")), Created: kv.CreateRevision, Past: pastOf(kv)}
}

// pastOf is what a free entry says; of one that cannot be read, nothing.
func pastOf(kv *mvccpb.KeyValue) (past store.TaskPast) {
	if len(kv.Value) > 0 && db.Decode(kv.Value, &past) != nil {
		return store.TaskPast{}
	}
	return past
}

// News is a change of the free tasks.
type News struct {
	Free
	Gone bool // it is free no more
}

// watchPatience is how long a watch may take to begin.
const watchPatience = 5 * time.Second

// Follow tells of what becomes free and what does not stay so, until ctx ends or the watch breaks, on the goroutine that calls it. began is
// called when from then on it tells of all.
func (s *Claims) Follow(ctx context.Context, began func(), tell func([]News)) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(metadata.AppendToOutgoingContext(ctx, "weft-watch", "tasks")))
	defer cancel()
	patience := time.AfterFunc(watchPatience, cancel) // etcd's client waits until a member has begun it
	events := s.conn.Client.Watch(ctx, s.conn.Keys.Tasks(""), clientv3.WithPrefix())
	if !patience.Stop() {
		return context.DeadlineExceeded
	}
	began()
	for {
		resp, ok := db.Told(ctx, events)
		if !ok {
			return errors.Join(resp.Err(), errors.New("etcd tells nothing more of tasks"))
		}
		news := make([]News, 0, len(resp.Events))
		for _, ev := range resp.Events {
			news = append(news, News{s.free(ev.Kv), ev.Type == mvccpb.DELETE})
		}
		tell(news)
	}
}

// Name is the name of a task as its place holds it: of a long one the first 200 bytes.
func Name(place string) string {
	b, _ := record.TaskOf(place)
	return b.Name
}

// Listed is a name as places hold it.
func Listed(name string) string { return name[:min(len(name), record.MaxTaskName)] }
