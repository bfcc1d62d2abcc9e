package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// measureFor is how long a single look waits for a second count of the balance: a node counts every
// 10 seconds while there is something to count.
const measureFor = 11 * time.Second

func (a commands) topCommand() *cobra.Command {
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "top", Short: "The cluster at a glance, again and again: nodes, rates, what waits and for how long", Args: cobra.NoArgs,
		Long: "The cluster at a glance, again and again until interrupted. Rates are of the whole cluster, from the balance, which is counted\n" +
			"every 10 seconds while something happens; --once measures them for up to 11 seconds. Commits are those of the last seconds, and hot the\n" +
			"instances with the most of them; WORKS is how many instances a node works at the moment. LAG is how many revisions of etcd a node's\n" +
			"definitions are behind those of the node that knows most.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if every < 100*time.Millisecond {
				return ask.Usage("--every must be 100ms or more")
			}
			t := top{api: c}
			if once {
				if err := t.measure(cmd.Context(), measureFor); err != nil {
					return err
				}
				return a.topShow(&t, "")
			}
			screen := ""
			if ask.IsTerminal(a.ask.Out) {
				screen = "\x1b[H\x1b[2J"
			}
			ctx := cmd.Context()
			for {
				err := t.look(ctx)
				switch {
				case ctx.Err() != nil:
					return nil //nolint:nilerr // it was interrupted, as it is to end
				case err != nil && t.At.IsZero(): // nothing was ever seen
					return err
				}
				t.Error = ""
				if err != nil { // a node that restarts, say
					t.Error = a.ask.Explained(err)
				}
				if err := a.topShow(&t, screen); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(every):
				}
			}
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "look once and end")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "look so often")
	return cmd
}

// top is what was seen of a cluster.
type top struct {
	api *apiclient.Client

	At       time.Time            `json:"at"`
	Error    string               `json:"error,omitempty"`   // why the last look failed: the rest is older
	Accepted *float64             `json:"acceptedPerSecond"` // null: not known yet
	Applied  *float64             `json:"appliedPerSecond"`
	Balance  *apiclient.Balance   `json:"balance"`
	Stats    *apiclient.Stats     `json:"stats"`
	Nodes    []apiclient.Node     `json:"nodes"`
	Task     *apiclient.Task      `json:"oldestTask"`   // of the first 500
	Queued   *apiclient.QueueItem `json:"oldestQueued"` // of the first 500
	Timer    *apiclient.TimerItem `json:"nextTimer"`
	Locks    []apiclient.Lock     `json:"waitedFor"` // locks that nodes wait for, of the first 500
	Meters   []apiclient.Meters   `json:"meters"`    // of the nodes that could be asked
}

// measure looks until the balance was counted again, so that there are rates, or until the time is over: then
// nothing happens.
func (t *top) measure(ctx context.Context, most time.Duration) error {
	for began := time.Now(); ; {
		if err := t.look(ctx); err != nil || t.Applied != nil {
			return err
		}
		if time.Since(began) > most {
			t.Accepted, t.Applied = new(0.0), new(0.0)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (t *top) look(ctx context.Context) error {
	balance, err := t.api.GetBalance(ctx)
	if err != nil {
		return err
	}
	if before, now := t.Balance, &balance.Body; before != nil && now.At.After(before.At) {
		seconds := now.At.Sub(before.At).Seconds()
		t.Accepted, t.Applied = new(float64(now.Accepted-before.Accepted)/seconds), new(float64(now.Applied-before.Applied)/seconds)
	}
	t.Balance = &balance.Body
	stats, err := t.api.GetStats(ctx, apiclient.GetStatsQuery{})
	if err != nil {
		return err
	}
	nodes, err := t.api.ListNodes(ctx)
	if err != nil {
		return err
	}
	t.Stats, t.Nodes = &stats.Body, nodes.Body.Items
	tasks, err := t.api.ListTasks(ctx, apiclient.ListTasksQuery{Limit: ask.MaxPage}) // they come name by name
	if err != nil {
		return err
	}
	slices.SortFunc(tasks.Body.Items, func(a, b apiclient.Task) int { return a.CreatedAt.Compare(b.CreatedAt) })
	t.Task = first(tasks.Body.Items)
	timers, err := t.api.ListTimers(ctx, apiclient.ListTimersQuery{Limit: 1})
	if err != nil {
		return err
	}
	t.Timer = first(timers.Body.Items)
	queue, err := t.api.ListQueue(ctx, apiclient.ListQueueQuery{Limit: ask.MaxPage})
	if err != nil {
		return err
	}
	slices.SortFunc(queue.Body.Items, func(a, b apiclient.QueueItem) int { return a.CreatedAt.Compare(b.CreatedAt) })
	t.Queued = first(queue.Body.Items)
	locks, err := t.api.ListLocks(ctx, apiclient.ListLocksQuery{Limit: ask.MaxPage})
	if err != nil {
		return err
	}
	t.Locks = slices.DeleteFunc(locks.Body.Items, func(l apiclient.Lock) bool { return len(l.Waiters) == 0 })
	meters, err := t.api.ListMeters(ctx)
	var p *apiclient.ProblemError
	switch {
	case err == nil:
		t.Meters = meters.Body.Items
	case !errors.As(err, &p) || p.Status != http.StatusNotFound: // a node of a version without
		return err
	}
	t.At = time.Now().UTC()
	return nil
}

// committed is what commits of bursts are counted as that took effect.
const committed = "committed"

// commits are how many a second a node makes, in how many commands each and how long each takes.
func commits(m *apiclient.Meters) (perSecond, commands, seconds float64) {
	for _, r := range m.Commits {
		if r.Name == committed {
			perSecond += r.PerSecond
		}
	}
	return perSecond, m.CommitCommands.Mean, m.CommitSeconds.Mean
}

// hot are the instances with the most commits of all nodes, in words.
func hot(meters []apiclient.Meters, most int) string {
	type one struct {
		apiclient.Hot
		node string
	}
	var all []one
	for i := range meters {
		for _, h := range meters[i].Hot {
			all = append(all, one{h, meters[i].NodeID})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.PerSecond, a.PerSecond) })
	var texts []string
	for _, h := range all[:min(most, len(all))] {
		texts = append(texts, fmt.Sprintf("%s %.1f/s on %s", h.InstanceID, h.PerSecond, h.node))
	}
	return strings.Join(texts, ", ")
}

// work are the commits of all nodes in words.
func work(meters []apiclient.Meters) string {
	var perSecond, commands, seconds float64
	for i := range meters {
		n, each, took := commits(&meters[i])
		perSecond, commands, seconds = perSecond+n, commands+n*each, seconds+n*took
	}
	text := fmt.Sprintf("%.1f/s", perSecond)
	if perSecond > 0 {
		text += fmt.Sprintf(", %.1f commands each, in %.1f ms", commands/perSecond, 1000*seconds/perSecond)
	}
	return text
}

func first[T any](items []T) *T {
	if len(items) == 0 {
		return nil
	}
	return &items[0]
}

func (a commands) topShow(t *top, screen string) error {
	if a.ask.AsData() {
		raw, err := json.Marshal(t)
		if err != nil {
			return err
		}
		return a.ask.Show(ask.View{}, raw)
	}
	var b strings.Builder
	b.WriteString(screen)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, ask.OneLine(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(&b, "weft top   %s  %s\n\n", t.api.Server(), t.At.Format("15:04:05 UTC"))
	if t.Error != "" {
		line("no look", "%s", t.Error)
	}
	rate := func(r *float64) string {
		if r == nil {
			return "…"
		}
		return fmt.Sprintf("%.1f/s", *r)
	}
	n := func(c apiclient.Count) string {
		return map[bool]string{true: "", false: "over "}[c.Exact] + fmt.Sprint(c.Count)
	}
	s, x := &t.Stats.BySubStatus, t.Balance
	line("instances", "%s executing, %s suspended, %s faulted, %s finished, %s cancelled", n(s.Executing), n(s.Suspended), n(s.Faulted), n(s.Finished), n(s.Cancelled))
	line("commands", "accepted %s, applied %s", rate(t.Accepted), rate(t.Applied))
	if len(t.Meters) > 0 {
		line("commits", "%s", work(t.Meters))
	}
	if text := hot(t.Meters, 3); text != "" {
		line("hot", "%s", text)
	}
	line("waiting", "mailboxes %d, queue %d, sends %d, dead letters %d", x.Mailboxes, x.Queue, x.Sends, x.DeadLetters)
	if x.Difference != 0 {
		line("vanished", "%d accepted commands: docs/runbooks/balance-difference.md", x.Difference)
	}
	if t.Queued != nil {
		line("oldest", "in the queue %s, since %s", t.Queued.ID, a.ask.Moment(&t.Queued.CreatedAt))
	}
	if t.Task != nil {
		line("oldest", "task %s, since %s", t.Task.TaskID, a.ask.Moment(&t.Task.CreatedAt))
	}
	if t.Timer != nil {
		line("timer", "the next is due %s", a.ask.Moment(&t.Timer.DueAt))
	}
	for _, l := range t.Locks {
		line("lock", "%s, %s waits, since %s", l.Name, ask.Deref(l.Waiters[0].NodeID), a.ask.Moment(l.Waiters[0].Since))
	}
	if _, err := io.WriteString(a.ask.Out, b.String()+"\n"); err != nil {
		return err
	}
	return a.topTables(t)
}

func (a commands) topTables(t *top) error {
	most := int64(0)
	for _, node := range t.Nodes {
		most = max(most, node.CatalogRevision)
	}
	var nodes, definitions []any
	for _, node := range t.Nodes {
		seconds := 0.0
		if node.LateSeconds != nil {
			seconds = *node.LateSeconds
		}
		state := nodeState(node.Draining, node.Paused, node.LateSeconds != nil, seconds)
		row := map[string]any{"node": node.NodeID, "state": state, "lag": fmt.Sprint(most - node.CatalogRevision), "address": node.Address, "version": node.Version}
		if i := slices.IndexFunc(t.Meters, func(m apiclient.Meters) bool { return m.NodeID == node.NodeID }); i >= 0 {
			m := &t.Meters[i]
			perSecond, _, _ := commits(m)
			row["commits"], row["works"], row["locks"], row["requests"] = fmt.Sprintf("%.1f/s", perSecond), fmt.Sprint(m.Working), fmt.Sprint(m.Locks), fmt.Sprint(m.InFlight)
		}
		nodes = append(nodes, row)
	}
	if err := a.ask.Table(ask.View{Columns: []ask.Column{{Head: "NODE", Path: "node"}, {Head: "STATE", Path: "state"}, {Head: "LAG", Path: "lag"},
		{Head: "COMMITS", Path: "commits"}, {Head: "WORKS", Path: "works"}, {Head: "LOCKS", Path: "locks"}, {Head: "REQUESTS", Path: "requests"}, {Head: "ADDRESS", Path: "address"}, {Head: "VERSION", Path: "version"}}}, nodes); err != nil {
		return err
	}
	for i, d := range t.Stats.Items {
		if i == 20 {
			break
		}
		definitions = append(definitions, map[string]any{
			"definition": d.DefinitionID, "executing": fmt.Sprint(d.BySubStatus.Executing.Count), "suspended": fmt.Sprint(d.BySubStatus.Suspended.Count), "faulted": fmt.Sprint(d.BySubStatus.Faulted.Count),
			"finished": fmt.Sprint(d.BySubStatus.Finished.Count),
		})
	}
	if _, err := io.WriteString(a.ask.Out, "\n"); err != nil {
		return err
	}
	return a.ask.Table(ask.View{Columns: []ask.Column{
		{Head: "DEFINITION", Path: "definition"}, {Head: "EXECUTING", Path: "executing"}, {Head: "SUSPENDED", Path: "suspended"}, {Head: "FAULTED", Path: "faulted"}, {Head: "FINISHED", Path: "finished"},
	}}, definitions)
}
