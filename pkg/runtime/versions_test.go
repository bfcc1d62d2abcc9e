package runtime_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// newer are the activities of a program of the next version: one more type.
func newer(t testing.TB) *engine.Registry {
	t.Helper()
	r := activities.Default()
	err := engine.RegisterFunc(r, workflow.Descriptor{Type: "test.New"},
		func(context.Context, *engine.Execution, struct{}) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// isNewer makes a member one of the next version.
func isNewer(t testing.TB) func(*membertest.Config) {
	t.Helper()
	return func(c *membertest.Config) { c.Registry = newer(t) }
}

// ofTheNewer are definitions that only the newer program can run, in all the ways
// in which work comes to an instance.
var ofTheNewer = []string{
	"id: timed\nroot:\n  - delay: 1s\n  - test.New:\n  - writeLine: done\n",
	"id: waits\nroot:\n  - event: go\n  - test.New:\n  - writeLine: done\n",
	"id: child\nroot:\n  - test.New:\n  - writeLine: done\n",
	"id: parent\nroot:\n  - executeWorkflow: {workflowDefinitionId: child, waitForCompletion: true}\n  - test.New:\n  - writeLine: done\n",
	"id: triggered\nroot:\n  - event: born\n    trigger: true\n  - test.New:\n  - writeLine: done\n",
	"id: single\noptions: {activation: CorrelatedSingleton}\nroot:\n  - test.New:\n  - writeLine: done\n",
}

// One node of three has the program that can run what is published. All work comes
// by the other two, and all of it is done, by the one.
func TestWorkOfANewerProgramIsLeftToANodeThatHasIt(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	able := newMember(t, name, "n", isNewer(t))
	older := []*member{newMember(t, name, "a"), newMember(t, name, "b")}
	able.Publish(ofTheNewer...)
	const each = 2
	var ids []string
	for i := range each {
		by := older[i%len(older)]
		for _, def := range []string{"timed", "waits", "parent", "single"} {
			id := fmt.Sprintf("%s-%d", def, i)
			eventually(t, "the older node starts "+id, func() bool {
				_, err := by.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, CorrelationID: id})
				if err != nil && workflow.CodeOf(err) != workflow.CodeInstanceExists {
					t.Fatal(err)
				}
				return true
			})
			ids = append(ids, id)
		}
		ids = append(ids, by.Event("born", fmt.Sprint("born-", i), nil).Outcomes[0].InstanceID)
	}
	for i := range each {
		id := fmt.Sprintf("waits-%d", i)
		eventually(t, id+" waits", func() bool {
			in, err := able.Inspector.Instance(t.Context(), id)
			return err == nil && len(in.Bookmarks) == 1
		})
		older[(i+1)%len(older)].Event("go", id, nil)
	}
	for _, id := range ids {
		if in := able.Finished(id); in.SubStatus != workflow.Finished || len(in.Incidents) > 0 {
			t.Errorf("%s: %s %v", id, in.SubStatus, in.Incidents)
		}
		if lines := able.Lines(id); len(lines) != 1 {
			t.Errorf("%s wrote %q", id, lines)
		}
	}
	able.NothingDead()
}

// While no live node can run it, what is durable waits, and what is in hand is
// refused with what is missing. A node that can does all of it.
func TestWorkThatNoLiveNodeCanRunWaits(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	able := newMember(t, name, "n", isNewer(t))
	able.Publish(ofTheNewer...)
	able.Publish("id: at-once\nroot:\n  - timer: 1s\n    trigger: true\n  - test.New:\n  - writeLine: done\n")
	var ids []string
	for i := range 3 {
		id := fmt.Sprint("timed-", i)
		able.Start("timed", id, id)
		able.Start("waits", fmt.Sprint("waits-", i), fmt.Sprint("waits-", i))
		ids = append(ids, id)
	}
	able.Leave()
	tries := tally{}
	a, b := newMember(t, name, "a", tries.count), newMember(t, name, "b")
	started := time.Now()
	_, err := a.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "child"})
	if workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("a start that nobody can run: %v", err)
	}
	t.Log(err)
	st := workflow.EventStimulus("go", nil)
	st.CorrelationID = "waits-0"
	if _, err := b.Events.Send(t.Context(), st, nil); workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("an event that nobody can apply: %v", err)
	}
	if _, err := b.Commands.Cancel(t.Context(), "waits-1", nil); workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("a cancel that nobody can apply: %v", err)
	}
	// Long enough that each of them was tried more often than an attempt is allowed.
	eventually(t, "the timers have fired and schedules have started instances", func() bool {
		page, err := a.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "at-once"}, runtime.Paging{})
		return err == nil && len(page.Items) > 3 && time.Since(started) > 12*time.Second
	})
	for _, id := range ids {
		in, err := a.Inspector.Instance(t.Context(), id)
		if err != nil || in.Status != workflow.StatusRunning || len(in.Incidents) > 0 {
			t.Errorf("%s: %+v, %v", id, in, err)
		}
	}
	a.NothingDead()
	mail, err := a.Store.Instances.Load(t.Context(), ids[0], "", "")
	if err != nil || len(mail.Mail) != 1 || mail.Mail[0].Command.Attempts != 0 {
		t.Errorf("the mailbox of %s: %+v, %v", ids[0], mail, err)
	}
	if n := tries.of(ids[0]); n < 2 || n > 6 {
		t.Errorf("a node that cannot run it tried %d times in 12 s", n)
	}
	again := newMember(t, name, "n", isNewer(t))
	again.Event("go", "waits-0", nil)
	for _, id := range append(ids, "waits-0") {
		if in := again.Finished(id); in.SubStatus != workflow.Finished || len(in.Incidents) > 0 {
			t.Errorf("%s: %s %v", id, in.SubStatus, in.Incidents)
		}
	}
}

// tally counts how often a node took up the mailbox of an instance.
type tally struct {
	mu    sync.Mutex
	tries map[string]int
}

func (c *tally) count(cfg *membertest.Config) {
	open := cfg.Client
	cfg.Client = func(id string) client.Client { return counted{open(id), c, id} }
}

func (c *tally) of(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries[id]
}

type counted struct {
	client.Client
	tally *tally
	id    string
}

func (c counted) Work(ctx context.Context, recovered bool, placed func()) error {
	c.tally.mu.Lock()
	if c.tally.tries == nil {
		c.tally.tries = map[string]int{}
	}
	c.tally.tries[c.id]++
	c.tally.mu.Unlock()
	return c.Client.Work(ctx, recovered, placed)
}

// stamp gives every record of the cluster a field that only a newer program knows,
// and returns what they were and what they are.
func (m *member) stamp() (was, is map[string]string) {
	m.T.Helper()
	etcd := clustertest.Shared(m.T).Client(m.T)
	all, err := etcd.Get(m.T.Context(), m.Root, clientv3.WithPrefix())
	if err != nil {
		m.T.Fatal(err)
	}
	was, is = map[string]string{}, map[string]string{}
	for _, kv := range all.Kvs {
		key, value := string(kv.Key), string(kv.Value)
		switch kind, which, _ := strings.Cut(strings.TrimPrefix(key, m.Root), "/"); kind {
		case "nodes", "ability", "lock", "idem", "idem-expiry", "journal":
			continue // of sessions, or never read to be written again
		case "meta":
			if which != "age" && which != "balance" {
				continue // written once
			}
		}
		if !strings.HasPrefix(value, "{") {
			continue
		}
		was[key], is[key] = value, `{"newer":{"x":[1,2]},`+value[1:]
		if _, err := etcd.Put(m.T.Context(), key, is[key]); err != nil {
			m.T.Fatal(err)
		}
	}
	return was, is
}

func isKey(key string) func(*mvccpb.KeyValue) bool {
	return func(kv *mvccpb.KeyValue) bool { return string(kv.Key) == key }
}

// What a newer program wrote, with a field that this one does not know, stays as
// it is to the byte, whatever time brings due and whoever asks for what. Once this
// program can read all of it, all of it is done.
func TestRecordsOfANewerProgramStayAsTheyAre(t *testing.T) {
	t.Parallel()
	a := newCluster(t, 1, func(c *membertest.Config) {
		c.QueueTTL, c.AgeEvery, c.BalanceEvery = 4*time.Second, time.Second, time.Second
	})[0]
	a.Publish("id: waits\nroot:\n  - event: go\n  - writeLine: done\n", "id: timed\nroot:\n  - delay: 8s\n  - writeLine: done\n",
		"id: born\nroot:\n  - event: born\n    trigger: true\n  - writeLine: done\n", "id: often\nroot:\n  - timer: 3s\n    trigger: true\n  - writeLine: tick\n",
		"id: door\nroot:\n  - httpEndpoint: {path: door, supportedMethods: [GET]}\n    trigger: true\n")
	now := time.Now().UTC()
	st := workflow.EventStimulus("nobody", nil)
	if ok, err := a.Store.Stimuli.BurySend(t.Context(), &store.Send{ID: "none"}, store.DeadLetter{ID: "dead", Reason: workflow.DeadExpired, Stimulus: &st, CreatedAt: now}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	a.Start("waits", "w", "w")
	a.Start("waits", "m", "m")
	a.Start("waits", "l", "l")
	a.Start("timed", "t", "t")
	a.Event("nobody", "", nil)
	if ok, err := a.Store.Webhooks.PutWebhook(t.Context(), &store.Webhook{Name: "hook", On: []store.WebhookKind{store.WebhookEnded}}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	etcd := clustertest.Shared(t).Client(t)
	eventually(t, "the age and the balance are written", func() bool {
		resp, err := etcd.Get(t.Context(), a.Root+"meta/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		return err == nil && slices.ContainsFunc(resp.Kvs, isKey(a.Root+"meta/age")) && slices.ContainsFunc(resp.Kvs, isKey(a.Root+"meta/balance"))
	})
	if err := a.Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	born := workflow.EventStimulus("born", nil)
	if err := a.Store.Stimuli.PutSend(t.Context(), store.Send{ID: "s", Stimulus: born, CreatedAt: now}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Store.Stimuli.PutMail(t.Context(), "m", workflow.Command{ID: "c", Kind: workflow.CommandCancel, CreatedAt: now}, nil); err != nil {
		t.Fatal(err)
	}
	some := workflow.EventStimulus("go", nil)
	some.CorrelationID = "l"
	a.AcceptList("list", some, a.LookFor(some))
	sends, err := etcd.Get(t.Context(), a.Root+"send/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range sends.Kvs {
		if below, ok := strings.CutSuffix(strings.TrimPrefix(string(kv.Key), a.Root+"send/"), "/list"); ok {
			if _, err := etcd.Put(t.Context(), a.Root+"sent/"+below+"/list", `{"done":0}`); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := a.Store.Jobs.Create(t.Context(), &store.Job{ID: "job", Kind: workflow.CommandCancel, Filter: "def:nothing", State: store.JobRunning, Write: "w1", CreatedAt: now, UpdatedAt: now}); err != nil {
		t.Fatal(err)
	}
	was, is := a.stamp()
	kinds := map[string]bool{}
	for key := range is {
		kind, _, _ := strings.Cut(strings.TrimPrefix(key, a.Root), "/")
		kinds[kind] = true
	}
	for _, kind := range []string{"instance", "mailbox", "send", "dead", "bookmark", "queue", "timer", "cron", "definition", "definition-version", "definition-content", "definition-index", "trigger", "route",
		"sent", "job", "webhook", "webhook-at", "meta"} {
		if !kinds[kind] {
			t.Errorf("there was no record of %s to look at: %v", kind, kinds)
		}
	}
	if err := a.Pauses.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	stays := time.Now().Add(9 * time.Second) // all is due for seconds then
	eventually(t, "all is due", func() bool {
		goSt := workflow.EventStimulus("go", nil)
		goSt.CorrelationID = "w"
		_, sent := a.Events.Send(t.Context(), goSt, nil)
		_, started := a.Events.Send(t.Context(), born, nil)
		_, cancelled := a.Commands.Cancel(t.Context(), "w", nil)
		_, replayed := a.Letters.ReplayDeadLetter(t.Context(), "dead", repair.Edit{}, nil)
		_, published := a.Catalog.Publish(t.Context(), catalog.PublishRequest{Source: []byte("id: waits\nroot:\n  - event: went\n"), Publish: true})
		retracted := a.Catalog.Retract(t.Context(), "often")
		for i, err := range []error{sent, started, cancelled, replayed, published, retracted} {
			if workflow.CodeOf(err) != workflow.CodeNotRunnable {
				t.Fatalf("call %d on what a newer program wrote: %v", i, err)
			}
		}
		return time.Now().After(stays)
	})
	for key, want := range is {
		kv, err := etcd.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if len(kv.Kvs) != 1 || string(kv.Kvs[0].Value) != want {
			t.Errorf("%s did not stay as it was: %v", strings.TrimPrefix(key, a.Root), kv.Kvs)
		}
	}
	for key, value := range was {
		if _, err := etcd.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	a.Event("go", "w", nil)
	for _, id := range []string{"w", "t", "m", "l"} {
		a.Finished(id)
	}
	eventually(t, "the stimulus has started its instance, the schedule another", func() bool {
		ticks, err := a.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "often"}, runtime.Paging{})
		if err != nil {
			t.Fatal(err)
		}
		borns, err := a.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "born"}, runtime.Paging{})
		return err == nil && len(ticks.Items) > 0 && len(borns.Items) == 1
	})
}

// An import that no live node can read is refused, also where the instance is busy:
// from the mailbox it would keep all that comes behind it.
func TestAnImportThatNobodyCanReadIsInNobodysWay(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	able := newMember(t, name, "n", isNewer(t))
	c := []*member{newMember(t, name, "a", shortReply), newMember(t, name, "b")}
	able.Publish(ofTheNewer...)
	c[0].Publish("id: plain\nroot:\n  - event: on\n  - writeLine: done\n")
	c[0].Start("plain", "i", "i")
	of, err := c[0].Inspector.Export(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	format, program := of, of
	format.State = regexp.MustCompile(`"v":[0-9]+`).ReplaceAll(of.State, []byte(`"v":999`))
	program.Instance.DefinitionID, program.Instance.Version = "child", 1
	able.Leave()
	eventually(t, "the older nodes are alone", func() bool {
		members := c[0].Session.Members() // two may also be this one and the newer, before the other one is seen
		return len(members) == 2 && !slices.ContainsFunc(members, func(n cluster.Node) bool { return n.ID == "n" })
	})
	for what, in := range map[string]runtime.StateExport{"a format": format, "a definition": program} {
		release := c[1].hold("i")
		if _, err := c[0].Commands.Import(t.Context(), "i", in, 0); workflow.CodeOf(err) != workflow.CodeNotRunnable {
			t.Errorf("%s that nobody can read, to a busy instance: %v", what, err)
		}
		release()
		if _, err := c[0].Commands.Import(t.Context(), "i", in, 0); workflow.CodeOf(err) != workflow.CodeNotRunnable {
			t.Errorf("%s that nobody can read, to an idle instance: %v", what, err)
		}
	}
	c[1].Event("on", "i", nil)
	if in := c[0].Finished("i"); in.SubStatus != workflow.Finished || len(in.Incidents) > 0 {
		t.Errorf("%s %v", in.SubStatus, in.Incidents)
	}
	c[0].NothingDead()
}

// A migration to a version that no live node can run is refused, also where the instance is
// busy, and also by a job: from the mailbox it would keep all that comes behind it.
func TestAMigrationThatNobodyCanRunIsInNobodysWay(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	able := newMember(t, name, "n", isNewer(t))
	c := []*member{newMember(t, name, "a", shortReply), newMember(t, name, "b")}
	c[0].Publish("id: plain\nroot:\n  - event: on\n    id: on\n  - writeLine: done\n")
	c[0].Start("plain", "i", "i")
	able.Publish("id: plain\nroot:\n  - event: on\n    id: on\n  - test.New:\n  - writeLine: done\n")
	able.Leave()
	eventually(t, "the older nodes are alone", func() bool {
		members := c[0].Session.Members()
		return len(members) == 2 && !slices.ContainsFunc(members, func(n cluster.Node) bool { return n.ID == "n" })
	})
	to := &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: 2}}}
	release := c[1].hold("i")
	if _, err := c[0].Commands.Alter(t.Context(), "i", to, nil); workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("of a busy instance: %v", err)
	}
	release()
	if _, err := c[0].Commands.Alter(t.Context(), "i", to, nil); workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("of an idle instance: %v", err)
	}
	if _, err := c[0].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Alter: to, Filter: find.Filter{DefinitionID: "plain"}}); workflow.CodeOf(err) != workflow.CodeNotRunnable {
		t.Errorf("of all instances: %v", err)
	}
	c[1].Event("on", "i", nil)
	if in := c[0].Finished("i"); in.SubStatus != workflow.Finished || in.Version != 1 || len(in.Incidents) > 0 {
		t.Errorf("%+v", in)
	}
	c[0].NothingDead()
}

// The state of a newer engine is left as it is too; who asks is told the format.
func TestAStateOfANewerProgramStaysAsItIs(t *testing.T) {
	t.Parallel()
	a := newCluster(t, 1)[0]
	a.Publish("id: waits\nroot:\n  - event: go\n  - writeLine: done\n")
	a.Start("waits", "w", "w")
	etcd, key := clustertest.Shared(t).Client(t), a.Root+"instance/w"
	kv, err := etcd.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	was := string(kv.Kvs[0].Value)
	newer := strings.Replace(was, `"state":{"v":1,`, `"state":{"v":3,"newer":true,`, 1)
	if newer == was {
		t.Fatalf("no state of format 1: %s", was)
	}
	if _, err := etcd.Put(t.Context(), key, newer); err != nil {
		t.Fatal(err)
	}
	if out, _, err := a.Store.Stimuli.PutMail(t.Context(), "w", workflow.Command{ID: "c", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}, nil); err != nil {
		t.Fatal(out, err)
	}
	a.Wakeups.Hint([]string{"w"}, false)
	st := workflow.EventStimulus("go", nil)
	st.CorrelationID = "w"
	if _, err := a.Events.Send(t.Context(), st, nil); workflow.CodeOf(err) != workflow.CodeNotRunnable || !strings.Contains(err.Error(), "format 3") {
		t.Errorf("an event for it: %v", err)
	}
	if kv, err = etcd.Get(t.Context(), key); err != nil || string(kv.Kvs[0].Value) != newer {
		t.Errorf("it did not stay as it was: %v %v", kv, err)
	}
	a.NothingDead()
	if _, err := etcd.Put(t.Context(), key, was); err != nil {
		t.Fatal(err)
	}
	if in := a.Finished("w"); in.SubStatus != workflow.Cancelled {
		t.Errorf("%+v", in)
	}
}
