package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
)

// paging is how much of a list is shown.
type paging struct {
	limit  int64
	all    bool
	cursor string
}

func (p *paging) flags(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&p.limit, "limit", 50, "show so many")
	cmd.Flags().BoolVar(&p.all, "all", false, "show all, page by page")
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "nextCursor of the list before")
}

// maxPage is what the API gives at once.
const maxPage = 500

// lists shows as much of a list as is wanted. fetch gives one page.
func (a *app) lists(ctx context.Context, p *paging, v view, fetch func(limit int64, cursor string) ([]byte, error)) error {
	if p.limit < 1 {
		return usage("--limit must be 1 or more")
	}
	return a.repeated(ctx, func() error {
		cursor, left, shown := p.cursor, p.limit, int64(0)
		var merged map[string]any
		var items []any
		for {
			size := min(left, maxPage)
			if p.all {
				size = maxPage
			}
			raw, err := fetch(size, cursor)
			if err != nil {
				return err
			}
			value, err := decodeJSON(raw)
			if err != nil {
				return fmt.Errorf("the answer is no JSON: %w", err)
			}
			page, _ := value.(map[string]any)
			got, _ := page["items"].([]any)
			next, _ := page["nextCursor"].(string)
			cursor, shown = next, shown+int64(len(got))
			switch {
			case p.all && (a.output == "jsonl" || !a.asData() && a.output == "name"): // as it comes: it may be long
				if err := a.part(v, got); err != nil {
					return err
				}
			default:
				items, merged = append(items, got...), page
			}
			if left -= int64(len(got)); next == "" || !p.all && left <= 0 {
				break
			}
		}
		if merged != nil {
			if items == nil {
				items = []any{}
			}
			merged["items"] = items
			if err := a.value(v, merged); err != nil {
				return err
			}
		}
		if cursor != "" && !a.asData() {
			fmt.Fprintf(a.errOut, "the first %d; --all shows all, --limit more\n", shown)
		}
		return nil
	})
}

// part shows some rows of a list that is shown as it comes.
func (a *app) part(v view, rows []any) error {
	if a.asData() {
		return a.data(map[string]any{"items": rows})
	}
	return a.table(v, rows)
}

// value shows a list that was put together.
func (a *app) value(v view, page map[string]any) error {
	if a.asData() {
		return a.data(page)
	}
	rows, _ := page["items"].([]any)
	return a.table(v, rows)
}

// ids are names of things as the user gives them: also as -o name prints them.
func ids(kind string, args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.TrimPrefix(arg, kind+"/")
	}
	return out
}

// each does something for each id, and goes on behind what is refused. It ends with the
// first error.
func (a *app) each(kind string, args []string, do func(id, part string) error) error {
	var first error
	if len(args) > 1 && a.key == "" {
		a.key, a.made = apiclient.NewKey(), true // one of which all are parts: who repeats the line repeats each
	}
	for i, id := range ids(kind, args) {
		part := ""
		if len(args) > 1 {
			part = fmt.Sprintf("-%d", i+1)
		}
		if err := do(id, part); err != nil {
			if code, _ := codeOf(err); len(args) == 1 || code != ExitRefused {
				return err
			}
			fmt.Fprintf(a.errOut, "weft: %s/%s: %s\n", kind, id, a.explained(err))
			if first == nil {
				first = &exitError{ExitRefused, nil}
			}
		}
	}
	return first
}

// completes gives ids that begin with what was typed, of the first 50, within half a second.
func (a *app) completes(fetch func(ctx context.Context, c *apiclient.Client) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), 500*time.Millisecond)
		defer cancel()
		c, err := a.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := fetch(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, id := range all {
			if strings.HasPrefix(id, typed) {
				out = append(out, id)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeInstances() cobra.CompletionFunc {
	return a.completes(func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListSummaries(ctx, apiclient.ListInstancesQuery{})
		if err != nil {
			return nil, err
		}
		var out []string
		for _, in := range page.Body.Items {
			out = append(out, in.InstanceID)
		}
		return out, nil
	})
}

func (a *app) completeDefinitions() cobra.CompletionFunc {
	return a.completes(func(ctx context.Context, c *apiclient.Client) ([]string, error) {
		page, err := c.ListDefinitions(ctx, apiclient.ListDefinitionsQuery{})
		if err != nil {
			return nil, err
		}
		var out []string
		for _, d := range page.Body.Items {
			out = append(out, d.ID)
		}
		return out, nil
	})
}

// done tells in a line what was done, or gives the answer to a program.
func (a *app) done(raw []byte, accepted bool, did, format string, args ...any) error {
	if a.asData() && len(raw) > 0 {
		v, err := decodeJSON(raw)
		if err != nil {
			return err
		}
		return a.data(v)
	}
	if accepted {
		did = "accepted: will be " + did
	}
	_, err := fmt.Fprintf(a.out, "%s  %s\n", fmt.Sprintf(format, args...), did)
	return err
}

// jsonArg reads a value that is given as an argument: @file, @- or JSON; what is no JSON is a text.
func (a *app) jsonArg(arg string) (any, error) {
	if name, ok := strings.CutPrefix(arg, "@"); ok {
		raw, err := a.readSmall(name, maxBody, "a value")
		if err != nil {
			return nil, err
		}
		v, err := decodeJSON(raw)
		if err != nil {
			return nil, usage("%s is no JSON: %w", name, err)
		}
		return v, nil
	}
	if v, err := decodeJSON([]byte(arg)); err == nil && json.Valid([]byte(arg)) {
		return v, nil
	}
	return arg, nil
}

// maxBody is what the API takes.
const maxBody = 1 << 20

// inputs are values by name: k=v, or @file with an object.
func (a *app) inputs(args []string) (map[string]any, error) {
	out := map[string]any{}
	for _, arg := range args {
		if strings.HasPrefix(arg, "@") {
			v, err := a.jsonArg(arg)
			if err != nil {
				return nil, err
			}
			object, ok := v.(map[string]any)
			if !ok {
				return nil, usage("%s must have an object of inputs", arg)
			}
			for k, e := range object {
				out[k] = e
			}
			continue
		}
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, usage("-i %s: write name=value, or @file.json", arg)
		}
		v, err := a.jsonArg(value)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}
