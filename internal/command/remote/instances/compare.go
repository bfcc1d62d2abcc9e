package instances

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) instancesCompare() *cobra.Command {
	return &cobra.Command{
		Use: "compare A B", Short: "In what two instances differ, and where their ways part; exit code 1 if they do", Args: cobra.ExactArgs(2), ValidArgsFunction: a.CompleteInstances(),
		Long: "In what two instances differ: definition, status, labels, input, output, variables, and the first entry of the journal in\n" +
			"which they do not do the same. Ids and times always differ and are not compared. The exit code is 1 if anything is different.\n" +
			"Of long variables the API gives the beginning: a line on standard error names those of which no more was compared.",
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
			parting, err := partingOf(cmd.Context(), c, both[0].id, both[1].id)
			if err != nil {
				return err
			}
			rows = append(rows, parting...)
			for _, name := range both[0].clipped {
				if both[0].values[name] == both[1].values[name] {
					a.Note(name + ": only the beginning was compared, which is the same")
				}
			}
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

// portrait is what is compared of an instance beside its journal: values by their names.
type portrait struct {
	id      string
	values  map[string]string
	clipped []string // the names of those of which this is the beginning
}

func portraitOf(ctx context.Context, c *apiclient.Client, id string) (portrait, error) {
	in, err := c.GetInstance(ctx, id)
	if err != nil {
		return portrait{}, err
	}
	b := &in.Body
	p := portrait{id: id, values: map[string]string{
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
		if v.Execution != 0 { // that of an activity has the number of its execution, which differs
			continue
		}
		p.values["variable."+v.Name] = ask.Compact(v.Value)
		if v.Clipped {
			p.clipped = append(p.clipped, "variable."+v.Name)
		}
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
	return rows
}

// partingOf gives a row of the first entry of two journals that is not the same, if there is one.
func partingOf(ctx context.Context, c *apiclient.Client, a, b string) ([]any, error) {
	query := apiclient.GetJournalQuery{Limit: 500}
	nextA, stopA := iter.Pull2(c.AllJournal(ctx, a, query))
	defer stopA()
	nextB, stopB := iter.Pull2(c.AllJournal(ctx, b, query))
	defer stopB()
	for n := 1; ; n++ {
		didA, moreA, errA := did(nextA())
		didB, moreB, errB := did(nextB())
		switch err := cmp.Or(errA, errB); {
		case err != nil:
			return nil, err
		case didA != didB:
			return []any{map[string]any{"what": fmt.Sprintf("journal.%d", n), "a": didA, "b": didB}}, nil
		case !moreA && !moreB:
			return nil, nil
		}
	}
}

// did is what an entry of a journal says that was done.
func did(j apiclient.Journal, err error, more bool) (string, bool, error) {
	if !more {
		return "(its end)", false, nil
	}
	return strings.TrimSpace(j.Event + " " + j.ActivityID + " " + j.Text), true, err
}
