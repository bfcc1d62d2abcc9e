package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Activity is an activity type with inputs and outputs of Go's types.
type Activity[In, Out any] struct {
	desc workflow.Descriptor
	run  func(ctx context.Context, x *engine.Execution, in In) (Out, error)
}

// NewActivity makes an activity type of code, such as acme.Ship. In and Out are records:
// structs of [Value] fields. The tags doc and required="true" describe them to authors. As
// with every activity, its work may happen again after a crash: x.IdempotencyKey stays the
// same then.
func NewActivity[In, Out any](typ string, run func(ctx context.Context, x *engine.Execution, in In) (Out, error)) *Activity[In, Out] {
	d := workflow.Descriptor{Type: typ}
	var in In
	var out Out
	d.Inputs, _ = describe(reflect.ValueOf(&in).Elem())
	_, d.Outputs = describe(reflect.ValueOf(&out).Elem())
	return &Activity[In, Out]{d, run}
}

// Responds says that the activity may answer the caller of an HTTP endpoint (x.Respond), who then waits for it also
// when it runs long after the request, and gives the activity back.
func (a *Activity[In, Out]) Responds() *Activity[In, Out] {
	a.desc.Responds = true
	return a
}

// Register adds the type to a registry, as the Activities of a node's configuration want
// it. It returns an error if the type is taken.
func (a *Activity[In, Out]) Register(r *engine.Registry) error { return r.Register(a.desc, a) }

// Do runs the activity here, and gives where its outputs will stand.
func (a *Activity[In, Out]) Do(s *Steps, in In, opts ...Option) Out {
	s.b.types[a.desc.Type] = a.Register
	id := s.add(a.desc.Type, writtenOf(reflect.ValueOf(&in).Elem()), opts...)
	var out Out
	for _, f := range fieldsOf(reflect.ValueOf(&out).Elem()) {
		place(f.value, s.where(id, f.name))
	}
	return out
}

// Execute implements [engine.Activity].
func (a *Activity[In, Out]) Execute(ctx context.Context, x *engine.Execution) error {
	var in In
	for _, f := range fieldsOf(reflect.ValueOf(&in).Elem()) {
		if err := take(f.value, x.Value(f.name)); err != nil {
			return fmt.Errorf("input %s: %w", f.name, err)
		}
	}
	out, err := a.run(ctx, x, in)
	if err != nil {
		return err
	}
	for _, f := range fieldsOf(reflect.ValueOf(&out).Elem()) {
		v, err := give(f.value)
		if err != nil {
			return fmt.Errorf("output %s: %w", f.name, err)
		}
		if v != nil {
			x.SetOutput(f.name, v)
		}
	}
	return nil
}

// take sets a field to what came as JSON.
func take(v reflect.Value, from any) error {
	if from == nil {
		return nil
	}
	if !v.Type().Implements(valueType) {
		fields, ok := from.(map[string]any)
		if !ok {
			return fmt.Errorf("it is %T, and should be an object", from)
		}
		for _, f := range fieldsOf(v) {
			if err := take(f.value, fields[f.name]); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		return nil
	}
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw)
}

// give is a field as JSON; nil if it is not given.
func give(v reflect.Value) (any, error) {
	one, ok := v.Interface().(anyValue)
	if ok && !one.Given() {
		return nil, nil
	}
	if ok {
		raw, err := v.Interface().(json.Marshaler).MarshalJSON()
		if err != nil {
			return nil, err
		}
		var out any
		return out, workflow.Unmarshal(raw, &out)
	}
	out := map[string]any{}
	for _, f := range fieldsOf(v) {
		inner, err := give(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if inner != nil {
			out[f.name] = inner
		}
	}
	return out, nil
}
