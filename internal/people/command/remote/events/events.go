// Package events has the commands about what waits for the outside: events and tasks.
package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/effect"
	"github.com/weft-run/weft/pkg/apiclient"
)

// commands are those of this family.
type commands struct{ ask *ask.Asker }

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	a := commands{asker}
	return []*cobra.Command{a.whyNotCommand(), a.eventsCommand(), a.tasksCommand(), a.bookmarksCommand()}
}

func (a commands) whyNotCommand() *cobra.Command {
	var q apiclient.ExplainEventQuery
	cmd := &cobra.Command{
		Use: "why-not EVENT", Short: "Whom an event would reach, and who nearly; exit code 1 if nobody, or if it would be refused", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("events"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			x, err := c.ExplainEvent(cmd.Context(), args[0], q)
			if err != nil {
				return err
			}
			if err := effect.Show(a.ask, &x.Body, x.Bytes); err != nil {
				return err
			}
			if x.Body.Queued || x.Body.Refused != nil {
				return ask.Exit(ask.ExitBad, nil)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&q.CorrelationID, "correlation", "", "its correlation id")
	cmd.Flags().StringVar(&q.InstanceID, "instance", "", "if it were sent to this instance only")
	return cmd
}

func (a commands) eventsCommand() *cobra.Command {
	events := &cobra.Command{Use: "events", Aliases: []string{"event"}, Short: "Send events, see who waits and what became of them"}
	var body apiclient.EventRequest
	var data string
	var dry bool
	send := &cobra.Command{
		Use: "send NAME", Short: "Send an event to those who wait for it", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("events"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("data") {
				v, err := a.ask.JSONArg(data)
				if err != nil {
					return err
				}
				body.Payload = v
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.SendEvent(cmd.Context(), args[0], body, apiclient.SendEventQuery{DryRun: &dry}, a.ask.Opts()...)
			if err != nil {
				return err
			}
			if x := answer.Body.Effect; x != nil {
				return effect.Show(a.ask, x, answer.Bytes)
			}
			return a.ask.Sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
		},
	}
	send.Flags().StringVarP(&data, "data", "d", "", "its payload: JSON, @file, @- for standard input, or a text")
	send.Flags().StringVar(&body.CorrelationID, "correlation", "", "only those with this correlation id")
	send.Flags().StringVar(&body.InstanceID, "instance", "", "only this instance")
	send.Flags().BoolVar(&dry, "dry-run", false, "only say what it would do")
	events.AddCommand(send, a.eventsWaiting(), a.eventsTrace())
	return events
}

func (a commands) eventsWaiting() *cobra.Command {
	var p ask.Paging
	waiting := &cobra.Command{
		Use: "waiting [NAME]", Short: "Instances that wait for an event", Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.ask.Completes("events"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			waits := "event"
			if len(args) == 1 {
				waits += "/" + args[0]
			}
			return a.ask.Lists(cmd.Context(), &p, ask.InstanceView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListSummaries(cmd.Context(), apiclient.ListInstancesQuery{WaitsFor: waits, Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			})
		},
	}
	p.Flags(waiting)
	return waiting
}

func (a commands) eventsTrace() *cobra.Command {
	return &cobra.Command{
		Use: "trace KEY", Short: "What became of a request, by its Idempotency-Key", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.GetReceipts(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.ask.AsData() {
				return a.ask.Show(ask.View{}, answer.Bytes)
			}
			value, err := ask.DecodeJSON(answer.Bytes)
			if err != nil {
				return err
			}
			list, _ := ask.At(value, "receipts").([]any)
			for _, receipt := range list {
				fmt.Fprintf(a.ask.Out, "%s  %s\n", ask.Text(ask.At(receipt, "request")), ask.When(a.ask, ask.Text(ask.At(receipt, "at")), nil))
				effects, _ := ask.At(receipt, "effects").([]any)
				if err := a.ask.Table(fateView, effects); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a commands) tasksCommand() *cobra.Command {
	tasks := &cobra.Command{Use: "tasks", Aliases: []string{"task"}, Short: "Tasks that wait for a worker outside, or for a person"}
	var p ask.Paging
	var name string
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List tasks, the oldest first, and which worker has each, since when, until when and how far it is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			v := ask.View{Name: "tasks/taskId", Empty: "no tasks", Columns: []ask.Column{
				{Head: "TASK", Path: "taskId"}, {Head: "NAME", Path: "name"}, {Head: "INSTANCE", Path: "instanceId"}, {Head: "CREATED", Path: "createdAt", Show: ask.When},
				{Head: "WORKER", Path: "worker"}, {Head: "SINCE", Path: "since", Show: ask.When}, {Head: "UNTIL", Path: "until", Show: ask.When}, {Head: "PROGRESS", Path: "progress", Show: progress},
				{Head: "ATTEMPTS", Path: "attempts", Wide: true}, {Head: "LAST WORKER", Path: "lastWorker", Wide: true}, {Head: "LAST ENDED", Path: "lastWhy", Wide: true}, {Head: "PAYLOAD", Path: "payload", Wide: true},
			}}
			return a.ask.Lists(cmd.Context(), &p, v, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListTasks(cmd.Context(), apiclient.ListTasksQuery{Name: name, Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			})
		},
	}
	p.Flags(list)
	list.Flags().StringVar(&name, "name", "", "only of this name")
	var result, outcome string
	var fields []string
	complete := &cobra.Command{
		Use: "complete ID", Short: "Complete a task, or with --outcome a user task", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("tasks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case outcome != "" && cmd.Flags().Changed("result"):
				return ask.Usage("--result is of a worker's task, and --outcome of a user task")
			case outcome != "":
				return a.completeUserTask(cmd.Context(), args[0], outcome, fields)
			case len(fields) > 0:
				return ask.Usage("say with --outcome how the user task ends")
			}
			body := apiclient.TaskRequest{}
			if cmd.Flags().Changed("result") {
				v, err := a.ask.JSONArg(result)
				if err != nil {
					return err
				}
				body.Result = v
			}
			err := a.endTask(cmd.Context(), args[0], body)
			var p *apiclient.ProblemError
			if errors.As(err, &p) && (p.Code == "forbidden" || p.Code == "bookmark-reserved") {
				p.Detail += "; a user task is completed with --outcome, and weft tasks show has its outcomes"
			}
			return err
		},
	}
	complete.Flags().StringVarP(&result, "result", "d", "", "its result: JSON, @file, @- for standard input, or a text")
	complete.Flags().StringVar(&outcome, "outcome", "", "of a user task: one of its outcomes")
	complete.Flags().StringArrayVar(&fields, "field", nil, "of a user task's form: name=value, value as JSON, a text or @file; or @file with an object")
	var why string
	fail := &cobra.Command{
		Use: "fail ID --error TEXT", Short: "Complete a task with an error", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("tasks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if why == "" {
				return ask.Usage("say with --error why it failed")
			}
			return a.endTask(cmd.Context(), args[0], apiclient.TaskRequest{Error: why})
		},
	}
	fail.Flags().StringVar(&why, "error", "", "why it failed")
	tasks.AddCommand(list, complete, fail)
	tasks.AddCommand(a.userTaskCommands()...)
	return tasks
}

// progress is how far a worker is, and what it said of it.
func progress(_ *ask.Asker, v, task any) string {
	percent := ask.Text(v)
	if v != nil {
		percent += "%"
	}
	text := ask.At(task, "text")
	switch {
	case text == nil:
		return percent
	case v == nil:
		return ask.Text(text)
	}
	return percent + " " + ask.Text(text)
}

func (a commands) endTask(ctx context.Context, id string, body apiclient.TaskRequest) error {
	c, err := a.ask.Client()
	if err != nil {
		return err
	}
	answer, err := c.CompleteTask(ctx, ask.IDs("tasks", []string{id})[0], body, a.ask.Opts()...)
	if err != nil {
		return err
	}
	return a.ask.Sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
}

var fateView = ask.View{Columns: []ask.Column{
	{Head: "INSTANCE", Path: "instanceId"}, {Head: "STATE", Path: "state"}, {Head: "OUTCOME", Path: "outcome"}, {Head: "CODE", Path: "code"}, {Head: "COMMIT", Path: "commit.commit"}, {Head: "DETAIL", Path: "detail"},
}}
