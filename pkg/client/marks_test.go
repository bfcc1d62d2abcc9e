package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A process that marks a command, and hears nothing of that, takes its mark back: it
// lives, and its end, a while later, is no death.
func TestAMarkOfUnknownOutcomeIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, kind := range stucks() {
		for name, fault := range map[string]struct {
			fault    clustertest.Fault
			attempts int
		}{
			"it was written":        {clustertest.LoseAnswer, 1},
			"it was not":            {clustertest.FailBefore, 0},
			"it comes when all ran": {clustertest.DeliverLate, 0},
		} {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := deathsWorld(t)
				m := w.member("m", cluster.ModeDistributed)
				cmd, _ := kind.mailed(t, m)
				m.put(t, "i", cmd)
				eventually(t, "the instance is free", func() bool { return m.Owned() == 0 })
				mailbox := cluster.Root(w.name) + "mailbox/"
				rule := m.faults.Add(clustertest.Rule{Fault: fault.fault, Times: 1, Match: func(c clustertest.Call) bool { return c.PutsUnder(mailbox) }})
				if err := m.open("i").Work(t.Context(), true, nil); err == nil || rule.Fired() != 1 {
					t.Fatalf("%v, after %d faults", err, rule.Fired())
				}
				m.faults.Deliver()
				l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
				if len(l.Mail) != 1 || l.Mail[0].Command.Attempts != fault.attempts || len(l.Mail[0].Command.Begun) > 0 {
					t.Errorf("there is %+v", l.Mail)
				}
			})
		}
	}
}

// Who takes its mark back takes no other's: another process may have begun the
// command meanwhile, and end of it.
func TestAMarkThatIsTakenBackLeavesThoseOfOthers(t *testing.T) {
	t.Parallel()
	for _, kind := range stucks() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := deathsWorld(t)
			m, other := w.member("m", cluster.ModeDistributed), w.member("other", cluster.ModeDistributed)
			cmd, _ := kind.mailed(t, m)
			m.put(t, "i", cmd)
			eventually(t, "the instance is free", func() bool { return m.Owned() == 0 })
			mailbox, unknown := cluster.Root(w.name)+"mailbox/", false
			m.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: func(c clustertest.Call) bool {
				unknown = unknown || c.PutsUnder(mailbox)
				return c.PutsUnder(mailbox)
			}})
			m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Times: 1, Match: func(c clustertest.Call) bool {
				if !unknown || !c.Touches(mailbox) {
					return false
				}
				there := must(other.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail[0].Command
				there.Attempts++
				there.Begun = append(there.Begun, begunBy("other")...)
				other.put(t, "i", there)
				return true
			}})
			if err := m.open("i").Work(t.Context(), true, nil); err == nil {
				t.Fatal("the mark was answered")
			}
			there := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Mail[0].Command
			if n := len(there.Begun); n != 2 || there.Begun[1].Process != "other" || there.Attempts != 2 {
				t.Errorf("its marks are %+v, after %d attempts", there.Begun, there.Attempts)
			}
		})
	}
}

// How old a mark is, is no matter of clocks: not of those who look, nor of those who
// wrote it. Only where the cluster's age was lost they tell it.
func TestMarksAreOldByTheAgeOfTheCluster(t *testing.T) {
	t.Parallel()
	const age = 5 * time.Hour
	for name, tt := range map[string]struct {
		ago, at time.Duration // since the mark by the age, and by the clock of who wrote it
		poison  bool
	}{
		"young":                   {time.Minute, time.Minute, true},
		"of now":                  {0, 0, true},
		"young, of a slow clock":  {time.Minute, 3 * time.Hour, true},
		"young, of a fast clock":  {time.Minute, -3 * time.Hour, true},
		"old":                     {61 * time.Minute, 61 * time.Minute, false},
		"old, of a fast clock":    {61 * time.Minute, -3 * time.Hour, false},
		"by who is ahead in age":  {-30 * time.Second, 3 * time.Hour, true},
		"old, in another cluster": {-2 * time.Hour, 9 * time.Hour, false},
		"of no known age":         {age, 9 * time.Hour, false},
	} {
		for _, off := range []time.Duration{-3 * time.Hour, 0, 3 * time.Hour} {
			t.Run(fmt.Sprint(name, "/", off), func(t *testing.T) {
				t.Parallel()
				w := deathsWorld(t)
				m := w.member("m", cluster.ModeDistributed, func(c *client.Config) {
					c.Processes = gone(time.Hour)
					c.Rest, c.Grace = time.Nanosecond, time.Nanosecond
					env := c.Env
					c.Env = func() engine.Env {
						e := env()
						e.Now = func() time.Time { return time.Now().UTC().Add(off) }
						return e
					}
				})
				cmd := resumeOf("timer-c", must(m.open("i").Do(t.Context(), startOf("waits", "s")))(t).Instance, 0)
				if _, ok, err := m.store.Upkeep.AdvanceAge(t.Context(), must(m.store.Upkeep.Age(t.Context()))(t), age); err != nil || !ok {
					t.Fatal(ok, err)
				}
				cmd.Timer, cmd.Attempts, cmd.Begun = true, 3, begunBy("p", "q", "r")
				for i := range cmd.Begun {
					cmd.Begun[i].At = time.Now().Add(-tt.at).UTC()
					cmd.Begun[i].Age = (age - tt.ago).Milliseconds()
				}
				m.put(t, "i", cmd)
				worked := make(chan struct{})
				go func() {
					defer close(worked)
					for must(m.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Suspended {
						if err := m.open("i").Work(t.Context(), true, nil); err != nil {
							t.Error(err)
							return
						}
					}
				}()
				select {
				case <-w.valve.entered:
					if tt.poison {
						t.Error("it is run once more")
					}
					l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
					if n := len(l.Mail[0].Command.Begun); n != 1 || l.Mail[0].Command.Begun[0].Age != age.Milliseconds() {
						t.Errorf("its marks are %+v", l.Mail[0].Command.Begun)
					}
					w.valve.pass <- struct{}{}
					<-worked
				case <-worked:
					if !tt.poison {
						t.Error("it is set aside")
					}
				}
			})
		}
	}
}
