package fsck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Checker checks and repairs what there is.
type Checker struct {
	conn      *lookup.Conn
	scheduled Scheduled // nil: it is not known here
}

// New is who checks over a connection; see [Checker.WithSchedules].
func New(c *lookup.Conn) *Checker { return &Checker{conn: c} }

// Finding is one key that does not fit the others.
type Finding struct {
	Rule   string `json:"rule"` // the name of the rule, such as "bookmark-without-instance"
	Key    string `json:"key"`  // below the cluster's root
	Detail string `json:"detail"`
	// Passing: such a thing may be for a moment in a cluster that works, and is
	// wrong if it stays.
	Passing bool `json:"passing,omitempty"`
	// Follows is how many other keys fit nothing only because of this one. They are
	// no findings of their own.
	Follows int `json:"follows,omitempty"`
	// Repair is what Upkeep.Repair does about it; "": nothing.
	Repair string `json:"repair,omitempty"`
	// Hint is what people have to do about it, after the repair if there is one.
	Hint string `json:"hint,omitempty"`

	Mend  *Mend
	newer bool // it is about, or was judged by, what has an id of a newer program
}

// Check is what Upkeep.Fsck found.
type Check struct {
	Revision int64     `json:"revision"`
	Keys     int       `json:"keys"`
	Findings []Finding `json:"findings"`
	// Aside is how many records lie below damaged/, where earlier repairs put them.
	Aside int `json:"aside,omitempty"`
}

// Bad are the findings that may not be, not even for a moment.
func (c *Check) Bad() []Finding {
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Passing })
}

// fsckPage is how many keys, or small values, one request of a check reads.
const fsckPage = 500

// Fsck reads every key of the cluster at one revision and reports what does not
// fit, with its cause: what follows only from a damaged record is counted there. It
// writes nothing and may run beside a working cluster. It holds all keys in
// memory, and of the instances what other keys have to fit: no state, no payload.
//
// Since every change is one transaction, all rules but those that are marked as
// passing hold at every revision.
func (s *Checker) Fsck(ctx context.Context) (*Check, error) {
	f := &fsck{ctx: ctx, s: s, check: &Check{Findings: []Finding{}}, kvs: map[string]*mvccpb.KeyValue{}, records: map[string]*store.Record{},
		causes: map[string]*Finding{}, foreign: map[string]bool{}, replays: map[string]bool{}, shapes: map[string]bool{}, defs: newDefinitionsSeen()}
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	rules := []func(){f.meta, f.heads, f.instances, fsckParts{f}.check, func() { kept(f) }, f.indexed, f.journals, f.indexes, f.bookmarks, f.tasks, f.deadLetters, f.jobs, f.timers, f.queue, f.sends, f.mail, f.movers, fsckGates{f}.check,
		f.triggers, f.schedules, f.versions, f.occurrences, f.webhooks, fsckLimits{f}.check, f.incidents, f.signOuts, f.idempotency, f.locks, func() { strangers(f) }, f.format}
	for _, rule := range rules {
		if rule(); f.err != nil {
			return nil, f.err
		}
		if f.other { // of another format: all else would be misread
			break
		}
	}
	leaveNewer(f.found)
	for _, n := range f.found {
		f.check.Findings = append(f.check.Findings, *n)
	}
	return f.check, nil
}

// fsck is one check under way.
type fsck struct {
	ctx     context.Context // of the check
	err     error           // the first to go wrong in a rule
	s       *Checker
	check   *Check
	kvs     map[string]*mvccpb.KeyValue // by key below the root, without values
	names   []string                    // of kvs, sorted
	records map[string]*store.Record    // by instance id, those that can be read
	ids     []string                    // of records, sorted
	found   []*Finding
	causes  map[string]*Finding // the damaged records, by key below the root
	foreign map[string]bool     // what this program cannot read all of, by key below the root
	other   bool                // all is of another format
	replays map[string]bool     // the mail that the replay of a dead letter puts again, by full key
	shapes  map[string]bool     // those that were looked for, by full key

	defs definitionsSeen
}

// read gets every key, page by page at the revision of the first page.
func (f *fsck) read(ctx context.Context) error {
	root := f.s.conn.Keys.Root
	for cursor := ""; ; {
		opts := []clientv3.OpOption{clientv3.WithKeysOnly()}
		if f.check.Revision > 0 {
			opts = append(opts, clientv3.WithRev(f.check.Revision))
		}
		resp, err := f.s.conn.Get(ctx, "read all keys", db.PageFrom(root, cursor), append(opts, clientv3.WithRange(clientv3.GetPrefixRangeEnd(root)), clientv3.WithLimit(fsckPage))...)
		if err != nil {
			return err
		}
		if f.check.Revision == 0 {
			f.check.Revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			cursor = strings.TrimPrefix(string(kv.Key), root)
			if strings.HasPrefix(cursor, record.AsideDir) {
				f.check.Aside++
				continue
			}
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
		kvs, next, err := f.s.conn.Page(f.ctx, "read values", f.s.conn.Keys.Root+prefix, cursor, many, clientv3.WithRev(f.check.Revision))
		if err != nil {
			f.err = err
			return
		}
		for _, kv := range kvs {
			name := strings.TrimPrefix(string(kv.Key), f.s.conn.Keys.Root)
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
func (f *fsck) has(key string) bool { return f.kvs[strings.TrimPrefix(key, f.s.conn.Keys.Root)] != nil }

func (f *fsck) report(rule, name, format string, args ...any) *Finding {
	detail := fmt.Sprintf(format, args...)
	if len(detail) > record.MaxDetail {
		detail = detail[:record.MaxDetail] + "…"
	}
	n := &Finding{Rule: rule, Key: f.below(name), Detail: detail}
	n.newer = OfNewer(n.Key)
	f.found = append(f.found, n)
	return n
}

func (f *fsck) passing(rule, name, format string, args ...any) {
	f.report(rule, name, format, args...).Passing = true
}

// below is a key without the root.
func (f *fsck) below(key string) string { return strings.TrimPrefix(key, f.s.conn.Keys.Root) }

// decode reads a value, or reports that it is damaged. Of what another version
// wrote it gives what this program knows.
func (f *fsck) decode(name string, kv *mvccpb.KeyValue, v any) *Finding {
	err := db.DecodeWhole(kv.Value, v)
	if err == nil {
		return nil
	}
	if !errors.Is(err, db.ErrDamaged) {
		f.foreign[name] = true
		f.passing("unavailable-here", name, "another version wrote it, with more than this program knows: it is left to that one")
	}
	return f.decodeShown(name, kv, v)
}

// decodeCounted reads what the nodes count, and begin again if it cannot be read. False: nothing
// more can be said of it here.
func decodeCounted(f *fsck, name string, kv *mvccpb.KeyValue, v any) bool {
	n := f.decode(name, kv, v)
	if n != nil {
		delete(f.causes, n.Key) // nothing follows from it
		n.Passing, n.Detail = true, n.Detail+"; the nodes begin a new one"
	}
	return n == nil && !f.foreign[name]
}

// decodeShown is decode for what no program writes again.
func (f *fsck) decodeShown(name string, kv *mvccpb.KeyValue, v any) *Finding {
	if err := db.Decode(kv.Value, v); err != nil {
		return f.damaged(name, "it cannot be read: %s", why(err))
	}
	return nil
}

// why is what is wrong with a value, without what the program calls it.
func why(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": decode ")
	if _, cause, ok := strings.Cut(text, ": "); ok {
		return cause
	}
	return err.Error()
}

// damaged reports a record that is not what any program wrote.
func (f *fsck) damaged(name, format string, args ...any) *Finding {
	n := f.report("damaged", name, format, args...)
	f.causes[f.below(name)] = n
	return n
}

// follows reports whether something that does not fit follows from a damaged
// record, and counts it there.
func (f *fsck) follows(cause string) bool {
	n := f.causes[f.below(cause)]
	if n != nil {
		n.Follows++
	}
	return n != nil
}

// kept: what package contents says of theirs.
func kept(f *fsck) {
	var below []string
	f.under("content/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		below = append(below, strings.TrimPrefix(name, "content/"))
	})
	has := func(id string) bool { return f.records[id] != nil || f.lostWith(id) || f.foreign["instance/"+id] }
	contents.Check(below, has, func(rule, below, detail, hint string) {
		n := f.report(rule, "content/"+below, "%s", detail)
		n.Passing, n.Hint = hint == "", hint
	})
}

// strangers: each key is of a kind that this program knows. Others may be a newer program's.
func strangers(f *fsck) {
	many, first := map[string]int{}, map[string]string{}
	for _, name := range f.names {
		kind, _, below := strings.Cut(name, "/")
		if _, known := slices.BinarySearch(record.Kinds, kind); known && below {
			continue
		}
		if many[kind]++; many[kind] == 1 {
			first[kind] = name
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(many)) {
		n := f.report("unknown-key", first[kind], "this program knows no key that begins with %q; there are %d", kind, many[kind])
		n.Passing, n.Hint = true, "a newer program may have put them; else somebody did by hand, and etcdctl deletes them"
	}
}

// locks: each is on a lease, and the lease lives. That is asked for after the
// keys were read, so that a lease may have ended since. What is known of nodes is on leases too.
func (f *fsck) locks() {
	without := func(rule, name string, kv *mvccpb.KeyValue, detail string) bool {
		if kv.Lease == 0 {
			f.repair(f.report(rule, name, "%s", detail), "deletes it", name).Del(string(kv.Key))
		}
		return kv.Lease == 0
	}
	for _, prefix := range []string{"nodes/", "ability/"} {
		f.values(prefix, fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
			without("node-without-lease", name, kv, "it never goes by itself: no node of this id joins, and the others take it for one that lives")
		})
	}
	alive := map[int64]bool{}
	f.values("lock/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		if without("lock-without-lease", name, kv, "nothing will ever free it") {
			return
		}
		if _, known := alive[kv.Lease]; !known && f.err == nil {
			ctx, cancel := context.WithTimeout(f.ctx, f.s.conn.Timeout)
			defer cancel()
			left, err := f.s.conn.Client.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
			if err != nil {
				f.err = fmt.Errorf("look whether leases live: %w", err)
				return
			}
			alive[kv.Lease] = left.TTL > 0
		}
		if f.err == nil && !alive[kv.Lease] {
			f.passing("lock-without-lease", name, "lease %x has ended", kv.Lease)
		}
		var v struct {
			Node string `json:"node"`
		}
		if json.Unmarshal(kv.Value, &v) == nil && v.Node != "" && f.kvs["nodes/"+v.Node] == nil {
			f.passing("lock-without-node", name, "node %s has no record", v.Node)
		}
	})
}

// incidents: each note is of an instance that is there, and can be read.
func (f *fsck) incidents() {
	f.values("incident/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id := parts[min(1, len(parts)-1)]
		if f.lostWith(id) {
			return
		}
		if r := f.records[id]; len(parts) != 3 || r == nil || r.Header.DefinitionID != parts[0] {
			f.drop(f.report("incident-without-instance", name, "no instance has it"), name, f.s.conn.Keys.Instance(id))
		} else if n := f.decodeShown(name, kv, &record.IncidentNote{}); n != nil {
			f.setAside(n, kv, f.s.conn.Keys.Instance(id))
		}
	})
}
