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
