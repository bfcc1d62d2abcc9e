package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// RegisterFunc adds an activity that is a Go function with typed inputs and
// outputs. In and Out are structs; each exported field is an input or output
// named by its json tag, or by its own name with a small first letter. The tags
// `required:"true"` and `doc:"…"` describe inputs and outputs. d needs a Type;
// inputs and outputs that d describes itself take precedence. struct{} stands
// for none.
//
//	type in struct { Order string `json:"order" required:"true"` }
//	type out struct { Tracking string `json:"tracking"` }
//	engine.RegisterFunc(reg, workflow.Descriptor{Type: "acme.Ship", Main: "order"},
//		func(ctx context.Context, x *engine.Execution, i in) (out, error) { … })
//
// It returns an error when In or Out is no struct, or as [Registry.Register]
// does.
func RegisterFunc[In, Out any](r *Registry, d workflow.Descriptor, f func(ctx context.Context, x *Execution, in In) (Out, error)) error {
	ins, err := fieldsOf(reflect.TypeFor[In]())
	if err != nil {
		return fmt.Errorf("register activity %s: inputs: %w", d.Type, err)
	}
	outs, err := fieldsOf(reflect.TypeFor[Out]())
	if err != nil {
		return fmt.Errorf("register activity %s: outputs: %w", d.Type, err)
	}
	for _, fl := range ins {
		if _, ok := d.Input(fl.name); !ok {
			d.Inputs = append(d.Inputs, workflow.InputDescriptor{Name: fl.name, Type: fl.alias, Description: fl.doc, Required: fl.required})
		}
	}
	for _, fl := range outs {
		if !hasOutput(&d, fl.name) {
			d.Outputs = append(d.Outputs, workflow.OutputDescriptor{Name: fl.name, Type: fl.alias, Description: fl.doc})
		}
	}
	return r.Register(d, typedActivity[In, Out]{f, ins})
}

func hasOutput(d *workflow.Descriptor, name string) bool {
	for _, o := range d.Outputs {
		if o.Name == name {
			return true
		}
	}
	return false
}

type typedActivity[In, Out any] struct {
	f   func(context.Context, *Execution, In) (Out, error)
	ins []typedField
}

func (t typedActivity[In, Out]) Execute(ctx context.Context, x *Execution) error {
	values := make(map[string]any, len(t.ins))
	for _, fl := range t.ins {
		if v := x.Value(fl.name); v != nil {
			values[fl.name] = v
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	var in In
	if err := workflow.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("the inputs do not fit: %w", err)
	}
	out, err := t.f(ctx, x, in)
	if err != nil {
		return err
	}
	if raw, err = json.Marshal(out); err != nil {
		return fmt.Errorf("the outputs have no JSON form: %w", err)
	}
	v, err := decodeDistinct(raw)
	if err != nil {
		return fmt.Errorf("the outputs: %w", err)
	}
	m, _ := v.(map[string]any)
	for _, k := range sortedKeys(m) {
		x.SetOutput(k, m[k])
	}
	return nil
}

type typedField struct {
	name, alias, doc string
	required         bool
}

func fieldsOf(t reflect.Type) ([]typedField, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct", t)
	}
	var out []typedField
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			// encoding/json finds the field by any case.
			name = workflow.LowerFirst(f.Name)
		}
		out = append(out, typedField{name, AliasFor(f.Type), f.Tag.Get("doc"), f.Tag.Get("required") == "true"})
	}
	return out, nil
}

// AliasFor is the type alias that values of a Go type have in definitions.
func AliasFor(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "TimeSpan"
	case reflect.TypeFor[time.Time]():
		return "DateTimeOffset"
	case reflect.TypeFor[[]string]():
		return "String[]"
	}
	switch t.Kind() {
	case reflect.String:
		return "String"
	case reflect.Bool:
		return "Boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "Int64"
	case reflect.Float32, reflect.Float64:
		return "Double"
	case reflect.Slice, reflect.Array:
		return "Object[]"
	}
	return "Object"
}
