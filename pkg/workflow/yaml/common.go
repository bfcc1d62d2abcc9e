package yaml

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// commonKey may stand beside the type of any activity.
type commonKey struct {
	name   string
	schema object
	// yields: where a type has an input or a branch of this name, the key means that. So
	// SendHttpRequest has a branch timeout.
	yields bool
	read   func(b *activityBuilder, p pair)
	// has tells whether this activity may have the key; nil for all.
	has func(b *activityBuilder) bool
}

// commonKeys are all of them, for reading, for the schema and for the page
// (docs/notation.md).
var commonKeys = []commonKey{
	{name: "id", schema: described("What connections, the journal and scripts call it; derived if it is left out."), read: func(*activityBuilder, pair) {}}, // read before what is below it
	{name: "name", schema: described("For people, and for getResultFromName() in scripts."), read: func(b *activityBuilder, p pair) { b.a.Name = b.text(p.val, p.name) }},
	{name: "result", schema: object{"type": "string", "description": "The variable that takes the first output."}, read: (*activityBuilder).result},
	{name: "outputs", schema: object{"type": []string{"object", "null"}, "additionalProperties": textSchema, "description": "Which variable takes which output."},
		read: (*activityBuilder).outputTargets},
	{name: "trigger", schema: object{"type": "boolean", "description": "A matching stimulus starts an instance here."}, read: (*activityBuilder).trigger},
	{name: "timeout", yields: true, schema: object{"description": "How long this may take, such as 48h."},
		read: func(b *activityBuilder, p pair) { b.timeout = b.expression(p.val, delayInput(b.types)) }},
	{name: "onTimeout", yields: true, schema: object{"anyOf": []any{ref("activity")}, "description": "What runs when the time is over."}, read: func(b *activityBuilder, p pair) { b.onTimeout = &p }},
	{name: retryKey, yields: true, schema: ref(retryKey), read: func(b *activityBuilder, p pair) { b.retry = &p }},
	{name: giveUpKey, yields: true, schema: object{"anyOf": []any{ref("activity")}, "description": "What runs when the last attempt has failed."}, read: func(b *activityBuilder, p pair) { b.onGiveUp = &p }},
	{name: "variables", schema: ref("variables"), read: func(b *activityBuilder, p pair) { b.a.Variables = b.variables(p.val) }},
	{name: "commit", yields: true, schema: object{"enum": activityCommitNames, "description": "When the instance is saved because of this activity."},
		read: func(b *activityBuilder, p pair) { b.a.CommitStrategy = b.choice(p, activityCommitNames) }},
	{name: "logging", yields: true, schema: object{"enum": activityLoggingNames, "description": "Whether its inputs and outputs are in the journal."},
		read: func(b *activityBuilder, p pair) { b.a.LogPersistence = b.choice(p, activityLoggingNames) }},
	{name: "mergeMode", yields: true, schema: object{"enum": mergeModeNames, "description": "How tokens meet here, in a flowchart of tokens."},
		read: func(b *activityBuilder, p pair) { b.a.MergeMode = b.choice(p, mergeModeNames) }},
	{name: "version", schema: object{"type": "integer", "description": "The version of the activity type."}, read: (*activityBuilder).version},
	{name: "metadata", schema: object{"type": []string{"object", "null"}, "description": "For designers and other programs; kept."}, read: func(b *activityBuilder, p pair) { b.a.Metadata = b.dict(p.val, p.name) }},
	{name: "customProperties", schema: object{"type": []string{"object", "null"}, "description": "For other programs; kept."}, read: (*activityBuilder).properties},
	{name: "inputs", schema: object{"type": []string{"object", "null"}, "description": "The inputs of a definition that is used as an activity."}, read: (*activityBuilder).freeInputs, has: func(b *activityBuilder) bool { return b.d == nil }},
	{name: workflowKey, schema: ref("definitions"), read: func(*activityBuilder, pair) {}, has: func(b *activityBuilder) bool { return b.a.Ref != nil }},
}

var textSchema = object{"type": "string"}

func described(text string) object { return object{"type": "string", "description": text} }

var commonNames = func() []string {
	names := make([]string, len(commonKeys))
	for i, k := range commonKeys {
		names[i] = k.name
	}
	return names
}()

// CommonKeys are the keys that may stand beside the type of any activity.
func CommonKeys() []string { return slices.Clone(commonNames) }

var (
	activityCommitNames  = []string{"Always", "Never", "Executing", "Executed"}
	activityLoggingNames = []string{"Include", "Exclude"}
	mergeModeNames       = []string{"None", "Stream", "Merge", "Converge", "Cascade", "Race"}
)

// common reads the keys that any activity may have.
func (b *activityBuilder) common(p pair) bool {
	i := slices.Index(commonNames, p.name)
	if i < 0 {
		return false
	}
	k := commonKeys[i]
	if k.yields && owns(b.d, p.name) || k.has != nil && !k.has(b) {
		return false
	}
	k.read(b, p)
	return true
}

func (b *activityBuilder) outputTargets(p pair) {
	for _, o := range b.entries(p.val, "outputs") {
		b.output(o, b.text(o.val, "the variable that takes "+o.name))
	}
}

func (b *activityBuilder) trigger(p pair) {
	b.a.CanStart = b.truth(p.val, p.name)
	if b.a.CanStart && b.d != nil && !b.d.Trigger {
		b.problem("not-a-trigger", p.key, "%s cannot start a workflow", b.d.ShortName())
	}
}

func (b *activityBuilder) version(p pair) {
	if v, ok := b.scalar(p.val).(float64); ok && v == float64(int32(v)) {
		b.a.Version = int(v)
	} else {
		b.shape(p.val, p.name, "a whole number")
	}
}

func (b *activityBuilder) properties(p pair) {
	for k, v := range b.dict(p.val, p.name) {
		setProperty(&b.a.CustomProperties, k, v)
	}
}

func (b *activityBuilder) freeInputs(p pair) {
	for _, in := range b.entries(p.val, "inputs") {
		b.freeInput(in)
	}
}

// result gives the first output to a variable.
func (b *activityBuilder) result(p pair) {
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
	b.problem("unknown-output", p.key, "%s has no output %s%s", b.d.ShortName(), workflow.Shorten(p.name), workflow.DidYouMean(p.name, known))
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
