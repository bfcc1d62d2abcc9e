package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

type shipIn struct {
	Order   string         `json:"order" required:"true" doc:"The order."`
	Weight  float64        `json:"weight"`
	Pieces  int            `json:"pieces"`
	Express bool           `json:"express"`
	Within  time.Duration  `json:"within"`
	Before  time.Time      `json:"before"`
	Tags    []string       `json:"tags"`
	Extra   map[string]any // named by its field
	private int            //nolint:unused // shows that it is left out
}

type shipOut struct {
	Tracking string `json:"tracking" doc:"The number."`
	Cost     int    `json:"cost"`
}

func TestATypedActivity(t *testing.T) {
	t.Parallel()
	var got shipIn
	reg := activities.Default()
	err := engine.RegisterFunc(reg, workflow.Descriptor{Type: "acme.Ship", Main: "order", Outcomes: []string{"Shipped"}},
		func(_ context.Context, x *engine.Execution, in shipIn) (shipOut, error) {
			got = in
			x.SetOutcomes("Shipped")
			return shipOut{"T-" + in.Order, 5}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	d := reg.ByShortName("acme.Ship")
	if in, _ := d.Input("order"); !in.Required || in.Type != "String" || in.Description != "The order." {
		t.Errorf("input %+v", in)
	}
	var types []string
	for _, in := range d.Inputs {
		types = append(types, in.Name+":"+in.Type)
	}
	if s := strings.Join(types, " "); s != "order:String weight:Double pieces:Int64 express:Boolean within:TimeSpan before:DateTimeOffset tags:String[] extra:Object" {
		t.Errorf("inputs %s", s)
	}
	a := &workflow.Activity{ID: "ship", Type: "acme.ship", Inputs: map[string]workflow.Expression{
		"order": workflow.Lit("5"), "weight": workflow.Lit("1.5"), "pieces": workflow.Lit("2"), "express": workflow.Lit("True"), "within": workflow.Lit("00:00:05"),
		"before": workflow.Lit("2026-01-01"), "tags": workflow.Lit("[\"a\"]"), "extra": workflow.Lit(map[string]any{"k": 1}),
	}, Outputs: map[string]string{"tracking": "number"}}
	def := &workflow.Definition{ID: "d", Root: a, Outputs: []workflow.Output{{Name: "number"}}}
	prog, problems := engine.Compile(def, engine.Options{Registry: reg})
	if problems != nil {
		t.Fatal(problems)
	}
	b, _ := engine.New(prog, "i", &workflow.Start{}, time.Time{}, engine.Env{Now: time.Now})
	if _, err := b.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart}); err != nil {
		t.Fatal(err)
	}
	if h := b.Header(); h.SubStatus != workflow.Finished || h.Output["number"] != "T-5" {
		t.Errorf("%s %v %v", h.SubStatus, h.Output, h.Incidents)
	}
	want := shipIn{Order: "5", Weight: 1.5, Pieces: 2, Express: true, Within: 5 * time.Second, Before: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Tags: []string{"a"}, Extra: map[string]any{"k": 1.0}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	reg := activities.Default()
	nothing := noCode{}
	for want, err := range map[string]error{
		"has no type":           reg.Register(workflow.Descriptor{}, nothing),
		"no code":               reg.Register(workflow.Descriptor{Type: "a"}, nil),
		"registered already":    reg.Register(workflow.Descriptor{Type: "elsa.writeline"}, nothing),
		"short name writeLine":  reg.Register(workflow.Descriptor{Type: "writeLine"}, nothing),
		"has no method Trigger": reg.Register(workflow.Descriptor{Type: "t", Trigger: true}, nothing),
		"default of input n":    reg.Register(workflow.Descriptor{Type: "d", Inputs: []workflow.InputDescriptor{{Name: "n", Type: "Int32", Default: "x"}}}, nothing),
		"is no struct":          engine.RegisterFunc(reg, workflow.Descriptor{Type: "x"}, func(context.Context, *engine.Execution, string) (struct{}, error) { return struct{}{}, nil }),
		"is not registered":     reg.Replace("nobody", nothing),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := reg.Replace("Elsa.WriteLine", nothing); err != nil {
		t.Error(err)
	}
	if activities.Default().ByType("Elsa.WriteLine") == nil {
		t.Error("a change of one registry reaches another")
	}
}

type noCode struct{}

func (noCode) Execute(context.Context, *engine.Execution) error { return nil }

// A container that replaces a faulted child once, as a Try activity would.
type tryOnce struct{}

func (tryOnce) Execute(_ context.Context, x *engine.Execution) error {
	x.Schedule(x.Node().Port("body"), engine.Child{})
	return nil
}

func (tryOnce) Signal(_ context.Context, x *engine.Execution, s engine.Signal) (bool, error) {
	if s.Name != engine.SignalFault {
		return false, nil
	}
	x.CancelChildren(func(*engine.Execution) bool { return true })
	x.Journal("Caught", s.Err.Error(), nil)
	x.Complete("Caught")
	return true, nil
}

func TestAnAncestorMayClaimAFault(t *testing.T) {
	t.Parallel()
	reg := activities.Default()
	if err := reg.Register(workflow.Descriptor{Type: "acme.Try", Ports: []string{"body"}}, tryOnce{}); err != nil {
		t.Fatal(err)
	}
	if err := reg.Register(workflow.Descriptor{Type: "acme.Bad"}, failing{}); err != nil {
		t.Fatal(err)
	}
	try := &workflow.Activity{Type: "acme.Try", Ports: map[string]*workflow.Activity{"body": {Type: "Elsa.Sequence", Activities: []*workflow.Activity{{Type: "acme.Bad"}}}}}
	after := &workflow.Activity{Type: "Elsa.SetName", Inputs: map[string]workflow.Expression{"value": workflow.Lit("went on")}}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{try, after}}}, engine.Options{Registry: reg})
	if problems != nil {
		t.Fatal(problems)
	}
	b, _ := engine.New(prog, "i", &workflow.Start{}, time.Time{}, engine.Env{Now: time.Now})
	if _, err := b.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart}); err != nil {
		t.Fatal(err)
	}
	if h := b.Header(); h.SubStatus != workflow.Finished || h.Name != "went on" || len(h.Incidents) != 0 {
		t.Errorf("%s %q %v", h.SubStatus, h.Name, h.Incidents)
	}
}

type failing struct{}

func (failing) Execute(context.Context, *engine.Execution) error { return errors.New("bad") }
