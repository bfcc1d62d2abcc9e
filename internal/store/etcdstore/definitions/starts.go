package definitions

import (
	"context"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// Starts are what starts instances of a definition by itself.
type Starts struct {
	Index     store.DefinitionIndex // the first [MostStarts] triggers and routes; no schedules
	Schedules bool                  // there are some: where they are changes with each firing
	More      bool                  // there are others than those in the index, or it cannot be read
}

// MostStarts is how many triggers, and how many routes, are read of one definition.
const MostStarts = 5

// startsAtOnce is of how many definitions the lists of their keys are read at once.
const startsAtOnce = 50

// Starts reads what starts these definitions, by the id, at a revision. Those by which nothing
// starts are left out. Of 50 it costs a request for the lists of their keys and, as [MostStarts]
// has it, one to ten for what these say.
func (s *Definitions) Starts(ctx context.Context, ids []string, revision int64) (map[string]*Starts, error) {
	all := map[string]*Starts{}
	var ask []startAsked
	for chunk := range slices.Chunk(ids, startsAtOnce) {
		ops := make([]clientv3.Op, len(chunk))
		for i, id := range chunk {
			ops[i] = clientv3.OpGet(s.conn.Keys.Indexed(id), clientv3.WithRev(revision))
		}
		resp, err := s.conn.Read(ctx, "read what starts definitions", ops...)
		if err != nil {
			return nil, err
		}
		for i, id := range chunk {
			kv := db.Read(i).One(resp)
			if kv == nil {
				continue
			}
			var keys store.IndexedKeys
			if err := db.Decode(kv.Value, &keys); err != nil {
				all[id] = &Starts{More: true}
				continue
			}
			of := &Starts{Schedules: keys.Crons, More: len(keys.Triggers) > MostStarts || len(keys.Routes) > MostStarts}
			all[id] = of
			for _, t := range keys.Triggers[:min(len(keys.Triggers), MostStarts)] {
				ask = append(ask, startAsked{of: of, key: s.conn.Keys.Trigger(t.Hash, id, t.ActivityID)})
			}
			for _, r := range keys.Routes[:min(len(keys.Routes), MostStarts)] {
				ask = append(ask, startAsked{of: of, key: s.conn.Keys.Route(r.Method, r.Template), route: true})
			}
		}
	}
	for chunk := range slices.Chunk(ask, db.MaxLevel) {
		if err := s.readStarts(ctx, chunk, revision); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mostStarted is how many definitions are told that a stimulus starts.
const mostStarted = 20

// StartedBy gives the ids of definitions that a stimulus starts, by its hash: the first of them.
func (s *Definitions) StartedBy(ctx context.Context, hash string) (ids []string, err error) {
	resp, err := s.conn.Get(ctx, "look up what an event starts", s.conn.Keys.Triggers(hash), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(mostStarted))
	if err != nil {
		return nil, err
	}
	for _, kv := range resp.Kvs {
		id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Triggers(hash)), "/")
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// startAsked is a key of a trigger or a route that is read.
type startAsked struct {
	of    *Starts
	key   string
	route bool
}

func (s *Definitions) readStarts(ctx context.Context, ask []startAsked, revision int64) error {
	ops := make([]clientv3.Op, len(ask))
	for i, a := range ask {
		ops[i] = clientv3.OpGet(a.key, clientv3.WithRev(revision))
	}
	resp, err := s.conn.Read(ctx, "read what starts definitions", ops...)
	if err != nil {
		return err
	}
	for i, a := range ask {
		kv := db.Read(i).One(resp)
		if kv == nil {
			continue
		}
		var trigger store.TriggerEntry
		var route store.RouteEntry
		switch {
		case a.route && db.Decode(kv.Value, &route) == nil:
			a.of.Index.Routes = append(a.of.Index.Routes, route)
		case !a.route && db.Decode(kv.Value, &trigger) == nil:
			a.of.Index.Triggers = append(a.of.Index.Triggers, trigger)
		default:
			a.of.More = true
		}
	}
	return nil
}
