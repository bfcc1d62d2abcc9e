package declared

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// Bounds of what a file may declare.
const (
	MaxFile   = 64 << 10 // bytes
	MaxFiles  = 500      // in a folder
	mostFiles = 10_000   // entries of a folder that are looked at
	maxFields = 100      // inputs, and as many outputs
	maxNames  = 50       // outcomes, and values of an enum
	maxText   = 4096     // bytes of a description
)

var (
	typeForm = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)+$`)
	nameForm = regexp.MustCompile(`^[a-z]\w{0,63}$`)

	topKeys    = []string{"$schema", "type", "title", "description", "task", "inputs", "outputs", "outcomes", "retry"}
	inputKeys  = []string{"type", "description", "required", "default", "enum"}
	outputKeys = []string{"type", "description", "required", "enum"}
	retryKeys  = []string{"attempts", "delay", "factor", "maxDelay"}
)

// Read reads what a file declares, in YAML or JSON. It gives no declaration where there are problems.
func Read(src []byte, file string) (*Declaration, workflow.Problems) {
	if len(src) > MaxFile {
		r := workflow.NewReport(nil, file)
		r.Problem("too-large", r.At(1, 1), "the file has more than %d bytes, which a declaration of an activity type has at most", MaxFile)
		return nil, r.Problems()
	}
	r := &reader{tree.New(src, file)}
	root := r.Parse()
	if root == nil || !r.Report.Empty() {
		return nil, r.Report.Problems()
	}
	if root.Kind != yaml.MappingNode {
		r.Shape(root, "a declaration of an activity type", "a mapping with type, inputs, outputs, …")
		return nil, r.Report.Problems()
	}
	d := r.declaration(root)
	if problems := r.Report.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

type reader struct{ *tree.Source }

func (r *reader) declaration(root *yaml.Node) *Declaration {
	d := &Declaration{}
	for _, p := range r.Pairs(root) {
		switch p.Name {
		case "$schema":
		case "type":
			r.typ(d, p)
		case "title":
			d.Title = r.words(p)
		case "description":
			d.Description = r.words(p)
		case "task":
			if d.Task = r.Text(p.Value, "task"); d.Task != "" {
				if err := workflow.CheckSendable("the name of the task", d.Task); err != nil {
					r.Problem("bad-value", p.Value, "%v", err)
				}
				if d.Task == task.UserName {
					r.Problem("bad-value", p.Value, "the name %s is that of tasks for people: take another one", d.Task)
				}
			}
		case "inputs":
			d.Inputs = r.fields(p, inputKeys)
		case "outputs":
			d.Outputs = r.fields(p, outputKeys)
		case "outcomes":
			d.Outcomes = r.outcomes(p)
		case "retry":
			d.Retry = r.retry(p)
		default:
			r.Unknown(p, "a declaration of an activity type", topKeys)
		}
	}
	if d.Type == "" && r.Report.Empty() {
		r.Problem("missing-key", root, "type is missing: the name of the activity type, such as acme.Ship")
	}
	if d.Task == "" {
		d.Task = d.Type
	}
	return d
}

func (r *reader) typ(d *Declaration, p tree.Pair) {
	s := r.Text(p.Value, "type")
	d.Type, d.at = s, r.Place(p.Value)
	switch {
	case !typeForm.MatchString(s) || len(s) > 100:
		r.Problem("bad-value", p.Value, "the type is %q: it has two names or more with a point between them, such as acme.Ship, of letters, digits and _, up to 100 bytes", workflow.Shorten(s))
	case strings.EqualFold(strings.SplitN(s, ".", 2)[0], "elsa"):
		r.Problem("bad-value", p.Value, "the type is %q: names that begin with Elsa. are the built-in activities; take one of your own, such as acme.Ship", workflow.Shorten(s))
	}
}

func (r *reader) words(p tree.Pair) string {
	s := r.Text(p.Value, p.Name)
	if len(s) > maxText {
		r.Problem("too-large", p.Value, "%s has %d bytes; up to %d are possible", p.Name, len(s), maxText)
	}
	return s
}

// fields reads inputs or outputs; a text is the type.
func (r *reader) fields(of tree.Pair, keys []string) (out []Field) {
	for i, p := range r.Entries(of.Value, of.Name) {
		if i == maxFields {
			r.Problem("too-large", p.Key, "there are more than %d %s; put some of them into an object", maxFields, of.Name)
			return nil
		}
		at := of.Name + "." + workflow.Shorten(p.Name)
		switch {
		case !nameForm.MatchString(p.Name):
			r.Problem("bad-value", p.Key, "%s: a name begins with a small letter, and has up to 64 letters, digits and _", at)
		case slices.Contains(notation.CommonNames, p.Name) || of.Name == "outputs" && p.Name == OutcomeField:
			r.Problem("bad-value", p.Key, "%s: this name means something else beside or in every activity; take another one", at)
		case slices.ContainsFunc(out, func(f Field) bool { return strings.EqualFold(f.Name, p.Name) }):
			r.Problem("duplicate-key", p.Key, "%s is there twice, but for the case of its letters", at)
		}
		f := Field{Name: p.Name}
		switch p.Value.Kind {
		case yaml.ScalarNode:
			f.Type = r.fieldType(p, at)
		case yaml.MappingNode:
			r.field(&f, p, at, keys)
		default:
			r.Shape(p.Value, at, "a type such as string, or a mapping with type, required, …")
		}
		out = append(out, f)
	}
	return out
}

func (r *reader) fieldType(p tree.Pair, at string) string {
	s := r.Text(p.Value, at)
	if !notation.IsTypeName(s) {
		names := []string{"string", "number", "integer", "boolean", "object", "any", "datetime", "duration", "list"}
		r.Problem("bad-value", p.Value, "%s: there is no type %q%s; there are %s, and each with [] for a list of it", at, workflow.Shorten(s), workflow.DidYouMean(s, names), strings.Join(names, ", "))
	}
	return s
}

func (r *reader) field(f *Field, of tree.Pair, at string, keys []string) {
	var enum, preset *yaml.Node
	for _, p := range r.Pairs(of.Value) {
		switch {
		case !slices.Contains(keys, p.Name):
			r.Unknown(p, at, keys)
		case p.Name == "type":
			f.Type = r.fieldType(p, at+".type")
		case p.Name == "description":
			f.Description = r.words(p)
		case p.Name == "required":
			f.Required = r.Truth(p.Value, at+".required")
		case p.Name == "default":
			f.Default, preset = r.Value(p.Value), p.Value
		case p.Name == "enum":
			f.Enum, enum = r.Texts(p.Value, at+".enum"), p.Value
		}
	}
	switch {
	case f.Type == "":
		r.Problem("missing-key", of.Key, "%s has no type", at)
	case enum != nil && f.alias() != "String":
		r.Problem("bad-value", enum, "%s: only a string has an enum, and this is %s", at, f.Type)
	case enum != nil && (len(f.Enum) == 0 || len(f.Enum) > maxNames || slices.Contains(f.Enum, "")):
		r.Problem("bad-value", enum, "%s: an enum has 1 to %d texts, none of them empty", at, maxNames)
	case preset == nil || f.Default == nil:
	case f.Required:
		r.Problem("bad-value", preset, "%s is required, so its default would never count; leave out one of the two", at)
	default:
		if err := f.fits(f.Default); err != nil {
			r.Problem("bad-value", preset, "%s: the default %v", at, err)
		}
	}
}

func (r *reader) outcomes(of tree.Pair) []string {
	names := r.Texts(of.Value, "outcomes")
	if len(names) > maxNames {
		r.Problem("too-large", of.Value, "there are %d outcomes; up to %d are possible", len(names), maxNames)
		return nil
	}
	for i, name := range names {
		switch at := of.Value.Content[i]; {
		case strings.TrimSpace(name) == "" || workflow.CheckName("an outcome", name) != nil:
			r.Problem("bad-value", at, "an outcome has a name of up to %d bytes", workflow.MaxNameLength)
		case slices.Index(names, name) != i:
			r.Problem("duplicate-key", at, "the outcome %s is there twice", workflow.Shorten(name))
		}
	}
	return names
}

func (r *reader) retry(of tree.Pair) *Retry {
	if of.Value.Kind != yaml.MappingNode {
		r.Shape(of.Value, "retry", "a mapping such as {attempts: 5, delay: 10s}")
		return nil
	}
	out := &Retry{Delay: 10 * time.Second, Factor: 2, MaxDelay: time.Hour}
	for _, p := range r.Pairs(of.Value) {
		text := r.Text(p.Value, "retry."+workflow.Shorten(p.Name))
		var err error
		switch p.Name {
		case "attempts":
			if out.Attempts, err = strconv.ParseInt(text, 10, 64); err != nil || out.Attempts < 2 || out.Attempts > 100 {
				r.Problem("bad-value", p.Value, "retry.attempts is %s: there are 2 to 100 attempts in all", workflow.Shorten(text))
			}
		case "factor":
			if out.Factor, err = strconv.ParseFloat(text, 64); err != nil || !(out.Factor >= 1 && out.Factor <= 100) {
				r.Problem("bad-value", p.Value, "retry.factor is %s: it is a number from 1 to 100", workflow.Shorten(text))
			}
		case "delay":
			out.Delay = r.duration(p, text)
		case "maxDelay":
			out.MaxDelay = r.duration(p, text)
		default:
			r.Unknown(p, "retry", retryKeys)
		}
	}
	if out.Attempts == 0 {
		r.Problem("missing-key", of.Key, "retry has no attempts: say how many there are in all")
	}
	return out
}

func (r *reader) duration(p tree.Pair, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > 30*24*time.Hour {
		r.Problem("bad-value", p.Value, "retry.%s is %s: write a time such as 10s or 5m, up to 720h", p.Name, workflow.Shorten(text))
	}
	return d
}

var typeLine, rootLine = regexp.MustCompile(`(?m)^["']?type["']?[ \t]*:`), regexp.MustCompile(`(?m)^["']?root["']?[ \t]*:`)

// IsDeclaration tells the file of an activity type from that of a definition, among which it may lie: it has a type and no root.
func IsDeclaration(src []byte, file string) bool {
	if !strings.EqualFold(filepath.Ext(file), ".json") {
		return typeLine.Match(src) && !rootLine.Match(src)
	}
	var top struct {
		Type        string
		Root, Model json.RawMessage // Elsa's exports have one of them
	}
	return json.Unmarshal(bytes.TrimPrefix(src, []byte("\ufeff")), &top) == nil && top.Type != "" && top.Root == nil && top.Model == nil
}

// ReadFolder reads the files of a folder that end with .yaml, .yml or .json, in the order of their names. It gives none if one has
// a problem, or if two declare one type. An error says that the folder cannot be read.
func ReadFolder(dir string) (all []*Declaration, problems workflow.Problems, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the folder of activity types: %w", err)
	}
	from, files := map[string]string{}, 0
	for _, e := range entries[:min(len(entries), mostFiles)] {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		r := workflow.NewReport(nil, file)
		if files++; files > MaxFiles {
			r.Problem("too-large", r.At(1, 1), "the folder has more than %d files of activity types", MaxFiles)
			return nil, r.Problems(), nil
		}
		src, err := head(file)
		if err != nil {
			return nil, nil, err
		}
		d, found := Read(src, file)
		if problems = append(problems, found.WithExcerpts(src)...); d == nil {
			continue
		}
		if before := from[strings.ToLower(d.Type)]; before != "" {
			r.Problem("duplicate-type", d.at, "the activity type %s is declared in %s, too: leave one of the two", d.Type, before)
			problems = append(problems, r.Problems().WithExcerpts(src)...)
		}
		from[strings.ToLower(d.Type)] = file
		all = append(all, d)
	}
	if len(problems) > 0 {
		return nil, problems, nil
	}
	return all, nil, nil
}

// head reads a file, up to what shows that it has too much.
func head(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("a file of an activity type: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("a file of an activity type: %w", err)
	}
	return src, nil
}
