package yaml

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// commonKeys stand beside the type of any activity.
var commonKeys = []string{"id", "name", "result", "outputs", "trigger", "timeout", "onTimeout", "variables",
	"commit", "logging", "mergeMode", "version", "metadata", "customProperties", "inputs", workflowKey}

// yieldingKeys mean the type's own input or branch where it has one of that name:
// SendHttpRequest has a branch timeout.
var yieldingKeys = []string{"timeout", "onTimeout", "commit", "logging", "mergeMode"}

var (
	activityCommitNames  = []string{"Always", "Never", "Executing", "Executed"}
	activityLoggingNames = []string{"Include", "Exclude"}
	mergeModeNames       = []string{"None", "Stream", "Merge", "Converge", "Cascade", "Race"}
)

// common reads the keys that any activity may have.
func (b *building) common(p pair) bool {
	a := b.a
	if slices.Contains(yieldingKeys, p.name) && owns(b.d, p.name) {
		return false
	}
	switch p.name {
	case "id":
	case "name":
		a.Name = b.text(p.val, p.name)
	case "result":
		b.result(p)
	case "outputs":
		for _, o := range b.entries(p.val, "outputs") {
			b.output(o, b.text(o.val, "the variable that takes "+o.name))
		}
	case "trigger":
		a.CanStart = b.truth(p.val, p.name)
		if a.CanStart && b.d != nil && !b.d.Trigger {
			b.problem("not-a-trigger", p.key, "%s cannot start a workflow", b.d.ShortName())
		}
	case "timeout":
		b.timeout = b.expression(p.val, delayInput(b.types))
	case "onTimeout":
		b.onTimeout = &p
	case "variables":
		a.Variables = b.variables(p.val)
	case "commit":
		a.CommitStrategy = b.choice(p, activityCommitNames)
	case "logging":
		a.LogPersistence = b.choice(p, activityLoggingNames)
	case "mergeMode":
		a.MergeMode = b.choice(p, mergeModeNames)
	case "version":
		if v, ok := b.scalar(p.val).(float64); ok && v == float64(int32(v)) {
			a.Version = int(v)
		} else {
			b.shape(p.val, p.name, "a whole number")
		}
	case "metadata":
		a.Metadata = b.dict(p.val, p.name)
	case "customProperties":
		for k, v := range b.dict(p.val, p.name) {
			setProperty(&a.CustomProperties, k, v)
		}
	case "inputs":
		if b.d != nil {
			return false
		}
		for _, in := range b.entries(p.val, "inputs") {
			b.freeInput(in)
		}
	case workflowKey:
		return b.a.Ref != nil
	default:
		return false
	}
	return true
}

// result gives the first output to a variable.
func (b *building) result(p pair) {
	target := b.text(p.val, p.name)
	switch {
	case target == "":
	case b.d != nil && len(b.d.Outputs) > 0:
		b.target(b.d.Outputs[0].Name, target)
	case b.d != nil:
		b.problem("no-output", p.key, "%s has no output that a variable could take", b.d.ShortName())
	default:
		b.problem("no-output", p.key, "name the output: write outputs: {name: %s}", workflow.Shorten(target))
	}
}

func (b *building) output(p pair, target string) {
	if b.d == nil {
		b.target(workflow.LowerFirst(p.name), target)
		return
	}
	var known []string
	for _, o := range b.d.Outputs {
		if strings.EqualFold(o.Name, p.name) {
			b.target(o.Name, target)
			return
		}
		known = append(known, o.Name)
	}
	b.problem("unknown-output", p.key, "%s has no output %s%s", b.d.ShortName(), workflow.Shorten(p.name), workflow.DidYouMean(p.name, known))
}

func (b *building) target(output, variable string) {
	if variable == "" {
		return
	}
	if b.a.Outputs == nil {
		b.a.Outputs = map[string]string{}
	}
	b.a.Outputs[output] = variable
}
