package read

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// commonReader reads a key that may stand beside the type of any activity.
type commonReader struct {
	read func(b *activityBuilder, p tree.Pair)
	// has tells whether this activity may have the key; nil for all.
	has func(b *activityBuilder) bool
}

// commonReaders has one for each of [notation.Common].
var commonReaders = map[string]commonReader{
	"id":               {read: func(*activityBuilder, tree.Pair) {}}, // read before what is below it
	"name":             {read: func(b *activityBuilder, p tree.Pair) { b.a.Name = b.r.Text(p.Value, p.Name) }},
	"result":           {read: (*activityBuilder).result},
	"outputs":          {read: (*activityBuilder).outputTargets},
	"trigger":          {read: (*activityBuilder).trigger},
	"timeout":          {read: func(b *activityBuilder, p tree.Pair) { b.timeout = b.r.expression(p.Value, wrap.DelayInput(b.r.types)) }},
	"onTimeout":        {read: func(b *activityBuilder, p tree.Pair) { b.onTimeout = &p }},
	notation.RetryKey:  {read: func(b *activityBuilder, p tree.Pair) { b.retry = &p }},
	notation.GiveUpKey: {read: func(b *activityBuilder, p tree.Pair) { b.onGiveUp = &p }},
	notation.UndoKey:   {read: func(b *activityBuilder, p tree.Pair) { b.undo = &p }},
	"variables":        {read: func(b *activityBuilder, p tree.Pair) { b.a.Variables = b.r.variables(p.Value) }},
	"commit": {read: func(b *activityBuilder, p tree.Pair) {
		b.a.CommitStrategy = b.r.Choice(p, notation.ActivityCommitNames)
	}},
	"logging": {read: func(b *activityBuilder, p tree.Pair) {
		b.a.LogPersistence = b.r.Choice(p, notation.ActivityLoggingNames)
	}},
	"mergeMode":          {read: func(b *activityBuilder, p tree.Pair) { b.a.MergeMode = b.r.Choice(p, notation.MergeModeNames) }},
	"version":            {read: (*activityBuilder).version},
	"metadata":           {read: func(b *activityBuilder, p tree.Pair) { b.a.Metadata = b.r.Dict(p.Value, p.Name) }},
	"customProperties":   {read: (*activityBuilder).properties},
	"inputs":             {read: (*activityBuilder).freeInputs, has: func(b *activityBuilder) bool { return b.d == nil }},
	notation.WorkflowKey: {read: func(*activityBuilder, tree.Pair) {}, has: func(b *activityBuilder) bool { return b.a.Ref != nil }},
}

// common reads the keys that any activity may have.
func (b *activityBuilder) common(p tree.Pair) bool {
	i := slices.Index(notation.CommonNames, p.Name)
	if i < 0 {
		return false
	}
	k := commonReaders[p.Name]
	if notation.Common[i].Yields && notation.Owns(b.d, p.Name) || k.has != nil && !k.has(b) {
		return false
	}
	k.read(b, p)
	return true
}

func (b *activityBuilder) outputTargets(p tree.Pair) {
	for _, o := range b.r.Entries(p.Value, "outputs") {
		b.output(o, b.r.Text(o.Value, "the variable that takes "+o.Name))
	}
}

func (b *activityBuilder) trigger(p tree.Pair) {
	b.a.CanStart = b.r.Truth(p.Value, p.Name)
	if b.a.CanStart && b.d != nil && !b.d.Trigger {
		b.r.Problem("not-a-trigger", p.Key, "%s cannot start a workflow", b.d.ShortName())
	}
}

func (b *activityBuilder) version(p tree.Pair) {
	if v, ok := b.r.Scalar(p.Value).(float64); ok && v == float64(int32(v)) {
		b.a.Version = int(v)
	} else {
		b.r.Shape(p.Value, p.Name, "a whole number")
	}
}

func (b *activityBuilder) properties(p tree.Pair) {
	for k, v := range b.r.Dict(p.Value, p.Name) {
		setProperty(&b.a.CustomProperties, k, v)
	}
}

func (b *activityBuilder) freeInputs(p tree.Pair) {
	for _, in := range b.r.Entries(p.Value, "inputs") {
		b.freeInput(in)
	}
}

// result gives the first output to a variable.
func (b *activityBuilder) result(p tree.Pair) {
	target := b.r.Text(p.Value, p.Name)
	switch {
	case target == "":
	case b.d != nil && len(b.d.Outputs) > 0:
		b.target(b.d.Outputs[0].Name, target)
	case b.d != nil:
		b.r.Problem("no-output", p.Key, "%s has no output that a variable could take", b.d.ShortName())
	default:
		b.r.Problem("no-output", p.Key, "name the output: write outputs: {name: %s}", workflow.Shorten(target))
	}
}

func (b *activityBuilder) output(p tree.Pair, target string) {
	if b.d == nil {
		b.target(workflow.LowerFirst(p.Name), target)
		return
	}
	var known []string
	for _, o := range b.d.Outputs {
		if strings.EqualFold(o.Name, p.Name) {
			b.target(o.Name, target)
			return
		}
		known = append(known, o.Name)
	}
	b.r.Problem("unknown-output", p.Key, "%s has no output %s%s", b.d.ShortName(), workflow.Shorten(p.Name), workflow.DidYouMean(p.Name, known))
}

func (b *activityBuilder) target(output, variable string) {
	if variable == "" {
		return
	}
	if b.a.Outputs == nil {
		b.a.Outputs = map[string]string{}
	}
	b.a.Outputs[output] = variable
}
