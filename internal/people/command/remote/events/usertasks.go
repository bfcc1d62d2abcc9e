package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

var userTaskView = ask.View{Name: "tasks/taskId", Empty: "nothing waits for you", Columns: []ask.Column{
	{Head: "TASK", Path: "taskId"}, {Head: "TITLE", Path: "title"}, {Head: "REFERENCE", Path: "reference"}, {Head: "PRIORITY", Path: "priority"}, {Head: "CREATED", Path: "createdAt", Show: ask.When},
	{Head: "DUE", Path: "dueAt", Show: ask.When}, {Head: "CLAIMED BY", Path: "claimedBy"}, {Head: "ASSIGNED TO", Path: "assignedTo"}, {Head: "OUTCOMES", Path: "outcomes", Wide: true}, {Head: "INSTANCE", Path: "instanceId", Wide: true},
}}

// userTaskCommands are those for people: what waits for them, and what they do with it.
func (a commands) userTaskCommands() []*cobra.Command {
	others := false
	mine := a.ask.ListCommand("List the user tasks that wait for you", userTaskView, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		return ask.BytesOf(c.ListUserTasks(ctx, apiclient.ListUserTasksQuery{Others: &others, Limit: limit, Cursor: cursor}))
	})
	mine.Use, mine.Aliases = "mine", nil
	mine.Flags().BoolVar(&others, "others", false, "also those that somebody else has, and of an operator all that you may complete")
	show := a.ask.ShowCommand("show ID", "Show a user task with its form", userTaskView, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.GetUserTask(ctx, id))
	})
	claim := a.onUserTask("claim ID", "Take a user task, so that nobody else does it", "claimed", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.ClaimUserTask(ctx, id, a.ask.Opts()...))
	})
	release := a.onUserTask("release ID", "Give a user task back, undone", "released", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.ReleaseUserTask(ctx, id, apiclient.ReleaseUserRequest{}, a.ask.Opts()...))
	})
	return append([]*cobra.Command{mine, show, claim, release}, a.userTaskChanges()...)
}

// userTaskChanges are what people do with a task beside claiming and completing it.
func (a commands) userTaskChanges() []*cobra.Command {
	var to, reason, text, why string
	assign := a.onUserTask("assign ID --to WHO", "Give a user task to a person, who is to do it alone (operators)", "assigned", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.AssignUserTask(ctx, id, apiclient.AssignUserRequest{To: to, Reason: reason}, a.ask.Opts()...))
	})
	delegate := a.onUserTask("delegate ID --to WHO", "Give a user task that you have to another person", "delegated", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.DelegateUserTask(ctx, id, apiclient.AssignUserRequest{To: to, Reason: reason}, a.ask.Opts()...))
	})
	for _, cmd := range []*cobra.Command{assign, delegate} {
		cmd.Flags().StringVar(&to, "to", "", "who is to do it, such as key:anna or oidc:anna")
		cmd.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	}
	comment := a.onUserTask("comment ID --text TEXT", "Write something to a user task", "commented", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.CommentUserTask(ctx, id, apiclient.CommentUserRequest{Text: text}, a.ask.Opts()...))
	})
	comment.Flags().StringVar(&text, "text", "", "what you write, up to 2 KiB")
	cancel := a.onUserTask("cancel ID --reason TEXT", "End a user task with the outcome Cancelled, if its activity allows that (operators)", "cancelled", func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		return ask.BytesOf(c.CancelUserTask(ctx, id, apiclient.CancelUserRequest{Reason: why}, a.ask.Opts()...))
	})
	cancel.Flags().StringVar(&why, "reason", "", "why, for the journal")
	return []*cobra.Command{assign, delegate, comment, cancel}
}

func (a commands) onUserTask(use, short, did string, do func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("user-tasks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("tasks", args)[0]
			raw, err := do(cmd.Context(), c, id)
			if err != nil {
				return err
			}
			return a.ask.Done(raw, false, did, "%s", id)
		},
	}
}

// completeUserTask completes a user task with fields of its form, given as name=value.
func (a commands) completeUserTask(ctx context.Context, id, outcome string, fields []string) error {
	c, err := a.ask.Client()
	if err != nil {
		return err
	}
	id = ask.IDs("tasks", []string{id})[0]
	data, typed, err := a.ask.Inputs(fields)
	if err != nil {
		return err
	}
	if len(data) > 0 { // a field that is a text is what was typed
		is, err := c.GetUserTask(ctx, id)
		if err != nil {
			return err
		}
		form, _ := json.Marshal(is.Body.Form) // as it was read
		t := usertask.Task{Form: form}
		known, err := t.Fields()
		if err != nil {
			return err
		}
		for _, f := range known {
			text, ok := typed[f.Name]
			switch v := data[f.Name].(type) {
			case nil, bool, json.Number, float64:
				if !ok && v != nil {
					text, ok = fmt.Sprint(v), true
				}
				if ok && f.Type == "string" {
					data[f.Name] = text
				}
			}
		}
	}
	answer, err := c.CompleteUserTask(ctx, id, apiclient.CompleteUserRequest{Outcome: outcome, Data: data}, a.ask.Opts()...)
	if err != nil {
		return err
	}
	return a.ask.Sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
}
