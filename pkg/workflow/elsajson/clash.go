package elsajson

import (
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// An activity's fields share one JSON object with its inputs, outputs and
// branches. Where two would have one name (a definition used as an activity may
// have an input Name, or an input and an output Order; SendHttpRequest has a
// timeout that is an input and one that is a branch), the input or output is
// written with one of these endings.
const (
	inputEnding  = "Input"
	outputEnding = "Output"
)

// reserved are the fields that every activity has.
var reserved = map[string]bool{"id": true, "nodeId": true, "name": true, "type": true, "version": true, "customProperties": true, "metadata": true}

func inputKey(a *workflow.Activity, name string) string {
	if reserved[name] || a.Ports[name] != nil {
		return name + inputEnding
	}
	return name
}

func outputKey(a *workflow.Activity, name string) string {
	if in, ok := a.Inputs[name]; reserved[name] || a.Ports[name] != nil || ok && !in.IsZero() {
		return name + outputEnding
	}
	return name
}

// clashing gives the name of an input or output whose field has an ending for
// the reason above.
func (ar *activityReader) clashing(f field) (name string, ok bool) {
	if f.Kind != jsontree.Object {
		return "", false
	}
	if ar.d != nil {
		if _, own := ar.d.Input(f.name); own {
			return "", false
		}
	}
	output := !f.Has("expression") && f.Has("memoryReference")
	ending := inputEnding
	if output {
		ending = outputEnding
	}
	short, cut := strings.CutSuffix(f.name, ending)
	if !cut || !f.IsWrapper() {
		return "", false
	}
	other := ar.byName[short].Node
	return short, reserved[short] || other != nil && (other.IsActivity() || output && other.Has("expression"))
}
