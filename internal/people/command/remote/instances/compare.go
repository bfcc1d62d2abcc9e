package instances

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/authoring/compare"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) instancesCompare() *cobra.Command {
	return &cobra.Command{
		Use: "compare A B", Short: "In what two instances differ, and where their ways part; exit code 1 if they do", Args: cobra.ExactArgs(2), ValidArgsFunction: a.ask.Completes("instances"),
		Long: "In what two instances differ: definition, status, labels, input, output, variables, and the first entry of the journal in\n" +
			"which they do not do the same. Ids and times always differ and are not compared. The exit code is 1 if anything is different.\n" +
			"Of long variables the API gives the beginning, and none of those that are kept out of the journal or that a journal whose oldest\n" +
			"entries are gone does not tell: a line on standard error names each that was compared in part or not at all.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			ids := ask.IDs("instances", args)
			var both [2]compare.Portrait
			for i, id := range ids {
				if both[i], err = portraitOf(cmd.Context(), c, id); err != nil {
					return err
				}
			}
			found := both[0].Differences(both[1])
			journal := func(id string) iter.Seq2[apiclient.Journal, error] {
				return c.AllJournal(cmd.Context(), id, apiclient.GetJournalQuery{Limit: 500})
			}
			ways, err := compare.Follow(journal(ids[0]), journal(ids[1]), compare.Bounds{After: 1})
			if err != nil {
				return err
			}
			if ways.Parted > 0 {
				found = append(found, compare.Difference{What: fmt.Sprintf("journal.%d", ways.Parted), A: did(ways.A), B: did(ways.B)})
			}
			rows := []any{}
			for _, d := range found {
				row := map[string]any{"what": d.What, "a": d.A, "b": d.B}
				if !a.ask.AsData() {
					from, to := d.Shown()
					row["a"], row["b"] = ask.OneLine(from), ask.OneLine(to)
				}
				rows = append(rows, row)
			}
			for _, name := range both[0].Alike(both[1]) {
				a.ask.Note(name + ": only the beginning was compared, which is the same")
			}
			for _, name := range both[0].Uncompared(both[1]) {
				a.ask.Note(name + ": not compared, as it is kept out of the journal")
			}
			for _, name := range both[0].Unknown(both[1]) {
				a.ask.Note(name + ": not compared, as the journal of one of them does not tell it any more")
			}
			for i, id := range ids {
				if both[i].Partial() {
					a.ask.Note("the journal of " + id + " does not tell all of its variables: others may differ")
				}
			}
			view := ask.View{Empty: "they do not differ", Columns: []ask.Column{{Head: "WHAT", Path: "what"}, {Head: "A", Path: "a"}, {Head: "B", Path: "b"}}}
			if a.ask.AsData() {
				err = a.ask.Data(map[string]any{"items": rows})
			} else {
				err = a.ask.Table(view, rows)
			}
			if err == nil && len(rows) > 0 {
				return ask.Exit(ask.ExitBad, nil)
			}
			return err
		},
	}
}

// portraitOf reads what is compared of an instance beside its journal.
func portraitOf(ctx context.Context, c *apiclient.Client, id string) (compare.Portrait, error) {
	in, err := c.GetInstance(ctx, id)
	if err != nil {
		return compare.Portrait{}, err
	}
	variables, err := c.GetVariables(ctx, id, apiclient.GetVariablesQuery{})
	if err != nil {
		return compare.Portrait{}, err
	}
	return compare.Of(&in.Body, &variables.Body), nil
}

// did is what the first entry of those from where two ways part says.
func did(entries []apiclient.Journal) string {
	if len(entries) == 0 {
		return compare.Did(nil)
	}
	return compare.Did(&entries[0])
}
