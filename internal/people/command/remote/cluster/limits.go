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
	{Head: "NAME", Path: "name"}, {Head: "MOST", Path: "most"}, {Head: "UNITS", Path: "rate.units"}, {Head: "PER", Path: "rate.per"}, {Head: "TAKEN", Path: "taken"}, {Head: "WAITING", Path: "waiting"}, {Head: "SINCE", Path: "since", Show: ask.When},
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
	limits.AddCommand(ask.Watched(list),
		a.ask.ShowCommand("get NAME", "One: how it stands for each key", limitView, func(ctx context.Context, c *apiclient.Client, name string) ([]byte, error) {
			return ask.BytesOf(c.GetLimit(ctx, name))
		}),
		a.setLimitCommand(),
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

// setLimitCommand sets a limit.
func (a commands) setLimitCommand() *cobra.Command {
	var per string
	var inAll bool
	var atOnce int64
	set := &cobra.Command{
		Use: "set NAME MOST", Short: "Set how many may have a place at once, of each key, or how many units may be taken in a time; 0: nobody is given one", Args: cobra.ExactArgs(2), ValidArgsFunction: a.ask.Completes("limits"),
		Example: "  weft limits set card-service 10                         # 10 at once\n  weft limits set card-service 100 --per 1m --at-once 10  # 100 in any minute, and 10 at once\n  weft limits set tokens 1000000 --in-all                 # a budget that does not refill",
	}
	set.Flags().StringVar(&per, "per", "", "so many units in any time of this length, such as 1m, instead of so many at once")
	set.Flags().BoolVar(&inAll, "in-all", false, "so many units in all, instead of so many at once")
	set.Flags().Int64Var(&atOnce, "at-once", 0, "beside --per or --in-all: how many may have a place at once")
	set.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return fmt.Errorf("limits set %s: %q is not a whole number: say how many may have a place at once, or how many units there are", args[0], args[1])
		}
		body, done := apiclient.LimitRequest{Most: &n}, fmt.Sprintf("set: %d of each key at once", n)
		switch timed := per != "" || inAll; {
		case per != "" && inAll:
			return ask.Usage("limits set %s: --per and --in-all are two kinds of limit: give one of them", args[0])
		case cmd.Flags().Changed("at-once") && !timed:
			return ask.Usage("limits set %s: %d is how many may have a place at once: --at-once is given beside --per or --in-all", args[0], n)
		case timed:
			body, done = apiclient.LimitRequest{Rate: &apiclient.LimitRateRequest{Units: &n, Per: per}}, fmt.Sprintf("set: %d of each key in all", n)
			if per != "" {
				done = fmt.Sprintf("set: %d of each key in any %s", n, per)
			}
		}
		if cmd.Flags().Changed("at-once") {
			body.Most = &atOnce
			done += fmt.Sprintf(", %d at once", atOnce)
		}
		c, err := a.ask.Client()
		if err != nil {
			return err
		}
		answer, err := c.PutLimit(cmd.Context(), args[0], body)
		if err != nil {
			return err
		}
		if taken := answer.Body.Taken; body.Most != nil && taken > *body.Most {
			done += fmt.Sprintf("; %d places are taken, of all keys: they stay until they are given back", taken)
		}
		return a.ask.Done(answer.Bytes, false, done, "%s", args[0])
	}
	return set
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
