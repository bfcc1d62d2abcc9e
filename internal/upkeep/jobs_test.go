package upkeep_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// A job goes on where its node has died in the middle of a page: each of a thousand instances
// (160 in small runs) takes its command once, and is counted once. So it is where those that took it
// are of the filter no more.
func TestAJobSurvivesItsNode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    int
		job  store.Job
	}{
		{"all stay", testsize.Of(1000, 160), store.Job{Kind: workflow.CommandAlter, Filter: "def:counted",
			Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}}},
		{"they leave", 120, store.Job{Kind: workflow.CommandCancel, Filter: "status:running def:counted"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			aJobSurvives(t, tt.n, &tt.job)
		})
	}
}

func aJobSurvives(t *testing.T, n int, job *store.Job) {
	t.Helper()
	c := newCluster(t, 2)
	a, b := c[0], c[1]
	a.Publish("id: counted\nroot:\n  - writeLine: first\n    id: first\n  - event: go\n")
	id := func(i int) string { return fmt.Sprintf("k:%04d._-", i) }
	var starts sync.WaitGroup
	for from := range 16 {
		starts.Go(func() {
			for i := from; i < n; i += 16 {
				c[i%2].Start("counted", id(i), "")
			}
		})
	}
	starts.Wait()
	var commands atomic.Int64
	died := a.die(func(call clustertest.Call) bool {
		return call.PutsUnder(a.Root+"mailbox/") && commands.Add(1) == int64(n/2+10)
	})
	job.State, job.Write, job.CreatedAt = store.JobRunning, "w", time.Now().UTC()
	for job.ID = workflow.NewID(); b.Session.PreferredNode("job/"+job.ID) != "a"; job.ID = workflow.NewID() {
	}
	if _, err := b.Store.Jobs.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	<-died
	if is, err := b.Jobs.ReadJob(t.Context(), job.ID); err != nil || is.State != store.JobRunning || is.Done == 0 || len(is.Page) == 0 {
		t.Errorf("when its node died: %+v, %v", is, err)
	}
	b.expire("a")
	polltest.Within(t, 5*time.Minute, "the job ends", func() bool { // half of a thousand, after a takeover
		is, err := b.Jobs.ReadJob(t.Context(), job.ID)
		*job = is
		return err == nil && !is.Open()
	})
	if job.State != store.JobDone || job.Done+job.Accepted != int64(n) || job.Refused+job.Unknown != 0 || job.Node != "b" {
		t.Errorf("%+v", job)
	}
	for i := range n {
		if job.Kind == workflow.CommandCancel {
			if in := b.Finished(id(i)); in.SubStatus != workflow.Cancelled {
				t.Errorf("%+v", in)
			}
			continue
		}
		eventually(t, id(i)+" runs again", func() bool { return len(b.Lines(id(i))) >= 2 })
		if lines := b.Lines(id(i)); len(lines) != 2 {
			t.Fatalf("%s: %v", id(i), lines)
		}
	}
	b.Sound()
}

// Jobs that ended are kept for a while, and not more than some.
func TestJobsThatEndedAreForgotten(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	for i := range 5 {
		job := &store.Job{ID: fmt.Sprint("j", 9-i), State: store.JobDone, Write: "w", CreatedAt: time.Now().UTC()}
		if i == 0 {
			job.State = store.JobRunning
			job.Filter = "def:nobody" // ends by itself at once
		}
		if _, err := m.Store.Jobs.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the first ends", func() bool { is, err := m.Jobs.ReadJob(t.Context(), "j9"); return err == nil && !is.Open() })
	left := func() (ids []string) {
		page, err := m.Jobs.Jobs(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			ids = append(ids, page.Items[i].ID)
		}
		return ids
	}
	for _, tt := range []struct {
		keep time.Duration
		most int
		want string
	}{{time.Hour, 10, "[j5 j6 j7 j8 j9]"}, {time.Hour, 3, "[j5 j6 j9]"}, {-time.Second, 3, "[]"}} {
		if err := m.Upkeep.PurgeJobs(t.Context(), tt.keep, tt.most); err != nil {
			t.Fatal(err)
		}
		if is := fmt.Sprint(left()); is != tt.want {
			t.Errorf("kept for %v, at most %d: %s, want %s", tt.keep, tt.most, is, tt.want)
		}
	}
}

// A job that the node which is preferred for it does not touch, as one of an older version that
// cannot read it, is worked by another one; and one that is worked is left to its node.
func TestAJobThatRestsIsTakenUp(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, func(c *membertest.Config) { c.JobRests = 300 * time.Millisecond })
	a, b := c[0], c[1]
	a.Publish("id: counted\nroot:\n  - writeLine: first\n    id: first\n  - event: go\n")
	for i := range 120 {
		b.Start("counted", fmt.Sprintf("k%03d", i), "")
	}
	a.Faults.Add(clustertest.Rule{Match: func(call clustertest.Call) bool { return call.Touches(a.Root + "job/") }})
	job := &store.Job{Kind: workflow.CommandCancel, Filter: "status:running def:counted", State: store.JobRunning, Write: "w", CreatedAt: time.Now().UTC()}
	for job.ID = workflow.NewID(); b.Session.PreferredNode("job/"+job.ID) != "a"; job.ID = workflow.NewID() {
	}
	if _, err := b.Store.Jobs.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job ends", func() bool {
		is, err := b.Jobs.ReadJob(t.Context(), job.ID)
		*job = is
		return err == nil && !is.Open()
	})
	if job.State != store.JobDone || job.Done != 120 || job.Refused+job.Unknown+job.Accepted != 0 || job.Node != "b" {
		t.Errorf("%+v", job)
	}
	b.Sound()
}
