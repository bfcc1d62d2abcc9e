package activities

import (
	"github.com/weft-run/weft/pkg/activities/asking"
	"github.com/weft-run/weft/pkg/activities/flowchart"
	"github.com/weft-run/weft/pkg/activities/limited"
	"github.com/weft-run/weft/pkg/activities/mail"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/activities/undo"
	"github.com/weft-run/weft/pkg/activities/web"
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
	undo.Compensate,
	complete,
	compositeActivity,
	container,
	correlate,
	cronActivity,
	delay,
	dispatchWorkflow,
	flowchart.EndActivity,
	event,
	executeWorkflow,
	fail,
	fault,
	finish,
	flowchart.Decision,
	flowchart.Fork,
	flowchart.Join,
	flowchart.Node,
	web.DownloadHTTPFile,
	web.FlowSendHTTPRequest,
	flowchart.Switch,
	flowchart.Flowchart,
	forActivity,
	forEach,
	forkActivity,
	web.HTTPEndpoint,
	ifActivity,
	inline,
	parallel,
	parallelForEach,
	publishEvent,
	web.ReadFile,
	retry.Policy,
	runCSharp,
	runJavaScript,
	runTask,
	undo.Scope,
	mail.SendEmail,
	web.SendHTTPRequest,
	sequence,
	setLabel,
	setName,
	setOutput,
	setVariable,
	sql.Command,
	sql.Query,
	sql.SingleValue,
	flowchart.StartActivity,
	startAt,
	stateMachine,
	switchActivity,
	timer,
	asking.UserTask,
	while,
	limited.WithLimit,
	web.WriteFileHTTPResponse,
	web.WriteHTTPResponse,
	writeLine,
}
