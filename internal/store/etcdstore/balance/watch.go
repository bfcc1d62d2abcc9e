package balance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// watch begins the watches behind the balance, on a stream of their own: what is asked of it
// (how far it is) all watches of a stream are told. The first range has what waits to be
// worked, and beside it what changes seldom; the second what went wrong; the third the
// records that say what became of it.
func (r *reckoner) watch(ctx context.Context, cancel func()) (watches [watchedRanges]clientv3.WatchChan, own context.Context, err error) {
	own = clientv3.WithRequireLeader(metadata.AppendToOutgoingContext(ctx, "weft-watch", "balance"))
	patience := time.AfterFunc(lookup.WatchPatience, cancel) // etcd's client waits until a member has begun it
	defer patience.Stop()
	k := r.s.conn.Keys
	for i, of := range [watchedRanges][2]string{
		{k.Mailboxes(), clientv3.GetPrefixRangeEnd(k.Sends())},
		{k.Root + record.AsideDir, clientv3.GetPrefixRangeEnd(k.Deads())},
		{k.CommandRecords(), clientv3.GetPrefixRangeEnd(k.CommandRecords())},
	} {
		opts := []clientv3.OpOption{clientv3.WithRange(of[1]), clientv3.WithRev(r.is.Revision + 1)}
		if i == watchedRanges-1 {
			opts = append(opts, clientv3.WithFilterDelete())
		}
		watches[i] = r.s.conn.Client.Watch(own, of[0], opts...)
		r.upTo[i] = r.is.Revision
	}
	return watches, own, ctx.Err()
}

// moment is what one revision changed that is not judged yet. A revision may have several
// transactions in it, which group commit has sent together; names tell them apart.
type moment struct {
	came    int64 // keys of accepted work that were not there before
	became  int64 // that went, and are something else now
	rests   int64
	gone    []gone
	dead    []string                    // dead letters that went, by key below the root
	replays int64                       // of dead letters and queue items
	buried  map[string]bool             // what is a dead letter now: a command of an instance, or the id of a stimulus
	records map[string]workflow.Outcome // what became of a command of an instance, or of the id of a stimulus
	deleted map[string]bool             // instances
	aside   map[string]bool             // keys that weft fsck --repair has set aside
}

// gone is a key that went, and whose reason is not known yet.
type gone struct {
	revision int64
	key      string // below the root
	name     string // a command of an instance, or the id of a stimulus
	instance string // of a command
	command  string
}

func (r *reckoner) at(revision int64) *moment {
	m := r.moments[revision]
	if m == nil {
		m = &moment{buried: map[string]bool{}, records: map[string]workflow.Outcome{}, deleted: map[string]bool{}, aside: map[string]bool{}}
		r.moments[revision] = m
	}
	return m
}

// take notes what a watch of a range tells. All of one revision comes at once.
func (r *reckoner) take(i int, resp clientv3.WatchResponse) error {
	if len(resp.Events) == 0 {
		if resp.IsProgressNotify() {
			r.upTo[i] = max(r.upTo[i], resp.Header.Revision)
		}
		return nil
	}
	for events := resp.Events; len(events) > 0; {
		revision := events[0].Kv.ModRevision
		n := 1
		for n < len(events) && events[n].Kv.ModRevision == revision {
			n++
		}
		if revision <= r.upTo[i] {
			return fmt.Errorf("etcd told of revision %d after %d", revision, r.upTo[i])
		}
		switch i {
		case 0:
			r.seeWork(revision, events[:n])
		case 1:
			r.seeDead(revision, events[:n])
		case 2:
			r.seeRecords(revision, events[:n])
		}
		r.upTo[i] = revision
		events = events[n:]
	}
	return nil
}

// appeared tells of a key whether it came, and was not there before.
func appeared(ev *clientv3.Event) bool { return ev.Type == mvccpb.PUT && ev.Kv.Version == 1 }

// seeWork notes what one revision changed of mailboxes, send records and the queue. A send
// record or queue item mostly has its reason here: what was made of it.
func (r *reckoner) seeWork(revision int64, events []*clientv3.Event) {
	var went []gone
	var put []*mvccpb.KeyValue
	var m *moment
	for _, ev := range events {
		key := strings.TrimPrefix(string(ev.Kv.Key), r.s.conn.Keys.Root)
		kind, rest, _ := strings.Cut(key, "/")
		if kind != "mailbox" && kind != "send" && kind != "queue" {
			continue
		}
		if kind == "mailbox" && rests(key) {
			m = r.at(revision)
			switch {
			case appeared(ev):
				m.rests++
			case ev.Type == mvccpb.DELETE:
				m.rests--
			}
			continue
		}
		m = r.at(revision)
		if ev.Type == mvccpb.DELETE {
			went = append(went, goneOf(revision, kind, key, rest))
			continue
		}
		put = append(put, ev.Kv)
		if appeared(ev) {
			m.came++
		}
	}
	made := r.madeOf(went, put)
	for _, g := range went {
		if g.instance == "" && made[g.name] {
			m.became++
			continue
		}
		m.gone = append(m.gone, g)
	}
}

func goneOf(revision int64, kind, key, rest string) gone {
	g := gone{revision: revision, key: key}
	parts := strings.Split(rest, "/")
	last := parts[len(parts)-1]
	switch {
	case kind == "mailbox" && len(parts) == 3:
		g.instance, g.command = parts[1], record.Decode(last)
		g.name = g.instance + "/" + g.command
	case kind == "queue" && parts[0] == "~gated":
		_, id, _ := strings.Cut(last, "-")
		g.name = record.Decode(id)
	default:
		g.name = record.Decode(last)
	}
	return g
}

// madeOf tells which stimuli that went something was made of in the same revision: a send
// record of a queue item, a queue item of a send record, the commands and starts of either.
func (r *reckoner) madeOf(went []gone, put []*mvccpb.KeyValue) map[string]bool {
	made := map[string]bool{}
	var names []string
	for _, g := range went {
		if g.instance == "" {
			names = append(names, g.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, kv := range put {
		key := strings.TrimPrefix(string(kv.Key), r.s.conn.Keys.Root)
		kind, rest, _ := strings.Cut(key, "/")
		it := goneOf(0, kind, key, rest)
		switch kind {
		case "send":
			made[it.name] = true
		case "queue":
			made[it.name] = true
			var item store.QueueItem
			if db.Decode(kv.Value, &item) == nil && item.Held != nil {
				made[item.Held.Event] = true // one of several starts of a send record
			}
		case "mailbox":
			made[it.command] = true
			var cmd workflow.Command
			if db.Decode(kv.Value, &cmd) != nil {
				continue
			}
			for _, name := range names {
				if !made[name] {
					made[name] = meansFor(name, it.instance, &cmd)
				}
			}
		}
	}
	return made
}

// meansFor tells whether a command is what a send record or queue item of a name means for
// its instance.
func meansFor(name, instance string, cmd *workflow.Command) bool {
	if st := cmd.Start; st != nil {
		return st.Trigger != "" && (name == store.GatedItem(instance) || instance == store.TriggeredInstance(name, st.DefinitionID, st.Trigger))
	}
	return cmd.Bookmark != "" && cmd.ID == store.TargetCommand(name, cmd.Bookmark)
}

// seeDead notes dead letters that came and went, and what was set aside.
func (r *reckoner) seeDead(revision int64, events []*clientv3.Event) {
	m := r.at(revision)
	for _, ev := range events {
		key := string(ev.Kv.Key)
		if at, ok := strings.CutPrefix(key, r.s.conn.Keys.Root+record.AsideDir); ok {
			if i := strings.LastIndexByte(at, '@'); i >= 0 && ev.Type == mvccpb.PUT {
				m.aside[at[:i]] = true
			}
			continue
		}
		id, ok := strings.CutPrefix(key, r.s.conn.Keys.Deads())
		switch {
		case !ok:
		case ev.Type == mvccpb.DELETE:
			m.dead = append(m.dead, strings.TrimPrefix(key, r.s.conn.Keys.Root))
		default:
			if appeared(ev) {
				m.came++
			}
			m.bury(record.Decode(id), ev.Kv)
		}
	}
}

// bury notes what a dead letter is of.
func (m *moment) bury(id string, kv *mvccpb.KeyValue) {
	if i := strings.LastIndexByte(id, '@'); i >= 0 {
		m.buried[id[:i]] = true
	}
	if d, err := record.DecodeDead(kv, db.Decode); err == nil && d.Command != nil {
		m.buried[d.InstanceID+"/"+d.Command.ID] = true
	}
}

// seeRecords notes what became of commands.
func (r *reckoner) seeRecords(revision int64, events []*clientv3.Event) {
	m := r.at(revision)
	for _, ev := range events {
		of, cmd, _ := strings.Cut(strings.TrimPrefix(string(ev.Kv.Key), r.s.conn.Keys.CommandRecords()), "/")
		cmd = record.Decode(cmd)
		switch {
		case of == "~send" && strings.HasPrefix(cmd, store.Replayed) && !strings.Contains(cmd, "@"):
			m.replays++
		case cmd == record.DeletedRecord:
			m.deleted[of] = true
		case of == record.DoneRecords:
			var e store.Effect
			if m.records[cmd] = workflow.OutcomeRequeued; db.Decode(ev.Kv.Value, &e) == nil && e.Outcome == workflow.OutcomeDropped {
				m.records[cmd] = e.Outcome // somebody deleted it
			}
		case strings.HasPrefix(of, "~"):
		default:
			var e store.Effect
			if db.Decode(ev.Kv.Value, &e) == nil {
				m.records[of+"/"+cmd] = e.Outcome
			}
		}
	}
}

// step judges what all watches have told of, asks how far they are, and puts what was
// counted when it is time.
func (r *reckoner) step(ctx, own context.Context) error {
	if !r.how.Mine() {
		return errCountedElsewhere
	}
	if err := r.judge(ctx); err != nil {
		return err
	}
	every := r.rest()
	if time.Since(r.put) >= every {
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	if len(r.moments) == 0 && time.Since(r.put) < every-time.Second {
		return nil
	}
	return r.s.conn.Client.RequestProgress(own)
}

// judge finds the reasons of what went up to where all watches are.
func (r *reckoner) judge(ctx context.Context) error {
	upTo := slices.Min(r.upTo[:])
	var unknown []gone
	for revision, m := range r.moments {
		if revision > upTo {
			continue
		}
		replays := m.replays
		for _, g := range m.gone {
			switch {
			case r.find(m, &g):
			case replays > 0 && strings.HasPrefix(g.key, "queue/"): // it was sent again, by another id
				replays--
				m.became++
			default:
				unknown = append(unknown, g)
			}
		}
		var aside int64
		for _, key := range m.dead {
			if m.aside[key] {
				aside++
			}
		}
		letters := int64(len(m.dead)) - aside
		again := min(letters, replays) // the other dead letters were deleted
		r.is.Accepted += m.came - m.became - again
		r.is.Deleted += letters - again
		r.is.SetAside += aside
		r.is.Rests += m.rests
		r.changed = r.changed || m.came+m.became+m.rests != 0 || len(m.gone)+len(m.dead) > 0
		delete(r.moments, revision)
	}
	if err := r.journals(ctx, unknown); err != nil {
		return err
	}
	r.is.Revision = upTo
	return nil
}

// find counts what went by the reason that its revision has; false: it has none here.
func (r *reckoner) find(m *moment, g *gone) bool {
	outcome, recorded := m.records[g.name]
	switch {
	case m.buried[g.name] || outcome == workflow.OutcomeRequeued:
		m.became++
	case m.aside[g.key]:
		r.is.SetAside++
	case recorded && (outcome == workflow.OutcomeRefused || outcome == workflow.OutcomeDropped), m.deleted[g.instance] && !recorded:
		r.is.Refused++
	case recorded:
		r.is.Applied++
	default:
		return false
	}
	return true
}

// journals looks for the commands that left no record in the journals of their instances, at
// the revision at which they went.
func (r *reckoner) journals(ctx context.Context, unknown []gone) error {
	for chunk := range slices.Chunk(unknown, db.MaxLevel) {
		var ask db.Reads
		for _, g := range chunk {
			ask.Add(clientv3.OpGet(r.s.conn.Keys.JournalOf(g.instance), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly(), clientv3.WithRev(g.revision)))
		}
		resp, err := r.s.conn.Read(ctx, "look for the journals of commands", ask.Ops...)
		if err != nil {
			return err
		}
		var last db.Reads
		for i, g := range chunk {
			last.Add(clientv3.OpGet(r.s.conn.Keys.Journal(g.instance, lastOfJournal(db.Read(i).In(resp))), clientv3.WithRev(g.revision)))
		}
		if resp, err = r.s.conn.Read(ctx, "look for commands in journals", last.Ops...); err != nil {
			return err
		}
		for i, g := range chunk {
			if namesCommand(db.Read(i).One(resp), &g) {
				r.is.Applied++
				continue
			}
			r.s.conn.Log.ErrorContext(ctx, "accepted work is gone, and nothing says why: see docs/runbooks/balance-difference.md", "key", g.key, "revision", g.revision)
			if len(r.is.Lost) < store.MaxLost {
				r.is.Lost = append(r.is.Lost, store.Lost{Key: g.key, Revision: g.revision})
			}
		}
	}
	return nil
}

// lastOfJournal is the number of the last entry, of a journal of which the first key was read:
// entries have one number after the other.
func lastOfJournal(first *pb.RangeResponse) int64 {
	if len(first.Kvs) == 0 {
		return 0
	}
	key := string(first.Kvs[0].Key)
	from, _ := strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
	return from + first.Count - 1
}

// namesCommand tells whether a journal entry is of the commit that consumed a command.
func namesCommand(kv *mvccpb.KeyValue, g *gone) bool {
	var e record.JournalEntry
	return kv != nil && kv.ModRevision == g.revision && db.Decode(kv.Value, &e) == nil && slices.Contains(e.Commands, g.command)
}
