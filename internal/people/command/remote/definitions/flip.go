package definitions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// flip notes in a row of apply what starts instances by itself with the new version and did not before, the other way round,
// and how many instances go on with the version before. What cannot be told is left out: the definition is published.
func (a commands) flip(ctx context.Context, c *apiclient.Client, d checked, dry bool, row map[string]any) {
	var before, after []string
	var err error
	if d.before > 0 {
		if before, err = starts(ctx, c, d.id, d.before); err != nil {
			return
		}
		if n, more, err := running(ctx, c, d.id, d.before); err == nil {
			row["running"], row["runningMore"] = n, more
		}
	}
	if dry {
		return // nothing knows the new version
	}
	if after, err = starts(ctx, c, d.id, d.after); err != nil {
		return
	}
	without := func(all, of []string) []any {
		out := []any{}
		for _, s := range all {
			if !slices.Contains(of, s) {
				out = append(out, s)
			}
		}
		return out
	}
	row["added"], row["removed"] = without(after, before), without(before, after)
}

// starts are what starts instances of a version by itself, in words.
func starts(ctx context.Context, c *apiclient.Client, id string, version int64) ([]string, error) {
	answer, err := c.GetInterface(ctx, id, apiclient.GetInterfaceQuery{Version: version})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range answer.Body.Starts {
		kind := s.ActivityType[strings.LastIndexByte(s.ActivityType, '.')+1:]
		switch kind {
		case "Event":
			kind = "trigger event"
		case "HttpEndpoint":
			kind = "route"
		case "Timer", "Cron", "StartAt":
			kind = "schedule"
		default:
			kind = "trigger " + kind
		}
		out = append(out, kind+" "+s.When)
	}
	return out, nil
}

// running is how many instances of a version have not ended, of a page; more: there are others.
func running(ctx context.Context, c *apiclient.Client, id string, version int64) (n int, more bool, err error) {
	page, err := c.ListSummaries(ctx, apiclient.ListInstancesQuery{DefinitionID: id, Version: version, Status: "Running", Limit: ask.MaxPage})
	if err != nil {
		return 0, false, err
	}
	return len(page.Body.Items), page.Body.NextCursor != nil, nil
}

// flips shows what the rows of apply have of it.
func (a commands) flips(rows []any) error {
	if !a.ask.ForPeople() {
		return nil
	}
	var b strings.Builder
	for _, row := range rows {
		id := ask.OneLine(ask.Text(ask.At(row, "id")))
		for _, of := range []struct{ name, sign string }{{"added", "+"}, {"removed", "-"}} {
			list, _ := ask.At(row, of.name).([]any)
			for _, s := range list {
				fmt.Fprintf(&b, "  %s  %s %s\n", id, of.sign, ask.OneLine(ask.Text(s)))
			}
		}
		if n, _ := ask.At(row, "running").(int); n > 0 {
			fmt.Fprintf(&b, "  %s  %s%d running stay on v%d\n", id, map[bool]string{true: "over "}[ask.At(row, "runningMore") == true], n, ask.At(row, "before"))
		}
	}
	_, err := fmt.Fprint(a.ask.Out, b.String())
	return err
}

// served waits until all nodes know what was published at a revision: each tells it with its heartbeat, some seconds later.
func (a commands) served(ctx context.Context, c *apiclient.Client, revision int64, wait time.Duration) error {
	for began := time.Now(); ; {
		nodes, err := c.ListNodes(ctx)
		if err != nil {
			return err
		}
		var behind []string
		for _, n := range nodes.Body.Items {
			if n.CatalogRevision < revision {
				behind = append(behind, n.NodeID)
			}
		}
		all, took := len(nodes.Body.Items), time.Since(began)
		switch {
		case len(behind) == 0:
			a.ask.Note(fmt.Sprintf("nodes  %d of %d know it", all, all))
			return nil
		case took > wait:
			return ask.Exit(ask.ExitNotOver, fmt.Errorf("it is published, and %d of %d nodes know it: %s does not after %s; weft top shows how far it is behind", all-len(behind), all, strings.Join(behind, ", "), ask.Short(took)))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
