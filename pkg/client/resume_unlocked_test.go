package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// auto lets resumes take no lock while they have no effect outside.
func auto(c *client.Config) { c.UnlockedResumes = true }

// unlockedWorld are two nodes and instance i, which waits for go in one branch, and for
// other in another.
type unlockedWorld struct {
	*world
	a, b *member
	in   workflow.Instance
}

// branch is what follows the event go.
func unlockedWorldOf(t *testing.T, tune func(*client.Config), branch ...*workflow.Activity) *unlockedWorld {
	t.Helper()
	def := define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{
		seq(append([]*workflow.Activity{waitFor("go")}, branch...)...), seq(waitFor("other"), line("other")), seq(waitFor("end"))}})
	w := &unlockedWorld{world: newWorld(t, def)}
	w.a, w.b = w.member("a", cluster.ModeDistributed, slow, auto, tune), w.member("b", cluster.ModeDistributed, slow, auto)
	w.in = must(w.b.open("i").Begin(t.Context(), startOf("d", "s")))(t).Instance
	return w
}

func asItIs(*client.Config) {}

// outcome is what a call gave.
type outcome struct {
	client.Result
	err error
}

// resume sends the event for bookmark n to a node.
func (w *unlockedWorld) resume(ctx context.Context, m *member, id string, n int) <-chan outcome {
	got := make(chan outcome, 1)
	cmd := resumeOf(id, w.in, n)
	go func() {
		r, err := m.open("i").Do(ctx, cmd)
		got <- outcome{r, err}
	}()
	return got
}

// reached waits for an activity to run.
func (w *unlockedWorld) reached(v *valve) {
	w.t.Helper()
	select {
	case <-v.entered:
	case <-time.After(time.Minute):
		w.t.Fatal("an activity does not run")
	}
}

// told waits for the end of a call.
func (w *unlockedWorld) told(got <-chan outcome) outcome {
	w.t.Helper()
	select {
	case o := <-got:
		return o
	case <-time.After(time.Minute):
		w.t.Fatal("a call has no end")
	}
	return outcome{}
}

// applied holds that a resume took effect.
func (w *unlockedWorld) applied(got outcome) {
	w.t.Helper()
	if got.err != nil || got.Effect.Outcome != workflow.OutcomeResumed || got.Accepted {
		w.t.Errorf("%+v, %v", got.Effect, got.err)
	}
}

// waits holds for how many events the instance waits, after how many commits, that its
// mailbox is empty, and that nobody has its lock in the end.
func (w *unlockedWorld) waits(bookmarks int, seq int64) {
	w.t.Helper()
	l := must(w.b.store.Instances.Load(w.t.Context(), "i", "", ""))(w.t)
	if len(l.Record.Header.Bookmarks) != bookmarks || l.Record.Seq != seq || len(l.Mail) > 0 {
		w.t.Errorf("it waits for %d, after %d commits, with %d commands in its mailbox", len(l.Record.Header.Bookmarks), l.Record.Seq, len(l.Mail))
	}
	eventually(w.t, "it is free", func() bool { held, err := w.b.locked("i"); return err == nil && !held })
}

func (w *unlockedWorld) held() *cluster.Lock {
	w.t.Helper()
	return must(w.b.session.Locks().TryAcquire(w.t.Context(), cluster.InstanceLock("i")))(w.t)
}

func (w *unlockedWorld) count(m *member, label string) float64 {
	return m.count("unlocked_resumes_total", label)
}

func TestAResumeThatHasNoEffectOutsideTakesNoLock(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	asked := w.requests(w.a)
	w.applied(w.told(w.resume(t.Context(), w.a, "r", 0)))
	if ops := asked(); !slices.Equal(ops, []string{"read", "write"}) || w.a.count("lock_acquisitions_total", "") != 0 || w.count(w.a, "committed") != 1 {
		t.Errorf("requests %q, %v locks, counted %v", ops, w.a.count("lock_acquisitions_total", ""), w.count(w.a, ""))
	}
	w.waits(2, 2)
	w.applied(w.told(w.resume(t.Context(), w.a, "r2", 1))) // what is in memory goes on
	w.waits(1, 3)
	if lines := w.a.written(); !slices.Equal(lines, []string{"went", "other"}) {
		t.Error(lines)
	}
}

func TestAResumeThatMeetsAHolderIsBusy(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs)
	lock := w.held()
	if got := w.told(w.resume(t.Context(), w.a, "r", 0)); !errors.Is(got.err, client.ErrBusy) {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
	if n := w.count(w.a, ""); n != 0 {
		t.Errorf("it began without the lock, and was told at its commit: %v", n)
	}
	if busy, err := w.a.open("i").Busy(t.Context()); !busy || err != nil {
		t.Errorf("the next one looks before it tries: %t, %v", busy, err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.applied(w.told(w.resume(t.Context(), w.a, "r", 0)))
}

// Mail came first, and is worked with what is in hand, under the lock.
func TestAResumeBesideMailTakesTheLock(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs)
	w.a.put(t, "i", resumeOf("mail", w.in, 1))
	w.applied(w.told(w.resume(t.Context(), w.a, "r", 0)))
	if n := w.a.count("lock_acquisitions_total", "acquired"); n != 1 || w.count(w.a, "") != 0 {
		t.Errorf("%v locks, %v begun without", n, w.count(w.a, ""))
	}
	eventually(t, "both are done", func() bool { return len(w.a.written()) == 1 })
	w.waits(1, 2)
}

// From the first activity that has an effect outside on, the instance is locked.
func TestTheLockIsTakenBeforeTheOutside(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within(), through(), through())
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	if held := must(w.b.locked("i"))(t); held {
		t.Error("nothing has an effect outside yet, and it is locked")
	}
	w.inside.pass <- struct{}{}
	w.reached(w.valve)
	if held := must(w.b.locked("i"))(t); !held {
		t.Error("the outside is called without the lock")
	}
	if busy := w.told(w.resume(t.Context(), w.b, "r2", 1)); !errors.Is(busy.err, client.ErrBusy) {
		t.Errorf("beside it: %+v, %v", busy.Effect, busy.err)
	}
	w.valve.pass <- struct{}{}
	w.valve.pass <- struct{}{}
	w.applied(w.told(got))
	if n := w.count(w.a, "locked"); n != 1 {
		t.Errorf("%v locks", n)
	}
	w.waits(2, 2)
}

// The instance moved since it was loaded: what was done is done again, under the lock, and
// the outside is called once.
func TestABurstBeginsAgainIfItsInstanceMovedBeforeTheBarrier(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within(), through())
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	w.applied(w.told(w.resume(t.Context(), w.b, "r2", 1)))
	w.inside.pass <- struct{}{}
	w.reached(w.inside)
	w.inside.pass <- struct{}{}
	w.valve.pass <- struct{}{}
	w.applied(w.told(got))
	if n := len(w.valve.entered); n != 1 {
		t.Errorf("the outside was called %d times", n)
	}
	w.waits(1, 3)
}

// Of the same event on two nodes one resumes, also where both got as far as the barrier.
func TestABurstWhoseEventWasTakenCallsNothingOutside(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within(), through())
	one := w.resume(t.Context(), w.a, "r1", 0)
	w.reached(w.inside)
	two := w.resume(t.Context(), w.b, "r2", 0)
	w.reached(w.inside)
	w.inside.pass <- struct{}{}
	w.reached(w.valve) // one of them has the lock
	w.inside.pass <- struct{}{}
	var busy, first outcome
	select {
	case busy = <-one:
		one = two
	case busy = <-two:
	}
	if !errors.Is(busy.err, client.ErrBusy) {
		t.Errorf("%+v, %v", busy.Effect, busy.err)
	}
	w.valve.pass <- struct{}{}
	first = <-one
	w.applied(first)
	if n := len(w.valve.entered); n != 0 {
		t.Errorf("the outside was called %d times more", n)
	}
	w.waits(2, 2)
}

// Somebody has the lock when the burst is to be committed. Its commit is void, whoever
// leaves without a trace then, and whatever comes late.
func TestACommitBesideAHolderIsVoid(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	commits := func(c clustertest.Call) bool { return c.PutsUnder(cluster.Root(w.name) + "journal/i/") }
	w.a.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: commits})
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	lock := w.held()
	w.inside.pass <- struct{}{}
	if busy := w.told(got); !errors.Is(busy.err, client.ErrBusy) {
		t.Errorf("%+v, %v", busy.Effect, busy.err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.a.faults.Deliver(); n != 1 {
		t.Errorf("%d late copies", n)
	}
	w.waits(3, 1)
	if w.count(w.a, "held") != 1 || w.a.count("commits_total", "held") != 1 {
		t.Errorf("counted %v", w.count(w.a, ""))
	}
}

// A conflict is run again under the lock, so that two nodes do not refuse each other for ever.
func TestAConflictIsRunAgainUnderTheLock(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	w.applied(w.told(w.resume(t.Context(), w.b, "r2", 1)))
	w.inside.pass <- struct{}{}
	w.reached(w.inside)
	if held := must(w.b.locked("i"))(t); !held {
		t.Error("it is run again without the lock")
	}
	w.inside.pass <- struct{}{}
	w.applied(w.told(got))
	w.waits(1, 3)
}

// The instance is deleted while its burst runs: that is what its caller is told.
func TestAResumeBesideADeleteIsToldOfIt(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	if _, err := w.b.open("i").Do(t.Context(), workflow.Command{ID: "x", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}); err != nil {
		t.Fatal(err)
	}
	w.inside.pass <- struct{}{}
	if r := w.told(got); workflow.CodeOf(r.err) != workflow.CodeInstanceNotFound {
		t.Errorf("%+v, %v", r.Effect, r.err)
	}
	if n := w.a.count("commits_total", "fenced"); n != 0 {
		t.Errorf("%v fenced", n)
	}
}

// Before a cause is made durable the lock is taken: what is in the mailbox is somebody's work.
func TestWhatBecomesDurableIsLocked(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, slow, within())
	ctx, leave := context.WithCancel(t.Context())
	running := w.resume(ctx, w.a, "r", 0)
	w.reached(w.inside)
	leave()
	got := w.told(running)
	if got.err != nil || !got.Accepted {
		t.Fatalf("%+v, %v", got.Effect, got.err)
	}
	if held := must(w.b.locked("i"))(t); !held {
		t.Error("it has mail, and is not locked")
	}
	w.inside.pass <- struct{}{}
	eventually(t, "it is committed", func() bool { return len(must(w.b.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail) == 0 })
	if n := len(w.inside.entered); n != 0 {
		t.Errorf("it ran %d times more", n)
	}
	w.waits(2, 2)
}

func TestWhatBecomesDurableBeginsAgainIfItsInstanceMoved(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	ctx, leave := context.WithCancel(t.Context())
	got := w.resume(ctx, w.a, "r", 0)
	w.reached(w.inside)
	w.applied(w.told(w.resume(t.Context(), w.b, "r2", 1)))
	leave()
	if r := w.told(got); r.err != nil || !r.Accepted {
		t.Errorf("%+v, %v", r.Effect, r.err)
	}
	w.reached(w.inside)
	w.inside.pass <- struct{}{}
	eventually(t, "it is committed", func() bool { return len(must(w.b.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail) == 0 })
	w.waits(1, 3)
}

func TestWhatCannotBecomeDurableHereIsBusy(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	ctx, leave := context.WithCancel(t.Context())
	got := w.resume(ctx, w.a, "r", 0)
	w.reached(w.inside)
	lock := w.held()
	leave()
	if r := w.told(got); !errors.Is(r.err, client.ErrBusy) {
		t.Errorf("%+v, %v", r.Effect, r.err)
	}
	eventually(t, "its burst is dropped", func() bool { return w.a.Owned() == 0 })
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.waits(3, 1)
}

// A burst that goes on after a commit is somebody's work too.
func TestABurstThatGoesOnTakesTheLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), line("a"), line("b"), waitFor("more"))))
	w.programs["d"] = newWorld(t, func() *workflow.Definition {
		def := define("d", seq(waitFor("go"), line("a"), line("b"), waitFor("more")))
		def.Options.CommitStrategy = "ActivityExecutedStrict"
		return def
	}()).programs["d"]
	m := w.member("a", cluster.ModeDistributed, slow, auto)
	in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
	before := m.count("lock_acquisitions_total", "acquired")
	got := must(m.open("i").Do(t.Context(), resumeOf("r", in, 0)))(t)
	if got.Effect.Outcome != workflow.OutcomeResumed || m.count("lock_acquisitions_total", "acquired") != before+1 {
		t.Errorf("%+v, %v locks", got.Effect, m.count("lock_acquisitions_total", "acquired")-before)
	}
	if lines := m.written(); !slices.Equal(lines, []string{"a", "b"}) {
		t.Error(lines)
	}
}

// What joins a resume in hand and is none takes the lock for both.
func TestACancelThatJoinsAResumeTakesTheLock(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	loading, load := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.a.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Touches(cluster.Root(w.name) + "instance/i") {
			once.Do(func() {
				close(loading)
				<-load
			})
		}
		return false
	}})
	got := w.resume(t.Context(), w.a, "r", 0)
	<-loading
	canceled := make(chan error, 1)
	go func() {
		_, err := w.a.open("i").Do(context.WithoutCancel(t.Context()), workflow.Command{ID: "c", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()})
		canceled <- err
	}()
	eventually(t, "both are in hand", func() bool { return w.a.InHand("i") == 2 })
	close(load)
	<-got
	if err := <-canceled; err != nil {
		t.Error(err)
	}
	rec := must(w.b.store.Reader.Instance(t.Context(), "i"))(t)
	if rec.Header.SubStatus != workflow.Cancelled || w.a.count("lock_acquisitions_total", "acquired") != 1 {
		t.Errorf("%s, %v locks", rec.Header.SubStatus, w.a.count("lock_acquisitions_total", "acquired"))
	}
}

// An owner without the lock does not look for mail. Who was told that it would is told again
// when it ends.
func TestMailThatWasToldIsHintedAgain(t *testing.T) {
	t.Parallel()
	hinted := make(chan []string, 10)
	w := unlockedWorldOf(t, func(c *client.Config) { c.Wakeups = told{hint: func(ids []string) { hinted <- ids }} }, within())
	got := w.resume(t.Context(), w.a, "r", 0)
	w.reached(w.inside)
	w.a.put(t, "i", resumeOf("mail", w.in, 1))
	if err := w.a.open("i").Work(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	w.inside.pass <- struct{}{}
	w.applied(w.told(got))
	if ids := nextHint(t, hinted); !slices.Equal(ids, []string{"i"}) {
		t.Errorf("hinted %q", ids)
	}
	w.a.worked("i")
	w.waits(1, 3)
}

// nextHint is what the node is told next to look at.
func nextHint(t *testing.T, hinted <-chan []string) []string {
	t.Helper()
	select {
	case ids := <-hinted:
		return ids
	case <-time.After(time.Minute):
		t.Error("nobody is told of the mail again")
		return nil
	}
}

// An owner that could not take its instance has not looked for mail either.
func TestMailThatWasToldBeforeTheLockIsRefusedIsHintedAgain(t *testing.T) {
	t.Parallel()
	hinted := make(chan []string, 10)
	w := unlockedWorldOf(t, func(c *client.Config) { c.Wakeups = told{hint: func(ids []string) { hinted <- ids }} })
	lock := w.held()
	tries, let := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.a.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.PutsUnder(cluster.Root(w.name) + "lock/") {
			once.Do(func() {
				close(tries)
				<-let
			})
		}
		return false
	}})
	got := make(chan error, 1)
	go func() { got <- w.a.open("i").Work(t.Context(), false, nil) }()
	<-tries
	if err := w.a.open("i").Work(t.Context(), false, nil); err != nil { // tells it of mail
		t.Error(err)
	}
	close(let)
	if err := <-got; !errors.Is(err, client.ErrBusy) {
		t.Error(err)
	}
	if ids := nextHint(t, hinted); !slices.Equal(ids, []string{"i"}) {
		t.Errorf("hinted %q", ids)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whose session ended commits nothing.
func TestAResumeWhoseSessionEndsIsNotApplied(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within())
	got := w.resume(context.WithoutCancel(t.Context()), w.a, "r", 0)
	w.reached(w.inside)
	if _, err := w.etcd.Delete(t.Context(), cluster.Root(w.name)+"nodes/a"); err != nil { // as the end of the lease does
		t.Fatal(err)
	}
	w.inside.pass <- struct{}{}
	if r := w.told(got); r.err == nil || errors.Is(r.err, client.ErrBusy) {
		t.Errorf("it was told %+v, %v", r.Effect, r.err)
	}
	w.waits(3, 1)
}

// Others go on beside an owner without the lock. Who hands it a command may know more of the
// instance than it does.
func TestWhoComesLaterIsNotServedFromWhatIsPast(t *testing.T) {
	t.Parallel()
	opened, pass := make(chan struct{}, 10), make(chan struct{})
	w := unlockedWorldOf(t, func(c *client.Config) {
		c.Definitions = looked{c.Definitions, func() {
			opened <- struct{}{}
			select {
			case <-pass:
			case <-t.Context().Done():
			}
		}}
	}, waitFor("new"))
	past := w.in
	past.Bookmarks = []workflow.Bookmark{{ID: w.in.Bookmarks[0].ID + "0"}}
	nothing, later := make(chan outcome, 1), make(chan outcome, 1)
	do := func(got chan<- outcome, cmd workflow.Command) {
		r, err := w.a.open("i").Do(t.Context(), cmd)
		got <- outcome{r, err}
	}
	go do(nothing, resumeOf("r1", past, 0))
	<-opened
	w.applied(w.told(w.resume(t.Context(), w.b, "r2", 0)))
	now := must(w.b.store.Instances.Load(t.Context(), "i", "", ""))(t).Record.Header
	at := slices.IndexFunc(now.Bookmarks, func(b workflow.Bookmark) bool {
		return !slices.ContainsFunc(w.in.Bookmarks, func(was workflow.Bookmark) bool { return was.ID == b.ID })
	})
	go do(later, resumeOf("r3", now, at))
	eventually(t, "it waits here", func() bool { return w.a.InHand("i") == 1 })
	close(pass)
	if got := w.told(nothing); got.err != nil || got.Effect.Outcome != workflow.OutcomeGone {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
	w.applied(w.told(later))
}

// Its commit was applied, its node has no answer yet, and others deleted the instance: it is
// not told that it may go elsewhere.
func TestAResumeThatNothingProvesIsNotSentElsewhere(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	var once sync.Once
	commits := func(c clustertest.Call) bool { return c.PutsUnder(cluster.Root(w.name) + "journal/i/") }
	w.a.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: commits})
	w.a.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if commits(c) && len(must(w.b.store.Instances.Load(t.Context(), "i", "", ""))(t).Record.Header.Bookmarks) == 2 {
			once.Do(func() {
				must(w.b.open("i").Do(t.Context(), workflow.Command{ID: "x", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}))(t)
			})
		}
		return false
	}})
	got := w.told(w.resume(t.Context(), w.a, "r", 0))
	if got.err == nil || errors.Is(got.err, client.ErrBusy) || !errors.Is(got.err, store.ErrFenced) && !strings.Contains(got.err.Error(), "lost") {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
}

// Both ways work on one instance at the same time: every event has one effect.
func TestResumesWithAndWithoutTheLockGoTogether(t *testing.T) {
	t.Parallel()
	const events = 24
	kids := make([]*workflow.Activity, events+1)
	for i := range events {
		kids[i] = seq(waitFor("e"+string(rune('a'+i))), line("l"+string(rune('a'+i))))
	}
	kids[events] = waitFor("end")
	w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: kids}))
	nodes := []*member{w.member("a", cluster.ModeDistributed, slow, auto), w.member("b", cluster.ModeDistributed, slow, auto), w.member("c", cluster.ModeDistributed, slow)}
	in := must(nodes[0].open("i").Begin(t.Context(), startOf("d", "s")))(t).Instance
	free := func() bool { held, err := nodes[0].locked("i"); return err == nil && !held }
	eventually(t, "the start has left", free)
	for i, m := range nodes[:2] { // alone, so that nobody has the lock
		must(m.open("i").Do(t.Context(), resumeOf("r"+string(rune('a'+i)), in, i)))(t)
	}
	if n := nodes[0].count("unlocked_resumes_total", "committed") + nodes[1].count("unlocked_resumes_total", "committed"); n != 2 {
		t.Errorf("%v were committed without the lock", n)
	}
	var wg sync.WaitGroup
	for i := 2; i < events; i++ {
		wg.Go(func() {
			cmd := resumeOf("r"+string(rune('a'+i)), in, i)
			for {
				r, err := nodes[i%len(nodes)].open("i").Do(t.Context(), cmd)
				if errors.Is(err, client.ErrBusy) {
					continue
				}
				if err != nil || r.Effect.Outcome != workflow.OutcomeResumed {
					t.Errorf("event %d: %+v, %v", i, r.Effect, err)
				}
				return
			}
		})
	}
	wg.Wait()
	l := must(nodes[0].store.Instances.Load(t.Context(), "i", "", ""))(t)
	if len(l.Record.Header.Bookmarks) != 1 || len(l.Mail) > 0 {
		t.Errorf("it waits for %d, with %d commands in its mailbox", len(l.Record.Header.Bookmarks), len(l.Mail))
	}
	if n := nodes[0].count("commits_total", "breach") + nodes[1].count("commits_total", "breach") + nodes[2].count("commits_total", "breach"); n > 0 {
		t.Errorf("%v breaches", n)
	}
}
