package intake_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// What is refused is told by what a call wants, and each refusal says when to come again.
func TestWhatANodeTakesUp(t *testing.T) {
	t.Parallel()
	type state struct {
		draining, paused, late bool
		level                  intake.Level
	}
	for _, c := range []struct {
		state
		want map[intake.Kind]workflow.Code
	}{
		{state{}, nil},
		{state{late: true}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodeBusy}},
		{state{level: intake.NearlyFull}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodeStoreNearlyFull}},
		{state{level: intake.Full}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodeStoreNearlyFull, intake.GoesOn: workflow.CodeStoreNearlyFull}},
		{state{paused: true, level: intake.Full}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodePaused, intake.GoesOn: workflow.CodePaused, intake.Ends: workflow.CodePaused}},
		{state{draining: true, paused: true, late: true}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodeDraining, intake.GoesOn: workflow.CodeDraining, intake.Ends: workflow.CodeDraining}},
	} {
		t.Run(fmt.Sprintf("%+v", c.state), func(t *testing.T) {
			t.Parallel()
			in := intake.New(func() (time.Duration, bool) { return 3 * time.Second, c.late }, nil)
			in.SetPaused(c.paused)
			in.SetSpace(c.level, etcdstore.Space{InUse: 9, Allocated: 9, Quota: 10})
			if c.draining {
				in.Drain()
			}
			for kind := intake.Ends; kind <= intake.Starts; kind++ {
				err := in.Accepts(kind)
				if workflow.CodeOf(err) != c.want[kind] {
					t.Errorf("kind %d: %v, want %q", kind, err, c.want[kind])
				}
				if e := (*workflow.Error)(nil); err != nil && (!errors.As(err, &e) || e.RetryAfter <= 0) {
					t.Errorf("kind %d: %v does not say when to come again", kind, err)
				}
			}
			if got, want := in.Suspended(), c.paused || c.draining; got != want {
				t.Errorf("suspended: %t", got)
			}
			if got, want := in.HoldsBack(), c.paused || c.draining || c.level == intake.Full; got != want {
				t.Errorf("holds back: %t", got)
			}
		})
	}
}

// A tool or a test that has no session and no measure of etcd is held up by nothing.
func TestTheZeroIntakeTakesEverything(t *testing.T) {
	t.Parallel()
	var in intake.Intake
	for kind := intake.Ends; kind <= intake.Starts; kind++ {
		if err := in.Accepts(kind); err != nil {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
	if in.HoldsBack() || in.Level() != intake.Roomy || in.Space() != nil {
		t.Errorf("holds back %t, level %d, space %v", in.HoldsBack(), in.Level(), in.Space())
	}
}
