package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine/forms"
	"github.com/weft-run/weft/pkg/workflow"
)

// StartChild starts another instance with the commit. With wait, the execution
// gets a bookmark that the child's end resumes with the input keys
// WorkflowInstanceId, WorkflowStatus, WorkflowSubStatus and WorkflowOutput; if
// the execution is cancelled while it waits, the child is cancelled too. It
// returns the child's instance id, or an error if there is no such published
// definition.
func (x *Execution) StartChild(start workflow.Start, wait bool, callback string) (string, error) {
	b := x.b
	if b.env.Head == nil {
		return "", fmt.Errorf("this burst can start no child instances")
	}
	if depthOf(b.props) >= MaxInstanceDepth {
		return "", tooDeep(start.DefinitionID)
	}
	version, ok := b.env.Head(start.DefinitionID)
	if !ok {
		return "", fmt.Errorf("there is no published definition %q to run", start.DefinitionID)
	}
	if start.Version == 0 {
		start.Version = version
	}
	if err := workflow.CheckName("correlation id", start.CorrelationID); err != nil {
		return "", err
	}
	if err := workflow.CheckLabels(start.Labels); err != nil {
		return "", err
	}
	var err error
	if start.Input, err = normalizeMap(start.Input); err != nil {
		return "", fmt.Errorf("input of the child: %w", err)
	}
	if start.Properties, err = normalizeMap(start.Properties); err != nil {
		return "", fmt.Errorf("properties of the child: %w", err)
	}
	start.Properties = b.callers.HandOn(deeper(b, start.Properties), wait)
	if start.TriggerInput, err = normalizeMap(start.TriggerInput); err != nil {
		return "", fmt.Errorf("trigger input of the child: %w", err)
	}
	start.Name = workflow.ValidText(start.Name)
	told := []any{start.Input, start.CorrelationID, start.Name}
	for name, value := range start.Labels {
		told = append(told, name, value)
	}
	if err := b.env.refuseSecret("child instance", told...); err != nil {
		return "", err
	}
	id := b.deriveID(x.node, "child")
	start.Parent = &workflow.Parent{InstanceID: b.header.ID}
	if wait {
		bm, err := x.Wait(Wait{Name: start.DefinitionID, Payload: map[string]any{"childInstanceId": id}, Callback: callback, child: id})
		if err != nil {
			return "", err
		}
		start.Parent.BookmarkID = bm.ID
	}
	b.weight += 2 * (sentBytes + Weigh(start.Input)) // in its header and in its command
	b.children = append(b.children, ChildStart{InstanceID: id, CommandID: workflow.DeriveID(id, "start"), Start: start})
	return id, nil
}

// Room is how many more children should start before the next commit; an
// activity with more of them goes on after [Execution.Yield] with commit set.
func (x *Execution) Room() int {
	if x.b.Heavy() {
		return 0
	}
	return max(0, childSlice-len(x.b.children))
}

// sentBytes is about what a child or a stimulus takes in a commit beside its input.
const sentBytes = 512

// Publish sends a stimulus with the commit. If it is addressed to the instance
// itself, it reaches the instance after the burst, also if the instance begins to
// wait for it only after this call.
func (x *Execution) Publish(s workflow.Stimulus) error {
	payload, err := normalize(s.Payload, 0)
	if err != nil {
		return fmt.Errorf("publish: payload: %w", err)
	}
	s.Payload = payload
	if s.Input, err = normalizeMap(s.Input); err != nil {
		return fmt.Errorf("publish: input: %w", err)
	}
	if err := x.b.env.refuseSecret("published event", s.Payload, s.Input, s.CorrelationID); err != nil {
		return err
	}
	s.Input = deeper(x.b, s.Input)
	x.b.weight += sentBytes + Weigh(s.Payload) + Weigh(s.Input)
	x.b.events = append(x.b.events, Sent{ID: x.b.deriveID(x.node, "event"), Stimulus: s})
	return nil
}

// Definition gives the version of the published head of a definition; false if there is none.
func (x *Execution) Definition(id string) (version int, ok bool) {
	if x.b.env.Head == nil {
		return 0, false
	}
	return x.b.env.Head(id)
}

// TriggerInput is the input of the stimulus that started the instance at this very
// activity; false if something else started it. It is given once: in a loop the
// activity then waits like any other.
func (x *Execution) TriggerInput() (map[string]any, bool) {
	b := x.b
	if b.trigger == "" || b.trigger != x.node.id || b.triggerUsed {
		return nil, false
	}
	b.triggerUsed = true
	input := b.triggerInput
	b.triggerInput = nil
	return input, true
}

// StartedAt is the node whose trigger started the instance, until that node has
// run; nil if none did.
func (x *Execution) StartedAt() *Node {
	if x.b.trigger == "" || x.b.triggerUsed {
		return nil
	}
	return x.b.prog.nodes[x.b.trigger]
}

// CheckInput says what is wrong with input for a start; nil if nothing is.
func (p *Program) CheckInput(input map[string]any) workflow.Problems {
	_, problems := p.acceptInput(input)
	return append(p.unknownInput(input), problems...)
}

// unknownInput says which names of a start's input the definition does not declare. One
// that declares none takes all, and so does Elsa's JSON.
func (p *Program) unknownInput(input map[string]any) (problems workflow.Problems) {
	def := p.def
	if len(def.Inputs) == 0 || def.Options.AdditionalInputs || def.Root.Place.Pointer != "" {
		return nil
	}
	var known []string
	for _, in := range def.Inputs {
		known = append(known, in.Name)
	}
	for _, name := range sortedKeys(input) {
		if slices.Contains(known, name) || len(problems) >= workflow.MaxProblems {
			continue
		}
		problem := workflow.Problem{Code: "unknown-input", Place: workflow.Place{Pointer: "/input/" + workflow.PointerToken(name)}}
		problem.Detail = fmt.Sprintf("the definition has no input %q", workflow.Shorten(name))
		if len(known) <= maxCandidates {
			problem.Meant = workflow.Nearest(name, known)
		}
		switch {
		case problem.Meant != "":
			problem.Detail += " (did you mean " + problem.Meant + "?)"
		case len(known) <= 8:
			problem.Detail += "; it has " + strings.Join(known, ", ")
		}
		problems = append(problems, problem)
	}
	return problems
}

// acceptInput fills in defaults and converts declared inputs.
func (p *Program) acceptInput(input map[string]any) (map[string]any, workflow.Problems) {
	out := make(map[string]any, len(input))
	var problems workflow.Problems
	for _, k := range sortedKeys(input) {
		out[k] = input[k]
	}
	for _, in := range p.root.inner.inputs {
		v, ok := out[in.Name]
		switch {
		case !ok && in.value != nil:
			out[in.Name] = in.value
		case (!ok || v == nil) && in.Required:
			problems = append(problems, workflow.Problem{Code: "missing-input", Detail: fmt.Sprintf("the input %s is required", in.Name), Place: workflow.Place{Pointer: "/input/" + in.Name}})
		case ok:
			n, err := Normalize(v)
			if err == nil {
				n, err = convertStored(n, in.alias)
			}
			if err == nil {
				err = fits(n, in.alias)
			}
			if err != nil {
				problems = append(problems, workflow.Problem{Code: "bad-input", Detail: fmt.Sprintf("input %s: %v", in.Name, err), Place: workflow.Place{Pointer: "/input/" + in.Name}})
				continue
			}
			out[in.Name] = n
		}
	}
	return out, slices.Clip(problems)
}

// fits checks what is kept as it was written: times, durations, and the items of a list.
func fits(v any, alias string) error {
	if v == nil {
		return nil
	}
	if of, list := strings.CutSuffix(strings.ToLower(alias), "[]"); list {
		items, _ := v.([]any)
		for i, item := range items {
			if err := fits(item, of); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
	_, err := forms.To(v, alias)
	return err
}

// withDeclared adds the declared inputs that have no value, as null.
func (p *Program) withDeclared(input map[string]any) map[string]any {
	missing := 0
	for _, in := range p.root.inner.inputs {
		if _, ok := input[in.Name]; !ok {
			missing++
		}
	}
	if missing == 0 {
		return input
	}
	out := make(map[string]any, len(input)+missing)
	for _, in := range p.root.inner.inputs {
		out[in.Name] = nil
	}
	maps.Copy(out, input)
	return out
}

// takeInputs checks the input of a new instance.
func (b *Burst) takeInputs() error {
	if depthOf(b.props) > MaxInstanceDepth {
		return tooDeep("instance " + b.header.ID)
	}
	accepted, problems := b.prog.acceptInput(b.header.Input)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("the input does not fit the definition: %w", err)
	}
	b.inputs = b.prog.withDeclared(accepted)
	if len(accepted) > 0 || b.header.Input != nil {
		b.header.Input = accepted
	}
	return nil
}
