package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// branches has three waits, each before a call.
func branches() *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{
		seq(waitFor("one"), through()), seq(waitFor("two"), through()), seq(waitFor("three"), through())}}
}

func (m *member) mailed(t *testing.T, id string) []store.Mail {
	t.Helper()
	return must(m.store.Instances.MailThat(t.Context(), id, func(*workflow.Command) bool { return true }))(t)
}

// exported is an import of the instance as it is.
func (m *member) exported(t *testing.T, id, command string) workflow.Command {
	t.Helper()
	rec := must(m.store.Reader.Instance(t.Context(), id))(t)
	raw := must(json.Marshal(map[string]any{"instance": rec.Header, "state": rec.State}))(t)
	return workflow.Command{ID: command, Kind: workflow.CommandImport, CreatedAt: time.Now().UTC(), State: raw}
}

// mails puts accepted work of each kind into the mailbox of an idle instance. All of it would make a call.
var mails = map[string]func(t *testing.T, m *member){
	"start":  func(t *testing.T, m *member) { m.create(t, startOf("call", "start")) },
	"events": func(t *testing.T, m *member) { post(t, m, func(c *workflow.Command) {}) },
	"timers": func(t *testing.T, m *member) { post(t, m, func(c *workflow.Command) { c.Timer = true }) },
	"ends of children": func(t *testing.T, m *member) {
		post(t, m, func(c *workflow.Command) { c.Kind = workflow.CommandChildEnd })
	},
	"keyed events": func(t *testing.T, m *member) {
		post(t, m, func(c *workflow.Command) { c.Key = &workflow.CommandKey{Name: "key-" + c.ID, BodyHash: "h"} })
	},
	"import and event": func(t *testing.T, m *member) {
		in := must(m.open("i").Do(t.Context(), startOf("branches", "start")))(t).Instance
		m.put(t, "i", m.exported(t, "i", "import"))
		m.put(t, "i", resumeOf("e", in, 1))
	},
	"retry": func(t *testing.T, m *member) {
		must(m.open("i").Do(t.Context(), startOf("fails", "start")))(t)
		m.put(t, "i", workflow.Command{ID: "retry", Kind: workflow.CommandRetry, CreatedAt: time.Now().UTC()})
	},
	"repair": func(t *testing.T, m *member) {
		must(m.open("i").Do(t.Context(), startOf("fails", "start")))(t)
		m.put(t, "i", workflow.Command{ID: "alter", Kind: workflow.CommandAlter, CreatedAt: time.Now().UTC(),
			Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry}}}})
	},
	"more than one look reads": func(t *testing.T, m *member) {
		in := must(m.open("i").Do(t.Context(), startOf("branches", "start")))(t).Instance
		for i := range 120 {
			m.put(t, "i", resumeOf(fmt.Sprintf("e%03d", i), in, 0))
		}
		m.put(t, "i", m.exported(t, "i", "import"))
	},
	"more imports than one commit refuses": func(t *testing.T, m *member) {
		must(m.open("i").Do(t.Context(), startOf("branches", "start")))(t)
		for i := range 70 {
			m.put(t, "i", m.exported(t, "i", fmt.Sprint("import", i)))
		}
	},
}

func post(t *testing.T, m *member, as func(*workflow.Command)) {
	t.Helper()
	in := must(m.open("i").Do(t.Context(), startOf("branches", "start")))(t).Instance
	for i := range 3 {
		cmd := resumeOf(fmt.Sprint("m", i), in, i)
		as(&cmd)
		m.put(t, "i", cmd)
	}
}

// What was accepted before a cancel or a delete comes behind it: of every kind, with places and
// without, whether the end is in hand or mail, and on whatever node it is worked.
func TestAnEndGoesBeforeAllThatWasAccepted(t *testing.T) {
	t.Parallel()
	full := func(c *client.Config) { c.Limits = admission.Limits{PerDefinition: 1} }
	for kind, put := range mails {
		for _, end := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			for _, way := range []string{"in hand", "mail", "mail that was left", "with no place free", "after a wait for a place"} {
				t.Run(fmt.Sprint(kind, "/", end, "/", way), func(t *testing.T) {
					if strings.HasPrefix(kind, "more ") {
						testsize.NotRaced(t, "hundreds of commands")
					}
					t.Parallel()
					w := newWorld(t, define("branches", branches()), define("call", through()), define("fails", seq(&workflow.Activity{Type: "test.Broken"}, through())), define("hold", through()))
					a, b := w.member("a", cluster.ModeDistributed, slow), w.member("b", cluster.ModeDistributed, slow, full)
					put(t, a)
					calls := w.broken.calls.Load()
					ctx, late := context.WithTimeout(t.Context(), 20*time.Second) // a call that is made all the same may hang in the valve
					defer late()
					stop := workflow.Command{ID: "stop", Kind: end, CreatedAt: time.Now().UTC()}
					switch way {
					case "in hand":
						w.letsAllThrough()
						must(a.open("i").Do(ctx, stop))(t)
					case "with no place free", "after a wait for a place":
						def := map[string]string{"start": "call", "retry": "fails", "repair": "fails"}[kind]
						if def == "" {
							def = "branches"
						}
						leave := b.occupy(t, def)
						defer leave()
						if way == "after a wait for a place" && def != "fails" {
							if err := b.open("i").Work(t.Context(), false, nil); !errors.Is(err, admission.ErrCrowded) {
								t.Fatal(err)
							}
						}
						must(b.open("i").Do(ctx, stop))(t)
					default:
						w.letsAllThrough()
						a.put(t, "i", stop)
						if err := a.open("i").Work(ctx, way == "mail that was left", nil); err != nil {
							t.Fatal(err)
						}
					}
					if n := len(w.valve.entered) + int(w.broken.calls.Load()-calls); n != 0 {
						t.Errorf("%d calls", n)
					}
					eventually(t, "all that was accepted is dealt with", func() bool {
						_ = a.open("i").Work(ctx, true, nil)
						return len(a.mailed(t, "i")) == 0
					})
					rec := must(a.store.Reader.Instance(t.Context(), "i"))(t)
					switch {
					case end == workflow.CommandDelete:
						if rec != nil {
							t.Errorf("it is there: %+v", rec.Header)
						}
					case rec.Header.Status != workflow.StatusFinished:
						t.Errorf("it is %s", rec.Header.SubStatus)
					}
					if n := len(w.valve.entered) + int(w.broken.calls.Load()-calls); n != 0 {
						t.Errorf("%d calls", n)
					}
				})
			}
		}
	}
}

// letsAllThrough keeps nothing in the valve: what comes there is only counted.
func (w *world) letsAllThrough() {
	for range 100 {
		w.valve.pass <- struct{}{}
	}
}

// occupy takes the one place that a definition has.
func (m *member) occupy(t *testing.T, def string) (leave func()) {
	t.Helper()
	var begun workflow.Command
	switch def {
	case "call":
		begun = startOf(def, "hold")
	case "fails": // no burst of it lasts
		return func() {}
	default:
		in := must(m.open("hold").Do(t.Context(), startOf("branches", "hold")))(t).Instance
		begun = resumeOf("held", in, 0)
	}
	eventually(t, "the place is free, which comes after the answer", func() bool { return m.Sweep(nil).Bursts == 0 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = m.open("hold").Do(t.Context(), begun)
	}()
	<-m.w.valve.entered
	return func() {
		m.w.valve.pass <- struct{}{}
		<-done
	}
}

// Behind a call that hangs lies more work. Its cancel ends the call and the instance, and the call
// is not made again by what lies in front.
func TestACancelBehindMailEndsTheCallForGood(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		for _, before := range []int{1, 60} {
			t.Run(fmt.Sprint(mode, "/", before), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("branches", branches()))
				m := w.member("a", mode, slow)
				in := must(m.open("i").Do(t.Context(), startOf("branches", "start")))(t).Instance
				accepted(t, m.open("i"), resumeOf("first", in, 0), w.valve)
				for i := range before {
					m.put(t, "i", resumeOf(fmt.Sprint("second", i), in, 1))
				}
				m.cancelMail(t, "i")
				m.Interrupt("i")
				if interrupted, _ := m.cancelled(t, "i", "test.Valve"); interrupted == "" {
					t.Error("nothing was interrupted")
				}
				eventually(t, "the rest is dealt with", func() bool { return len(m.mailed(t, "i")) == 0 })
				if n := len(w.valve.entered); n != 0 {
					t.Errorf("%d more calls", n)
				}
			})
		}
	}
}

// A call that was interrupted for nothing is spared from then on, but not from a cancel.
func TestACancelEndsACallThatWasInterruptedForNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(through(), line("never"))))
			m := w.member("a", mode, slow)
			accepted(t, m.open("i"), startOf("d", "c1"), w.valve)
			m.Interrupt("i")
			<-w.valve.entered
			m.Interrupt("i")
			m.cancelMail(t, "i")
			m.Interrupt("i")
			m.cancelled(t, "i", "test.Valve")
			if n := len(w.valve.entered); n != 0 {
				t.Errorf("%d more calls", n)
			}
		})
	}
}

// The cancel comes between the look into the mailbox and the burst that is made of it.
func TestAnInterruptBeforeTheBurstIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(line("in"), through(), line("never"))))
	var m *member
	m = w.member("a", cluster.ModeDistributed, slow, func(c *client.Config) {
		c.Definitions = looked{c.Definitions, sync.OnceFunc(func() {
			m.cancelMail(t, "i")
			m.Interrupt("i")
		})}
	})
	m.create(t, startOf("d", "start"))
	if err := m.open("i").Work(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	m.cancelled(t, "i", "test.Valve")
	if n := len(w.valve.entered); n != 0 {
		t.Errorf("%d calls", n)
	}
}
