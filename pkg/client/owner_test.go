package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

var both = []string{cluster.ModeLocal, cluster.ModeDistributed}

// slow makes late durability come when the caller's context ends, not before.
func slow(c *client.Config) { c.LateAfter = time.Hour }

// inBackground runs Do and hands over its result.
func inBackground(ctx context.Context, c client.Client, cmd workflow.Command) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		r, err := c.Do(ctx, cmd)
		out <- answer{r, err}
	}()
	return out
}

type answer struct {
	client.Result
	err error
}

// accepted runs Do for a caller that goes away when its burst is at v, so that the command is
// made durable.
func accepted(t *testing.T, c client.Client, cmd workflow.Command, v *valve) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	got := inBackground(ctx, c, cmd)
	<-v.entered
	leave()
	if r := <-got; r.err != nil || !r.Accepted {
		t.Fatalf("want accepted, got %+v, %v", r.Result, r.err)
	}
}

func TestARequestThatGoesAwayDoesNotStopItsBurst(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(through(), line("done"))))
			m := w.member("n1", mode, slow)
			accepted(t, m.open("i"), startOf("d", "c1"), w.valve)
			rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
			if rec == nil || rec.Header.SubStatus != workflow.Executing {
				t.Fatalf("accepted and not visible: %+v", rec)
			}
			w.valve.pass <- struct{}{}
			eventually(t, "the burst ends", func() bool {
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				return rec.Header.SubStatus == workflow.Finished
			})
			if m.count("late_durability_total", "") != 1 {
				t.Error("late durability not counted")
			}
			if l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t); len(l.Mail) != 0 {
				t.Errorf("mail left: %+v", l.Mail)
			}
		})
	}
}

func TestADeadNodesAcceptedWorkIsTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(line("in"), through(), line("out"))))
	a, b := w.member("a", cluster.ModeDistributed, slow), w.member("b", cluster.ModeDistributed)
	accepted(t, a.open("i"), startOf("d", "c1"), w.valve)
	// The node dies with its work: its lease ends, its burst never commits.
	must(w.etcd.Revoke(t.Context(), a.session.Epoch().Lease))(t)
	eventually(t, "the lock is free", func() bool { busy, err := b.locked("i"); return err == nil && !busy })
	done := make(chan error, 1)
	go func() { done <- b.open("i").Work(t.Context(), true, nil) }()
	<-w.valve.entered
	w.valve.pass <- struct{}{} // one for the new owner,
	w.valve.pass <- struct{}{} // one for the zombie, whose burst goes on if nobody told it
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	rec := must(b.store.Reader.Instance(t.Context(), "i"))(t)
	if rec.Header.SubStatus != workflow.Finished || rec.Seq != 1 {
		t.Errorf("got %+v", rec)
	}
	if b.count("takeovers_total", "") != 1 {
		t.Error("takeover not counted")
	}
}

// The journal tells which node had an instance when.
func TestTheJournalNamesTheNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("a"), waitFor("b"), through(), line("out"))))
	a, b := w.member("a", cluster.ModeDistributed, slow), w.member("b", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	r = must(b.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
	accepted(t, a.open("i"), resumeOf("c3", r.Instance, 0), w.valve)
	// The node dies with its work, which the other takes over.
	must(w.etcd.Revoke(t.Context(), a.session.Epoch().Lease))(t)
	eventually(t, "the lock is free", func() bool { busy, err := b.locked("i"); return err == nil && !busy })
	w.valve.pass <- struct{}{} // for either
	w.valve.pass <- struct{}{}
	if err := b.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := commits(t, b.store.Reader, "i")
	if err != nil || len(entries) != 3 {
		t.Fatalf("%+v, %v", entries, err)
	}
	fence := int64(-1)
	for i, want := range []string{"a c1", "b c2", "b c3"} {
		e := entries[i]
		if e.Node+" "+strings.Join(e.Commands, ",") != want || e.Sequence != int64(i+1) || e.Fence <= fence || e.Ended.Before(e.Began) {
			t.Errorf("entry %d: %+v, want %s", i+1, e, want)
		}
		fence = e.Fence
	}
}

func TestAZombieNeverCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(through(), line("out"))))
	// The node does not learn of its loss: its session is cut off from the news,
	// as a paused one is, so only the fence is between it and the store.
	a := w.member("a", cluster.ModeDistributed, slow)
	got := inBackground(t.Context(), a.open("i"), startOf("d", "c1"))
	<-w.valve.entered
	fence := lockKey(t, w)
	must(w.etcd.Delete(t.Context(), fence))(t)
	w.valve.pass <- struct{}{}
	r := <-got
	if workflow.CodeOf(r.err) != workflow.CodeUnavailable {
		t.Fatalf("want unavailable, got %+v, %v", r.Result, r.err)
	}
	if rec := must(a.store.Reader.Instance(t.Context(), "i"))(t); rec != nil {
		t.Errorf("the zombie committed: %+v", rec)
	}
	if a.count("commits_total", "fenced") != 1 {
		t.Error("fenced commit not counted")
	}
	all := a.Refusals("")
	if len(all) != 1 || all[0].InstanceID != "i" || all[0].Sequence != 1 || all[0].Fence == 0 || !slices.Equal(all[0].Commands, []string{"c1"}) || all[0].At.Before(all[0].Began) {
		t.Errorf("refusals %+v", all)
	}
	if of, other := a.Refusals("i"), a.Refusals("j"); len(of) != 1 || other != nil {
		t.Errorf("of it %+v, of another %+v", of, other)
	}
}

// lockKey finds the one lock key of a world.
func lockKey(t *testing.T, w *world) string {
	t.Helper()
	resp := must(w.etcd.Get(t.Context(), cluster.Root(w.name)+"lock/", clientv3.WithPrefix()))(t)
	if len(resp.Kvs) != 1 {
		t.Fatalf("%d lock keys", len(resp.Kvs))
	}
	return string(resp.Kvs[0].Key)
}

func TestABusyInstanceTakesItsMailBeforeItLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("first"), through(), waitFor("second"), line("end"))))
	a, b := w.member("a", cluster.ModeDistributed, slow), w.member("b", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	got := inBackground(t.Context(), a.open("i"), resumeOf("c2", r.Instance, 0))
	<-w.valve.entered
	if _, err := b.open("i").Do(t.Context(), resumeOf("c3", r.Instance, 0)); !errors.Is(err, client.ErrBusy) {
		t.Fatalf("want busy, got %v", err)
	}
	// What comes meanwhile for the bookmark that is about to be burned goes back
	// to be resolved, and is not lost.
	st := workflow.EventStimulus("second", nil)
	cmd := resumeOf("c3", r.Instance, 0)
	cmd.Stimulus = &st
	out, _, err := b.store.Stimuli.PutMail(t.Context(), "i", cmd, nil)
	if err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	w.valve.pass <- struct{}{}
	if r := <-got; r.err != nil {
		t.Fatal(r.err)
	}
	// The command's own bookmark is gone, and the instance waits for just this
	// stimulus by then.
	eventually(t, "the mail is worked under the same lock", func() bool {
		rec := must(a.store.Reader.Instance(t.Context(), "i"))(t)
		return rec.Header.SubStatus == workflow.Finished
	})
	if a.count("commits_total", "kept_lock") == 0 {
		t.Error("the lock was not kept for the mail")
	}
	if e := must(b.store.Stimuli.Effect(t.Context(), "i", "c3"))(t); e == nil || e.Outcome != workflow.OutcomeResumed {
		t.Errorf("the sender reads %+v", e)
	}
}

func TestLostAnswersOfCommits(t *testing.T) {
	t.Parallel()
	commitOf := func(c clustertest.Call) bool {
		for _, k := range c.Puts {
			if strings.Contains(k, "/journal/") {
				return true
			}
		}
		return false
	}
	for _, c := range []struct {
		fault    clustertest.Fault
		outcome  string
		resolved float64
	}{
		{clustertest.LoseAnswer, "resolved", 1},
		{clustertest.FailBefore, "resolved", 0},
		{clustertest.ApplyTwice, "resolved", 1},
	} {
		for _, mode := range both {
			t.Run(fmt.Sprintf("%d/%s", c.fault, mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("d", seq(line("one"), waitFor("go"), line("two"))))
				m := w.member("a", mode)
				armed := m.faults.Add(clustertest.Rule{Fault: c.fault, Match: commitOf, Times: 2})
				r := must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
				r = must(m.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
				if r.Instance.SubStatus != workflow.Finished {
					t.Errorf("got %+v", r.Instance)
				}
				if armed.Fired() == 0 {
					t.Fatal("the fault never happened")
				}
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				if rec.Seq != 2 {
					t.Errorf("sequence %d, want 2", rec.Seq)
				}
				if got := m.count("commits_total", c.outcome); c.resolved > 0 && got == 0 {
					t.Errorf("no commit counted as %s", c.outcome)
				}
				if l := m.written(); len(l) != 2 {
					t.Errorf("lines %q", l)
				}
			})
		}
	}
}

func TestAcquisitionIsRetriedAndNothingElse(t *testing.T) {
	t.Parallel()
	locking := func(c clustertest.Call) bool {
		for _, k := range c.Puts {
			if strings.Contains(k, "/lock/") {
				return true
			}
		}
		return false
	}
	for _, failures := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(line("one"))))
			m := w.member("a", cluster.ModeDistributed)
			armed := m.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: locking, Times: failures})
			_, err := m.open("i").Do(t.Context(), startOf("d", "c1"))
			if armed.Fired() != failures {
				t.Errorf("%d attempts failed, want %d", armed.Fired(), failures)
			}
			if failures < 4 {
				if err != nil {
					t.Fatal(err)
				}
				if got := m.count("lock_retries_total", ""); got != float64(failures) {
					t.Errorf("%v retries counted, want %d", got, failures)
				}
				return
			}
			if workflow.CodeOf(err) != workflow.CodeUnavailable || !strings.Contains(err.Error(), "4 attempts") {
				t.Errorf("want unavailable after 4 attempts, got %v", err)
			}
			if m.count("lock_retries_exhausted_total", "") != 1 {
				t.Error("exhaustion not counted")
			}
		})
	}
}

func TestAHotInstanceBatches(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			const senders = 50
			kids := make([]*workflow.Activity, senders)
			for i := range kids {
				kids[i] = waitFor(fmt.Sprintf("e%d", i))
			}
			w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: kids}))
			m := w.member("a", mode)
			r := must(m.open("i").Do(t.Context(), startOf("d", "c0")))(t)
			before := m.count("commits_total", "")
			var got []<-chan answer
			for i := range senders {
				got = append(got, inBackground(t.Context(), m.open("i"), resumeOf(fmt.Sprintf("c%d", i+1), r.Instance, i)))
			}
			for _, g := range got {
				if a := <-g; a.err != nil || a.Effect.Outcome != workflow.OutcomeResumed {
					t.Errorf("got %+v, %v", a.Result, a.err)
				}
			}
			rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
			if rec.Header.SubStatus != workflow.Finished {
				t.Errorf("got %+v", rec.Header)
			}
			if commits := m.count("commits_total", "") - before; commits > senders/2 {
				t.Errorf("%v commits for %d events", commits, senders)
			}
		})
	}
}

func TestAKeyedCallTakesEffectOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), line("moved"))))
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	cmd := resumeOf("k1", r.Instance, 0)
	cmd.Key = &workflow.CommandKey{Name: "k1", BodyHash: "h"}
	first := must(a.open("i").Do(t.Context(), cmd))(t)
	if first.Effect.Outcome != workflow.OutcomeResumed {
		t.Fatalf("got %+v", first)
	}
	second := must(b.open("i").Do(t.Context(), cmd))(t)
	if second.Answer == nil || second.Answer.BodyHash != "h" || second.Answer.Targets[0].Outcome != workflow.OutcomeResumed {
		t.Errorf("the repeat got %+v", second)
	}
	if out, _, err := b.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil || out != etcdstore.PutConsumed {
		t.Errorf("the repeat went into the mailbox: %v, %v", out, err)
	}
}

// That a command was begun by one more node is durable before it runs: it may take
// this node with it as well.
func TestATakeoverIsCountedBeforeItRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), through())))
	a := w.member("a", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	if out, _, err := a.store.Stimuli.PutMail(t.Context(), "i", resumeOf("c2", r.Instance, 0), nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	worked := make(chan error, 1)
	go func() { worked <- a.open("i").Work(t.Context(), true, nil) }()
	<-w.valve.entered
	if l := must(a.store.Instances.Load(t.Context(), "i", "", ""))(t); len(l.Mail) != 1 || l.Mail[0].Command.Attempts != 1 {
		t.Errorf("while it runs the mailbox has %+v", l.Mail)
	}
	w.valve.pass <- struct{}{}
	if err := <-worked; err != nil {
		t.Error(err)
	}
}

// A command of a stimulus for several whose bookmark is gone is for its instance
// still: the others got their own.
func TestOneOfSeveralGoesBackToItsInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), waitFor("more"))))
	a := w.member("a", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	must(a.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
	st := workflow.EventStimulus("go", nil)
	for _, several := range []bool{true, false} {
		cmd := resumeOf(fmt.Sprint("several-", several), r.Instance, 0)
		cmd.Stimulus, cmd.Several = &st, several
		if out, _, err := a.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil || out != etcdstore.PutDone {
			t.Fatal(out, err)
		}
		if err := a.open("i").Work(t.Context(), false, nil); err != nil {
			t.Fatal(err)
		}
	}
	sends, _, err := a.store.Upkeep.Sends(t.Context(), "", 10)
	if err != nil || len(sends) != 2 {
		t.Fatalf("%+v, %v", sends, err)
	}
	got := map[string]string{}
	for _, s := range sends {
		got[s.ID] = s.Stimulus.InstanceID
	}
	want := map[string]string{"again-" + workflow.DeriveID("i", "several-true"): "i", "again-" + workflow.DeriveID("i", "several-false"): ""}
	if !maps.Equal(got, want) {
		t.Errorf("they go on to %v, want %v", got, want)
	}
}

func TestAQueuedStimulusIsClaimedByTheCommitThatWaits(t *testing.T) {
	t.Parallel()
	// Until the claim nobody else knows of the stimulus that the commit met, so it
	// is not given up for a call that fails.
	for name, fault := range map[string]*clustertest.Rule{
		"":                           nil,
		"claims fail":                {Fault: clustertest.FailBefore, Times: 2},
		"answers of claims are lost": {Fault: clustertest.LoseAnswer, Times: 2},
	} {
		for _, mode := range both {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("d", seq(waitFor("early"), line("end"))))
				m := w.member("a", mode)
				if fault != nil {
					rule := *fault
					rule.Match = func(c clustertest.Call) bool { return c.DeletesUnder(cluster.Root(w.name) + "queue/") }
					m.faults.Add(rule)
				}
				st := workflow.EventStimulus("early", "x")
				hash := must(workflow.Hash(st.ActivityType, st.Payload))(t)
				look := must(m.store.Stimuli.Match(t.Context(), st, hash, ""))(t)
				now := time.Now().UTC()
				ok := must(m.store.Stimuli.Enqueue(t.Context(), store.QueueItem{ID: "q1", Stimulus: st, Hash: hash, CreatedAt: now}, look))(t)
				if !ok {
					t.Fatal("not queued")
				}
				must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
				eventually(t, "the instance ends", func() bool {
					rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
					return rec.Header.SubStatus == workflow.Finished
				})
				items, _, err := m.store.Reader.QueueItems(t.Context(), "", "", 10)
				if err != nil || len(items) != 0 {
					t.Errorf("queue %+v, %v", items, err)
				}
			})
		}
	}
}

func TestCancelInterruptsABurst(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", "ActivityExecutedStrict"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			def := define("d", seq(line("in"), within(), line("never"), line("never")))
			def.Options.CommitStrategy = strategy
			w := newWorld(t, def)
			a := w.member("a", cluster.ModeDistributed, slow)
			accepted(t, a.open("i"), startOf("d", "c1"), w.inside)
			out, _, err := a.store.Stimuli.PutMail(t.Context(), "i", workflow.Command{ID: "stop", Kind: workflow.CommandCancel, CreatedAt: time.Now()}, nil)
			if err != nil || out != etcdstore.PutDone {
				t.Fatal(out, err)
			}
			a.Interrupt("i")
			w.inside.pass <- struct{}{}
			eventually(t, "it ends", func() bool {
				rec := must(a.store.Reader.Instance(t.Context(), "i"))(t)
				return rec.Header.Status == workflow.StatusFinished
			})
			if rec := must(a.store.Reader.Instance(t.Context(), "i"))(t); rec.Header.SubStatus != workflow.Cancelled {
				t.Errorf("it is %s", rec.Header.SubStatus)
			}
			if l := a.written(); len(l) != 1 {
				t.Errorf("lines %q", l)
			}
		})
	}
}

func TestStopWaitsForBursts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(through(), line("end"))))
	a := w.member("a", cluster.ModeDistributed, slow)
	got := inBackground(t.Context(), a.open("i"), startOf("d", "c1"))
	<-w.valve.entered
	stopped := make(chan error, 1)
	go func() { stopped <- a.Stop(t.Context()) }()
	if r := <-got; r.err != nil || !r.Accepted {
		t.Fatalf("a drain answers its callers: got %+v, %v", r.Result, r.err)
	}
	if _, err := a.open("j").Do(t.Context(), startOf("d", "c2")); workflow.CodeOf(err) != workflow.CodeDraining {
		t.Errorf("want draining, got %v", err)
	}
	w.valve.pass <- struct{}{}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if rec := must(a.store.Reader.Instance(t.Context(), "i"))(t); rec.Header.SubStatus != workflow.Finished {
		t.Errorf("got %+v", rec.Header)
	}
}

func TestAFailingReleaseKeepsTheResult(t *testing.T) {
	t.Parallel()
	kids := make([]*workflow.Activity, 20) // so many bookmarks that the release is a transaction of its own
	for i := range kids {
		kids[i] = waitFor(fmt.Sprintf("e%d", i))
	}
	w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: kids}))
	m := w.member("a", cluster.ModeDistributed)
	armed := m.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		return c.DeletesUnder(cluster.Root(w.name)+"lock/") && !c.PutsUnder(cluster.Root(w.name)+"journal/")
	}})
	r := must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	if r.Instance.SubStatus != workflow.Suspended || len(r.Instance.Bookmarks) != 20 {
		t.Errorf("got %+v", r.Instance)
	}
	eventually(t, "the failure is counted", func() bool { return m.count("lock_release_failures_total", "") > 0 })
	armed.Disarm()
	if armed.Fired() == 0 {
		t.Fatal("the release never failed")
	}
	eventually(t, "the lock is free at last", func() bool { busy, err := m.locked("i"); return err == nil && !busy })
}

func TestCommitsThatDoNotEndABurst(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			def := define("d", seq(line("one"), line("two"), through(), line("three")))
			def.Options.CommitStrategy = "ActivityExecutedStrict"
			w := newWorld(t, def)
			m := w.member("a", mode, slow)
			got := inBackground(t.Context(), m.open("i"), startOf("d", "c1"))
			select {
			case <-w.valve.entered:
			case <-time.After(time.Minute):
				t.Fatal("the burst does not go on after its commit")
			}
			l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
			if l.Record == nil || l.Record.Seq == 0 || len(l.Mail) != 1 || l.Mail[0].Command.ID != workflow.ContinueID {
				t.Errorf("in the middle of the burst the store has %+v", l)
			}
			select {
			case r := <-got:
				t.Errorf("it was answered in the middle of the burst: %+v", r)
			default:
			}
			// What comes between two commits of the burst is not left behind.
			_, _, err := m.store.Stimuli.PutMail(t.Context(), "i", workflow.Command{ID: "stray", Kind: workflow.CommandChildEnd, Bookmark: "none"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.valve.pass <- struct{}{}
			if r := <-got; r.err != nil || r.Accepted || r.Effect.Outcome != workflow.OutcomeStarted || r.Instance.SubStatus != workflow.Finished {
				t.Errorf("the answer is not that of the whole burst: %+v", r)
			}
			eventually(t, "the instance ends", func() bool {
				l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
				return l.Record.Header.SubStatus == workflow.Finished && len(l.Mail) == 0
			})
			entries, err := commits(t, m.store.Reader, "i")
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, it := range itemsOf(entries) {
				if it.Event == "WriteLine" {
					lines = append(lines, it.Text)
				}
			}
			if strings.Join(lines, " ") != "one two three" {
				t.Errorf("lines %q", lines)
			}
		})
	}
}

// A burst that lasts longer than its caller is to wait was durable all the time.
func TestALongBurstWithCommitsIsAccepted(t *testing.T) {
	t.Parallel()
	def := define("d", seq(line("one"), through(), line("two")))
	def.Options.CommitStrategy = "ActivityExecutedStrict"
	w := newWorld(t, def)
	m := w.member("a", cluster.ModeDistributed, func(c *client.Config) { c.LateAfter = 200 * time.Millisecond })
	r := must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	if !r.Accepted || r.Instance.Status != workflow.StatusRunning {
		t.Errorf("it is not done, and the answer is %+v", r)
	}
	if n := m.count("late_durability_total", ""); n != 0 {
		t.Errorf("its start was made durable %v times again", n)
	}
	<-w.valve.entered
	w.valve.pass <- struct{}{}
	eventually(t, "the instance ends once", func() bool {
		rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
		return rec.Header.SubStatus == workflow.Finished && len(m.written()) == 2
	})
}

func TestImportReplacesTheState(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(waitFor("a"), waitFor("b"), line("end"))))
			m := w.member("a", mode)
			r := must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
			old := must(m.store.Reader.Instance(t.Context(), "i"))(t)
			r = must(m.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
			if r.Instance.Bookmarks[0].Name != "b" {
				t.Fatalf("got %+v", r.Instance)
			}
			raw := must(json.Marshal(map[string]any{"instance": old.Header, "state": old.State}))(t)
			stale := must(m.open("i").Do(t.Context(), workflow.Command{ID: "c3", Kind: workflow.CommandImport, CreatedAt: time.Now(), State: raw, IfSeq: 1}))(t)
			if stale.Effect.Code != string(workflow.CodeInstanceMoved) {
				t.Errorf("an import for sequence 1 at sequence 2: %+v", stale.Effect)
			}
			r = must(m.open("i").Do(t.Context(), workflow.Command{ID: "c4", Kind: workflow.CommandImport, CreatedAt: time.Now(), State: raw}))(t)
			if r.Effect.Outcome != workflow.OutcomeApplied || len(r.Instance.Bookmarks) != 1 || r.Instance.Bookmarks[0].Name != "a" {
				t.Fatalf("got %+v", r)
			}
			r = must(m.open("i").Do(t.Context(), resumeOf("c5", r.Instance, 0)))(t)
			r = must(m.open("i").Do(t.Context(), resumeOf("c6", r.Instance, 0)))(t)
			if r.Instance.SubStatus != workflow.Finished {
				t.Errorf("got %+v", r.Instance)
			}
			entries, err := commits(t, m.store.Reader, "i")
			if err != nil || len(entries) < 4 || !entries[2].Variables.Reset || entries[3].Variables.Reset {
				t.Errorf("journal %+v, %v", entries, err)
			}
			for i, it := range itemsOf(entries) {
				if it.Sequence != int64(i+1) {
					t.Errorf("the import takes the numbers of the journal back: item %d is %+v", i+1, it)
				}
			}
		})
	}
}

func TestALongHoldingIsCutAndHintsAtWhatIsLeft(t *testing.T) {
	t.Parallel()
	kids := []*workflow.Activity{waitFor("e0"), waitFor("e1"), waitFor("e2")}
	w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: kids}))
	hints := make(chan []string, 10)
	m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
		c.Rounds = 1
		c.Wakeups = told{hint: func(ids []string) { hints <- ids }}
	})
	r := must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	for i := range kids {
		if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", resumeOf(fmt.Sprint("m", i), r.Instance, i), nil); err != nil || out != etcdstore.PutDone {
			t.Fatal(out, err)
		}
	}
	for len(hints) > 0 {
		<-hints
	}
	// A recovered mailbox is worked one command a round, and two rounds are all.
	if err := m.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	if ids := <-hints; len(ids) != 1 || ids[0] != "i" {
		t.Errorf("hint %q", ids)
	}
	if busy, err := m.locked("i"); err != nil || busy {
		t.Errorf("the lock is still held: %v, %v", busy, err)
	}
	if err := m.open("i").Work(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
	if rec.Header.SubStatus != workflow.Finished {
		t.Errorf("got %+v", rec.Header)
	}
}

func TestTwoStartsOfOneIDMeetInOneBurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(line("once"))))
	m := w.member("a", cluster.ModeDistributed)
	own := startOf("d", "dispatched")
	n := &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", own, own.CreatedAt), Command: own}
	if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
		t.Fatal(out, err)
	}
	r := must(m.open("i").Do(t.Context(), startOf("d", "another")))(t)
	if r.Effect.Outcome != workflow.OutcomeRefused || r.Effect.Code != string(workflow.CodeInstanceExists) {
		t.Errorf("the other start got %+v", r.Effect)
	}
	if l := m.written(); len(l) != 1 {
		t.Errorf("lines %q", l)
	}
}

// Each caller of a burst gets the response that its own event wrote, also when
// the burst commits in between and goes on.
func TestCallersOfOneBurstGetTheirOwnResponses(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", "ActivityExecutedStrict"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			const callers = 5
			kids := make([]*workflow.Activity, 0, callers+1)
			for i := range callers {
				respond := &workflow.Activity{Type: "Elsa.WriteHttpResponse", Inputs: map[string]workflow.Expression{"content": workflow.Lit(fmt.Sprintf("for %d", i))}}
				kids = append(kids, seq(waitFor(fmt.Sprintf("e%d", i)), line("one"), respond, line("two")))
			}
			def := define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: append(kids, seq(waitFor("hold"), through()))})
			def.Options.CommitStrategy = strategy
			w := newWorld(t, def)
			m := w.member("a", cluster.ModeDistributed, slow)
			r := must(m.open("i").Do(t.Context(), startOf("d", "c0")))(t)
			held := inBackground(t.Context(), m.open("i"), resumeOf("hold", r.Instance, callers))
			<-w.valve.entered
			got := make([]<-chan answer, callers)
			for i := range callers {
				got[i] = inBackground(t.Context(), m.open("i"), resumeOf(fmt.Sprintf("c%d", i+1), r.Instance, i))
			}
			w.valve.pass <- struct{}{}
			for i, g := range got {
				if a := <-g; a.err != nil || a.Response == nil || string(a.Response.Body) != fmt.Sprintf("for %d", i) {
					t.Errorf("caller %d got %+v, %v", i, a.Response, a.err)
				}
			}
			if a := <-held; a.err != nil || a.Response != nil {
				t.Errorf("who wrote no response got %+v, %v", a.Response, a.err)
			}
		})
	}
}

// commits reads the whole journal of an instance.
func commits(t *testing.T, r *etcdstore.Reader, id string) (entries []workflow.JournalEntry, err error) {
	t.Helper()
	_, err = r.ScanJournal(t.Context(), id, etcdstore.JournalScan{}, func(e *workflow.JournalEntry) bool {
		entries = append(entries, *e)
		return false
	})
	return entries, err
}
