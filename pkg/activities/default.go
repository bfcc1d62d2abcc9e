package activities

import (
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Default makes a registry with every built-in activity. Each call makes a new
// one, so that adding to it changes no other.
func Default() *engine.Registry {
	r := engine.NewRegistry()
	for _, make := range builtins {
		d, a := make()
		if err := r.Register(d, a); err != nil {
			panic(err) // a built-in one contradicts itself; no test would pass
		}
	}
	return r
}

var builtins = []func() (workflow.Descriptor, engine.Activity){
	correlate,
	endActivity,
	event,
	flowDecision,
	flowFork,
	flowJoin,
	flowNode,
	flowSendHTTPRequest,
	flowSwitch,
	flowchart,
	ifActivity,
	sendHTTPRequest,
	sequence,
	setName,
	setVariable,
	startActivity,
	switchActivity,
	writeLine,
}
