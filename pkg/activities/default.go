package activities

import (
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Default makes a registry with every built-in activity. Each call makes a new
// one, so that adding to it changes no other.
func Default() *engine.Registry {
	r := engine.NewRegistry()
	for _, builtin := range builtins {
		d, a := builtin()
		d.Example = examples[d.ShortName()]
		if err := r.Register(d, a); err != nil {
			panic(err) // a built-in one contradicts itself; no test would pass
		}
	}
	return r
}

var builtins = []func() (workflow.Descriptor, engine.Activity){
	breakActivity,
	bulkDispatch,
	complete,
	compositeActivity,
	container,
	correlate,
	cronActivity,
	delay,
	dispatchWorkflow,
	endActivity,
	event,
	executeWorkflow,
	fault,
	finish,
	flowDecision,
	flowFork,
	flowJoin,
	flowNode,
	flowSendHTTPRequest,
	flowSwitch,
	flowchart,
	forActivity,
	forEach,
	forkActivity,
	httpEndpoint,
	ifActivity,
	inline,
	parallel,
	parallelForEach,
	publishEvent,
	retryPolicy,
	runJavaScript,
	runTask,
	sendHTTPRequest,
	sequence,
	setLabel,
	setName,
	setOutput,
	setVariable,
	startActivity,
	startAt,
	stateMachine,
	switchActivity,
	timer,
	while,
	writeHTTPResponse,
	writeLine,
}
