package cluster

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) schedulesCommand() *cobra.Command {
	v := ask.View{Name: "definitions/definitionId", Empty: "no schedules", Columns: []ask.Column{
		{Head: "DUE", Path: "dueAt", Show: ask.When}, {Head: "DEFINITION", Path: "definitionId"}, {Head: "KIND", Path: "kind"}, {Head: "ACTIVITY", Path: "activityId"},
		{Head: "HELD BACK", Path: "gated"}, {Head: "LAST HELD BACK", Path: "gatedAt", Wide: true, Show: ask.When},
	}}
	schedules := &cobra.Command{Use: "schedules", Aliases: []string{"schedule"}, Short: "What starts definitions by the clock"}
	schedules.AddCommand(a.ListCommand("List the next occurrence of each; HELD BACK: how often it started nothing, as another instance ran", v,
		func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			page, err := c.ListTimers(ctx, apiclient.ListTimersQuery{Limit: limit, Cursor: cursor})
			if err != nil {
				return nil, err
			}
			kept := []apiclient.TimerItem{}
			for _, t := range page.Body.Items {
				if t.InstanceID == "" {
					kept = append(kept, t)
				}
			}
			page.Body.Items = kept
			return json.Marshal(page.Body)
		}))
	return schedules
}
