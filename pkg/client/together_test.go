package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// forks waits at hold, which keeps the instance busy until the valve opens, and at
// e beside it.
func forks(then ...*workflow.Activity) *workflow.Definition {
	beside := append([]*workflow.Activity{waitFor("e")}, then...)
	return define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{seq(waitFor("hold"), through()), seq(beside...)}})
}

// together starts an instance and gives it commands while it is busy, so that they
// come into its next burst in this order. Their answers are given when that burst
// has begun.
func (m *member) together(ctx context.Context, id string, cmds func(workflow.Instance) []workflow.Command) []<-chan answer {
	t := m.w.t
	t.Helper()
	r := must(m.open(id).Do(ctx, startOf("d", "start-"+id)))(t)
	return m.busy(ctx, id, r.Instance, cmds(r.Instance))
}

// busy gives an instance commands while it is busy, so that they come into its next
// burst in this order.
func (m *member) busy(ctx context.Context, id string, in workflow.Instance, cmds []workflow.Command) []<-chan answer {
	t := m.w.t
	t.Helper()
	held := inBackground(context.WithoutCancel(ctx), m.open(id), resumeOf("hold-"+id, in, 0))
	<-m.w.valve.entered
	var out []<-chan answer
	for i, cmd := range cmds {
		out = append(out, inBackground(ctx, m.open(id), cmd))
		eventually(t, "the command is in hand", func() bool { return m.InHand(id) == i+1 })
	}
	m.w.valve.pass <- struct{}{}
	if a := <-held; a.err != nil {
		t.Error(a.err)
	}
	return out
}

// Two events meet one bookmark on one node, and both are accepted while the first
// of them runs. The other one goes back to the queue, or to the dead letters if
// it is for this instance.
func TestWhatWasAcceptedAndFindsItsBookmarkGoneGoesOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then      []*workflow.Activity
		addressed bool
		sends     int
		dead      int
	}{
		"the instance goes on":             {then: []*workflow.Activity{through(), waitFor("f")}, sends: 1},
		"the instance goes on, addressed":  {then: []*workflow.Activity{through(), waitFor("f")}, addressed: true, sends: 1},
		"the instance is finished":         {then: []*workflow.Activity{through()}, sends: 1},
		"the instance finished, addressed": {then: []*workflow.Activity{through()}, addressed: true, dead: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, forks(tt.then...))
			m := w.member("a", cluster.ModeDistributed, slow)
			ctx, giveUp := context.WithCancel(t.Context())
			got := m.together(ctx, "i", func(in workflow.Instance) (cmds []workflow.Command) {
				for n := range 2 {
					st := workflow.EventStimulus("e", nil)
					if tt.addressed {
						st.InstanceID = "i"
					}
					cmd := resumeOf(fmt.Sprint("c", n), in, 1)
					cmd.Stimulus = &st
					cmds = append(cmds, cmd)
				}
				return cmds
			})
			<-w.valve.entered // the first of them runs
			giveUp()
			for _, g := range got {
				if a := <-g; a.err != nil || !a.Accepted {
					t.Errorf("got %+v, %v", a.Result, a.err)
				}
			}
			w.valve.pass <- struct{}{}
			eventually(t, "the lock is free", func() bool {
				held, err := m.locked("i")
				return err == nil && !held
			})
			sends, _, err := m.store.Upkeep.Sends(t.Context(), "", 100)
			if err != nil {
				t.Fatal(err)
			}
			dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 100)
			if err != nil {
				t.Fatal(err)
			}
			again := slices.ContainsFunc(sends, func(s store.Send) bool { return s.ID == "again-"+workflow.DeriveID("i", "c1") })
			if len(sends) != tt.sends || again != (tt.sends == 1) || len(dead) != tt.dead {
				t.Errorf("of two accepted events the first was met, and on their way are %+v, and dead %+v", sends, dead)
			}
		})
	}
}

// What is not durable is not remembered when it meets an instance that has ended:
// its caller looks for another.
func TestAKeyedEventThatComesTooLateIsNotUsedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("e"))))
	m := w.member("a", cluster.ModeDistributed)
	r := must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	must(m.open("i").Do(t.Context(), resumeOf("first", r.Instance, 0)))(t)
	late := resumeOf("late", r.Instance, 0)
	st := workflow.EventStimulus("e", nil)
	late.Stimulus, late.Key = &st, &workflow.CommandKey{Name: "late", BodyHash: "h"}
	got := must(m.open("i").Do(t.Context(), late))(t)
	if got.Effect.Outcome != workflow.OutcomeGone {
		t.Errorf("got %+v", got.Effect)
	}
	if a := must(m.store.Stimuli.Answer(t.Context(), "late"))(t); a != nil {
		t.Errorf("its key has the answer %+v", a)
	}
}

// A call that came to nothing is answered when its part of the burst is committed:
// it must not count as accepted because the burst goes on.
func TestACallThatFindsNothingIsNotAcceptedAsTheBurstGoesOn(t *testing.T) {
	t.Parallel()
	def := forks(line("one"), through())
	def.Options.CommitStrategy = "ActivityExecutedStrict"
	w := newWorld(t, def)
	m := w.member("a", cluster.ModeDistributed, slow)
	ctx, giveUp := context.WithCancel(t.Context())
	got := m.together(ctx, "i", func(in workflow.Instance) []workflow.Command {
		nothing := workflow.Command{ID: "nothing", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: "i~none"}
		return []workflow.Command{nothing, resumeOf("e", in, 1)}
	})
	<-w.valve.entered // both are committed, and the second goes on
	giveUp()
	if a := <-got[0]; a.err != nil || a.Accepted || a.Effect.Outcome != workflow.OutcomeGone {
		t.Errorf("got %+v, %v", a.Result, a.err)
	}
	w.valve.pass <- struct{}{}
	<-got[1]
}

func TestAKeyInUseWithAnotherBodyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(through())))
	m := w.member("a", cluster.ModeDistributed, slow)
	cmd := startOf("d", "start")
	cmd.Key = &workflow.CommandKey{Name: "k", BodyHash: "one"}
	first := inBackground(t.Context(), m.open("i"), cmd)
	<-w.valve.entered
	for _, k := range []workflow.CommandKey{{Name: "k", BodyHash: "another"}, {Name: "k", BodyHash: "one", Guard: &workflow.Guard{Authorize: true}}} {
		other := cmd
		other.Key = &k
		if _, err := m.open("i").Do(t.Context(), other); workflow.CodeOf(err) != workflow.CodeKeyReused {
			t.Errorf("%+v: got %v", k, err)
		}
	}
	twin := inBackground(t.Context(), m.open("i"), cmd)
	w.valve.pass <- struct{}{}
	for _, got := range []<-chan answer{first, twin} {
		if a := <-got; a.err != nil || a.Instance.SubStatus != workflow.Finished {
			t.Errorf("got %+v, %v", a.Result, a.err)
		}
	}
}

// An import takes the place of the state, not of what a burst before or after it in
// the same hands has done.
func TestAnImportSharesNoBurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forks(line("e"), waitFor("f")))
	m := w.member("a", cluster.ModeDistributed, slow)
	for try := range 10 {
		id := fmt.Sprint("i", try)
		got := m.together(t.Context(), id, func(in workflow.Instance) []workflow.Command {
			old := must(m.store.Reader.Instance(t.Context(), id))(t)
			raw := must(json.Marshal(map[string]any{"instance": old.Header, "state": old.State}))(t)
			cmds := []workflow.Command{
				{ID: "import-" + id, Kind: workflow.CommandImport, CreatedAt: time.Now().UTC(), State: raw}, resumeOf("e-"+id, in, 1)}
			if try%2 == 1 {
				slices.Reverse(cmds)
			}
			return cmds
		})
		resumed := 0
		for _, g := range got {
			a := <-g
			if a.err != nil {
				t.Fatal(a.err)
			}
			if a.Effect.Outcome == workflow.OutcomeResumed {
				resumed++
			}
		}
		entries, err := commits(t, m.store.Reader, id)
		if err != nil {
			t.Fatal(err)
		}
		written := 0
		for _, it := range itemsOf(entries) {
			if it.Event == "WriteLine" {
				written++
			}
		}
		if resumed != 1 || written != 1 {
			t.Errorf("the event was resumed %d times, and the journal has its line %d times", resumed, written)
		}
	}
	check := must(m.store.Upkeep.Fsck(t.Context()))(t)
	for _, f := range check.Bad() {
		t.Errorf("fsck: %+v", f)
	}
}

// Commits on the way do not look for queued stimuli; that of the end looks for as
// many as fit.
func TestStimuliQueuedBeforeManyBookmarksAreFound(t *testing.T) {
	t.Parallel()
	const places = 14
	kids := make([]*workflow.Activity, places)
	for i := range kids {
		kids[i] = waitFor(fmt.Sprint("e", i))
	}
	def := define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: kids})
	def.Options.CommitStrategy = "ActivityExecutedStrict"
	w := newWorld(t, def)
	m := w.member("a", cluster.ModeDistributed)
	early := []int{places - 3, places - 2} // neither the oldest nor those of the last commit
	for _, i := range early {
		st := workflow.EventStimulus(fmt.Sprint("e", i), nil)
		hash := must(workflow.Hash(st.ActivityType, st.Payload))(t)
		look := must(m.store.Stimuli.Match(t.Context(), st, hash, ""))(t)
		now := time.Now().UTC()
		if !must(m.store.Stimuli.Enqueue(t.Context(), store.QueueItem{ID: fmt.Sprint("q", i), Stimulus: st, Hash: hash, CreatedAt: now}, look))(t) {
			t.Fatal("not queued")
		}
	}
	must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	eventually(t, "both are met", func() bool {
		return len(must(m.store.Reader.Instance(t.Context(), "i"))(t).Header.Bookmarks) == places-len(early)
	})
}

// That who asked first goes away while the lock is being taken is no answer to those
// who came after.
func TestALockThatIsNotWaitedForIsTakenByTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("e"))))
	m := w.member("a", cluster.ModeDistributed)
	r := must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	slowLock := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Second, Times: 1, Match: func(c clustertest.Call) bool {
		return c.PutsUnder(cluster.Root(w.name) + "lock/")
	}})
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	first := inBackground(ctx, m.open("i"), resumeOf("first", r.Instance, 0))
	eventually(t, "the first takes the lock", func() bool { return slowLock.Fired() > 0 })
	second := inBackground(t.Context(), m.open("i"), resumeOf("second", r.Instance, 0))
	eventually(t, "the instance is in its hands", func() bool { return m.Owned() == 1 })
	giveUp()
	if a := <-first; a.err == nil {
		t.Errorf("who went away got %+v", a.Result)
	}
	if a := <-second; a.err != nil || a.Effect.Outcome != workflow.OutcomeResumed {
		t.Errorf("who stayed got %+v, %v", a.Result, a.err)
	}
}

// One caller of a key is told that the event is accepted, after it was found that
// nothing waits for it: the other caller must not look for another place.
func TestTwinsAreNotToldDifferently(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forks(through(), waitFor("f")))
	m := w.member("a", cluster.ModeDistributed, slow)
	st := workflow.EventStimulus("nowhere", nil)
	nothing := workflow.Command{ID: "k", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: "i~none", Stimulus: &st,
		Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}}
	got := m.together(t.Context(), "i", func(in workflow.Instance) []workflow.Command {
		return []workflow.Command{nothing, resumeOf("e", in, 1)}
	})
	<-w.valve.entered // nothing was found for the first, and the second runs
	impatient, giveUp := context.WithCancel(t.Context())
	giveUp()
	if a := <-inBackground(impatient, m.open("i"), nothing); a.err != nil || !a.Accepted {
		t.Errorf("got %+v, %v", a.Result, a.err)
	}
	w.valve.pass <- struct{}{}
	if a := <-got[0]; a.err != nil || !a.Accepted {
		t.Errorf("one was told that it is accepted, the other %+v, %v", a.Result, a.err)
	}
	<-got[1]
}

// The mail of a twin of the call in hand goes on as mail does.
func TestACallWhoseTwinIsMailIsJudgedAsMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("e"))))
	m := w.member("a", cluster.ModeDistributed, slow)
	must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	st := workflow.EventStimulus("nowhere", nil)
	cmd := workflow.Command{ID: "k", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: "i~none", Stimulus: &st}
	if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	got := must(m.open("i").Do(t.Context(), cmd))(t)
	if got.Effect.Outcome != workflow.OutcomeRequeued {
		t.Errorf("got %+v", got)
	}
	sends, _, err := m.store.Upkeep.Sends(t.Context(), "", 10)
	if err != nil || len(sends) != 1 || sends[0].ID != "again-"+workflow.DeriveID("i", "k") {
		t.Errorf("on its way: %+v, %v", sends, err)
	}
}

// Found by test/chaos (seed 6044): an event was used up by a burst that a deletion
// interrupted before its first activity, and nothing told that it had been met.
func TestAnEventIsMetBeforeACancelInterrupts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{
		seq(waitFor("e"), within()), seq(waitFor("f"), line("f"), line("more")), waitFor("g")}}))
	m := w.member("a", cluster.ModeDistributed, slow)
	r := must(m.open("i").Do(t.Context(), startOf("d", "c")))(t)
	for i := range 2 {
		if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", resumeOf(fmt.Sprint("m", i), r.Instance, i), nil); err != nil || out != etcdstore.PutDone {
			t.Fatal(out, err)
		}
	}
	worked := make(chan error, 1)
	go func() { worked <- m.open("i").Work(t.Context(), false, nil) }()
	<-w.inside.entered // the first of the two; the second is next in this burst
	stop := workflow.Command{ID: "stop", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}
	if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", stop, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	m.Interrupt("i")
	w.inside.pass <- struct{}{}
	if err := <-worked; err != nil {
		t.Fatal(err)
	}
	entries, err := commits(t, m.store.Reader, "i")
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, it := range itemsOf(entries) {
		if it.Event == engine.EventResumed {
			met++
		}
	}
	if rec := must(m.store.Reader.Instance(t.Context(), "i"))(t); met != 2 || rec.Header.SubStatus != workflow.Cancelled {
		t.Errorf("%d of 2 events were met, and the instance is %s", met, rec.Header.SubStatus)
	}
}

// A start of an id that is deleted in the same burst is of the next instance with
// that id: it is neither refused for good nor answered as started.
func TestAStartBesideADeletionIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forks())
	m := w.member("a", cluster.ModeDistributed, slow)
	got := m.together(t.Context(), "i", func(workflow.Instance) []workflow.Command {
		again := startOf("d", "again")
		again.Key = &workflow.CommandKey{Name: "again", BodyHash: "h"}
		return []workflow.Command{{ID: "delete", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}, again}
	})
	if a := <-got[0]; a.err != nil || a.Effect.Outcome != workflow.OutcomeApplied {
		t.Errorf("the deletion got %+v, %v", a.Result, a.err)
	}
	if a := <-got[1]; a.err != nil || a.Effect.Outcome != workflow.OutcomeGone {
		t.Errorf("the start got %+v, %v", a.Result, a.err)
	}
	if a := must(m.store.Stimuli.Answer(t.Context(), "again"))(t); a != nil {
		t.Errorf("its key has the answer %+v", a)
	}
}
