// Package instances has the commands that start, show, explain and repair instances.
package instances

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	instances := &cobra.Command{Use: "instances", Aliases: []string{"instance", "i"}, Short: "List, look at and repair instances"}
	instances.AddCommand(a.instancesList(), a.instancesGet(), a.instancesDescribe(), a.instancesWatch(), a.instancesJournal(), a.instancesVariables(), a.instancesLineage(), a.instancesCompare(),
		a.instancesCancel(), a.instancesRetry(), a.instancesAlter(), a.instancesMigrate(), a.instancesDelete(), a.instancesExport(), a.instancesImport())
	return []*cobra.Command{instances, a.explainCommand(), a.runCommand(), a.eraseCommand()}
}

func (a commands) instancesList() *cobra.Command {
	var p ask.Paging
	var sort string
	cmd := &cobra.Command{
		Use: "list [QUERY]", Aliases: []string{"ls"}, Short: "List instances, the newest first",
		Long: "List instances, the newest first, or with --sort created the oldest. QUERY is a line such as 'status:faulted def:order created<2h'; docs/api.md has its words.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			line := strings.Join(args, " ")
			var topics []string
			if p.First() && sort == "" {
				topics = []string{"instances:" + line}
			}
			return a.ask.Lists(cmd.Context(), &p, ask.InstanceView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListSummaries(cmd.Context(), apiclient.ListInstancesQuery{Q: line, Sort: sort, Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			}, topics...)
		},
	}
	p.Flags(cmd)
	cmd.Flags().StringVar(&sort, "sort", "", "created: the oldest first; -created, the default: the newest first")
	return cmd
}

func (a commands) instancesGet() *cobra.Command {
	var wait time.Duration
	var exitStatus bool
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show an instance; --wait waits for its end", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("instances", args)[0]
			return a.ask.Repeated(cmd.Context(), func() error {
				in, err := awaited(cmd.Context(), c, id, wait)
				if err != nil {
					return err
				}
				if err := a.ask.Show(instanceFullView, in.Bytes); err != nil {
					return err
				}
				return over(&in.Body, wait, exitStatus)
			}, "instance:"+id)
		},
	}
	ask.Watched(cmd)
	waitflag.Add(cmd, &wait, 30*time.Second, "wait so long for its end; exit code 6 if it is not over by then")
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it is faulted or cancelled")
	return cmd
}

// instanceFullView is [ask.InstanceView] for instances as a whole.
var instanceFullView = ask.View{Name: "instances/instanceId", Columns: []ask.Column{
	{Head: "INSTANCE", Path: "instanceId"}, {Head: "DEFINITION", Path: "definitionId", Show: ask.DefinitionVersion}, {Head: "STATUS", Path: "subStatus", Unless: ask.NoStatus},
	{Head: "CORRELATION", Path: "correlationId"}, {Head: "WAITS", Path: "bookmarks", Show: ask.Count}, {Head: "INCIDENTS", Path: "incidents", Show: ask.Count},
	{Head: "CREATED", Path: "createdAt", Show: ask.When}, {Head: "UPDATED", Path: "updatedAt", Show: ask.When},
}}

// awaited reads an instance, at its end or when the wait is over. One answer waits 60 s at most.
func awaited(ctx context.Context, c *apiclient.Client, id string, wait time.Duration) (*apiclient.Answer[apiclient.Instance], error) {
	deadline := time.Now().Add(wait)
	for {
		left := time.Until(deadline)
		var opts []apiclient.Option
		if left >= time.Second {
			opts = append(opts, apiclient.WaitUpTo(min(left, time.Minute)))
		}
		in, err := c.GetInstance(ctx, id, opts...)
		if err != nil || in.Body.Status == "Finished" || left < time.Second {
			return in, err
		}
	}
}

// over is the exit code that an instance stands for.
func over(in *apiclient.Instance, wait time.Duration, exitStatus bool) error {
	if wait > 0 && in.Status != "Finished" {
		return ask.Exit(ask.ExitNotOver, fmt.Errorf("instance %s is %s and not over after %v; weft explain %s says why", in.InstanceID, in.SubStatus, wait, in.InstanceID))
	}
	if exitStatus && (in.SubStatus == "Faulted" || in.SubStatus == "Cancelled") {
		return ask.Exit(ask.ExitBad, fmt.Errorf("instance %s is %s", in.InstanceID, in.SubStatus))
	}
	return nil
}

func (a commands) instancesDescribe() *cobra.Command {
	return ask.Watched(&cobra.Command{
		Use: "describe ID", Short: "An instance in words: what it has, waits for and did last", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("instances", args)[0]
			return a.ask.Repeated(cmd.Context(), func() error {
				in, err := c.GetInstance(cmd.Context(), id)
				if err != nil {
					return err
				}
				if a.ask.AsData() || a.ask.Form() == "name" {
					return a.ask.Show(instanceFullView, in.Bytes)
				}
				journal, err := c.GetJournal(cmd.Context(), id, apiclient.GetJournalQuery{Tail: 5, Items: describedItems})
				if err != nil {
					return err
				}
				return a.describe(&in.Body, &journal.Body)
			}, "instance:"+id)
		},
	})
}

// describedItems is how many items of the journal, the newest, a description has.
const describedItems = 50

func (a commands) describe(in *apiclient.Instance, journal *apiclient.JournalPage) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" && value != "-" && value != "{}" {
			fmt.Fprintf(&b, "%-12s %s\n", name, strings.Join(strings.Split(value, "\n"), "\n             "))
		}
	}
	line("instance", in.InstanceID)
	line("definition", fmt.Sprintf("%s v%d", in.DefinitionID, in.Version))
	line("status", in.SubStatus)
	line("name", ask.Deref(in.Name))
	line("correlation", ask.Deref(in.CorrelationID))
	line("parent", ask.Deref(in.ParentInstanceID))
	for _, k := range slices.Sorted(maps.Keys(in.Labels)) {
		line("label", ask.OneLine(k+"="+in.Labels[k]))
	}
	line("created", a.ask.Moment(&in.CreatedAt))
	line("updated", a.ask.Moment(&in.UpdatedAt))
	line("finished", a.ask.Moment(in.FinishedAt))
	line("input", ask.Compact(in.Input))
	line("output", ask.Compact(in.Output))
	line("damage", ask.OneLine(in.Damage))
	for _, m := range in.Bookmarks {
		what := m.ActivityID + " (" + m.ActivityType + ")"
		if m.Name != nil {
			what += " " + *m.Name
		}
		if m.DueAt != nil {
			what += ", due " + a.ask.Moment(m.DueAt)
		}
		line("waits", ask.OneLine(what)+"  bookmark "+m.BookmarkID)
	}
	for _, i := range in.Incidents {
		line("incident", a.ask.Moment(&i.Time)+"  "+i.ActivityID+": "+ask.OneLine(i.Message))
	}
	if len(journal.Items) > 0 {
		b.WriteString("journal")
		if journal.PreviousCursor != nil {
			b.WriteString(", its end")
		}
		b.WriteString("\n")
	}
	for i := range journal.Items {
		b.WriteString("  " + a.journalLine(&journal.Items[i]) + "\n")
	}
	_, err := fmt.Fprint(a.ask.Out, b.String())
	return err
}

func (a commands) instancesWatch() *cobra.Command {
	var exitStatus bool
	cmd := &cobra.Command{
		Use: "watch ID", Short: "A line for each change of an instance, until its end", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.follow(cmd.Context(), c, ask.IDs("instances", args)[0], exitStatus)
		},
	}
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it is faulted or cancelled")
	return cmd
}

// follow shows each change of an instance until its end, from the stream.
func (a commands) follow(ctx context.Context, c *apiclient.Client, id string, exitStatus bool) error {
	for e, err := range c.Stream(ctx, []string{"instance:" + id}, "") {
		if err != nil {
			return err
		}
		if e.Name != "instance" {
			continue
		}
		value, err := ask.DecodeJSON(e.Data)
		if err != nil {
			return err
		}
		in := ask.At(value, "instance")
		if in == nil {
			return ask.Exit(ask.ExitRefused, fmt.Errorf("there is no instance %q", id))
		}
		switch {
		case a.ask.AsData():
			err = a.ask.JSON(in, "")
		default:
			waits := "-"
			if marks, _ := ask.At(in, "bookmarks").([]any); len(marks) > 0 {
				waits = ask.OneLine(ask.Text(ask.At(marks[0], "activityId")) + " " + ask.Text(ask.At(marks[0], "name")))
			}
			_, err = fmt.Fprintf(a.ask.Out, "%s  %s  commit %s  %s  %s\n", ask.Clock(a.ask, ask.Text(ask.At(in, "updatedAt"))), ask.Text(ask.At(in, "subStatus")), ask.Text(ask.At(in, "commit")), waits, ask.OneLine(ask.Text(ask.At(in, "incident"))))
		}
		if err != nil {
			return err
		}
		if ask.Text(ask.At(in, "status")) == "Finished" {
			return over(&apiclient.Instance{InstanceID: id, Status: "Finished", SubStatus: ask.Text(ask.At(in, "subStatus"))}, 0, exitStatus)
		}
	}
	return nil
}

func (a commands) journalLine(j *apiclient.Journal) string {
	data := ""
	if j.Data != nil {
		data = ask.Compact(j.Data)
	}
	shown := ask.OneLine(strings.TrimSpace(j.Text + " " + data))
	return strings.TrimRight(fmt.Sprintf("%5d  %-10s  %-10s %-28s %s", j.Sequence, ask.When(a.ask, j.Time.Format(time.RFC3339Nano), nil), j.Event, ask.OneLine(j.ActivityID), shown), " ")
}

func (a commands) instancesJournal() *cobra.Command {
	var q apiclient.GetJournalQuery
	var before int64
	var follow bool
	cmd := &cobra.Command{
		Use: "journal ID", Short: "What an instance did; -f goes on as it does more", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("before") {
				q.Before = &before
			}
			return a.journal(cmd.Context(), c, ask.IDs("instances", args)[0], q, follow)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&q.Tail, "tail", 100, "the last so many commits")
	f.Int64Var(&before, "before", 0, "of those before this one")
	f.Int64Var(&q.Items, "items", 0, "the last so many items of these at most (default: all)")
	f.StringSliceVar(&q.Activity, "activity", nil, "only of these activities")
	f.StringSliceVar(&q.Event, "event", nil, "only these events, such as Faulted")
	f.StringVar(&q.Text, "text", "", "only what has this text")
	f.BoolVarP(&follow, "follow", "f", false, "go on until its end")
	return cmd
}

func (a commands) journal(ctx context.Context, c *apiclient.Client, id string, q apiclient.GetJournalQuery, follow bool) error {
	for over := false; ; {
		page, err := c.GetJournal(ctx, id, q)
		if err != nil {
			return err
		}
		if a.ask.AsData() && !follow {
			v, err := ask.DecodeJSON(page.Bytes)
			if err != nil {
				return err
			}
			return a.ask.Data(v)
		}
		for i := range page.Body.Items {
			if a.ask.AsData() {
				err = a.ask.JSON(page.Body.Items[i], "")
			} else {
				_, err = fmt.Fprintln(a.ask.Out, a.journalLine(&page.Body.Items[i]))
			}
			if err != nil {
				return err
			}
		}
		if q.Tail > 0 { // the first page
			a.noteLeftOut(&page.Body)
		}
		if !follow {
			return nil
		}
		after := page.Body.LookedTo
		q.Tail, q.Before, q.Items, q.After, q.Limit = 0, nil, 0, &after, 500
		if page.Body.NextCursor != nil {
			continue
		}
		if over {
			return nil
		}
		in, err := c.GetInstance(ctx, id, apiclient.WaitUpTo(time.Second))
		if err != nil {
			return err
		}
		if in.Body.Status == "Finished" {
			over = true // once more, for what it did at its end
		}
	}
}

// noteLeftOut tells what a journal has before a page of it.
func (a commands) noteLeftOut(page *apiclient.JournalPage) {
	switch {
	case page.ItemsBefore > 0:
		a.ask.Note(fmt.Sprintf("%d more items of commit %d come before these: --items shows more", page.ItemsBefore, page.LookedFrom))
	case page.PreviousCursor != nil:
		a.ask.Note(fmt.Sprintf("what came before commit %d is left out: --before %d shows it", page.LookedFrom, page.LookedFrom))
	}
}

func (a commands) instancesVariables() *cobra.Command {
	var commit, from, to int64
	var changed bool
	cmd := &cobra.Command{
		Use: "variables ID", Short: "Its variables, also after an earlier commit, or how they changed", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("instances", args)[0]
			given := func(name string, v *int64) *int64 {
				if cmd.Flags().Changed(name) {
					return v
				}
				return nil
			}
			var raw []byte
			v, list := variablesView, "variables"
			if changed || cmd.Flags().Changed("from") || cmd.Flags().Changed("to") {
				answer, err := c.GetVariableChanges(cmd.Context(), id, apiclient.GetVariableChangesQuery{From: given("from", &from), To: given("to", &to)})
				if err != nil {
					return err
				}
				raw, v, list = answer.Bytes, changesView, "changes"
			} else {
				answer, err := c.GetVariables(cmd.Context(), id, apiclient.GetVariablesQuery{At: given("at", &commit)})
				if err != nil {
					return err
				}
				raw = answer.Bytes
			}
			value, err := ask.DecodeJSON(raw)
			if err != nil || a.ask.AsData() {
				return errors.Join(err, a.ask.Data(value))
			}
			rows, _ := ask.At(value, list).([]any)
			return a.ask.Table(v, rows)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&commit, "at", 0, "after this commit (default: the newest)")
	f.BoolVar(&changed, "changes", false, "how they differ from before the newest commit")
	f.Int64Var(&from, "from", 0, "how they differ from after this commit")
	f.Int64Var(&to, "to", 0, "to after this one")
	return cmd
}

var variablesView = ask.View{Empty: "no variables", Columns: []ask.Column{
	{Head: "NAME", Path: "name"}, {Head: "SCOPE", Path: "activityId"}, {Head: "VALUE", Path: "value"}, {Head: "SET BY", Path: "byActivityId"}, {Head: "COMMIT", Path: "commit"}, {Head: "TIME", Path: "time", Show: ask.When},
}}

var changesView = ask.View{Empty: "no changes", Columns: []ask.Column{
	{Head: "NAME", Path: "name"}, {Head: "SCOPE", Path: "activityId"}, {Head: "BEFORE", Path: "before.value"}, {Head: "AFTER", Path: "after.value"}, {Head: "SET BY", Path: "after.byActivityId"},
}}

// several are the flags of what may be done to all instances of a filter.
type several struct {
	query, reason string
	wait          time.Duration
	dry           bool
	verb          string // of the command, where it is not the kind of its job
}

func (s *several) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.query, "query", "", "all that match, such as 'status:faulted def:order'")
	cmd.Flags().DurationVar(&s.wait, "wait", 5*time.Minute, "with --query: wait so long for the end of the job; with ids: for that of each instance, if it is said")
	cmd.Flags().StringVar(&s.reason, "reason", "", "why, for the journal")
	cmd.Flags().BoolVar(&s.dry, "dry-run", false, "only say to how many it would be done, and which would refuse it; exit code 1 if some would")
}

func (s *several) args(_ *cobra.Command, args []string) error {
	if (len(args) == 0) == (s.query == "") {
		return errors.New("give ids, or --query")
	}
	return nil
}

// after tells what was done to an instance, or with --wait what became of it.
func (a commands) after(cmd *cobra.Command, c *apiclient.Client, s *several, in *apiclient.Answer[apiclient.Instance], did string) error {
	id := in.Body.InstanceID
	if !cmd.Flags().Changed("wait") {
		return a.ask.Done(in.Bytes, in.Accepted, did, "%s", id)
	}
	began, accepted := time.Now(), in.Accepted
	for before := in.Body.UpdatedAt; accepted && in.Body.UpdatedAt.Equal(before) && time.Since(began) < s.wait; { // until it is applied
		now, err := c.GetInstance(cmd.Context(), id)
		if err != nil {
			return err
		}
		in = now
		select {
		case <-cmd.Context().Done():
			return context.Cause(cmd.Context())
		case <-time.After(200 * time.Millisecond):
		}
	}
	in, err := awaited(cmd.Context(), c, id, s.wait-time.Since(began))
	if err != nil {
		return err
	}
	if err := over(&in.Body, s.wait, false); err != nil {
		return err
	}
	return a.ask.Done(in.Bytes, false, "is "+in.Body.SubStatus, "%s", id)
}

// preview says what would be done to instances, and does nothing.
func (a commands) preview(ctx context.Context, c *apiclient.Client, s *several, ids []string, body apiclient.JobRequest) error {
	kind := cmp.Or(s.verb, body.Kind)
	if body.Q = s.query; body.Q == "" {
		body.Q = "id:" + strings.Join(ask.IDs("instances", ids), ",")
	}
	told, err := c.CreateJob(ctx, body, apiclient.CreateJobQuery{DryRun: new(true)})
	if err != nil {
		return err
	}
	p := told.Body.JobPreview
	if p == nil {
		return errors.New("the server did not say what it would do")
	}
	if a.ask.AsData() {
		err = a.ask.Show(ask.View{}, told.Bytes)
	} else {
		more := ""
		if p.More {
			more = " or more"
		}
		_, err = fmt.Fprintf(a.ask.Out, "would %s %d%s instances of %s: of the newest %d, which were tried, %d would take it and %d would refuse it\n", kind, p.Matching, more, p.Query, p.Tried, p.Fits, p.Tried-p.Fits)
		for _, r := range p.Refusals {
			_, wrong := fmt.Fprintf(a.ask.Out, "%s  %s  %s\n", r.InstanceID, r.Code, ask.Printable(r.Detail))
			err = errors.Join(err, wrong)
		}
	}
	switch {
	case err != nil:
		return err
	case s.query == "" && p.Matching < int64(len(ids)):
		return ask.Exit(ask.ExitBad, fmt.Errorf("%d of the %d instances were not found", int64(len(ids))-p.Matching, len(ids)))
	case p.Fits < p.Tried:
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// job does something to all instances of a filter, after saying how many they are.
func (a commands) job(ctx context.Context, c *apiclient.Client, s *several, body apiclient.JobRequest) error {
	body.Q, body.Reason = s.query, s.reason
	if !a.ask.OnlyPrints() {
		preview, err := c.CreateJob(ctx, body, apiclient.CreateJobQuery{DryRun: new(true)})
		if err != nil {
			return err
		}
		if p := preview.Body.JobPreview; p != nil {
			more := ""
			if p.More {
				more = " or more"
			}
			if err := a.ask.Confirm("%s %d%s instances of %s", cmp.Or(s.verb, body.Kind), p.Matching, more, p.Query); err != nil {
				return err
			}
		}
	}
	made, err := c.CreateJob(ctx, body, apiclient.CreateJobQuery{}, a.ask.Opts()...)
	if err != nil {
		return err
	}
	if made.Body.Job == nil {
		return errors.New("the server did not make a job")
	}
	id, deadline := made.Body.Job.ID, time.Now().Add(s.wait)
	for {
		job, err := c.GetJob(ctx, id)
		if err != nil {
			return err
		}
		if j := &job.Body; j.State != "running" {
			return a.jobOver(j, job.Bytes, cmp.Or(s.verb, body.Kind))
		}
		if time.Now().After(deadline) {
			return ask.Exit(ask.ExitNotOver, fmt.Errorf("job %s goes on; weft jobs get %s shows it", id, id))
		}
		select {
		case <-ctx.Done():
			return ask.Exit(ask.ExitInterrupted, fmt.Errorf("interrupted; job %s goes on: weft jobs get %s shows it, and weft jobs cancel %s ends it", id, id, id))
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// jobOver tells what came of a job, in the words of the server; one of an older version has none.
func (a commands) jobOver(j *apiclient.Job, raw []byte, verb string) error {
	summary := cmp.Or(j.Report, fmt.Sprintf("%d took it, %d refused it, %d have it in their mailbox still, of %d it is not known", j.Done, j.Refused, j.Accepted, j.Unknown))
	if err := a.ask.Done(raw, false, summary, "%s", verb); err != nil {
		return err
	}
	for i, r := range j.Refusals {
		if i == 5 {
			a.ask.Note(fmt.Sprintf("weft: %d more refused it: weft jobs get %s -o yaml shows the first 100", j.Refused-int64(i), j.ID))
			break
		}
		a.ask.Note(fmt.Sprintf("weft: instances/%s: %s %s", r.InstanceID, r.Code, ask.Printable(r.Detail)))
	}
	switch {
	case j.Refused > 0:
		return ask.Exit(ask.ExitRefused, nil)
	case j.Unknown > 0:
		return ask.Exit(ask.ExitUnknown, nil)
	case j.State != "done":
		return ask.Exit(ask.ExitBad, fmt.Errorf("the job is %s", j.State))
	case j.Kind == "alter" && j.Became["Faulted"] > 0:
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

func (a commands) instancesCancel() *cobra.Command {
	var s several
	cmd := &cobra.Command{
		Use: "cancel ID...|--query QUERY", Short: "End instances, and the calls to the outside that they wait for", Args: s.args, ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if s.dry {
				return a.preview(cmd.Context(), c, &s, args, apiclient.JobRequest{Kind: "cancel"})
			}
			if s.query != "" {
				return a.job(cmd.Context(), c, &s, apiclient.JobRequest{Kind: "cancel"})
			}
			if err := a.ask.Confirm("cancel %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.ask.Each("instances", args, func(id string, opts []apiclient.Option) error {
				in, err := c.CancelInstance(cmd.Context(), id, opts...)
				if err != nil {
					return err
				}
				if in.Body.NotYet != "" {
					a.ask.Note(id + ": " + in.Body.NotYet)
				}
				return a.after(cmd, c, &s, in, "cancelled")
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func (a commands) instancesRetry() *cobra.Command {
	var s several
	var body apiclient.RetryOneRequest
	var newKey bool
	cmd := &cobra.Command{
		Use: "retry ID...|--query QUERY", Short: "Run faulted instances again, from the call that failed or from an activity", Args: s.args, ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			job := apiclient.JobRequest{Kind: "retry"}
			if body.Again {
				s.verb, job = "retry", apiclient.JobRequest{Kind: "alter", Alterations: []apiclient.AlterationRequest{{Type: "retry", Again: true}}}
			}
			if s.query != "" && (body.From != "" || newKey) {
				return ask.Usage("--from and --new-key are for single instances")
			}
			if s.dry {
				return a.preview(cmd.Context(), c, &s, args, job)
			}
			if s.query != "" {
				return a.job(cmd.Context(), c, &s, job)
			}
			body.Reason = s.reason
			if newKey {
				body.KeepKey = new(false)
			}
			return a.ask.Each("instances", args, func(id string, opts []apiclient.Option) error {
				in, err := c.RetryInstance(cmd.Context(), id, body, opts...)
				if err != nil {
					return err
				}
				return a.after(cmd, c, &s, in, "retried, is "+in.Body.SubStatus)
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&body.From, "from", "", "the activity to begin at (default: the call that failed)")
	cmd.Flags().Int64Var(&body.Execution, "execution", 0, "which execution of it, as the journal numbers them")
	cmd.Flags().BoolVar(&newKey, "new-key", false, "make the call with another idempotency key than the one before")
	cmd.Flags().BoolVar(&body.Again, "again", false, "also if what ran since the call failed (onGiveUp, onTimeout) may have undone what it did")
	return cmd
}

func (a commands) instancesAlter() *cobra.Command {
	var file string
	var s several
	cmd := &cobra.Command{
		Use: "alter ID...|--query QUERY --file FILE", Short: "Change instances, each all or nothing: skip, setVariable, migrate, reschedule, …",
		Long: "Change instances, each in one commit, all or nothing. FILE (- is standard input) has a JSON list of alterations, such as\n" +
			`[{"type": "setVariable", "variable": "paid", "value": true}, {"type": "retry", "activity": "ship"}]` + "\ndocs/api.md#alterations has all of them.",
		Args: s.args, ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return ask.Usage("say with --file what to alter; - is standard input")
			}
			raw, err := a.ask.ReadSmall(file, ask.MaxBody, "a list of alterations")
			if err != nil {
				return err
			}
			var alterations []apiclient.AlterationRequest
			if err := ask.DecodeStrict(raw, &alterations); err != nil {
				return ask.Usage("%s is no list of alterations: %w", file, err)
			}
			return a.alter(cmd, &s, args, alterations)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&file, "file", "", "file with the alterations")
	return cmd
}

func (a commands) instancesMigrate() *cobra.Command {
	var to int64
	s := several{verb: "migrate"}
	cmd := &cobra.Command{
		Use: "migrate ID...|--query QUERY --to VERSION", Short: "Let instances go on in another version of their definition",
		Long:    "Let instances go on in another version of their definition. What waits must be there, too; an instance that does not fit stays as it is, and says why.\nFor a query, say the definition in it (def:).",
		Example: "  weft instances migrate --query 'def:order version:3' --to 4 --dry-run\n  weft instances migrate --query 'def:order version:3' --to 4 --yes",
		Args:    s.args, ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to < 1 {
				return ask.Usage("say with --to which version")
			}
			return a.alter(cmd, &s, args, []apiclient.AlterationRequest{{Type: "migrate", Version: to}})
		},
	}
	s.flags(cmd)
	cmd.Flags().Int64Var(&to, "to", 0, "the version to go on in")
	return cmd
}

// alter changes instances, or only says what would become of them.
func (a commands) alter(cmd *cobra.Command, s *several, args []string, alterations []apiclient.AlterationRequest) error {
	c, err := a.ask.Client()
	if err != nil {
		return err
	}
	job := apiclient.JobRequest{Kind: "alter", Alterations: alterations}
	switch {
	case s.dry && len(args) != 1:
		return a.preview(cmd.Context(), c, s, args, job)
	case s.query != "":
		return a.job(cmd.Context(), c, s, job)
	}
	did := map[string]string{"": "altered", "migrate": "migrated"}[s.verb]
	return a.ask.Each("instances", args, func(id string, opts []apiclient.Option) error {
		answer, err := c.AlterInstance(cmd.Context(), id, apiclient.AlterRequest{Reason: s.reason, Alterations: alterations}, apiclient.AlterInstanceQuery{DryRun: &s.dry}, opts...)
		if err != nil {
			return err
		}
		if x := answer.Body.Altered; x != nil {
			return a.wouldAlter(x, answer.Bytes)
		}
		return a.ask.Done(answer.Bytes, answer.Accepted, did, "%s", id)
	})
}

func (a commands) wouldAlter(x *apiclient.Altered, raw []byte) error {
	if a.ask.AsData() {
		v, err := ask.DecodeJSON(raw)
		if err != nil {
			return err
		}
		if err := a.ask.Data(v); err != nil {
			return err
		}
	} else {
		for _, did := range x.Did {
			fmt.Fprintln(a.ask.Out, "would:", did)
		}
		if len(x.Next) > 0 {
			fmt.Fprintln(a.ask.Out, "next:", strings.Join(x.Next, ", "))
		}
	}
	if x.Fits {
		return nil
	}
	lines := []string{"it does not fit"}
	for _, e := range x.Errors {
		lines = append(lines, "  "+e.Pointer+": "+e.Detail)
	}
	return ask.Exit(ask.ExitBad, errors.New(strings.Join(lines, "\n")))
}

func (a commands) instancesDelete() *cobra.Command {
	var s several
	cmd := &cobra.Command{
		Use: "delete ID...|--query QUERY", Short: "Cancel instances if they run, and remove them", Args: s.args, ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if s.dry {
				return a.preview(cmd.Context(), c, &s, args, apiclient.JobRequest{Kind: "delete"})
			}
			if s.query != "" {
				return a.job(cmd.Context(), c, &s, apiclient.JobRequest{Kind: "delete"})
			}
			if err := a.ask.Confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.ask.Each("instances", args, func(id string, _ []apiclient.Option) error {
				answer, err := c.DeleteInstance(cmd.Context(), id)
				if err != nil {
					return err
				}
				return a.ask.Done(nil, answer.Accepted, "deleted", "%s", id)
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func (a commands) instancesExport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "export ID", Short: "Write an instance with all that it needs to go on", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			state, err := c.ExportState(cmd.Context(), ask.IDs("instances", args)[0])
			if err != nil {
				return err
			}
			for _, f := range state.Body.Files {
				if f.LeftOut {
					a.ask.Note(fmt.Sprintf("the file %s (%d bytes) is not in the export, which has no room for it: an import is refused where it does not lie beside the instance already", f.SHA256, f.Bytes))
				}
			}
			if out == "" && a.ask.AsData() {
				return a.ask.Show(ask.View{}, state.Bytes)
			}
			if out == "" {
				_, err = a.ask.Out.Write(state.Bytes)
				return err
			}
			return ask.WriteFile(out, state.Bytes)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

// maxExport is what the API takes of one.
const maxExport = 64 << 20

func (a commands) instancesImport() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "import ID FILE", Short: "Replace an instance by an export of it, or bring one that is not there", Args: cobra.ExactArgs(2), ValidArgsFunction: ask.ThenFiles(a.ask.Completes("instances")),
		Long: "Replace an instance by an export of it. It must not have moved since the export, unless --force.",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.ask.ReadSmall(args[1], maxExport, "an export")
			if err != nil {
				return err
			}
			var body apiclient.StateRequest
			if err := ask.DecodeStrict(raw, &body); err != nil {
				return ask.Usage("%s is no export: %w", args[1], err)
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id := ask.IDs("instances", args[:1])[0]
			if err := a.ask.Confirm("replace the state of %s", id); err != nil {
				return err
			}
			var opts []apiclient.Option
			var problem *apiclient.ProblemError
			_, err = c.GetInstance(cmd.Context(), id)
			if gone := errors.As(err, &problem) && problem.Code == "instance-not-found"; !force && !gone { // then nothing has moved
				opts = append(opts, apiclient.IfMatch(fmt.Sprintf(`"%d"`, body.Sequence)))
			}
			answer, err := c.ImportState(cmd.Context(), id, body, opts...)
			if err != nil {
				return err
			}
			return a.ask.Done(nil, answer.Accepted, "imported", "%s", id)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also if it has moved since the export")
	return cmd
}
