package activities_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/activities"
)

// TestEveryActivitySaysWhetherItHasAnEffectOutside: who adds one decides. Up to the first
// that has an effect outside, a burst may be run in vain, and on two nodes at once.
func TestEveryActivitySaysWhetherItHasAnEffectOutside(t *testing.T) {
	t.Parallel()
	const (
		none    = false // all that it does is in the commit
		outside = true
	)
	answers := map[string]bool{
		"Elsa.Break": none, "Elsa.Complete": none, "Elsa.End": none, "Elsa.Fault": none, "Elsa.Finish": none, "Elsa.Start": none,
		"Elsa.Composite": none, "Elsa.Container": none, "Elsa.Fork": none, "Elsa.Parallel": none, "Elsa.Sequence": none, "Elsa.StateMachine": none,
		"Elsa.FlowDecision": none, "Elsa.FlowFork": none, "Elsa.FlowJoin": none, "Elsa.FlowNode": none, "Elsa.FlowSwitch": none, "Elsa.Flowchart": none,
		"Elsa.For": none, "Elsa.ForEach": none, "Elsa.If": none, "Elsa.ParallelForEach": none, "Elsa.Switch": none, "Elsa.While": none,
		"Elsa.Correlate": none, "Elsa.SetLabel": none, "Elsa.SetName": none, "Elsa.SetOutput": none, "Elsa.SetVariable": none,
		"Elsa.Cron": none, "Elsa.Delay": none, "Elsa.Event": none, "Elsa.HttpEndpoint": none, "Elsa.StartAt": none, "Elsa.Timer": none,
		"Elsa.BulkDispatchWorkflows": none, "Elsa.DispatchWorkflow": none, "Elsa.ExecuteWorkflow": none, // the commit starts them
		"Elsa.PublishEvent": none, "Elsa.RunTask": none, "Elsa.UserTask": none, "Elsa.WriteHttpResponse": none, "Elsa.WriteFileHttpResponse": none, // others learn of it after the commit
		"Elsa.RetryPolicy": none, "Elsa.Scope": none, "Elsa.WithLimit": none, "Elsa.Fail": none, "Elsa.Compensate": none, "Elsa.RunJavaScript": none, "Elsa.RunCSharp": none, // a script reaches nothing
		"Elsa.ReadFile": none, "Elsa.WriteLine": none, // the node's output is a log of what ran
		"Elsa.SendEmail": outside, "Elsa.SqlCommand": outside, "Elsa.SqlQuery": outside, "Elsa.SqlSingleValue": outside, "Elsa.Inline": outside, "Elsa.FlowSendHttpRequest": outside, "Elsa.SendHttpRequest": outside, "Elsa.DownloadHttpFile": outside,
	}
	all := activities.Default().All()
	for _, d := range all {
		if (d.Asks != "") != (answers[d.Type] == outside && d.Type != "Elsa.Inline") { // which calls what its function calls
			t.Errorf("%s: its descriptor says that it asks %q", d.Type, d.Asks)
		}
		if has, decided := answers[d.Type]; !decided || has == d.NoEffect {
			t.Errorf("%s: decided %t, has an effect outside %t, its descriptor says NoEffect %t", d.Type, decided, has, d.NoEffect)
		}
	}
	if len(all) != len(answers) {
		t.Errorf("%d activities, and %d are decided", len(all), len(answers))
	}
}
