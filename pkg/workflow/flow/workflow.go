package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Workflow is a definition whose inputs are an In and whose outputs are an Out.
type Workflow[In, Out any] struct {
	def      *workflow.Definition
	problems workflow.Problems
}

// New builds a definition: body writes down its steps and gives what its outputs are. What
// is wrong with it, [Workflow.Check] tells.
func New[In, Out any](id string, body func(s *Steps, in In) Out) *Workflow[In, Out] {
	b := &builder{count: map[string]int{}, places: map[string]workflow.Place{}, types: map[string]func(*engine.Registry) error{}, children: map[string]*workflow.Definition{}, variables: map[string]any{}}
	at := caller()
	var in In
	inputs := map[string]any{}
	for _, f := range fieldsOf(reflect.ValueOf(&in).Elem()) {
		place(f.value, "inputs."+f.name)
		inputs[f.name] = map[string]any{"type": aliasOf(f.value), "required": f.required, "description": f.doc}
	}
	root := &Steps{b: b, list: []any{}}
	out := body(root, in)
	outputs := map[string]any{}
	for _, f := range fieldsOf(reflect.ValueOf(&out).Elem()) {
		declared := map[string]any{"type": aliasOf(f.value), "description": f.doc}
		if v := plainOf(f.value); v != nil {
			declared["value"] = v
		}
		outputs[f.name] = declared
	}
	w := &Workflow[In, Out]{}
	w.def, w.problems = b.read(map[string]any{"id": id, "inputs": inputs, "variables": b.variables, "outputs": outputs, "root": root.list}, at)
	return w
}

// Definition is what was built, for the Workflows of a node's configuration, or as YAML
// through package yaml. It is not to be changed.
func (w *Workflow[In, Out]) Definition() *workflow.Definition { return w.def }

// Check says what is wrong with the definition, and what may be meant (warnings): the same
// as of one in YAML. Places are of the Go code.
func (w *Workflow[In, Out]) Check() workflow.Problems { return slices.Clone(w.problems) }

// Start is a start of the workflow, for Execute and Dispatch of a node. It panics if a
// value of in has no JSON form.
func (w *Workflow[In, Out]) Start(in In) workflow.Start {
	input, err := give(reflect.ValueOf(&in).Elem())
	if err != nil {
		panic("flow: " + err.Error())
	}
	fields, _ := input.(map[string]any)
	return workflow.Start{DefinitionID: w.def.ID, Input: fields}
}

// Result is what an instance of the workflow has given. It returns an error if that is no
// Out, as of an instance of another version.
func (w *Workflow[In, Out]) Result(of workflow.Instance) (Out, error) {
	var out Out
	err := take(reflect.ValueOf(&out).Elem(), of.Output)
	if of.Output == nil {
		return out, nil
	}
	return out, err
}

// Run runs w as an instance of its own, waits for its end, and gives where its outputs
// will stand. What w gives is nothing if it fails.
func Run[In, Out any](s *Steps, w *Workflow[In, Out], in In, opts ...Option) Out {
	s.b.children[w.def.ID] = w.def
	id := s.add("executeWorkflow", map[string]any{"workflowDefinitionId": w.def.ID, "input": plainOf(reflect.ValueOf(&in).Elem())}, opts...)
	return standing[Out](s.where(id, "") + "?.output")
}

// builder is one definition while it is written.
type builder struct {
	count     map[string]int // of ids, by their beginning
	places    map[string]workflow.Place
	types     map[string]func(*engine.Registry) error // of the activities that are used
	children  map[string]*workflow.Definition
	variables map[string]any
	scope     map[string]any // variables of the round of [EachAtOnce] that is written; nil: it is none
}

// declare declares a variable of the round that is written, or of the workflow.
func (b *builder) declare(name, typ string) {
	if b.scope != nil {
		b.scope[name] = map[string]any{"type": typ}
		return
	}
	b.variables[name] = map[string]any{"type": typ}
}

// where is where an output of the last step stands, "" for its first. In a round that is one of several at once, it
// is a variable of the round: the step's last output may be that of another round.
func (s *Steps) where(id, output string) string {
	if s.b.scope == nil {
		if output == "" {
			return fmt.Sprintf("outputs(%q)", id)
		}
		return fmt.Sprintf("outputs(%q, %q)", id, output)
	}
	name := s.b.id("outputOfStep")
	s.b.declare(name, "Object")
	step, _ := s.list[len(s.list)-1].(map[string]any)
	if output == "" {
		step["result"] = name
		return "variables." + name
	}
	outputs, _ := step["outputs"].(map[string]any)
	if outputs == nil {
		outputs = map[string]any{}
		step["outputs"] = outputs
	}
	outputs[output] = name
	return "variables." + name
}

// read makes the definition of what was written, as the notation does, and checks it.
func (b *builder) read(written map[string]any, at workflow.Place) (*workflow.Definition, workflow.Problems) {
	registry := activities.Default().Wrapped(func(_ *workflow.Descriptor, a engine.Activity) engine.Activity { return a })
	for _, typ := range slices.Sorted(maps.Keys(b.types)) {
		if err := b.types[typ](registry); err != nil {
			return &workflow.Definition{Place: at}, workflow.Problems{{Code: "bad-activity", Detail: err.Error(), Place: at}}
		}
	}
	src, err := json.Marshal(written)
	if err != nil {
		panic("flow: " + err.Error())
	}
	def, problems := yaml.Read(src, at.File, registry)
	for i := range problems { // of a text that nobody sees
		problems[i].Place, problems[i].Excerpt = at, ""
	}
	if def == nil {
		return &workflow.Definition{Place: at}, problems
	}
	b.placed(def, at)
	_, found := check.Definition(def, check.Options{
		Options: engine.Options{Registry: registry, Evaluators: expression.All()},
		Child:   func(id string) *workflow.Definition { return b.children[id] },
	})
	for i := range found {
		found[i].Within = workflow.Within{}
	}
	return def, append(problems, found...)
}

// placed gives each part of the definition its place in the Go code.
func (b *builder) placed(def *workflow.Definition, at workflow.Place) {
	def.Place = at
	for i := range def.Inputs {
		def.Inputs[i].Place = at
	}
	for i := range def.Variables {
		def.Variables[i].Place = at
	}
	for i := range def.Outputs {
		if v := def.Outputs[i].Value; v != nil {
			v.Place = at
		}
	}
	workflow.Walk(def.Root, func(a, parent *workflow.Activity, _ int) bool {
		own, ok := b.places[a.ID]
		switch {
		case ok:
		case parent != nil:
			own = parent.Place
		default:
			own = at
		}
		a.Place = own
		for name, e := range a.Inputs {
			e.Place = own
			a.Inputs[name] = e
		}
		for i := range a.Cases {
			a.Cases[i].Place, a.Cases[i].Condition.Place = own, own
		}
		for i := range a.Variables {
			a.Variables[i].Place = own
		}
		return true
	})
}

// id is the next id of an activity of that type.
func (b *builder) id(typ string) string {
	base := camel(typ[strings.LastIndexByte(typ, '.')+1:])
	b.count[base]++
	return fmt.Sprintf("%s%d", base, b.count[base])
}

// caller is the nearest place outside of this package's code.
func caller() workflow.Place {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	own := reflect.TypeFor[Steps]().PkgPath() + "."
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, own) {
			return workflow.Place{File: path.Base(f.File), Line: f.Line, Column: 1}
		}
		if !more {
			return workflow.Place{}
		}
	}
}
