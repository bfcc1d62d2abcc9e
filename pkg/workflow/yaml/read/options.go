package read

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

func (r *reader) options(n *yaml.Node, d *workflow.Definition) {
	o := &d.Options
	for _, p := range r.Entries(n, "options") {
		switch p.Name {
		case "activation":
			o.ActivationStrategy = r.Choice(p, notation.ActivationNames)
		case "incidents":
			o.IncidentStrategy = r.Choice(p, notation.IncidentNames)
		case "commit":
			o.CommitStrategy = r.Choice(p, notation.CommitNames)
		case "commitInterval":
			o.CommitInterval = r.Text(p.Value, p.Name)
		case "calls":
			o.Calls = r.Text(p.Value, p.Name)
		case "usableAsActivity":
			o.UsableAsActivity = r.Truth(p.Value, p.Name)
		case "autoUpdate":
			o.AutoUpdate = r.Truth(p.Value, p.Name)
		case "additionalInputs":
			o.AdditionalInputs = r.Truth(p.Value, p.Name)
		case "catchUp":
			o.CatchUp = r.Choice(p, notation.CatchUpNames)
		case "logging":
			o.LogPersistence = r.Choice(p, notation.LoggingNames)
		case "flowcharts":
			if m := notation.Modes[r.Choice(p, notation.ModeNames)]; m != "" {
				setProperty(&d.CustomProperties, notation.ModeProperty, m)
			}
		default:
			r.Unknown(p, "options", notation.OptionKeys)
		}
	}
}
