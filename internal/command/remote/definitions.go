package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/graph"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

var definitionView = view{name: "definitions/id", empty: "no definitions", columns: []column{
	{head: "DEFINITION", path: "id"}, {head: "VERSION", path: "version"}, {head: "PUBLISHED", path: "published"}, {head: "LATEST", path: "latestVersion", wide: true},
	{head: "NAME", path: "name"}, {head: "UPDATED", path: "updatedAt", show: when}, {head: "DESCRIPTION", path: "description", wide: true},
}}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func (a *app) definitionCommands() []*cobra.Command {
	definitions := &cobra.Command{Use: "definitions", Aliases: []string{"definition", "def", "d"}, Short: "List, read and publish definitions"}
	definitions.AddCommand(a.definitionsList(), a.definitionsGet(), a.definitionsPublish(), a.definitionsRetract(), a.definitionsDelete(), a.definitionsReload())
	return []*cobra.Command{definitions, a.applyCommand(), a.diffCommand(), a.validateCommand(), a.graphCommand()}
}

func (a *app) definitionsList() *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List definitions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.lists(cmd.Context(), &p, definitionView, func(limit int64, cursor string) ([]byte, error) {
				page, err := c.ListDefinitions(cmd.Context(), apiclient.ListDefinitionsQuery{Limit: limit, Cursor: cursor})
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

func (a *app) definitionsGet() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "get ID", Short: "The source as it was published; -o yaml or json converts it", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeDefinitions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			var opts []apiclient.Option
			switch a.output {
			case "yaml", "json":
				opts = append(opts, apiclient.Accept("application/"+a.output))
			}
			src, err := c.GetDefinition(cmd.Context(), ids("definitions", args)[0], apiclient.GetDefinitionQuery{Version: version}, opts...)
			if err != nil {
				return err
			}
			_, err = a.out.Write(src.Bytes)
			return err
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "another version than the published one")
	return cmd
}

func (a *app) definitionsPublish() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "publish ID", Short: "Publish a stored version: a draft, or an older one again", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeDefinitions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			answer, err := c.PublishVersion(cmd.Context(), ids("definitions", args)[0], apiclient.PublishRequest{Version: version}, a.opts("")...)
			if err != nil {
				return err
			}
			return a.done(answer.Bytes, false, "published", "%s v%d", answer.Body.ID, answer.Body.Version)
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "the version (default: the latest)")
	return cmd
}

func (a *app) definitionsRetract() *cobra.Command {
	return &cobra.Command{
		Use: "retract ID...", Short: "Let nothing start by a definition any more; what runs goes on", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeDefinitions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.confirm("retract %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.each("definitions", args, func(id, part string) error {
				answer, err := c.RetractDefinition(cmd.Context(), id, a.opts(part)...)
				if err != nil {
					return err
				}
				return a.done(answer.Bytes, false, "retracted", "%s", id)
			})
		},
	}
}

func (a *app) definitionsDelete() *cobra.Command {
	var force bool
	var version string
	cmd := &cobra.Command{
		Use: "delete ID...", Short: "Remove definitions, or one version", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeDefinitions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.each("definitions", args, func(id, _ string) error {
				var err error
				if version != "" {
					_, err = c.DeleteVersion(cmd.Context(), id, version)
				} else {
					_, err = c.DeleteDefinition(cmd.Context(), id, apiclient.DeleteDefinitionQuery{Force: &force})
				}
				if err != nil {
					return err
				}
				return a.done(nil, false, "deleted", "%s", id)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also while instances run; they go on to their end")
	cmd.Flags().StringVar(&version, "version", "", "only this version")
	return cmd
}

func (a *app) definitionsReload() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Let the node read its definitions directory again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			answer, err := c.ReloadDefinitions(cmd.Context(), a.opts("")...)
			if err != nil {
				return err
			}
			return a.done(answer.Bytes, false, "reloaded", "definitions")
		},
	}
}

// looksLikeFile tells files from ids: they exist, have a folder, or end as definitions do.
func looksLikeFile(arg string) bool {
	if arg == "-" || strings.ContainsAny(arg, `/\`) && !strings.HasPrefix(arg, "definitions/") && !strings.HasPrefix(arg, "instances/") {
		return true
	}
	return isDefinitionFile(arg)
}

func isDefinitionFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return !strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml"), ".test")
	case ".json":
		return true
	}
	return false
}

func (a *app) readDefinition(name string) ([]byte, error) {
	src, err := a.readSmall(name, maxBody, "a definition")
	if err == nil && strings.TrimSpace(string(src)) == "" {
		return nil, usage("%s is empty", name)
	}
	return src, err
}

func contentType(name string) apiclient.Option {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return apiclient.ContentType("application/json")
	case ".yaml", ".yml":
		return apiclient.ContentType("application/yaml")
	}
	return apiclient.ContentType("application/x-www-form-urlencoded") // told by its look
}

// source is a definition to be published.
type source struct {
	name string
	src  []byte
}

// sources reads the definitions of a file, of a directory and what is below it, or of
// standard input.
func (a *app) sources(args []string) ([]source, error) {
	var out []source
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			src, err := a.readDefinition(arg)
			if err != nil {
				return nil, err
			}
			out = append(out, source{arg, src})
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(out)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != arg && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case d.IsDir() || !isDefinitionFile(path):
				return nil
			}
			src, err := a.readDefinition(path)
			out = append(out, source{path, src})
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, usage("%s has no definitions (*.yaml, *.yml, *.json)", arg)
		}
	}
	return out, nil
}

// checked is a definition that the server would take.
type checked struct {
	source
	id            string
	before, after int64 // versions; 0: none is published
}

// check lets the server look at all sources before anything is changed. The problems of all
// are told at once.
func (a *app) check(ctx context.Context, c *apiclient.Client, all []source) ([]checked, error) {
	var out []checked
	var problems []string
	from := map[string]string{}
	for _, s := range all {
		would, err := c.PublishDefinition(ctx, s.src, apiclient.PublishDefinitionQuery{DryRun: new(true)}, contentType(s.name))
		var p *apiclient.ProblemError
		if errors.As(err, &p) && p.Status == 422 {
			problems = append(problems, problemLines(named(p, s.name)))
			continue
		}
		if err != nil {
			return nil, err
		}
		if other := from[would.Body.ID]; other != "" {
			return nil, usage("%s and %s are the same definition, %s", other, s.name, would.Body.ID)
		}
		from[would.Body.ID] = s.name
		before, err := a.published(ctx, c, would.Body.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, checked{s, would.Body.ID, before, would.Body.Version})
	}
	if len(problems) > 0 {
		return nil, &exitError{ExitRefused, fmt.Errorf("nothing was published\n%s", strings.Join(problems, "\n"))}
	}
	return out, nil
}

// published is the published version of a definition, 0 if there is none.
func (a *app) published(ctx context.Context, c *apiclient.Client, id string) (int64, error) {
	for d, err := range c.AllDefinitions(ctx, apiclient.ListDefinitionsQuery{Limit: maxPage}) {
		if err != nil {
			return 0, err
		}
		if d.ID == id && d.Published {
			return d.Version, nil
		}
	}
	return 0, nil
}

func (a *app) applyCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "apply FILE|DIRECTORY|-...", Short: "Publish what has changed; all are checked before one is published", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.sources(args)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			ready, err := a.check(cmd.Context(), c, all)
			if err != nil {
				return err
			}
			var rows []any
			for i, d := range ready {
				did := "unchanged"
				if d.before != d.after {
					did = "would be published"
					if !dry {
						part := ""
						if len(ready) > 1 {
							part = fmt.Sprintf("-%d", i+1)
						}
						if _, err := c.PublishDefinition(cmd.Context(), d.src, apiclient.PublishDefinitionQuery{}, append(a.opts(part), contentType(d.name))...); err != nil {
							return errors.Join(a.table(appliedView, rows), inFile(err, d.name))
						}
						did = "published"
					}
				}
				rows = append(rows, map[string]any{"id": d.id, "before": d.before, "version": d.after, "outcome": did, "file": d.name})
			}
			if a.asData() {
				return a.data(map[string]any{"items": rows})
			}
			return a.table(appliedView, rows)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be published")
	return cmd
}

var appliedView = view{name: "definitions/id", columns: []column{
	{head: "DEFINITION", path: "id"}, {head: "VERSION", path: "version", show: func(_ *app, v, row any) string {
		before, after := at(row, "before"), v
		if before == after {
			return fmt.Sprintf("v%d", after)
		}
		if before == int64(0) {
			return fmt.Sprintf("-> v%d", after)
		}
		return fmt.Sprintf("v%d -> v%d", before, after)
	}}, {head: "OUTCOME", path: "outcome"}, {head: "FILE", path: "file"},
}}

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff FILE|DIRECTORY|-...", Short: "How files differ from what is published; exit code 1 if they do", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.sources(args)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			ready, err := a.check(cmd.Context(), c, all)
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
				err := difflib.WriteUnifiedDiff(a.out, difflib.UnifiedDiff{
					A: difflib.SplitLines(old), B: difflib.SplitLines(string(d.src)), FromFile: fmt.Sprintf("%s v%d", d.id, d.before), ToFile: d.name, Context: 3,
				})
				if err != nil {
					return err
				}
			}
			if different {
				return &exitError{ExitBad, nil}
			}
			return nil
		},
	}
}

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE|DIRECTORY|-...", Short: "Check definitions: here with the built-in activities, or with those of --server", Args: cobra.MinimumNArgs(1),
		Long: "Check definitions. Without --server nothing is asked: the built-in activities are known, secrets and other definitions are not\n" +
			"looked for. With --server that node checks them with its own activities, and publishes nothing. The exit code is 1 if one is not valid.",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.sources(args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("server") {
				c, err := a.client()
				if err != nil {
					return err
				}
				ready, err := a.check(cmd.Context(), c, all)
				var said *exitError
				if errors.As(err, &said) && said.code == ExitRefused {
					return &exitError{ExitBad, errors.New(strings.TrimPrefix(said.Error(), "nothing was published\n"))}
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.out, "ok: %d valid\n", len(ready))
				return err
			}
			return a.validateHere(all)
		},
	}
}

func (a *app) validateHere(all []source) error {
	registry := activities.Default()
	defs := map[string]*workflow.Definition{}
	parsed := make([]*workflow.Definition, len(all))
	problems := make([]workflow.Problems, len(all))
	for i, s := range all {
		parsed[i], problems[i] = readSource(s, registry)
		if parsed[i] != nil {
			defs[parsed[i].ID] = parsed[i]
		}
	}
	var lines []string
	for i, s := range all {
		if errs, _ := problems[i].Split(); parsed[i] != nil && len(errs) == 0 {
			opts := engine.Options{Registry: registry, Evaluators: expression.All(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
				def, ok := defs[ref.ID]
				return def, ok
			}}
			_, found := check.Definition(parsed[i], check.Options{Options: opts}) // what only a node knows is not asked
			problems[i] = append(problems[i], found...)
		}
		for _, p := range problems[i].WithExcerpts(s.src) {
			if p.Warning {
				if _, err := fmt.Fprintf(a.errOut, "%s:%d:%d: warning: %s (%s)\n", s.name, p.Place.Line, p.Place.Column, p.Detail, p.Code); err != nil {
					return err
				}
				continue
			}
			text := fmt.Sprintf("%s:%d:%d: %s (%s)", s.name, p.Place.Line, p.Place.Column, p.Detail, p.Code)
			for line := range strings.Lines(p.Excerpt) {
				text += "\n    " + strings.TrimRight(line, "\n")
			}
			lines = append(lines, text)
		}
	}
	if len(lines) > 0 {
		return &exitError{ExitBad, errors.New(strings.Join(lines, "\n"))}
	}
	_, err := fmt.Fprintf(a.out, "ok: %d valid\n", len(all))
	return err
}

func readSource(s source, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	if strings.EqualFold(filepath.Ext(s.name), ".json") || s.name == "-" && elsajson.Looks(s.src) {
		return elsajson.Read(s.src, s.name, types)
	}
	return weftyaml.Read(s.src, s.name, types)
}

func (a *app) graphCommand() *cobra.Command {
	var format, out string
	var version int64
	cmd := &cobra.Command{
		Use: "graph FILE|DEFINITION|instances/ID", Short: "Draw a definition, or an instance with what it did", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeDefinitions(),
		Long: "Draw a definition, or an instance with what it did. A FILE is drawn here; for the rest a node is asked: first for\n" +
			"a definition with this id, then for an instance.",
		RunE: func(cmd *cobra.Command, args []string) error {
			picture, err := a.picture(cmd.Context(), args[0], format, version)
			if err != nil {
				return err
			}
			if out != "" {
				return os.WriteFile(out, picture, 0o600)
			}
			_, err = a.out.Write(picture)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, svg, mermaid or dot")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	cmd.Flags().Int64Var(&version, "version", 0, "version of the definition (default: the published one)")
	return cmd
}

func (a *app) picture(ctx context.Context, arg, format string, version int64) ([]byte, error) {
	if !slices.Contains([]string{"text", "svg", "mermaid", "dot"}, format) {
		return nil, usage("--format is %q; it may be text, svg, mermaid or dot", format)
	}
	if looksLikeFile(arg) {
		src, err := a.readDefinition(arg)
		if err != nil {
			return nil, err
		}
		return drawn(source{arg, src}, format)
	}
	c, err := a.client()
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
		return nil, &exitError{ExitRefused, fmt.Errorf("there is no definition and no instance %q", arg)}
	}
	if err != nil {
		return nil, err
	}
	return answer.Bytes, nil
}

// drawn draws the definition of a file.
func drawn(s source, format string) ([]byte, error) {
	types := activities.Default()
	def, problems := readSource(s, types)
	if def == nil || def.Root == nil {
		if len(problems) > 0 {
			return nil, &exitError{ExitBad, fmt.Errorf("%s:%d:%d: %s", s.name, problems[0].Place.Line, problems[0].Place.Column, problems[0].Detail)}
		}
		return nil, &exitError{ExitBad, fmt.Errorf("%s has nothing to draw", s.name)}
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
