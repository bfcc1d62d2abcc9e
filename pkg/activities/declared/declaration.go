package declared

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// Ability is what a program has that runs declared types, beside [engine.Abilities].
const Ability = "declared:1"

// Declaration is an activity type that workers do.
type Declaration struct {
	Type        string   `json:"type"` // such as acme.Ship
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Task        string   `json:"task"` // the name by which workers claim it
	Inputs      []Field  `json:"inputs,omitempty"`
	Outputs     []Field  `json:"outputs,omitempty"`
	Outcomes    []string `json:"outcomes,omitempty"` // none: Done
	Retry       *Retry   `json:"retry,omitempty"`    // nil: a failure is an incident

	at workflow.Place // of the type in its file
}

// Field is an input or an output.
type Field struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"` // as definitions write it: string, integer, string[], …
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Default     any      `json:"default,omitempty"` // of an input
	Enum        []string `json:"enum,omitempty"`    // of a text: what it may be
}

// Retry says how often a task is made again of which a worker reported that it failed for good.
type Retry struct {
	Attempts int64         `json:"attempts"` // in all, 2 to 100
	Delay    time.Duration `json:"delay"`    // before the second one
	Factor   float64       `json:"factor"`   // by which each next pause is longer
	MaxDelay time.Duration `json:"maxDelay"`
}

// pause is the time before the attempt behind that of this number.
func (r *Retry) pause(attempt int64) time.Duration {
	d := float64(r.Delay)
	for range attempt - 1 {
		if d *= r.Factor; d >= float64(r.MaxDelay) {
			return r.MaxDelay
		}
	}
	return min(time.Duration(d), r.MaxDelay)
}

// Kept reads what was kept of a declaration.
func Kept(raw json.RawMessage) (*Declaration, error) {
	d := &Declaration{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(d); err != nil || d.Type == "" || d.Task == "" {
		return nil, fmt.Errorf("the kept declaration of an activity type cannot be read: %w", err)
	}
	for i := range d.Inputs {
		if n, ok := d.Inputs[i].Default.(json.Number); ok {
			d.Inputs[i].Default = workflow.DefinedNumber(n)
		}
	}
	return d, nil
}

// Copy is what is kept of it with a version.
func (d *Declaration) Copy() json.RawMessage {
	raw, _ := json.Marshal(d) // of texts, numbers and JSON
	return raw
}

// Digest is equal for declarations that mean the same: what is said for people does not count.
func (d *Declaration) Digest() string {
	plain := *d
	plain.Title, plain.Description = "", ""
	plain.Inputs, plain.Outputs = withoutWords(d.Inputs), withoutWords(d.Outputs)
	sum := sha256.Sum256(plain.Copy())
	return hex.EncodeToString(sum[:8])
}

func withoutWords(fields []Field) []Field {
	out := make([]Field, len(fields))
	for i, f := range fields {
		f.Description = ""
		out[i] = f
	}
	return out
}

// Descriptor is the type as notations, checks and editors know it.
func (d *Declaration) Descriptor() workflow.Descriptor {
	var said []string
	for _, s := range []string{d.Title, d.Description} {
		if s = strings.TrimSpace(s); s != "" {
			said = append(said, strings.TrimSuffix(s, ".")+".")
		}
	}
	out := workflow.Descriptor{
		Type: d.Type, NoEffect: true, Outcomes: d.Outcomes, Resume: []string{taskResult, taskError},
		Description: strings.Join(append(said, "Done by workers that claim tasks named "+d.Task+"."), " "),
	}
	for _, f := range d.Inputs {
		out.Inputs = append(out.Inputs, workflow.InputDescriptor{Name: f.Name, Type: f.alias(), Description: f.Description, Required: f.Required, Default: f.Default, Options: f.Enum})
	}
	for _, f := range d.Outputs {
		out.Outputs = append(out.Outputs, workflow.OutputDescriptor{Name: f.Name, Type: f.alias(), Description: f.Description})
	}
	return out
}

// alias is the type as the domain calls it.
func (f *Field) alias() string {
	name, isArray, _ := notation.TypeName(f.Type)
	if isArray {
		name += "[]"
	}
	return name
}
