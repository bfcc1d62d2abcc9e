package catalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/catalog/schedule"
	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// publication is what the store gets of a compiled definition that is published: what
// its head says, and the triggers, routes and schedules that start it.
func publication(prog *engine.Program, now time.Time) (etcdstore.Published, workflow.Problems) {
	def := prog.Definition()
	idx, problems := index(def, prog.Triggers(), now)
	return etcdstore.Published{
		Name: def.Name, Description: def.Description, Activation: def.Options.ActivationStrategy,
		AutoUpdate: def.Options.AutoUpdate, Usable: def.Options.UsableAsActivity, Index: idx,
	}, problems
}

// index lists what a definition waits for.
func index(def *workflow.Definition, triggers []engine.Trigger, now time.Time) (store.DefinitionIndex, workflow.Problems) {
	x := indexer{def: def, now: now, places: map[string]workflow.Place{}, routes: map[string]string{}, scheduled: map[string]bool{}}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.ID != "" {
			x.places[a.ID] = a.Place
		}
		return true
	})
	for i := range triggers {
		x.trigger(&triggers[i])
	}
	for _, l := range []struct {
		what      string
		have, max int
	}{
		{"triggers", len(x.idx.Triggers), store.MaxTriggers},
		{"timer, cron and date triggers", len(x.idx.Schedules), store.MaxSchedules},
		{"HTTP methods and paths", len(x.idx.Routes), store.MaxRoutes},
	} {
		if l.have > l.max {
			x.problem("too-many-triggers", def.Place, "the definition has %d %s; up to %d are possible, split it", l.have, l.what, l.max)
		}
	}
	return x.idx, x.problems
}

type indexer struct {
	def       *workflow.Definition
	now       time.Time
	places    map[string]workflow.Place
	routes    map[string]string // method and pattern → activity
	scheduled map[string]bool   // by activity
	idx       store.DefinitionIndex
	problems  workflow.Problems
}

func (x *indexer) problem(code string, place workflow.Place, format string, args ...any) {
	x.problems = append(x.problems, workflow.Problem{Code: code, Place: place, Detail: fmt.Sprintf(format, args...)})
}

func (x *indexer) trigger(t *engine.Trigger) {
	if t.Hash != "" {
		x.idx.Triggers = append(x.idx.Triggers, store.TriggerEntry{ActivityID: t.ActivityID, ActivityType: t.ActivityType, Hash: t.Hash, Name: t.Name})
	}
	if t.Cron != "" || t.Every > 0 || t.At != nil {
		x.schedule(t)
	}
	if t.Route != nil {
		x.route(t)
	}
}

func (x *indexer) schedule(t *engine.Trigger) {
	place := x.places[t.ActivityID]
	if x.scheduled[t.ActivityID] {
		x.problem("several-schedules", place, "activity %s has more than one schedule; use one activity for each", t.ActivityID)
		return
	}
	x.scheduled[t.ActivityID] = true
	e := store.CronEntry{ActivityID: t.ActivityID, ActivityType: t.ActivityType, CatchUp: x.def.Options.CatchUp}
	switch {
	case t.Cron != "":
		if _, err := cron.Parse(t.Cron); err != nil {
			x.problem("invalid-cron", place, "activity %s: %v", t.ActivityID, err)
			return
		}
		e.Kind, e.Expression = store.ScheduleCron, t.Cron
	case t.Every > 0:
		// Keys and looks are in milliseconds: an occurrence between two of them would
		// be found before it is due.
		e.Kind, e.Interval = store.ScheduleTimer, t.Every.Truncate(time.Millisecond)
		if e.Interval == 0 {
			x.problem("bad-interval", place, "activity %s: an interval is at least 1ms, not %s", t.ActivityID, t.Every)
			return
		}
	default:
		at := t.At.UTC().Truncate(time.Millisecond)
		e.Kind, e.At = store.ScheduleStartAt, &at
	}
	if e.Due, _ = schedule.Next(&e, x.now); e.Due.UnixMilli() > store.LastMilli {
		x.problem("time-too-late", place, "activity %s: it would be due at %s, and the latest that can be kept in order is %s",
			t.ActivityID, e.Due.Format(time.RFC3339), time.UnixMilli(store.LastMilli).UTC().Format(time.RFC3339))
		return
	}
	x.idx.Schedules = append(x.idx.Schedules, e)
}

func (x *indexer) route(t *engine.Trigger) {
	method := strings.ToUpper(t.Route.Method)
	template := strings.Trim(t.Route.Template, "/")
	key := method + " " + workflow.RoutePattern(template)
	if other, taken := x.routes[key]; taken {
		x.problem(string(workflow.CodeRouteTaken), x.places[t.ActivityID], "activity %s: %s %s belongs to activity %s already; choose another path", t.ActivityID, method, template, other)
		return
	}
	x.routes[key] = t.ActivityID
	x.idx.Routes = append(x.idx.Routes, store.RouteEntry{ActivityID: t.ActivityID, Hash: t.Hash, Method: method, Template: template, EndpointLimits: t.Route.EndpointLimits})
}
