package instances

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) instancesLineage() *cobra.Command {
	var depth, most int64
	cmd := &cobra.Command{
		Use: "lineage ID", Short: "Who started an instance, and whom it started", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Repeated(cmd.Context(), func() error {
				tree, err := c.GetLineage(cmd.Context(), ask.IDs("instances", args)[0], apiclient.GetLineageQuery{Depth: &depth, Descendants: &most})
				if err != nil {
					return err
				}
				if err := a.ask.Show(lineageView(&tree.Body), tree.Bytes); err != nil {
					return err
				}
				if !tree.Body.Whole && !a.ask.AsData() {
					a.ask.Note("some are left out: --depth and --limit show more, and lineage of another instance")
				}
				return nil
			})
		},
	}
	ask.Watched(cmd)
	cmd.Flags().Int64Var(&depth, "depth", 3, "so many generations below it, up to 10")
	cmd.Flags().Int64Var(&most, "limit", 100, "so many below it, up to 500")
	return cmd
}

// lineageView shows each instance below the one that started it; the one that was asked for has a star.
func lineageView(tree *apiclient.Lineage) ask.View {
	top := int64(0)
	for _, r := range tree.Items {
		top = min(top, r.Depth)
	}
	return ask.View{Name: "instances/instanceId", Columns: []ask.Column{
		{Head: "INSTANCE", Path: "instanceId", Show: func(_ *ask.Asker, v, row any) string {
			depth, _ := ask.At(row, "depth").(json.Number)
			d, _ := depth.Int64()
			text := strings.Repeat("  ", int(d-top)) + ask.Text(v)
			if d == 0 {
				text += " *"
			}
			return text
		}},
		{Head: "DEFINITION", Path: "definitionId", Show: ask.DefinitionVersion}, {Head: "STATUS", Path: "subStatus", Unless: ask.NoStatus},
		{Head: "AWAITED", Path: "awaitedAt"}, {Head: "CHILDREN", Path: "children"}, {Head: "INCIDENTS", Path: "incidents"},
		{Head: "CORRELATION", Path: "correlationId", Wide: true}, {Head: "CREATED", Path: "createdAt", Show: ask.When},
	}}
}
