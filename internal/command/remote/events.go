package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain INSTANCE", Short: "Why an instance is where it is; exit code 1 if it is stuck, faulted or damaged", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			var state string
			err = a.repeated(cmd.Context(), func() error {
				x, err := c.ExplainInstance(cmd.Context(), ids("instances", args)[0])
				if err != nil {
					return err
				}
				state = x.Body.State
				if a.asData() {
					return a.show(view{}, x.Bytes)
				}
				return a.explanation(&x.Body)
			})
			if err == nil && (state == "stuck" || state == "faulted" || state == "damaged") {
				return &exitError{ExitBad, nil}
			}
			return err
		},
	}
}

func (a *app) explanation(x *apiclient.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  as of revision %d, %s\n", x.InstanceID, x.State, x.Revision, x.At.UTC().Format("15:04:05 UTC"))
	fmt.Fprintf(&b, "%s\n", oneLineOf(x.Summary, 1000))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s %s\n", name, oneLineOf(fmt.Sprintf(format, args...), 500))
	}
	for i, r := range x.Reasons {
		text := r.Text
		if r.Since != nil {
			text += ", since " + a.moment(r.Since)
		}
		if r.Until != nil {
			text += ", until " + a.moment(r.Until)
		}
		line(map[bool]string{true: r.Kind, false: "or " + r.Kind}[i == 0], "%s", text)
	}
	if x.Owner != nil {
		gone := ""
		if x.Owner.Gone {
			gone = ", which is gone: another node takes over when its session ends"
		}
		line("owner", "%s, fence %d%s", x.Owner.NodeID, x.Owner.Fence, gone)
	}
	for i, w := range x.Waiters {
		line(fmt.Sprintf("next %d", i+1), "%s waits for the lock", w.NodeID)
	}
	if n := int64(len(x.Mail)) + x.MailLeft; n > 0 {
		line("mailbox", "%d commands, the oldest is %s", n, x.Mail[0].Kind)
	}
	if x.LastCommit != nil {
		line("commit", "%d, fence %d, %s", x.LastCommit.Sequence, x.LastCommit.Fence, a.moment(x.LastCommit.At))
	}
	for _, n := range x.NearMisses {
		line("near", "%s %s: %s", n.Where, n.ID, n.Text)
	}
	for _, n := range x.Next {
		line("do", "%s", n)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// oneLineOf is [oneLine] with another length.
func oneLineOf(s string, most int) string {
	var out []string
	for rest := []rune(s); len(rest) > 0; {
		n := min(len(rest), 90)
		out = append(out, oneLine(string(rest[:n])))
		rest = rest[n:]
	}
	all := []rune(strings.Join(out, ""))
	return string(all[:min(len(all), most)])
}

func (a *app) effect(x *apiclient.Effect, raw []byte) error {
	if a.asData() {
		return a.show(view{}, raw)
	}
	var b strings.Builder
	for _, r := range x.Resumes {
		fmt.Fprintf(&b, "would resume %s (bookmark %s)\n", r.InstanceID, r.BookmarkID)
	}
	if left := x.Resumed - int64(len(x.Resumes)); left > 0 {
		fmt.Fprintf(&b, "would resume %d more\n", left)
	}
	for _, s := range x.Starts {
		fmt.Fprintf(&b, "would start %s v%d\n", s.DefinitionID, s.Version)
	}
	if x.Queued {
		b.WriteString("nothing waits for it: it would wait in the queue\n")
	}
	for _, o := range x.Others {
		fmt.Fprintf(&b, "  %s waits for it with the correlation %s\n", o.InstanceID, map[bool]string{true: "(none)", false: deref(o.CorrelationID)}[o.CorrelationID == nil])
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

func (a *app) whyNotCommand() *cobra.Command {
	var q apiclient.ExplainEventQuery
	cmd := &cobra.Command{
		Use: "why-not EVENT", Short: "Whom an event would reach, and who nearly; exit code 1 if nobody", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			x, err := c.ExplainEvent(cmd.Context(), args[0], q)
			if err != nil {
				return err
			}
			if err := a.effect(&x.Body, x.Bytes); err != nil {
				return err
			}
			if x.Body.Queued {
				return &exitError{ExitBad, nil}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&q.CorrelationID, "correlation", "", "its correlation id")
	cmd.Flags().StringVar(&q.InstanceID, "instance", "", "if it were sent to this instance only")
	return cmd
}

func (a *app) eventsCommand() *cobra.Command {
	events := &cobra.Command{Use: "events", Aliases: []string{"event"}, Short: "Send events, see who waits and what became of them"}
	var body apiclient.EventRequest
	var data string
	var dry bool
	send := &cobra.Command{
		Use: "send NAME", Short: "Send an event to those who wait for it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if data != "" {
				v, err := a.jsonArg(data)
				if err != nil {
					return err
				}
				body.Payload = v
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			answer, err := c.SendEvent(cmd.Context(), args[0], body, apiclient.SendEventQuery{DryRun: &dry}, a.opts("")...)
			if err != nil {
				return err
			}
			if x := answer.Body.Effect; x != nil {
				return a.effect(x, answer.Bytes)
			}
			return a.sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
		},
	}
	send.Flags().StringVarP(&data, "data", "d", "", "its payload: JSON, @file, @- for standard input, or a text")
	send.Flags().StringVar(&body.CorrelationID, "correlation", "", "only those with this correlation id")
	send.Flags().StringVar(&body.InstanceID, "instance", "", "only this instance")
	send.Flags().BoolVar(&dry, "dry-run", false, "only say what it would do")
	events.AddCommand(send, a.eventsWaiting(), a.eventsTrace())
	return events
}

func (a *app) eventsWaiting() *cobra.Command {
	var p paging
	waiting := &cobra.Command{
		Use: "waiting [NAME]", Short: "Instances that wait for an event", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			waits := "event"
			if len(args) == 1 {
				waits += "/" + args[0]
			}
			return a.lists(cmd.Context(), &p, instanceView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListSummaries(cmd.Context(), apiclient.ListInstancesQuery{WaitsFor: waits, Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			})
		},
	}
	p.flags(waiting)
	return waiting
}

func (a *app) eventsTrace() *cobra.Command {
	return &cobra.Command{
		Use: "trace KEY", Short: "What became of a request, by its Idempotency-Key", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			answer, err := c.GetReceipts(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.asData() {
				return a.show(view{}, answer.Bytes)
			}
			value, err := decodeJSON(answer.Bytes)
			if err != nil {
				return err
			}
			list, _ := at(value, "receipts").([]any)
			for _, receipt := range list {
				fmt.Fprintf(a.out, "%s  %s\n", text(at(receipt, "request")), when(a, text(at(receipt, "at")), nil))
				effects, _ := at(receipt, "effects").([]any)
				if err := a.table(fateView, effects); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// sent shows what came of an event, a stimulus or a task.
func (a *app) sent(sent *apiclient.Sent, queued *apiclient.Queued, raw []byte) error {
	if a.asData() {
		return a.show(view{}, raw)
	}
	if queued != nil {
		_, err := fmt.Fprintf(a.out, "queued  %s  nothing waits for it yet\n", queued.Queued)
		return err
	}
	if sent == nil || len(sent.Outcomes) == 0 {
		_, err := fmt.Fprintln(a.out, "done")
		return err
	}
	for _, o := range sent.Outcomes {
		if _, err := fmt.Fprintf(a.out, "%s  %s\n", o.Outcome, strings.TrimSpace(o.InstanceID+"  "+o.Code)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) tasksCommand() *cobra.Command {
	tasks := &cobra.Command{Use: "tasks", Aliases: []string{"task"}, Short: "Tasks that wait for a worker outside"}
	var p paging
	var name string
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List tasks, the oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			v := view{name: "tasks/taskId", empty: "no tasks", columns: []column{
				{head: "TASK", path: "taskId"}, {head: "NAME", path: "name"}, {head: "INSTANCE", path: "instanceId"}, {head: "CREATED", path: "createdAt", show: when}, {head: "PAYLOAD", path: "payload", wide: true},
			}}
			return a.lists(cmd.Context(), &p, v, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListTasks(cmd.Context(), apiclient.ListTasksQuery{Name: name, Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			})
		},
	}
	p.flags(list)
	list.Flags().StringVar(&name, "name", "", "only of this name")
	var result string
	complete := &cobra.Command{
		Use: "complete ID", Short: "Complete a task", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := apiclient.TaskRequest{}
			if result != "" {
				v, err := a.jsonArg(result)
				if err != nil {
					return err
				}
				body.Result = v
			}
			return a.endTask(cmd.Context(), args[0], body)
		},
	}
	complete.Flags().StringVarP(&result, "result", "d", "", "its result: JSON, @file, @- for standard input, or a text")
	var why string
	fail := &cobra.Command{
		Use: "fail ID --error TEXT", Short: "Complete a task with an error", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if why == "" {
				return usage("say with --error why it failed")
			}
			return a.endTask(cmd.Context(), args[0], apiclient.TaskRequest{Error: why})
		},
	}
	fail.Flags().StringVar(&why, "error", "", "why it failed")
	tasks.AddCommand(list, complete, fail)
	return tasks
}

func (a *app) endTask(ctx context.Context, id string, body apiclient.TaskRequest) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	answer, err := c.CompleteTask(ctx, ids("tasks", []string{id})[0], body, a.opts("")...)
	if err != nil {
		return err
	}
	return a.sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
}

func (a *app) runCommand() *cobra.Command {
	var body apiclient.StartRequest
	var inputs []string
	var wait time.Duration
	var follow, exitStatus bool
	cmd := &cobra.Command{
		Use: "run DEFINITION|FILE", Short: "Start an instance; of a FILE after publishing it", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeDefinitions(),
		Example: "  weft run order-approval -i orderId=o-2 -i amount=1200 --correlation o-2 --wait 30s\n  weft run flow.yaml -i @input.json -f",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if body.Input, err = a.inputs(inputs); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			id, err := a.startable(cmd.Context(), c, args[0], &body)
			if err != nil {
				return err
			}
			var opts []apiclient.Option
			if wait >= time.Second && !follow {
				opts = append(opts, apiclient.WaitUpTo(min(wait, time.Minute)))
			}
			in, err := c.ExecuteDefinition(cmd.Context(), id, body, append(opts, a.opts("")...)...)
			if err != nil {
				return err
			}
			if follow {
				fmt.Fprintln(a.errOut, "instance", in.Body.InstanceID)
				return a.follow(cmd.Context(), c, in.Body.InstanceID, exitStatus)
			}
			if wait > 0 && in.Body.Status != "Finished" {
				if in, err = awaited(cmd.Context(), c, in.Body.InstanceID, wait); err != nil {
					return err
				}
			}
			if err := a.show(instanceFullView, in.Bytes); err != nil {
				return err
			}
			if !a.asData() && in.Body.Status == "Finished" && len(in.Body.Output) > 0 {
				fmt.Fprintln(a.out, "output", compact(in.Body.Output))
			}
			return over(&in.Body, wait, exitStatus)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&inputs, "input", "i", nil, "name=value, value as JSON, a text or @file; or @file with an object")
	f.StringVar(&body.CorrelationID, "correlation", "", "correlation id")
	f.StringVar(&body.InstanceID, "id", "", "id of the instance (default: a new one)")
	f.StringVar(&body.Name, "name", "", "name of the instance")
	f.Int64Var(&body.Version, "version", 0, "version of the definition (default: the published one)")
	f.DurationVar(&wait, "wait", 0, "wait so long for its end; exit code 6 if it is not over by then")
	f.BoolVarP(&follow, "follow", "f", false, "a line for each change until its end")
	f.BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it ends faulted or cancelled")
	return cmd
}

// startable is the id of the definition to start: that of a file is published first, as a
// draft, and its version started.
func (a *app) startable(ctx context.Context, c *apiclient.Client, arg string, body *apiclient.StartRequest) (string, error) {
	if !looksLikeFile(arg) {
		return strings.TrimPrefix(arg, "definitions/"), nil
	}
	src, err := a.readDefinition(arg)
	if err != nil {
		return "", err
	}
	made, err := c.PublishDefinition(ctx, src, apiclient.PublishDefinitionQuery{Publish: new(false)}, contentType(arg))
	if err != nil {
		return "", inFile(err, arg)
	}
	if body.Version != 0 {
		return "", usage("--version is of a published definition, and %s is a file", arg)
	}
	body.Version = made.Body.Version
	fmt.Fprintf(a.errOut, "%s v%d is a draft: it starts this instance only\n", made.Body.ID, made.Body.Version)
	return made.Body.ID, nil
}

// inFile names the file that a refusal is about.
func inFile(err error, file string) error {
	var p *apiclient.ProblemError
	if !errors.As(err, &p) || p.Status != 422 {
		return err
	}
	return named(p, file)
}

// named is a problem that names its file.
func named(p *apiclient.ProblemError, file string) *apiclient.ProblemError {
	out := *p
	out.Detail = file + ": " + p.Detail
	return &out
}

var fateView = view{columns: []column{
	{head: "INSTANCE", path: "instanceId"}, {head: "STATE", path: "state"}, {head: "OUTCOME", path: "outcome"}, {head: "CODE", path: "code"}, {head: "COMMIT", path: "commit.commit"}, {head: "DETAIL", path: "detail"},
}}
