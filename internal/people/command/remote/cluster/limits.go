package cluster

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

var limitView = ask.View{Name: "limits/name", Empty: "no limits", Columns: []ask.Column{
	{Head: "NAME", Path: "name"}, {Head: "MOST", Path: "most"}, {Head: "TAKEN", Path: "taken"}, {Head: "WAITING", Path: "waiting"}, {Head: "SINCE", Path: "since", Show: ask.When},
	{Head: "SET", Path: "setAt", Show: ask.When, Wide: true}, {Head: "BY", Path: "setBy", Wide: true},
}}

var placeView = ask.View{Name: "instances/instanceId", Empty: "nobody", Columns: []ask.Column{
	{Head: "KEY", Path: "key"}, {Head: "INSTANCE", Path: "instanceId"}, {Head: "DEFINITION", Path: "definitionId"}, {Head: "ACTIVITY", Path: "activityId"}, {Head: "CAME", Path: "cameAt", Show: ask.When}, {Head: "GIVEN", Path: "givenAt", Show: ask.When},
}}

// limitsCommand sets how many may have a place at once, and shows who has one and who waits.
func (a commands) limitsCommand() *cobra.Command {
	limits := &cobra.Command{Use: "limits", Aliases: []string{"limit"}, Short: "How many may do something at once, who does, and who waits"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List them, with how many places are taken and how many wait", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Repeated(cmd.Context(), func() error {
				raw, err := ask.BytesOf(c.ListLimits(cmd.Context()))
				if err != nil {
					return err
				}
				return a.ask.Show(limitView, raw)
			})
		},
	}
	set := &cobra.Command{
		Use: "set NAME MOST", Short: "Set how many may have a place at once, of each key; 0: nobody is given one", Args: cobra.ExactArgs(2), ValidArgsFunction: a.ask.Completes("limits"),
		Example: "  weft limits set card-service 10",
		RunE: func(cmd *cobra.Command, args []string) error {
			most, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return fmt.Errorf("limits set %s: %q is not a whole number: say how many may have a place at once", args[0], args[1])
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.PutLimit(cmd.Context(), args[0], apiclient.LimitRequest{Most: &most})
			if err != nil {
				return err
			}
			done := fmt.Sprintf("set: %d of each key at once", most)
			if n := answer.Body.Taken; n > most {
				done += fmt.Sprintf("; %d places are taken, which stay until they are given back", n)
			}
			return a.ask.Done(answer.Bytes, false, done, "%s", args[0])
		},
	}
	limits.AddCommand(ask.Watched(list),
		a.ask.ShowCommand("get NAME", "One: how it stands for each key", limitView, func(ctx context.Context, c *apiclient.Client, name string) ([]byte, error) {
			return ask.BytesOf(c.GetLimit(ctx, name))
		}),
		set,
		a.placesCommand("taken NAME", "Who has places of a limit", func(ctx context.Context, c *apiclient.Client, name string, limit int64, cursor string) ([]byte, error) {
			return ask.BytesOf(c.ListPlacesTaken(ctx, name, apiclient.ListPlacesTakenQuery{Limit: limit, Cursor: cursor}))
		}),
		a.placesCommand("waiting NAME", "Who waits for a place of a limit, of each key in the order in which they are given one", func(ctx context.Context, c *apiclient.Client, name string, limit int64, cursor string) ([]byte, error) {
			return ask.BytesOf(c.ListPlacesWaiting(ctx, name, apiclient.ListPlacesWaitingQuery{Limit: limit, Cursor: cursor}))
		}),
		a.ask.DeleteCommand("limits", "Delete limits: who has a place keeps it, who waits goes on waiting", func(ctx context.Context, c *apiclient.Client, name string) error {
			_, err := c.DeleteLimit(ctx, name)
			return err
		}))
	return limits
}

func (a commands) placesCommand(use, short string, list func(ctx context.Context, c *apiclient.Client, name string, limit int64, cursor string) ([]byte, error)) *cobra.Command {
	var p ask.Paging
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("limits"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Lists(cmd.Context(), &p, placeView, func(limit int64, cursor string) ([]byte, error) {
				return list(cmd.Context(), c, args[0], limit, cursor)
			})
		},
	}
	p.Flags(cmd)
	return cmd
}
