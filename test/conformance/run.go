package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// run does one case and returns what is wrong, nil if nothing is.
func (c *cluster) run(ctx context.Context, dir string, k Case) error {
	found, err := c.publish(ctx, dir, k)
	if err != nil {
		return err
	}
	if k.Problems != nil && found != *k.Problems {
		return fmt.Errorf("publishing found %d problems, want %d", found, *k.Problems)
	}
	switch {
	case k.Steps != nil:
		return c.steps(ctx, k.Steps)
	case k.HTTP != nil:
		return c.request(ctx, k.HTTP)
	case k.Run != "":
		return c.execute(ctx, k)
	}
	return nil
}

// publish sends the files and counts the problems; where the case does not
// speak of problems, there must be none.
func (c *cluster) publish(ctx context.Context, dir string, k Case) (int, error) {
	found := 0
	for _, file := range k.Publish {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return 0, err
		}
		typ := "application/json"
		if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" {
			typ = "application/yaml"
		}
		err = c.call(ctx, http.MethodPost, "/api/v1/definitions", http.Header{"Content-Type": {typ}}, body, nil)
		var refused *problem
		switch {
		case errors.As(err, &refused) && k.Problems != nil && refused.Status == http.StatusUnprocessableEntity:
			found += len(refused.Errors)
		case err != nil:
			return 0, fmt.Errorf("publish %s: %w", file, err)
		}
	}
	return found, nil
}

func (c *cluster) request(ctx context.Context, r *Request) error {
	status, body, err := c.send(ctx, r.Method, r.Path, nil, []byte(r.RequestBody))
	if err != nil {
		return err
	}
	if status != r.Status || string(body) != r.Body {
		return fmt.Errorf("%s %s: got %d %q, want %d %q", r.Method, r.Path, status, body, r.Status, r.Body)
	}
	return nil
}

func (c *cluster) execute(ctx context.Context, k Case) error {
	start := map[string]any{"input": k.Input}
	if k.Mode == "token" {
		start["properties"] = map[string]any{"Flowchart:ExecutionMode": "TokenBased"}
	}
	var in instance
	if err := c.postJSON(ctx, "/api/v1/definitions/"+k.Run+"/execute", start, &in); err != nil {
		return fmt.Errorf("execute: %w", err)
	}
	if k.Until == "end" {
		if err := c.drive(ctx, in.InstanceID); err != nil {
			return err
		}
	}
	family, err := c.family(ctx, in.InstanceID)
	if err != nil {
		return err
	}
	root := family[0]
	if k.Status != "" && root.Status != k.Status || k.SubStatus != "" && root.SubStatus != k.SubStatus {
		return fmt.Errorf("it is %s/%s, want %s/%s%s", root.Status, root.SubStatus, k.Status, k.SubStatus, why(family))
	}
	lines, err := c.lines(ctx, family)
	if err != nil {
		return err
	}
	if k.Lines != nil && !slices.Equal(lines, k.Lines) {
		return fmt.Errorf("it wrote %q, want %q%s", lines, k.Lines, why(family))
	}
	for _, want := range k.Contains {
		if !slices.Contains(lines, want) {
			return fmt.Errorf("it wrote %q, want %q among them%s", lines, want, why(family))
		}
	}
	return nil
}

// why tells what the instances wait for and what went wrong in them.
func why(family []instance) string {
	var b strings.Builder
	for _, in := range family {
		for _, i := range in.Incidents {
			fmt.Fprintf(&b, "; incident in %s: %s", i.ActivityType, i.Message)
		}
		for _, w := range in.Bookmarks {
			fmt.Fprintf(&b, "; waits at %s %s", w.ActivityType, w.Name)
		}
	}
	return b.String()
}

// drive resumes every bookmark by its id, as it comes, until the instance and
// everything it started is finished.
func (c *cluster) drive(ctx context.Context, root string) error {
	resumed := map[string]bool{}
	var last []instance
	for {
		family, err := c.family(ctx, root)
		if ctx.Err() != nil {
			return fmt.Errorf("it does not end%s", why(last))
		}
		if err != nil {
			return err
		}
		last = family
		running := ""
		moved := false
		for _, in := range family {
			if in.Status == "Finished" {
				continue
			}
			running = in.InstanceID
			for _, b := range in.Bookmarks {
				if resumed[b.BookmarkID] || waitsForChild[b.ActivityType] {
					continue
				}
				err := c.postJSON(ctx, "/api/v1/bookmarks/"+b.BookmarkID+"/resume", struct{}{}, nil)
				if err != nil && !gone(err) {
					return fmt.Errorf("resume %s: %w", b.ActivityType, err)
				}
				resumed[b.BookmarkID], moved = true, true
			}
		}
		switch {
		case running == "":
			return nil
		case !moved:
			// Something is under way: let the node say when it is over.
			err := c.call(ctx, http.MethodGet, "/api/v1/instances/"+running, http.Header{"Prefer": {"wait=1"}}, nil, nil)
			if err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// waitsForChild are the activities whose bookmarks a child's end resumes. By
// hand they would be resumed before that.
var waitsForChild = map[string]bool{
	"Elsa.ExecuteWorkflow": true, "Elsa.DispatchWorkflow": true, "Elsa.BulkDispatchWorkflows": true,
}

// gone tells that the bookmark is burned already, by a join for example.
func gone(err error) bool {
	var p *problem
	return errors.As(err, &p) && (p.Status == http.StatusNotFound || p.Status == http.StatusConflict)
}

// lines is what WriteLine wrote in all the instances, in the order of writing.
func (c *cluster) lines(ctx context.Context, family []instance) ([]string, error) {
	journals := make([][]journalItem, len(family))
	for i, in := range family {
		items, err := pages[journalItem](ctx, c, "/api/v1/instances/"+in.InstanceID+"/journal")
		if err != nil {
			return nil, err
		}
		slices.SortFunc(items, func(a, b journalItem) int { return int(a.Sequence - b.Sequence) })
		for _, item := range items {
			if item.Event == "WriteLine" {
				journals[i] = append(journals[i], item)
			}
		}
	}
	return merge(journals), nil
}

// merge keeps the order of each journal and takes the earliest head first.
func merge(journals [][]journalItem) []string {
	var lines []string
	for {
		next := -1
		var at time.Time
		for i, j := range journals {
			if len(j) > 0 && (next < 0 || j[0].Time.Before(at)) {
				next, at = i, j[0].Time
			}
		}
		if next < 0 {
			return lines
		}
		lines = append(lines, journals[next][0].Text)
		journals[next] = journals[next][1:]
	}
}
