package runtime_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

var ofAllKinds = []string{
	"id: begins-a\nroot:\n  - event: go\n    trigger: true\n", "id: begins-b\nroot:\n  - event: go\n    trigger: true\n",
	"id: victim\nroot:\n  - parallel:\n    - event: more\n    - runTask: {taskName: pack}\n    - delay: 1h\n    - httpEndpoint: {path: victims, supportedMethods: [GET]}\n",
	"id: other\nroot:\n  - parallel:\n    - event: more\n    - runTask: {taskName: pack}\n",
	"id: doors\nroot:\n  - httpEndpoint: {path: doors, supportedMethods: [GET]}\n    trigger: true\n",
	"id: plain\nroot:\n  - writeLine: x\n", "id: late\nroot:\n  - delay: 100ms\n  - writeLine: late\n",
	"id: nightly\nroot:\n  - cron: \"0 0 0 1 1 *\"\n    trigger: true\n",
	"id: alone\noptions: {activation: Singleton}\nroot:\n  - event: never\n",
}

// listed reads every list to its end, and gives what they show as damaged.
func (m *member) listed() (damaged []string) {
	m.T.Helper()
	ctx := m.T.Context()
	note := func(is bool, what, id string) {
		if is {
			damaged = append(damaged, what+" "+id)
		}
	}
	pages := func(what string, read func(cursor string) (string, error)) {
		m.T.Helper()
		for cursor := ""; ; {
			next, err := read(cursor)
			if err != nil {
				m.T.Errorf("list of %s: %v", what, err)
			}
			if cursor = next; next == "" || err != nil {
				return
			}
		}
	}
	for _, f := range []runtime.InstanceFilter{{}, {DefinitionID: "victim"}, {Status: workflow.StatusRunning}} {
		pages("instances", func(cursor string) (string, error) {
			p, err := m.Inspector.Instances(ctx, f, runtime.Paging{Limit: 2, Cursor: cursor})
			for _, in := range p.Items {
				note(in.Damaged != "", "instance", in.ID)
			}
			return p.Next, err
		})
	}
	pages("tasks", func(cursor string) (string, error) {
		p, err := m.Inspector.Tasks(ctx, "", cursor, 2)
		for _, t := range p.Items {
			note(t.Damaged, "task of", t.InstanceID)
		}
		return p.Next, err
	})
	pages("queue", func(cursor string) (string, error) {
		p, err := m.Inspector.Queue(ctx, runtime.QueueFilter{}, cursor, 2)
		for _, i := range p.Items {
			note(i.Damaged, "queued", i.ID)
		}
		return p.Next, err
	})
	pages("dead letters", func(cursor string) (string, error) {
		p, err := m.Inspector.DeadLetters(ctx, runtime.DeadLetterFilter{}, cursor, 2)
		for _, d := range p.Items {
			note(d.Damaged, "dead letter", d.ID)
		}
		return p.Next, err
	})
	pages("timers", func(cursor string) (string, error) {
		p, err := m.Inspector.Timers(ctx, cursor, 2)
		for _, i := range p.Items {
			note(i.Damaged, "timer", i.InstanceID+i.DefinitionID)
		}
		return p.Next, err
	})
	pages("definitions", func(cursor string) (string, error) {
		items, end, err := m.Catalog.List(ctx, cursor, 2)
		for _, h := range items {
			note(h.Damaged != "", "definition", h.ID)
		}
		return end.Next, err
	})
	for _, id := range []string{"v", "o"} {
		pages("journal of "+id, func(cursor string) (string, error) {
			p, err := m.Inspector.Journal(ctx, id, cursor, 2)
			if c := workflow.CodeOf(err); c == workflow.CodeDamaged || c == workflow.CodeInstanceNotFound {
				return "", nil
			}
			for _, e := range p.Items {
				for _, i := range e.Items {
					note(i.Event == "Damaged", "journal of", id)
				}
			}
			return p.Next, err
		})
	}
	return damaged
}

func shardIn(id string, n uint32) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return fmt.Sprintf("%02x", h.Sum32()%n)
}

// Whatever one record is damaged: all lists answer and show it, events, starts and
// timers of others work, a node comes and goes.
func TestOneDamagedRecordFailsNothingElse(t *testing.T) {
	t.Parallel()
	junk := membertest.Junk()
	more, err := workflow.Hash(workflow.EventType, workflow.EventPayload("more"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, tt := range map[string]struct {
		at    string // the key: the first with this prefix, or this very one
		exact bool
		shown string
	}{
		"instance":           {"instance/v", true, "instance v"},
		"journal":            {"journal/v/", false, "journal of v"},
		"mail":               {"mailbox/" + shardIn("v", 64) + "/v/junk", true, ""},
		"mail of nobody":     {"mailbox/" + shardIn("nobody", 64) + "/nobody/junk", true, ""},
		"send":               {"send/" + shardIn("junk", 64) + "/junk", true, ""},
		"dead letter":        {"dead/junk", true, "dead letter junk"},
		"bookmark":           {"bookmark/" + more + "/-/v/", false, ""},
		"queue item":         {"queue/", false, "queued "},
		"gated":              {"queue/~gated/alone/-/0000000000000000001-junk", true, "queued "},
		"timer":              {"timer/", false, "timer v"},
		"due timer":          {"timer/" + shardIn("v~junk", 16) + "/0000000000001/v~junk", true, ""},
		"gate":               {"gate/", false, ""},
		"definition":         {"definition/victim/head", true, "definition victim"},
		"version":            {"definition-version/victim/", false, ""},
		"definition's index": {"definition-index/victim", true, ""},
		"trigger":            {"trigger/", false, ""},
		"route":              {"route/", false, ""},
		"schedule":           {"cron/", false, "timer nightly"},
		"due schedule":       {"cron/" + shardIn("nightly", 16) + "/0000000000001/nightly/cron1", true, ""},
		"command's record":   {"idem/c/", false, ""},
		"key's record":       {"idem/k/", false, ""},
		"age":                {"meta/age", true, ""},
		"index entry":        {"index/", false, ""},
	} {
		for form, value := range junk {
			if form != "text" && kind != "instance" && kind != "bookmark" {
				continue // that all forms are damage, the store says the same way for all kinds
			}
			t.Run(kind+"/"+form, func(t *testing.T) {
				t.Parallel()
				name := clustertest.Namespace(t)
				m := newMember(t, name, "a")
				m.Publish(ofAllKinds...)
				m.Start("victim", "v", "")
				m.Start("other", "o", "")
				m.Start("alone", "alone", "")
				m.Event("nothing", "", &runtime.Key{Scope: "s", Value: "k"})
				etcd := clustertest.Shared(t).Client(t)
				m.spoil(etcd, tt.at, tt.exact, value)

				if shown := strings.Join(m.listed(), ", "); tt.shown != "" && !strings.Contains(shown, tt.shown) {
					t.Errorf("shown as damaged: %q, want %q", shown, tt.shown)
				}
				if kind != "trigger" && kind != "bookmark" { // else one of them is not there to be met
					if r := m.Event("go", "", nil); len(r.Outcomes) < 2 {
						t.Errorf("the event that starts: %+v", r)
					}
				} else {
					m.Event("go", "", nil)
				}
				m.Event("more", "", nil)
				eventually(t, "the event reaches the others", func() bool {
					in, err := m.Inspector.Instance(t.Context(), "o")
					return err == nil && len(in.Bookmarks) == 1
				})
				m.Start("plain", "plain", "")
				m.Finished("plain")
				timed := strings.Contains(kind, "timer") || strings.Contains(kind, "schedule") // it takes seconds
				if timed {
					m.Start("late", "late", "")
					m.Finished("late")
				}

				b := newMember(t, name, "b")
				b.Start("plain", "later", "")
				m.Leave()
				b.Finished("later")
				b.listed()
			})
		}
	}
}

// spoil puts junk where a record is.
func (m *member) spoil(etcd *clientv3.Client, at string, exact bool, value string) {
	m.T.Helper()
	key := m.Root + at
	if !exact {
		resp, err := etcd.Get(m.T.Context(), key, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil || len(resp.Kvs) == 0 {
			m.T.Fatalf("no key below %s: %v", at, err)
		}
		key = string(resp.Kvs[0].Key)
	}
	if _, err := etcd.Put(m.T.Context(), key, value); err != nil {
		m.T.Fatal(err)
	}
}

// waitingChild starts a parent and gives the victim that it waits for, which waits too.
func (m *member) waitingChild(parent string) (child string) {
	m.T.Helper()
	m.Publish("id: parent\nvariables: {end: object}\nroot:\n  - executeWorkflow: {workflowDefinitionId: victim, waitForCompletion: true}\n")
	m.Start("parent", parent, "")
	eventually(m.T, "the child waits", func() bool {
		all := m.InstancesOf("victim")
		if len(all) != 1 || len(all[0].Bookmarks) == 0 {
			return false
		}
		child = all[0].ID
		return true
	})
	return child
}

// An instance whose record is damaged, or that no live node can run, is deleted with
// all that it has, and who waits for it goes on.
func TestWhatCannotBeReadCanBeDeleted(t *testing.T) {
	t.Parallel()
	junk := membertest.Junk()
	for form, value := range map[string]string{"text": junk["text"], "bomb": junk["bomb"], "newer": "", "mail": ""} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			name := clustertest.Namespace(t)
			m := newMember(t, name, "a")
			m.Publish(ofAllKinds...)
			m.Start("other", "o", "")
			child := m.waitingChild("p")
			etcd := clustertest.Shared(t).Client(t)
			switch key := m.Root + "instance/" + child; form {
			case "newer":
				resp, err := etcd.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				value := strings.Replace(string(resp.Kvs[0].Value), `"header":{`, `"newer":1,"header":{`, 1)
				if value == string(resp.Kvs[0].Value) {
					t.Fatalf("the record is %.200s", value)
				}
				m.spoil(etcd, "instance/"+child, true, value)
			case "mail":
				m.spoil(etcd, "mailbox/"+shardIn(child, 64)+"/"+child+"/junk", true, junk["text"])
			default:
				m.spoil(etcd, "instance/"+child, true, value)
			}
			// On a busy machine the answer is that it was accepted, as the reason comes after a second.
			if did, err := m.Commands.Cancel(t.Context(), child, nil); err == nil && !did.Accepted && form != "mail" {
				t.Error("it was cancelled")
			}
			if _, err := m.Commands.Delete(t.Context(), child); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the parent ends", func() bool {
				in, err := m.Inspector.Instance(t.Context(), "p")
				return err == nil && in.Status == workflow.StatusFinished
			})
			if _, err := m.Commands.Delete(t.Context(), child); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
				t.Errorf("it is there: %v", err)
			}
			left := keysWith(t, etcd, m.Root, child)
			for _, key := range left {
				if !strings.HasPrefix(key, "idem") {
					t.Errorf("%s is left", key)
				}
			}
			m.Event("more", "", nil)
			eventually(t, "the other goes on", func() bool {
				in, err := m.Inspector.Instance(t.Context(), "o")
				return err == nil && len(in.Bookmarks) == 1
			})
			m.Sound()
		})
	}
}

// keysWith are the keys of a cluster that have a text, without its root.
func keysWith(t *testing.T, etcd *clientv3.Client, root, text string) (out []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := etcd.Get(ctx, root, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		if key := strings.TrimPrefix(string(kv.Key), root); strings.Contains(key, text) {
			out = append(out, key)
		}
	}
	return out
}

// What the oldest commit that is kept has changed is told, although the one before is gone: how
// it was then is what nobody knows.
func TestChangesOfTheOldestCommitThatIsKept(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: counts\nvariables: {n: 0}\nroot:\n  - event: one\n  - setVariable: {variable: n, value: 1}\n  - event: two\n  - setVariable: {variable: n, value: 2}\n  - event: three\n")
	m.Start("counts", "i", "i")
	m.Event("one", "i", nil)
	m.Event("two", "i", nil)
	etcd, key := clustertest.Shared(t).Client(t), m.Root+"instance/i"
	is, err := etcd.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Put(t.Context(), key, strings.Replace(string(is.Kvs[0].Value), "{", `{"journalFrom":3,`, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Delete(t.Context(), m.Root+"journal/i/", clientv3.WithRange(m.Root+"journal/i/"+fmt.Sprintf("%012d", 3))); err != nil {
		t.Fatal(err)
	}
	part, err := m.Inspector.Variables(t.Context(), "i", 2, 3)
	if err != nil || part.First != 3 || part.Of[0].Gaps.Before != 3 || len(part.Of[0].Values) != 0 || len(part.Of[1].Values) != 1 || fmt.Sprint(part.Of[1].Values[0].Value) != "2" {
		t.Errorf("%+v, %v", part, err)
	}
	for _, at := range [][]int64{{2}, {1, 3}} {
		if _, err := m.Inspector.Variables(t.Context(), "i", at...); workflow.CodeOf(err) != workflow.CodeInvalid {
			t.Errorf("%v: %v", at, err)
		}
	}
}
