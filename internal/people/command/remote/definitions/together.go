package definitions

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// together are the files of one call, which may run each other. A server looks at one at a time.
type together struct {
	types *engine.Registry
	all   []ask.Source
	defs  []*workflow.Definition // as far as they can be read here; nil: not
	byID  map[string]*workflow.Definition
}

func lookTogether(all []ask.Source) *together {
	t := &together{types: activities.Default(), all: all, defs: make([]*workflow.Definition, len(all)), byID: map[string]*workflow.Definition{}}
	for i, s := range all {
		def, _ := readSource(s, t.types)
		if t.defs[i] = def; def != nil && def.ID != "" {
			t.byID[def.ID] = def
		}
	}
	return t
}

// runs are the ids of other files that one runs.
func (t *together) runs(i int) (ids []string) {
	def := t.defs[i]
	if def == nil || def.Root == nil {
		return nil
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		e := a.Inputs["workflowDefinitionId"]
		if id, ok := e.Value.(string); ok && e.Kind == workflow.Literal && workflow.StartsInstances(a.Type) && id != def.ID && t.byID[id] != nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// meant is the file whose definition a reference of another one means: by the id of its version, by its id, or by the type
// that its name gives; -1: none.
func (t *together) meant(a *workflow.Activity) int {
	ref := workflow.DefinitionRef{ID: a.Type}
	if a.Ref != nil {
		ref = *a.Ref
	}
	return meant(t.defs, ref)
}

func meant(defs []*workflow.Definition, ref workflow.DefinitionRef) int {
	for _, is := range []func(def *workflow.Definition) bool{
		func(def *workflow.Definition) bool { return ref.VersionID != "" && def.VersionID == ref.VersionID },
		func(def *workflow.Definition) bool { return def.ID == ref.ID },
		func(def *workflow.Definition) bool {
			return def.Options.UsableAsActivity && names.ActivityType(def.Name) == workflow.UpperFirst(ref.ID)
		},
	} {
		if i := slices.IndexFunc(defs, func(def *workflow.Definition) bool { return def != nil && def.ID != "" && is(def) }); i >= 0 {
			return i
		}
	}
	return -1
}

// uses are the other files whose definitions one uses as activities.
func (t *together) uses(i int) (files []int) {
	def := t.defs[i]
	if def == nil || def.Root == nil {
		return nil
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.Ref == nil && t.types.ByType(a.Type) != nil {
			return true
		}
		if of := t.meant(a); of >= 0 && of != i && !slices.Contains(files, of) {
			files = append(files, of)
		}
		return true
	})
	return files
}

// order are the files as they are given, but for those that others use: they come before these.
func (t *together) order() []int {
	out, seen := make([]int, 0, len(t.all)), make([]bool, len(t.all))
	var put func(i int)
	put = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, of := range t.uses(i) {
			put(of)
		}
		out = append(out, i)
	}
	for i := range t.all {
		put(i)
	}
	return out
}

// later reports whether a server found nothing wrong with a file but that it uses others of the call, which it does not know yet, and
// nothing is wrong with it beside them.
func (t *together) later(i int, wrong []apiclient.ProblemItem) bool {
	unknown := func(code string) bool { return code == "unknown-definition" || code == "unknown-activity-type" }
	uses := t.uses(i)
	if len(uses) == 0 || slices.ContainsFunc(wrong, func(p apiclient.ProblemItem) bool { return p.Severity == "error" && !unknown(p.Code) }) {
		return false
	}
	opts := engine.Options{Registry: t.types, Evaluators: expression.All(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
		if of := meant(t.defs, ref); of >= 0 {
			return t.defs[of], true
		}
		return nil, false
	}}
	_, found := check.Definition(t.defs[i], check.Options{Options: opts})
	bad, _ := found.Split()
	return !slices.ContainsFunc(bad, func(q workflow.Problem) bool { // an activity that is not known here, and not wrong there, is the server's own
		return !unknown(q.Code) || slices.ContainsFunc(wrong, func(p apiclient.ProblemItem) bool { return p.Detail == q.Detail })
	})
}

// query says to a server what a file is beside itself.
func (t *together) query(i int, q apiclient.PublishDefinitionQuery) apiclient.PublishDefinitionQuery {
	q.Beside = strings.Join(t.runs(i), ",")
	q.File = t.nameOf(i)
	return q
}

// nameOf is the name of a file whose definition says no id: a file's name counts then.
func (t *together) nameOf(i int) string {
	s := t.all[i]
	if t.defs[i] == nil || s.Name == "-" {
		return ""
	}
	if def, _ := readSource(ask.Source{Name: "x" + filepath.Ext(s.Name), Src: s.Src}, t.types); def == nil || def.ID == t.defs[i].ID {
		return ""
	}
	return filepath.Base(s.Name)
}

// children finds what a file gives the others of the call that they do not take.
func (t *together) children(i int) workflow.Problems {
	ids := t.runs(i)
	if len(ids) == 0 {
		return nil
	}
	_, found := check.Definition(t.defs[i], check.Options{
		Options: engine.Options{Registry: t.types, Evaluators: expression.All()},
		Child:   func(id string) *workflow.Definition { return t.byID[id] },
	})
	return slices.DeleteFunc(found, func(p workflow.Problem) bool {
		return !p.Warning || !slices.Contains(check.ChildCodes, p.Code) || !slices.ContainsFunc(ids, func(id string) bool {
			return strings.Contains(p.Detail, " "+id+",") || strings.Contains(p.Detail, " "+id+" ") || strings.Contains(p.Detail, " "+id+":")
		})
	}).WithExcerpts(t.all[i].Src)
}
