// Package definitions has the commands about definitions, in the cluster and in files.
package definitions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

var definitionView = ask.View{Name: "definitions/id", Empty: "no definitions", Columns: []ask.Column{
	{Head: "DEFINITION", Path: "id"}, {Head: "VERSION", Path: "version"}, {Head: "PUBLISHED", Path: "published"}, {Head: "LATEST", Path: "latestVersion", Wide: true},
	{Head: "NAME", Path: "name"}, {Head: "SET", Path: "set", Wide: true}, {Head: "UPDATED", Path: "updatedAt", Show: ask.When}, {Head: "DESCRIPTION", Path: "description", Wide: true},
}}

// commands are those of this family.
type commands struct{ ask *ask.Asker }

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	a := commands{asker}
	definitions := &cobra.Command{Use: "definitions", Aliases: []string{"definition", "def", "d"}, Short: "List, read and publish definitions"}
	definitions.AddCommand(a.definitionsList(), a.definitionsGet(), a.definitionsVersions(), a.definitionsPublish(), a.definitionsRetract(), a.definitionsDelete(), a.definitionsRefresh(), a.definitionsReload())
	return []*cobra.Command{definitions, a.applyCommand(), a.diffCommand(), a.validateCommand(), a.fmtCommand(), a.graphCommand(), a.migrateCommand()}
}

func (a commands) definitionsList() *cobra.Command {
	var p ask.Paging
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List definitions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Lists(cmd.Context(), &p, definitionView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListDefinitions(cmd.Context(), apiclient.ListDefinitionsQuery{Limit: limit, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				return page.Bytes, nil
			}, "definitions")
		},
	}
	p.Flags(cmd)
	return cmd
}

func (a commands) definitionsGet() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "get ID", Short: "The source as it was published; -o yaml or json converts it", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			var opts []apiclient.Option
			switch {
			case a.ask.Filters():
				opts = append(opts, apiclient.Accept("application/json"))
			case a.ask.Form() != "":
				opts = append(opts, apiclient.Accept("application/"+a.ask.Form()))
			}
			src, err := c.GetDefinition(cmd.Context(), ask.IDs("definitions", args)[0], apiclient.GetDefinitionQuery{Version: version}, opts...)
			if err != nil {
				return err
			}
			if a.ask.Filters() {
				return a.ask.Show(ask.View{}, src.Bytes)
			}
			_, err = a.ask.Out.Write(src.Bytes)
			return err
		},
	}
	ask.Forms(cmd, "yaml", "json")
	cmd.Flags().Int64Var(&version, "version", 0, "another version than the published one")
	return cmd
}

func (a commands) definitionsVersions() *cobra.Command {
	var p ask.Paging
	v := ask.View{Empty: "no versions", Columns: []ask.Column{
		{Head: "VERSION", Path: "version"}, {Head: "PUBLISHED", Path: "published"}, {Head: "NOTATION", Path: "notation"}, {Head: "CREATED", Path: "createdAt", Show: ask.When},
	}}
	cmd := &cobra.Command{
		Use: "versions ID", Short: "List the versions of a definition that are kept", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.ask.Lists(cmd.Context(), &p, v, func(limit int64, cursor string) ([]byte, error) {
				return ask.BytesOf(c.ListVersions(cmd.Context(), ask.IDs("definitions", args)[0], apiclient.ListVersionsQuery{Limit: limit, Cursor: cursor}))
			})
		},
	}
	p.Flags(cmd)
	return cmd
}

func (a commands) definitionsPublish() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "publish ID", Short: "Publish a stored version: a draft, or an older one again", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.PublishVersion(cmd.Context(), ask.IDs("definitions", args)[0], apiclient.PublishRequest{Version: version}, a.ask.Opts()...)
			if err != nil {
				return err
			}
			return a.ask.Done(answer.Bytes, false, "published", "%s v%d", answer.Body.ID, answer.Body.Version)
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "the version (default: the latest)")
	return cmd
}

func (a commands) definitionsRetract() *cobra.Command {
	return &cobra.Command{
		Use: "retract ID...", Short: "Let nothing start by a definition any more; what runs goes on", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if err := a.ask.Confirm("retract %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.ask.Each("definitions", args, func(id string, opts []apiclient.Option) error {
				answer, err := c.RetractDefinition(cmd.Context(), id, opts...)
				if err != nil {
					return err
				}
				return a.ask.Done(answer.Bytes, false, "retracted", "%s", id)
			})
		},
	}
}

func (a commands) definitionsDelete() *cobra.Command {
	var force bool
	var version string
	cmd := &cobra.Command{
		Use: "delete ID...", Short: "Remove definitions, or one version", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if err := a.ask.Confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.ask.Each("definitions", args, func(id string, _ []apiclient.Option) error {
				var err error
				if version != "" {
					_, err = c.DeleteVersion(cmd.Context(), id, version)
				} else {
					_, err = c.DeleteDefinition(cmd.Context(), id, apiclient.DeleteDefinitionQuery{Force: &force})
				}
				if err != nil {
					return err
				}
				return a.ask.Done(nil, false, "deleted", "%s", id)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also while instances run; they go on to their end")
	cmd.Flags().StringVar(&version, "version", "", "only this version")
	return cmd
}

func (a commands) definitionsReload() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Let the node read its definitions directory again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.refreshed(c.ReloadDefinitions(cmd.Context(), a.ask.Opts()...))
		},
	}
}

func (a commands) definitionsRefresh() *cobra.Command {
	return &cobra.Command{
		Use: "refresh [ID...]", Short: "Index the triggers of published definitions again, of all without an id", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.ask.Completes("definitions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			return a.refreshed(c.RefreshDefinitions(cmd.Context(), apiclient.RefreshRequest{DefinitionIds: ask.IDs("definitions", args)}, a.ask.Opts()...))
		},
	}
}

// refreshed tells which definitions were read or indexed again, and which were not.
func (a commands) refreshed(answer *apiclient.Answer[apiclient.Result], err error) error {
	if err != nil {
		return err
	}
	if a.ask.AsData() {
		if err := a.ask.Show(ask.View{}, answer.Bytes); err != nil {
			return err
		}
	} else {
		for _, id := range answer.Body.Refreshed {
			if err := a.ask.Done(nil, false, "refreshed", "%s", id); err != nil {
				return err
			}
		}
	}
	for _, n := range answer.Body.NotRefreshed {
		a.ask.Note(fmt.Sprintf("weft: definitions/%s: not refreshed: %s", ask.OneLine(n.ID), ask.OneLine(n.Reason)))
	}
	switch {
	case answer.Body.Holder != "":
		a.ask.Note(fmt.Sprintf("node %s does the same already (%s)", answer.Body.Holder, answer.Body.Status))
	case len(answer.Body.NotRefreshed) > 0:
		return ask.Exit(ask.ExitBad, nil)
	case len(answer.Body.Refreshed) == 0:
		a.ask.Note("there was nothing to refresh")
	}
	return nil
}

// checked is a definition that the server would take.
type checked struct {
	ask.Source
	file          string // that names it; "": it names itself
	id            string
	before, after int64  // versions; 0: none is published
	over          *int64 // the version that is there, published or not; nil: a server of a version that does not say has none published
	wasOf         string // the set that it is of; "": none
	later         bool   // it uses others of the call, which are not published yet: the server looks at it when they are
}

// check reads the sources that args name and lets the server look at all of them before anything
// is changed. The problems of all are told at once; found has them for programs, and shown says that these see it:
// what may be a mistake is no line of text then.
func (a commands) check(ctx context.Context, args []string, strict bool, set string, shown bool) (c *apiclient.Client, ready []checked, found []any, err error) {
	all, err := a.sources(args)
	if err != nil {
		return nil, nil, nil, err
	}
	if c, err = a.ask.Client(); err != nil {
		return nil, nil, nil, err
	}
	var problems []string
	from, files := map[string]string{}, lookTogether(all)
	for _, i := range files.order() {
		s := all[i]
		would, err := c.PublishDefinition(ctx, s.Src, files.query(i, apiclient.PublishDefinitionQuery{DryRun: new(true), Strict: &strict, Set: set}), ask.ContentType(s.Name))
		var p *apiclient.ProblemError
		if errors.As(err, &p) && p.Status == 422 && files.later(i, p.Errors) {
			d := checked{Source: s, file: files.nameOf(i), id: files.defs[i].ID, later: true}
			if d.before, err = newestVersion(ctx, c, d.id); err != nil {
				return nil, nil, nil, err
			}
			from[d.id], d.after = s.Name, d.before+1
			ready = append(ready, d)
			continue
		}
		if errors.As(err, &p) && p.Status == 422 {
			problems = append(problems, ask.ProblemLines(ask.Named(p, s.Name)))
			found = append(found, findings(s.Name, "error", p.Errors)...)
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		found = append(found, findings(s.Name, "warning", would.Body.Warnings)...)
		for _, w := range would.Body.Warnings {
			if shown {
				break
			}
			if err := a.warn(s.Name, w.Line, w.Column, w.Detail, w.Code, w.Excerpt); err != nil {
				return nil, nil, nil, err
			}
		}
		for _, q := range files.children(i) {
			found = append(found, finding(s.Name, map[bool]string{true: "error", false: "warning"}[strict], q.Code, q.Detail, q.Meant, q.Excerpt, q.Place.Line, q.Place.Column))
			switch {
			case strict:
				problems = append(problems, problemText(s.Name, q))
			case !shown:
				if err := a.warn(s.Name, int64(q.Place.Line), int64(q.Place.Column), q.Detail, q.Code, q.Excerpt); err != nil {
					return nil, nil, nil, err
				}
			}
		}
		if other := from[would.Body.ID]; other != "" {
			return nil, nil, nil, ask.Usage("%s and %s are the same definition, %s: leave one of them out", other, s.Name, would.Body.ID)
		}
		from[would.Body.ID] = s.Name
		d := checked{Source: s, file: files.nameOf(i)}
		d.seen(would.Body)
		ready = append(ready, d)
	}
	if len(problems) > 0 {
		return nil, nil, found, ask.Exit(ask.ExitRefused, fmt.Errorf("nothing was published\n%s", strings.Join(problems, "\n")))
	}
	return c, ready, found, nil
}

// seen takes what a server says of a file.
func (d *checked) seen(would apiclient.Published) {
	d.id, d.before, d.after, d.over, d.wasOf = would.ID, would.Before, would.Version, would.Over, would.WasOf
	if d.over == nil && d.before > 0 {
		d.over = &d.before
	}
}

// newestVersion is the latest one of a definition; 0 if there is none.
func newestVersion(ctx context.Context, c *apiclient.Client, id string) (newest int64, err error) {
	for v, err := range c.AllVersions(ctx, id, apiclient.ListVersionsQuery{}) {
		var p *apiclient.ProblemError
		if errors.As(err, &p) && p.Status == 404 {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		newest = max(newest, v.Version)
	}
	return newest, nil
}

// findings are what a server says of a file, in severity unless it says itself.
func findings(file, severity string, items []apiclient.ProblemItem) (out []any) {
	for _, p := range items {
		out = append(out, finding(file, cmp.Or(p.Severity, severity), p.Code, p.Detail, p.Meant, p.Excerpt, int(p.Line), int(p.Column)))
	}
	return out
}

// warn shows what may be a mistake; it is in the way of nothing.
func (a commands) warn(name string, line, column int64, detail, code, excerpt string) error {
	text := fmt.Sprintf("%s:%d:%d: warning: %s (%s)\n", name, line, column, detail, code)
	for line := range strings.Lines(excerpt) {
		text += "    " + strings.TrimRight(line, "\n") + "\n"
	}
	_, err := fmt.Fprint(a.ask.ErrOut, text)
	return err
}

var appliedView = ask.View{Name: "definitions/id", Columns: []ask.Column{
	{Head: "DEFINITION", Path: "id"}, {Head: "VERSION", Path: "version", Show: func(_ *ask.Asker, v, row any) string {
		before, after := ask.At(row, "before"), v
		if before == after {
			return fmt.Sprintf("v%d", after)
		}
		if before == int64(0) {
			return fmt.Sprintf("-> v%d", after)
		}
		return fmt.Sprintf("v%d -> v%d", before, after)
	}}, {Head: "OUTCOME", Path: "outcome"}, {Head: "FILE", Path: "file"},
}}

func (a commands) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff FILE|DIRECTORY|-...", Short: "How files differ from what is published; exit code 1 if they do", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ready, _, err := a.check(cmd.Context(), args, false, "", false)
			if err != nil {
				return err
			}
			different := false
			for _, d := range ready {
				if d.before == d.after {
					continue
				}
				different = true
				old := ""
				if d.before > 0 {
					src, err := c.GetDefinition(cmd.Context(), d.id, apiclient.GetDefinitionQuery{Version: d.before})
					if err != nil {
						return err
					}
					old = string(src.Bytes)
				}
				err := difflib.WriteUnifiedDiff(a.ask.Out, difflib.UnifiedDiff{
					A: difflib.SplitLines(old), B: difflib.SplitLines(string(d.Src)), FromFile: fmt.Sprintf("%s v%d", d.id, d.before), ToFile: d.Name, Context: 3,
				})
				if err != nil {
					return err
				}
			}
			if different {
				return ask.Exit(ask.ExitBad, nil)
			}
			return nil
		},
	}
}

func (a commands) validateCommand() *cobra.Command {
	var strict bool
	var types string
	cmd := &cobra.Command{
		Use: "validate FILE|DIRECTORY|-...", Short: "Check definitions: here with the built-in activities, or with those of --server", Args: cobra.MinimumNArgs(1),
		Long: "Check definitions. Without --server and --context nothing is asked: the built-in activities and the definitions of all files are known,\n" +
			"secrets are not looked for. With one of them that node checks them with its own activities, and publishes nothing. The exit code is 1 if\n" +
			"one is not valid. What may be a mistake is a warning, and is in the way of nothing without --strict. -o json has all of it with its places.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.ask.Named() {
				_, ready, found, err := a.check(cmd.Context(), args, strict, "", a.ask.AsData())
				if code, _ := ask.ExitCode(err); code == ask.ExitRefused {
					err = ask.Exit(ask.ExitBad, errors.New(strings.TrimPrefix(err.Error(), "nothing was published\n")))
				} else if err != nil {
					return err
				}
				return a.validated(len(ready), found, err)
			}
			all, err := a.sources(args)
			if err != nil {
				return err
			}
			return a.validateHere(all, types, strict)
		},
	}
	typesflag.Add(cmd.Flags(), &types)
	cmd.Flags().BoolVar(&strict, "strict", false, "what may be a mistake is one")
	return cmd
}

// validated tells what was found; bad is the error of what is not valid.
func (a commands) validated(valid int, found []any, bad error) error {
	if !a.ask.AsData() {
		if bad == nil {
			_, bad = fmt.Fprintf(a.ask.Out, "ok: %d valid\n", valid)
		}
		return bad
	}
	if err := a.ask.Data(map[string]any{"valid": bad == nil, "items": append([]any{}, found...)}); err != nil {
		return err
	}
	if bad != nil {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// finding is a mistake, or what may be one, for programs.
func finding(file, severity, code, detail, meant, excerpt string, line, column int) map[string]any {
	return map[string]any{"file": file, "line": line, "column": column, "severity": severity, "code": code, "detail": detail, "meant": meant, "excerpt": excerpt}
}

func findingOf(file string, p workflow.Problem) map[string]any {
	return finding(file, map[bool]string{true: "warning", false: "error"}[p.Warning], p.Code, p.Detail, p.Meant, p.Excerpt, p.Place.Line, p.Place.Column)
}

func (a commands) validateHere(all []ask.Source, dir string, strict bool) error {
	types, err := typesflag.Types(dir)
	if err != nil {
		return err
	}
	var lines []string
	var found []any
	for _, c := range checkHere(all, types, readSource) {
		if strict {
			c.problems = c.problems.Strict()
		}
		for _, p := range c.problems.WithExcerpts(c.Src) {
			found = append(found, findingOf(c.Name, p))
			switch {
			case !p.Warning:
				lines = append(lines, problemText(c.Name, p))
			case !a.ask.AsData():
				if err := a.warn(c.Name, int64(p.Place.Line), int64(p.Place.Column), p.Detail, p.Code, p.Excerpt); err != nil {
					return err
				}
			}
		}
	}
	var bad error
	if len(lines) > 0 {
		bad = ask.Exit(ask.ExitBad, errors.New(strings.Join(lines, "\n")))
	}
	return a.validated(len(all), found, bad)
}

// reading is a source with what was found in it.
type reading struct {
	ask.Source
	def      *workflow.Definition // as far as it could be read; nil: not at all
	prog     *engine.Program      // nil: it has mistakes
	problems workflow.Problems
}

// checkHere checks definitions with the activity types of a registry. They know each other; of two with one id the later version
// is known, and of two with one version the later source.
func checkHere(all []ask.Source, registry *engine.Registry, read func(ask.Source, workflow.Types) (*workflow.Definition, workflow.Problems)) []reading {
	defs := map[string]*workflow.Definition{}
	out := make([]reading, len(all))
	for i, s := range all {
		out[i].Source = s
		out[i].def, out[i].problems = read(s, registry)
		if def := out[i].def; def != nil && (defs[def.ID] == nil || defs[def.ID].Version <= def.Version) {
			defs[def.ID] = def
		}
	}
	var latest []*workflow.Definition
	for _, id := range slices.Sorted(maps.Keys(defs)) {
		latest = append(latest, defs[id])
	}
	opts := engine.Options{Registry: registry, Evaluators: expression.All(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
		if i := meant(latest, ref); i >= 0 {
			return latest[i], true
		}
		return nil, false
	}}
	for i, c := range out {
		if c.def != nil {
			prog, found := check.Definition(c.def, check.Options{Options: opts, Child: func(id string) *workflow.Definition { return defs[id] }, Starts: func(event string) []string { return check.StartedBy(defs, event) }})
			out[i].problems = c.problems.Join(found)
			if bad, _ := out[i].problems.Split(); len(bad) == 0 {
				out[i].prog = prog
			}
		}
	}
	return out
}

func readSource(s ask.Source, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	if strings.EqualFold(filepath.Ext(s.Name), ".json") || s.Name == "-" && elsajson.Looks(s.Src) {
		return elsajson.Read(s.Src, s.Name, types)
	}
	return weftyaml.Read(s.Src, s.Name, types)
}

func (a commands) graphCommand() *cobra.Command {
	var format, out, types string
	var version int64
	cmd := &cobra.Command{
		Use: "graph FILE|DEFINITION|instances/ID", Short: "Draw a definition, or an instance with what it did", Args: cobra.ExactArgs(1), ValidArgsFunction: ask.OrFiles(a.ask.Completes("definitions")),
		Long: "Draw a definition, or an instance with what it did. A FILE is drawn here; for the rest a node is asked: first for\n" +
			"a definition with this id, then for an instance.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o := a.ask.Form(); o != "" && cmd.Flags().Changed("format") && o != format {
				return ask.Usage("-o is %s, and --format is %s: they are the same, say one of them", o, format)
			}
			picture, err := a.picture(cmd.Context(), args[0], types, cmp.Or(a.ask.Form(), format), version)
			if err != nil {
				return err
			}
			if out != "" {
				return ask.WriteFile(out, picture)
			}
			_, err = a.ask.Out.Write(picture)
			return err
		},
	}
	ask.Forms(cmd, pictures...)
	typesflag.Add(cmd.Flags(), &types)
	cmd.Flags().StringVar(&format, "format", "text", "text, svg, mermaid or dot, as -o")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	cmd.Flags().Int64Var(&version, "version", 0, "version of the definition (default: the published one)")
	return cmd
}

var pictures = []string{"text", "svg", "mermaid", "dot"}

func (a commands) picture(ctx context.Context, arg, dir, format string, version int64) ([]byte, error) {
	if !slices.Contains(pictures, format) {
		return nil, ask.Usage("--format is %q; it may be text, svg, mermaid or dot", format)
	}
	if ask.LooksLikeFile(arg) {
		src, err := a.ask.ReadDefinition(arg)
		if err != nil {
			return nil, err
		}
		types, err := typesflag.Types(dir)
		if err != nil {
			return nil, err
		}
		return drawn(ask.Source{Name: arg, Src: src}, types, format)
	}
	c, err := a.ask.Client()
	if err != nil {
		return nil, err
	}
	instance, isInstance := strings.CutPrefix(arg, "instances/")
	if !isInstance {
		answer, err := c.DrawDefinition(ctx, strings.TrimPrefix(arg, "definitions/"), apiclient.DrawDefinitionQuery{Version: version, Format: format})
		var p *apiclient.ProblemError
		if !errors.As(err, &p) || p.Code != "definition-not-found" || version != 0 {
			if err != nil {
				return nil, err
			}
			return answer.Bytes, nil
		}
	}
	answer, err := c.DrawInstance(ctx, instance, apiclient.DrawInstanceQuery{Format: format})
	var p *apiclient.ProblemError
	if errors.As(err, &p) && p.Code == "instance-not-found" && !isInstance {
		return nil, ask.Exit(ask.ExitRefused, fmt.Errorf("there is no definition and no instance %q", arg))
	}
	if err != nil {
		return nil, err
	}
	return answer.Bytes, nil
}

// drawn draws the definition of a file.
func drawn(s ask.Source, types workflow.Types, format string) ([]byte, error) {
	def, problems := readSource(s, types)
	if def == nil || def.Root == nil {
		if len(problems) > 0 {
			return nil, ask.Exit(ask.ExitBad, fmt.Errorf("%s:%d:%d: %s", s.Name, problems[0].Place.Line, problems[0].Place.Column, problems[0].Detail))
		}
		return nil, ask.Exit(ask.ExitBad, fmt.Errorf("%s has nothing to draw", s.Name))
	}
	g := graph.New(def, graph.Options{Types: types})
	var b strings.Builder
	var err error
	switch format {
	case "svg":
		err = g.WriteSVG(&b, graph.SVG{Alone: true})
	case "mermaid":
		err = g.WriteMermaid(&b)
	case "dot":
		err = g.WriteDOT(&b)
	default:
		err = g.WriteText(&b, 0)
	}
	return []byte(b.String()), err
}
