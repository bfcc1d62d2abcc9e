package etcdstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
)

// Finding is one key that does not fit the others.
type Finding struct {
	Rule   string `json:"rule"` // the name of the rule, such as "bookmark-without-instance"
	Key    string `json:"key"`  // below the cluster's root
	Detail string `json:"detail"`
	// Passing: such a thing may be for a moment in a cluster that works, and is
	// wrong if it stays.
	Passing bool `json:"passing,omitempty"`
}

// Check is what [Store.Fsck] found.
type Check struct {
	Revision int64     `json:"revision"`
	Keys     int       `json:"keys"`
	Findings []Finding `json:"findings"`
}

// Bad are the findings that may not be, not even for a moment.
func (c *Check) Bad() []Finding {
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Passing })
}

// fsckPage is how many keys, or small values, one request of a check reads.
const fsckPage = 500

// Fsck reads every key of the cluster at one revision and reports what does not
// fit. It writes nothing and may run beside a working cluster. It holds all keys in
// memory, and of the instances what other keys have to fit: no state, no payload.
//
// Since every change is one transaction, all rules but those that are marked as
// passing hold at every revision.
func (s *Store) Fsck(ctx context.Context) (*Check, error) {
	f := &fsck{ctx: ctx, s: s, check: &Check{Findings: []Finding{}}, kvs: map[string]*mvccpb.KeyValue{}, records: map[string]*store.Record{}}
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	for _, rule := range []func(){f.instances, f.journals, f.indexes, f.bookmarks, f.tasks, f.timers, f.queue, f.mail, f.causes, f.gates, f.definitions, f.versions, f.idempotency} {
		if rule(); f.err != nil {
			return nil, f.err
		}
	}
	if err := f.locks(ctx); err != nil {
		return nil, err
	}
	return f.check, nil
}

// fsck is one check under way.
type fsck struct {
	ctx     context.Context // of the check
	err     error           // the first to go wrong in a rule
	s       *Store
	check   *Check
	kvs     map[string]*mvccpb.KeyValue // by key below the root
	names   []string                    // of kvs, sorted
	records map[string]*store.Record    // by instance id
}

// read gets every key, page by page at the revision of the first page.
func (f *fsck) read(ctx context.Context) error {
	root := f.s.keys.root
	for cursor := ""; ; {
		opts := []clientv3.OpOption{clientv3.WithKeysOnly()}
		if f.check.Revision > 0 {
			opts = append(opts, clientv3.WithRev(f.check.Revision))
		}
		resp, err := f.s.get(ctx, "read all keys", pageFrom(root, cursor), append(opts, clientv3.WithRange(clientv3.GetPrefixRangeEnd(root)), clientv3.WithLimit(fsckPage))...)
		if err != nil {
			return err
		}
		if f.check.Revision == 0 {
			f.check.Revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			cursor = strings.TrimPrefix(string(kv.Key), root)
			f.kvs[cursor] = kv
			f.names = append(f.names, cursor)
		}
		if !resp.More {
			f.check.Keys = len(f.kvs)
			return nil
		}
	}
}

// values is under with the values, which are read for it, so many at a time, and not
// kept. What goes wrong ends the check.
func (f *fsck) values(prefix string, many int64, do func(name string, kv *mvccpb.KeyValue, parts []string)) {
	for cursor := ""; f.err == nil; {
		kvs, next, err := f.s.page(f.ctx, "read values", f.s.keys.root+prefix, cursor, many, clientv3.WithRev(f.check.Revision))
		if err != nil {
			f.err = err
			return
		}
		for _, kv := range kvs {
			name := strings.TrimPrefix(string(kv.Key), f.s.keys.root)
			do(name, kv, strings.Split(strings.TrimPrefix(name, prefix), "/"))
		}
		if cursor = next; next == "" {
			return
		}
	}
}

// under calls do for each key below prefix, in order, with the parts that follow
// the prefix.
func (f *fsck) under(prefix string, do func(name string, kv *mvccpb.KeyValue, parts []string)) {
	i, _ := slices.BinarySearch(f.names, prefix)
	for ; i < len(f.names) && strings.HasPrefix(f.names[i], prefix); i++ {
		do(f.names[i], f.kvs[f.names[i]], strings.Split(strings.TrimPrefix(f.names[i], prefix), "/"))
	}
}

// has reports whether a full key is there.
func (f *fsck) has(key string) bool { return f.kvs[strings.TrimPrefix(key, f.s.keys.root)] != nil }

func (f *fsck) report(rule, name, format string, args ...any) {
	f.check.Findings = append(f.check.Findings, Finding{Rule: rule, Key: strings.TrimPrefix(name, f.s.keys.root), Detail: fmt.Sprintf(format, args...)})
}

func (f *fsck) passing(rule, name, format string, args ...any) {
	f.report(rule, name, format, args...)
	f.check.Findings[len(f.check.Findings)-1].Passing = true
}

// decode reads a value, or reports that it cannot be read.
func (f *fsck) decode(name string, kv *mvccpb.KeyValue, v any) bool {
	if err := Decode(kv.Value, v); err != nil {
		f.report("unreadable", name, "%v", err)
		return false
	}
	return true
}

// locks: each is on a lease, and the lease lives. That is asked for after the
// keys were read, so that a lease may have ended meanwhile.
func (f *fsck) locks(ctx context.Context) error {
	alive := map[int64]bool{}
	var err error
	f.values("lock/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		if kv.Lease == 0 {
			f.report("lock-without-lease", name, "nothing will ever free it")
			return
		}
		if _, known := alive[kv.Lease]; !known && err == nil {
			tctx, cancel := context.WithTimeout(ctx, f.s.timeout)
			defer cancel()
			var left *clientv3.LeaseTimeToLiveResponse
			if left, err = f.s.client.TimeToLive(tctx, clientv3.LeaseID(kv.Lease)); err == nil {
				alive[kv.Lease] = left.TTL > 0
			}
		}
		if err == nil && !alive[kv.Lease] {
			f.passing("lock-without-lease", name, "lease %x has ended", kv.Lease)
		}
		var v struct {
			Node string `json:"node"`
		}
		if json.Unmarshal(kv.Value, &v) == nil && v.Node != "" && f.kvs["nodes/"+v.Node] == nil {
			f.passing("lock-without-node", name, "node %s has no record", v.Node)
		}
	})
	if err != nil {
		return fmt.Errorf("look whether leases live: %w", err)
	}
	return f.err
}
