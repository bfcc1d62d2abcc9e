package definitions

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-run/weft/internal/elsastate"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	goesOn verdict = "goes-on" // the instance
	ended  verdict = "ended"   // there is nothing to go on with
)

// movedInstance is an exported instance on its way.
type movedInstance struct {
	ask.Source
	in       *elsastate.Instance // nil: it cannot be read
	moved    *elsastate.Moved
	verdict  verdict
	why      string // beside its problems
	problems workflow.Problems
	file     string
}

// apart are the sources that are definitions, or may be, and those that are instances.
func (g *migration) apart(sources []ask.Source) (definitions, instances []ask.Source) {
	if g.moved == "" {
		return sources, nil
	}
	for _, s := range sources {
		if g.unread[s.Name] == nil && elsastate.Looks(s.Src) {
			instances = append(instances, s)
		} else {
			definitions = append(definitions, s)
		}
	}
	return definitions, instances
}

// instances makes instances of Weft's of those of Elsa's, in the order in which they are to be imported: one that waits for
// the end of another comes after it.
func (g *migration) instances(sources []ask.Source, moves []*move) []*movedInstance {
	definitions := map[string]*move{}
	for _, m := range moves {
		if m.def != nil && m.verdict != older {
			definitions[m.def.ID] = m
		}
	}
	out := make([]*movedInstance, len(sources))
	byID := map[string]*movedInstance{}
	for i, s := range sources {
		m := &movedInstance{Source: s}
		out[i] = m
		var err error
		if m.in, err = elsastate.Read(s.Src); err != nil {
			m.verdict, m.why = refused, fmt.Sprintf("it could not be read: %v", err)
			continue
		}
		if other := byID[m.in.ID]; other != nil {
			m.verdict, m.why = refused, fmt.Sprintf("%s is the instance %s too: which is the later one?", other.Name, m.in.ID)
			continue
		}
		byID[m.in.ID] = m
		g.move(m, definitions[m.in.DefinitionID])
	}
	family(out, byID)
	return inOrder(out, byID)
}

func (g *migration) move(m *movedInstance, of *move) {
	id := m.in.DefinitionID
	m.verdict = refused
	switch {
	case m.in.Ended():
		m.verdict = ended
	case of == nil:
		m.why = fmt.Sprintf("its definition, %s, is not among the files: export that too", workflow.Shorten(id))
	case of.prog == nil:
		m.why = fmt.Sprintf("its definition, %s, is refused (%s)", id, of.Name)
	case m.in.Version != of.def.Version:
		m.why = fmt.Sprintf("it is of version %d of %s, and %s has version %d: migrate it in Elsa, or give the file of its version, and --as-version with the version that it has in Weft", m.in.Version, id, of.Name, of.def.Version)
	default:
		version := cmp.Or(g.versions[id], 1)
		if m.moved, m.problems = elsastate.Move(m.in, of.prog, version); m.moved != nil {
			m.verdict = goesOn
		}
	}
}

// family lets those that wait for each other move together, or not at all: one that stays would never hear of the other's
// end.
func family(all []*movedInstance, byID map[string]*movedInstance) {
	refuse := func(m *movedInstance, format string, args ...any) bool {
		m.verdict, m.why = refused, fmt.Sprintf(format, args...)
		return true
	}
	for again := true; again; {
		again = false
		for _, m := range all {
			if m.moved == nil {
				continue
			}
			for _, id := range m.moved.Children() {
				switch child := byID[id]; {
				case child == nil && m.verdict == goesOn:
					again = refuse(m, "it waits for the end of %s, which is not among the files: export that too", id)
				case child == nil:
				case child.verdict == ended && m.verdict == goesOn:
					again = refuse(m, "it waits for the end of %s, which has ended: let Elsa tell it", id)
				case child.verdict == refused && m.verdict == goesOn:
					again = refuse(m, "it waits for the end of %s, which stays in Elsa", id)
				case child.verdict == goesOn && m.verdict == refused:
					again = refuse(child, "%s waits for its end, and does not go on here", m.in.ID)
				case child.verdict == goesOn:
					m.moved.Adopt(child.moved)
				}
			}
			if m.in.Awaited && m.verdict == goesOn && (byID[m.in.Parent] == nil || byID[m.in.Parent].verdict != goesOn) {
				again = refuse(m, "%s waits for its end, and does not go on here", m.in.Parent)
			}
		}
	}
}

// inOrder puts children before those that wait for them.
func inOrder(all []*movedInstance, byID map[string]*movedInstance) []*movedInstance {
	out := make([]*movedInstance, 0, len(all))
	seen := map[*movedInstance]bool{}
	var put func(m *movedInstance)
	put = func(m *movedInstance) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		if m.moved != nil {
			for _, id := range m.moved.Children() {
				put(byID[id])
			}
		}
		out = append(out, m)
	}
	for _, m := range all {
		put(m)
	}
	return out
}

// place names the files of the instances that go on. It refuses where one is there already.
func (g *migration) place(instances []*movedInstance) error {
	taken := map[string]bool{}
	for _, m := range instances {
		if m.verdict != goesOn {
			continue
		}
		base := strings.ReplaceAll(m.in.ID, ":", "_")
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		m.file = filepath.Join(g.moved, name+".json")
		if _, err := os.Lstat(m.file); !errors.Is(err, fs.ErrNotExist) {
			return ask.Usage("%s is there already; nothing was written. Give --instances an empty directory", m.file)
		}
	}
	return nil
}

func (g *migration) write(instances []*movedInstance) error {
	if g.moved == "" {
		return nil
	}
	if err := os.MkdirAll(g.moved, 0o700); err != nil { // what they hold is not for others
		return err
	}
	for _, m := range instances {
		if m.file == "" {
			continue
		}
		raw, err := workflow.Marshal(m.moved)
		if err != nil {
			return err
		}
		if err := ask.WriteFile(m.file, append(raw, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func instanceItems(instances []*movedInstance) []any {
	items := []any{}
	for _, m := range instances {
		item := map[string]any{"file": m.Name, "verdict": string(m.verdict), "why": m.why, "written": m.file, "instance": "", "definition": "", "version": 0}
		if m.in != nil {
			item["instance"], item["definition"] = m.in.ID, m.in.DefinitionID
		}
		if m.moved != nil {
			item["version"] = m.moved.Instance.Version
		}
		findings := []any{}
		for _, p := range m.problems {
			findings = append(findings, map[string]any{"code": p.Code, "detail": p.Detail, "pointer": p.Place.Pointer})
		}
		item["findings"] = findings
		items = append(items, item)
	}
	return items
}

// instanceReport is what a person reads, with the commands that import.
func instanceReport(instances []*movedInstance) string {
	var text, commands strings.Builder
	counts := map[verdict]int{}
	for _, m := range instances {
		counts[m.verdict]++
		what := "an instance"
		if m.in != nil {
			what = fmt.Sprintf("instance %s of %s", m.in.ID, m.in.DefinitionID)
		}
		fmt.Fprintf(&text, "\n%s: %s %s", m.Name, what, map[verdict]string{goesOn: "goes on here", refused: "is refused", ended: "has ended, and is left"}[m.verdict])
		if m.why != "" {
			text.WriteString(": " + m.why)
		}
		if m.file != "" {
			fmt.Fprintf(&text, "; written as %s", m.file)
			fmt.Fprintf(&commands, "\n    weft instances import %s %s --yes", m.in.ID, m.file)
		}
		for _, p := range m.problems {
			fmt.Fprintf(&text, "\n    %s: %s (%s)", p.Place.Pointer, p.Detail, p.Code)
		}
	}
	fmt.Fprintf(&text, "\n%d instances go on, %d are refused, %d have ended", counts[goesOn], counts[refused], counts[ended])
	if commands.Len() > 0 {
		text.WriteString("\nWhen their definitions are published, and Elsa is stopped, import them in this order:" + commands.String())
	}
	return text.String()
}
