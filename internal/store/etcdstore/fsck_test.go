package etcdstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/workflow"
)

// sound is a world that has one of everything.
func sound(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	hook := &store.Webhook{Name: "crm", URL: "https://example.com", On: []store.WebhookKind{store.WebhookEnded, store.WebhookIncident}, Definitions: []string{"order"}, Secrets: []string{"k"}}
	if ok, err := w.Webhooks.PutWebhook(w.ctx(), hook); err != nil || !ok {
		t.Fatal(ok, err)
	}
	due := w.now.Add(time.Hour)
	b := w.bookmark("i", "b", "approved")
	timed := w.bookmark("i", "t", "late")
	timed.DueAt = &due
	task := w.bookmark("i", "task", "task")
	task.ActivityType, task.Name = workflow.TaskType, "pack"
	door := w.bookmark("i", "door", "door")
	door.ActivityType, door.Payload, door.Metadata = workflow.EndpointType, map[string]any{"method": "POST"}, map[string]any{"template": "Orders/{id}/paid"}
	h := w.header("i")
	h.CorrelationID = "c"
	h.Bookmarks = []workflow.Bookmark{b, timed, task, door, w.fold(), w.asks("i", "ask", 50, []any{"anna"}, nil)}
	h.Incidents = []workflow.Incident{w.incident("no answer")}
	_, err := w.Commit(w.ctx(), &store.Commit{ID: "c1", Fence: w.lock("i", "1"), After: store.Record{Header: h, Seq: 1}, At: w.now, Created: h.Bookmarks, SeenMail: w.revision(), Release: true})
	w.ok(err)
	p, err := w.Claims.Free(w.ctx(), "fold", "", time.Time{}, 1)
	w.ok(err)
	w.claims(p.Free[0], "folder")
	start := workflow.Command{ID: "s", Kind: workflow.CommandStart, CreatedAt: w.now, Start: &workflow.Start{DefinitionID: "order", Version: 1, Parent: &workflow.Parent{InstanceID: "p", BookmarkID: "p~end"}}}
	out, err := w.Create(w.ctx(), &lookup.NewInstance{Header: NewHeader("j", start, w.now), Command: start, Gate: &store.Gate{Definition: "order"}}, nil)
	if w.ok(err); out != stimuli.Created {
		t.Fatal(out)
	}
	used := store.DefinitionVersion{Hash: "one", Source: "one", Uses: []store.Use{{RefID: "part", ID: "part", Version: 1}}}
	before, err := w.ReadDefinition(w.ctx(), "order", "one")
	w.ok(err)
	_, err = w.PublishDefinition(w.ctx(), before, used, definitions.Published{}, w.now)
	w.ok(err)
	w.parentOf("j")
	w.continuing("k")
	hook, at, _, _, err := w.Webhooks.Webhook(w.ctx(), "crm")
	w.ok(err)
	letter := store.WebhookLetter{ID: "letter", Webhook: hook.Created, Events: []store.WebhookEvent{{ID: "e", What: "Faulted", Subject: "i"}}, At: w.now, Due: w.now}
	if ok, err := w.Webhooks.Advance(w.ctx(), hook, at, letter); err != nil || !ok {
		t.Fatal(ok, err)
	}
	send, to := w.behindGate("g", "x")
	if ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
	st := event("nothing")
	look, err := w.Stimuli.Match(w.ctx(), st, hashOf("nothing"), "")
	w.ok(err)
	queued, err := w.Enqueue(w.ctx(), store.QueueItem{ID: "q", Stimulus: st, Hash: hashOf("nothing"), CreatedAt: w.now}, look)
	if w.ok(err); !queued {
		t.Fatal("not queued")
	}
	w.job("runs")
	w.void("i")
	return w
}

// fold is a task of [sound] that a worker has.
func (w *world) fold() workflow.Bookmark {
	b := w.bookmark("i", "fold", "fold")
	b.ActivityType, b.Name = workflow.TaskType, "fold"
	return b
}

// void leaves the record of a commit without a lock that was refused, as somebody had the lock.
func (w *world) void(id string) (record string) {
	w.tb.Helper()
	u, gone := w.standing()
	c := w.resuming(id, u)
	other := w.lock(id, "other")
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrHeld) {
		w.tb.Fatal(err)
	}
	w.unlock(other)
	gone()
	return w.Keys.CommandRecord(id, "~commit@"+c.ID)
}

// taskOf is the key of a task of [sound].
func (w *world) taskOf(id string) string {
	return w.Keys.Task(&workflow.Bookmark{ID: id, Name: "pack", CreatedAt: w.now})
}

func TestFsckFindsNothingInWhatTheStoreWrote(t *testing.T) {
	t.Parallel()
	w := sound(t)
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	if len(check.Findings) > 0 || check.Keys < 12 {
		t.Errorf("%d keys, findings %+v", check.Keys, check.Findings)
	}
}

// The record of a void commit is one like any other: it has an end, which fsck gives back.
func TestFsckKnowsAVoidCommit(t *testing.T) {
	t.Parallel()
	w := sound(t)
	record := w.void("k")
	if _, err := w.raw.Delete(w.ctx(), w.Keys.Expiry(w.Conn.Elapsed.Load(), record)); err != nil {
		t.Fatal(err)
	}
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	if len(check.Findings) != 1 || check.Findings[0].Rule != "record-without-end" || check.Findings[0].Key != strings.TrimPrefix(record, w.Keys.Root) {
		t.Errorf("%+v", check.Findings)
	}
}

// timed is a world with a published definition that a schedule starts, with an upkeep that knows it.
func timed(t *testing.T) (*world, *fsck.Checker) {
	t.Helper()
	w := newWorld(t)
	w.publishTimed("one", false)
	return w, w.WithSchedules(func(_ context.Context, id string, version int) ([]store.CronEntry, error) {
		if id != "order" || version != 1 {
			return nil, fmt.Errorf("version %d of %s was asked for", version, id)
		}
		return []store.CronEntry{{ActivityID: "s"}}, nil
	})
}

// publishTimed publishes version 1 of a definition, with a schedule or, over, without an occurrence of it.
func (w *world) publishTimed(content string, over bool) {
	w.tb.Helper()
	st, err := w.ReadDefinition(w.ctx(), "order", content)
	w.ok(err)
	e := store.CronEntry{ActivityID: "s", ActivityType: "x", Kind: store.ScheduleCron, Expression: "0 0 0 1 1 *"}
	if !over {
		e.Due = w.now.Add(time.Hour)
	}
	_, err = w.PublishDefinition(w.ctx(), st, store.DefinitionVersion{Hash: content, Source: content}, definitions.Published{Index: store.DefinitionIndex{Schedules: []store.CronEntry{e}}}, w.now)
	w.ok(err)
}

// A schedule that goes on has an occurrence to come, of the version that is published.
func TestFsckFindsAScheduleWithoutAnOccurrence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(w *world, key string)
		found []string
	}{
		"whole":   {func(*world, string) {}, nil},
		"it went": {func(w *world, key string) { w.del(key) }, []string{"schedule-missing"}},
		"it is of a generation before": {func(w *world, key string) {
			w.spoil(key, bytes.Replace(w.value(key), []byte(`"generation":1`), []byte(`"generation":0`), 1))
		}, []string{"schedule-missing"}},
		"it is of another activity": {func(w *world, key string) {
			value := w.value(key)
			w.del(key)
			w.spoil(strings.TrimSuffix(key, "s")+"other", value)
		}, []string{"schedule-missing"}},
		"it is damaged": {func(w *world, key string) { w.spoil(key, []byte("junk")) }, []string{"damaged"}},
		"retracted": {func(w *world, key string) {
			w.del(key)
			st, err := w.ReadDefinition(w.ctx(), "order", "")
			w.ok(err)
			_, err = w.Retract(w.ctx(), st, w.now)
			w.ok(err)
		}, nil},
		"its head is damaged": {func(w *world, key string) {
			w.del(key)
			w.spoil(w.Keys.Head("order"), []byte("junk"))
		}, []string{"damaged"}},
		"its version is damaged": {func(w *world, key string) {
			w.del(key)
			w.spoil(w.Keys.Body("order", 1), []byte("junk"))
		}, []string{"damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, upkeep := timed(t)
			tt.spoil(w, w.only("cron/"))
			check, err := upkeep.Fsck(w.ctx())
			w.ok(err)
			if got := rules(check); !slices.Equal(got, append([]string{}, tt.found...)) {
				t.Errorf("found %+v", check.Findings)
			}
			for _, n := range check.Findings {
				if n.Rule == "schedule-missing" && (n.Key != "definition-index/order" || !strings.Contains(n.Detail, "activity s of version 1") || n.Hint != `POST /api/v1/definitions/refresh {"definitionIds": ["order"]}` || n.Repair != "") {
					t.Errorf("%+v", n)
				}
			}
		})
	}
}

// A schedule whose last occurrence is over has none to come. Where this program cannot read
// the schedules that is said, and what cannot be looked up at all ends the check.
func TestFsckAsksForSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publishTimed("one", true)
	check := func(schedules []store.CronEntry, err error) (*fsck.Check, error) {
		return w.WithSchedules(func(context.Context, string, int) ([]store.CronEntry, error) { return schedules, err }).Fsck(w.ctx())
	}
	for name, tt := range map[string]struct {
		schedules []store.CronEntry
		err       error
		rule      string
	}{
		"none is left":             {nil, nil, ""},
		"one is left":              {[]store.CronEntry{{ActivityID: "s"}}, nil, "schedule-missing"},
		"it went since":            {nil, workflow.Fail(workflow.CodeDefinitionNotFound, "gone"), ""},
		"another's":                {nil, workflow.Fail(workflow.CodeNotRunnable, "it lacks x"), "unavailable-here"},
		"it needs what is damaged": {nil, &workflow.Error{Code: workflow.CodeUnavailable, Err: fmt.Errorf("%w: junk", db.ErrDamaged)}, "unavailable-here"},
		"etcd is not there":        {nil, errors.New("no answer"), "error"},
	} {
		c, err := check(tt.schedules, tt.err)
		switch {
		case (err != nil) != (tt.rule == "error"):
			t.Errorf("%s: %v", name, err)
		case err != nil:
			if !strings.Contains(err.Error(), "definition order: no answer") {
				t.Errorf("%s: %v", name, err)
			}
		case tt.rule == "" && len(c.Findings) > 0, tt.rule != "" && (len(c.Findings) != 1 || c.Findings[0].Rule != tt.rule || c.Findings[0].Passing != (tt.rule == "unavailable-here")):
			t.Errorf("%s: %+v", name, c.Findings)
		}
	}
	w.del(w.Keys.Indexed("order")) // of what has no schedules nothing is asked
	if c, err := check(nil, errors.New("asked")); err != nil || len(c.Findings) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// misfits are what does not fit and has one right state, by the rule that finds it: the key
// that goes, and the one that comes.
var misfits = map[string]func(w *world) (del, put string){
	"bookmark-missing":          func(w *world) (string, string) { return w.Keys.Bookmark(hashOf("approved"), "c", "i~b"), "" },
	"shape-missing":             func(w *world) (string, string) { return w.Keys.Root + "endpoint/POST/03/lpl", "" },
	"bookmark-without-instance": func(w *world) (string, string) { return "", w.Keys.Bookmark(hashOf("approved"), "", "i~x") },
	"timer-missing":             func(w *world) (string, string) { return w.Keys.Timer("i~t", timerDue), "" },
	"queue-item-without-mark": func(w *world) (string, string) {
		return w.Keys.Mark(w.Keys.QueueSlice(hashOf("nothing"), record.NoCorrelation), "q"), ""
	},
	"index-missing": func(w *world) (string, string) {
		h := w.header("i")
		return w.Keys.Correlation("c") + record.Place(&h), ""
	},
	"job-not-open":   func(w *world) (string, string) { return w.Keys.OpenJobs() + "runs", "" },
	"job-open":       func(w *world) (string, string) { return "", w.Keys.OpenJobs() + "gone" },
	"index-outdated": func(w *world) (string, string) { return "", w.Keys.Correlation("c") + "x" },
	"task-missing":   func(w *world) (string, string) { return w.taskOf("i~task"), "" },
	"task-outdated":  func(w *world) (string, string) { return "", w.taskOf("i~gone") },
	"user-task-missing": func(w *world) (string, string) {
		b := w.asks("i", "ask", 50, []any{"anna"}, nil)
		return w.Keys.People.Entries(&b)[1], ""
	},
	"user-task-outdated": func(w *world) (string, string) {
		b := w.asks("i", "gone", 50, []any{"anna"}, nil)
		return "", w.Keys.People.Entries(&b)[1]
	},
	"task-twice": func(w *world) (string, string) {
		b := w.fold()
		return "", w.Keys.Task(&b)
	},
	"claim-without-end": func(w *world) (string, string) {
		return w.Keys.Taken.Lease("i~fold", w.by("folder").Until), ""
	},
	"claim-outdated": func(w *world) (string, string) {
		return "", w.Keys.Taken.Task(&workflow.Bookmark{ID: "i~gone", Name: "pack", CreatedAt: w.now})
	},
	"journal-end":            func(w *world) (string, string) { return w.Keys.Journal("i", 1), "" },
	"journal-gap":            func(w *world) (string, string) { return "", w.Keys.Journal("i", 3) },
	"instance-without-start": func(w *world) (string, string) { return w.Keys.Mail("j", "s"), "" },
	"bookmark-without-child": func(w *world) (string, string) { return w.Keys.Instance("j"), "" },
	"gate-without-instance":  func(w *world) (string, string) { return w.Keys.Instance("j"), "" },
	"lock-without-lease":     func(w *world) (string, string) { return "", w.Keys.Root + "lock/instance/i/7" },
	"node-without-lease":     func(w *world) (string, string) { return "", w.Keys.Root + "nodes/gone" },
	"record-without-end":     func(w *world) (string, string) { return "", w.Keys.CommandRecord("i", "x") },
	"use-missing": func(w *world) (string, string) {
		return w.Keys.Use("order", 1, record.UsedVersion{ID: "part", Version: 1}), ""
	},
	"use-without-version": func(w *world) (string, string) {
		return "", w.Keys.Use("order", 2, record.UsedVersion{ID: "part", Version: 1})
	},
	"webhook-without-position": func(w *world) (string, string) { return w.Keys.WebhookAt("crm"), "" },
	"position-without-webhook": func(w *world) (string, string) { return "", w.Keys.WebhookAt("gone") },
	"sign-out-unreadable":      func(w *world) (string, string) { return "", w.Keys.SignOuts() + "soon/key:a/s" },
	"webhook-not-wanted":       func(w *world) (string, string) { return w.Keys.Wanted("order", "crm"), "" },
	"wanted-without-webhook":   func(w *world) (string, string) { return "", w.Keys.Wanted(record.AnyDefinition, "crm") },
	"incident-without-instance": func(w *world) (string, string) {
		return "", w.Keys.Incident("order", "gone", 1)
	},
	"retired-without-version": func(w *world) (string, string) { return "", w.Keys.Retired("order", 2) },
	"trigger-without-definition": func(w *world) (string, string) {
		return "", w.Keys.Trigger(hashOf("approved"), "order", "a")
	},
}

// timerDue is when the timer of a sound world is due.
var timerDue = time.Date(2030, 1, 2, 4, 4, 5, 0, time.UTC)

// misfitsAnd are misfits with others.
func misfitsAnd(others map[string]func(w *world) (del, put string)) map[string]func(w *world) (del, put string) {
	all := maps.Clone(misfits)
	maps.Copy(all, others)
	return all
}

func TestFsckFindsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for rule, spoil := range misfitsAnd(map[string]func(w *world) (del, put string){
		"journal-without-instance":  func(w *world) (string, string) { return w.Keys.Instance("i"), "" },
		"instance-without-cause":    func(w *world) (string, string) { return w.Keys.Mail("k", workflow.ContinueID), "" },
		"mail-without-instance":     func(w *world) (string, string) { return w.Keys.Instance("j"), "" },
		"interrupt-without-command": func(w *world) (string, string) { return "", w.Keys.Cancel("i") },
		"letter-without-webhook":    func(w *world) (string, string) { return w.Keys.Webhook("crm"), "" },
		"version-missing":           func(w *world) (string, string) { return w.Keys.Body("order", 1), "" },
		"unknown-key":               func(w *world) (string, string) { return "", w.Keys.Root + "instances/i" },
	}) {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := sound(t)
			del, put := spoil(w)
			if del != "" {
				_, err := w.raw.Delete(w.ctx(), del)
				w.ok(err)
			}
			if put != "" {
				_, err := w.raw.Put(w.ctx(), put, "{}")
				w.ok(err)
			}
			check, err := w.Fsck(w.ctx())
			w.ok(err)
			for _, f := range check.Findings {
				if f.Rule == rule {
					return
				}
			}
			t.Errorf("not found; found %+v", check.Findings)
		})
	}
}

// What is known of a node goes with its lease, and so does what it can run.
func TestFsckFindsNodesThatNeverGo(t *testing.T) {
	t.Parallel()
	w := sound(t)
	w.standing()
	for _, key := range []string{"nodes/a", "ability/a"} {
		w.spoil(w.Keys.Root+key, []byte("{}"))
	}
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	if got := rules(check); len(check.Findings) != 2 || !slices.Equal(got, []string{"node-without-lease"}) {
		t.Errorf("found %+v", check.Findings)
	}
	if done := w.repaired(); len(done.Done) != 2 || len(done.Check.Findings) > 0 {
		t.Errorf("left %+v, done %+v", done.Check.Findings, done.Done)
	}
	w.want("nodes/", 1)
}

// A request finds the route of a definition, and what waits, by its shape: of one that is gone it is told once,
// however many endpoints have it.
func TestFsckFindsEndpointsThatNoRequestFinds(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	whole := w.dump()
	w.del(w.Keys.Shape("GET", "Shop/{id}"))
	check := w.fsck()
	if len(check.Findings) != 1 || check.Findings[0].Rule != "shape-missing" || check.Findings[0].Key != "endpoint/GET/02/lp" || !strings.Contains(check.Findings[0].Detail, "definition shop") {
		t.Errorf("found %+v", check.Findings)
	}
	if done := w.repaired(); len(done.Check.Findings) > 0 || !maps.Equal(w.dump(), whole) {
		t.Errorf("left %+v", done.Check.Findings)
	}
}

// A key that no program of this version puts is told, once for all of its kind, and left alone. Each kind
// that the pages have is known.
func TestFsckTellsOfKeysThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := sound(t)
	for _, key := range []string{"instances/a", "instances/b", "loose", "meta/other", "journals", "lock"} {
		w.spoil(w.Keys.Root+key, []byte("{}"))
	}
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	var found []string
	for _, n := range check.Findings {
		if n.Rule != "unknown-key" || !n.Passing || n.Repair != "" {
			t.Errorf("%+v", n)
		}
		found = append(found, n.Key)
	}
	if slices.Sort(found); !slices.Equal(found, []string{"instances/a", "journals", "lock", "loose", "meta/other"}) {
		t.Errorf("found %q", found)
	}
	if !slices.IsSorted(record.Kinds) {
		t.Error("the kinds are not sorted")
	}
	for _, page := range []string{"keys.md", "keys-definitions.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		w.ok(err)
		rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)/").FindAllStringSubmatch(string(text), -1)
		if len(rows) < 8 {
			t.Errorf("%s has %d keys", page, len(rows))
		}
		for _, row := range rows {
			if !slices.Contains(record.Kinds, row[1]) {
				t.Errorf("%s: a key %s/ is not known to a check", page, row[1])
			}
		}
	}
}

// parentOf makes an instance that waits for the end of another one.
func (w *world) parentOf(child string) {
	w.tb.Helper()
	b := w.bookmark("p", "end", "approved")
	b.Payload = map[string]any{"childInstanceId": child}
	h := w.header("p")
	h.Bookmarks = []workflow.Bookmark{b}
	_, err := w.Commit(w.ctx(), &store.Commit{ID: "c2", Fence: w.lock("p", "1"), After: store.Record{Header: h, Seq: 1}, At: w.now, Created: h.Bookmarks, SeenMail: w.revision(), Release: true})
	w.ok(err)
}

// continuing makes an instance whose burst goes on.
func (w *world) continuing(id string) {
	w.tb.Helper()
	_, err := w.Commit(w.ctx(), &store.Commit{ID: "c3", Fence: w.lock(id, "1"), After: store.Record{Header: w.header(id), Seq: 1}, At: w.now, SeenMail: w.revision(), Release: true,
		Continue: &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: w.now}})
	w.ok(err)
}
