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

func (a *app) clusterCommands() []*cobra.Command {
	return []*cobra.Command{a.queueCommand(), a.lettersCommand(), a.timersCommand(), a.locksCommand(), a.jobsCommand(), a.nodesCommand(), a.clusterCommand()}
}

// listCommand is a command that lists what one route gives, page by page.
func (a *app) listCommand(short string, v view, fetch func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error)) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.lists(cmd.Context(), &p, v, func(limit int64, cursor string) ([]byte, error) {
				return fetch(cmd.Context(), c, limit, cursor)
			})
		},
	}
	p.flags(cmd)
	return cmd
}

// bytesOf gives the bytes of an answer.
func bytesOf[T any](answer *apiclient.Answer[T], err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return answer.Bytes, nil
}

// showCommand is a command that shows one thing.
func (a *app) showCommand(use, short string, v view, fetch func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error)) *cobra.Command {
	kind, _, _ := strings.Cut(v.name, "/")
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.repeated(cmd.Context(), func() error {
				raw, err := fetch(cmd.Context(), c, ids(kind, args)[0])
				if err != nil {
					return err
				}
				if !a.asData() && a.output != "name" && len(a.columns) == 0 {
					value, err := decodeJSON(raw)
					if err != nil {
						return err
					}
					return a.tree(value, "")
				}
				return a.show(v, raw)
			})
		},
	}
}

// tree shows one thing as lines of name and value, what is inside further right.
func (a *app) tree(value any, indent string) error {
	object, ok := value.(map[string]any)
	if !ok {
		_, err := fmt.Fprintf(a.out, "%s%s\n", indent, oneLineOf(text(value), 2000))
		return err
	}
	for _, name := range sortedKeys(object) {
		v := object[name]
		if inner, ok := v.(map[string]any); ok && len(inner) > 0 {
			if _, err := fmt.Fprintf(a.out, "%s%s\n", indent, name); err != nil {
				return err
			}
			if err := a.tree(inner, indent+"  "); err != nil {
				return err
			}
			continue
		}
		shown := text(v)
		if strings.HasSuffix(name, "At") || name == "since" || name == "at" {
			shown = when(a, v, nil)
		}
		if shown == "-" || shown == "[]" || shown == "{}" {
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%s%-*s  %s\n", indent, 18-len(indent), name, oneLineOf(shown, 2000)); err != nil {
			return err
		}
	}
	return nil
}

// deleteCommand removes things by their ids.
func (a *app) deleteCommand(kind, short string, do func(ctx context.Context, c *apiclient.Client, id string) error) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID...", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.each(kind, args, func(id, _ string) error {
				if err := do(cmd.Context(), c, id); err != nil {
					return err
				}
				return a.done(nil, false, "deleted", "%s", id)
			})
		},
	}
}

// editFlags are what a stimulus may be sent again with.
func editFlags(cmd *cobra.Command) func(a *app) (apiclient.EditRequest, error) {
	f := cmd.Flags()
	correlation := f.String("correlation", "", "with another correlation id; empty: none")
	instance := f.String("instance", "", "to this instance only; empty: to all who wait for it")
	name := f.String("name", "", "as another event")
	data := f.StringP("data", "d", "", "with another payload: JSON, @file, @- or a text")
	return func(a *app) (apiclient.EditRequest, error) {
		var body apiclient.EditRequest
		for flag, to := range map[string]struct {
			value *string
			field **string
		}{"correlation": {correlation, &body.CorrelationID}, "instance": {instance, &body.InstanceID}, "name": {name, &body.Name}} {
			if f.Changed(flag) {
				*to.field = to.value
			}
		}
		if f.Changed("data") {
			v, err := a.jsonArg(*data)
			if err != nil {
				return body, err
			}
			body.Payload = v
		}
		return body, nil
	}
}

func (a *app) queueCommand() *cobra.Command {
	v := view{name: "queue/id", empty: "the queue is empty", columns: []column{
		{head: "ID", path: "id"}, {head: "EVENT", path: "name"}, {head: "TYPE", path: "activityType", wide: true}, {head: "CORRELATION", path: "correlationId"},
		{head: "INSTANCE", path: "instanceId"}, {head: "GATED", path: "gated"}, {head: "CREATED", path: "createdAt", show: when}, {head: "EXPIRES", path: "expiresAt", show: when},
	}}
	queue := &cobra.Command{Use: "queue", Short: "Stimuli that nothing waits for yet"}
	send := &cobra.Command{Use: "send ID", Short: "Take one out of the queue and send it again, edited", Args: cobra.ExactArgs(1)}
	edited := editFlags(send)
	send.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := edited(a)
		if err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		answer, err := c.SendQueueItem(cmd.Context(), ids("queue", args)[0], body, a.opts("")...)
		if err != nil {
			return err
		}
		return a.sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
	}
	queue.AddCommand(
		a.listCommand("List the queue, the oldest first", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			return bytesOf(c.ListQueue(ctx, apiclient.ListQueueQuery{Limit: limit, Cursor: cursor}))
		}),
		a.showCommand("show ID", "One, with what it brings and whom it would reach now", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return bytesOf(c.GetQueueItem(ctx, id))
		}),
		send,
		a.deleteCommand("queue", "Forget stimuli of the queue", func(ctx context.Context, c *apiclient.Client, id string) error {
			_, err := c.DeleteQueueItem(ctx, id)
			return err
		}),
	)
	return queue
}

func (a *app) lettersCommand() *cobra.Command {
	v := view{name: "dead-letters/id", empty: "no dead letters", columns: []column{
		{head: "ID", path: "id"}, {head: "REASON", path: "reason"}, {head: "EVENT", path: "name"}, {head: "CORRELATION", path: "correlationId"}, {head: "INSTANCE", path: "instanceId"},
		{head: "TYPE", path: "activityType", wide: true}, {head: "CREATED", path: "createdAt", show: when}, {head: "DETAIL", path: "detail"},
	}}
	letters := &cobra.Command{Use: "dead-letters", Aliases: []string{"dead-letter", "letters"}, Short: "Work that could not be done"}
	var q apiclient.ListDeadLettersQuery
	list := a.listCommand("List dead letters, with the reason", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		q.Limit, q.Cursor = limit, cursor
		return bytesOf(c.ListDeadLetters(ctx, q))
	})
	list.Flags().StringVar(&q.Reason, "reason", "", "only with this reason")
	list.Flags().StringVar(&q.Name, "name", "", "only of this event")
	list.Flags().StringVar(&q.CorrelationID, "correlation", "", "only with this correlation id")
	list.Flags().StringVar(&q.InstanceID, "instance", "", "only of this instance")
	letters.AddCommand(list,
		a.showCommand("show ID", "One, with what it brings and whom it would reach now", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return bytesOf(c.GetDeadLetter(ctx, id))
		}),
		a.replayCommand(), a.lettersDelete())
	return letters
}

// lettersFilter are the flags of what may be done to all dead letters of a filter.
func lettersFilter(cmd *cobra.Command) *apiclient.LettersRequest {
	body := &apiclient.LettersRequest{}
	f := cmd.Flags()
	f.BoolVar(&body.All, "all", false, "all dead letters, or with the filters below all of these")
	f.StringVar(&body.Reason, "reason", "", "all with this reason")
	f.StringVar(&body.ActivityType, "type", "", "all of this type of activity")
	return body
}

func anyFilter(b *apiclient.LettersRequest) bool {
	return b.All || b.Reason != "" || b.ActivityType != ""
}

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "replay ID...|--all|--reason REASON", Short: "Do the work of dead letters again, of a single one also edited", Args: cobra.ArbitraryArgs}
	filter, edited := lettersFilter(cmd), editFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if anyFilter(filter) == (len(args) > 0) {
			return usage("give ids, or --all, --reason or --type")
		}
		body, err := edited(a)
		if err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			if err := a.confirm("replay all dead letters of the filter"); err != nil {
				return err
			}
			return a.letters(*filter, "replayed", func(b apiclient.LettersRequest) (*apiclient.Answer[apiclient.Several], error) {
				return c.ReplayDeadLetters(cmd.Context(), apiclient.ReplayLettersRequest{
					Reason: b.Reason, Name: b.Name, ActivityType: b.ActivityType, CorrelationID: b.CorrelationID, InstanceID: b.InstanceID, Before: b.Before, All: b.All, Limit: b.Limit, Cursor: b.Cursor,
				}, a.opts("")...)
			})
		}
		return a.each("dead-letters", args, func(id, part string) error {
			answer, err := c.ReplayDeadLetter(cmd.Context(), id, body, a.opts(part)...)
			if err != nil {
				return err
			}
			return a.sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
		})
	}
	return cmd
}

func (a *app) lettersDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID...|--all|--reason REASON", Short: "Forget dead letters", Args: cobra.ArbitraryArgs}
	filter := lettersFilter(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if anyFilter(filter) == (len(args) > 0) {
			return usage("give ids, or --all, --reason or --type")
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		if err := a.confirm("delete %s", map[bool]string{true: "all dead letters of the filter", false: strings.Join(args, ", ")}[len(args) == 0]); err != nil {
			return err
		}
		if len(args) == 0 {
			return a.letters(*filter, "deleted", func(b apiclient.LettersRequest) (*apiclient.Answer[apiclient.Several], error) {
				return c.DeleteDeadLetters(cmd.Context(), b)
			})
		}
		return a.each("dead-letters", args, func(id, _ string) error {
			if _, err := c.DeleteDeadLetter(cmd.Context(), id); err != nil {
				return err
			}
			return a.done(nil, false, "deleted", "%s", id)
		})
	}
	return cmd
}

// letters does something to all dead letters of a filter, page by page.
func (a *app) letters(body apiclient.LettersRequest, did string, do func(apiclient.LettersRequest) (*apiclient.Answer[apiclient.Several], error)) error {
	body.Limit = maxPage
	done, refused := 0, 0
	for {
		answer, err := do(body)
		if err != nil {
			return err
		}
		done += len(answer.Body.Done)
		refused += len(answer.Body.Refused)
		for _, r := range answer.Body.Refused {
			fmt.Fprintf(a.errOut, "weft: %s: %s (%s)\n", r.ID, r.Detail, r.Code)
		}
		if answer.Body.NextCursor == nil {
			break
		}
		body.Cursor = *answer.Body.NextCursor
	}
	fmt.Fprintf(a.out, "%s %d, refused %d\n", did, done, refused)
	if refused > 0 {
		return &exitError{ExitRefused, nil}
	}
	return nil
}

func (a *app) timersCommand() *cobra.Command {
	v := view{empty: "no timers", columns: []column{
		{head: "DUE", path: "dueAt", show: when}, {head: "KIND", path: "kind"}, {head: "INSTANCE", path: "instanceId"}, {head: "DEFINITION", path: "definitionId"}, {head: "ACTIVITY", path: "activityId"},
	}}
	timers := &cobra.Command{Use: "timers", Aliases: []string{"timer"}, Short: "Timers and schedules to come"}
	timers.AddCommand(a.listCommand("List them, the next first", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		return bytesOf(c.ListTimers(ctx, apiclient.ListTimersQuery{Limit: limit, Cursor: cursor}))
	}))
	return timers
}

func (a *app) locksCommand() *cobra.Command {
	v := view{name: "locks/name", empty: "no locks are held", columns: []column{
		{head: "LOCK", path: "name"}, {head: "HOLDER", path: "holder"}, {head: "FENCE", path: "fence"}, {head: "SINCE", path: "since", show: when}, {head: "WAITERS", path: "waiters", show: func(_ *app, v, _ any) string {
			list, _ := v.([]any)
			var out []string
			for _, w := range list {
				out = append(out, text(at(w, "nodeId")))
			}
			if out == nil {
				return "-"
			}
			return strings.Join(out, ", ")
		}},
	}}
	locks := &cobra.Command{Use: "locks", Aliases: []string{"lock"}, Short: "Locks that are held, with who waits"}
	var scope string
	list := a.listCommand("List them, waiters in the order in which they get it", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		return bytesOf(c.ListLocks(ctx, apiclient.ListLocksQuery{Scope: scope, Limit: limit, Cursor: cursor}))
	})
	list.Flags().StringVar(&scope, "scope", "", "only of this scope")
	locks.AddCommand(list)
	return locks
}

func (a *app) jobsCommand() *cobra.Command {
	v := view{name: "jobs/id", empty: "no jobs", columns: []column{
		{head: "JOB", path: "id"}, {head: "KIND", path: "kind"}, {head: "STATE", path: "state"}, {head: "QUERY", path: "query"}, {head: "DONE", path: "done"}, {head: "ACCEPTED", path: "accepted"},
		{head: "REFUSED", path: "refused"}, {head: "CREATED", path: "createdAt", show: when}, {head: "BY", path: "by", wide: true},
	}}
	jobs := &cobra.Command{Use: "jobs", Aliases: []string{"job"}, Short: "What is done to all instances of a filter"}
	jobs.AddCommand(
		a.listCommand("List jobs", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			return bytesOf(c.ListJobs(ctx, apiclient.ListJobsQuery{Limit: limit, Cursor: cursor}))
		}),
		a.showCommand("get ID", "One job", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return bytesOf(c.GetJob(ctx, id))
		}),
		a.deleteCommand("jobs", "End jobs, and forget those that have ended", func(ctx context.Context, c *apiclient.Client, id string) error {
			_, err := c.DeleteJob(ctx, id)
			return err
		}))
	return jobs
}

var nodeView = view{name: "nodes/nodeId", empty: "no live nodes", columns: []column{
	{head: "NODE", path: "nodeId"}, {head: "ADDRESS", path: "address"}, {head: "VERSION", path: "version"}, {head: "STATE", path: "draining", show: func(_ *app, _, row any) string {
		switch {
		case at(row, "draining") == true:
			return "draining"
		case at(row, "paused") == true:
			return "paused"
		}
		return "working"
	}}, {head: "STARTED", path: "startedAt", show: when}, {head: "SEEN", path: "seenAt", show: when}, {head: "EPOCH", path: "epoch", wide: true}, {head: "CATALOG", path: "catalogRevision", wide: true},
}}

func (a *app) nodesCommand() *cobra.Command {
	nodes := &cobra.Command{Use: "nodes", Aliases: []string{"node"}, Short: "The live nodes"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the live nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.repeated(cmd.Context(), func() error {
				raw, err := bytesOf(c.ListNodes(cmd.Context()))
				if err != nil {
					return err
				}
				return a.show(nodeView, raw)
			})
		},
	}
	show := a.showCommand("show ID", "One node", nodeView, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		n, err := nodeOf(ctx, c, id)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return nil, noNode(id)
		}
		return encoded(n)
	})
	var wait time.Duration
	drain := &cobra.Command{
		Use: "drain ID", Short: "End a node as SIGTERM does: it finishes what it runs", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id := ids("nodes", args)[0]
			if err := a.confirm("drain %s", id); err != nil {
				return err
			}
			answer, err := c.DrainNode(cmd.Context(), id, a.opts("")...)
			if err != nil {
				return err
			}
			if wait == 0 {
				return a.done(answer.Bytes, false, "draining", "%s", id)
			}
			return a.drained(cmd.Context(), c, id, wait)
		},
	}
	drain.Flags().DurationVar(&wait, "wait", 0, "wait so long for its end (alone: 60s); exit code 6 if it is still there")
	drain.Flags().Lookup("wait").NoOptDefVal = "60s"
	nodes.AddCommand(list, show, drain)
	return nodes
}

func noNode(id string) error {
	return &exitError{ExitRefused, fmt.Errorf("there is no live node %q; weft nodes list has them", id)}
}

// nodeOf is a live node, nil if there is none.
func nodeOf(ctx context.Context, c *apiclient.Client, id string) (*apiclient.Node, error) {
	all, err := c.ListNodes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all.Body.Items {
		if all.Body.Items[i].NodeID == id {
			return &all.Body.Items[i], nil
		}
	}
	return nil, nil
}

// drained waits until a node is gone. That it answers no more is its end too, where it is the
// one that is asked.
func (a *app) drained(ctx context.Context, c *apiclient.Client, id string, wait time.Duration) error {
	began, itself := time.Now(), false
	for {
		n, err := nodeOf(ctx, c, id)
		itself = itself || err == nil && n != nil && n.Self
		var lost *apiclient.NoAnswerError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &lost) && itself:
			return a.done(nil, false, "it answers no more, after "+short(time.Since(began)), "%s", id)
		case err != nil && time.Since(began) > wait:
			return err
		case err == nil && n == nil:
			return a.done(nil, false, "ended after "+short(time.Since(began)), "%s", id)
		case time.Since(began) > wait:
			return &exitError{ExitNotOver, fmt.Errorf("%s still drains after %v", id, wait)}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a *app) clusterCommand() *cobra.Command {
	cluster := &cobra.Command{Use: "cluster", Short: "The cluster as a whole: status, balance, pause"}
	pausing := func(use, short, did string, do func(ctx context.Context, c *apiclient.Client) ([]byte, error)) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				c, err := a.client()
				if err != nil {
					return err
				}
				if err := a.confirm("%s the cluster", use); err != nil {
					return err
				}
				raw, err := do(cmd.Context(), c)
				if err != nil {
					return err
				}
				return a.done(raw, false, did, "cluster")
			},
		}
	}
	cluster.AddCommand(a.statusCommand(), a.balanceCommand(),
		pausing("pause", "Stop new work on all nodes: starts, events, timers, the queue", "paused", func(ctx context.Context, c *apiclient.Client) ([]byte, error) {
			return bytesOf(c.Pause(ctx, a.opts("")...))
		}),
		pausing("unpause", "Go on after a pause", "goes on", func(ctx context.Context, c *apiclient.Client) ([]byte, error) {
			return bytesOf(c.Unpause(ctx, a.opts("")...))
		}))
	return cluster
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Nodes, and whether the one that is asked is ready; exit code 1 if not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			var notReady error
			err = a.repeated(cmd.Context(), func() error {
				ready, err := c.Ready(cmd.Context())
				var p *apiclient.ProblemError
				if notReady = nil; errors.As(err, &p) {
					notReady = &exitError{ExitBad, errors.New(p.Detail)}
				} else if err != nil {
					return err
				}
				nodes, err := bytesOf(c.ListNodes(cmd.Context()))
				if err != nil {
					return err
				}
				if !a.asData() && ready != nil {
					fmt.Fprintf(a.out, "%s  %s  asked at %s\n", ready.Body.NodeID, ready.Body.Status, a.server)
				}
				return a.show(nodeView, nodes)
			})
			return errors.Join(err, notReady)
		},
	}
}

func (a *app) balanceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "balance", Short: "What was accepted, and what became of it; exit code 1 if something vanished", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			b, err := c.GetBalance(cmd.Context())
			if err != nil {
				return err
			}
			if x := &b.Body; a.asData() {
				err = a.show(view{}, b.Bytes)
			} else {
				_, err = fmt.Fprintf(a.out, "accepted %d = applied %d + refused %d + deleted %d + set aside %d + mailboxes %d + queue %d + sends %d + dead letters %d\ndifference %d      revision %d, since %s\n",
					x.Accepted, x.Applied, x.Refused, x.Deleted, x.SetAside, x.Mailboxes, x.Queue, x.Sends, x.DeadLetters, x.Difference, x.Revision, a.moment(&x.Since))
				for _, m := range x.Missing {
					fmt.Fprintf(a.out, "missing %s  revision %d\n", m.Key, m.Revision)
				}
			}
			if err == nil && b.Body.Difference != 0 {
				return &exitError{ExitBad, fmt.Errorf("%d accepted commands have vanished; see docs/runbooks/balance-difference.md", b.Body.Difference)}
			}
			return err
		},
	}
}
