package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
)

// Paging is how much of a list is shown.
type Paging struct {
	limit  int64
	all    bool
	cursor string
}

// Flags adds the flags that choose a page.
func (p *Paging) Flags(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&p.limit, "limit", 50, "show so many")
	cmd.Flags().BoolVar(&p.all, "all", false, "show all, page by page")
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "nextCursor of the list before")
	Watched(cmd)
}

// First tells that no more is shown than the stream tells of a list.
func (p *Paging) First() bool { return p.cursor == "" && !p.all && p.limit <= 50 }

// MaxPage is what the API gives at once.
const MaxPage = 500

// Lists shows as much of a list as is wanted. fetch gives one page; of the topics the stream tells when it changes.
func (a *Asker) Lists(ctx context.Context, p *Paging, v View, fetch func(limit int64, cursor string) ([]byte, error), topics ...string) error {
	if p.limit < 1 {
		return Usage("--limit must be 1 or more")
	}
	return a.Repeated(ctx, func() error {
		cursor, left, shown := p.cursor, p.limit, int64(0)
		var merged map[string]any
		var items []any
		for {
			size := min(left, MaxPage)
			if p.all {
				size = MaxPage
			}
			raw, err := fetch(size, cursor)
			if err != nil {
				return err
			}
			value, err := DecodeJSON(raw)
			if err != nil {
				return fmt.Errorf("the answer is no JSON: %w", err)
			}
			page, _ := value.(map[string]any)
			got, _ := page["items"].([]any)
			next, _ := page["nextCursor"].(string)
			cursor, shown = next, shown+int64(len(got))
			switch {
			case p.all && (a.output == "jsonl" || !a.AsData() && a.output == "name"): // as it comes: it may be long
				if err := part(a, v, got); err != nil {
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
			if err := whole(a, v, merged); err != nil {
				return err
			}
		}
		if cursor != "" && !a.AsData() {
			fmt.Fprintf(a.ErrOut, "the first %d; --all shows all, --limit more\n", shown)
		}
		return nil
	}, topics...)
}

// part shows some rows of a list that is shown as it comes.
func part(a *Asker, v View, rows []any) error {
	if a.AsData() {
		return a.Data(map[string]any{"items": rows})
	}
	return a.Table(v, rows)
}

// whole shows a list that was put together.
func whole(a *Asker, v View, page map[string]any) error {
	if a.AsData() {
		return a.Data(page)
	}
	rows, _ := page["items"].([]any)
	return a.Table(v, rows)
}

// IDs are names of things as the user gives them: also as -o name prints them.
func IDs(kind string, args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.TrimPrefix(arg, kind+"/")
	}
	return out
}

// Each does something for each id, and goes on behind what is refused, and where nobody reads any more what was done.
// It ends with the first error.
func (a *Asker) Each(kind string, args []string, do func(id string, opts []apiclient.Option) error) error {
	var first, gone error
	for i, id := range IDs(kind, args) {
		if err := do(id, a.Part(i, len(args))); err != nil {
			if errors.Is(err, syscall.EPIPE) {
				gone = err
				continue
			}
			if code, _ := codeOf(err); len(args) == 1 || code != ExitRefused {
				return err
			}
			a.Note(fmt.Sprintf("weft: %s/%s: %s", kind, id, a.Explained(err)))
			if first == nil {
				first = &exitError{ExitRefused, nil}
			}
		}
	}
	return cmp.Or(first, gone)
}

// Done tells in a line what was done, or gives the answer to a program: raw, or, without one, what was done to which id.
func (a *Asker) Done(raw []byte, accepted bool, did, format string, args ...any) error {
	subject := fmt.Sprintf(format, args...)
	if a.AsData() {
		if len(raw) == 0 {
			return a.Data(map[string]any{"id": subject, "outcome": did, "accepted": accepted})
		}
		v, err := DecodeJSON(raw)
		if err != nil {
			return err
		}
		return a.Data(v)
	}
	if accepted {
		did = "accepted: will be " + did
	}
	_, err := fmt.Fprintf(a.Out, "%s  %s\n", subject, did)
	return err
}

// JSONArg reads a value that is given as an argument: @file, @- or JSON. What is no JSON, and does not begin as an object,
// a list or a text of it, is a text.
func (a *Asker) JSONArg(arg string) (any, error) {
	if name, ok := strings.CutPrefix(arg, "@"); ok {
		raw, err := a.ReadSmall(name, MaxBody, "a value")
		if err != nil {
			return nil, err
		}
		v, err := DecodeJSON(raw)
		if err != nil {
			return nil, Usage("%s is no JSON: %w", name, err)
		}
		return v, nil
	}
	if v, err := DecodeJSON([]byte(arg)); err == nil && json.Valid([]byte(arg)) {
		return v, nil
	}
	if text := strings.TrimSpace(arg); text != "" && strings.ContainsRune(`{["`, rune(text[0])) { // nobody means half of an object
		var none any
		return nil, Usage("%s begins as JSON does and is none: %w; a text that begins so is written as JSON too, in quotes", OneLine(text), json.Unmarshal([]byte(arg), &none))
	}
	return arg, nil
}

// MaxBody is what the API takes.
const MaxBody = 1 << 20

// Inputs are values by name: k=v, or @file with an object.
func (a *Asker) Inputs(args []string) (map[string]any, error) {
	out := map[string]any{}
	for _, arg := range args {
		if strings.HasPrefix(arg, "@") {
			v, err := a.JSONArg(arg)
			if err != nil {
				return nil, err
			}
			object, ok := v.(map[string]any)
			if !ok {
				return nil, Usage("%s must have an object of inputs", arg)
			}
			for k, e := range object {
				out[k] = e
			}
			continue
		}
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, Usage("-i %s: write name=value, or @file.json", arg)
		}
		v, err := a.JSONArg(value)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// Sent shows what came of an event, a stimulus or a task.
func (a *Asker) Sent(sent *apiclient.Sent, queued *apiclient.Queued, raw []byte) error {
	if a.AsData() {
		return a.Show(View{}, raw)
	}
	if queued != nil {
		_, err := fmt.Fprintf(a.Out, "queued  %s  nothing waits for it yet\n", queued.Queued)
		return err
	}
	if sent == nil || len(sent.Outcomes) == 0 {
		_, err := fmt.Fprintln(a.Out, "done")
		return err
	}
	for _, o := range sent.Outcomes {
		if _, err := fmt.Fprintf(a.Out, "%s  %s\n", o.Outcome, strings.TrimSpace(o.InstanceID+"  "+o.Code)); err != nil {
			return err
		}
	}
	return nil
}
