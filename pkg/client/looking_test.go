package client_test

import (
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
)

// What a node runs is seen from beside its bursts, which go on.
func TestANodeTellsWhatItsBurstsAreAt(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{cluster.ModeDistributed, cluster.ModeLocal} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(through(), line("between"), through())))
			a := w.member("a", mode, slow)
			if b := a.Bursts(); len(b) != 0 {
				t.Fatalf("before anything: %+v", b)
			}
			began := time.Now()
			first := inBackground(t.Context(), a.open("i"), startOf("d", "c1"))
			<-w.valve.entered
			r, ok := a.Running("i")
			if !ok || r.InstanceID != "i" || r.Doing == nil || r.Doing.ActivityType != "test.Valve" || r.Doing.Attempt != 0 {
				t.Fatalf("%+v, %v", r, ok)
			}
			if since := r.Doing.Since; since.Before(began.Truncate(time.Microsecond)) || since.After(time.Now()) {
				t.Errorf("since %v, and it began at %v", since, began)
			}
			second := inBackground(t.Context(), a.open("j"), startOf("d", "c2"))
			<-w.valve.entered
			if b := a.Bursts(); len(b) != 2 || b[0].InstanceID != "i" || b[1].InstanceID != "j" {
				t.Errorf("the oldest activity is not first: %+v", b)
			}
			at := r.Doing.ActivityID
			w.valve.pass <- struct{}{}
			w.valve.pass <- struct{}{}
			<-w.valve.entered
			<-w.valve.entered
			if r, _ := a.Running("i"); r.Doing == nil || r.Doing.ActivityID == at {
				t.Errorf("in the next activity: %+v", r.Doing)
			}
			if _, ok := a.Running("k"); ok {
				t.Error("it runs what nobody started")
			}
			w.valve.pass <- struct{}{}
			w.valve.pass <- struct{}{}
			for _, got := range []<-chan answer{first, second} {
				if r := <-got; r.err != nil {
					t.Error(r.err)
				}
			}
			eventually(t, "nothing runs", func() bool { return len(a.Bursts()) == 0 })
		})
	}
}
