package etcdstore

import (
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// instances: readable, and a finished one waits nowhere.
func (f *fsck) instances() {
	f.values("instance/", mostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		r := &store.Record{}
		if !f.decode(name, kv, r) {
			return
		}
		r.State, r.Header.Input, r.Header.Output, r.Header.Incidents = nil, nil, nil, nil
		f.records[parts[0]] = r
		if r.Header.ID != parts[0] {
			f.report("instance-misplaced", name, "it says that it is %s", r.Header.ID)
		}
		if r.Header.Status == workflow.StatusFinished && len(r.Header.Bookmarks) > 0 {
			f.report("finished-instance-waits", name, "%d bookmarks", len(r.Header.Bookmarks))
		}
		if r.Seq == 0 && r.Header.Status == workflow.StatusRunning && !f.hasMail(parts[0]) {
			f.report("instance-without-start", name, "it never ran, and no command is there to run it")
		}
	})
}

func (f *fsck) hasMail(id string) bool {
	found := false
	f.under(strings.TrimPrefix(f.s.keys.mailbox(id), f.s.keys.root), func(string, *mvccpb.KeyValue, []string) { found = true })
	return found
}

// journals: one entry for each sequence number of its instance from the first that
// is kept, and no other.
func (f *fsck) journals() {
	last := map[string]int64{}
	f.under("journal/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if len(parts) != 2 {
			f.report("unreadable", name, "no such key")
			return
		}
		seq, err := strconv.ParseInt(parts[1], 10, 64)
		if r := f.records[parts[0]]; r != nil && last[parts[0]] == 0 {
			last[parts[0]] = journalFrom(r) - 1
		}
		if err != nil || seq != last[parts[0]]+1 {
			f.report("journal-gap", name, "after entry %d", last[parts[0]])
		}
		last[parts[0]] = seq
		if f.records[parts[0]] == nil {
			f.report("journal-without-instance", name, "")
		}
	})
	for id, r := range f.records {
		if r.Seq != last[id] {
			f.report("journal-end", f.s.keys.instance(id), "the instance is at %d, its journal ends at %d", r.Seq, last[id])
		}
	}
}

// indexes: each instance has its entries, each entry its instance.
func (f *fsck) indexes() {
	stands := map[string]bool{}
	for _, r := range f.records {
		for _, key := range f.s.indexEntries(&r.Header) {
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) {
				f.report("index-missing", key, "instance %s is not listed", r.Header.ID)
			}
		}
	}
	for _, prefix := range []string{"index/", "by-correlation/", "finished/"} {
		f.under(prefix, func(name string, _ *mvccpb.KeyValue, _ []string) {
			if !stands[name] {
				f.report("index-outdated", name, "no instance is like this")
			}
		})
	}
}

// bookmarks: those of the instances' headers and the keys are the same.
func (f *fsck) bookmarks() {
	stands := map[string]bool{}
	for _, r := range f.records {
		h := &r.Header
		for _, b := range h.Bookmarks {
			key := f.s.keys.bookmark(b.Hash, h.CorrelationID, b.ID)
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) {
				f.report("bookmark-missing", key, "instance %s waits there", h.ID)
			}
			if e := EndpointOf(&b); e != nil && !f.has(f.s.keys.shape(e.Method, e.Template)) {
				f.report("shape-missing", f.s.keys.shape(e.Method, e.Template), "no request finds the endpoint %s of instance %s", e.Template, h.ID)
			}
		}
	}
	f.under("bookmark/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		if !stands[name] {
			f.report("bookmark-without-instance", name, "no instance waits there")
		}
	})
}

// tasks: each bookmark that is a task is listed, and nothing else.
func (f *fsck) tasks() {
	stands := map[string]bool{}
	for _, r := range f.records {
		for i := range r.Header.Bookmarks {
			b := &r.Header.Bookmarks[i]
			if b.ActivityType != workflow.TaskType {
				continue
			}
			key := f.s.keys.task(b)
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) {
				f.report("task-missing", key, "no worker finds task %s", b.ID)
			}
		}
	}
	f.under("task/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		if !stands[name] {
			f.report("task-outdated", name, "no instance waits for it")
		}
	})
}

// timers: each has its bookmark; a bookmark that is due at a time has its timer, or the command of it.
func (f *fsck) timers() {
	stands := map[string]bool{}
	for id, r := range f.records {
		for _, b := range r.Header.Bookmarks {
			if b.DueAt == nil {
				continue
			}
			key := f.s.keys.timer(b.ID, *b.DueAt)
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) && !f.has(f.s.keys.mail(id, "timer-"+workflow.DeriveID(b.ID))) {
				f.report("timer-missing", key, "bookmark %s will never be due", b.ID)
			}
		}
	}
	f.values("timer/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		var e timerEntry
		if f.decode(name, kv, &e) && !stands[name] {
			f.report("timer-without-bookmark", name, "nothing waits at %s", e.Bookmark)
		}
	})
}

// queue: each item is where its stimulus belongs, and is met there.
func (f *fsck) queue() {
	f.values("queue/", mostChunk, func(name string, kv *mvccpb.KeyValue, _ []string) {
		var item store.QueueItem
		if !f.decode(name, kv, &item) {
			return
		}
		if at := f.s.queueKey(&item); at != string(kv.Key) {
			f.report("queue-item-misplaced", name, "it belongs to %s", at)
		}
		if item.Held == nil && !f.has(f.s.keys.mark(sliceOf(string(kv.Key)), item.ID)) {
			f.report("queue-item-without-mark", name, "no instance that comes to wait for it meets it")
		}
	})
}

// mail: for instances that exist; an interrupt has its command. Mail that was
// there when its instance was deleted is thrown away next.
func (f *fsck) mail() {
	interrupts := map[string]bool{}
	f.values("mailbox/", mostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var cmd workflow.Command
		if len(parts) != 3 || !f.decode(name, kv, &cmd) {
			return
		}
		id := parts[1]
		if f.s.keys.mail(id, cmd.ID) != string(kv.Key) {
			f.report("mail-misplaced", name, "command %s does not belong here", cmd.ID)
		}
		if f.records[id] == nil {
			f.passing("mail-without-instance", name, "%s command %s", cmd.Kind, cmd.ID)
		}
		if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
			interrupts[id] = true
		}
	})
	f.under("cancel/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if !interrupts[parts[0]] {
			f.report("interrupt-without-command", name, "there is nothing to interrupt for")
		}
	})
}

// causes: something will move each instance that runs: it has mail, or it waits,
// and what it waits for can come. That a bookmark with a time has its timer is
// checked by timers; whether an event, a task or a request ever comes is others'
// business.
//
// A holder is no cause: whatever it has in hand is lost with it.
func (f *fsck) causes() {
	for id, r := range f.records {
		if r.Header.Status != workflow.StatusRunning || r.Seq == 0 { // instances looks after those that never ran
			continue
		}
		if len(r.Header.Bookmarks) == 0 && !f.hasMail(id) {
			f.report("instance-without-cause", f.s.keys.instance(id), "it is %s, waits for nothing and has no mail: nothing will ever move it", r.Header.SubStatus)
		}
		for _, b := range r.Header.Bookmarks {
			if child := waitsForChild(&b); child != "" && !f.tells(child, id, b.ID) {
				f.report("bookmark-without-child", f.s.keys.bookmark(b.Hash, r.Header.CorrelationID, b.ID), "instance %s waits there for the end of %s, which nothing will tell it", id, child)
			}
		}
	}
}

// waitsForChild is the instance whose end resumes a bookmark, "" if none does.
func waitsForChild(b *workflow.Bookmark) string {
	payload, _ := b.Payload.(map[string]any)
	child, _ := payload["childInstanceId"].(string)
	if len(payload) != 1 {
		return "" // another activity's own
	}
	return child
}

// tells reports whether a parent will hear of its child's end, or has mail of it.
func (f *fsck) tells(child, parent, bookmark string) bool {
	if f.has(f.s.keys.mail(parent, ChildEnd(bookmark, child, "", nil, time.Time{}).ID)) {
		return true
	}
	r := f.records[child]
	return r != nil && r.Header.Status == workflow.StatusRunning && r.Header.Parent != nil && *r.Header.Parent == workflow.Parent{InstanceID: parent, BookmarkID: bookmark}
}

// gates are held by instances that run, and that know it.
func (f *fsck) gates() {
	f.values("gate/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		r := f.records[string(kv.Value)]
		switch {
		case r == nil:
			f.report("gate-without-instance", name, "held by %s, which does not exist", kv.Value)
		case r.Header.Status != workflow.StatusRunning:
			f.report("gate-of-finished", name, "held by %s, which is finished", kv.Value)
		case r.Gate == nil || f.s.keys.gateOf(*r.Gate) != string(kv.Key):
			f.report("gate-not-known", name, "held by %s, which does not know it", kv.Value)
		}
	})
}

// definitions: triggers and routes are those of the definitions' indexes.
func (f *fsck) definitions() {
	stands := map[string]bool{}
	f.values("definition-index/", mostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		if !f.has(f.s.keys.head(parts[0])) {
			f.report("index-without-head", name, "definition %s has no head", parts[0])
		}
		var index store.IndexedKeys
		if !f.decode(name, kv, &index) {
			return
		}
		var keys []string
		for _, t := range index.Triggers {
			keys = append(keys, f.s.keys.trigger(t.Hash, parts[0], t.ActivityID))
		}
		for _, r := range index.Routes {
			keys = append(keys, f.s.keys.route(r.Method, r.Template))
		}
		for _, key := range keys {
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) {
				f.report("trigger-missing", key, "definition %s waits there", parts[0])
			}
		}
	})
	for _, prefix := range []string{"trigger/", "route/"} {
		f.under(prefix, func(name string, _ *mvccpb.KeyValue, _ []string) {
			if !stands[name] {
				f.report("trigger-without-definition", name, "no published definition waits there")
			}
		})
	}
	f.under("cron/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if len(parts) != 4 || !f.has(f.s.keys.head(parts[2])) {
			f.report("schedule-without-definition", name, "")
		}
	})
}

// versions: what runs finds the version that it began with, unless its definition is
// deleted, and each version keeps what it uses.
func (f *fsck) versions() {
	deleted := map[string]bool{}
	f.values("definition/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var h store.DefinitionHead
		deleted[parts[0]] = f.decode(name, kv, &h) && h.Deleted != nil
	})
	for id, r := range f.records {
		gone, known := deleted[r.Header.DefinitionID]
		body := f.s.keys.body(r.Header.DefinitionID, r.Header.Version)
		switch {
		case !known || gone || r.Header.Status == workflow.StatusFinished || f.has(body):
		case r.Seq == 0: // the start by something accepted long ago: it faults
			f.passing("version-missing", body, "instance %s is to run it", id)
		default:
			f.report("version-missing", body, "instance %s runs it", id)
		}
	}
	stands := map[string]bool{}
	f.values("definition-version/", mostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var v store.DefinitionVersion
		if len(parts) != 2 || !f.decode(name, kv, &v) {
			return
		}
		for _, u := range v.Uses {
			key := f.s.keys.use(v.ID, v.Version, VersionRef{u.ID, u.Version})
			stands[strings.TrimPrefix(key, f.s.keys.root)] = true
			if !f.has(key) {
				f.report("use-missing", key, "version %d of %s could lose what it runs as an activity", v.Version, v.ID)
			}
		}
	})
	f.under("definition-use/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		if !stands[name] {
			f.report("use-without-version", name, "no version is like this")
		}
	})
	f.under("definition-retired/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		if ref, ok := versionIn(name, "definition-retired/"); !ok || !f.has(f.s.keys.body(ref.ID, ref.Version)) {
			f.report("retired-without-version", name, "there is no such version")
		}
	})
}

// idempotency: each record has an end.
func (f *fsck) idempotency() {
	ends := map[string]bool{}
	f.under("idem-expiry/", func(_ string, _ *mvccpb.KeyValue, parts []string) {
		ends[decode(parts[len(parts)-1])] = true
	})
	f.under("idem/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		if !ends[name] {
			f.report("record-without-end", name, "it is never deleted")
		}
	})
}
