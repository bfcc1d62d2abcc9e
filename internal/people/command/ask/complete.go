package ask

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow"
)

// A completion may take so long, and shows so many.
const (
	completeFor  = 500 * time.Millisecond
	completeMost = 50
)

// known gives ids of a kind, of the first page that the API has.
var known = map[string]func(ctx context.Context, c *apiclient.Client) ([]string, error){
	"instances": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListSummaries(ctx, apiclient.ListInstancesQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.SummaryFound) []apiclient.Summary { return p.Items }, func(in *apiclient.Summary) string { return in.InstanceID })
	},
	"definitions": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListDefinitions(ctx, apiclient.ListDefinitionsQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.DefinitionList) []apiclient.Definition { return p.Items }, func(d *apiclient.Definition) string { return d.ID })
	},
	"nodes": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListNodes(ctx)
		return idsOf(page, err, func(p *apiclient.NodeList) []apiclient.Node { return p.Items }, func(n *apiclient.Node) string { return n.NodeID })
	},
	"locks": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListLocks(ctx, apiclient.ListLocksQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.Locks) []apiclient.Lock { return p.Items }, func(l *apiclient.Lock) string { return l.Name })
	},
	"webhooks": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		hooks, err := c.ListWebhooks(ctx)
		return idsOf(hooks, err, func(h *apiclient.Webhooks) []apiclient.Webhook { return h.Items }, func(w *apiclient.Webhook) string { return w.Name })
	},
	"jobs": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListJobs(ctx, apiclient.ListJobsQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.JobList) []apiclient.Job { return p.Items }, func(j *apiclient.Job) string { return j.ID })
	},
	"queue": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListQueue(ctx, apiclient.ListQueueQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.QueueItemList) []apiclient.QueueItem { return p.Items }, func(q *apiclient.QueueItem) string { return q.ID })
	},
	"dead-letters": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListDeadLetters(ctx, apiclient.ListDeadLettersQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.DeadLetterList) []apiclient.DeadLetter { return p.Items }, func(l *apiclient.DeadLetter) string { return l.ID })
	},
	"tasks": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListTasks(ctx, apiclient.ListTasksQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.TaskList) []apiclient.Task { return p.Items }, func(t *apiclient.Task) string { return t.TaskID })
	},
	"user-tasks": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListUserTasks(ctx, apiclient.ListUserTasksQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.UserTaskList) []apiclient.UserTask { return p.Items }, func(t *apiclient.UserTask) string { return t.TaskID })
	},
	"bookmarks": func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListBookmarks(ctx, apiclient.ListBookmarksQuery{Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.Bookmarks) []apiclient.Awaiting { return p.Items }, func(b *apiclient.Awaiting) string { return b.BookmarkID })
	},
	"events": func(ctx context.Context, c *apiclient.Client) ([]string, error) { // that somebody waits for
		page, err := c.ListBookmarks(ctx, apiclient.ListBookmarksQuery{ActivityType: "Elsa.Event", Limit: MaxPage})
		return idsOf(page, err, func(p *apiclient.Bookmarks) []apiclient.Awaiting { return p.Items }, func(b *apiclient.Awaiting) string { return Deref(b.Name) })
	},
}

// idsOf are the ids on a page.
func idsOf[P, T any](page *apiclient.Answer[P], err error, items func(*P) []T, id func(*T) string) (ids []string, _ error) {
	if err != nil {
		return nil, err
	}
	all := items(&page.Body)
	for i := range all {
		ids = append(ids, id(&all[i]))
	}
	return ids, nil
}

var noDefinition = regexp.MustCompile(`^there is no definition "(.+)"$`)

// nearest is which definition was probably meant by one that is not there; "" if that cannot be told at once.
func nearest(ctx context.Context, a *Asker, err error) string {
	var problem *apiclient.ProblemError
	if !errors.As(err, &problem) || problem.Code != "definition-not-found" {
		return ""
	}
	m := noDefinition.FindStringSubmatch(problem.Detail)
	if m == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, completeFor)
	defer cancel()
	ids, err := known["definitions"](ctx, a.api)
	if err != nil {
		return ""
	}
	return workflow.DidYouMean(m[1], ids)
}

// Completes completes ids of a kind from the server, also as -o name prints them.
func (a *Asker) Completes(kind string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeFor)
		defer cancel()
		c, err := a.Client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := known[kind](ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		prefix := ""
		if strings.HasPrefix(typed, kind+"/") {
			prefix = kind + "/"
		}
		slices.Sort(all)
		var out []string
		for _, id := range slices.Compact(all) {
			if id = prefix + id; id != prefix && strings.HasPrefix(id, typed) && !slices.Contains(args, id) && len(out) < completeMost {
				out = append(out, id)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// ThenFiles completes ids for the first argument only; the others are files.
func ThenFiles(ids cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return ids(cmd, args, typed)
	}
}

// OrFiles completes files too, where nothing else fits.
func OrFiles(ids cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		out, _ := ids(cmd, args, typed)
		return out, cobra.ShellCompDirectiveDefault
	}
}

// CompletesContexts completes the name of a context.
func (a *Asker) CompletesContexts(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	all, err := a.ReadContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return fitting(slices.Sorted(maps.Keys(all.Contexts)), typed)
}

// fitting are the values that begin with what was typed.
func fitting(values []string, typed string) ([]string, cobra.ShellCompDirective) {
	fits := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, typed) })
	return fits, cobra.ShellCompDirectiveNoFileComp
}

// completeFlags completes the values of the flags of all.
func completeFlags(a *Asker, cmd *cobra.Command) {
	for name, values := range map[string]cobra.CompletionFunc{
		"context": func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.CompletesContexts(c, nil, typed)
		},
		"time": func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return fitting([]string{"relative", "iso", "local"}, typed)
		},
		"output": func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return fitting(formsOf(c), typed)
		},
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, values) // these flags are there, and once
	}
}
