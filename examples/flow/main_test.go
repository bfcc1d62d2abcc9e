package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

func Example() {
	dir, err := os.MkdirTemp("", "weft-flow-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Order o-1 goes as T-o-1
	// Finished T-o-1 nobody
}

func world(t *testing.T) workflowtest.Config {
	t.Helper()
	registry := activities.Default()
	if err := ship.Register(registry); err != nil {
		t.Fatal(err)
	}
	return workflowtest.Config{Definition: orders.Definition(), Registry: registry, Input: map[string]any{"id": "o-2", "amount": 2000}}
}

func TestApproved(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, world(t))
	w.Advance(47 * time.Hour)
	w.Event("approved", map[string]any{"by": "Ann"})
	w.Want(workflowtest.Expect{Status: workflow.Finished, Output: map[string]any{"approvedBy": "Ann", "tracking": "T-o-2"}, Lines: []string{"Order o-2 goes as T-o-2"}})
}

func TestNotApprovedInTime(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, world(t))
	w.Advance(48 * time.Hour)
	w.Want(workflowtest.Expect{Status: workflow.Faulted, Incidents: []string{"order o-2 was not approved in time"}})
}

func TestNothingIsWrong(t *testing.T) {
	t.Parallel()
	if problems := orders.Check(); len(problems) > 0 {
		t.Error(problems)
	}
}
