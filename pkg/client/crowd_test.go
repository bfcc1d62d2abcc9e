package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// What finds no place leaves nothing behind, costs etcd nothing while it waits, and
// is called when there is a place. What only ends an instance needs none.
func TestWhoFindsNoPlaceWaitsWithoutEtcd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), through())), define("other", waitFor("go")))
	woken := make(chan string, 10)
	a := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
		c.Limits = admission.Limits{PerDefinition: 1}
		c.Wakeups = told{again: func(id string) { woken <- id }}
	})
	instances := map[string]workflow.Instance{}
	for i := range 3 {
		id := fmt.Sprint("i", i)
		instances[id] = must(a.open(id).Do(t.Context(), startOf("d", "start"+id)))(t).Instance
		eventually(t, "its place is free, which comes after the answer", func() bool { return a.Sweep(nil).Bursts == 0 })
	}
	first := make(chan error, 1)
	go func() {
		_, err := a.open("i0").Do(t.Context(), resumeOf("c0", instances["i0"], 0))
		first <- err
	}()
	<-w.valve.entered

	if _, err := a.open("i1").Do(t.Context(), resumeOf("c1", instances["i1"], 0)); !errors.Is(err, admission.ErrCrowded) {
		t.Fatalf("a second burst in hand: %v", err)
	}
	if out, _, err := a.store.Stimuli.PutMail(t.Context(), "i1", resumeOf("c1", instances["i1"], 0), nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	if err := a.open("i1").Work(t.Context(), false, func() { t.Error("it has a place") }); !errors.Is(err, admission.ErrCrowded) {
		t.Fatalf("a second burst from the mailbox: %v", err)
	}
	if !a.Waits("i1") {
		t.Error("it does not wait")
	}
	if crowd := a.Sweep(map[string]bool{"i1": true}); crowd.Bursts != 1 || crowd.WaitDefinition != 1 || crowd.WaitMemory != 0 || crowd.Bytes <= 0 {
		t.Errorf("got %+v", crowd)
	}
	asked := a.count("etcd_requests_total", "")
	if _, err := a.open("i1").Do(t.Context(), resumeOf("c9", instances["i1"], 0)); !errors.Is(err, admission.ErrCrowded) {
		t.Errorf("another command while it waits: %v", err)
	}
	if n := a.count("etcd_requests_total", "") - asked; n != 0 {
		t.Errorf("%g requests to etcd while it waits", n)
	}
	must(a.open("x").Do(t.Context(), startOf("other", "x")))(t)
	if r := must(a.open("i2").Do(t.Context(), workflow.Command{ID: "end", Kind: workflow.CommandCancel, CreatedAt: time.Now()}))(t); r.Instance.SubStatus != workflow.Cancelled {
		t.Errorf("the cancelled one is %+v", r.Instance)
	}

	w.valve.pass <- struct{}{}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if id := <-woken; id != "i1" {
		t.Fatalf("%s is called", id)
	}
	w.valve.pass <- struct{}{}
	placed := false
	if err := a.open("i1").Work(t.Context(), false, func() { placed = true }); err != nil || !placed {
		t.Fatal(placed, err)
	}
	eventually(t, "in the end nothing is left", func() bool { return a.Sweep(nil) == (admission.Crowd{}) })
}

// TestACallWaitsForAPlaceInMemory: what is in hand and holds no lock has its turn without having been made durable, as long
// as places become free; behind what hangs, or as the node drains, it is for the mailbox.
func TestACallWaitsForAPlaceInMemory(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a start", "a resume", "behind what hangs", "the node drains"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			late := time.Minute
			if how == "behind what hangs" {
				late = 200 * time.Millisecond
			}
			w := newWorld(t, define("d", seq(within(), waitFor("go"), within())))
			a := w.member("a", cluster.ModeDistributed, auto, func(c *client.Config) {
				c.Limits, c.LateAfter = admission.Limits{PerDefinition: 1}, late
			})
			if how != "behind what hangs" {
				a.WaitsInHand(time.Hour)
			}
			w.inside.pass <- struct{}{}
			in := must(a.open("r").Begin(t.Context(), startOf("d", "s")))(t).Instance
			<-w.inside.entered
			eventually(t, "its place is free", func() bool { return a.Owned() == 0 })
			began := make(chan error, 1)
			go func() {
				_, err := a.open("i0").Begin(t.Context(), startOf("d", "s0"))
				began <- err
			}()
			<-w.inside.entered
			second := make(chan outcome, 1)
			go func() {
				var o outcome
				if how == "a resume" {
					o.Result, o.err = a.open("r").Do(t.Context(), resumeOf("c", in, 0))
				} else {
					o.Result, o.err = a.open("i1").Begin(t.Context(), startOf("d", "s1"))
				}
				second <- o
			}()
			eventually(t, "both are here", func() bool { return a.Owned() == 2 || how == "behind what hangs" })
			switch how {
			case "a start", "a resume":
				w.inside.pass <- struct{}{}
				<-w.inside.entered
				w.inside.pass <- struct{}{}
				if o := <-second; o.err != nil || o.Accepted || a.count("late_durability_total", "") != 0 || a.count("lock_acquisitions_total", "") != 0 {
					t.Errorf("%+v", o)
				}
			case "the node drains":
				a.Drain()
				fallthrough
			default:
				if o := <-second; !errors.Is(o.err, admission.ErrCrowded) && (how != "the node drains" || !errors.Is(o.err, client.ErrBusy)) { // whose turn had not come
					t.Errorf("%+v", o)
				}
				w.inside.pass <- struct{}{}
			}
			if err := <-began; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhoGoesAwayDoesNotWaitForAPlace: the caller has a deadline of its own.
func TestWhoGoesAwayDoesNotWaitForAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", within()))
	a := w.member("a", cluster.ModeDistributed, auto, slow, func(c *client.Config) { c.Limits = admission.Limits{PerDefinition: 1} })
	a.WaitsInHand(time.Hour) // but for the caller
	first := make(chan error, 1)
	go func() {
		_, err := a.open("i0").Begin(t.Context(), startOf("d", "s0"))
		first <- err
	}()
	<-w.inside.entered
	ctx, leave := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := a.open("i1").Begin(ctx, startOf("d", "s1"))
		second <- err
	}()
	eventually(t, "both are here", func() bool { return a.Owned() == 2 })
	leave()
	select {
	case err := <-second:
		if !errors.Is(err, admission.ErrCrowded) && !errors.Is(err, client.ErrBusy) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits all the same")
		w.inside.pass <- struct{}{} // it is served
	}
	w.inside.pass <- struct{}{}
	if err := <-first; err != nil {
		t.Error(err)
	}
	eventually(t, "nothing is left", func() bool { return a.Owned() == 0 })
	if n := len(w.inside.entered); n != 0 {
		t.Error("who had gone away was served")
	}
}

// What waits for a place here can be cancelled and deleted: from here, and by what
// lies in its mailbox behind that.
func TestWhatWaitsForAPlaceCanBeEnded(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			for _, way := range []string{"in hand", "by mail", "by mail, taken over", "by mail, never ran"} {
				t.Run(fmt.Sprint(mode, "/", kind, "/", way), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, define("d", seq(waitFor("go"), through())))
					woken := make(chan string, 10)
					m := w.member("m", mode, func(c *client.Config) {
						c.Limits = admission.Limits{PerDefinition: 1}
						c.Wakeups = told{again: func(id string) { woken <- id }}
					})
					taken := way == "by mail, taken over"
					hung := must(m.open("h").Do(t.Context(), startOf("d", "h")))(t).Instance
					free := func() bool { return m.Owned() == 0 }
					eventually(t, "the place is free", free)
					if out, _, err := m.store.Stimuli.PutMail(t.Context(), "h", resumeOf("ch", hung, 0), nil); err != nil || out != etcdstore.PutDone {
						t.Fatal(out, err)
					}
					if way == "by mail, never ran" {
						cmd := startOf("d", "s")
						if out, err := m.store.Stimuli.Create(t.Context(), &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, cmd.CreatedAt), Command: cmd}, nil); err != nil || out != etcdstore.Created {
							t.Fatal(out, err)
						}
					} else {
						in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
						eventually(t, "the place is free", free)
						if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", resumeOf("c", in, 0), nil); err != nil || out != etcdstore.PutDone {
							t.Fatal(out, err)
						}
					}
					hangs := make(chan error, 1)
					go func() { hangs <- m.open("h").Work(t.Context(), taken, nil) }()
					<-w.valve.entered
					if err := m.open("i").Work(t.Context(), taken, nil); !errors.Is(err, admission.ErrCrowded) || !m.Waits("i") {
						t.Fatal(err)
					}
					end := workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC()}
					if way == "in hand" {
						must(m.open("i").Do(t.Context(), end))(t)
					} else {
						if out, _, err := m.store.Stimuli.PutMail(t.Context(), "i", end, nil); err != nil || out != etcdstore.PutDone {
							t.Fatal(out, err)
						}
						m.Interrupt("i")
						if id := <-woken; id != "i" || m.Waits("i") {
							t.Fatalf("%s is called; i waits: %t", id, m.Waits("i"))
						}
						if err := m.open("i").Work(t.Context(), taken, nil); err != nil {
							t.Fatal(err)
						}
					}
					rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
					if kind == workflow.CommandCancel && (rec == nil || rec.Header.SubStatus != workflow.Cancelled) || kind == workflow.CommandDelete && rec != nil {
						t.Errorf("the instance is %+v", rec)
					}
					eventually(t, "nothing is left in the mailbox", func() bool { return len(must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail) == 0 })
					w.valve.pass <- struct{}{}
					if err := <-hangs; err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A timer is late by when it takes effect, not by when it was put into the mailbox.
func TestLatenessIsMeasuredAtTheEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), waitFor("more"))))
	a := w.member("a", cluster.ModeDistributed)
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	due := time.Now().Add(-time.Hour)
	for _, id := range []string{"c2", "c3"} { // the second finds its bookmark gone
		cmd := resumeOf(id, r.Instance, 0)
		cmd.Timer, cmd.Due = true, &due
		if out, _, err := a.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil || out != etcdstore.PutDone {
			t.Fatal(out, err)
		}
	}
	if n, _ := a.lateness(); n != 0 {
		t.Errorf("%d were observed before they took effect", n)
	}
	if err := a.open("i").Work(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	if n, sum := a.lateness(); n != 1 || sum < 3600 || sum > 3700 {
		t.Errorf("%d were observed, late by %g s together", n, sum)
	}
}

// lateness is what the metric says: how many, and the seconds of all together.
func (m *member) lateness() (uint64, float64) {
	m.w.t.Helper()
	families, err := m.reg.Gather()
	if err != nil {
		m.w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "weft_timer_lateness_seconds" {
			h := f.GetMetric()[0].GetHistogram()
			return h.GetSampleCount(), h.GetSampleSum()
		}
	}
	m.w.t.Fatal("there is no such metric")
	return 0, 0
}
