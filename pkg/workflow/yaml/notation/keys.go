package notation

import (
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// TopKeys are the keys of a definition.
var TopKeys = []string{"$schema", "id", "name", "description", "inputs", "variables", "outputs", "outcomes", "labels", "options", "customProperties", "root"}

// CommonKey may stand beside the type of any activity.
type CommonKey struct {
	Name string
	// Yields: where a type has an input or a branch of this name, the key means that. So
	// SendHttpRequest has a branch timeout.
	Yields bool
}

// Common are all of the keys that may stand beside the type of any activity, in the order of docs/notation.md.
var Common = []CommonKey{
	{Name: "id"},
	{Name: "name"},
	{Name: "result"},
	{Name: "outputs"},
	{Name: "trigger"},
	{Name: "timeout", Yields: true},
	{Name: "onTimeout", Yields: true},
	{Name: RetryKey, Yields: true},
	{Name: GiveUpKey, Yields: true},
	{Name: UndoKey, Yields: true},
	{Name: "variables"},
	{Name: "commit", Yields: true},
	{Name: "logging", Yields: true},
	{Name: "mergeMode", Yields: true},
	{Name: "version"},
	{Name: "metadata"},
	{Name: "customProperties"},
	{Name: "inputs"},
	{Name: WorkflowKey},
}

// CommonNames are the names of [Common].
var CommonNames = func() []string {
	names := make([]string, len(Common))
	for i, k := range Common {
		names[i] = k.Name
	}
	return names
}()

// What the keys commit, logging and mergeMode of an activity may say.
var (
	ActivityCommitNames  = []string{"Always", "Never", "Executing", "Executed"}
	ActivityLoggingNames = []string{"Include", "Exclude"}
	MergeModeNames       = []string{"None", "Stream", "Merge", "Converge", "Cascade", "Race"}
)

// Owns tells whether a type has an input, a branch or a list of this name.
func Owns(d *workflow.Descriptor, name string) bool {
	return d != nil && slices.Contains(OwnKeys(d), name)
}

// OwnKeys lists what a type may have in or beside its value.
func OwnKeys(d *workflow.Descriptor) []string {
	var keys []string
	for _, in := range d.Inputs {
		keys = append(keys, in.Name)
	}
	keys = append(keys, d.Ports...)
	if d.List != "" {
		keys = append(keys, d.List, "variables")
	}
	if d.Cases != "" && !slices.Contains(keys, d.Cases) {
		keys = append(keys, d.Cases)
	}
	switch d.Type {
	case FlowchartType:
		keys = append(keys, "start", "connections", "mode")
	case StateMachineType:
		keys = append(keys, "initial", "states")
	}
	return keys
}
