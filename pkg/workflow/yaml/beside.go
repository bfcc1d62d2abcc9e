package yaml

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// commonReader reads a key that may stand beside the type of any activity.
type commonReader struct {
	read func(b *activityBuilder, p pair)
	// has tells whether this activity may have the key; nil for all.
	has func(b *activityBuilder) bool
}

// commonReaders has one for each of commonKeys.
var commonReaders = map[string]commonReader{
	"id":               {read: func(*activityBuilder, pair) {}}, // read before what is below it
	"name":             {read: func(b *activityBuilder, p pair) { b.a.Name = b.r.text(p.val, p.name) }},
	"result":           {read: (*activityBuilder).result},
	"outputs":          {read: (*activityBuilder).outputTargets},
	"trigger":          {read: (*activityBuilder).trigger},
	"timeout":          {read: func(b *activityBuilder, p pair) { b.timeout = b.r.expression(p.val, delayInput(b.r.types)) }},
	"onTimeout":        {read: func(b *activityBuilder, p pair) { b.onTimeout = &p }},
	retryKey:           {read: func(b *activityBuilder, p pair) { b.retry = &p }},
	giveUpKey:          {read: func(b *activityBuilder, p pair) { b.onGiveUp = &p }},
	"variables":        {read: func(b *activityBuilder, p pair) { b.a.Variables = b.r.variables(p.val) }},
	"commit":           {read: func(b *activityBuilder, p pair) { b.a.CommitStrategy = b.r.choice(p, activityCommitNames) }},
	"logging":          {read: func(b *activityBuilder, p pair) { b.a.LogPersistence = b.r.choice(p, activityLoggingNames) }},
	"mergeMode":        {read: func(b *activityBuilder, p pair) { b.a.MergeMode = b.r.choice(p, mergeModeNames) }},
	"version":          {read: (*activityBuilder).version},
	"metadata":         {read: func(b *activityBuilder, p pair) { b.a.Metadata = b.r.dict(p.val, p.name) }},
	"customProperties": {read: (*activityBuilder).properties},
	"inputs":           {read: (*activityBuilder).freeInputs, has: func(b *activityBuilder) bool { return b.d == nil }},
	workflowKey:        {read: func(*activityBuilder, pair) {}, has: func(b *activityBuilder) bool { return b.a.Ref != nil }},
}

// common reads the keys that any activity may have.
func (b *activityBuilder) common(p pair) bool {
	i := slices.Index(commonNames, p.name)
	if i < 0 {
		return false
	}
	k := commonReaders[p.name]
	if commonKeys[i].yields && owns(b.d, p.name) || k.has != nil && !k.has(b) {
		return false
	}
	k.read(b, p)
	return true
}

func (b *activityBuilder) outputTargets(p pair) {
	for _, o := range b.r.entries(p.val, "outputs") {
		b.output(o, b.r.text(o.val, "the variable that takes "+o.name))
	}
}

func (b *activityBuilder) trigger(p pair) {
	b.a.CanStart = b.r.truth(p.val, p.name)
	if b.a.CanStart && b.d != nil && !b.d.Trigger {
		b.r.problem("not-a-trigger", p.key, "%s cannot start a workflow", b.d.ShortName())
	}
}

func (b *activityBuilder) version(p pair) {
	if v, ok := b.r.scalar(p.val).(float64); ok && v == float64(int32(v)) {
		b.a.Version = int(v)
	} else {
		b.r.shape(p.val, p.name, "a whole number")
	}
}

func (b *activityBuilder) properties(p pair) {
	for k, v := range b.r.dict(p.val, p.name) {
		setProperty(&b.a.CustomProperties, k, v)
	}
}

func (b *activityBuilder) freeInputs(p pair) {
	for _, in := range b.r.entries(p.val, "inputs") {
		b.freeInput(in)
	}
}

// result gives the first output to a variable.
func (b *activityBuilder) result(p pair) {
	target := b.r.text(p.val, p.name)
	switch {
	case target == "":
	case b.d != nil && len(b.d.Outputs) > 0:
		b.target(b.d.Outputs[0].Name, target)
	case b.d != nil:
		b.r.problem("no-output", p.key, "%s has no output that a variable could take", b.d.ShortName())
	default:
		b.r.problem("no-output", p.key, "name the output: write outputs: {name: %s}", workflow.Shorten(target))
	}
}

func (b *activityBuilder) output(p pair, target string) {
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
	b.r.problem("unknown-output", p.key, "%s has no output %s%s", b.d.ShortName(), workflow.Shorten(p.name), workflow.DidYouMean(p.name, known))
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
