package runtime_test

import (
	"context"
	"testing"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A cancel on any node ends a call that would never end, says so, and says that it did not
// of one that has no effect outside.
func TestACancelEndsACall(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"owner", "other"} {
		for _, kind := range []string{"outside", "inside"} {
			t.Run(at+"/"+kind, func(t *testing.T) {
				t.Parallel()
				begun, ended, release := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
				hang := func(ctx context.Context, _ *engine.Execution, _ struct{}) (struct{}, error) {
					begun <- struct{}{}
					select {
					case <-ctx.Done():
						ended <- struct{}{}
						return struct{}{}, ctx.Err()
					case <-release:
						return struct{}{}, nil
					}
				}
				c := newCluster(t, 2, func(c *membertest.Config) {
					c.Registry = activities.Default()
					if err := engine.RegisterFunc(c.Registry, workflow.Descriptor{Type: "test.Hang", NoEffect: kind == "inside"}, hang); err != nil {
						t.Fatal(err)
					}
				})
				c[0].Publish("id: hangs\nroot:\n  - test.Hang:\n    id: call\n  - writeLine: never\n")
				started := make(chan error, 1)
				go func() {
					_, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "hangs", InstanceID: "i"})
					started <- err
				}()
				<-begun
				if err := <-started; err != nil { // accepted after a second
					t.Fatal(err)
				}
				m := c[0]
				if at == "other" {
					m = c[1]
				}
				did, err := m.Commands.Cancel(t.Context(), "i", nil)
				if err != nil {
					t.Fatal(err)
				}
				if kind == "inside" {
					if !did.Accepted || did.Interrupted != "" || len(ended) > 0 {
						t.Errorf("it was not interrupted: %+v", did)
					}
					close(release)
				} else {
					<-ended
					if !did.Accepted && did.Interrupted != "call" || did.Accepted && did.Interrupted != "" { // a slow machine may need more than the second
						t.Errorf("it was interrupted: %+v", did)
					}
				}
				if in := c[1].Finished("i"); in.SubStatus != workflow.Cancelled || len(in.Incidents) > 0 {
					t.Errorf("%s %v", in.SubStatus, in.Incidents)
				}
			})
		}
	}
}
