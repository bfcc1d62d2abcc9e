package definitions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/waitflag"
	"github.com/weft-run/weft/pkg/apiclient"
)

// applyFlags are those of apply.
type applyFlags struct {
	dry, strict, prune bool
	set                string
	wait               time.Duration
}

func (a commands) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use: "apply FILE|DIRECTORY|-...", Short: "Publish what has changed; all are checked before one is published", Args: cobra.MinimumNArgs(1),
		Long: "Publish what has changed. All are checked before one is published; one that others published since then is refused, with exit code 3, and\n" +
			"those behind it are not published. It tells which triggers, schedules and routes came and went, how many instances run on\n" +
			"with the version before, and with --wait when all nodes know the new one. With --set the definitions are of that set from now on, and with\n" +
			"--prune those of the set that the files do not have are deleted: after a question, or with --yes, and not while instances of\n" +
			"them run or after a newer version was published. What was never applied with that set is never deleted. Links to\n" +
			"directories are not followed, so --prune refuses a directory that has some. Nodes of a version that knows no sets leave the definitions of one\n" +
			"to the others: use it once all nodes are upgraded.",
		Example: "  weft apply flows/\n  weft apply flows/ --wait\n  weft apply flows/ --set shop --prune --dry-run\n  weft apply flows/ --set shop --prune --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.prune && f.set == "":
				return ask.Usage("--prune deletes what is of a set and not in the files: say with --set of which")
			case f.prune && slices.Contains(args, "-"):
				return ask.Usage("--prune takes files and directories: what came through a pipe that broke would delete the rest")
			}
			if f.prune {
				link, err := ask.LinkedDirectory(args)
				if err != nil {
					return err
				}
				if link != "" {
					return ask.Usage("--prune reads no directory through a link, and would delete what was applied from %s: take the link away, or leave --prune out", link)
				}
			}
			c, ready, _, err := a.check(cmd.Context(), args, f.strict, f.set, false)
			if err != nil {
				return err
			}
			return a.apply(cmd.Context(), c, ready, f)
		},
	}
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "publish nothing if something may be a mistake")
	cmd.Flags().StringVar(&f.set, "set", "", "the definitions are of this set from now on")
	waitflag.Add(cmd, &f.wait, 30*time.Second, "wait so long until all nodes know what was published; exit code 6 if one does not")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "delete the definitions of the set that the files do not have")
	return cmd
}

func (a commands) apply(ctx context.Context, c *apiclient.Client, ready []checked, f applyFlags) error {
	extra, err := a.extra(ctx, c, ready, f)
	if err != nil {
		return err
	}
	if len(extra) > 0 && !f.dry {
		ids := make([]string, len(extra))
		for i, d := range extra {
			ids[i] = d.ID
		}
		if err := a.ask.Confirm("delete %s, which the set %s has and the files have not", strings.Join(ids, ", "), f.set); err != nil {
			return err
		}
	}
	var rows []any
	newest := int64(0)
	for i, d := range ready {
		if err := d.lookAgain(ctx, c, f); err != nil {
			return errors.Join(a.ask.Table(appliedView, rows), ask.InFile(err, d.Name))
		}
		did, revision, err := a.publish(ctx, c, d, f, a.ask.Part(i, len(ready)))
		if err != nil {
			return errors.Join(a.ask.Table(appliedView, rows), ask.InFile(err, d.Name))
		}
		row := map[string]any{"id": d.id, "before": d.before, "version": d.after, "outcome": did, "file": d.Name}
		if d.before != d.after {
			a.flip(ctx, c, d, f.dry, row)
		}
		rows, newest = append(rows, row), max(newest, revision)
	}
	refused := false
	for _, d := range extra {
		did, err := a.prune(ctx, c, d, f)
		var p *apiclient.ProblemError
		switch {
		case errors.As(err, &p) && p.Status == 409:
			refused = true
			did = fmt.Sprintf("kept: %s (%s)", p.Detail, p.Code)
		case err != nil:
			return errors.Join(a.ask.Table(appliedView, rows), err)
		}
		rows = append(rows, map[string]any{"id": d.ID, "before": d.Version, "version": d.Version, "outcome": did, "file": nil})
	}
	if a.ask.AsData() {
		err = a.ask.Data(map[string]any{"items": rows})
	} else {
		err = errors.Join(a.ask.Table(appliedView, rows), a.flips(rows))
	}
	if err == nil && newest > 0 && f.wait > 0 {
		err = a.served(ctx, c, newest, f.wait)
	}
	if err == nil && refused {
		return ask.Exit(ask.ExitRefused, nil)
	}
	return err
}

// lookAgain lets the server look at one that uses others, which are published by now.
func (d *checked) lookAgain(ctx context.Context, c *apiclient.Client, f applyFlags) error {
	if !d.later || f.dry {
		return nil
	}
	would, err := c.PublishDefinition(ctx, d.Src, apiclient.PublishDefinitionQuery{DryRun: new(true), Strict: &f.strict, Set: f.set, File: d.file}, ask.ContentType(d.Name))
	if err == nil {
		d.seen(would.Body)
	}
	return err
}

// publish publishes one, if there is something to do.
func (a commands) publish(ctx context.Context, c *apiclient.Client, d checked, f applyFlags, opts []apiclient.Option) (did string, revision int64, err error) {
	moves := f.set != "" && d.wasOf != f.set
	if moves && d.wasOf != "" {
		a.ask.Note(fmt.Sprintf("%s: %s was of the set %s", d.Name, d.id, d.wasOf))
	}
	switch {
	case d.before != d.after:
		did = "published"
	case moves:
		did = "joined the set"
	default:
		return "unchanged", 0, nil
	}
	if f.dry {
		return map[string]string{"published": "would be published", "joined the set": "would join the set"}[did], 0, nil
	}
	opts = append(opts, ask.ContentType(d.Name))
	if d.over != nil { // and not what others published since it was checked
		opts = append(opts, over(*d.over))
	}
	answer, err := c.PublishDefinition(ctx, d.Src, apiclient.PublishDefinitionQuery{Set: f.set, File: d.file}, opts...)
	if err == nil {
		return did, answer.Body.Revision, nil
	}
	var p *apiclient.ProblemError
	if errors.As(err, &p) && p.Code == "definition-moved" {
		p = ask.Named(p, d.Name)
		p.Detail += "; others published it since the files were checked: look with weft diff, and apply again"
		return did, 0, p
	}
	return did, 0, err
}

// over lets a change happen only to the version that was seen.
func over(version int64) apiclient.Option {
	return apiclient.IfMatch(strconv.Quote(strconv.FormatInt(version, 10)))
}

// prune deletes one that the files do not have, unless it went to another set, or was published, since it was listed.
func (a commands) prune(ctx context.Context, c *apiclient.Client, d apiclient.Definition, f applyFlags) (did string, err error) {
	if f.dry {
		return "would be deleted", nil
	}
	_, err = c.DeleteDefinition(ctx, d.ID, apiclient.DeleteDefinitionQuery{Set: f.set}, over(d.Version))
	var p *apiclient.ProblemError
	if errors.As(err, &p) && p.Code == "definition-not-found" {
		err = nil // somebody was faster, or an answer was lost
	}
	return "deleted", err
}

// extra are the definitions of the set that the files do not have.
func (a commands) extra(ctx context.Context, c *apiclient.Client, ready []checked, f applyFlags) ([]apiclient.Definition, error) {
	if !f.prune {
		return nil, nil
	}
	var extra []apiclient.Definition
	for d, err := range c.AllDefinitions(ctx, apiclient.ListDefinitionsQuery{Limit: ask.MaxPage}) {
		if err != nil {
			return nil, err
		}
		if ask.Deref(d.Set) == f.set && !slices.ContainsFunc(ready, func(r checked) bool { return r.id == d.ID }) {
			extra = append(extra, d)
		}
	}
	if len(extra) > 0 && !slices.ContainsFunc(ready, func(r checked) bool { return r.wasOf == f.set }) {
		return nil, ask.Usage("none of the files is of the set %s, which has %d definitions: is it the right directory? Apply it without --prune first, if it is", f.set, len(extra))
	}
	return extra, nil
}
