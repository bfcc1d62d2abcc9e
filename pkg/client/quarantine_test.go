package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// inFlight are instances whose command in the mailbox runs long, and one whose command
// ends whatever process runs it.
type inFlight struct {
	w        *world
	ids      []string
	guilty   string
	commands map[string]string // by instance
}

const guilty = "guilty"

// letFly starts them all on a member, their commands of one kind.
func letFly(t *testing.T, m *member, kind string, neighbours int) *inFlight {
	t.Helper()
	f := &inFlight{w: m.w, guilty: guilty, commands: map[string]string{}}
	for i := range neighbours {
		f.ids = append(f.ids, fmt.Sprint("n", i))
	}
	// Somewhere between the others.
	f.ids = slices.Insert(f.ids, neighbours/2, guilty)
	for _, id := range f.ids {
		def := kind + " long"
		if id == guilty {
			def = kind + " " + guilty
		}
		cmd := startOf(def, "start-"+id)
		switch kind {
		case "start":
			n := &etcdstore.NewInstance{Header: etcdstore.NewHeader(id, cmd, cmd.CreatedAt), Command: cmd}
			if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
				t.Fatal(out, err)
			}
		case "timer":
			in := must(m.open(id).Do(t.Context(), cmd))(t).Instance
			cmd = resumeOf("timer-"+id, in, 0)
			cmd.Timer = true
			m.put(t, id, cmd)
		}
		f.commands[id] = cmd.ID
	}
	return f
}

func longWorld(t *testing.T) *world {
	kill := func() *workflow.Activity { return &workflow.Activity{Type: "test.Killer"} }
	return newWorld(t, define("start long", through()), define("start guilty", kill()),
		define("timer long", seq(waitFor("go"), through())), define("timer guilty", seq(waitFor("go"), kill())))
}

// sweeps tries every instance again and again on a member, as the sweeps of a node do,
// until it is stopped.
func (f *inFlight) sweeps(m *member) (stop func()) {
	ctx, cancel := context.WithCancel(f.w.t.Context())
	var all sync.WaitGroup
	for _, id := range f.ids {
		all.Go(func() {
			for ctx.Err() == nil {
				if !m.Rests(id, f.commands[id]) {
					_ = m.open(id).Work(ctx, true, nil) // what goes wrong is tried again
				}
				select {
				case <-ctx.Done():
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// begun waits until each instance that has mail runs, or is left alone by the member,
// and gives those that run.
func (f *inFlight) begun(t *testing.T, m *member, running map[string]bool) {
	t.Helper()
	mailed := func(id string) bool {
		l, err := m.store.Instances.Load(t.Context(), id, "", "")
		return err != nil || len(l.Mail) > 0
	}
	eventually(t, "all that may begin have begun", func() bool {
		for more := true; more; {
			select {
			case id := <-f.w.valve.entered:
				running[id] = true
			case id := <-f.w.killer.entered:
				running[id] = true
			default:
				more = false
			}
		}
		return !slices.ContainsFunc(f.ids, func(id string) bool {
			return !running[id] && !m.Rests(id, f.commands[id]) && mailed(id)
		})
	})
}

// Of all that was in flight with a command that ends its processes only that command is
// set aside: what may be the cause runs beside nothing else that may be.
func TestNeighboursOfPoisonAreNotPoison(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"start", "timer"} {
		for _, neighbours := range []int{1, 4, 12} {
			t.Run(fmt.Sprint(kind, "/", neighbours), func(t *testing.T) {
				if neighbours > 4 {
					testsize.NotRaced(t, "fewer neighbours")
				}
				t.Parallel()
				w := longWorld(t)
				quick := func(c *client.Config) { c.Rest = time.Nanosecond }
				last := w.member("last", cluster.ModeDistributed, quick)
				f := letFly(t, last, kind, neighbours)
				done := func() bool {
					return !slices.ContainsFunc(f.ids, func(id string) bool {
						l, err := last.store.Instances.Load(t.Context(), id, "", "")
						return err != nil || len(l.Mail) > 0
					})
				}
				deaths := 0
				for ; !done(); deaths++ {
					m := w.member(fmt.Sprint("m", deaths), cluster.ModeDistributed, quick)
					stop := f.sweeps(m)
					running := map[string]bool{}
					for f.begun(t, m, running); !running[guilty] && !done(); f.begun(t, m, running) {
						if len(running) == 0 { // it rests until the deaths are sure
							<-time.After(10 * time.Millisecond)
							continue
						}
						n := len(running)
						clear(running)
						for range n { // whatever takes long ends in the end
							w.valve.pass <- struct{}{}
						}
						eventually(t, "who was let through is done", func() bool { return len(w.valve.pass) == 0 })
					}
					if running[guilty] {
						m.die()
						eventually(t, "its bursts have ended", func() bool { return m.Owned() == 0 })
					}
					stop()
					if deaths > 5 {
						t.Fatal("it is run again and again")
					}
				}
				for _, id := range f.ids {
					in := must(last.store.Reader.Instance(t.Context(), id))(t).Header
					want := workflow.Finished
					if id == guilty {
						want = workflow.Faulted
					}
					if in.SubStatus != want {
						t.Errorf("%s is %s: %+v", id, in.SubStatus, in.Incidents)
					}
				}
				if in := must(last.store.Reader.Instance(t.Context(), guilty))(t).Header; len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, "3 processes") {
					t.Errorf("its incidents are %+v", in.Incidents)
				}
				if dead, _, err := last.store.Reader.DeadLetters(t.Context(), "", 10); err != nil || len(dead) > 0 {
					t.Errorf("dead letters %+v, %v", dead, err)
				}
			})
		}
	}
}

// A suspect waits while another one runs: without an attempt, a lock or a request to
// etcd, and woken when it is its turn. Nobody else waits for it: no command with fewer
// marks, no other of its instance, no cancel.
func TestSuspectsRunOneAtATime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		deaths, marks int
		lost          bool // the one that runs loses its session
	}{
		{"three deaths decide", 3, 2, false},
		{"the first loses its session", 3, 2, true},
		{"two deaths decide", 2, 1, false},
		{"eight deaths decide", 8, 7, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both := func(in *workflow.Activity) *workflow.Activity {
				return &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{seq(waitFor("a"), in), seq(waitFor("b"), line("b"))}}
			}
			w := newWorld(t, define("d", both(through())), define("fresh", both(&workflow.Activity{Type: "test.Killer"})))
			woken := make(chan string, 10)
			m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
				c.Deaths, c.Rest = tt.deaths, time.Nanosecond
				c.Wakeups = told{recovered: func(id string) { woken <- id }}
			})
			instances := map[string]workflow.Instance{}
			begun := func(id, def string, marks int) {
				instances[id] = must(m.open(id).Do(t.Context(), startOf(def, "start-"+id)))(t).Instance
				cmd := resumeOf("timer-"+id, instances[id], 0)
				cmd.Timer, cmd.Attempts = true, marks
				for i := range marks {
					cmd.Begun = append(cmd.Begun, begunBy(fmt.Sprint("p", i))...)
				}
				m.put(t, id, cmd)
			}
			var works sync.WaitGroup
			defer works.Wait()
			work := func(id string) {
				works.Go(func() { _ = m.open(id).Work(t.Context(), true, nil) })
			}
			suspects := map[string]bool{"s0": true, "s1": true, "s2": true}
			for id := range suspects {
				begun(id, "d", tt.marks)
			}
			begun("fresh", "fresh", tt.marks-1)
			work("s0")
			if id := <-w.valve.entered; id != "s0" {
				t.Fatal(id)
			}
			for _, id := range []string{"s1", "s2"} {
				if err := m.open(id).Work(t.Context(), true, nil); err != nil {
					t.Fatal(err)
				}
				if locked, err := m.locked(id); !m.Rests(id, "timer-"+id) || locked || err != nil {
					t.Errorf("%s rests: %t, its lock is held: %t, %v", id, m.Rests(id, "timer-"+id), locked, err)
				}
				if l := must(m.store.Instances.Load(t.Context(), id, "", ""))(t); len(l.Mail) != 1 || len(l.Mail[0].Command.Begun) != tt.marks || l.Mail[0].Command.Attempts != tt.marks {
					t.Errorf("in the mailbox of %s is %+v", id, l.Mail)
				}
			}
			if c := m.Sweep(suspects); c.WaitQuarantine != 2 {
				t.Errorf("got %+v", c)
			}
			if n := m.count("suspects_total", ""); n != 1 {
				t.Errorf("%g suspects have begun", n)
			}
			work("fresh")
			select {
			case <-w.killer.entered:
				w.killer.pass <- struct{}{}
			case <-time.After(time.Minute):
				t.Fatal("a command with fewer marks waits")
			}
			if r := must(m.open("s2").Do(t.Context(), resumeOf("b", instances["s2"], 1)))(t); r.Effect.Outcome != workflow.OutcomeResumed || !slices.Equal(m.written(), []string{"b"}) {
				t.Errorf("another command of an instance: %+v, %v", r, m.written())
			}
			cancel := workflow.Command{ID: "cancel", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}
			if r := must(m.open("s1").Do(t.Context(), cancel))(t); r.Instance.SubStatus != workflow.Cancelled {
				t.Errorf("the cancelled one is %s", r.Instance.SubStatus)
			}
			if len(woken) > 0 {
				t.Errorf("%s is woken while the place is taken", <-woken)
			}

			if tt.lost {
				if _, err := w.etcd.Revoke(t.Context(), m.session.Epoch().Lease); err != nil {
					t.Fatal(err)
				}
			} else {
				w.valve.pass <- struct{}{}
			}
			for next := ""; next != "s2"; {
				select {
				case next = <-woken:
					if locked := func() bool { l, err := m.locked("s0"); return l || err != nil }; tt.lost {
						eventually(t, "the session is back", func() bool { return m.session.Epoch() != nil && !locked() })
					}
					work(next)
				case <-time.After(time.Minute):
					t.Fatal("the next is not woken")
				}
			}
			if id := <-w.valve.entered; id != "s2" {
				t.Errorf("%s is run next", id)
			}
			w.valve.pass <- struct{}{}
			w.valve.pass <- struct{}{} // and what the lost session has left
			eventually(t, "all is done", func() bool {
				for id := range suspects {
					_ = m.open(id).Work(t.Context(), true, nil)
					if l, err := m.store.Instances.Load(t.Context(), id, "", ""); err != nil || len(l.Mail) > 0 {
						return false
					}
				}
				return true
			})
			if c := m.Sweep(nil); c.WaitQuarantine != 0 {
				t.Errorf("in the end %+v", c)
			}
			if dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 10); err != nil || len(dead) > 0 {
				t.Errorf("dead letters %+v, %v", dead, err)
			}
		})
	}
}
