package engine_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// noted is code that notes its calls among what else is noted.
type noted struct{ notes *[]string }

func (n noted) Execute(_ context.Context, x *engine.Execution) error {
	*n.notes = append(*n.notes, "execute "+x.Node().LocalID())
	x.Schedule(x.Node().Port("body"), engine.Child{})
	if x.Node().Port("body") == nil {
		_, err := x.Wait(engine.Wait{Payload: "w"})
		return err
	}
	return nil
}

func (n noted) Resume(_ context.Context, x *engine.Execution, _ engine.Resume) error {
	*n.notes = append(*n.notes, "resume "+x.Node().LocalID())
	return nil
}

func (n noted) ChildCompleted(_ context.Context, x *engine.Execution, _ engine.Completed) error {
	*n.notes = append(*n.notes, "completed "+x.Node().LocalID())
	return nil
}

func (n noted) Signal(_ context.Context, x *engine.Execution, s engine.Signal) (bool, error) {
	*n.notes = append(*n.notes, s.Name+" "+x.Node().LocalID())
	return false, nil
}

// plain has no optional method.
type plain struct{ notes *[]string }

func (p plain) Execute(_ context.Context, x *engine.Execution) error {
	*p.notes = append(*p.notes, "execute "+x.Node().LocalID())
	_, err := x.Wait(engine.Wait{Payload: "p"})
	return err
}

// walled runs a definition whose activities note their calls, and its barrier.
type walled struct {
	t     *testing.T
	notes []string
	open  int // how often one may pass
	b     *engine.Burst
}

var errShut = errors.New("shut")

func wall(t *testing.T, a *workflow.Activity, open int) *walled {
	t.Helper()
	w := &walled{t: t, open: open}
	reg := activities.Default()
	for typ, code := range map[string]engine.Activity{"acme.Noted": noted{&w.notes}, "acme.Plain": plain{&w.notes}, "acme.Bad": failing{}} {
		if err := reg.Register(workflow.Descriptor{Type: typ, Ports: []string{"body"}}, code); err != nil {
			t.Fatal(err)
		}
	}
	if err := reg.Register(workflow.Descriptor{Type: "acme.Inside", Ports: []string{"body"}, NoEffect: true}, noted{&w.notes}); err != nil {
		t.Fatal(err)
	}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: a}, engine.Options{Registry: reg})
	if problems != nil {
		t.Fatal(problems)
	}
	env := engine.Env{Now: time.Now, Barrier: func(context.Context) error {
		w.notes = append(w.notes, "barrier")
		if w.open--; w.open < 0 {
			return errShut
		}
		return nil
	}}
	var err error
	if w.b, err = engine.New(prog, "i", &workflow.Start{}, time.Time{}, env); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *walled) run(cmd workflow.Command) error {
	_, err := w.b.Run(w.t.Context(), cmd)
	return err
}

func (w *walled) want(notes ...string) {
	w.t.Helper()
	if !slices.Equal(w.notes, notes) {
		w.t.Errorf("noted %q, want %q", w.notes, notes)
	}
	w.notes = nil
}

func of(typ, id string, body *workflow.Activity) *workflow.Activity {
	a := &workflow.Activity{Type: typ, ID: id}
	if body != nil {
		a.Ports = map[string]*workflow.Activity{"body": body}
	}
	return a
}

const many = 100

var begins = workflow.Command{ID: "s", Kind: workflow.CommandStart}

// Before every call into code that may have an effect outside, and before no other.
func TestTheBarrierIsBeforeWhatMayHaveAnEffectOutside(t *testing.T) {
	t.Parallel()
	w := wall(t, of("acme.Inside", "inside", of("acme.Noted", "outer", of("Elsa.Sequence", "list", nil))), many)
	if err := w.run(begins); err != nil {
		t.Fatal(err)
	}
	w.want("execute inside", "barrier", "execute outer", "barrier", "completed outer", "completed inside")

	w = wall(t, of("acme.Noted", "waits", nil), many)
	if err := w.run(begins); err != nil {
		t.Fatal(err)
	}
	w.want("barrier", "execute waits")
	if err := w.run(workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: w.b.Header().Bookmarks[0].ID}); err != nil {
		t.Fatal(err)
	}
	w.want("barrier", "resume waits")

	w = wall(t, of("acme.Plain", "plain", nil), many) // its resume runs no code
	if err := w.run(begins); err != nil {
		t.Fatal(err)
	}
	w.want("barrier", "execute plain")
	if err := w.run(workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: w.b.Header().Bookmarks[0].ID}); err != nil {
		t.Fatal(err)
	}
	w.want()

	w = wall(t, of("acme.Noted", "outer", of("acme.Bad", "bad", nil)), many)
	if err := w.run(begins); err != nil {
		t.Fatal(err)
	}
	w.want("barrier", "execute outer", "barrier", "barrier", "Fault outer")
}

// What the barrier says ends the burst: nothing behind it is called.
func TestABurstEndsAtABarrierThatIsShut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root  *workflow.Activity
		open  int
		notes []string
	}{
		"execute":   {of("acme.Noted", "a", nil), 0, []string{"barrier"}},
		"completed": {of("acme.Noted", "a", of("Elsa.Sequence", "list", nil)), 1, []string{"barrier", "execute a", "barrier"}},
		"signal":    {of("acme.Noted", "a", of("Elsa.Break", "b", nil)), 1, []string{"barrier", "execute a", "barrier"}},
		"fault":     {of("acme.Noted", "a", of("Elsa.Fault", "f", nil)), 1, []string{"barrier", "execute a", "barrier"}},
	} {
		w := wall(t, c.root, c.open)
		for range 2 { // it is over
			if err := w.run(begins); !errors.Is(err, errShut) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.want(c.notes...)
	}
}

// callsOut wants the client for outgoing calls.
type callsOut struct{}

func (callsOut) Execute(_ context.Context, x *engine.Execution) error {
	_, err := x.HTTP()
	return err
}

func TestWhatHasNoEffectOutsideMakesNoCalls(t *testing.T) {
	t.Parallel()
	for _, none := range []bool{true, false} {
		reg := activities.Default()
		if err := reg.Register(workflow.Descriptor{Type: "acme.Calls", NoEffect: none}, callsOut{}); err != nil {
			t.Fatal(err)
		}
		prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: &workflow.Activity{Type: "acme.Calls"}}, engine.Options{Registry: reg})
		if problems != nil {
			t.Fatal(problems)
		}
		b, _ := engine.New(prog, "i", &workflow.Start{}, time.Time{}, engine.Env{Now: time.Now, HTTP: http.DefaultClient})
		if _, err := b.Run(t.Context(), begins); err != nil {
			t.Fatal(err)
		}
		in := b.Header().Incidents
		if (len(in) > 0) != none || none && !strings.Contains(in[0].Message, "no effect outside") {
			t.Errorf("no effect %t: %v", none, in)
		}
	}
}
