package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
)

var instanceView = view{name: "instances/instanceId", empty: "no instances", columns: []column{
	{head: "INSTANCE", path: "instanceId"}, {head: "DEFINITION", path: "definitionId", show: definitionVersion}, {head: "STATUS", path: "subStatus"},
	{head: "CORRELATION", path: "correlationId"}, {head: "NAME", path: "name", wide: true}, {head: "LABELS", path: "labels", wide: true, show: labels},
	{head: "WAITS FOR", path: "waitsFor", show: waitsFor}, {head: "INCIDENTS", path: "incidents", wide: true}, {head: "PARENT", path: "parentInstanceId", wide: true},
	{head: "CREATED", path: "createdAt", show: when}, {head: "UPDATED", path: "updatedAt", show: when},
}}

func definitionVersion(_ *app, v, row any) string { return text(v) + " v" + text(at(row, "version")) }

func labels(_ *app, v, _ any) string {
	all, _ := v.(map[string]any)
	var out []string
	for _, k := range sortedKeys(all) {
		out = append(out, k+"="+text(all[k]))
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, ",")
}

func waitsFor(_ *app, v, row any) string {
	list, _ := v.([]any)
	if len(list) == 0 {
		return "-"
	}
	out := text(at(list[0], "kind"))
	if name := text(at(list[0], "name")); name != "-" {
		out += " " + name
	}
	if all, ok := at(row, "waits").(json.Number); ok && all.String() != "1" {
		out += " +" + fmt.Sprint(mustInt(all)-1)
	}
	return out
}

func mustInt(n json.Number) int64 { i, _ := n.Int64(); return i }

func (a *app) instanceCommands() []*cobra.Command {
	instances := &cobra.Command{Use: "instances", Aliases: []string{"instance", "i"}, Short: "List, look at and repair instances"}
	instances.AddCommand(a.instancesList(), a.instancesGet(), a.instancesDescribe(), a.instancesWatch(), a.instancesJournal(), a.instancesVariables(),
		a.instancesCancel(), a.instancesRetry(), a.instancesAlter(), a.instancesDelete(), a.instancesExport(), a.instancesImport())
	return []*cobra.Command{instances, a.explainCommand(), a.whyNotCommand(), a.eventsCommand(), a.tasksCommand(), a.runCommand()}
}

func (a *app) instancesList() *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list [QUERY]", Aliases: []string{"ls"}, Short: "List instances, the newest first",
		Long: "List instances, the newest first. QUERY is a line such as 'status:faulted def:order created<2h'; docs/api.md has its words.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.lists(cmd.Context(), &p, instanceView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListSummaries(cmd.Context(), apiclient.ListInstancesQuery{Q: strings.Join(args, " "), Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			})
		},
	}
	p.flags(cmd)
	return cmd
}

func (a *app) instancesGet() *cobra.Command {
	var wait time.Duration
	var exitStatus bool
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show an instance; --wait waits for its end", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.repeated(cmd.Context(), func() error {
				in, err := awaited(cmd.Context(), c, ids("instances", args)[0], wait)
				if err != nil {
					return err
				}
				if err := a.show(instanceFullView, in.Bytes); err != nil {
					return err
				}
				return over(&in.Body, wait, exitStatus)
			})
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait so long for its end; exit code 6 if it is not over by then")
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it is faulted or cancelled")
	return cmd
}

// instanceFullView is [instanceView] for instances as a whole.
var instanceFullView = view{name: "instances/instanceId", columns: []column{
	{head: "INSTANCE", path: "instanceId"}, {head: "DEFINITION", path: "definitionId", show: definitionVersion}, {head: "STATUS", path: "subStatus"},
	{head: "CORRELATION", path: "correlationId"}, {head: "WAITS", path: "bookmarks", show: count}, {head: "INCIDENTS", path: "incidents", show: count},
	{head: "CREATED", path: "createdAt", show: when}, {head: "UPDATED", path: "updatedAt", show: when},
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
		return &exitError{ExitNotOver, fmt.Errorf("instance %s is %s and not over after %v; weft explain %s says why", in.InstanceID, in.SubStatus, wait, in.InstanceID)}
	}
	if exitStatus && (in.SubStatus == "Faulted" || in.SubStatus == "Cancelled") {
		return &exitError{ExitBad, fmt.Errorf("instance %s is %s", in.InstanceID, in.SubStatus)}
	}
	return nil
}

func (a *app) instancesDescribe() *cobra.Command {
	return &cobra.Command{
		Use: "describe ID", Short: "An instance in words: what it has, waits for and did last", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id := ids("instances", args)[0]
			return a.repeated(cmd.Context(), func() error {
				in, err := c.GetInstance(cmd.Context(), id)
				if err != nil {
					return err
				}
				if a.asData() || a.output == "name" {
					return a.show(instanceFullView, in.Bytes)
				}
				journal, err := c.GetJournal(cmd.Context(), id, apiclient.GetJournalQuery{Tail: 5})
				if err != nil {
					return err
				}
				return a.describe(&in.Body, journal.Body.Items)
			})
		},
	}
}

func (a *app) describe(in *apiclient.Instance, journal []apiclient.Journal) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" && value != "-" && value != "{}" {
			fmt.Fprintf(&b, "%-12s %s\n", name, strings.Join(strings.Split(value, "\n"), "\n             "))
		}
	}
	line("instance", in.InstanceID)
	line("definition", fmt.Sprintf("%s v%d", in.DefinitionID, in.Version))
	line("status", in.SubStatus)
	line("name", deref(in.Name))
	line("correlation", deref(in.CorrelationID))
	line("parent", deref(in.ParentInstanceID))
	for k, v := range in.Labels {
		line("label", k+"="+v)
	}
	line("created", a.moment(&in.CreatedAt))
	line("updated", a.moment(&in.UpdatedAt))
	line("finished", a.moment(in.FinishedAt))
	line("input", compact(in.Input))
	line("output", compact(in.Output))
	line("damage", in.Damage)
	for _, m := range in.Bookmarks {
		what := m.ActivityID + " (" + m.ActivityType + ")"
		if m.Name != nil {
			what += " " + *m.Name
		}
		if m.DueAt != nil {
			what += ", due " + a.moment(m.DueAt)
		}
		line("waits", oneLine(what)+"  bookmark "+m.BookmarkID)
	}
	for _, i := range in.Incidents {
		line("incident", a.moment(&i.Time)+"  "+i.ActivityID+": "+oneLine(i.Message))
	}
	if len(journal) > 0 {
		b.WriteString("journal\n")
	}
	for i := range journal {
		b.WriteString("  " + a.journalLine(&journal[i]) + "\n")
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return oneLine(*s)
}

func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return ""
	}
	return oneLine(string(raw))
}

func (a *app) moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	shown := when(a, t.Format(time.RFC3339Nano), nil)
	if a.times == "relative" {
		shown = t.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + shown + ")"
	}
	return shown
}

func (a *app) instancesWatch() *cobra.Command {
	var exitStatus bool
	cmd := &cobra.Command{
		Use: "watch ID", Short: "A line for each change of an instance, until its end", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.follow(cmd.Context(), c, ids("instances", args)[0], exitStatus)
		},
	}
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it is faulted or cancelled")
	return cmd
}

// follow shows each change of an instance until its end, from the stream.
func (a *app) follow(ctx context.Context, c *apiclient.Client, id string, exitStatus bool) error {
	for e, err := range c.Stream(ctx, []string{"instance:" + id}, "") {
		if err != nil {
			return err
		}
		if e.Name != "instance" {
			continue
		}
		value, err := decodeJSON(e.Data)
		if err != nil {
			return err
		}
		in := at(value, "instance")
		if in == nil {
			return &exitError{ExitRefused, fmt.Errorf("there is no instance %q", id)}
		}
		switch {
		case a.asData():
			err = a.json(in, "")
		default:
			waits := "-"
			if marks, _ := at(in, "bookmarks").([]any); len(marks) > 0 {
				waits = oneLine(text(at(marks[0], "activityId")) + " " + text(at(marks[0], "name")))
			}
			_, err = fmt.Fprintf(a.out, "%s  %s  commit %s  %s  %s\n", when(a, text(at(in, "updatedAt")), nil), text(at(in, "subStatus")), text(at(in, "commit")), waits, oneLine(text(at(in, "incident"))))
		}
		if err != nil {
			return err
		}
		if text(at(in, "status")) == "Finished" {
			return over(&apiclient.Instance{InstanceID: id, Status: "Finished", SubStatus: text(at(in, "subStatus"))}, 0, exitStatus)
		}
	}
	return nil
}

func (a *app) journalLine(j *apiclient.Journal) string {
	data := ""
	if j.Data != nil {
		data = compact(j.Data)
	}
	shown := oneLine(strings.TrimSpace(j.Text + " " + data))
	return strings.TrimRight(fmt.Sprintf("%5d  %-10s  %-10s %-28s %s", j.Sequence, when(a, j.Time.Format(time.RFC3339Nano), nil), j.Event, oneLine(j.ActivityID), shown), " ")
}

func (a *app) instancesJournal() *cobra.Command {
	var q apiclient.GetJournalQuery
	var follow bool
	cmd := &cobra.Command{
		Use: "journal ID", Short: "What an instance did; -f goes on as it does more", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.journal(cmd.Context(), c, ids("instances", args)[0], q, follow)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&q.Tail, "tail", 100, "the last so many commits")
	f.StringSliceVar(&q.Activity, "activity", nil, "only of these activities")
	f.StringSliceVar(&q.Event, "event", nil, "only these events, such as Faulted")
	f.StringVar(&q.Text, "text", "", "only what has this text")
	f.BoolVarP(&follow, "follow", "f", false, "go on until its end")
	return cmd
}

func (a *app) journal(ctx context.Context, c *apiclient.Client, id string, q apiclient.GetJournalQuery, follow bool) error {
	for over := false; ; {
		page, err := c.GetJournal(ctx, id, q)
		if err != nil {
			return err
		}
		if a.asData() && !follow {
			v, err := decodeJSON(page.Bytes)
			if err != nil {
				return err
			}
			return a.data(v)
		}
		for i := range page.Body.Items {
			if a.asData() {
				err = a.json(page.Body.Items[i], "")
			} else {
				_, err = fmt.Fprintln(a.out, a.journalLine(&page.Body.Items[i]))
			}
			if err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		after := page.Body.LookedTo
		q.Tail, q.After, q.Limit = 0, &after, 500
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

func (a *app) instancesVariables() *cobra.Command {
	var commit, from, to int64
	var changed bool
	cmd := &cobra.Command{
		Use: "variables ID", Short: "Its variables, also after an earlier commit, or how they changed", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id := ids("instances", args)[0]
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
			value, err := decodeJSON(raw)
			if err != nil || a.asData() {
				return errors.Join(err, a.data(value))
			}
			rows, _ := at(value, list).([]any)
			return a.table(v, rows)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&commit, "at", 0, "after this commit (default: the newest)")
	f.BoolVar(&changed, "changes", false, "how they differ from before the newest commit")
	f.Int64Var(&from, "from", 0, "how they differ from after this commit")
	f.Int64Var(&to, "to", 0, "to after this one")
	return cmd
}

var variablesView = view{empty: "no variables", columns: []column{
	{head: "NAME", path: "name"}, {head: "SCOPE", path: "activityId"}, {head: "VALUE", path: "value"}, {head: "SET BY", path: "byActivityId"}, {head: "COMMIT", path: "commit"}, {head: "TIME", path: "time", show: when},
}}

var changesView = view{empty: "no changes", columns: []column{
	{head: "NAME", path: "name"}, {head: "SCOPE", path: "activityId"}, {head: "BEFORE", path: "before.value"}, {head: "AFTER", path: "after.value"}, {head: "SET BY", path: "after.byActivityId"},
}}

// several are the flags of what may be done to all instances of a filter.
type several struct {
	query, reason string
	wait          time.Duration
}

func (s *several) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.query, "query", "", "all that match, such as 'status:faulted def:order'")
	cmd.Flags().DurationVar(&s.wait, "wait", 5*time.Minute, "with --query: wait so long for the end of the job")
	cmd.Flags().StringVar(&s.reason, "reason", "", "why, for the journal")
}

func (s *several) args(_ *cobra.Command, args []string) error {
	if (len(args) == 0) == (s.query == "") {
		return errors.New("give ids, or --query")
	}
	return nil
}

// job does something to all instances of a filter, after saying how many they are.
func (a *app) job(ctx context.Context, c *apiclient.Client, s *several, body apiclient.JobRequest) error {
	body.Q, body.Reason = s.query, s.reason
	preview, err := c.CreateJob(ctx, body, apiclient.CreateJobQuery{DryRun: new(true)})
	if err != nil {
		return err
	}
	if p := preview.Body.JobPreview; p != nil {
		more := ""
		if p.More {
			more = " or more"
		}
		if err := a.confirm("%s %d%s instances of %s", body.Kind, p.Matching, more, p.Query); err != nil {
			return err
		}
	}
	made, err := c.CreateJob(ctx, body, apiclient.CreateJobQuery{}, a.opts("")...)
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
			return a.jobOver(j, job.Bytes)
		}
		if time.Now().After(deadline) {
			return &exitError{ExitNotOver, fmt.Errorf("job %s goes on; weft jobs get %s shows it", id, id)}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func (a *app) jobOver(j *apiclient.Job, raw []byte) error {
	summary := fmt.Sprintf("done %d, accepted %d, refused %d", j.Done, j.Accepted, j.Refused)
	for i, r := range j.Refusals {
		if i == 5 {
			summary += " …"
			break
		}
		summary += fmt.Sprintf("%s%s %s", map[bool]string{true: " (", false: ", "}[i == 0], r.InstanceID, r.Code)
	}
	if len(j.Refusals) > 0 {
		summary += ")"
	}
	if j.Unknown > 0 {
		summary += fmt.Sprintf(", unknown %d", j.Unknown)
	}
	if err := a.done(raw, false, summary, "%s", j.Kind); err != nil {
		return err
	}
	switch {
	case j.Refused > 0:
		return &exitError{ExitRefused, nil}
	case j.Unknown > 0:
		return &exitError{ExitUnknown, nil}
	case j.State != "done":
		return &exitError{ExitBad, fmt.Errorf("the job is %s", j.State)}
	}
	return nil
}

func (a *app) instancesCancel() *cobra.Command {
	var s several
	cmd := &cobra.Command{
		Use: "cancel ID...|--query QUERY", Short: "End instances at their next activity boundary", Args: s.args, ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if s.query != "" {
				return a.job(cmd.Context(), c, &s, apiclient.JobRequest{Kind: "cancel"})
			}
			if err := a.confirm("cancel %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.each("instances", args, func(id, part string) error {
				in, err := c.CancelInstance(cmd.Context(), id, a.opts(part)...)
				if err != nil {
					return err
				}
				return a.done(in.Bytes, in.Accepted, "cancelled", "%s", id)
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func (a *app) instancesRetry() *cobra.Command {
	var s several
	var body apiclient.RetryOneRequest
	var newKey bool
	cmd := &cobra.Command{
		Use: "retry ID...|--query QUERY", Short: "Run faulted instances again, from the call that failed or from an activity", Args: s.args, ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if s.query != "" {
				if body.From != "" || newKey {
					return usage("--from and --new-key are for single instances")
				}
				return a.job(cmd.Context(), c, &s, apiclient.JobRequest{Kind: "retry"})
			}
			body.Reason = s.reason
			if newKey {
				body.KeepKey = new(false)
			}
			return a.each("instances", args, func(id, part string) error {
				in, err := c.RetryInstance(cmd.Context(), id, body, a.opts(part)...)
				if err != nil {
					return err
				}
				return a.done(in.Bytes, in.Accepted, "retried, is "+in.Body.SubStatus, "%s", id)
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&body.From, "from", "", "the activity to begin at (default: the call that failed)")
	cmd.Flags().Int64Var(&body.Execution, "execution", 0, "which execution of it, as the journal numbers them")
	cmd.Flags().BoolVar(&newKey, "new-key", false, "make the call with another idempotency key than the one before")
	return cmd
}

func (a *app) instancesAlter() *cobra.Command {
	var file, reason string
	var dry bool
	cmd := &cobra.Command{
		Use: "alter ID --file FILE", Short: "Change an instance, all or nothing: skip, setVariable, migrate, reschedule, …",
		Long: "Change an instance in one commit, all or nothing. FILE (- is standard input) has a JSON list of alterations, such as\n" +
			`[{"type": "setVariable", "variable": "paid", "value": true}, {"type": "retry", "activity": "ship"}]` + "\ndocs/api.md#alterations has all of them.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return usage("say with --file what to alter; - is standard input")
			}
			raw, err := a.readSmall(file, maxBody, "a list of alterations")
			if err != nil {
				return err
			}
			body := apiclient.AlterRequest{Reason: reason}
			if err := decodeStrict(raw, &body.Alterations); err != nil {
				return usage("%s is no list of alterations: %w", file, err)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			id := ids("instances", args)[0]
			answer, err := c.AlterInstance(cmd.Context(), id, body, apiclient.AlterInstanceQuery{DryRun: &dry}, a.opts("")...)
			if err != nil {
				return err
			}
			if x := answer.Body.Altered; x != nil {
				return a.wouldAlter(x, answer.Bytes)
			}
			return a.done(answer.Bytes, answer.Accepted, "altered", "%s", id)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "file with the alterations")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would happen; exit code 1 if it does not fit")
	return cmd
}

func (a *app) wouldAlter(x *apiclient.Altered, raw []byte) error {
	if a.asData() {
		v, err := decodeJSON(raw)
		if err != nil {
			return err
		}
		if err := a.data(v); err != nil {
			return err
		}
	} else {
		for _, did := range x.Did {
			fmt.Fprintln(a.out, "would:", did)
		}
		if len(x.Next) > 0 {
			fmt.Fprintln(a.out, "next:", strings.Join(x.Next, ", "))
		}
	}
	if x.Fits {
		return nil
	}
	lines := []string{"it does not fit"}
	for _, e := range x.Errors {
		lines = append(lines, "  "+e.Pointer+": "+e.Detail)
	}
	return &exitError{ExitBad, errors.New(strings.Join(lines, "\n"))}
}

func (a *app) instancesDelete() *cobra.Command {
	var s several
	cmd := &cobra.Command{
		Use: "delete ID...|--query QUERY", Short: "Cancel instances if they run, and remove them", Args: s.args, ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if s.query != "" {
				return a.job(cmd.Context(), c, &s, apiclient.JobRequest{Kind: "delete"})
			}
			if err := a.confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.each("instances", args, func(id, _ string) error {
				answer, err := c.DeleteInstance(cmd.Context(), id)
				if err != nil {
					return err
				}
				return a.done(nil, answer.Accepted, "deleted", "%s", id)
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func (a *app) instancesExport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "export ID", Short: "Write an instance with all that it needs to go on", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			state, err := c.ExportState(cmd.Context(), ids("instances", args)[0])
			if err != nil {
				return err
			}
			if out == "" {
				_, err = a.out.Write(state.Bytes)
				return err
			}
			return os.WriteFile(out, state.Bytes, 0o600)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

func (a *app) instancesImport() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "import ID FILE", Short: "Replace an instance by an export of it", Args: cobra.ExactArgs(2),
		Long: "Replace an instance by an export of it. It must not have moved since the export, unless --force.",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.readSmall(args[1], 2*maxBody, "an export")
			if err != nil {
				return err
			}
			var body apiclient.StateRequest
			if err := decodeStrict(raw, &body); err != nil {
				return usage("%s is no export: %w", args[1], err)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			id := ids("instances", args[:1])[0]
			if err := a.confirm("replace the state of %s", id); err != nil {
				return err
			}
			var opts []apiclient.Option
			if !force {
				opts = append(opts, apiclient.IfMatch(fmt.Sprintf(`"%d"`, body.Sequence)))
			}
			answer, err := c.ImportState(cmd.Context(), id, body, opts...)
			if err != nil {
				return err
			}
			return a.done(nil, answer.Accepted, "imported", "%s", id)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also if it has moved since the export")
	return cmd
}
