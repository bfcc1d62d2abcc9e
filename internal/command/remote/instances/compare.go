package instances

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// compared is how many entries of a journal are held against another's.
const compared = 500

func (a commands) instancesCompare() *cobra.Command {
	return &cobra.Command{
		Use: "compare A B", Short: "In what two instances differ, and where their ways part; exit code 1 if they do", Args: cobra.ExactArgs(2), ValidArgsFunction: a.CompleteInstances(),
		Long: "In what two instances differ: definition, status, labels, input, output, variables, and the first entry of the journal in\n" +
			"which they do not do the same. Ids and times always differ and are not compared. The exit code is 1 if anything is different.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			var both [2]portrait
			for i, id := range ask.IDs("instances", args) {
				if both[i], err = portraitOf(cmd.Context(), c, id); err != nil {
					return err
				}
			}
			rows := both[0].differences(both[1])
			view := ask.View{Empty: "they do not differ", Columns: []ask.Column{{Head: "WHAT", Path: "what"}, {Head: "A", Path: "a"}, {Head: "B", Path: "b"}}}
			if a.AsData() {
				err = a.Data(map[string]any{"items": rows})
			} else {
				err = a.Table(view, rows)
			}
			if err == nil && len(rows) > 0 {
				return ask.Exit(ask.ExitBad, nil)
			}
			return err
		},
	}
}

// portrait is what is compared of an instance: values by their names, and what it did.
type portrait struct {
	values map[string]string
	did    []string
}

func portraitOf(ctx context.Context, c *apiclient.Client, id string) (portrait, error) {
	in, err := c.GetInstance(ctx, id)
	if err != nil {
		return portrait{}, err
	}
	b := &in.Body
	p := portrait{values: map[string]string{
		"definition": fmt.Sprintf("%s v%d", b.DefinitionID, b.Version), "status": b.SubStatus, "name": ask.Deref(b.Name), "correlation": ask.Deref(b.CorrelationID),
	}}
	for name, value := range b.Labels {
		p.values["label."+name] = value
	}
	for prefix, values := range map[string]map[string]any{"input.": b.Input, "output.": b.Output} {
		for name, value := range values {
			p.values[prefix+name] = ask.Compact(value)
		}
	}
	for i, incident := range b.Incidents {
		p.values[fmt.Sprintf("incident.%d", i+1)] = incident.ActivityID + ": " + incident.Message
	}
	variables, err := c.GetVariables(ctx, id, apiclient.GetVariablesQuery{})
	if err != nil {
		return portrait{}, err
	}
	for _, v := range variables.Body.Variables {
		if v.Execution == 0 { // that of an activity has the number of its execution, which differs
			p.values["variable."+v.Name] = ask.Compact(v.Value)
		}
	}
	for j, err := range c.AllJournal(ctx, id, apiclient.GetJournalQuery{Limit: compared}) {
		if err != nil {
			return portrait{}, err
		}
		if len(p.did) == compared {
			break
		}
		p.did = append(p.did, strings.TrimSpace(j.Event+" "+j.ActivityID+" "+j.Text))
	}
	return p, nil
}

// differences are rows of what is not the same.
func (p portrait) differences(other portrait) []any {
	names := maps.Clone(p.values)
	maps.Copy(names, other.values)
	rows := []any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a, b := p.values[name], other.values[name]; a != b {
			rows = append(rows, map[string]any{"what": name, "a": a, "b": b})
		}
	}
	for i := range max(len(p.did), len(other.did)) {
		a, b := "(its end)", "(its end)"
		if i < len(p.did) {
			a = p.did[i]
		}
		if i < len(other.did) {
			b = other.did[i]
		}
		if a != b {
			return append(rows, map[string]any{"what": fmt.Sprintf("journal.%d", i+1), "a": a, "b": b})
		}
	}
	return rows
}
