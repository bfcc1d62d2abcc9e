package lists

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Filling is what fills etcd: what a cluster keeps there, by kind and by definition, as it was at one revision.
// Keys of each kind are counted; their bytes are read, up to [FillingBounds]. Where all was not read, the rest is
// taken to be like what was, and Off tells how far off that may be. It says nothing of what others keep in the
// same etcd, nor of what etcd still has of before its last compaction.
type Filling struct {
	Revision    int64
	Whole       bool // all was read: no number is an estimate
	Kinds       []Share
	Definitions []Share // of instances, with their parts, journals and mail; the largest first
	Largest     []Share // instances; of those that were read
	Took        time.Duration
}

// Share is a part of what is kept.
type Share struct {
	Name       string // of the kind, the definition, the instance
	Definition string // of an instance
	Keys       int64
	Bytes      int64 // of keys and values
	Off        int64 // bytes by which that may be wrong, either way (two standard errors); 0: it is read
}

// FillingBounds bound one look at what fills etcd.
type FillingBounds struct {
	Time      time.Duration
	Bytes     int64 // of values that are read
	Instances int   // that are told apart
}

// The bounds of a look, unless others are given, and of one answer of etcd.
var usualFilling = FillingBounds{Time: 8 * time.Second, Bytes: 256 << 20, Instances: 100_000}

const (
	fillingPage   = 2 << 20 // bytes of an answer, about
	mostFillKeys  = 1000
	largestShown  = 20
	noDefinition  = "(not told apart)"
	twoDeviations = 2
)

// kindsOfFilling say in words what the first parts of keys are; what is not among them is "other".
var kindsOfFilling = map[string]string{
	"instance": "records", "part": "records", "content": "files", "journal": "journals", "bookmark": "bookmarks", "task": "bookmarks", "task-taken": "bookmarks", "user-task": "bookmarks", "task-lease": "timers", "timer": "timers", "cron": "timers",
	"mailbox": "mail", "cancel": "mail", "send": "mail", "sent": "mail", "queue": "queue", "queue-mark": "queue", "dead": "dead letters", "idem": "answers", "idem-expiry": "answers",
	"index": "lists", "by-correlation": "lists", "by-parent": "lists", "label": "lists", "finished": "lists", "incident": "webhooks", "incident-wanted": "webhooks",
	"webhook": "webhooks", "webhook-at": "webhooks", "webhook-due": "webhooks", "webhook-failed": "webhooks", "job": "jobs", "job-open": "jobs", "damaged": "set aside",
	"definition": "definitions", "definition-content": "definitions", "definition-index": "definitions", "definition-ref": "definitions", "definition-retired": "definitions",
	"definition-use": "definitions", "definition-version": "definitions", "trigger": "definitions", "route": "definitions", "endpoint": "definitions", "gate": "lists",
}

// Filling looks what fills etcd. Zero bounds are the usual ones.
func (s *Lists) Filling(ctx context.Context, b FillingBounds) (*Filling, error) {
	l := &fillingLook{s: s, began: time.Now(), bounds: FillingBounds{cmp.Or(b.Time, usualFilling.Time), cmp.Or(b.Bytes, usualFilling.Bytes), cmp.Or(b.Instances, usualFilling.Instances)},
		owners: map[string]string{}, instances: map[string]*Share{}}
	if err := l.count(ctx); err != nil {
		return nil, err
	}
	for more := true; more; {
		more = false
		for _, k := range l.kinds { // a page of each in turn, so that a bound leaves something of each
			if k.done {
				continue
			}
			if l.over() {
				return l.result(), nil
			}
			if err := l.page(ctx, k); errors.Is(err, db.ErrCompacted) {
				return l.result(), nil
			} else if err != nil {
				return nil, err
			}
			more = more || !k.done
		}
	}
	return l.result(), nil
}

// fillingLook is one look under way.
type fillingLook struct {
	s         *Lists
	began     time.Time
	bounds    FillingBounds
	revision  int64
	read      int64
	kinds     []*kindRead
	owners    map[string]string // definitions by instance
	instances map[string]*Share // by id
	left      int64             // bytes of instances that are not told apart
}

// kindRead is what was read of the keys of one kind.
type kindRead struct {
	name, cursor    string
	total, keys     int64
	bytes           int64
	squares         float64
	done            bool
	sizeOfTheLatest int64 // of a key, on average, on the last page
}

func (l *fillingLook) over() bool {
	return time.Since(l.began) > l.bounds.Time || l.read > l.bounds.Bytes
}

// count counts the keys of each kind at one revision. etcd counts them in its memory.
func (l *fillingLook) count(ctx context.Context) error {
	var ask db.Reads
	for _, kind := range record.Kinds {
		l.kinds = append(l.kinds, &kindRead{name: kind})
		ask.Add(clientv3.OpGet(l.s.conn.Keys.Root+kind+"/", clientv3.WithPrefix(), clientv3.WithCountOnly()))
	}
	resp, err := l.s.conn.Read(ctx, "count what fills etcd", ask.Ops...)
	if err != nil {
		return err
	}
	l.revision = resp.Header.Revision
	for i, k := range l.kinds {
		k.total = db.Read(i).In(resp).Count
		k.done = k.total == 0
	}
	return nil
}

// page reads one page of a kind: few keys where they are large.
func (l *fillingLook) page(ctx context.Context, k *kindRead) error {
	limit := int64(db.FirstChunk)
	if k.keys > 0 {
		limit = max(1, min(mostFillKeys, 4*k.keys, fillingPage/max(1, k.sizeOfTheLatest)))
	}
	kvs, next, err := l.s.conn.Page(ctx, "read what fills etcd", l.s.conn.Keys.Root+k.name+"/", k.cursor, limit, clientv3.WithRev(l.revision))
	if err != nil {
		return err
	}
	page := int64(0)
	for _, kv := range kvs {
		size := int64(len(kv.Key) + len(kv.Value))
		page += size
		k.squares += float64(size) * float64(size)
		l.owned(k.name, strings.TrimPrefix(string(kv.Key), l.s.conn.Keys.Root), kv.Value, size)
	}
	k.keys += int64(len(kvs))
	k.bytes += page
	l.read += page
	if len(kvs) > 0 {
		k.sizeOfTheLatest = page / int64(len(kvs))
	}
	k.cursor, k.done = next, next == ""
	return nil
}

// owned notes whose a key is, if an instance's.
func (l *fillingLook) owned(kind, key string, value []byte, size int64) {
	parts := strings.Split(key, "/")
	var id string
	switch kind {
	case "instance", "part", "content", "journal", "cancel":
		id = parts[1]
	case "mailbox":
		id = parts[min(2, len(parts)-1)]
	case "index": // index/<sub-status>/<definition>/<version>/<newest>/<id>
		if id = parts[len(parts)-1]; len(parts) > 3 && len(l.owners) < l.bounds.Instances {
			l.owners[id] = record.Decode(parts[2])
		}
	default:
		return
	}
	if kind == "instance" && l.owners[id] == "" && len(l.owners) < l.bounds.Instances {
		var r store.Record
		if db.Decode(value, &r) == nil {
			l.owners[id] = r.Header.DefinitionID
		}
	}
	is := l.instances[id]
	if is == nil {
		if len(l.instances) >= l.bounds.Instances {
			l.left += size
			return
		}
		is = &Share{Name: id}
		l.instances[id] = is
	}
	is.Keys++
	is.Bytes += size
}

// result sums up, and estimates what was not read.
func (l *fillingLook) result() *Filling {
	f := &Filling{Revision: l.revision, Whole: true, Took: time.Since(l.began)}
	byKind, offs := map[string]*Share{}, map[string]float64{}
	for _, k := range l.kinds {
		name := cmp.Or(kindsOfFilling[k.name], "other")
		is := byKind[name]
		if is == nil {
			is = &Share{Name: name}
			byKind[name] = is
		}
		bytes, off := k.estimate()
		is.Keys, is.Bytes = is.Keys+k.total, is.Bytes+bytes
		offs[name] += off * off
		f.Whole = f.Whole && k.done
	}
	for name, is := range byKind {
		if is.Off = int64(math.Sqrt(offs[name])); is.Keys > 0 {
			f.Kinds = append(f.Kinds, *is)
		}
	}
	byDefinition := map[string]*Share{}
	for id, is := range l.instances {
		is.Definition = cmp.Or(l.owners[id], noDefinition)
		d := byDefinition[is.Definition]
		if d == nil {
			d = &Share{Name: is.Definition}
			byDefinition[is.Definition] = d
		}
		d.Keys, d.Bytes = d.Keys+1, d.Bytes+is.Bytes
		f.Largest = append(f.Largest, *is)
	}
	if l.left > 0 {
		f.Definitions = append(f.Definitions, Share{Name: noDefinition, Bytes: l.left})
	}
	for _, d := range byDefinition {
		f.Definitions = append(f.Definitions, *d)
	}
	for _, list := range []*[]Share{&f.Kinds, &f.Definitions, &f.Largest} {
		slices.SortFunc(*list, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	}
	f.Largest = f.Largest[:min(largestShown, len(f.Largest))]
	return f
}

// estimate is how many bytes all keys of a kind take, and by how much that may be wrong.
func (k *kindRead) estimate() (bytes int64, off float64) {
	if k.done || k.keys == 0 {
		return k.bytes, 0
	}
	n, all := float64(k.keys), float64(max(k.total, k.keys))
	mean := float64(k.bytes) / n
	variance := max(0, k.squares/n-mean*mean)
	return int64(mean * all), twoDeviations * all * math.Sqrt(variance/n*(1-n/all))
}
