package fsck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// instances: readable, and a finished one waits nowhere.
func (f *fsck) instances() {
	told := map[string]bool{} // damaged ones whose header tells which children they wait for: these are cancelled
	f.values("instance/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		r := &store.Record{Modified: kv.ModRevision}
		id := parts[0]
		n := f.decode(name, kv, r)
		if n == nil && len(r.Parts) > 0 {
			n = fsckParts{f}.joined(name, kv, r)
		}
		switch {
		case n != nil:
		case r.Header.ID != id:
			n = f.damaged(name, "it says that it is instance %q", r.Header.ID)
		case r.Header.Status == workflow.StatusRunning && len(r.State) > 0 && !f.foreign[name] && !isState(r.State):
			n = f.damaged(name, "its state is none: %.80q", r.State)
			told[id] = true
		}
		if n != nil {
			f.remove(n, id, kv)
			return
		}
		r.JournalBytes += int64(len(kv.Value)) // what it takes in all
		for _, p := range r.Parts {
			r.JournalBytes += p.Kept
		}
		r.State, r.Header.Input, r.Header.Incidents = nil, nil, nil
		if r.Header.Parent == nil || r.Header.Parent.BookmarkID == "" {
			r.Header.Output = nil // else its parent may have to be told
		}
		f.records[id] = r
		if r.Header.Status == workflow.StatusFinished && len(r.Header.Bookmarks) > 0 {
			f.report("finished-instance-waits", name, "%d bookmarks", len(r.Header.Bookmarks)).Hint = "DELETE /api/v1/instances/" + id
		}
		if r.Unwritten != nil && !f.hasMail(id) {
			at := f.s.conn.Keys.Mail(id, workflow.ContinueID)
			n := f.report("index-unwritten", name, "a commit left some of what waits to be written behind it, and no command is there by which a node goes on")
			f.repair(n, "puts a command that goes on", f.s.conn.Keys.Instance(id), at).Put(at, workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: time.Now().UTC()})
		}
		if r.Seq == 0 && r.Header.Status == workflow.StatusRunning && !f.hasMail(id) {
			n := f.report("instance-without-start", name, "it never ran, and no command is there to run it")
			f.remove(n, id, kv)
		}
	})
	f.ids = slices.Sorted(maps.Keys(f.records))
	f.children(told)
}

// fsckParts are the rules of the parts of records.
type fsckParts struct{ *fsck }

// joined reads the parts of an instance into its record, or reports that it is damaged. Of one that has moved
// since the check began it gives what its record alone says.
func (f fsckParts) joined(name string, kv *mvccpb.KeyValue, r *store.Record) *Finding {
	whole, err := lookup.PartsOf(f.s.conn).Join(f.ctx, kv, db.Decode)
	switch {
	case err == nil:
		*r = *whole
	case errors.Is(err, db.ErrDamaged):
		return f.damaged(name, "it cannot be read: %s", why(err))
	case lookup.IsMoved(err):
		record.WithoutParts(r)
	default:
		f.err = err
	}
	return nil
}

// check: each belongs to an instance, whose record names it.
func (f fsckParts) check() {
	f.values("part/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		r := f.records[parts[0]]
		if r != nil && slices.ContainsFunc(r.Parts, func(p store.Part) bool { return len(parts) == 2 && p.ID == parts[1] }) || r == nil && f.lostWith(parts[0]) || kv.Lease != 0 { // it was written ahead of its commit
			return
		}
		f.setAside(f.report("part-unused", name, "no instance has it"), kv, f.s.conn.Keys.Instance(parts[0]))
	})
}

// children names, beside what is wrong with an instance, its children that run on.
// Those of told are cancelled with it.
func (f *fsck) children(told map[string]bool) {
	for _, id := range f.ids {
		if p := f.records[id].Header.Parent; p != nil && f.records[id].Header.Status == workflow.StatusRunning {
			n := f.causes[f.below(f.s.conn.Keys.Instance(p.InstanceID))]
			if n == nil || told[p.InstanceID] && p.BookmarkID != "" {
				continue
			}
			n.Hint = strings.TrimPrefix(n.Hint+"; ", "; ") + "its child " + id + " runs on: DELETE /api/v1/instances/" + id + ", if it is of no use alone"
		}
	}
}

// isState reports whether a state is an object of some format, whichever that is.
func isState(state json.RawMessage) bool {
	var d struct {
		V *int `json:"v"`
	}
	return bytes.HasPrefix(bytes.TrimSpace(state), []byte("{")) && json.Unmarshal(state, &d) == nil && d.V != nil
}

// remove says that an instance is to be removed with all that it has, and is kept
// below damaged/.
func (f *fsck) remove(n *Finding, id string, kv *mvccpb.KeyValue) {
	f.replace(n, kv, " with its journal, removes its other keys, tells who waits for its end that it was cancelled, makes events in its mailbox dead letters")
	if n.Mend != nil {
		n.Mend.lost = id
	}
}

func (f *fsck) hasMail(id string) bool {
	found := false
	f.under(f.below(f.s.conn.Keys.Mailbox(id)), func(string, *mvccpb.KeyValue, []string) { found = true })
	return found
}

// lostWith reports whether a key follows from an instance that is damaged.
func (f *fsck) lostWith(id string) bool { return f.follows(f.s.conn.Keys.Instance(id)) }

// journals: one entry for each sequence number of its instance from the first that
// is kept, and no other.
func (f *fsck) journals() {
	last := map[string]int64{}
	f.values("journal/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		if len(parts) != 2 {
			f.setAside(f.damaged(name, "there is no such key"), kv)
			return
		}
		id := parts[0]
		if f.lostWith(id) {
			return
		}
		r := f.records[id]
		if r == nil {
			f.setAside(f.report("journal-without-instance", name, "there is no such instance"), kv, f.s.conn.Keys.Instance(id))
			return
		}
		if last[id] == 0 {
			last[id] = record.JournalFrom(r) - 1
		}
		seq, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || seq <= last[id] || seq > r.Seq {
			f.setAside(f.report("journal-gap", name, "after entry %d, of %d", last[id], r.Seq), kv, f.s.conn.Keys.Instance(id))
			return
		}
		if seq != last[id]+1 {
			f.noteLoss(f.report("journal-gap", name, "after entry %d", last[id]), id, last[id]+1, seq-1)
		}
		last[id] = seq
		var e record.JournalEntry
		n := f.decodeShown(name, kv, &e)
		if n == nil && e.Seq != seq {
			n = f.damaged(name, "it says that it is entry %d", e.Seq)
		}
		if n != nil {
			f.replace(n, kv, ", and puts an entry that says so", f.s.conn.Keys.Instance(id)).Put(string(kv.Key), lostEntry(seq))
		}
	})
	for _, id := range f.ids {
		r := f.records[id]
		if _, some := last[id]; !some {
			last[id] = record.JournalFrom(r) - 1
		}
		if r.Seq != last[id] {
			n := f.report("journal-end", f.s.conn.Keys.Instance(id), "the instance is at %d, its journal ends at %d", r.Seq, last[id])
			f.noteLoss(n, id, last[id]+1, r.Seq)
		}
	}
}

// noteLoss puts entries in the place of those that are gone, some at a time.
func (f *fsck) noteLoss(n *Finding, id string, from, to int64) {
	by := []string{f.s.conn.Keys.Instance(id)}
	for seq := from; seq <= min(to, from+db.ChunkSize); seq++ {
		by = append(by, f.s.conn.Keys.Journal(id, seq))
	}
	o := f.repair(n, "puts entries that say that these are gone", by...)
	for i, key := range by[1:] {
		o.Put(key, lostEntry(from+int64(i)))
	}
}

func lostEntry(seq int64) record.JournalEntry {
	return record.JournalEntry{Seq: seq, Items: []record.JournalItem{{Execution: record.NoExecution, Event: "Damaged", Text: "weft fsck --repair: what this commit did is not known any more"}}}
}

// indexes: each instance has its entries, each entry its instance.
func (f *fsck) indexes() {
	stands := map[string]bool{}
	for _, id := range f.ids {
		r := f.records[id]
		for _, key := range f.s.conn.IndexEntries(&r.Header) {
			stands[f.below(key)] = true
			if !f.has(key) {
				o := f.repair(f.report("index-missing", key, "instance %s is not listed", id), "puts it", f.s.conn.Keys.Instance(id), key)
				value := record.IndexValue(f.s.conn.Keys, key, r)
				if r.Header.Status == workflow.StatusFinished && key == f.s.conn.Keys.Finished(&r.Header) {
					value = lookup.EndValue(r, 0)
				}
				o.PutRaw(key, value)
			}
		}
	}
	for _, prefix := range []string{"index/", "by-correlation/", "by-parent/", "label/", "finished/"} {
		f.under(prefix, func(name string, _ *mvccpb.KeyValue, parts []string) {
			if id := parts[len(parts)-1]; !stands[name] && !f.lostWith(id) {
				f.drop(f.report("index-outdated", name, "no instance is like this"), name, f.s.conn.Keys.Instance(id))
			}
		})
	}
}

// drop deletes a key that follows from nothing.
func (f *fsck) drop(n *Finding, name string, by ...string) {
	f.repair(n, "deletes it", append(by, name)...).Del(f.s.conn.Keys.Root + f.below(name))
}

// unwritten are the keys that commits left to be written or deleted behind them, below the
// root: they may be there and may not.
func (f *fsck) unwritten() map[string]bool {
	keys := map[string]bool{}
	for _, id := range f.ids {
		r := f.records[id]
		if r.Unwritten == nil {
			continue
		}
		o := db.NewContent()
		steps := lookup.Index{Conn: f.s.conn}.Unwritten(context.Background(), r)
		for step, err := range steps {
			if err != nil {
				break // it has all its parts, so that nothing is read
			}
			step(o)
		}
		for _, op := range o.Writes {
			keys[f.below(string(op.KeyBytes()))] = true
		}
		for _, op := range o.Tail {
			_, timers, _ := op.Txn()
			for _, op := range timers {
				keys[f.below(string(op.KeyBytes()))] = true
			}
		}
	}
	return keys
}

// bookmarks: those of the instances' headers and the keys are the same.
func (f *fsck) bookmarks() {
	stands := map[string]*workflow.Bookmark{}
	left := f.unwritten()
	for _, id := range f.ids {
		h := &f.records[id].Header
		for i := range h.Bookmarks {
			b := &h.Bookmarks[i]
			key := f.s.conn.Keys.Bookmark(b.Hash, h.CorrelationID, b.ID)
			stands[f.below(key)] = b
			if !f.has(key) && !left[f.below(key)] {
				o := f.repair(f.report("bookmark-missing", key, "instance %s waits there", id), "puts it", f.s.conn.Keys.Instance(id), key)
				f.s.conn.PutBookmark(o, *b, h.CorrelationID, id)
			}
			if e := workflow.EndpointOf(b); e != nil {
				f.shape(e.Method, e.Template, "instance "+id, f.s.conn.Keys.Instance(id))
			}
		}
	}
	f.values("bookmark/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id := parts[min(2, len(parts)-1)]
		if f.lostWith(id) {
			return
		}
		b := stands[name]
		if b == nil && left[name] {
			return
		}
		if b == nil {
			f.drop(f.report("bookmark-without-instance", name, "no instance waits there"), name, f.s.conn.Keys.Instance(id))
			return
		}
		var e record.BookmarkEntry
		n := f.decode(name, kv, &e)
		if n == nil && e.Instance != id {
			n = f.damaged(name, "it says that it is of instance %q", e.Instance)
		}
		if n != nil {
			o := f.repair(n, "makes it again from its instance", f.s.conn.Keys.Instance(id), name)
			f.s.conn.PutBookmark(o, *b, f.records[id].Header.CorrelationID, id)
		}
	})
}

// shape: requests find an endpoint by it. One is of many endpoints, and is told once.
func (f *fsck) shape(method, template, of, by string) {
	key := f.s.conn.Keys.Shape(method, template)
	if f.shapes[key] || f.has(key) {
		return
	}
	f.shapes[key] = true
	n := f.report("shape-missing", key, "no request finds the endpoint %s of %s", template, of)
	f.repair(n, "puts it", by, key).PutRaw(key, nil)
}

// tasks: each bookmark that is a task is listed, or has the command that says that time ended it, and nothing else is.
func (f *fsck) tasks() {
	stands, left := map[string]bool{}, f.unwritten()
	for _, id := range f.ids {
		r := f.records[id]
		for i := range r.Header.Bookmarks {
			b := &r.Header.Bookmarks[i]
			if b.ActivityType != workflow.TaskType {
				continue
			}
			key := f.s.conn.Keys.Task(b)
			stands[f.below(key)] = true
			taken := f.s.conn.Keys.Taken.Task(b)
			stands[f.below(taken)] = true
			if f.has(taken) && f.has(key) {
				f.drop(f.report("task-twice", key, "task %s is free, and a worker has it", b.ID), f.below(key), taken)
			}
			ended := f.s.conn.Keys.Mail(id, store.TaskCommand(b.ID))
			if !f.has(taken) && !f.has(key) && !f.comes(ended) && !left[f.below(key)] {
				record.PutTask(f.s.conn.Keys, f.repair(f.report("task-missing", key, "no worker finds task %s", b.ID), "puts it", f.s.conn.Keys.Instance(id), key, ended), b, r.Header.DefinitionID)
			}
		}
	}
	f.under("task/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if id := parts[max(0, len(parts)-2)]; !stands[name] && !left[name] && !f.lostWith(id) {
			f.drop(f.report("task-outdated", name, "no instance waits for it"), name, f.s.conn.Keys.Instance(id))
		}
	})
	claims := fsckClaims{f, stands, left}
	claims.check()
	claims.people()
}

// timers: each has its bookmark; a bookmark that is due at a time has its timer, or the command of it,
// also as a dead letter.
func (f *fsck) timers() {
	stands, moved, left := map[string]record.TimerEntry{}, map[string]bool{}, f.unwritten()
	for _, id := range f.ids {
		for _, b := range f.records[id].Header.Bookmarks {
			if b.DueAt == nil {
				continue
			}
			key, fired := f.s.conn.Keys.Timer(b.ID, *b.DueAt), f.s.conn.Keys.Mail(id, store.TimerCommand(b.ID))
			entry := record.TimerEntry{Instance: id, Bookmark: b.ID, Hash: b.Hash, Due: *b.DueAt}
			stands[f.below(key)] = entry
			if at := f.s.conn.Keys.MisplacedTimer(b.ID, *b.DueAt); record.MisplacedMillis(*b.DueAt) != "" && f.has(at) {
				misplacedTimer(f, at, key, id, entry)
				moved[f.below(at)] = true
				continue
			}
			if !f.has(key) && !f.comes(fired) && !left[f.below(key)] {
				n := f.report("timer-missing", key, "bookmark %s will never be due", b.ID)
				f.repair(n, "puts it", f.s.conn.Keys.Instance(id), key, fired).Put(key, entry)
			}
		}
	}
	f.values("timer/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		bookmark := record.Decode(parts[len(parts)-1])
		id, _ := workflow.SplitBookmarkID(bookmark)
		if f.lostWith(id) || moved[name] {
			return
		}
		var e record.TimerEntry
		n := f.decode(name, kv, &e)
		if n == nil && e.Bookmark != bookmark {
			n = f.damaged(name, "it says that it is of bookmark %q", e.Bookmark)
		}
		should, ok := stands[name]
		switch {
		case !ok && n == nil && left[name]:
		case !ok && n == nil:
			f.drop(f.report("timer-without-bookmark", name, "nothing waits at %s", e.Bookmark), name, f.s.conn.Keys.Instance(id))
		case !ok:
			f.setAside(n, kv, f.s.conn.Keys.Instance(id))
		case n != nil:
			f.repair(n, "makes it again from its instance", f.s.conn.Keys.Instance(id), name).Put(string(kv.Key), should)
		}
	})
}

// misplacedTimer reports a timer that lies where a program of before put it. A node that works moves it within an hour.
func misplacedTimer(f *fsck, at, place, id string, entry record.TimerEntry) {
	n := f.report("timer-misplaced", at, "it lies before what is due sooner; its place is %s", f.below(place))
	o := f.repair(n, "puts it in its place", f.s.conn.Keys.Instance(id), at, place)
	o.Del(at)
	o.Put(place, entry)
}

// queue: each item is where its stimulus belongs, and is met there.
func (f *fsck) queue() {
	f.values("queue/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var item store.QueueItem
		n := f.decode(name, kv, &item)
		if n == nil && !strings.HasSuffix(parts[len(parts)-1], record.Encode(item.ID)) {
			n = f.damaged(name, "it says that it is item %q", item.ID)
		}
		if n != nil {
			f.setAside(n, kv)
			return
		}
		if at := f.s.conn.QueueKey(&item); at != string(kv.Key) {
			n := f.report("queue-item-misplaced", name, "it belongs to %s", at)
			if item.Held == nil {
				o := f.repair(n, "sends it again", name, f.s.conn.Keys.Send(item.ID))
				o.Del(string(kv.Key))
				o.Put(f.s.conn.Keys.Send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: item.CreatedAt, Trace: item.Trace})
			}
			return
		}
		if mark := f.s.conn.Keys.Mark(record.SliceOf(string(kv.Key)), item.ID); item.Held == nil && !f.has(mark) {
			n := f.report("queue-item-without-mark", name, "no instance that comes to wait for it meets it")
			f.repair(n, "puts its mark", name, mark).PutRaw(mark, nil)
		}
	})
}

// sends: each can be read, and what is done of its list.
func (f *fsck) sends() {
	counts := map[string]*mvccpb.KeyValue{}
	f.values("sent/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) { counts[name] = kv })
	f.values("send/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var send store.Send
		id := parts[len(parts)-1]
		n := f.decode(name, kv, &send)
		if n == nil && send.ID != id {
			n = f.damaged(name, "it says that it is stimulus %q", send.ID)
		}
		count := counts[f.below(f.s.conn.Keys.Sent(id))]
		delete(counts, f.below(f.s.conn.Keys.Sent(id)))
		if n == nil && count != nil {
			var done record.SentCount
			if n = f.decode(string(count.Key), count, &done); n == nil && (done.Done < 0 || done.Done >= len(send.Targets)) {
				n = f.damaged(string(count.Key), "%d of %d targets are done", done.Done, len(send.Targets))
			}
		}
		if n == nil {
			return
		}
		o := f.setAside(n, kv, f.s.conn.Keys.Sent(id))
		if count != nil && n.Mend != nil {
			n.Mend.aside = append(n.Mend.aside, count)
			o.Del(string(count.Key))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		f.drop(f.report("count-without-stimulus", name, "there is no such send record"), name, f.s.conn.Keys.Root+"send/"+strings.TrimPrefix(name, "sent/"))
	}
}

// jobs: they can be read, and nodes find those that have not ended.
func (f *fsck) jobs() {
	open := map[string]bool{}
	f.values("job/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var job store.Job
		n := f.decode(name, kv, &job)
		if id := record.Decode(parts[0]); n == nil && job.ID != id {
			n = f.damaged(name, "it says that it is job %q", job.ID)
		}
		marker := f.s.conn.Keys.OpenJobs() + parts[0]
		switch {
		case n != nil:
			f.setAside(n, kv)
		case job.Open() && !f.has(marker):
			n := f.report("job-not-open", name, "it is not done, and no node will find it")
			f.repair(n, "puts "+f.below(marker), name).PutRaw(marker, nil)
		}
		open[marker] = n == nil && job.Open()
	})
	f.under("job-open/", func(name string, kv *mvccpb.KeyValue, parts []string) {
		if key := f.s.conn.Keys.OpenJobs() + parts[0]; !open[key] && !f.lostJob(parts[0]) {
			n := f.report("job-open", name, "no such job runs")
			f.repair(n, "deletes it", name).Del(key)
		}
	})
}

// lostJob reports whether the record of a job is damaged.
func (f *fsck) lostJob(encoded string) bool { return f.follows(f.s.conn.Keys.Jobs() + encoded) }

// deadLetters: they can be read. What comes of their replay is noted for the rules behind.
func (f *fsck) deadLetters() {
	f.values("dead/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var d store.DeadLetter
		n := f.decode(name, kv, &d)
		if id := record.Decode(parts[0]); n == nil && d.ID != id {
			n = f.damaged(name, "it says that it is dead letter %q", d.ID)
		}
		switch {
		case n != nil:
			f.setAside(n, kv)
		case d.Command != nil && d.Dropped == nil:
			f.replays[f.s.conn.Keys.Mail(d.InstanceID, d.Command.ID)] = true
		}
	})
}

// comes reports whether a command is in the mailbox, or can be put there again from
// its dead letter: one that was too large leaves its instance waiting, as it was.
func (f *fsck) comes(mail string) bool { return f.has(mail) || f.replays[mail] }

// mail: for instances that exist; an interrupt has its command. Mail that was
// there when its instance was deleted is thrown away next.
func (f *fsck) mail() {
	interrupts := map[string]bool{} // by instance
	f.values("mailbox/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		if len(parts) != 3 {
			f.setAside(f.damaged(name, "there is no such key"), kv)
			return
		}
		id := parts[1]
		var cmd workflow.Command
		n := f.decode(name, kv, &cmd)
		if n == nil && record.Encode(cmd.ID) != parts[2] {
			n = f.damaged(name, "it says that it is command %q", cmd.ID)
		}
		if n == nil && f.s.conn.Keys.Mail(id, cmd.ID) != string(kv.Key) {
			n = f.report("mail-misplaced", name, "command %s does not belong here", cmd.ID)
		}
		switch {
		case n != nil && record.Decode(parts[2]) == workflow.ContinueID:
			continueAgain(f, n, kv, f.s.conn.Keys.Mail(id, workflow.ContinueID))
		case n != nil:
			f.setAside(n, kv)
			interrupts[id] = true // it may be that; the next look tells
		case cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete:
			interrupts[id] = true
		}
		if n == nil && f.records[id] == nil && !f.lostWith(id) {
			f.passing("mail-without-instance", name, "%s command %s", cmd.Kind, cmd.ID)
		}
	})
	f.under("cancel/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if !interrupts[parts[0]] && !f.lostWith(parts[0]) {
			f.drop(f.report("interrupt-without-command", name, "there is nothing to interrupt for"), name)
		}
	})
}

// continueAgain puts the rest of a burst again, at its key: it may lie in a mailbox that is no instance's.
func continueAgain(f *fsck, n *Finding, kv *mvccpb.KeyValue, at string) {
	if at != string(kv.Key) && f.has(at) {
		f.setAside(n, kv)
		return
	}
	f.replace(n, kv, ", and puts it again: it says only that the burst goes on", at).Put(at,
		workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: time.Now().UTC()})
}

// movers: something will move each instance that runs: it has mail, or it waits,
// and what it waits for can come. That a bookmark with a time has its timer is
// checked by timers; whether an event, a task or a request ever comes is others'
// business.
//
// A holder is no cause: what it has in hand is lost with it.
func (f *fsck) movers() {
	for _, id := range f.ids {
		r := f.records[id]
		if r.Header.Status != workflow.StatusRunning || r.Seq == 0 { // instances looks after those that never ran
			continue
		}
		if len(r.Header.Bookmarks) == 0 && r.Unwritten == nil && !f.hasMail(id) {
			n := f.report("instance-without-cause", f.s.conn.Keys.Instance(id), "it is %s, waits for nothing and has no mail: nothing will ever move it", r.Header.SubStatus)
			n.Hint = "POST /api/v1/instances/" + id + "/cancel"
		}
		for i := range r.Header.Bookmarks {
			b := &r.Header.Bookmarks[i]
			if child := b.Child(); child != "" && !f.tells(child, id, b.ID) && !f.lostWith(child) {
				f.tellAgain(f.report("bookmark-without-child", f.s.conn.Keys.Bookmark(b.Hash, r.Header.CorrelationID, b.ID), "instance %s waits there for the end of %s, which nothing will tell it", id, child), id, b, child)
			}
		}
	}
}

// tellAgain tells of a child's end the instance that waits for it: how it ended, if it is
// there, and that it was cancelled if it is not.
func (f *fsck) tellAgain(n *Finding, id string, b *workflow.Bookmark, child string) {
	end, _ := record.MissedEnd(f.records[child], id, b, time.Now().UTC())
	if end == nil {
		n.Hint = "POST /api/v1/instances/" + child + "/cancel or /api/v1/instances/" + id + "/cancel"
		return
	}
	at := f.s.conn.Keys.Mail(id, end.ID)
	f.repair(n, "tells it that the child is "+record.ChildStatus(end), f.s.conn.Keys.Instance(id), f.s.conn.Keys.Instance(child), at).Put(at, end)
}

// tells reports whether a parent will hear of its child's end, or has mail of it, or
// a dead letter.
func (f *fsck) tells(child, parent, bookmark string) bool {
	if f.comes(f.s.conn.Keys.Mail(parent, record.ChildEnd(bookmark, child, "", nil, time.Time{}).ID)) {
		return true
	}
	r := f.records[child]
	return r != nil && r.Header.Status == workflow.StatusRunning && r.Header.Parent != nil && *r.Header.Parent == workflow.Parent{InstanceID: parent, BookmarkID: bookmark}
}

// fsckGates are the rules of gates.
type fsckGates struct{ *fsck }

// check: they are held by instances that run, and that know it.
func (f fsckGates) check() {
	held := map[string]string{} // by the key, who runs and knows that it holds it
	f.values("gate/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		holder := string(kv.Value)
		var n *Finding
		r := f.records[holder]
		switch {
		case workflow.CheckID("instance", holder) != nil && !workflow.Qualified(holder):
			n, holder = f.damaged(name, "it holds no id: %.80q", kv.Value), ""
		case f.lostWith(holder):
			return
		case r == nil:
			n = f.report("gate-without-instance", name, "held by %s, which does not exist", holder)
		case r.Header.Status != workflow.StatusRunning:
			n = f.report("gate-of-finished", name, "held by %s, which is finished", holder)
		case r.Gate == nil || f.s.conn.Keys.GateOf(*r.Gate) != string(kv.Key):
			n = f.report("gate-not-known", name, "held by %s, which does not know it", holder)
		default:
			held[string(kv.Key)] = holder
			return
		}
		by := []string{name}
		if holder != "" {
			by = append(by, f.s.conn.Keys.Instance(holder))
		}
		for _, id := range f.ids { // it may have lost its holder's name only
			if r := f.records[id]; r.Gate != nil && r.Header.Status == workflow.StatusRunning && f.s.conn.Keys.GateOf(*r.Gate) == string(kv.Key) {
				f.repair(n, "gives it to "+id+", which runs and knows it", append(by, f.s.conn.Keys.Instance(id))...).PutRaw(string(kv.Key), []byte(id))
				return
			}
		}
		if holder == "" {
			f.setAside(n, kv)
			return
		}
		f.drop(n, name, f.s.conn.Keys.Instance(holder))
	})
	f.beside(held)
}

// beside finds instances that run although another holds their gate, as what came back before
// Weft asked for the gate did, and gates that nobody holds while one runs.
func (f fsckGates) beside(held map[string]string) {
	for _, id := range f.ids {
		r := f.records[id]
		if r.Gate == nil || r.Header.Status != workflow.StatusRunning {
			continue
		}
		gate, key := f.s.conn.Keys.GateOf(*r.Gate), f.s.conn.Keys.Instance(id)
		switch holder := held[gate]; {
		case holder == id:
		case holder != "":
			f.report("gate-of-several", key, "runs beside %s, which holds their gate: one at a time is to run; cancel one of them", holder)
		case !f.has(f.below(gate)):
			n := f.report("gate-missing", key, "runs, and nobody holds its gate: another can start beside it")
			f.repair(n, "gives it the gate", key, gate).PutRaw(gate, []byte(id))
			held[gate] = id
		}
	}
}

// idempotency: each record has an end, by which a damaged one goes too.
func (f *fsck) idempotency() {
	ends := map[string]bool{}
	f.under("idem-expiry/", func(_ string, _ *mvccpb.KeyValue, parts []string) {
		ends[record.Decode(parts[len(parts)-1])] = true
	})
	check := func(name string, kv *mvccpb.KeyValue, v any) {
		if err := db.Decode(kv.Value, v); err != nil {
			f.passing("damaged", name, "it cannot be read: %s; it goes when its time is over", why(err))
		}
		if !ends[name] {
			n := f.report("record-without-end", name, "it is never deleted")
			o, age := f.repair(n, "puts it again, with an end", name), f.s.conn.Elapsed.Load()
			o.PutRaw(string(kv.Key), kv.Value)
			if strings.HasPrefix(name, "idem/k/") && !strings.HasPrefix(name, "idem/k/"+record.MadeKey) {
				o.PutRaw(f.s.conn.Keys.KeyExpiry(age, string(kv.Key)), strconv.AppendInt(nil, int64(len(kv.Key)+len(kv.Value))+record.AnswerBytes, 10))
			} else {
				o.PutRaw(f.s.conn.Keys.Expiry(age, string(kv.Key)), nil)
			}
		}
	}
	f.values("idem/c/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) { check(name, kv, &store.Effect{}) })
	f.values("idem/k/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, _ []string) { check(name, kv, &store.Answer{}) })
}
