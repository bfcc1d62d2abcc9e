package runtime_test

import (
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Found by test/chaos: the repeat of a start that is durable and did not run yet
// ended the node when its instance could not be read.
func TestARepeatedStartIsAcceptedWhenItsInstanceCannotBeRead(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, shortReply)[0]
	m.Publish("id: d\nroot:\n  - writeLine: once\n")
	key := &runtime.Key{Scope: "s", Value: "v", BodyHash: "b"}
	ck := &workflow.CommandKey{Name: store.KeyName(key.Scope, key.Value), BodyHash: key.BodyHash}
	now := time.Now().UTC()
	cmd := workflow.Command{ID: ck.Name, Kind: workflow.CommandStart, CreatedAt: now, Key: ck, Start: &workflow.Start{DefinitionID: "d", Version: 1}}
	answer := &store.Answer{BodyHash: ck.BodyHash, Targets: []store.Effect{{InstanceID: "i", Outcome: workflow.OutcomeAccepted}}}
	// Without a hint, so that nobody works it before a sweep finds it.
	out, err := m.Store.Stimuli.Create(t.Context(), &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, now), Command: cmd}, answer)
	if err != nil || out != etcdstore.Created {
		t.Fatal(out, err)
	}
	unread := m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		return !c.Mutating && c.Touches(m.Root+"instance/")
	}})
	res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "d", InstanceID: "i", Key: key})
	if unread.Fired() == 0 {
		t.Error("nothing reads the instance: nothing is shown")
	}
	unread.Disarm()
	if err != nil || !res.Accepted || res.Instance.ID != "i" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestARefusedStartIsRefusedToItsRepeatToo(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	m.Start("waits", "taken", "somebody's")
	req := runtime.StartRequest{DefinitionID: "waits", InstanceID: "taken", Key: &runtime.Key{Scope: "s", Value: "v", BodyHash: "b"}}
	for range 2 {
		if res, err := m.Starts.Execute(t.Context(), req); workflow.CodeOf(err) != workflow.CodeInstanceExists {
			t.Errorf("got %+v, %v", res, err)
		}
	}
}

// A delete that lies in the mailbox and a start in hand are one burst.
func TestAStartThatMeetsTheDeleteOfItsIDStarts(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	m.Start("waits", "one", "old")
	// Without a hint, so that nobody works it before a sweep finds it twice.
	out, _, err := m.Store.Stimuli.PutMail(t.Context(), "one", workflow.Command{ID: "d", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}, nil)
	if err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", InstanceID: "one", CorrelationID: "new"})
	if err != nil || res.Instance.ID != "one" || res.Instance.CorrelationID != "new" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if in, err := m.Inspector.Instance(t.Context(), "one"); err != nil || in.CorrelationID != "new" || in.SubStatus != workflow.Suspended {
		t.Errorf("got %+v, %v", in, err)
	}
	m.Sound()
}

// A repeat of a send sends nothing: no node remembers it as another event.
func TestTheRepeatOfASendIsNoEventOfItsOwn(t *testing.T) {
	t.Parallel()
	members := newCluster(t, 2)
	a, b := members[0], members[1]
	a.Publish(membertest.Waits)
	a.Start("waits", "met", "met")
	for name, correlation := range map[string]string{"it met": "met", "it waits": "nobody"} {
		st := workflow.EventStimulus("go", nil)
		st.CorrelationID = correlation
		key := &runtime.Key{Scope: "s", Value: name, BodyHash: "b"}
		of := func(m *member) (at []time.Time) {
			for _, e := range m.Recent().Like([]string{"go"}) {
				if e.CorrelationID == correlation {
					at = append(at, e.At)
				}
			}
			return at
		}
		if _, err := a.Events.Send(t.Context(), st, key); err != nil {
			t.Fatal(err)
		}
		first := of(a)
		if len(first) != 1 {
			t.Fatalf("%s: remembered %v", name, first)
		}
		for _, m := range []*member{a, b, a} {
			if _, err := m.Events.Send(t.Context(), st, key); err != nil {
				t.Fatal(err)
			}
		}
		if got := of(a); len(got) != 1 || !got[0].Equal(first[0]) {
			t.Errorf("%s: remembered %v, and was sent at %v", name, got, first)
		}
		if got := of(b); len(got) > 0 {
			t.Errorf("%s: the other node remembers %v", name, got)
		}
	}
}
