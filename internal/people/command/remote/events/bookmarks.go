package events

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) bookmarksCommand() *cobra.Command {
	bookmarks := &cobra.Command{Use: "bookmarks", Aliases: []string{"bookmark"}, Short: "Places where instances wait"}
	var q apiclient.ListBookmarksQuery
	v := ask.View{Name: "bookmarks/bookmarkId", Empty: "nothing waits", Columns: []ask.Column{
		{Head: "BOOKMARK", Path: "bookmarkId"}, {Head: "TYPE", Path: "activityType"}, {Head: "NAME", Path: "name"}, {Head: "INSTANCE", Path: "instanceId"},
		{Head: "CORRELATION", Path: "correlationId"}, {Head: "SINCE", Path: "since", Show: ask.When},
	}}
	list := a.ask.ListCommand("List them, in no order of time but with --definition", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		q.Limit, q.Cursor = limit, cursor
		return ask.BytesOf(c.ListBookmarks(ctx, q))
	})
	f := list.Flags()
	f.StringVar(&q.Event, "event", "", "only those that wait for this event, which alone are read")
	f.StringVar(&q.DefinitionID, "definition", "", "only of instances of this definition, which alone are read, the newest first")
	f.StringVar(&q.CorrelationID, "correlation", "", "only of instances with this correlation id")
	f.StringVar(&q.ActivityType, "type", "", "only of this type of activity, such as Elsa.RunTask")
	f.StringVar(&q.Name, "name", "", "only with this name, of an event, a task or an endpoint")
	var input []string
	resume := &cobra.Command{
		Use: "resume ID", Short: "Let an instance go on from a bookmark", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("bookmarks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, _, err := a.ask.Inputs(input)
			if err != nil {
				return err
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.ResumeBookmark(cmd.Context(), ask.IDs("bookmarks", args)[0], apiclient.ResumeRequest{Input: values}, a.ask.Opts()...)
			if err != nil {
				return err
			}
			return a.ask.Sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
		},
	}
	resume.Flags().StringArrayVarP(&input, "input", "i", nil, "name=value, value as JSON, a text or @file; or @file with an object")
	bookmarks.AddCommand(list, resume)
	return bookmarks
}
