package yaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

var (
	optionKeys      = []string{"activation", "incidents", "commit", "commitInterval", "usableAsActivity", "autoUpdate", "additionalInputs", "catchUp", "logging", "flowcharts"}
	activationNames = []string{"Always", "Singleton", "CorrelatedSingleton", "Correlation"}
	incidentNames   = []string{"Fault", "ContinueWithIncidents"}
	commitNames     = []string{"WorkflowExecuting", "WorkflowExecuted", "ActivityExecuting", "ActivityExecuted", "ActivityExecutingStrict", "ActivityExecutedStrict", "Periodic"}
	catchUpNames    = []string{"skip", "one", "all"}
	loggingNames    = []string{"Include", "Exclude"}
	modeNames       = []string{"counter", "token"}
)

// modeProperty is Elsa's name of the setting that selects the flowchart engine.
const modeProperty = "Flowchart:ExecutionMode"

var modes = map[string]string{"counter": "CounterBased", "token": "TokenBased"}

func (r *reader) options(n *yaml.Node, d *workflow.Definition) {
	o := &d.Options
	for _, p := range r.entries(n, "options") {
		switch p.name {
		case "activation":
			o.ActivationStrategy = r.choice(p, activationNames)
		case "incidents":
			o.IncidentStrategy = r.choice(p, incidentNames)
		case "commit":
			o.CommitStrategy = r.choice(p, commitNames)
		case "commitInterval":
			o.CommitInterval = r.text(p.val, p.name)
		case "usableAsActivity":
			o.UsableAsActivity = r.truth(p.val, p.name)
		case "autoUpdate":
			o.AutoUpdate = r.truth(p.val, p.name)
		case "additionalInputs":
			o.AdditionalInputs = r.truth(p.val, p.name)
		case "catchUp":
			o.CatchUp = r.choice(p, catchUpNames)
		case "logging":
			o.LogPersistence = r.choice(p, loggingNames)
		case "flowcharts":
			if m := modes[r.choice(p, modeNames)]; m != "" {
				setProperty(&d.CustomProperties, modeProperty, m)
			}
		default:
			r.unknown(p, "options", optionKeys)
		}
	}
}
