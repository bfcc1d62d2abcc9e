package etcdstore

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each kind of thing that needs a version is found, and no version that nothing needs.
func TestUsersOfVersions(t *testing.T) {
	t.Parallel()
	trigger := func(n int) *store.TriggerRef {
		return &store.TriggerRef{Hash: hashOf("go"), DefinitionID: "used", Version: n, ActivityID: "a"}
	}
	start := func(n int) *workflow.Command {
		return &workflow.Command{ID: "s", Kind: workflow.CommandStart, Start: &workflow.Start{DefinitionID: "used", Version: n}}
	}
	instance := func(n int, sub workflow.SubStatus) store.Record {
		return store.Record{Seq: 1, Header: workflow.Instance{ID: "i", DefinitionID: "used", Version: n, Status: sub.Status(), SubStatus: sub}}
	}
	in := func(sub workflow.SubStatus) func(w *world, n int) (string, any) {
		return func(w *world, n int) (string, any) {
			r := instance(n, sub)
			_, err := w.raw.Put(w.ctx(), w.Keys.IndexEntry(&r.Header), "")
			w.ok(err)
			return w.Keys.Instance("i"), r
		}
	}
	for says, put := range map[string]func(w *world, n int) (string, any){
		"instance i": in(workflow.Pending), "instance  i": in(workflow.Executing), "instance   i": in(workflow.Suspended),
		"instance    i": in(workflow.Finished), "instance     i": in(workflow.Cancelled), "instance      i": in(workflow.Faulted),
		"stimulus s": func(w *world, n int) (string, any) {
			return w.Keys.Send("s"), store.Send{ID: "s", Targets: []store.Target{{Bookmark: &store.BookmarkRef{ID: "b"}}, {Trigger: trigger(n)}}}
		},
		"behind a gate": func(w *world, n int) (string, any) {
			return w.Keys.GatedQueue(store.Gate{Correlation: "any"}) + "q", store.QueueItem{ID: "q", Held: &store.HeldStart{Trigger: *trigger(n)}}
		},
		"dead letter d": func(w *world, n int) (string, any) {
			return w.Keys.Dead("d"), store.DeadLetter{ID: "d", Targets: []store.Target{{Trigger: trigger(n)}}}
		},
		"dead letter  d": func(w *world, n int) (string, any) {
			return w.Keys.Dead("d"), store.DeadLetter{ID: "d", Command: start(n)}
		},
		"command s": func(w *world, n int) (string, any) { return w.Keys.Mail("x", "s"), start(n) },
		"command m": func(w *world, n int) (string, any) {
			state, err := db.Encode(map[string]any{"instance": map[string]any{"definitionId": "used", "version": n}})
			w.ok(err)
			return w.Keys.Mail("x", "m"), workflow.Command{ID: "m", Kind: workflow.CommandImport, State: state}
		},
		"command a": func(w *world, n int) (string, any) {
			return w.Keys.Mail("x", "a"), workflow.Command{ID: "a", Kind: workflow.CommandAlter, Alter: &workflow.Alter{Definition: "used", Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: n}}}}
		},
		"version 7 of consumer": func(w *world, n int) (string, any) {
			return w.Keys.Use("consumer", 7, record.UsedVersion{ID: "used", Version: n}), nil
		},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, n := range []int{1, 99_999_999} {
				key, value := put(w, n)
				raw, err := db.Encode(value)
				w.ok(err)
				_, err = w.raw.Put(w.ctx(), key, string(raw))
				w.ok(err)
				ref := record.VersionRef{ID: "used", Version: n}
				users, err := w.VersionUsers(w.ctx(), []record.VersionRef{ref, {ID: "used", Version: n + 1}, {ID: "user", Version: n}, {ID: "use", Version: 1}})
				w.ok(err)
				if want := strings.Join(strings.Fields(says), " "); len(users) != 1 || !strings.Contains(users[ref].What, want) {
					t.Errorf("users %+v, want %q of %s", users, want, ref)
				}
				still, err := w.StillUsed(w.ctx(), users)
				if w.ok(err); len(still) != 1 {
					t.Errorf("it is not found again: %+v", still)
				}
				_, err = w.raw.Delete(w.ctx(), key)
				w.ok(err)
				if still, err = w.StillUsed(w.ctx(), users); err != nil || len(still) != 0 {
					t.Errorf("it is gone, and found: %+v, %v", still, err)
				}
				if users, err = w.VersionUsers(w.ctx(), []record.VersionRef{ref}); err != nil || len(users) != 0 {
					t.Errorf("it is gone, and a user: %+v, %v", users, err)
				}
			}
		})
	}
}
