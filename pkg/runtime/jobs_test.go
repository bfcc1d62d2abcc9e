package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/workflow"
)

const countedSteps = `
id: counted
root:
  - writeLine: first
    id: first
  - event: go
    id: go
`

func (m *member) ended(id string) job.Job {
	m.T.Helper()
	var theJob job.Job
	eventually(m.T, "the job ends", func() bool {
		var err error
		theJob, err = m.Jobs.ReadJob(m.T.Context(), id)
		return err == nil && theJob.State != store.JobRunning
	})
	return theJob
}

// A job is worked by all nodes at the same time, and by one that is stopped in the middle
// of each page: each instance takes its command once, and is counted once.
func TestAJobReachesEachInstanceOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	const n = 120
	c[0].Publish(countedSteps)
	var starts sync.WaitGroup
	for i := range n {
		starts.Go(func() { c[i%3].Start("counted", fmt.Sprintf("j%03d", i), "") })
	}
	starts.Wait()
	c[0].Event("go", "", nil) // for all; some are ended before
	for _, id := range []string{"j000", "j001", "j002"} {
		c[0].Finished(id)
	}
	for i := range n {
		c[0].Finished(fmt.Sprintf("j%03d", i))
	}
	for i := range n {
		starts.Go(func() { c[i%3].Start("counted", fmt.Sprintf("k%03d", i), "") })
	}
	starts.Wait()

	req := job.Request{Kind: workflow.CommandAlter, By: "key:ops", Filter: find.Filter{DefinitionID: "counted"},
		Alter: &workflow.Alter{By: "key:ops", Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}}
	p, err := c[1].Jobs.PreviewJob(t.Context(), req, n+1)
	if err != nil || p.Matching != 2*n || p.More || p.Tried != n+1 || p.Fits != n || len(p.Refusals) != 1 || p.Refusals[0].Code != string(workflow.CodeInstanceFinished) {
		t.Errorf("preview %+v, %v", p, err)
	}
	req.Key = &runtime.Key{Scope: "jobs", Value: "one", BodyHash: "b"}
	theJob, err := c[1].Jobs.CreateJob(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c[2].Jobs.CreateJob(t.Context(), req); err != nil || again.ID != theJob.ID {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	req.Key.BodyHash = "other"
	if _, err := c[2].Jobs.CreateJob(t.Context(), req); workflow.CodeOf(err) != workflow.CodeKeyReused {
		t.Errorf("another request with the key: %v", err)
	}
	var work sync.WaitGroup
	for i := range 6 {
		work.Go(func() {
			for more := true; more && t.Context().Err() == nil; {
				ctx, stop := context.WithTimeout(t.Context(), []time.Duration{20 * time.Millisecond, time.Minute}[i%2]) // half of them die again and again
				var err error
				more, err = c[i%3].Jobs.WorkJob(ctx, theJob.ID)
				more = more || ctx.Err() != nil
				stop()
				if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
					t.Errorf("worker %d: %v", i, err)
				}
				if is, err := c[0].Jobs.ReadJob(t.Context(), theJob.ID); err == nil && is.State != store.JobRunning {
					return
				}
			}
		})
	}
	work.Wait()
	done := c[0].ended(theJob.ID)
	if done.State != store.JobDone || done.Done+done.Accepted != n || done.Refused != n || done.Unknown != 0 || len(done.Refusals) != 100 || done.Page != nil {
		t.Errorf("job %+v", done)
	}
	for i := range n {
		id := fmt.Sprintf("k%03d", i)
		eventually(t, id+" has run its first activity again", func() bool { return len(c[i%3].Lines(id)) >= 2 })
		if lines := c[0].Lines(id); len(lines) != 2 {
			t.Errorf("%s: %v", id, lines)
		}
		if lines := c[0].Lines(fmt.Sprintf("j%03d", i)); len(lines) != 1 {
			t.Errorf("one that has ended: %v", lines)
		}
	}
	c[0].Sound()
}

func TestJobsEndAndAreForgotten(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(countedSteps)
	for i := range 3 {
		c[0].Start("counted", fmt.Sprint("x", i), "")
	}
	theJob, err := c[0].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandCancel, Filter: find.Filter{DefinitionID: "counted", Status: workflow.StatusRunning}})
	if err != nil {
		t.Fatal(err)
	}
	if theJob = c[1].ended(theJob.ID); theJob.Done != 3 || theJob.State != store.JobDone || theJob.EndedAt == nil {
		t.Errorf("%+v", theJob)
	}
	for i := range 3 {
		if in := c[0].Finished(fmt.Sprint("x", i)); in.SubStatus != workflow.Cancelled {
			t.Errorf("%+v", in)
		}
	}
	page, err := c[1].Jobs.Jobs(t.Context(), "", 10)
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != theJob.ID {
		t.Errorf("%+v, %v", page, err)
	}
	for range 2 { // of one that has ended nothing changes
		if is, err := c[1].Jobs.CancelJob(t.Context(), theJob.ID); err != nil || is.State != store.JobDone {
			t.Errorf("%+v, %v", is, err)
		}
	}
	if err := c[1].Jobs.ForgetJob(t.Context(), theJob.ID); err != nil {
		t.Error(err)
	}
	if _, err := c[0].Jobs.ReadJob(t.Context(), theJob.ID); workflow.CodeOf(err) != workflow.CodeJobNotFound {
		t.Errorf("it was forgotten: %v", err)
	}
	theJob, err = c[0].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandDelete, Filter: find.Filter{DefinitionID: "counted"}})
	if err != nil {
		t.Fatal(err)
	}
	if theJob = c[1].ended(theJob.ID); theJob.Done != 3 {
		t.Errorf("%+v", theJob)
	}
	if left := c[0].InstancesOf("counted"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	c[0].Sound()
}

// A job that is cancelled in the middle of a page gives no further command, and counts
// those that it has given.
func TestAJobCancelledMidway(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	const n, stopAt = 60, 20
	c[0].Publish(countedSteps)
	for i := range n {
		c[i%2].Start("counted", fmt.Sprintf("k%02d", i), "")
	}
	var begun job.Job // there when made is closed
	var puts atomic.Int64
	made := make(chan struct{})
	for i, m := range c {
		m.Faults.Add(clustertest.Rule{Match: func(call clustertest.Call) bool {
			if call.PutsUnder(m.Root + "mailbox/") {
				<-made
				if puts.Add(1) == stopAt {
					if _, err := c[1-i].Jobs.CancelJob(t.Context(), begun.ID); err != nil {
						t.Error(err)
					}
				}
			}
			return false
		}})
	}
	var err error
	begun, err = c[0].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "counted"},
		Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}})
	if err != nil {
		t.Fatal(err)
	}
	close(made)
	var theJob job.Job
	eventually(t, "what became of the page is noted", func() bool {
		theJob, err = c[0].Jobs.ReadJob(t.Context(), begun.ID)
		return err == nil && !theJob.Open()
	})
	if theJob.State != store.JobCancelled || theJob.Done < stopAt-8 || theJob.Done > stopAt || theJob.Accepted+theJob.Refused+theJob.Unknown != 0 {
		t.Errorf("%+v", theJob)
	}
	twice := int64(0)
	for i := range n {
		if lines := c[0].Lines(fmt.Sprintf("k%02d", i)); len(lines) == 2 {
			twice++
		}
	}
	if twice != theJob.Done {
		t.Errorf("%d instances have run it again, and the job counts %d", twice, theJob.Done)
	}
	c[0].Sound()
}

// A page that was found late by a program which did not note at which revision it was written, or
// that was copied from another etcd, is not given its commands again.
func TestAPageThatIsTooOld(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{0, 1, 1 << 60} {
		m := newCluster(t, 1)[0]
		m.Publish(countedSteps)
		m.Start("counted", "x", "")
		theJob := &job.Job{ID: "j", Kind: workflow.CommandCancel, State: store.JobRunning, Write: "w", CreatedAt: time.Now().UTC(), UpdatedAt: time.Now().UTC(), Page: []string{"x", "gone"},
			Late: time.Now().UTC(), LateAt: at}
		if _, err := m.Store.Jobs.Create(t.Context(), theJob); err != nil {
			t.Fatal(err)
		}
		if is := m.ended("j"); is.State != store.JobDone || is.Unknown != 2 || is.Done != 0 {
			t.Errorf("at %d: %+v", at, is)
		}
		if in, err := m.Inspector.Instance(t.Context(), "x"); err != nil || in.Status != workflow.StatusRunning {
			t.Errorf("at %d: %+v, %v", at, in, err)
		}
	}
}

// A page that is late, or was so once, is given to those to whom nobody gave it: what a commit has
// taken up is not given again, whose record is gone. Clocks that are hours off tell nothing.
func TestALatePage(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		m := newCluster(t, 1, func(c *membertest.Config) { c.AgeEvery = 50 * time.Millisecond })[0]
		m.Publish(countedSteps)
		m.Start("counted", "taken", "")
		m.Start("counted", "never", "")
		began := time.Now().UTC().Add(10 * time.Hour) // by the clock of a node that was ahead
		alter := &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}
		theJob := &job.Job{ID: "j", Kind: workflow.CommandAlter, Alter: alter, State: store.JobRunning, Write: "w", CreatedAt: began, UpdatedAt: began, Page: []string{"taken", "never", "gone"}}
		etcd := clustertest.Shared(t).Client(t)
		put := func(key string, value []byte) {
			t.Helper()
			if _, err := etcd.Put(t.Context(), m.Root+key, string(value)); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := etcdstore.Encode(theJob)
		if err != nil {
			t.Fatal(err)
		}
		put("job/j", raw) // no node works it before it is open
		theJob, err = m.Store.Jobs.Job(t.Context(), "j")
		if err != nil {
			t.Fatal(err)
		}
		given := workflow.Command{ID: "job-" + workflow.DeriveID("j", "taken"), Kind: workflow.CommandAlter, Alter: alter, CreatedAt: began}
		if _, _, err := m.Store.Stimuli.PutMail(t.Context(), "taken", given, nil); err != nil {
			t.Fatal(err)
		}
		m.Wakeups.Hint([]string{"taken"}, false)
		eventually(t, "the command of an earlier node is taken up", func() bool { return len(m.Lines("taken")) == 2 })
		eventually(t, "its record is there", func() bool {
			got, err := etcd.Delete(t.Context(), m.Root+"idem/c/taken/"+given.ID)
			return err == nil && got.Deleted == 1
		})
		if once {
			theJob.FindLate()
			if done, err := m.Store.Jobs.Write(t.Context(), theJob); err != nil || !done {
				t.Fatal(done, err)
			}
		} else {
			eventually(t, "the page is old", func() bool {
				m.Elapsed.Add(int64(time.Minute))
				return m.Age.Now().Of(theJob.Modified) > 20*time.Minute // much more than counts: what this node believes runs ahead of what is written
			})
		}
		put("job-open/j", nil)
		if is := m.ended("j"); is.State != store.JobDone || is.Done != 2 || is.Unknown != 1 || is.Accepted+is.Refused != 0 || !is.Late.IsZero() || is.LateAt != 0 {
			t.Errorf("late once %t: %+v", once, is)
		}
		for _, id := range []string{"taken", "never"} {
			if lines := m.Lines(id); len(lines) != 2 {
				t.Errorf("late once %t: %s: %v", once, id, lines)
			}
		}
		m.Sound()
	}
}

// Each instance gets all of what is altered, so that is bounded.
func TestAJobIsBounded(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(countedSteps)
	req := job.Request{Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "counted"},
		Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSetVariable, Variable: "x", Value: strings.Repeat("x", 600<<10)}}}}
	if theJob, err := m.Jobs.CreateJob(t.Context(), req); workflow.CodeOf(err) != workflow.CodeTooLarge || !strings.Contains(err.Error(), "524288 bytes") {
		t.Errorf("%+v, %v", theJob, err)
	}
}

// Of a job that was cancelled while the node that worked it was dead, another one notes
// what became of its page, and gives no command.
func TestACancelledPage(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(countedSteps)
	m.Start("counted", "x", "")
	if err := m.Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has heard of the pause", m.Intake().Suspended)
	now := time.Now().UTC()
	theJob := &job.Job{ID: "j", Kind: workflow.CommandCancel, State: store.JobRunning, Write: "w", CreatedAt: now, UpdatedAt: now, Page: []string{"x", "gone"}}
	if _, err := m.Store.Jobs.Create(t.Context(), theJob); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as one whose answer was lost
		if is, err := m.Jobs.CancelJob(t.Context(), "j"); err != nil || is.State != store.JobCancelled {
			t.Fatal(is, err)
		}
	}
	if err := m.Pauses.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what became of the page is noted", func() bool {
		is, err := m.Jobs.ReadJob(t.Context(), "j")
		return err == nil && is.State == store.JobCancelled && is.Unknown == 1 && is.Done+is.Accepted+is.Refused == 0 && !is.Open()
	})
	if in, err := m.Inspector.Instance(t.Context(), "x"); err != nil || in.Status != workflow.StatusRunning {
		t.Errorf("%+v, %v", in, err)
	}
	m.Sound()
}

// What cannot be read is refused, what etcd has no room for is refused unless it makes
// room, and what operators may not see finds nothing.
func TestWhatAJobIsNotFor(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) {
		c.Show = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	})[0]
	m.Publish(countedSteps)
	for _, id := range []string{"whole", "torn"} {
		m.Start("counted", id, "hunter2-"+id)
	}
	if _, err := clustertest.Shared(t).Client(t).Put(t.Context(), m.Root+"instance/torn", "{torn"); err != nil {
		t.Fatal(err)
	}
	theJob := func(req job.Request) job.Job {
		t.Helper()
		made, err := m.Jobs.CreateJob(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return m.ended(made.ID)
	}
	cancel := job.Request{Kind: workflow.CommandCancel, Filter: find.Filter{CorrelationPrefix: "hunt"}}
	if is := theJob(cancel); is.Done != 0 {
		t.Errorf("found by what is hidden: %+v", is)
	}
	if p, err := m.Jobs.PreviewJob(t.Context(), cancel, 10); err != nil || p.Fits != 0 {
		t.Errorf("found by what is hidden: %+v, %v", p, err)
	}
	cancel.Filter = find.Filter{DefinitionID: "counted"}
	if p, err := m.Jobs.PreviewJob(t.Context(), cancel, 10); err != nil || p.Fits != 1 || len(p.Refusals) != 1 || p.Refusals[0].Code != string(workflow.CodeDamaged) {
		t.Errorf("%+v, %v", p, err)
	}
	m.Intake().SetSpace(intake.Full, etcdstore.Space{})
	if _, err := m.Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: cancel.Filter,
		Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}}); workflow.CodeOf(err) != workflow.CodeStoreNearlyFull {
		t.Errorf("no room, and %v", err)
	}
	if is := theJob(cancel); is.Done != 1 || is.Refused != 1 || is.Refusals[0].InstanceID != "torn" || is.Refusals[0].Code != string(workflow.CodeDamaged) {
		t.Errorf("%+v", is)
	}
}

// A job in a cluster that is paused says that it rests for that, and with how it goes on; one that has ended does not.
func TestAJobSaysThatTheClusterIsPaused(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	theJob := &job.Job{ID: "j", Kind: workflow.CommandCancel, State: store.JobRunning}
	if why := m.Jobs.JobRests(theJob); why != "" {
		t.Errorf("it rests: %s", why)
	}
	m.Intake().SetPaused(true)
	if why := m.Jobs.JobRests(theJob); !strings.Contains(why, "the cluster is paused") || !strings.Contains(why, "weft cluster unpause") {
		t.Errorf("it rests: %q", why)
	}
	theJob.State = store.JobDone
	if why := m.Jobs.JobRests(theJob); why != "" {
		t.Errorf("it has ended, and rests: %s", why)
	}
}

// A job that was cancelled goes no further, and what a node did beside that is counted.
func TestACancelledJobGoesNoFurther(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	if err := c[0].Pauses.Pause(t.Context()); err != nil { // so that nobody works it but who is told to
		t.Fatal(err)
	}
	theJob := &job.Job{ID: "j", Kind: workflow.CommandCancel, State: store.JobRunning, Write: "w", CreatedAt: time.Now().UTC()}
	if _, err := c[0].Store.Jobs.Create(t.Context(), theJob); err != nil {
		t.Fatal(err)
	}
	if err := c[1].Jobs.ForgetJob(t.Context(), "j"); workflow.CodeOf(err) != workflow.CodeJobRunning {
		t.Errorf("one that runs was forgotten: %v", err)
	}
	if _, err := c[1].Jobs.CancelJob(t.Context(), "j"); err != nil {
		t.Fatal(err)
	}
	if more, err := c[0].Jobs.WorkJob(t.Context(), "j"); more || err != nil {
		t.Errorf("%t, %v", more, err)
	}
	if is, err := c[0].Jobs.ReadJob(t.Context(), "j"); err != nil || is.State != store.JobCancelled {
		t.Errorf("%+v, %v", is, err)
	}
	if err := c[0].Pauses.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]job.Request{
		"a migration of all":          {Kind: workflow.CommandAlter, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: 2}}}},
		"a version that there is not": {Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "counted"}, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: 9}}}},
		"one execution":               {Kind: workflow.CommandAlter, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSkip, Execution: 7}}}},
		"nothing":                     {Kind: workflow.CommandAlter, Alter: &workflow.Alter{}},
	} {
		if _, err := c[0].Jobs.CreateJob(t.Context(), req); workflow.CodeOf(err) != workflow.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAJobLeavesAloneWhatComesLater holds that what is started after the job was accepted is
// none of its.
func TestAJobLeavesAloneWhatComesLater(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(countedSteps)
	m.Start("counted", "x", "")
	theJob, err := m.Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandDelete, Filter: find.Filter{DefinitionID: "counted"}})
	if err != nil {
		t.Fatal(err)
	}
	m.Start("counted", "later", "")
	if is := m.ended(theJob.ID); is.Done != 1 {
		t.Errorf("%+v", is)
	}
	if _, err := m.Inspector.Instance(t.Context(), "later"); err != nil {
		t.Errorf("an instance that was started after the job was accepted: %v", err)
	}
}

// TestACancelThatCannotReadSaysSo holds that nobody hears of a cancel that was not made.
func TestACancelThatCannotReadSaysSo(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(countedSteps)
	if err := m.Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has heard of the pause", m.Intake().Suspended)
	theJob := &job.Job{ID: "j", Kind: workflow.CommandCancel, State: store.JobRunning, Write: "w", CreatedAt: time.Now().UTC(), Page: []string{"x"}}
	if _, err := m.Store.Jobs.Create(t.Context(), theJob); err != nil {
		t.Fatal(err)
	}
	m.Faults.Add(clustertest.Rule{Times: 1, Match: func(c clustertest.Call) bool { return c.Touches(m.Root + "job/") }})
	_, err := m.Jobs.CancelJob(t.Context(), theJob.ID)
	is, unread := m.Jobs.ReadJob(t.Context(), theJob.ID)
	if unread != nil || err == nil && is.State != store.JobCancelled {
		t.Errorf("cancelled: %v; the job is %q, %v", err, is.State, unread)
	}
}

// TestAKeyOfAForgottenJob makes no other one, and does not say that it did.
func TestAKeyOfAForgottenJob(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(countedSteps)
	req := job.Request{Kind: workflow.CommandCancel, Filter: find.Filter{DefinitionID: "counted"}, Key: &runtime.Key{Scope: "jobs", Value: "one", BodyHash: "b"}}
	theJob, err := m.Jobs.CreateJob(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	m.ended(theJob.ID)
	if err := m.Jobs.ForgetJob(t.Context(), theJob.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := m.Jobs.CreateJob(t.Context(), req); workflow.CodeOf(err) != workflow.CodeKeyReused {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestARefusalTellsNoHiddenValue has a variable that is kept out of the journal and does not
// fit another version.
func TestARefusalTellsNoHiddenValue(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	const source = "id: leak\noptions: {logging: Exclude}\nvariables: {card: TYPE}\nroot:\n  - setVariable: {variable: card, value: VALUE}\n    id: set\n  - event: go\n    id: go\n"
	m.Publish(strings.NewReplacer("TYPE", "String", "VALUE", "h1dden-card").Replace(source))
	m.Start("leak", "x", "")
	m.Publish(strings.NewReplacer("TYPE", "Int32", "VALUE", "4").Replace(source))
	theJob, err := m.Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "leak"},
		Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	is := m.ended(theJob.ID)
	if len(is.Refusals) != 1 || strings.Contains(is.Refusals[0].Detail, "h1dden") || !strings.Contains(is.Refusals[0].Detail, "variable card") {
		t.Errorf("%+v", is.Refusals)
	}
}

// Two nodes may be at one late page, as both take themselves for the one that works it. The
// one that comes too late with its commands counts nothing, and nobody is forgotten.
func TestALatePageThatAnotherNodeIsAt(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.AgeEvery = 50 * time.Millisecond })[0]
	m.Publish(countedSteps)
	m.Start("counted", "never", "")
	if err := m.Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has heard of the pause", m.Intake().Suspended)
	etcd := clustertest.Shared(t).Client(t)
	var once sync.Once
	moved := make(chan error, 1)
	m.Faults.Add(clustertest.Rule{Match: func(call clustertest.Call) bool {
		if call.PutsUnder(m.Root + "mailbox/") {
			once.Do(func() { // the other node writes that the page is late
				got, err := etcd.Get(t.Context(), m.Root+"job/j")
				if err == nil && len(got.Kvs) == 1 {
					_, err = etcd.Put(t.Context(), m.Root+"job/j", string(got.Kvs[0].Value))
				}
				moved <- err
			})
		}
		return false
	}})
	began := time.Now().UTC()
	alter := &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}
	theJob := &job.Job{ID: "j", Kind: workflow.CommandAlter, Alter: alter, State: store.JobRunning, Write: "w", CreatedAt: began, UpdatedAt: began, Page: []string{"never"}}
	if _, err := m.Store.Jobs.Create(t.Context(), theJob); err != nil {
		t.Fatal(err)
	}
	theJob, err := m.Store.Jobs.Job(t.Context(), "j")
	if err != nil {
		t.Fatal(err)
	}
	theJob.FindLate()
	if done, err := m.Store.Jobs.Write(t.Context(), theJob); err != nil || !done {
		t.Fatal(done, err)
	}
	if err := m.Pauses.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if is := m.ended("j"); is.State != store.JobDone || is.Done != 1 || is.Unknown+is.Accepted+is.Refused != 0 {
		t.Errorf("%+v", is)
	}
	select {
	case err := <-moved:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("nothing was given")
	}
	if lines := m.Lines("never"); len(lines) != 2 {
		t.Errorf("%v", lines)
	}
	m.Sound()
}
