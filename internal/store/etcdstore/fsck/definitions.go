package fsck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// definitionsSeen is what a check knows of definitions.
type definitionsSeen struct {
	heads   map[string]*store.DefinitionHead // by id, those that can be read
	lost    map[string]*mvccpb.KeyValue      // the others
	indexed map[string]bool                  // keys that an index names, by key below the root
	owned   map[string]*ownedKeys            // by definition, as the keys themselves say
	hashes  map[record.VersionRef]string     // of bodies that can be read: of their content
	names   map[record.VersionRef]string     // and the notation's names of them
	timed   []string                         // definitions that have schedules, in order
	fires   map[[2]string]bool               // definitions and activities that have an occurrence to come
}

// Scheduled gives the schedules of a version that have an occurrence after now, by the
// clocks of all nodes. They stand in its source, which this package cannot read. An error
// of code not-runnable-here is that of a program that cannot either, and one that is
// [db.ErrDamaged] is of a record that it needs.
type Scheduled func(ctx context.Context, id string, version int) ([]store.CronEntry, error)

// WithSchedules is an upkeep whose checks hold schedules to the versions that they are of.
func (s *Checker) WithSchedules(scheduled Scheduled) *Checker {
	with := *s
	with.scheduled = scheduled
	return &with
}

// ownedKeys are the keys of a definition's triggers, routes and schedules.
type ownedKeys struct {
	index store.IndexedKeys
	keys  []string
}

func newDefinitionsSeen() definitionsSeen {
	return definitionsSeen{heads: map[string]*store.DefinitionHead{}, lost: map[string]*mvccpb.KeyValue{}, indexed: map[string]bool{},
		owned: map[string]*ownedKeys{}, hashes: map[record.VersionRef]string{}, names: map[record.VersionRef]string{}, fires: map[[2]string]bool{}}
}

// of are the keys of a definition.
func (d *definitionsSeen) of(id, key string) *ownedKeys {
	if d.owned[id] == nil {
		d.owned[id] = &ownedKeys{}
	}
	d.owned[id].keys = append(d.owned[id].keys, key)
	return d.owned[id]
}

// refreshed is what brings back a key that only the definition's source can tell; "":
// of whichever it was.
func refreshed(id string) string {
	if id == "" {
		return "POST /api/v1/definitions/refresh"
	}
	return `POST /api/v1/definitions/refresh {"definitionIds": ["` + id + `"]}`
}

// heads can be read. Those that cannot are made again in versions, when all is known.
func (f *fsck) heads() {
	f.values("definition/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		h := &store.DefinitionHead{Modified: kv.ModRevision}
		n := f.decode(name, kv, h)
		if n == nil && h.ID != parts[0] {
			n = f.damaged(name, "it says that it is definition %q", h.ID)
		}
		if n != nil {
			f.defs.lost[parts[0]] = kv
			return
		}
		f.defs.heads[parts[0]] = h
	})
}

// indexed: what each definition waits for is there.
func (f *fsck) indexed() {
	var lost []*mvccpb.KeyValue
	f.values("definition-index/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id := parts[0]
		if !f.has(f.s.conn.Keys.Head(id)) {
			f.report("index-without-head", name, "definition %s has no head", id).Hint = "publish definition " + id + " again"
		}
		var index store.IndexedKeys
		if f.decode(name, kv, &index) != nil {
			lost = append(lost, kv)
			return
		}
		if index.Crons {
			f.defs.timed = append(f.defs.timed, id)
		}
		var keys []string
		for _, t := range index.Triggers {
			keys = append(keys, f.s.conn.Keys.Trigger(t.Hash, id, t.ActivityID))
		}
		for _, r := range index.Routes {
			keys = append(keys, f.s.conn.Keys.Route(r.Method, r.Template))
			f.shape(r.Method, r.Template, "definition "+id, string(kv.Key))
		}
		for _, key := range keys {
			f.defs.indexed[f.below(key)] = true
			if !f.has(key) {
				f.report("trigger-missing", key, "definition %s waits there", id).Hint = refreshed(id)
			}
		}
	})
	f.own()
	for _, kv := range lost {
		name := f.below(string(kv.Key))
		id := strings.TrimPrefix(name, "definition-index/")
		var index store.IndexedKeys
		if owned := f.defs.owned[id]; owned != nil {
			index = owned.index
		}
		f.repair(f.causes[name], "makes it again from the definition's keys", name, f.s.conn.Keys.Head(id)).Put(string(kv.Key), index)
	}
}

// own finds the keys of each definition by what they say.
func (f *fsck) own() {
	f.under("trigger/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if len(parts) == 3 {
			o := f.defs.of(parts[1], name)
			o.index.Triggers = append(o.index.Triggers, store.TriggerKey{Hash: parts[0], ActivityID: record.Decode(parts[2])})
		}
	})
	f.values("route/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var r store.RouteEntry
		if db.Decode(kv.Value, &r) == nil && len(parts) == 2 {
			o := f.defs.of(r.DefinitionID, name)
			o.index.Routes = append(o.index.Routes, store.RouteKey{Method: parts[0], Template: record.Decode(parts[1])})
		}
	})
	f.under("cron/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if len(parts) == 4 {
			f.defs.of(parts[2], name).index.Crons = true
		}
	})
}

// triggers and routes are those of the definitions' indexes.
func (f *fsck) triggers() {
	check := func(name, id string, kv *mvccpb.KeyValue, n *Finding) {
		switch {
		case n != nil:
			f.setAside(n, kv)
			n.Hint = refreshed(id)
		case !f.defs.indexed[name] && !f.follows(f.s.conn.Keys.Indexed(id)):
			f.drop(f.report("trigger-without-definition", name, "no published definition waits there"), name, f.s.conn.Keys.Indexed(id), f.s.conn.Keys.Head(id))
		}
	}
	f.values("trigger/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var t store.TriggerEntry
		id := parts[min(1, len(parts)-1)]
		if !f.defs.indexed[name] {
			check(name, id, kv, nil)
			return
		}
		n := f.decode(name, kv, &t)
		if n == nil && t.DefinitionID != id {
			n = f.damaged(name, "it says that it is of definition %q", t.DefinitionID)
		}
		check(name, id, kv, n)
	})
	f.values("route/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var r store.RouteEntry
		n := f.decode(name, kv, &r)
		if n == nil && (r.DefinitionID == "" || len(parts) != 2 || workflow.RoutePattern(r.Template) != record.Decode(parts[1])) {
			n = f.damaged(name, "it says that it is %q of definition %q", r.Template, r.DefinitionID)
		}
		if n != nil {
			r.DefinitionID = ""
		}
		check(name, r.DefinitionID, kv, n)
	})
}

// schedules are of definitions, and can be read.
func (f *fsck) schedules() {
	f.values("cron/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		if len(parts) != 4 || !f.has(f.s.conn.Keys.Head(parts[2])) {
			n := f.report("schedule-without-definition", name, "there is no such definition")
			f.drop(n, name, f.s.conn.Keys.Head(parts[min(2, len(parts)-1)]))
			return
		}
		var e store.CronEntry
		n := f.decode(name, kv, &e)
		if n == nil && e.DefinitionID != parts[2] {
			n = f.damaged(name, "it says that it is of definition %q", e.DefinitionID)
		}
		if n != nil {
			f.setAside(n, kv)
			n.Hint = refreshed(parts[2])
		}
		if n != nil || f.defs.heads[parts[2]].Fires(&e) {
			f.defs.fires[[2]string{parts[2], record.Decode(parts[3])}] = true
		}
	})
}

// occurrences: each schedule of a published version has one to come, unless its last is over.
func (f *fsck) occurrences() {
	if f.s.scheduled == nil {
		return
	}
	for _, id := range f.defs.timed {
		head := f.defs.heads[id]
		if head == nil || head.Published == 0 {
			continue
		}
		body := f.s.conn.Keys.Body(id, head.Published)
		if !f.has(body) || f.follows(body) {
			continue
		}
		schedules, err := f.s.scheduled(f.ctx, id, head.Published)
		switch code := workflow.CodeOf(err); {
		case code == workflow.CodeDefinitionNotFound: // it went since
		case code == workflow.CodeNotRunnable, errors.Is(err, db.ErrDamaged): // the check says of what is damaged that it is
			f.passing("unavailable-here", body, "whether its schedules are there is not known here: %v", err)
		case err != nil:
			f.err = fmt.Errorf("look for the schedules of definition %s: %w", id, err)
			return
		}
		for i := range schedules {
			if activity := schedules[i].ActivityID; !f.defs.fires[[2]string{id, activity}] {
				f.report("schedule-missing", f.s.conn.Keys.Indexed(id), "activity %s of version %d has no occurrence to come: nothing starts by it", activity, head.Published).Hint = refreshed(id)
			}
		}
	}
}

// versions: what runs finds the version that it began with, unless its definition is
// deleted, and each version keeps what it uses.
func (f *fsck) versions() {
	for _, id := range f.ids {
		r := f.records[id]
		head, known := f.defs.heads[r.Header.DefinitionID]
		body := f.s.conn.Keys.Body(r.Header.DefinitionID, r.Header.Version)
		switch {
		case !known || head.Deleted != nil || r.Header.Status == workflow.StatusFinished || f.has(body):
		case r.Seq == 0: // the start by something accepted long ago: it faults
			f.passing("version-missing", body, "instance %s is to run it", id)
		default:
			f.report("version-missing", body, "instance %s runs it", id).Hint = "put it back from a backup, or POST /api/v1/instances/" + id + "/cancel"
		}
	}
	f.bodies()
	f.under("definition-retired/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		ref, ok := record.VersionIn(name, "definition-retired/")
		if body := f.s.conn.Keys.Body(ref.ID, ref.Version); !ok || !f.has(body) {
			f.drop(f.report("retired-without-version", name, "there is no such version"), name, body, f.s.conn.Keys.Head(ref.ID))
		}
	})
	f.references()
	for _, id := range slices.Sorted(maps.Keys(f.defs.lost)) {
		f.headAgain(id, f.defs.lost[id])
	}
}

// bodies can be read, and keep what they use.
func (f *fsck) bodies() {
	stands := map[string]bool{}
	f.values("definition-version/", db.MostChunk, func(name string, kv *mvccpb.KeyValue, _ []string) {
		var v store.DefinitionVersion
		ref, ok := record.VersionIn(name, "definition-version/")
		n := f.decode(name, kv, &v)
		if n == nil && (!ok || v.ID != ref.ID || v.Version != ref.Version) {
			n = f.damaged(name, "it says that it is version %d of %q", v.Version, v.ID)
		}
		if n != nil {
			f.bodyLost(n, ref, kv)
			return
		}
		f.defs.hashes[ref], f.defs.names[ref] = v.Hash, v.VersionID
		for _, u := range v.Uses {
			key := f.s.conn.Keys.Use(v.ID, v.Version, record.UsedVersion{ID: u.ID, Version: u.Version})
			stands[f.below(key)] = true
			if !f.has(key) {
				n := f.report("use-missing", key, "version %d of %s could lose what it runs as an activity", v.Version, v.ID)
				f.repair(n, "puts it", name, key, f.s.conn.Keys.Head(v.ID)).PutRaw(key, nil)
			}
		}
	})
	f.under("definition-use/", func(name string, _ *mvccpb.KeyValue, _ []string) {
		ref, _ := record.VersionIn(name, "definition-use/")
		if body := f.s.conn.Keys.Body(ref.ID, ref.Version); !stands[name] && !f.follows(body) {
			f.drop(f.report("use-without-version", name, "no version is like this"), name, body, f.s.conn.Keys.Head(ref.ID))
		}
	})
}

// bodyLost sets a version aside that nothing needs. One that is needed stays: without
// it what needs it would be no better off.
func (f *fsck) bodyLost(n *Finding, ref record.VersionRef, kv *mvccpb.KeyValue) {
	const again = "put its value back from a backup, or: publish the definition with another content, and "
	head := f.defs.heads[ref.ID]
	switch {
	case head == nil:
		n.Hint = "repair its head first"
		return
	case head.Deleted == nil && (head.Published == ref.Version || head.Latest == ref.Version):
		n.Hint = again + "repair again"
		return
	}
	for _, id := range f.ids {
		if h := &f.records[id].Header; h.DefinitionID == ref.ID && h.Version == ref.Version {
			n.Hint = again + "delete what runs it, as instance " + id
			return
		}
	}
	for _, name := range f.names {
		if rest, ok := strings.CutPrefix(name, "definition-use/"); ok && strings.HasSuffix(rest, f.below(f.s.conn.Keys.Body(ref.ID, ref.Version))[len("definition-version"):]) {
			n.Hint = again + "what runs it as an activity: " + rest
			return
		}
	}
	o := f.setAside(n, kv, f.s.conn.Keys.Head(ref.ID))
	o.Del(f.s.conn.Keys.Retired(ref.ID, ref.Version))
	f.under(f.below(f.s.conn.Keys.UsesOf(ref.ID, ref.Version)), func(name string, _ *mvccpb.KeyValue, _ []string) {
		o.Del(f.s.conn.Keys.Root + name)
	})
}

// references are what finds a version by its content, or by the notation's name.
func (f *fsck) references() {
	f.values("definition-content/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id, hash := parts[0], record.Decode(parts[len(parts)-1])
		f.reference(name, kv, id, func(ref record.VersionRef) bool { return f.defs.hashes[ref] == hash })
	})
	f.values("definition-ref/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id, versionID := parts[len(parts)-1], record.Decode(parts[0])
		f.reference(name, kv, id, func(ref record.VersionRef) bool { return f.defs.names[ref] == versionID })
	})
}

func (f *fsck) reference(name string, kv *mvccpb.KeyValue, id string, is func(record.VersionRef) bool) {
	var e record.VersionRef
	n := f.decodeShown(name, kv, &e)
	if n == nil && e.ID != id {
		n = f.damaged(name, "it says that it is of definition %q", e.ID)
	}
	if n == nil {
		return
	}
	found := record.VersionRef{ID: id}
	for ref := range f.defs.hashes {
		if ref.ID == id && is(ref) && ref.Version > found.Version {
			found = ref
		}
	}
	if found.Version == 0 {
		// That it was published once is all that it says of a version that is gone.
		if head := f.defs.heads[id]; head != nil && strings.HasPrefix(name, "definition-content/") {
			found.Version = head.Latest
		}
	}
	if found.Version == 0 {
		f.setAside(n, kv, f.s.conn.Keys.Head(id))
		return
	}
	f.repair(n, "makes it again: "+found.String(), name, f.s.conn.Keys.Head(id)).Put(string(kv.Key), found)
}

// headAgain makes the head of a definition again, as that of one that is retracted:
// which version was published, and how, only its source says. No number is given
// twice: it knows all versions that anything knows.
func (f *fsck) headAgain(id string, kv *mvccpb.KeyValue) {
	n := f.causes[f.below(string(kv.Key))]
	h := store.DefinitionHead{ID: id, UpdatedAt: time.Now().UTC(), Writes: []string{}}
	know := func(version int) { h.Latest = max(h.Latest, version) }
	bodies := 0
	for ref, hash := range f.defs.hashes {
		if ref.ID == id {
			bodies++
			if know(ref.Version); ref.Version == h.Latest {
				h.LatestHash = hash
			}
		}
	}
	for _, in := range f.ids {
		if r := f.records[in]; r.Header.DefinitionID == id {
			know(r.Header.Version)
		}
	}
	for _, prefix := range []string{"definition-version/", "definition-use/", "definition-retired/"} {
		f.under(prefix+id+"/", func(name string, _ *mvccpb.KeyValue, _ []string) {
			if ref, ok := record.VersionIn(name, prefix); ok {
				know(ref.Version)
			}
		})
	}
	f.values("definition-content/"+id+"/", fsckPage, func(_ string, kv *mvccpb.KeyValue, _ []string) {
		var e record.VersionRef
		if db.Decode(kv.Value, &e) == nil {
			know(e.Version)
		}
	})
	owned := f.defs.owned[id]
	if owned == nil {
		owned = &ownedKeys{}
	}
	published := 0
	for _, name := range owned.keys {
		f.values(name, 1, func(_ string, kv *mvccpb.KeyValue, _ []string) {
			var e struct {
				Version    int   `json:"version"`
				Generation int64 `json:"generation"`
			}
			if db.Decode(kv.Value, &e) == nil {
				know(e.Version)
				published, h.Generation = max(published, e.Version), max(h.Generation, e.Generation)
			}
		})
	}
	h.Generation++
	what := ", and makes it again as retracted, with the versions that are there (up to " + strconv.Itoa(h.Latest) + ")"
	hint := "POST /api/v1/definitions/" + id + "/publish with the version that was published"
	if published > 0 {
		hint = "POST /api/v1/definitions/" + id + `/publish {"version": ` + strconv.Itoa(published) + "}"
	}
	if bodies == 0 {
		h.Deleted, h.Purged = &h.UpdatedAt, true
		what, hint = ", and makes it again as that of a deleted definition, as no version of it is left", ""
	}
	o := f.replace(n, kv, what, f.s.conn.Keys.Indexed(id))
	n.Hint = hint
	o.Put(string(kv.Key), h)
	o.Del(f.s.conn.Keys.Indexed(id))
	for _, name := range owned.keys {
		o.Del(f.s.conn.Keys.Root + name)
	}
}
