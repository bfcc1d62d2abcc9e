package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

var goldenProgress = 12.5

// task makes an instance that waits for a worker, and gives its task as a look finds it.
func (w *world) task(id string) claims.Free {
	w.tb.Helper()
	b := w.bookmark(id, "b", "x")
	b.ActivityType, b.Name, b.Metadata = workflow.TaskType, "pack", "payload of "+id
	w.commit(w.first(id, nil, b))
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 100)
	w.ok(err)
	for _, f := range p.Free {
		if f.Task().ID == b.ID {
			return f
		}
	}
	w.tb.Fatalf("task %s is not free: %+v", b.ID, p)
	return claims.Free{}
}

// retriedTask is a task whose activity has a retry, at an attempt.
func (w *world) retriedTask(id string, attempt int64) claims.Free {
	w.tb.Helper()
	return w.termsTask(id, task.Terms{Attempt: attempt, Failed: "no paper"})
}

func (w *world) termsTask(id string, terms task.Terms) claims.Free {
	w.tb.Helper()
	b := w.bookmark(id, "b", "x")
	b.ActivityType, b.Name, b.Payload = workflow.TaskType, "pack", terms.Into(map[string]any{"taskId": "t"})
	w.commit(w.first(id, nil, b))
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
	if w.ok(err); len(p.Free) != 1 {
		w.tb.Fatalf("%+v", p)
	}
	return p.Free[0]
}

// limitedTask is a task with limits of a minute to be claimed and an hour to be done.
func (w *world) limitedTask(id string) claims.Free {
	w.tb.Helper()
	return w.termsTask(id, task.Terms{ClaimWithin: time.Minute, DoneWithin: time.Hour})
}

// by is a claim of a worker.
func (w *world) by(worker string) store.TaskClaim {
	return store.TaskClaim{ID: "claim of " + worker, Worker: worker, Node: "n1", Since: w.now, Until: w.now.Add(time.Minute), Lease: time.Minute}
}

// claims claims a task that is free.
func (w *world) claims(f claims.Free, worker string) claims.Got {
	w.tb.Helper()
	got, err := w.Claims.Claim(w.ctx(), []claims.Free{f}, w.by(worker))
	if w.ok(err); len(got) != 1 {
		w.tb.Fatalf("%s got %+v", worker, got)
	}
	return got[0]
}

// completing is the commit by which a worker's command in hand ends the instance.
func (w *world) completing(g claims.Got) *store.Commit {
	w.tb.Helper()
	c := ends(w.next(g.Instance, nil))
	c.Consumed = []store.Consumed{{Command: workflow.Command{ID: "done", Kind: workflow.CommandResume, CreatedAt: w.now, Bookmark: g.Task.ID, Claim: g.Named()}, Effect: store.Effect{Outcome: workflow.OutcomeResumed}}}
	return c
}

// lease is the entry of a claim among those that end.
func (w *world) leases() []Due {
	w.tb.Helper()
	from := Places{}
	for i := range TimerShards {
		from[i] = ""
	}
	due, _, err := w.Due(w.ctx(), TaskLeases, from, w.now.Add(48*time.Hour), 100)
	w.ok(err)
	return due
}

// endLeases ends leases, and gives how many tasks it freed.
func (w *world) endLeases(ctx context.Context, due []Due, now time.Time) (freed int, err error) {
	ended, err := w.EndLeases(ctx, due, now)
	return ended.Freed, err
}

func (w *world) free() (names []string) {
	w.tb.Helper()
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 100)
	w.ok(err)
	for _, f := range p.Free {
		names = append(names, fmt.Sprintf("%s %d", f.Task().ID, f.Past.Attempts))
	}
	return names
}

// Of two claims of one task one is refused, and what it has of the instance says what the task is. Who completes it by its
// claim leaves nothing of that; who comes late is refused, and has no effect.
func TestATaskHasOneClaimAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.task("a")
	g := w.claims(f, "one")
	if g.Task.Metadata != "payload of a" || g.Definition != "order" || g.Instance != "a" || g.Claim.Attempt != 1 || g.Claim.Revision == 0 {
		t.Errorf("%+v", g)
	}
	if got, err := w.Claims.Claim(w.ctx(), []claims.Free{f}, w.by("two")); err != nil || len(got) != 0 {
		t.Errorf("another got it too: %+v, %v", got, err)
	}
	if free := w.free(); len(free) != 0 {
		t.Errorf("free: %v", free)
	}
	w.commit(w.completing(g))
	for _, none := range []string{"task/", "task-taken/", "task-lease/", "bookmark/"} {
		w.want(none, 0)
	}

	f = w.task("b")
	late := w.claims(f, "late")
	freed, err := w.endLeases(w.ctx(), w.leases(), late.Claim.Until)
	if w.ok(err); freed != 1 || !slices.Equal(w.free(), []string{"b~b 1"}) {
		t.Fatalf("freed %d, free %v", freed, w.free())
	}
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 10)
	w.ok(err)
	second := w.claims(p.Free[0], "second")
	if second.Claim.Attempt != 2 || p.Free[0].Past.Worker != "late" {
		t.Errorf("%+v after %+v", second, p.Free[0].Past)
	}
	if _, err := w.Commit(w.ctx(), w.completing(late)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("who came late was told %v", err)
	}
	for _, do := range []func() (*store.TaskClaim, error){
		func() (*store.TaskClaim, error) {
			return w.Claims.Heartbeat(w.ctx(), late.Task.ID, late.Named(), claims.Beat{}, w.now)
		},
		func() (*store.TaskClaim, error) {
			return w.Claims.Release(w.ctx(), late.Task.ID, late.Named(), false, "", w.now)
		},
	} {
		if is, err := do(); !errors.Is(err, claims.ErrLost) || is == nil || is.Worker != "second" {
			t.Errorf("%+v, %v", is, err)
		}
	}
	w.commit(w.completing(second))
	w.want("task-taken/", 0)
}

// A heartbeat extends the lease and never shortens it, and keeps what the worker said; its end is then found where it is.
func TestAHeartbeatExtendsTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.claims(w.task("a"), "one")
	half := 50.0
	for _, beat := range []claims.Beat{{Progress: &half, Text: "half"}, {Text: "on"}, {}} {
		is, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), beat, w.now.Add(50*time.Second))
		if w.ok(err); !is.Until.Equal(w.now.Add(110*time.Second)) || *is.Progress != half || is.Text != cmp.Or(beat.Text, "on") {
			t.Errorf("%+v", is)
		}
	}
	if is, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{}, w.now.Add(-time.Hour)); err != nil || !is.Until.Equal(w.now.Add(110*time.Second)) {
		t.Errorf("a clock that is behind shortened it: %+v, %v", is, err)
	}
	freed, err := w.endLeases(w.ctx(), w.leases(), g.Claim.Until)
	if w.ok(err); freed != 0 || len(w.free()) != 0 {
		t.Errorf("freed %d", freed)
	}
	if due := w.leases(); len(due) != 1 || !due[0].At.Equal(w.now.Add(110*time.Second).Truncate(time.Millisecond)) {
		t.Errorf("%+v", due)
	}
	freed, err = w.endLeases(w.ctx(), w.leases(), w.now.Add(110*time.Second))
	if w.ok(err); freed != 1 || !slices.Equal(w.free(), []string{"a~b 1"}) {
		t.Errorf("freed %d, %v", freed, w.free())
	}
	w.want("task-lease/", 0)
}

// A release frees the task, also when it is sent twice; the attempt counts if it failed.
func TestAReleaseFreesATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.task("a")
	for i, failed := range []bool{false, true, true, false} {
		g := w.claims(f, fmt.Sprint("w", i))
		for range 2 {
			if _, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), failed, "no paper", w.now); err != nil {
				t.Fatal(err)
			}
		}
		p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 10)
		w.ok(err)
		if f = p.Free[0]; f.Past.Why != "no paper" {
			t.Errorf("%+v", f)
		}
	}
	if f.Past.Attempts != 2 {
		t.Errorf("%+v", f.Past)
	}
	w.want("task-taken/", 0)
	w.want("task-lease/", 0)
}

// What a node of before left, which knows of no claims: a claim and a lease of a task that nobody waits for any more end
// and leave nothing, and so does a free task that came of them.
func TestWhatANodeOfBeforeLeftGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.claims(w.task("a"), "one")
	taken := w.Keys.Taken.Task(&g.Task)
	value := w.dump()[strings.TrimPrefix(taken, w.Keys.Root)]
	w.commit(ends(w.next("a", nil)))
	w.want("task-lease/", 1) // the commit did not know the claim
	_, err := w.raw.Put(w.ctx(), taken, value)
	w.ok(err)
	if freed, err := w.endLeases(w.ctx(), w.leases(), g.Claim.Until); err != nil || freed != 1 {
		t.Fatal(freed, err)
	}
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 10)
	if w.ok(err); len(p.Free) != 1 {
		t.Fatalf("%+v", p)
	}
	if got, err := w.Claims.Claim(w.ctx(), p.Free, w.by("two")); err != nil || len(got) != 0 {
		t.Errorf("it was given: %+v, %v", got, err)
	}
	for _, none := range []string{"task/", "task-taken/", "task-lease/"} {
		w.want(none, 0)
	}
}

// The lease of a claim that has ended, whose entry a heartbeat left where it was, ends no other claim.
func TestALeaseOfBeforeEndsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.claims(w.task("a"), "one")
	due := w.leases()
	_, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), true, "no paper", w.now)
	w.ok(err)
	_, err = w.raw.Put(w.ctx(), due[0].Key, `{"task":"a~b","name":"pack","created":"2030-01-02T03:04:05Z","claim":"claim of one"}`)
	w.ok(err)
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
	w.ok(err)
	by := w.by("two")
	by.Until = w.now.Add(time.Second)
	_, err = w.Claims.Claim(w.ctx(), p.Free, by)
	w.ok(err)
	for _, d := range w.leases() {
		if d.Lease.Claim == "claim of one" {
			freed, err := w.endLeases(w.ctx(), []record.Due{d}, w.now.Add(time.Hour))
			if w.ok(err); freed != 0 {
				t.Error("it was freed by the lease of another claim")
			}
		}
	}
	w.want("task-taken/", 1)
	w.want("task-lease/", 1)
}

// More tasks than are read in hand are given too, and those that wait no more are left out.
func TestManyAreClaimedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.task(fmt.Sprintf("i%02d", i))
	}
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, claims.Most)
	w.ok(err)
	w.del(w.Keys.Instance("i07"))
	before := w.faults.Calls("txn") + w.faults.Calls("get")
	got, err := w.Claims.Claim(w.ctx(), p.Free, w.by("one"))
	if w.ok(err); len(got) != 19 {
		t.Errorf("%d", len(got))
	}
	if n := w.faults.Calls("txn") + w.faults.Calls("get") - before; n > 8 {
		t.Errorf("%d requests", n)
	}
	w.want("task-taken/", 19)
	w.want("task/", 0)
}

// A list of tasks has those that are free and those that are taken in one order, page by page, each once.
func TestAListOfTasksSaysWhoHasThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.tasksOf("pack", 5, 4, w.now.Add(-time.Hour), time.Second)
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 100)
	w.ok(err)
	var take []claims.Free
	for i, f := range p.Free {
		if i%3 == 1 || i > 16 {
			take = append(take, f)
		}
	}
	_, err = w.Claims.Claim(w.ctx(), take, w.by("one"))
	w.ok(err)
	for limit := range int64(7) {
		for _, name := range []string{"pack", ""} {
			n := 0
			for cursor := ""; ; {
				tasks, end, err := w.Tasks(w.ctx(), name, cursor, limit+1)
				w.ok(err)
				for _, task := range tasks {
					taken := n%3 == 1 || n > 16
					if task.Bookmark.ID != made[n].ID || (task.Claim != nil) != taken {
						t.Fatalf("pages of %d: task %d is %s, claimed %+v", limit+1, n, task.Bookmark.ID, task.Claim)
					}
					n++
				}
				if cursor = end.Next; cursor == "" {
					break
				}
			}
			if n != len(made) {
				t.Errorf("pages of %d have %d tasks of %d", limit+1, n, len(made))
			}
		}
	}
}

// The end of a lease of a task whose activity has a retry tells the instance, and leaves nobody else the task: it is that
// which decides. The claim is over then, so nothing that its worker reports counts.
func TestTheEndOfALeaseIsAnAttemptOfTheRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.retriedTask("a", 3)
	if f.Past.Attempts != 2 || !f.Past.Retried || f.Past.Why != "no paper" {
		t.Fatalf("%+v", f.Past)
	}
	g := w.claims(f, "one")
	if g.Claim.Attempt != 3 || !g.Named().Retried {
		t.Errorf("%+v", g)
	}
	half := 50.0
	is, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{Progress: &half, Text: "half"}, w.now)
	w.ok(err)
	ended, err := w.EndLeases(w.ctx(), w.leases(), is.Until)
	if w.ok(err); ended.Freed != 0 || !slices.Equal(ended.Failed, []string{"a"}) {
		t.Fatalf("%+v", ended)
	}
	for _, none := range []string{"task/", "task-taken/", "task-lease/"} {
		w.want(none, 0)
	}
	mail := w.mailOf("a")
	if len(mail) != 1 || mail[0].Command.ID != store.TaskCommand("a~b") || mail[0].Command.Bookmark != "a~b" || !mail[0].Command.Timer {
		t.Fatalf("%+v", mail)
	}
	if why := fmt.Sprint(mail[0].Command.Input["error"]); !strings.HasPrefix(why, "lease-ended: worker one had it since ") || !strings.HasSuffix(why, ", was at 50 %, said last: half, until its lease ended") {
		t.Error(why)
	}
	if _, err := w.Commit(w.ctx(), w.completing(g)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("who came late was told %v", err)
	}

	// What is given back stays a task of the retry.
	w = newWorld(t)
	g = w.claims(w.retriedTask("b", 1), "one")
	_, err = w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), false, "its worker gave it back", w.now)
	w.ok(err)
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
	if w.ok(err); len(p.Free) != 1 || !p.Free[0].Past.Retried || p.Free[0].Past.Attempts != 0 {
		t.Errorf("%+v", p)
	}
}

// A task that nobody claims in time, and one that is not done in time after its first claim, free or taken, ends: its
// instance is told, and nobody is offered it. What happened in time leaves nothing of the limits.
func TestATaskHasLimits(t *testing.T) {
	t.Parallel()
	one := func(w *world, freed int, ended claims.Ended, says ...string) {
		t.Helper()
		mail := w.mailOf("a")
		if len(ended.Failed) != 1 || ended.Freed != freed || len(mail) != 1 {
			t.Fatalf("%+v, and %+v", ended, mail)
		}
		for _, says := range says {
			if why := fmt.Sprint(mail[0].Command.Input["error"]); !strings.Contains(why, says) {
				t.Errorf("no %q in %s", says, why)
			}
		}
		for _, none := range []string{"task/", "task-taken/"} {
			w.want(none, 0)
		}
	}
	end := func(w *world, after time.Duration) claims.Ended {
		t.Helper()
		from := Places{}
		for i := range TimerShards {
			from[i] = ""
		}
		due, _, err := w.Due(w.ctx(), TaskLeases, from, w.now.Add(after), 100)
		w.ok(err)
		ended, err := w.EndLeases(w.ctx(), due, w.now.Add(after))
		w.ok(err)
		return ended
	}
	w := newWorld(t)
	w.limitedTask("a")
	if early := end(w, time.Minute-time.Second); len(early.Failed) != 0 {
		t.Fatalf("%+v", early)
	}
	one(w, 0, end(w, time.Minute), "unclaimed: no worker claimed it within 1m0s")
	w.want("task-lease/", 0)

	w = newWorld(t) // claimed in time, and never done
	g := w.claims(w.limitedTask("a"), "one")
	w.want("task-lease/", 2)
	if is, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{Text: "soon"}, w.now.Add(2*time.Hour)); err != nil || !is.DoneBy.Equal(w.now.Add(time.Hour)) {
		t.Fatal(is, err)
	}
	one(w, 0, end(w, time.Hour), "overdue: it was not done within 1h0m0s of its first claim; worker one had it since ", "said last: soon")

	w = newWorld(t) // the lease and the time for it end together
	w.claims(w.limitedTask("a"), "one")
	one(w, 1, end(w, 2*time.Hour), "overdue: it was not done within 1h0m0s of its first claim; nobody has it, and worker one had it last: its lease ended")

	w = newWorld(t) // given back: the time goes on, and that for the claim is over
	g = w.claims(w.limitedTask("a"), "one")
	_, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), true, "no paper", w.now)
	w.ok(err)
	if none := end(w, time.Minute); len(none.Failed) != 0 {
		t.Errorf("%+v", none)
	}
	one(w, 0, end(w, time.Hour), "worker one had it last: no paper")

	w = newWorld(t)
	g = w.claims(w.limitedTask("a"), "one")
	w.commit(w.completing(g))
	for _, none := range []string{"task/", "task-taken/", "task-lease/", "bookmark/"} {
		w.want(none, 0)
	}
	w.limitedTask("b")
	w.commit(ends(w.next("b", nil)))
	w.want("task-lease/", 0)
}

// A task has its place by its priority and by when it was made: a step counts as an hour. What becomes of it lies at that
// place too, and leaves nothing there.
func TestATaskHasItsPlaceByItsPriority(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now
	for _, one := range []struct {
		id    string
		above int64
		ago   time.Duration
	}{{"usual", 0, 0}, {"low-and-old", -2, 3 * time.Hour}, {"low", -2, time.Hour}, {"urgent", 1, 0}, {"urgent-and-late", 4, -4 * time.Hour}, {"limited", 2, 0}} {
		b := w.bookmark(one.id, "b", "x")
		terms := task.Terms{Above: one.above}
		if one.id == "limited" {
			terms.ClaimWithin, terms.DoneWithin = time.Minute, time.Minute
		}
		b.ActivityType, b.Name, b.CreatedAt, b.Payload = workflow.TaskType, "pack", at.Add(-one.ago), terms.Into(map[string]any{})
		w.commit(w.first(one.id, nil, b))
	}
	want := []string{"limited~b 0", "low-and-old~b 0", "urgent~b 0", "urgent-and-late~b 0", "usual~b 0", "low~b 0"}
	if got := w.free(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 100)
	w.ok(err)
	for i, f := range p.Free {
		g := w.claims(f, "one")
		if again := w.tasksTaken(); !slices.Equal(again, []string{g.Task.ID}) {
			t.Fatalf("%q", again)
		}
		if _, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{Text: "soon"}, w.now); err != nil {
			t.Error(err)
		}
		if i%2 == 0 {
			_, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), false, "", w.now)
			w.ok(err)
			if free := w.free(); !slices.Equal(free, want[i:]) {
				t.Errorf("%q, want %q", free, want[i:])
			}
			p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
			w.ok(err)
			g = w.claims(p.Free[0], "two")
		}
		w.commit(w.completing(g))
	}
	for _, none := range []string{"task/", "task-taken/", "task-lease/", "bookmark/"} {
		w.want(none, 0)
	}
}

// tasksTaken are the ids of the tasks that somebody has, as lists have them.
func (w *world) tasksTaken() (ids []string) {
	w.tb.Helper()
	tasks, _, err := w.Tasks(w.ctx(), "pack", "", 100)
	w.ok(err)
	for i := range tasks {
		if tasks[i].Claim != nil {
			ids = append(ids, tasks[i].Bookmark.ID)
		}
	}
	return ids
}
