package yaml

import "slices"

// commonKey may stand beside the type of any activity.
type commonKey struct {
	name string
	// yields: where a type has an input or a branch of this name, the key means that. So
	// SendHttpRequest has a branch timeout.
	yields bool
}

// commonKeys are all of them, in the order of docs/notation.md.
var commonKeys = []commonKey{
	{name: "id"},
	{name: "name"},
	{name: "result"},
	{name: "outputs"},
	{name: "trigger"},
	{name: "timeout", yields: true},
	{name: "onTimeout", yields: true},
	{name: retryKey, yields: true},
	{name: giveUpKey, yields: true},
	{name: "variables"},
	{name: "commit", yields: true},
	{name: "logging", yields: true},
	{name: "mergeMode", yields: true},
	{name: "version"},
	{name: "metadata"},
	{name: "customProperties"},
	{name: "inputs"},
	{name: workflowKey},
}

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
