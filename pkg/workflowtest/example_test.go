package workflowtest_test

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

// In a test, [workflowtest.Start] does the same and ends the test when
// something cannot be done.
func Example() {
	run, err := workflowtest.New(workflowtest.Config{
		File:  "../../examples/order-approval.yaml",
		Input: map[string]any{"orderId": "o-1", "amount": 2000},
		Mocks: workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Start(), run.Instance().SubStatus)
	fmt.Println(run.Advance(48*time.Hour), run.Instance().SubStatus)
	for _, m := range run.Check(workflowtest.Expect{Status: workflow.Finished}) {
		fmt.Println(m)
	}
	// Output:
	// <nil> Suspended
	// <nil> Faulted
	// status: got Faulted, want Finished
	// incident at if1.then.event1.onTimeout.fail1: not approved in time
}
