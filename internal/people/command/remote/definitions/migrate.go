package definitions

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/authoring/format"
	"github.com/weft-run/weft/internal/elsastate"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

// Bounds of an archive: its bytes, those of all its files unpacked, and how many there are.
const (
	maxArchive  = 64 << 20
	maxUnpacked = 256 << 20
	maxFiles    = 10_000
)

// migration is one call of weft migrate elsa.
type migration struct {
	asker    *ask.Asker
	out      string           // directory for YAML; "": none is written
	moved    string           // directory for instances; "": none is looked at
	versions map[string]int   // that definitions have here, by id; 1 if it is not said
	unread   map[string]error // why a source could not be read
	unpacked int              // bytes out of archives
}

func (a commands) migrateCommand() *cobra.Command {
	g := migration{asker: a.ask, unread: map[string]error{}}
	elsa := &cobra.Command{
		Use: "elsa FILE|DIRECTORY|ZIP|-...", Short: "Say which definitions that Elsa 3 exported run here, unchanged or not, and which do not and why", Args: cobra.MinimumNArgs(1),
		Long: "Read what Elsa 3 exported, files, directories and zip archives, and say of each definition whether it runs unchanged, runs with differences\n" +
			"(each with its place), or is refused (place, reason, what to write instead). No node is asked: the built-in activities are known, and the\n" +
			"definitions know each other. --out writes those that run as YAML into a directory, and no file that is there already; without it nothing is\n" +
			"written. What runs need not be converted: weft apply takes Elsa's JSON as it is. --instances takes instances that Elsa exported too, and\n" +
			"writes those that can go on here into a directory, for weft instances import, with their definitions among the files. The exit code is 1\n" +
			"if one is refused.",
		RunE: func(_ *cobra.Command, args []string) error {
			sources, err := g.exported(args)
			if err != nil {
				return err
			}
			sources, instances := g.apart(sources)
			moves := g.moving(sources)
			return g.tell(moves, g.instances(instances, moves))
		},
	}
	elsa.Flags().StringVar(&g.out, "out", "", "directory for the definitions as YAML")
	elsa.Flags().StringVar(&g.moved, "instances", "", "directory for exported instances in Weft's form")
	elsa.Flags().StringToIntVar(&g.versions, "as-version", nil, "the version that a definition has in Weft, for its instances, as DEFINITION=VERSION (default: 1)")
	cmd := &cobra.Command{Use: "migrate", Short: "Move to Weft from Elsa 3"}
	cmd.AddCommand(elsa)
	return cmd
}

// exported reads the sources. What is below a directory and cannot be read is one of them, so that the others are looked at.
func (g *migration) exported(args []string) (sources []ask.Source, err error) {
	read := func(name string) ([]byte, error) {
		src, err := g.asker.ReadSmall(name, maxArchive, "an export")
		if err != nil && !slices.Contains(args, name) {
			g.unread[name], err = err, nil
		}
		return src, err
	}
	files, err := g.asker.Files(args, "exports (*.json, *.zip)", isExport, read)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if g.unread[f.Name] != nil || !strings.EqualFold(filepath.Ext(f.Name), ".zip") && !bytes.HasPrefix(f.Src, []byte("PK\x03\x04")) {
			sources = append(sources, f)
			continue
		}
		inside, err := g.inside(f)
		if err == nil && len(inside) == 0 {
			err = ask.Usage("%s has no *.json", f.Name)
		}
		if err != nil && slices.Contains(args, f.Name) {
			return nil, err
		}
		if err != nil {
			g.unread[f.Name] = err
			inside = []ask.Source{{Name: f.Name}}
		}
		sources = append(sources, inside...)
	}
	return sources, nil
}

func isExport(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".json" || ext == ".zip"
}

// inside are the JSON files of an archive, each at most as large as a definition may be, and the archives in it, which are
// not read.
func (g *migration) inside(archive ask.Source) ([]ask.Source, error) {
	z, err := zip.NewReader(bytes.NewReader(archive.Src), int64(len(archive.Src)))
	if err != nil {
		return nil, ask.Usage("%s is no zip archive that can be read: %v", archive.Name, err)
	}
	if len(z.File) > maxFiles {
		return nil, ask.Usage("%s has %d files, and may have %d", archive.Name, len(z.File), maxFiles)
	}
	var out []ask.Source
	for _, f := range z.File {
		if f.FileInfo().IsDir() || !isExport(f.Name) {
			continue
		}
		name := archive.Name + "/" + f.Name
		var src []byte
		if strings.EqualFold(filepath.Ext(f.Name), ".zip") {
			err = errors.New("it is an archive within an archive: unpack that one")
		} else {
			src, err = g.entry(f)
		}
		if err != nil {
			g.unread[name] = err
		}
		if g.unpacked += len(src); g.unpacked > maxUnpacked {
			return nil, ask.Usage("%s unpacks to more than %d MiB, with what was unpacked before it; export fewer definitions at a time", archive.Name, maxUnpacked>>20)
		}
		out = append(out, ask.Source{Name: name, Src: src})
	}
	return out, nil
}

// entry reads a file of an archive, and of one that is too large for what it may be a byte more than that, which tells it.
func (g *migration) entry(f *zip.File) ([]byte, error) {
	most := int64(workflow.MaxSource)
	if g.moved != "" {
		most = elsastate.MaxFile
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most+1))
}

// verdict is what becomes of a source.
type verdict string

const (
	unchanged  verdict = "unchanged"
	translated verdict = "translated" // from C#, and all else is unchanged
	differs    verdict = "differs"
	refused    verdict = "refused"
	older      verdict = "older"      // another source has what is published, or a later version
	leftAlone  verdict = "left-alone" // it is no definition
)

// move is a source on its way.
type move struct {
	reading
	verdict verdict
	why     string // beside its problems
	file    string // its YAML; "" if none is written
}

// moving looks at each source.
func (g *migration) moving(sources []ask.Source) []*move {
	moves := make([]*move, len(sources))
	var read []ask.Source
	var at []int // where each that is read stands in sources
	heads, newest := make([]head, len(sources)), map[string]int{}
	for i, s := range sources {
		moves[i] = &move{reading: reading{Source: s}}
		err := g.unread[s.Name]
		if err == nil {
			heads[i], err = headOf(s.Src)
		}
		id := heads[i].DefinitionID
		switch {
		case errors.Is(err, errInstance), errors.Is(err, errNoDefinition) && s.Name != "-":
			moves[i].verdict, moves[i].why = leftAlone, err.Error()
			continue
		case err != nil && !errors.Is(err, errNoDefinition):
			moves[i].verdict, moves[i].why = refused, fmt.Sprintf("it could not be read: %v", err)
			continue
		}
		if before, ok := newest[id]; ok && id != "" {
			early, late := before, i
			if heads[before].after(heads[i]) {
				early, late = i, before
			}
			newest[id] = late
			moves[early].verdict, moves[early].why = older, fmt.Sprintf("%s has %s of %s, and this is %s", sources[late].Name, heads[late], id, heads[early])
		} else {
			newest[id] = i
		}
	}
	for i, m := range moves {
		if m.verdict == "" {
			read, at = append(read, sources[i]), append(at, i)
		}
	}
	first := map[string]string{}
	for i, r := range checkHere(read, activities.Default(), func(s ask.Source, types workflow.Types) (*workflow.Definition, workflow.Problems) {
		return elsajson.Read(s.Src, s.Name, types)
	}) {
		m := &move{reading: r, verdict: unchanged}
		moves[at[i]] = m
		bad, doubtful := r.problems.Split()
		if slices.ContainsFunc(doubtful, func(p workflow.Problem) bool { return p.Code != workflow.Translated }) {
			m.verdict = differs
		} else if len(doubtful) > 0 {
			m.verdict = translated
		}
		if heads[at[i]].draft() {
			m.verdict, m.why = differs, "it is a draft in Elsa, which runs none; publish it here only if it is to run"
		}
		if m.def != nil {
			if other := first[m.def.ID]; other != "" {
				m.verdict, m.why = refused, fmt.Sprintf("it has no definitionId, and would be called %s, as %s is: give each one", m.def.ID, other)
			}
			first[m.def.ID] = m.Name
		}
		if len(bad) > 0 {
			m.verdict = refused
		}
	}
	return moves
}

// head is what tells versions of a definition apart.
type head struct {
	DefinitionID string
	Version      int
	IsPublished  *bool // nil: the export does not say
}

func (h head) draft() bool { return h.IsPublished != nil && !*h.IsPublished }

// after reports whether h is the one to move of two: what is published goes before a draft, and else the later version.
func (h head) after(other head) bool {
	if h.draft() != other.draft() {
		return other.draft()
	}
	return h.Version > other.Version
}

func (h head) String() string {
	text := fmt.Sprintf("version %d", h.Version)
	if h.draft() {
		text += ", a draft"
	}
	return text
}

var (
	errNoDefinition = errors.New("it is no definition: it has no root")
	errInstance     = errors.New("it is an instance: --instances DIRECTORY makes it one of Weft's")
)

// headOf reads the head of a definition, of Elsa 1 and 2 too. [errNoDefinition] and [errInstance]: it is other JSON.
func headOf(src []byte) (h head, err error) {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return h, errors.New("it is UTF-16: save it as UTF-8")
	}
	if len(src) > workflow.MaxSource { // it was cut, or is too large: reading it says so
		return h, nil
	}
	model, _ := elsajson.Unwrap(src)
	model = bytes.TrimPrefix(model, []byte("\ufeff"))
	var top struct{ Activities, Items []json.RawMessage }
	_ = json.Unmarshal(model, &top) // what is no JSON is looked at below
	if top.Items == nil {
		_ = json.Unmarshal(model, &top.Items)
	}
	switch {
	case slices.ContainsFunc(top.Items, func(item json.RawMessage) bool { return format.LooksLikeDefinition(item, "x.json") }):
		return h, fmt.Errorf("it is a list of %d definitions: give each a file of its own", len(top.Items))
	case elsastate.Looks(model):
		return h, errInstance
	case !format.LooksLikeDefinition(model, "x.json") && top.Activities == nil && json.Valid(model):
		return h, errNoDefinition
	}
	_ = json.Unmarshal(model, &h) // a field of another type is told when the definition is read, and where half of a file ends
	return h, nil
}

// tell writes what is to be written, and tells what was found.
func (g *migration) tell(moves []*move, instances []*movedInstance) error {
	if err := g.place(instances); err != nil {
		return err
	}
	if g.out != "" {
		if err := converted(moves, g.out); err != nil {
			return err
		}
	}
	if err := g.write(instances); err != nil {
		return err
	}
	counts := map[verdict]int{}
	var items []any
	for _, m := range moves {
		counts[m.verdict]++
		item := map[string]any{"file": m.Name, "verdict": string(m.verdict), "why": m.why, "written": m.file, "definition": "", "version": 0}
		if m.def != nil {
			item["definition"], item["version"] = m.def.ID, m.def.Version
		}
		findings := []any{}
		for _, p := range m.problems.WithExcerpts(m.Src) {
			findings = append(findings, findingOf(m.Name, p))
		}
		item["findings"] = findings
		items = append(items, item)
	}
	var err error
	if g.asker.AsData() {
		data := map[string]any{"items": items}
		if g.moved != "" {
			data["instances"] = instanceItems(instances)
		}
		err = g.asker.Data(data)
	} else {
		text := report(moves, counts)
		if g.moved != "" {
			text += instanceReport(instances)
		}
		_, err = fmt.Fprintln(g.asker.Out, ask.Printable(text))
	}
	if err != nil {
		return err
	}
	if counts[refused] > 0 || slices.ContainsFunc(instances, func(m *movedInstance) bool { return m.verdict == refused }) {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// report is what a person reads.
func report(moves []*move, counts map[verdict]int) string {
	says := map[verdict]string{unchanged: "runs unchanged", translated: "runs, its C# as JavaScript", differs: "runs, with differences", refused: "is refused", older: "is to be left out", leftAlone: "is left alone"}
	var text strings.Builder
	for _, m := range moves {
		fmt.Fprintf(&text, "%s: %s", m.Name, says[m.verdict])
		if m.why != "" {
			fmt.Fprintf(&text, ": %s", m.why)
		}
		if m.file != "" {
			fmt.Fprintf(&text, "; written as %s", m.file)
		}
		text.WriteString("\n")
		if m.verdict == older {
			continue
		}
		for _, p := range m.problems.WithExcerpts(m.Src) {
			where, kind := "", ""
			if p.Place.Line > 0 {
				where = fmt.Sprintf("%d:%d: ", p.Place.Line, p.Place.Column)
			}
			if p.Warning && m.verdict == refused {
				kind = "difference: "
			}
			for line := range strings.Lines(fmt.Sprintf("%s%s%s (%s)\n%s", where, kind, p.Detail, p.Code, p.Excerpt)) {
				text.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
			}
			if p.Code == "unknown-activity-type" && p.Meant == "" && !strings.Contains(p.Detail, "; instead: ") {
				text.WriteString("    instead: an activity in Go, or runTask and a worker (docs/from-elsa.md)\n")
			}
		}
	}
	fmt.Fprintf(&text, "%d run unchanged, %d run with differences, %d refused", counts[unchanged]+counts[translated], counts[differs], counts[refused])
	if n := counts[older] + counts[leftAlone]; n > 0 {
		fmt.Fprintf(&text, ", %d left alone", n)
	}
	return text.String()
}

// withoutLeftovers is the definition without outputs that go nowhere, which Elsa reads over, and YAML refuses.
func withoutLeftovers(m *move, types workflow.Types) *workflow.Definition {
	if !slices.ContainsFunc(m.problems, func(p workflow.Problem) bool { return p.Code == "leftover-output" }) {
		return m.def
	}
	def, _ := elsajson.Read(m.Src, m.Name, types) // one of its own: that of m is compiled
	known := def.DeclaredVariables()
	for _, v := range def.Variables {
		known[v.ID], known[v.Name] = true, true
	}
	for _, o := range def.Outputs {
		known[o.Name] = true
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		maps.DeleteFunc(a.Outputs, func(_, to string) bool { return !known[to] })
		return true
	})
	return def
}

// asYAML leaves out what is no valid definition in YAML, beside the others.
func asYAML(moves []*move, texts map[*move][]byte) {
	var all []ask.Source
	var of []*move
	for _, m := range moves {
		if text := texts[m]; text != nil {
			all, of = append(all, ask.Source{Name: m.file, Src: text}), append(of, m)
		} else if m.def != nil && m.verdict != older {
			all, of = append(all, m.Source), append(of, m)
		}
	}
	for i, r := range checkHere(all, activities.Default(), readSource) {
		if bad, _ := r.problems.Split(); len(bad) > 0 && texts[of[i]] != nil {
			of[i].why, of[i].file = fmt.Sprintf("it has no form as YAML (%v); weft apply takes the JSON", bad.Err()), ""
			delete(texts, of[i])
		}
	}
}

// converted writes what runs as YAML into a directory: all of it, or nothing where a file is there already.
func converted(moves []*move, dir string) error {
	types := activities.Default()
	texts, taken := map[*move][]byte{}, map[string]bool{}
	for _, m := range moves {
		if !slices.Contains([]verdict{unchanged, translated, differs}, m.verdict) {
			continue
		}
		def := withoutLeftovers(m, types)
		text, err := weftyaml.Write(def, types)
		err = cmp.Or(elsajson.Bound(def), err)
		if err == nil {
			_, problems := weftyaml.Read(text, "", types)
			bad, _ := problems.Split()
			err = bad.Err()
		}
		if err != nil {
			m.why = fmt.Sprintf("it has no form as YAML (%v); weft apply takes the JSON", err)
			continue
		}
		base := strings.ReplaceAll(m.def.ID, ":", "_")
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ { // of a:b and a_b, and where capitals make no other file
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		m.file, texts[m] = filepath.Join(dir, name+".yaml"), text
	}
	asYAML(moves, texts)
	for _, m := range moves {
		if texts[m] == nil {
			continue
		}
		if _, err := os.Lstat(m.file); !errors.Is(err, fs.ErrNotExist) {
			return ask.Usage("%s is there already; nothing was written. Give --out an empty directory", m.file)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for m, text := range texts {
		if err := ask.WriteFile(m.file, text); err != nil {
			return err
		}
	}
	return nil
}
