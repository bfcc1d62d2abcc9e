package client_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// blocks are ways in which nothing of an instance runs but what ends it. Each gives
// the instance i, and what a try for it then comes to.
func blocks() map[string]func(*testing.T, *member) error {
	rests := func(kind string) func(*testing.T, *member) error {
		return func(t *testing.T, m *member) error {
			all := stucks()
			cmd, _ := all[slices.IndexFunc(all, func(s stuck) bool { return s.name == kind })].mailed(t, m)
			cmd.Attempts = 2
			m.put(t, "i", cmd)
			return nil
		}
	}
	return map[string]func(*testing.T, *member) error{
		"its start rests":               rests("a start"),
		"the rest of its burst rests":   rests("the rest of a burst"),
		"its start finds no place":      noPlace(true),
		"it finds no place to go on in": noPlace(false),
	}
}

func noPlace(fresh bool) func(*testing.T, *member) error {
	return func(t *testing.T, m *member) error {
		def := "waits"
		if fresh {
			def = "runs"
			m.create(t, startOf(def, "s"))
		} else {
			must(m.open("i").Do(t.Context(), startOf(def, "s")))(t)
			must(m.open("h").Do(t.Context(), startOf(def, "h")))(t)
		}
		eventually(t, "the place is free", func() bool { return m.Owned() == 0 })
		hangs := make(chan error, 1)
		go func() {
			cmd := startOf(def, "h")
			if !fresh {
				cmd = resumeOf("go", must(m.store.Reader.Instance(t.Context(), "h"))(t).Header, 0)
			}
			_, err := m.open("h").Do(t.Context(), cmd)
			hangs <- err
		}()
		<-m.w.valve.entered
		t.Cleanup(func() {
			m.w.valve.pass <- struct{}{}
			if err := <-hangs; err != nil {
				t.Error(err)
			}
		})
		return admission.ErrCrowded
	}
}

// create makes the instance i, with its start in the mailbox.
func (m *member) create(t *testing.T, start workflow.Command) {
	t.Helper()
	n := &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", start, start.CreatedAt), Command: start}
	if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
		t.Fatal(out, err)
	}
}

// A cancel or a delete waits for nothing that is not run now, however much of that
// lies in front of it.
func TestWhatEndsIsFoundBehindWhatWaits(t *testing.T) {
	t.Parallel()
	for name, block := range blocks() {
		for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			for _, before := range []int{48, 50, 130} {
				t.Run(fmt.Sprint(name, "/", kind, "/", before), func(t *testing.T) {
					if before != 50 {
						testsize.NotRaced(t, "other lengths of the mailbox")
					}
					t.Parallel()
					w := deathsWorld(t)
					m := w.member("m", cluster.ModeDistributed, func(c *client.Config) { c.Rest, c.Limits = time.Hour, admission.Limits{PerDefinition: 1} })
					comes := block(t, m)
					for i := range before {
						st := workflow.EventStimulus("other", "x")
						st.InstanceID = "i"
						m.put(t, "i", workflow.Command{ID: fmt.Sprint("c", i), Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Stimulus: &st})
					}
					if err := m.open("i").Work(t.Context(), comes == nil, nil); !errors.Is(err, comes) {
						t.Fatal(err)
					}
					rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
					if rec == nil || rec.Header.Status == workflow.StatusFinished {
						t.Fatalf("nothing has ended it, and it is %+v", rec)
					}
					m.put(t, "i", workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC()})
					m.Interrupt("i")
					if err := m.open("i").Work(t.Context(), comes == nil, nil); err != nil {
						t.Fatal(err)
					}
					m.endedUnrun(t, "i", kind)
				})
			}
		}
	}
}

// A cancel or a delete that processes ended with is set aside. An instance that never
// ran is started later all the same.
func TestAPoisonedCancelKeepsNoStartFromRunning(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			for _, way := range []string{"its start rests", "it finds no place"} {
				t.Run(fmt.Sprint(mode, "/", kind, "/", way), func(t *testing.T) {
					t.Parallel()
					w := deathsWorld(t)
					m := w.member("m", mode, func(c *client.Config) {
						c.Processes = gone(time.Hour)
						c.Rest, c.Grace, c.Limits = 200*time.Millisecond, time.Nanosecond, admission.Limits{PerDefinition: 1}
					})
					cmd := startOf("runs", "s")
					m.create(t, cmd)
					var comes error
					hangs := make(chan error, 1)
					if way == "its start rests" {
						cmd.Attempts = 2
						m.put(t, "i", cmd)
						hangs <- nil
					} else {
						comes = admission.ErrCrowded
						go func() {
							_, err := m.open("h").Do(t.Context(), startOf("runs", "h"))
							hangs <- err
						}()
						<-w.valve.entered
					}
					m.put(t, "i", workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC(), Attempts: 3, Begun: begunBy("p", "q", "r")})
					if err := m.open("i").Work(t.Context(), comes == nil, nil); !errors.Is(err, comes) {
						t.Fatal(err)
					}
					letters, _, err := m.store.Reader.DeadLetters(t.Context(), "", 10)
					if err != nil || len(letters) != 1 || letters[0].Reason != workflow.DeadPoison || letters[0].Command.ID != "end" {
						t.Fatalf("dead letters %+v, %v", letters, err)
					}
					if n := m.count("dead_letters_total", string(workflow.DeadPoison)); n != 1 {
						t.Errorf("%g dead letters are counted", n)
					}
					for range 2 {
						w.valve.pass <- struct{}{}
					}
					if err := <-hangs; err != nil {
						t.Fatal(err)
					}
					eventually(t, "it is run", func() bool {
						if err := m.open("i").Work(t.Context(), comes == nil, nil); err != nil && !errors.Is(err, admission.ErrCrowded) {
							t.Fatal(err)
						}
						rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
						return rec != nil && rec.Header.SubStatus == workflow.Finished
					})
					if l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t); len(l.Mail) > 0 {
						t.Errorf("%+v is left", l.Mail)
					}
				})
			}
		}
	}
}
