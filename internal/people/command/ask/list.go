package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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
		var broke error // a page behind others could not be read: those are shown, and it is told
		for {
			size := min(left, MaxPage)
			if p.all {
				size = MaxPage
			}
			raw, err := fetch(size, cursor)
			if err != nil && shown > 0 {
				broke = err
				break
			}
			if err != nil {
				return err
			}
			page, got, next, err := pageOf(raw)
			if err != nil {
				return err
			}
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
		if err := whole(a, v, merged, items); err != nil {
			return err
		}
		if broke != nil {
			a.Note(fmt.Sprintf("the first %d, and no more could be read; go on with --cursor %s", shown, Quote(cursor)))
			return broke
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

// whole shows a list that was put together of pages, the last of which is given; nil if all of them were shown as they came.
func whole(a *Asker, v View, last map[string]any, items []any) error {
	if last == nil {
		return nil
	}
	if items == nil {
		items = []any{}
	}
	if last["items"] = items; a.AsData() {
		return a.Data(last)
	}
	return a.Table(v, items)
}

// pageOf reads a page of a list: all of it, its items, and the cursor of the next one.
func pageOf(raw []byte) (page map[string]any, items []any, next string, err error) {
	value, err := DecodeJSON(raw)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the answer is no JSON: %w", err)
	}
	page, _ = value.(map[string]any)
	items, _ = page["items"].([]any)
	next, _ = page["nextCursor"].(string)
	return page, items, next, nil
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

// Inputs are values by name: k=v, or @file with an object. typed are the values of k=v that are JSON and look
// other as a text, as they were typed: for an input that is a text this is what was meant, 1.10 and not 1.1.
func (a *Asker) Inputs(args []string) (out map[string]any, typed map[string]string, err error) {
	out, typed = map[string]any{}, map[string]string{}
	given := map[string]bool{}
	for _, arg := range args {
		if strings.HasPrefix(arg, "@") {
			v, err := a.JSONArg(arg)
			if err != nil {
				return nil, nil, err
			}
			object, ok := v.(map[string]any)
			if !ok {
				return nil, nil, Usage("%s must have an object of inputs", arg)
			}
			for k, e := range object {
				out[k] = e
			}
			continue
		}
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, nil, Usage("-i %s: write name=value, or @file.json", arg)
		}
		if given[name] {
			return nil, nil, Usage(`-i %s is given 2 times: a list is written as JSON, -i '%s=["a", "b"]'`, name, name)
		}
		given[name] = true
		v, err := a.JSONArg(value)
		if err != nil {
			return nil, nil, err
		}
		out[name] = v
		if looksOther(v, value) {
			typed[name] = value
		}
	}
	return out, typed, nil
}

// looksOther reports whether a value is another text, if it is to be one, than what was typed: 1.10, and not 7 or true.
func looksOther(v any, typed string) bool {
	switch v := v.(type) {
	case string, bool:
		return fmt.Sprint(v) != typed && typed[0] != '@' && typed[0] != '"'
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return err != nil || strconv.FormatInt(n, 10) != typed
	}
	return typed[0] != '@'
}

// Sent shows what came of an event, a stimulus or a task.
// What was refused by all whom it met is exit code 3.
func (a *Asker) Sent(sent *apiclient.Sent, queued *apiclient.Queued, raw []byte) error {
	if a.AsData() {
		return errors.Join(a.Show(View{}, raw), refusedByAll(sent))
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
	return refusedByAll(sent)
}

// refusedByAll is an error if nobody took what was sent.
func refusedByAll(sent *apiclient.Sent) error {
	if sent == nil || len(sent.Outcomes) == 0 {
		return nil
	}
	for _, o := range sent.Outcomes {
		if o.Outcome != "refused" {
			return nil
		}
	}
	return Exit(ExitRefused, fmt.Errorf("it was refused, and had no effect: %s; weft why-not NAME says why", sent.Outcomes[0].Code))
}
