package runtime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A node whose lease is renewed late takes no starts, before it loses its
// session: that would cost everything that runs on it.
func TestStartsAreShedWhileTheSessionIsLate(t *testing.T) {
	t.Parallel()
	proxy := clustertest.Shared(t).Proxy(t)
	m := newMember(t, clustertest.Namespace(t), "a", func(c *membertest.Config) {
		c.Session = func(c *cluster.Config) { c.LeaseClient = proxy.Client(t) }
	})
	m.Publish("id: waits\nroot:\n  - event: go\n  - writeLine: went\n")
	m.Start("waits", "one", "one")
	m.Start("waits", "two", "two")
	epoch := m.Session.Epoch()

	proxy.BlackHole() // of the renewals only: everything else has its own client
	refused := func() error {
		_, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits"})
		return err
	}
	var err error
	eventually(t, "starts are refused", func() bool { err = refused(); return err != nil })
	var e *workflow.Error
	if !errors.As(err, &e) || e.Code != workflow.CodeBusy || e.RetryAfter <= 0 {
		t.Errorf("a start: %v", err)
	}
	if _, err := m.Starts.Dispatch(t.Context(), runtime.StartRequest{DefinitionID: "waits"}); workflow.CodeOf(err) != workflow.CodeBusy {
		t.Errorf("a dispatch: %v", err)
	}
	// What exists goes on.
	m.Event("go", "one", nil)
	m.Finished("one")
	if _, err := m.Commands.Cancel(t.Context(), "two", nil); err != nil {
		t.Errorf("cancel: %v", err)
	}
	if workflow.CodeOf(refused()) != workflow.CodeBusy {
		t.Error("the session was renewed before the end of the test")
	}
	proxy.Heal()
	eventually(t, "starts are taken again", func() bool { return refused() == nil })
	if now := m.Session.Epoch(); now != epoch {
		t.Error("the session was lost")
	}
	if since, late := m.Session.Overdue(); late || since > 10*time.Second {
		t.Errorf("overdue: %v, %v", since, late)
	}
}
