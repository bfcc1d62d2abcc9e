package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// absences are the processes that are gone, and for how long.
type absences struct {
	mu   sync.Mutex
	gone map[string]time.Duration
}

func (a *absences) Gone(process string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone[process]
}

func (a *absences) set(process string, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone == nil {
		a.gone = map[string]time.Duration{}
	}
	a.gone[process] = d
}

func begunBy(processes ...string) (out []workflow.Begun) {
	for _, p := range processes {
		out = append(out, workflow.Begun{Process: p, Node: "node-" + p, At: time.Now().UTC()})
	}
	return out
}

// stuck is an instance with one command in its mailbox that it cannot go on without,
// or that it can.
type stuck struct {
	name   string
	held   bool // it faults without it
	mailed func(*testing.T, *member) (workflow.Command, workflow.SubStatus)
}

// stucks are one for each kind of command. All write the line "run" when the command
// takes effect, after the valve.
func stucks() []stuck {
	suspended := func(t *testing.T, m *member) workflow.Instance {
		return must(m.open("i").Do(t.Context(), startOf("waits", "s")))(t).Instance
	}
	return []stuck{
		{"an event", false, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			cmd := resumeOf("c", suspended(t, m), 0)
			st := workflow.EventStimulus("go", "x")
			cmd.Stimulus, cmd.Input = &st, st.Input
			return cmd, workflow.Suspended
		}},
		{"a resume of a bookmark", false, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			return resumeOf("c", suspended(t, m), 0), workflow.Suspended
		}},
		{"a timer", true, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			cmd := resumeOf("timer-c", suspended(t, m), 0)
			cmd.Timer = true
			return cmd, workflow.Faulted
		}},
		{"a child's end", true, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			cmd := resumeOf("child-c", suspended(t, m), 0)
			cmd.Kind, cmd.Input = workflow.CommandChildEnd, map[string]any{"WorkflowOutput": map[string]any{"n": 1}}
			return cmd, workflow.Faulted
		}},
		{"a start", true, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			cmd := startOf("runs", "s")
			n := &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, cmd.CreatedAt), Command: cmd}
			if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
				t.Fatal(out, err)
			}
			return cmd, workflow.Faulted
		}},
		{"the rest of a burst", true, func(t *testing.T, m *member) (workflow.Command, workflow.SubStatus) {
			in := must(m.open("i").Do(t.Context(), startOf("parts", "s")))(t).Instance
			rec := must(m.store.Reader.Instance(t.Context(), in.ID))(t)
			// As a commit that does not end its burst leaves it.
			m.w.leaves(t, m, rec, resumeOf("c", in, 0))
			return workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: time.Now().UTC()}, workflow.Faulted
		}},
	}
}

// leaves runs a command up to the commit before the valve.
func (w *world) leaves(t *testing.T, m *member, rec *store.Record, cmd workflow.Command) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	b := w.member("leaves", cluster.ModeDistributed)
	done := inBackground(ctx, b.open(rec.Header.ID), cmd)
	<-w.valve.entered
	b.die()
	stop()
	<-done
	eventually(t, "its burst has ended", func() bool { return b.Owned() == 0 })
}

// die cuts a member off from etcd for good and ends its session, as the death of its
// process does.
func (m *member) die() {
	t := m.w.t
	t.Helper()
	var lease clientv3.LeaseID
	eventually(t, "it has a session", func() bool {
		e := m.session.Epoch()
		if e != nil {
			lease = e.Lease
		}
		return e != nil
	})
	rule := m.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(clustertest.Call) bool { return true }})
	t.Cleanup(rule.Disarm)
	if _, err := m.w.etcd.Revoke(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

func deathsWorld(t *testing.T) *world {
	commits := through()
	commits.CommitStrategy = "Executing"
	return newWorld(t, define("waits", seq(waitFor("go"), through(), line("run"))), define("parts", seq(waitFor("go"), commits, line("run"))), define("runs", seq(through(), line("run"))))
}

// put puts a command into a mailbox as if processes had begun it.
func (m *member) put(t *testing.T, id string, cmd workflow.Command) {
	t.Helper()
	l := must(m.store.Instances.Load(t.Context(), id, "", ""))(t)
	if i := slices.IndexFunc(l.Mail, func(x store.Mail) bool { return x.Command.ID == cmd.ID }); i >= 0 {
		if _, err := m.store.Instances.CountAttempt(t.Context(), nil, id, cmd, l.Mail[i].Created); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out, _, err := m.store.Stimuli.PutMail(t.Context(), id, cmd, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
}

// A command whose processes end with it, one after the other, is not run again. An
// instance that cannot go on without it faults, and a retry runs it; else it is a dead
// letter, and the instance goes on.
func TestACommandThatEndsItsProcessesIsSetAside(t *testing.T) {
	t.Parallel()
	for _, kind := range stucks() {
		for _, deaths := range []int{1, 3} {
			t.Run(fmt.Sprint(kind.name, "/", deaths), func(t *testing.T) {
				t.Parallel()
				w := deathsWorld(t)
				var away absences
				m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
					c.Processes, c.Deaths, c.Grace, c.Rest = &away, deaths, time.Hour, time.Nanosecond
				})
				cmd, want := kind.mailed(t, m)
				var dead []string
				for i := range deaths {
					dead = append(dead, fmt.Sprint("p", i))
					away.set(dead[i], time.Minute)
				}
				cmd.Attempts, cmd.Begun = deaths, begunBy(dead...)
				m.put(t, "i", cmd)
				// They may come back: nothing is decided yet, and nothing is run.
				if err := m.open("i").Work(t.Context(), true, nil); err != nil {
					t.Fatal(err)
				}
				if l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t); len(l.Mail) != 1 || len(l.Mail[0].Command.Begun) != deaths || !m.Rests("i", cmd.ID) {
					t.Errorf("before it is sure that they are gone, there is %+v", l.Mail)
				}
				for _, p := range dead {
					away.set(p, 2*time.Hour)
				}
				eventually(t, "the mailbox is empty", func() bool {
					if err := m.open("i").Work(t.Context(), true, nil); err != nil {
						t.Fatal(err)
					}
					return len(must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail) == 0
				})
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				if rec.Header.SubStatus != want || len(rec.Header.Incidents) != 1 || !strings.Contains(rec.Header.Incidents[0].Message, "node-p0") {
					t.Errorf("the instance is %s: %+v", rec.Header.SubStatus, rec.Header.Incidents)
				}
				letters, _, err := m.store.Reader.DeadLetters(t.Context(), "", 10)
				if err != nil || (len(letters) == 1) == kind.held {
					t.Fatalf("dead letters %+v, %v", letters, err)
				}
				if !kind.held {
					if letters[0].Reason != workflow.DeadPoison || letters[0].Command.ID != cmd.ID {
						t.Errorf("got %+v", letters[0])
					}
					return
				}
				// The cause is gone.
				w.valve.pass <- struct{}{}
				r := must(m.open("i").Do(t.Context(), workflow.Command{ID: "retry", Kind: workflow.CommandRetry, CreatedAt: time.Now().UTC()}))(t)
				if r.Instance.SubStatus != workflow.Finished || !slices.Equal(m.written(), []string{"run"}) {
					t.Errorf("after the retry it is %s, with %v", r.Instance.SubStatus, m.written())
				}
			})
		}
	}
}

// What may have ended for another reason, or may not have ended, is no death.
func TestWhatIsNoDeathIsNotCounted(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-2 * time.Hour)
	for name, tt := range map[string]struct {
		cmd  workflow.Command
		gone []string
	}{
		"they live":                          {workflow.Command{Attempts: 5, Begun: begunBy("p", "q", "r", "s", "t")}, nil},
		"one of them lives":                  {workflow.Command{Attempts: 3, Begun: begunBy("p", "q", "r")}, []string{"p", "q"}},
		"it was begun often, and given back": {workflow.Command{Attempts: 50}, nil},
		"the processes have ended since":     {workflow.Command{Attempts: 3, Begun: []workflow.Begun{{Process: "p", At: long}, {Process: "q", At: long}, {Process: "r", At: long}}}, []string{"p", "q", "r"}},
		"two deaths are chance":              {workflow.Command{Attempts: 2, Begun: begunBy("p", "q")}, []string{"p", "q"}},
		"nobody has begun it":                {workflow.Command{}, []string{"p"}},
		"two, and this one":                  {workflow.Command{Attempts: 3, Begun: begunBy("p", "q", "own")}, []string{"p", "q"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deathsWorld(t)
			var away absences
			m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
				c.Process, c.Processes, c.Grace, c.Rest = "own", &away, time.Nanosecond, time.Nanosecond
			})
			for _, p := range tt.gone {
				away.set(p, 24*time.Hour)
			}
			cmd := resumeOf("timer-c", must(m.open("i").Do(t.Context(), startOf("waits", "s")))(t).Instance, 0)
			cmd.Timer, cmd.Attempts, cmd.Begun = true, tt.cmd.Attempts, tt.cmd.Begun
			m.put(t, "i", cmd)
			w.valve.pass <- struct{}{}
			eventually(t, "it is applied", func() bool {
				if err := m.open("i").Work(t.Context(), true, nil); err != nil {
					t.Fatal(err)
				}
				return must(m.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Finished
			})
			if !slices.Equal(m.written(), []string{"run"}) {
				t.Errorf("it wrote %v", m.written())
			}
		})
	}
}

// A process that loses its session again and again while it runs a command lives, and
// so does one that drains: the command takes effect in the end, once.
func TestLostSessionsAndDrainsAreNoDeaths(t *testing.T) {
	t.Parallel()
	for _, kind := range stucks() {
		for _, way := range []string{"sessions are lost", "nodes drain"} {
			t.Run(kind.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				w := deathsWorld(t)
				quick := func(c *client.Config) { c.Deaths, c.Grace, c.Rest = 1, time.Nanosecond, time.Nanosecond }
				a := w.member("a", cluster.ModeDistributed, quick)
				cmd, _ := kind.mailed(t, a)
				a.put(t, "i", cmd)
				at := a
				for i := range 6 {
					if way == "nodes drain" {
						at = w.member(fmt.Sprint("n", i), cluster.ModeDistributed, quick)
					}
					at.begins("i")
					l := must(a.store.Instances.Load(t.Context(), "i", "", ""))(t)
					if len(l.Mail) != 1 || len(l.Mail[0].Command.Begun) != 1 || l.Mail[0].Command.Begun[0].Process != at.session.Process() {
						t.Fatalf("while it runs there is %+v", l.Mail)
					}
					if way == "nodes drain" {
						ctx, stop := context.WithCancel(t.Context())
						stop()
						_ = at.Stop(ctx)
						l := must(a.store.Instances.Load(t.Context(), "i", "", ""))(t)
						if len(l.Mail) != 1 || l.Mail[0].Command.Attempts != 0 || len(l.Mail[0].Command.Begun) != 0 {
							t.Fatalf("a drain left %+v", l.Mail)
						}
						continue
					}
					if _, err := w.etcd.Revoke(t.Context(), at.session.Epoch().Lease); err != nil {
						t.Fatal(err)
					}
					eventually(t, "it has taken its mark back", func() bool {
						l := must(a.store.Instances.Load(t.Context(), "i", "", ""))(t)
						return at.Owned() == 0 && len(l.Mail) == 1 && len(l.Mail[0].Command.Begun) == 0 && l.Mail[0].Command.Attempts == i+1
					})
				}
				w.valve.pass <- struct{}{}
				eventually(t, "it is applied", func() bool {
					_ = a.open("i").Work(t.Context(), true, nil)
					return must(a.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Finished
				})
				if !slices.Equal(a.written(), []string{"run"}) {
					t.Errorf("it wrote %v", a.written())
				}
				if dead, _, err := a.store.Reader.DeadLetters(t.Context(), "", 10); err != nil || len(dead) > 0 {
					t.Errorf("dead letters %+v, %v", dead, err)
				}
			})
		}
	}
}

// begins works the mailbox, as sweeps do, until somebody runs a command of it.
func (m *member) begins(id string) {
	m.w.t.Helper()
	ctx, stop := context.WithCancel(m.w.t.Context())
	var sweeps sync.WaitGroup
	defer sweeps.Wait()
	defer stop()
	sweeps.Go(func() {
		for ctx.Err() == nil {
			_ = m.open(id).Work(ctx, true, nil) // what goes wrong is tried again
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	select {
	case <-m.w.valve.entered:
	case <-time.After(time.Minute):
		m.w.t.Fatal("nobody runs it")
	}
}

// Processes that really end while they run a command, each time, are counted by the
// records of the nodes that live.
func TestProcessesThatEndAreCounted(t *testing.T) {
	t.Parallel()
	for _, kind := range stucks() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := deathsWorld(t)
			quick := func(c *client.Config) { c.Rest = time.Nanosecond }
			last := w.member("last", cluster.ModeDistributed, quick)
			cmd, want := kind.mailed(t, last)
			last.put(t, "i", cmd)
			for i := range 3 {
				m := w.member(fmt.Sprint("m", i), cluster.ModeDistributed, quick)
				m.begins("i")
				m.die()
				eventually(t, "its burst has ended", func() bool { return m.Owned() == 0 })
				eventually(t, "others know that it is gone", func() bool { return last.session.Gone(m.session.Process()) > 0 }) // by a watch, or the sweep behind it
			}
			eventually(t, "it is set aside", func() bool {
				worked := make(chan struct{})
				go func() {
					defer close(worked)
					_ = last.open("i").Work(t.Context(), true, nil) // what goes wrong is tried again
				}()
				select {
				case <-w.valve.entered:
					t.Fatal("it is run once more")
				case <-worked:
				}
				l, err := last.store.Instances.Load(t.Context(), "i", "", "")
				return err == nil && len(l.Mail) == 0
			})
			if in := must(last.store.Reader.Instance(t.Context(), "i"))(t).Header; in.SubStatus != want || len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, "3 processes") {
				t.Errorf("the instance is %s: %+v", in.SubStatus, in.Incidents)
			}
		})
	}
}

// While a command rests, whatever else comes for its instance goes on; what would run
// the command's work with it waits in the mailbox, and a cancel ends all.
func TestWhatRestsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	restless := func(c *client.Config) { c.Rest = time.Hour }
	for _, mode := range both {
		t.Run("an event/"+mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{seq(waitFor("a"), line("a")), seq(waitFor("b"), line("b"))}}))
			m := w.member("m", mode, restless)
			in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
			cmd := resumeOf("c", in, 0)
			cmd.Attempts = 2
			m.put(t, "i", cmd)
			if r := must(m.open("i").Do(t.Context(), resumeOf("other", in, 1)))(t); r.Effect.Outcome != workflow.OutcomeResumed {
				t.Errorf("got %+v", r)
			}
			if l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t); len(l.Mail) != 1 || !slices.Equal(m.written(), []string{"b"}) {
				t.Errorf("it wrote %v, and %+v is left", m.written(), l.Mail)
			}
		})
	}
	for _, kind := range stucks() {
		if kind.name != "a start" && kind.name != "the rest of a burst" {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := deathsWorld(t)
			m := w.member("m", cluster.ModeDistributed, restless)
			cmd, _ := kind.mailed(t, m)
			cmd.Attempts = 2
			m.put(t, "i", cmd)
			if _, err := m.open("i").Do(t.Context(), workflow.Command{ID: "x", Kind: workflow.CommandResume, Bookmark: "i~none", CreatedAt: time.Now().UTC()}); err == nil {
				t.Error("a resume should go to the mailbox")
			}
			r := must(m.open("i").Do(t.Context(), workflow.Command{ID: "cancel", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}))(t)
			if r.Instance.SubStatus != workflow.Cancelled || len(m.written()) > 0 {
				t.Errorf("it is %s, and wrote %v", r.Instance.SubStatus, m.written())
			}
		})
	}
}

// endedUnrun checks that a cancel or a delete has ended an instance before it did
// anything.
func (m *member) endedUnrun(t *testing.T, id string, kind workflow.CommandKind) {
	t.Helper()
	rec := must(m.store.Reader.Instance(t.Context(), id))(t)
	switch {
	case kind == workflow.CommandDelete && rec != nil:
		t.Errorf("it is deleted, and there is %+v", rec.Header)
	case kind == workflow.CommandCancel && (rec == nil || rec.Header.SubStatus != workflow.Cancelled):
		t.Errorf("it is cancelled, and there is %+v", rec)
	}
	if len(m.written()) > 0 {
		t.Errorf("it wrote %v", m.written())
	}
}

// While a start rests, a cancel or a delete goes first, and that is the end of the
// instance: its start neither runs any more nor makes a deleted instance again. Who
// starts anew under its id gets a new instance.
func TestAStartThatRestsDoesNotOutliveItsInstance(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			for _, way := range []string{"in hand", "by mail", "taken over"} {
				t.Run(fmt.Sprint(mode, "/", kind, "/", way), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, define("d", seq(line("run"), waitFor("go"))))
					m := w.member("m", mode, func(c *client.Config) { c.Rest = 200 * time.Millisecond })
					cmd := startOf("d", "s")
					cmd.Key = &workflow.CommandKey{Name: "k", BodyHash: "b"}
					if out, err := m.store.Stimuli.Create(t.Context(), &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, cmd.CreatedAt), Command: cmd}, nil); err != nil || out != etcdstore.Created {
						t.Fatal(out, err)
					}
					cmd.Attempts = 2
					m.put(t, "i", cmd)
					end := workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC()}
					if way == "in hand" {
						must(m.open("i").Do(t.Context(), end))(t)
					} else {
						m.put(t, "i", end)
						if err := m.open("i").Work(t.Context(), way == "taken over", nil); err != nil {
							t.Fatal(err)
						}
					}
					eventually(t, "the mailbox is empty", func() bool {
						if err := m.open("i").Work(t.Context(), way == "taken over", nil); err != nil {
							t.Fatal(err)
						}
						return len(must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail) == 0
					})
					m.endedUnrun(t, "i", kind)
					if kind == workflow.CommandDelete {
						if r := must(m.open("i").Do(t.Context(), startOf("d", "s2")))(t); r.Effect.Outcome != workflow.OutcomeStarted || len(m.written()) != 1 {
							t.Errorf("the next of its id: %+v, wrote %v", r, m.written())
						}
					}
				})
			}
		}
	}
}
