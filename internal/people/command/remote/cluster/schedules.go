package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) schedulesCommand() *cobra.Command {
	v := ask.View{Name: "definitions/definitionId", Empty: "no schedules", Columns: []ask.Column{
		{Head: "DUE", Path: "dueAt", Show: ask.When}, {Head: "DEFINITION", Path: "definitionId"}, {Head: "KIND", Path: "kind"}, {Head: "ACTIVITY", Path: "activityId"},
		{Head: "HELD BACK", Path: "gated"}, {Head: "LAST HELD BACK", Path: "gatedAt", Wide: true, Show: ask.When},
	}}
	schedules := &cobra.Command{Use: "schedules", Aliases: []string{"schedule"}, Short: "What starts definitions by the clock"}
	schedules.AddCommand(a.ask.ListCommand("List the next occurrence of each; HELD BACK: how often it started nothing, as another instance ran", v,
		func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			return ask.BytesOf(c.ListTimers(ctx, apiclient.ListTimersQuery{Kind: "schedules", Limit: limit, Cursor: cursor}))
		}))
	schedules.AddCommand(a.fireSchedule(), a.skipSchedule())
	return schedules
}

// fireSchedule starts what a schedule starts.
func (a commands) fireSchedule() *cobra.Command {
	return &cobra.Command{
		Use: "fire DEFINITION [ACTIVITY]", Short: "Start now what a schedule starts; its time stays", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			t, err := a.schedule(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			answer, err := c.FireSchedule(cmd.Context(), t.DefinitionID, t.ActivityID, a.ask.Opts()...)
			if err != nil {
				return err
			}
			return a.ask.Done(answer.Bytes, false, "started", "%s", answer.Body.InstanceID)
		},
	}
}

// skipSchedule drops one occurrence.
func (a commands) skipSchedule() *cobra.Command {
	var due string
	cmd := &cobra.Command{
		Use: "skip DEFINITION [ACTIVITY]", Short: "Drop the next occurrence of a schedule: nothing starts by it", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.ask.Completes("definitions"),
		Long: "Drop the next occurrence of a schedule: nothing starts by it. With --due only the one of that time, as weft schedules list -o json\n" +
			"has it; the exit code is 1 if that is not the next one: it was fired or skipped already. A startAt is not skipped: publish the\n" +
			"definition without it, or retract it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			t, err := a.schedule(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			if due != "" {
				if t.DueAt, err = time.Parse(time.RFC3339Nano, due); err != nil {
					return ask.Usage("--due is %q; it must be a time such as 2027-01-01T00:00:00Z", due)
				}
			}
			if err := a.ask.Confirm("drop the occurrence of %s that is due at %s", t.DefinitionID, t.DueAt.Format(time.RFC3339)); err != nil {
				return err
			}
			at := t.DueAt
			answer, err := c.SkipSchedule(cmd.Context(), t.DefinitionID, t.ActivityID, apiclient.SkipRequest{DueAt: at}, a.ask.Opts()...)
			if err != nil {
				return err
			}
			next := "there is no other"
			if answer.Body.Next != nil {
				next = "the next is due at " + answer.Body.Next.Format(time.RFC3339)
			}
			did := "skipped; " + next
			if !answer.Body.Skipped {
				did = "was fired or skipped already; " + next
			}
			if err := a.ask.Done(answer.Bytes, false, did, "%s", at.Format(time.RFC3339)); err != nil {
				return err
			}
			if !answer.Body.Skipped {
				return ask.Exit(ask.ExitBad, nil)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&due, "due", "", "when the occurrence is due (default: the next one)")
	return cmd
}

// schedule is the schedule of a definition: the one of an activity, or the only one.
func (a commands) schedule(ctx context.Context, c *apiclient.Client, args []string) (apiclient.TimerItem, error) {
	id := ask.IDs("definitions", args)[0]
	var found []apiclient.TimerItem
	var ids []string
	for t, err := range c.AllTimers(ctx, apiclient.ListTimersQuery{Kind: "schedules", Limit: ask.MaxPage}) {
		if err != nil {
			return apiclient.TimerItem{}, err
		}
		if t.DefinitionID == id && (len(args) == 1 || t.ActivityID == args[1]) {
			found, ids = append(found, t), append(ids, t.ActivityID)
		}
	}
	switch len(found) {
	case 0:
		if len(args) == 2 {
			return apiclient.TimerItem{}, ask.Exit(ask.ExitRefused, fmt.Errorf("the activity %s of %s has no occurrence to come; weft schedules list shows those that have", args[1], id))
		}
		return apiclient.TimerItem{}, ask.Exit(ask.ExitRefused, fmt.Errorf("no schedule starts %s; weft schedules list shows those that there are", id))
	case 1:
		return found[0], nil
	}
	return apiclient.TimerItem{}, ask.Usage("%s has %d schedules: name the activity, one of %s", id, len(found), strings.Join(ids, ", "))
}
