package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

var webhookView = ask.View{Name: "webhooks/name", Empty: "no webhooks", Columns: []ask.Column{
	{Head: "NAME", Path: "name"}, {Head: "URL", Path: "url"}, {Head: "WAITING", Path: "waiting"}, {Head: "FAILED", Path: "failed"}, {Head: "PAUSED", Path: "paused"},
	{Head: "NEXT", Path: "next.dueAt", Show: ask.When}, {Head: "LAST", Path: "next.last"}, {Head: "NODE", Path: "nodeId", Wide: true},
}}

var failedView = ask.View{Empty: "nothing was given up", Columns: []ask.Column{
	{Head: "SINCE", Path: "at", Show: ask.When}, {Head: "ATTEMPTS", Path: "attempts"}, {Head: "LAST", Path: "last"}, {Head: "EVENTS", Path: "events", Show: func(_ *ask.Asker, v, _ any) string {
		list, _ := v.([]any)
		return fmt.Sprint(len(list))
	}},
}}

// webhooksCommand has what an operator needs where a receiver is away. They are put with the API.
func (a commands) webhooksCommand() *cobra.Command {
	hooks := &cobra.Command{Use: "webhooks", Aliases: []string{"webhook"}, Short: "Who is told what became of instances, and what receivers did not take"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List them, with what waits and what was given up", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Repeated(cmd.Context(), func() error {
				raw, err := ask.BytesOf(c.ListWebhooks(cmd.Context()))
				if err != nil {
					return err
				}
				return a.ask.Show(webhookView, raw)
			})
		},
	}
	hooks.AddCommand(ask.Watched(list),
		a.ask.ShowCommand("show NAME", "One: what waits, since when and why, and which node tells it", webhookView, func(ctx context.Context, c *apiclient.Client, name string) ([]byte, error) {
			return ask.BytesOf(c.GetWebhook(ctx, name))
		}),
		a.webhooksFailed(),
		a.again("replay NAME...", "Try again what was given up", "tried again", func(ctx context.Context, c *apiclient.Client, name string) (*apiclient.Answer[apiclient.WebhookAgain], error) {
			return c.ReplayWebhook(ctx, name)
		}),
		a.again("forget NAME...", "Forget what was given up; the webhook stays", "forgotten", func(ctx context.Context, c *apiclient.Client, name string) (*apiclient.Answer[apiclient.WebhookAgain], error) {
			if err := a.ask.Confirm("forget what the webhook %s was not told", name); err != nil {
				return nil, err
			}
			return c.ForgetFailedEvents(ctx, name)
		}),
		a.ask.DeleteCommand("webhooks", "Delete webhooks, with what waits for their receivers", func(ctx context.Context, c *apiclient.Client, name string) error {
			_, err := c.DeleteWebhook(ctx, name)
			return err
		}))
	return hooks
}

func (a commands) webhooksFailed() *cobra.Command {
	var p ask.Paging
	cmd := &cobra.Command{
		Use: "failed NAME", Short: "What was given up, and why", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("webhooks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			name := ask.IDs("webhooks", args)[0]
			return a.ask.Lists(cmd.Context(), &p, failedView, func(limit int64, cursor string) ([]byte, error) {
				return ask.BytesOf(c.ListFailedEvents(cmd.Context(), name, apiclient.ListFailedEventsQuery{Limit: limit, Cursor: cursor}))
			})
		},
	}
	p.Flags(cmd)
	return cmd
}

// again is a command about what receivers did not take; it says of how many events.
func (a commands) again(use, short, did string, do func(ctx context.Context, c *apiclient.Client, name string) (*apiclient.Answer[apiclient.WebhookAgain], error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.ask.Completes("webhooks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Each("webhooks", args, func(name string, _ []apiclient.Option) error {
				answer, err := do(cmd.Context(), c, name)
				if err != nil {
					return err
				}
				return a.ask.Done(answer.Bytes, false, fmt.Sprintf("%d events %s", answer.Body.Events, did), "%s", name)
			})
		},
	}
}
