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
		{state{level: intake.OutOfDisk}, map[intake.Kind]workflow.Code{intake.Starts: workflow.CodeStoreNearlyFull, intake.GoesOn: workflow.CodeStoreNearlyFull, intake.Ends: workflow.CodeStoreNearlyFull}},
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
			if got, want := in.HoldsBack(), c.paused || c.draining || c.level >= intake.Full; got != want {
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

// Jobs rest before single calls are refused: what goes on from the first level on, what ends when nearly all is in use
// or etcd takes nothing; and all when they have written their share since the space was looked at.
func TestJobsRestByLevel(t *testing.T) {
	t.Parallel()
	const quota = 1000 << 20
	at := func(part float64) etcdstore.Space { return etcdstore.Space{InUse: int64(part * quota), Quota: quota} }
	alarmed := at(0.1)
	alarmed.NoSpace = true
	for _, c := range []struct {
		l            intake.Level
		sp           etcdstore.Space
		goesOn, ends bool
	}{
		{intake.Roomy, at(0.6), false, false},
		{intake.NearlyFull, at(0.71), true, false},
		{intake.Full, at(0.9), true, false},
		{intake.Full, at(0.93), true, true},
		{intake.Full, alarmed, true, true},
		{intake.OutOfDisk, at(0.1), true, true},
	} {
		in := intake.New(nil, nil)
		in.SetSpace(c.l, c.sp)
		if got := in.Rests(intake.GoesOn); got != c.goesOn {
			t.Errorf("%d with %+v: what goes on rests: %t", c.l, c.sp, got)
		}
		if got := in.Rests(intake.Ends); got != c.ends {
			t.Errorf("%d with %+v: what ends rests: %t", c.l, c.sp, got)
		}
		if refused := in.Accepts(intake.Ends) != nil; refused != (c.sp.NoSpace || c.l == intake.OutOfDisk) {
			t.Errorf("%+v: an end is refused: %t", c.sp, refused)
		}
		if in.Alarmed() != c.sp.NoSpace {
			t.Errorf("%+v: alarmed %t", c.sp, in.Alarmed())
		}
	}
	in := intake.New(nil, nil)
	if got := in.Affords(1<<30, 50); got != 50 || in.Rests(intake.GoesOn) {
		t.Errorf("nobody looked, and it affords %d", got)
	}
	in.SetSpace(intake.Roomy, at(0.1))
	for _, c := range []struct {
		each int64
		want int
	}{{1 << 20, 50}, {2 << 20, 25}, {1 << 30, 1}, {0, 50}} {
		if got := in.Affords(c.each, 50); got != c.want {
			t.Errorf("%d of %d bytes, want %d", got, c.each, c.want)
		}
	}
	in.Spend(30 << 20)
	if got := in.Affords(1<<20, 50); got != 20 || in.Rests(intake.GoesOn) {
		t.Errorf("with 20 MiB left it affords %d", got)
	}
	in.Spend(20 << 20)
	if !in.Rests(intake.GoesOn) || !in.Rests(intake.Ends) {
		t.Error("its share is spent, and jobs go on")
	}
	if in.SetSpace(intake.Roomy, at(0.1)); in.Rests(intake.GoesOn) {
		t.Error("the space was looked at, and jobs rest")
	}
}
