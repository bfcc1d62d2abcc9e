package etcdstore

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each rule of a check has a test that names it.
func TestEveryRuleOfFsckIsTested(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	room, err := filepath.Glob("fsck/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, room...)
	named, tested := map[string]string{}, ""
	rule := regexp.MustCompile(`\b(?:report|passing|without)\("([a-z-]+)"`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			tested += string(text)
			continue
		}
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			named[m[1]] = name
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d rules were found: %v", len(named), slices.Sorted(maps.Keys(named)))
	}
	for rule, in := range named {
		if !strings.Contains(tested, `"`+rule+`"`) {
			t.Errorf("no test has a case of %s, a rule of %s", rule, in)
		}
	}
}

// finishedWaiting makes an instance that is finished, and waits for an event.
func (w *world) finishedWaiting(id string) {
	w.tb.Helper()
	c := w.first(id, nil, w.bookmark(id, "b", "late"))
	c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.StatusFinished, workflow.Finished, &w.now
	w.commit(c)
}

// locked puts a lock with a lease that lives, of a node.
func (w *world) locked(id, node string) clientv3.LeaseID {
	w.tb.Helper()
	lease, err := w.raw.Grant(w.ctx(), 600)
	w.ok(err)
	w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Root+"lock/instance/"+id+"/7", `{"node":"`+node+`"}`, clientv3.WithLease(lease.ID))))
	return lease.ID
}

// What nobody but people can put right is told with what they do about it, and is left as it is.
func TestFsckTellsWhatItDoesNotRepair(t *testing.T) {
	t.Parallel()
	for rule, tt := range map[string]struct {
		spoil   func(w *world)
		key     string
		hint    string
		passing bool
	}{
		"finished-instance-waits": {spoil: func(w *world) { w.finishedWaiting("f") }, key: "instance/f", hint: "DELETE /api/v1/instances/f"},
		"index-without-head": {spoil: func(w *world) { w.spoil(w.Keys.Indexed("nobody"), []byte("{}")) },
			key: "definition-index/nobody", hint: "publish definition nobody again"},
		"lock-without-node": {spoil: func(w *world) { w.locked("i", "gone") }, key: "lock/instance/i/7", passing: true},
		"queue-item-misplaced": {spoil: func(w *world) { // it waits behind a gate, and says behind which
			at := w.only("queue/~gated/")
			w.spoil(strings.Replace(at, "~gated/", "~gated/other", 1), w.value(at))
			w.del(at)
		}, key: "queue/~gated/other"},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			tt.spoil(w)
			for range 2 {
				check := w.fsck()
				if len(check.Findings) != 1 {
					t.Fatalf("found %+v", check.Findings)
				}
				if n := check.Findings[0]; n.Rule != rule || !strings.HasPrefix(n.Key, tt.key) || n.Hint != tt.hint || n.Passing != tt.passing || n.Repair != "" {
					t.Errorf("found %+v", n)
				}
				before := w.dump()
				if done := w.repaired(); len(done.Done) > 0 || !maps.Equal(w.dump(), before) {
					t.Errorf("done %+v", done.Done)
				}
			}
		})
	}
}

// A stimulus that waits where none that is like it is looked for is sent again, whole.
func TestAMisplacedQueueItemIsSentAgain(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	item := w.item("q2", event("lost"))
	item.Trace, item.Key = "00-1-2-01", &workflow.CommandKey{Name: "k", BodyHash: "h"}
	raw, err := db.Encode(item)
	w.ok(err)
	wrong := w.Keys.QueueSlice(hashOf("other"), record.NoCorrelation) + "q2"
	w.spoil(wrong, raw)
	if check := w.fsck(); len(check.Findings) != 1 || check.Findings[0].Rule != "queue-item-misplaced" || check.Findings[0].Repair == "" {
		t.Fatalf("found %+v", check.Findings)
	}
	if done := w.repaired(); len(done.Check.Findings) > 0 || len(done.Done) != 1 {
		t.Errorf("left %+v, done %+v", done.Check.Findings, done.Done)
	}
	if w.value(wrong) != nil {
		t.Error("it waits on where it was")
	}
	var send store.Send
	w.ok(db.Decode(w.value(w.Keys.Send("q2")), &send))
	want, err := json.Marshal(store.Send{ID: "q2", Stimulus: item.Stimulus, Key: item.Key, CreatedAt: item.CreatedAt, Trace: item.Trace})
	w.ok(err)
	if got, err := json.Marshal(send); err != nil || string(got) != string(want) {
		t.Errorf("it is sent as %s, %v, want %s", got, err, want)
	}
	w.want("damaged/", 0)
}

// Mail in a mailbox that is no instance's is set aside. The rest of a burst goes to its instance.
func TestMisplacedMailIsRepaired(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		id, cmd string
		moved   bool // and not only copied
		aside   int
	}{
		"a command": {"i", "m", false, 1}, "the rest of a burst": {"k", workflow.ContinueID, true, 1}, "the rest of a burst, beside itself": {"k", workflow.ContinueID, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			right := w.Keys.Mail(tt.id, tt.cmd)
			value, whole := w.value(right), w.written()[1]
			wrong := strings.Replace(right, "mailbox/"+record.ShardOf(tt.id), "mailbox/zz", 1)
			w.spoil(wrong, value)
			if tt.moved {
				w.del(right)
			}
			check := w.fsck()
			if got := rules(check); !slices.Contains(got, "mail-misplaced") {
				t.Errorf("found %+v", check.Findings)
			}
			done := w.repaired()
			if len(done.Check.Findings) > 0 || len(done.Done) != 1 {
				t.Errorf("left %+v, done %+v", done.Check.Findings, done.Done)
			}
			if w.value(wrong) != nil || w.value(right) == nil {
				t.Errorf("there is %s; here is %s", w.value(wrong), w.value(right))
			}
			w.want("damaged/mailbox/zz/", tt.aside)
			if now := w.written()[1]; now != whole+int64(tt.aside) {
				t.Errorf("%d keys, before %d", now, whole)
			}
		})
	}
}

// The gate of an instance that is finished is free again.
func TestTheGateOfAFinishedInstanceIsFreed(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	w.ended("f")
	whole := w.dump()
	w.spoil(w.Keys.Gate("shop", ""), []byte("f"))
	if check := w.fsck(); len(check.Findings) != 1 || check.Findings[0].Rule != "gate-of-finished" {
		t.Fatalf("found %+v", check.Findings)
	}
	if done := w.repaired(); len(done.Check.Findings) > 0 || len(done.Done) != 1 || !maps.Equal(w.dump(), whole) {
		t.Errorf("left %+v, done %+v", done.Check.Findings, done.Done)
	}
}

// A lock whose lease ends during a check is told of, and a later look finds none.
func TestALeaseThatEndsDuringACheckIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publishTimed("one", true)
	w.instance("i", "paid")
	lease := w.locked("i", "")
	upkeep := w.WithSchedules(func(ctx context.Context, _ string, _ int) ([]store.CronEntry, error) { // asked after all keys were read, and before the locks are
		_, err := w.raw.Revoke(ctx, lease)
		return nil, err
	})
	check, err := upkeep.Fsck(w.ctx())
	w.ok(err)
	if len(check.Findings) != 1 || check.Findings[0].Rule != "lock-without-lease" || !check.Findings[0].Passing || check.Findings[0].Repair != "" || !strings.Contains(check.Findings[0].Detail, "has ended") {
		t.Errorf("found %+v", check.Findings)
	}
	if check := w.fsck(); len(check.Findings) > 0 {
		t.Errorf("later it finds %+v", check.Findings)
	}
}

// What has an id with a tenant or a cell is a newer program's: what does not fit of it, as far as this
// program knows, is told and left as it is, whichever rule finds it.
func TestWhatHasAnIDOfANewerProgramIsNotRepaired(t *testing.T) {
	t.Parallel()
	b := workflow.Bookmark{ID: "acme~x~b", Name: "pack"}
	h := workflow.Instance{ID: "acme~x", DefinitionID: "acme~order", Version: 1, SubStatus: workflow.Suspended, CorrelationID: "c", Status: workflow.StatusFinished}
	for rule, put := range map[string]func(w *world) (key, value string){
		"gate-without-instance":       func(w *world) (string, string) { return w.Keys.Gate("shop", ""), "acme~x" },
		"gate-without-instance, cell": func(w *world) (string, string) { return w.Keys.Gate("shop", ""), "07!acme~x" },
		"gate-without-instance, which another knows": func(w *world) (string, string) {
			return w.only("gate/"), "acme~x"
		},
		"gate-without-instance, of a definition": func(w *world) (string, string) { return w.Keys.Gate("acme~order", ""), "gone" },
		"damaged":                                func(w *world) (string, string) { return w.Keys.Instance("acme~x"), "junk" },
		"damaged, of another id":                 func(w *world) (string, string) { return w.Keys.Instance("acme~x"), `{"header":{"instanceId":"x"}}` },
		"damaged, mail":                          func(w *world) (string, string) { return w.Keys.Mail("acme~x", "c"), "junk" },
		"damaged, definition":                    func(w *world) (string, string) { return w.Keys.Head("acme~order"), "junk" },
		"damaged, version":                       func(w *world) (string, string) { return w.Keys.Body("acme~order", 1), "junk" },
		"journal-without-instance":               func(w *world) (string, string) { return w.Keys.Journal("acme~x", 1), "{}" },
		"mail-misplaced":                         func(w *world) (string, string) { return w.Keys.Mailboxes() + "zz/acme~x/c", `{"id":"c"}` },
		"bookmark-without-instance":              func(w *world) (string, string) { return w.Keys.Bookmark(hashOf("approved"), "c", b.ID), "{}" },
		"timer-without-bookmark": func(w *world) (string, string) {
			return w.Keys.Timer(b.ID, timerDue), `{"instance":"acme~x","bookmark":"acme~x~b"}`
		},
		"task-outdated":               func(w *world) (string, string) { return w.Keys.Task(&b), "" },
		"index-outdated":              func(w *world) (string, string) { return w.Keys.IndexEntry(&h), "" },
		"index-outdated, finished":    func(w *world) (string, string) { return w.Keys.Finished(&h), "7" },
		"index-outdated, correlation": func(w *world) (string, string) { return w.Keys.Correlation("c") + record.Place(&h), "" },
		"index-outdated, parent":      func(w *world) (string, string) { return w.Keys.Children("acme~x") + "1/i", "" },
		"index-without-head":          func(w *world) (string, string) { return w.Keys.Indexed("acme~order"), "{}" },
		"interrupt-without-command":   func(w *world) (string, string) { return w.Keys.Cancel("acme~x"), "" },
		"trigger-without-definition":  func(w *world) (string, string) { return w.Keys.Trigger(hashOf("e"), "acme~order", "a"), "{}" },
		"use-without-version": func(w *world) (string, string) {
			return w.Keys.Use("acme~order", 2, record.UsedVersion{ID: "part", Version: 1}), ""
		},
		"retired-without-version":     func(w *world) (string, string) { return w.Keys.Retired("acme~order", 2), "" },
		"schedule-without-definition": func(w *world) (string, string) { return w.Keys.Cron("acme~order", "a", timerDue), "{}" },
		"incident-without-instance":   func(w *world) (string, string) { return w.Keys.Incident("order", "acme~x", 1), "{}" },
		"record-without-end":          func(w *world) (string, string) { return w.Keys.CommandRecord("acme~x", "c"), "{}" },
		"lock-without-lease":          func(w *world) (string, string) { return w.Keys.Root + "lock/instance/acme~x/7", "{}" },
		"damaged, addressed": func(w *world) (string, string) {
			return w.Keys.QueueSlice(hashOf("e"), record.Addressed("acme~x")) + "q", "junk"
		},
		"count-without-stimulus": func(w *world) (string, string) { return w.Keys.Sent("acme~x"), "{}" },
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			key, value := put(w)
			w.spoil(key, []byte(value))
			rule, _, _ := strings.Cut(rule, ",")
			check := w.fsck()
			found := slices.ContainsFunc(check.Findings, func(n fsck.Finding) bool {
				return n.Rule == rule && n.Repair == "" && strings.Contains(n.Hint, "of the version that wrote it")
			})
			if !found || len(check.Bad()) > 0 {
				t.Errorf("found %+v", check.Findings)
			}
			before := w.dump()
			if done := w.repaired(); len(done.Done) > 0 || !maps.Equal(w.dump(), before) {
				t.Errorf("done %+v", done.Done)
			}
		})
	}
	for kind := range fsck.IDsIn {
		if !slices.Contains(record.Kinds, kind) {
			t.Errorf("there is no key %s/", kind)
		}
	}
}

// A text of somebody's own may look like such an id, and is none.
func TestATextIsNoIDOfANewerProgram(t *testing.T) {
	t.Parallel()
	k := record.KeysBelow("")
	b := workflow.Bookmark{ID: "i~b", Name: "acme~x"}
	for _, key := range []string{
		k.Labelled("a~b", "acme~x") + "1/i", k.Task(&b), k.Timer("i~b", timerDue), k.Bookmark("h", "c", "i~b"), k.Mail("i", "acme~x"), k.Mail("i", workflow.ContinueID),
		k.CommandRecord("i", "~commit@x"), k.CommandRecord("~send", "s"), k.CommandRecord("~done", "s"), k.KeyRecord("acme~x"), k.Route("GET", "a~b"), k.GatedQueue(store.Gate{Definition: "order"}) + "1-i",
	} {
		if fsck.OfNewer(key) {
			t.Errorf("%s is taken for a newer program's", key)
		}
	}
}
