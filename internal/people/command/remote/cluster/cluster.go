// Package cluster has the commands about the cluster: its queue, dead letters, timers, locks, jobs and nodes.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/waitflag"
	"github.com/weft-run/weft/pkg/apiclient"
)

// commands are those of this family.
type commands struct{ ask *ask.Asker }

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	a := commands{asker}
	return []*cobra.Command{a.queueCommand(), a.lettersCommand(), a.timersCommand(), a.locksCommand(), a.jobsCommand(), a.nodesCommand(), a.clusterCommand(), a.storeCommand(), a.schedulesCommand(), a.auditCommand(), a.topCommand(), a.webhooksCommand(), a.limitsCommand()}
}

func (a commands) timersCommand() *cobra.Command {
	v := ask.View{Empty: "no timers", Columns: []ask.Column{
		{Head: "DUE", Path: "dueAt", Show: ask.When}, {Head: "KIND", Path: "kind"}, {Head: "INSTANCE", Path: "instanceId"}, {Head: "DEFINITION", Path: "definitionId"}, {Head: "ACTIVITY", Path: "activityId"},
	}}
	timers := &cobra.Command{Use: "timers", Aliases: []string{"timer"}, Short: "Timers and schedules to come"}
	timers.AddCommand(a.ask.ListCommand("List them, the next first", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		return ask.BytesOf(c.ListTimers(ctx, apiclient.ListTimersQuery{Limit: limit, Cursor: cursor}))
	}))
	return timers
}

func (a commands) locksCommand() *cobra.Command {
	v := ask.View{Name: "locks/name", Empty: "no locks are held", Columns: []ask.Column{
		{Head: "LOCK", Path: "name"}, {Head: "HOLDER", Path: "holder"}, {Head: "FENCE", Path: "fence"}, {Head: "SINCE", Path: "since", Show: ask.When}, {Head: "WAITERS", Path: "waiters", Show: func(_ *ask.Asker, v, _ any) string {
			list, _ := v.([]any)
			var out []string
			for _, w := range list {
				out = append(out, ask.Text(ask.At(w, "nodeId")))
			}
			if out == nil {
				return "-"
			}
			return strings.Join(out, ", ")
		}},
	}}
	locks := &cobra.Command{Use: "locks", Aliases: []string{"lock"}, Short: "Locks that are held, with who waits"}
	var scope string
	list := a.ask.ListCommand("List them, waiters in the order in which they get it", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		return ask.BytesOf(c.ListLocks(ctx, apiclient.ListLocksQuery{Scope: scope, Limit: limit, Cursor: cursor}))
	})
	list.Flags().StringVar(&scope, "scope", "", "only of this scope")
	locks.AddCommand(list, a.lockShow())
	return locks
}

// lockShow shows a lock, the nodes that wait for it, and since when. It is asked for among all of its
// kind: what the API has of locks is a list at one revision.
func (a commands) lockShow() *cobra.Command {
	return ask.Watched(&cobra.Command{
		Use: "show NAME", Short: "One lock: its holder, its fence, and who waits for it, since when", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("locks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(args[0], "locks/")
			spelt := strings.Replace(name, "/", " ", 1) // scope/ID needs no quotes in a shell
			return a.ask.Repeated(cmd.Context(), func() error {
				for l, err := range c.AllLocks(cmd.Context(), apiclient.ListLocksQuery{Limit: ask.MaxPage}) {
					if err != nil {
						return err
					}
					if l.Name == name || l.Name == spelt {
						return a.lock(l, a.worked(cmd.Context(), c, l.Name))
					}
				}
				return ask.Exit(ask.ExitRefused, fmt.Errorf("nobody holds or wants the lock %q; weft locks list shows those that are held", name))
			})
		},
	})
}

// worked tells what the holder of an instance's lock does with it; nil of another lock, and where it cannot be told.
func (a commands) worked(ctx context.Context, c *apiclient.Client, lock string) *apiclient.Explanation {
	id, ok := strings.CutPrefix(lock, "instance ")
	if !ok || a.ask.AsData() {
		return nil
	}
	x, err := c.ExplainInstance(ctx, id)
	if err != nil {
		return nil
	}
	return &x.Body
}

func (a commands) lock(l apiclient.Lock, does *apiclient.Explanation) error {
	if a.ask.AsData() {
		raw, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return a.ask.Show(ask.View{}, raw)
	}
	text := fmt.Sprintf("%s  held by %s  fence %d", ask.OneLine(l.Name), ask.Deref(l.Holder), l.Fence)
	if since := a.ask.Moment(l.Since); since != "" {
		text += "  since " + since
	}
	if does != nil && does.Doing != nil {
		text += fmt.Sprintf("  (%s %s since %s)", ask.OneLine(does.Doing.ActivityType), ask.OneLine(does.Doing.ActivityID), a.ask.Moment(&does.Doing.Since))
	}
	for i, w := range l.Waiters {
		text += fmt.Sprintf("\n  %d. %s  fence %d", i+1, ask.Deref(w.NodeID), w.Fence)
		if since := a.ask.Moment(w.Since); since != "" {
			text += "  waits since " + since
		}
	}
	if does != nil {
		if n := int64(len(does.Mail)) + does.MailLeft; n > 0 {
			text += fmt.Sprintf("\n  mailbox: %d commands ride in the next commits", n)
		}
	}
	_, err := fmt.Fprintln(a.ask.Out, text)
	return err
}

func (a commands) jobsCommand() *cobra.Command {
	v := ask.View{Name: "jobs/id", Empty: "no jobs", Columns: []ask.Column{
		{Head: "JOB", Path: "id"}, {Head: "KIND", Path: "kind"}, {Head: "STATE", Path: "state"}, {Head: "QUERY", Path: "query"}, {Head: "WHAT CAME OF IT", Path: "report"}, {Head: "CREATED", Path: "createdAt", Show: ask.When}, {Head: "BY", Path: "by", Wide: true},
	}}
	jobs := &cobra.Command{Use: "jobs", Aliases: []string{"job"}, Short: "What is done to all instances of a filter; and run, one task as a job of its own"}
	jobs.AddCommand(
		a.ask.ListCommand("List jobs", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			return ask.BytesOf(c.ListJobs(ctx, apiclient.ListJobsQuery{Limit: limit, Cursor: cursor}))
		}),
		a.ask.ShowCommand("get ID", "One job", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return ask.BytesOf(c.GetJob(ctx, id))
		}),
		&cobra.Command{
			Use: "cancel ID...", Short: "Let jobs go no further; what was done stays done", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.ask.Completes("jobs"),
			RunE: func(cmd *cobra.Command, args []string) error {
				c, err := a.ask.Client()
				if err != nil {
					return err
				}
				return a.ask.Each("jobs", args, func(id string, _ []apiclient.Option) error {
					job, err := c.CancelJob(cmd.Context(), id)
					if err != nil {
						return err
					}
					return a.ask.Done(nil, false, job.Body.State, "%s", id)
				})
			},
		},
		a.ask.DeleteCommand("jobs", "Forget jobs that have ended", func(ctx context.Context, c *apiclient.Client, id string) error {
			_, err := c.DeleteJob(ctx, id)
			return err
		}))
	return jobs
}

var nodeView = ask.View{Name: "nodes/nodeId", Empty: "no live nodes", Columns: []ask.Column{
	{Head: "NODE", Path: "nodeId"}, {Head: "ADDRESS", Path: "address"}, {Head: "VERSION", Path: "version"}, {Head: "STATE", Path: "draining", Show: func(_ *ask.Asker, _, row any) string {
		late, isLate := ask.At(row, "lateSeconds").(json.Number)
		seconds, _ := late.Float64()
		return nodeState(ask.At(row, "draining") == true, ask.At(row, "paused") == true, isLate, seconds)
	}}, {Head: "STARTED", Path: "startedAt", Show: ask.When}, {Head: "SEEN", Path: "seenAt", Show: ask.When}, {Head: "EPOCH", Path: "epoch", Wide: true}, {Head: "CATALOG", Path: "catalogRevision", Wide: true},
}}

// nodeState is a word for what a node does. Of one whose heartbeat is late nobody knows that it works.
func nodeState(draining, paused, late bool, seconds float64) string {
	switch {
	case late:
		return fmt.Sprintf("late %ds", int(seconds))
	case draining:
		return "draining"
	case paused:
		return "paused"
	}
	return "working"
}

func (a commands) nodesCommand() *cobra.Command {
	nodes := &cobra.Command{Use: "nodes", Aliases: []string{"node"}, Short: "The live nodes"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the live nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Repeated(cmd.Context(), func() error {
				raw, err := ask.BytesOf(c.ListNodes(cmd.Context()))
				if err != nil {
					return err
				}
				return a.ask.Show(nodeView, raw)
			}, "cluster")
		},
	}
	ask.Watched(list)
	show := a.ask.ShowCommand("show ID", "One node", nodeView, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
		n, err := nodeOf(ctx, c, id)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return nil, noNode(id)
		}
		return json.Marshal(n)
	})
	var wait time.Duration
	drain := &cobra.Command{
		Use: "drain ID", Short: "End a node as SIGTERM does: it finishes what it runs", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("nodes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("nodes", args)[0]
			if err := a.ask.Confirm("drain %s", id); err != nil {
				return err
			}
			answer, err := c.DrainNode(cmd.Context(), id, a.ask.Opts()...)
			if err != nil {
				return err
			}
			if wait == 0 {
				return a.ask.Done(answer.Bytes, false, "draining", "%s", id)
			}
			return a.drained(cmd.Context(), c, id, wait)
		},
	}
	waitflag.Add(drain, &wait, time.Minute, "wait so long for its end; exit code 6 if it is still there")
	nodes.AddCommand(list, show, drain)
	return nodes
}

func noNode(id string) error {
	return ask.Exit(ask.ExitRefused, fmt.Errorf("there is no live node %q; weft nodes list has them", id))
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
func (a commands) drained(ctx context.Context, c *apiclient.Client, id string, wait time.Duration) error {
	began, itself, told := time.Now(), false, ""
	for look := 0; ; look++ {
		n, err := nodeOf(ctx, c, id)
		itself = itself || err == nil && n != nil && n.Self
		var lost *apiclient.NoAnswerError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &lost) && itself:
			return a.ask.Done(nil, false, "it answers no more, after "+ask.Short(time.Since(began)), "%s", id)
		case err != nil && time.Since(began) > wait:
			return err
		case err == nil && n == nil:
			return a.ask.Done(nil, false, "ended after "+ask.Short(time.Since(began)), "%s", id)
		case time.Since(began) > wait:
			return ask.Exit(ask.ExitNotOver, fmt.Errorf("%s still drains after %v%s", id, wait, told))
		case err == nil && look%5 == 0: // once a second
			if m, err := c.GetMeters(ctx, id); err == nil { // which it may answer no more
				if now := fmt.Sprintf(": it works %d instances, holds %d locks and answers %d requests", m.Body.Working, m.Body.Locks, m.Body.InFlight); now != told {
					told = now
					a.ask.Note(id + " drains" + told)
				}
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a commands) clusterCommand() *cobra.Command {
	cluster := &cobra.Command{Use: "cluster", Short: "The cluster as a whole: status, balance, pause"}
	pausing := func(use, short, did string, do func(ctx context.Context, c *apiclient.Client) ([]byte, error)) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				c, err := a.ask.Client()
				if err != nil {
					return err
				}
				if use == "pause" { // going on destroys nothing
					if err := a.ask.Confirm("%s the cluster", use); err != nil {
						return err
					}
				}
				raw, err := do(cmd.Context(), c)
				if err != nil {
					return err
				}
				return a.ask.Done(raw, false, did, "cluster")
			},
		}
	}
	cluster.AddCommand(a.statusCommand(), a.balanceCommand(),
		pausing("pause", "Stop new work on all nodes: starts, events, timers, the queue", "paused", func(ctx context.Context, c *apiclient.Client) ([]byte, error) {
			return ask.BytesOf(c.Pause(ctx, a.ask.Opts()...))
		}),
		pausing("unpause", "Go on after a pause", "goes on", func(ctx context.Context, c *apiclient.Client) ([]byte, error) {
			return ask.BytesOf(c.Unpause(ctx, a.ask.Opts()...))
		}))
	return cluster
}

func (a commands) statusCommand() *cobra.Command {
	return ask.Watched(&cobra.Command{
		Use: "status", Short: "Nodes, whether the one that is asked is ready, and what is wrong with etcd; exit code 1 if it is not ready or etcd does not work", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			var notReady error
			err = a.ask.Repeated(cmd.Context(), func() error {
				ready, err := c.Ready(cmd.Context(), apiclient.ReadyQuery{})
				var p *apiclient.ProblemError
				if notReady = nil; errors.As(err, &p) {
					notReady = ask.Exit(ask.ExitBad, errors.New(p.Detail))
				} else if err != nil {
					return err
				}
				etcd, err := c.GetEtcd(cmd.Context())
				if err == nil && etcd.Body.State == "down" && notReady == nil { // a node of an older version does not tell
					notReady = ask.Exit(ask.ExitBad, nil)
				}
				nodes, err := ask.BytesOf(c.ListNodes(cmd.Context()))
				if err != nil {
					a.tellTroubles(etcd)
					return err
				}
				if !a.ask.AsData() && ready != nil {
					fmt.Fprintf(a.ask.Out, "%s  %s  asked at %s\n", ready.Body.NodeID, ready.Body.Status, c.Server())
				}
				a.tellTroubles(etcd)
				return a.ask.Show(nodeView, nodes)
			}, "cluster")
			return errors.Join(err, notReady)
		},
	})
}

// tellTroubles says what is wrong with etcd, with the list or, where that is for a program, beside it.
func (a commands) tellTroubles(etcd *apiclient.Answer[apiclient.Etcd]) {
	if etcd == nil {
		return
	}
	for _, t := range etcd.Body.Troubles {
		if line := fmt.Sprintf("etcd is %s: %s", t.State, t.Text); a.ask.AsData() {
			a.ask.Note(line)
		} else {
			fmt.Fprintln(a.ask.Out, ask.Printable(line))
		}
	}
}

func (a commands) balanceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "balance", Short: "What was accepted, and what became of it; exit code 1 if something vanished", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			b, err := c.GetBalance(cmd.Context())
			if err != nil {
				return err
			}
			if x := &b.Body; a.ask.AsData() {
				err = a.ask.Show(ask.View{}, b.Bytes)
			} else {
				_, err = fmt.Fprintf(a.ask.Out, "accepted %d = applied %d + refused %d + deleted %d + set aside %d + mailboxes %d + queue %d + sends %d + dead letters %d\ndifference %d      revision %d, since %s\n",
					x.Accepted, x.Applied, x.Refused, x.Deleted, x.SetAside, x.Mailboxes, x.Queue, x.Sends, x.DeadLetters, x.Difference, x.Revision, a.ask.Moment(&x.Since))
				for _, m := range x.Missing {
					fmt.Fprintf(a.ask.Out, "missing %s  revision %d\n", m.Key, m.Revision)
				}
			}
			if err == nil && b.Body.Difference != 0 {
				return ask.Exit(ask.ExitBad, fmt.Errorf("%d accepted commands have vanished; see docs/runbooks/balance-difference.md", b.Body.Difference))
			}
			return err
		},
	}
}
