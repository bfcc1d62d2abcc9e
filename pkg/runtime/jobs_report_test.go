package runtime_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/workflow"
)

// A job tells what its instances are since, how many refused and why, over all pages, and each once.
func TestAJobTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(brittle("brittle", "Always"))
	const n = 55
	for i := range n {
		c[i%2].Start("brittle", fmt.Sprintf("b%02d", i), "")
	}
	c[0].Event("go", "", nil)
	faulted := find.Filter{DefinitionID: "brittle", SubStatus: workflow.Faulted}
	eventually(t, "all fault", func() bool {
		p, err := c[0].Jobs.PreviewJob(t.Context(), job.Request{Kind: workflow.CommandCancel, Filter: faulted}, 1)
		return err == nil && p.Matching == n
	})
	for _, id := range []string{"b03", "b51"} { // of either page
		if _, err := c[0].Commands.Alter(t.Context(), id, mend(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c[0].Commands.Cancel(t.Context(), "b03", nil); err != nil {
		t.Fatal(err)
	}
	// One that runs refuses a retry, and so does one that was cancelled.
	theJob, err := c[1].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "brittle"}, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry}}}})
	if err != nil {
		t.Fatal(err)
	}
	is := c[0].ended(theJob.ID)
	if !maps.Equal(is.Became, map[string]int64{"Faulted": n - 2}) || is.Moving != nil || is.RefusedBy["instance-finished"]+is.RefusedBy["instance-not-faulted"] != 2 || len(is.RefusedBy) != 2 {
		t.Errorf("became %v, refused %v, %+v", is.Became, is.RefusedBy, is)
	}
	if got, want := job.Report(&is), "53 took it (faulted again 53), 2 refused it (instance-finished 1, instance-not-faulted 1)"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	theJob, err = c[1].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: faulted, Alter: mend()})
	if err != nil {
		t.Fatal(err)
	}
	if is = c[0].ended(theJob.ID); job.Report(&is) != "53 took it (waiting 53)" {
		t.Errorf("it says %q", job.Report(&is))
	}
	theJob, err = c[1].Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandDelete, Filter: find.Filter{DefinitionID: "brittle"}})
	if err != nil {
		t.Fatal(err)
	}
	if is = c[0].ended(theJob.ID); job.Report(&is) != "55 took it (deleted 55)" {
		t.Errorf("it says %q", job.Report(&is))
	}
}

// What is at work when the last page is done is waited for, and is then what it came to.
func TestAJobWaitsForWhatIsAtWork(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	m := newCluster(t, 1, func(c *membertest.Config) {
		c.Registry = activities.Default()
		err := engine.RegisterFunc(c.Registry, workflow.Descriptor{Type: "test.Call"}, func(ctx context.Context, _ *engine.Execution, _ struct{}) (struct{}, error) {
			began <- struct{}{}
			select {
			case <-ctx.Done():
				return struct{}{}, ctx.Err()
			case <-goOn:
				return struct{}{}, nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})[0]
	m.Publish("id: calls\nvariables:\n  broken: {type: text, default: x}\nroot:\n  - writeLine: \"${{ int(variables.broken) }}\"\n  - test.Call:\n")
	m.Start("calls", "i", "")
	theJob, err := m.Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Filter: find.Filter{DefinitionID: "calls"}, Alter: mend()})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if is, err := m.Jobs.ReadJob(t.Context(), theJob.ID); err != nil || is.State != store.JobRunning {
		t.Errorf("%+v, %v", is, err)
	}
	close(goOn)
	is := m.ended(theJob.ID)
	if got := job.Report(&is); got != "1 took it (finished 1)" {
		t.Errorf("it says %q of %+v", got, is)
	}
}

// What nobody looked at is not said to be at work: of a job that has ended, pages of which a node of an older version worked.
func TestAReportOfPagesThatNobodyLookedAt(t *testing.T) {
	t.Parallel()
	for want, theJob := range map[string]job.Job{
		"300 took it (not looked at 300)":                         {State: store.JobDone, Done: 300},
		"300 took it (finished 50, at work 2, not looked at 248)": {State: store.JobDone, Done: 300, Became: map[string]int64{"Finished": 50, "Executing": 1, "Pending": 1}},
		"300 took it (finished 50, at work 250)":                  {State: store.JobRunning, Done: 300, Became: map[string]int64{"Finished": 50}},
		"0 took it":                                               {State: store.JobCancelled},
	} {
		if got := job.Report(&theJob); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
