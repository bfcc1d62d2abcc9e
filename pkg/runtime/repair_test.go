package runtime_test

import (
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// repair does what weft fsck --repair does, beside a node.
func (m *member) repair() *etcdstore.Repairs {
	m.T.Helper()
	done, err := m.Store.Upkeep.Repair(m.T.Context(), func(id string) string { return m.Session.LockPrefix(cluster.InstanceLock(id)) })
	if err != nil {
		m.T.Fatal(err)
	}
	return done
}

// bad are the rules of what does not fit.
func (m *member) bad() (rules []string) {
	m.T.Helper()
	check, err := m.Store.Upkeep.Fsck(m.T.Context())
	if err != nil {
		m.T.Fatal(err)
	}
	for _, f := range check.Bad() {
		rules = append(rules, f.Rule)
	}
	return rules
}

// Whatever one record is damaged: it is repaired or set aside beside running nodes,
// which go on with all else and with what was held up by it.
func TestADamagedRecordIsRepairedBesideANode(t *testing.T) {
	t.Parallel()
	more, err := workflow.Hash(workflow.EventType, workflow.EventPayload("more"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, tt := range map[string]struct {
		at    string
		exact bool
		gone  bool   // the instance v is removed
		left  string // a rule of what people have to do
	}{
		"instance":           {at: "instance/v", exact: true, gone: true},
		"journal":            {at: "journal/v/"},
		"mail":               {at: "mailbox/" + shardIn("v", 64) + "/v/junk", exact: true},
		"mail of nobody":     {at: "mailbox/" + shardIn("nobody", 64) + "/nobody/junk", exact: true},
		"send":               {at: "send/" + shardIn("junk", 64) + "/junk", exact: true},
		"dead letter":        {at: "dead/junk", exact: true},
		"bookmark":           {at: "bookmark/" + more + "/-/v/"},
		"queue item":         {at: "queue/"},
		"gated":              {at: "queue/~gated/alone/-/0000000000000000001-junk", exact: true},
		"timer":              {at: "timer/"},
		"due timer":          {at: "timer/" + shardIn("v~junk", 16) + "/0000000000001/v~junk", exact: true},
		"gate":               {at: "gate/"},
		"definition":         {at: "definition/victim/head", exact: true},
		"version":            {at: "definition-version/victim/", left: "damaged"},
		"definition's index": {at: "definition-index/begins-a", exact: true},
		"trigger":            {at: "trigger/", left: "trigger-missing"},
		"route":              {at: "route/", left: "trigger-missing"},
		"schedule":           {at: "cron/"},
		"pause":              {at: "meta/pause", exact: true},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := clustertest.Namespace(t)
			m := newMember(t, name, "a")
			newMember(t, name, "b")
			m.Publish(ofAllKinds...)
			m.Start("victim", "v", "")
			m.Start("other", "o", "")
			m.Start("alone", "alone", "")
			m.Event("nothing", "", &runtime.Key{Scope: "s", Value: "k"})
			m.Sound()
			etcd := clustertest.Shared(t).Client(t)
			m.spoil(etcd, tt.at, tt.exact, "junk\x00")
			if rules := m.bad(); len(rules) != 1 || rules[0] != "damaged" {
				t.Errorf("found %v", rules)
			}
			done := m.repair()
			for _, rule := range m.bad() {
				if rule != tt.left {
					t.Errorf("left: %s", rule)
				}
			}
			if len(done.Done) == 0 && tt.left == "" {
				t.Error("nothing was done")
			}
			if again := m.repair(); len(again.Done) > 0 {
				t.Errorf("a second time: %+v", again.Done)
			}
			m.Event("more", "", nil)
			for id, left := range map[string]int{"o": 1, "v": 3} {
				if id == "v" && (tt.gone || kind == "version") {
					continue
				}
				eventually(t, "the event reaches "+id, func() bool {
					in, err := m.Inspector.Instance(t.Context(), id)
					return err == nil && len(in.Bookmarks) == left
				})
			}
			if _, err := m.Inspector.Instance(t.Context(), "v"); (workflow.CodeOf(err) == workflow.CodeInstanceNotFound) != tt.gone {
				t.Errorf("instance v: %v", err)
			}
			if kind == "definition" {
				if _, err := m.Catalog.PublishVersion(t.Context(), "victim", 1); err != nil {
					t.Error(err)
				}
				m.Start("victim", "again", "")
			}
			if left := m.bad(); slices.ContainsFunc(left, func(rule string) bool { return rule != tt.left }) {
				t.Errorf("at the end: %v", left)
			}
		})
	}
}

// Mail that cannot be read holds its instance up until it is set aside.
func TestMailThatIsSetAsideHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	m, b := newMember(t, name, "a"), newMember(t, name, "b")
	m.Publish(ofAllKinds...)
	m.Start("other", "o", "")
	etcd := clustertest.Shared(t).Client(t)
	release := b.hold("o")
	if got := m.Event("more", "", nil); len(got.Outcomes) != 1 || got.Outcomes[0].Outcome != "accepted" {
		t.Fatalf("it lies in no mailbox: %+v", got)
	}
	m.spoil(etcd, "mailbox/"+shardIn("o", 64)+"/o/junk", true, "junk")
	release()
	release = b.hold("o") // whoever took it up had to leave it
	if in, err := m.Inspector.Instance(t.Context(), "o"); err != nil || len(in.Bookmarks) != 2 {
		t.Errorf("it is not held up: %v, %v", in.Bookmarks, err)
	}
	release()
	m.repair()
	eventually(t, "the event is applied", func() bool {
		in, err := m.Inspector.Instance(t.Context(), "o")
		return err == nil && len(in.Bookmarks) == 1
	})
	m.Sound()
}

// An event that was sent while a bookmark was gone reaches it when it is back.
func TestABookmarkThatIsPutAgainMeetsWhatWasQueued(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(ofAllKinds...)
	m.Start("other", "o", "")
	etcd := clustertest.Shared(t).Client(t)
	more, err := workflow.Hash(workflow.EventType, workflow.EventPayload("more"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Delete(t.Context(), m.Root+"bookmark/"+more+"/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if got := m.Event("more", "", nil); got.Queued == "" {
		t.Fatalf("it is not queued: %+v", got)
	}
	m.repair()
	eventually(t, "the event is applied", func() bool {
		in, err := m.Inspector.Instance(t.Context(), "o")
		return err == nil && len(in.Bookmarks) == 1
	})
	m.Sound()
}

// A parent goes on when its damaged child is removed, and a damaged parent's child
// runs on, named.
func TestFamiliesOfADamagedInstance(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"child", "parent"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			m := newMember(t, clustertest.Namespace(t), "a")
			m.Publish(ofAllKinds...)
			child := m.waitingChild("p")
			etcd := clustertest.Shared(t).Client(t)
			at := map[string]string{"child": child, "parent": "p"}[who]
			m.spoil(etcd, "instance/"+at, true, "junk")
			done := m.repair()
			if len(done.Done) != 1 {
				t.Fatalf("done %+v", done.Done)
			}
			if who == "child" {
				eventually(t, "the parent ends", func() bool {
					in, err := m.Inspector.Instance(t.Context(), "p")
					return err == nil && in.Status == workflow.StatusFinished
				})
			} else {
				if !strings.Contains(done.Done[0].Hint, child) {
					t.Errorf("it says %q", done.Done[0].Hint)
				}
				if in, err := m.Inspector.Instance(t.Context(), child); err != nil || in.Status != workflow.StatusRunning {
					t.Errorf("the child: %v, %v", in, err)
				}
			}
			for _, key := range keysWith(t, etcd, m.Root, at) {
				if !strings.HasPrefix(key, "idem") && !strings.HasPrefix(key, "damaged/") && who == "child" {
					t.Errorf("%s is left", key)
				}
			}
			m.Sound()
		})
	}
}
