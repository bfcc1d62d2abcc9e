package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// repairView is what may be changed in an instance.
type repairView struct {
	instance
	Activity  string     // that somebody came from; "": none
	About     []incident // those of that activity, or all
	IDs       []string   // of its activities, as far as they are drawn
	Variables []string
	Timers    []bookmark
	Versions  []version
	Ended     bool // nothing may be changed any more
}

// repair shows the ways to change an instance; each can be tried first.
func repair(v *visit) (string, any, error) {
	id := v.r.PathValue("id")
	view := repairView{Activity: v.r.URL.Query().Get("activity")}
	var err error
	if view.instance, err = get[instance](v, at("instances", id), nil); err != nil {
		return "", nil, err
	}
	view.About = view.Incidents
	if view.Activity != "" {
		view.About = slices.DeleteFunc(slices.Clone(view.Incidents), func(i incident) bool { return i.ActivityID != view.Activity })
	}
	view.Ended = !instanceView{instance: view.instance}.Open()
	title := "Repair instance " + id
	if view.Ended {
		return title, &view, nil
	}
	drawing, err := v.drawnInstance(id)
	if err != nil {
		return "", nil, err
	}
	for i := range drawing.Rows {
		if own := drawing.Rows[i].ID; own != "" && !slices.Contains(view.IDs, own) {
			view.IDs = append(view.IDs, own)
		}
	}
	vars, err := get[variables](v, at("instances", id, "variables"), nil)
	if err != nil {
		return "", nil, err
	}
	for i := range vars.Variables {
		if name := vars.Variables[i].Name; !slices.Contains(view.Variables, name) {
			view.Variables = append(view.Variables, name)
		}
	}
	for _, b := range view.Bookmarks {
		if b.DueAt != nil {
			view.Timers = append(view.Timers, b)
		}
	}
	versions, err := ifThere[list[version]](v, at("definitions", view.DefinitionID, "versions"), url.Values{"limit": {rows}})
	if err != nil {
		return "", nil, err
	}
	if versions != nil {
		view.Versions = slices.DeleteFunc(versions.Items, func(other version) bool { return other.Version == view.Version })
	}
	return title, &view, nil
}

// triedView is what a change would do, and the form that makes it.
type triedView struct {
	Fits      bool
	Code      string
	Errors    []problemItem
	Did, Next []string
	SubStatus string
	Version   int
	BasedOn   int64

	Action, Back string
	Fields       []field
}

// tried shows what a change would do.
func (v *visit) tried(to *answer) {
	var view triedView
	if err := json.Unmarshal(to.body.Bytes(), &view); err != nil {
		v.fail("instances", fmt.Errorf("read what a change would do: %w", err))
		return
	}
	form := maps.Clone(v.r.PostForm)
	delete(form, "q.dryRun")
	view.Action, view.Back, view.Fields = v.r.URL.Path, v.back(), fields(form)
	for i := range view.Fields {
		view.Fields[i].Typed = false // it is done as it was tried
	}
	v.render(http.StatusOK, "tried", page{Title: "What it would do", Here: "instances", View: &view})
}

// mostAlterations is how many alterations a form makes at most.
const mostAlterations = 10

// alterations are those of a form, by their numbers. Of one whose type is not given, as its box
// is not ticked, nothing is made.
type alterations map[int]map[string]any

// add reads a field by its name, NUMBER:KIND:NAME.
func (a alterations) add(field, text string, now time.Time) error {
	number, rest, _ := strings.Cut(field, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= mostAlterations {
		return &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%q numbers no alteration.", short(60, number)), Code: string(workflow.CodeInvalid)}
	}
	if a[n] == nil {
		a[n] = map[string]any{}
	}
	kind, name, _ := strings.Cut(rest, ":")
	wrong := func(want string) error {
		return &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s is %q, and has to be %s.", name, short(60, text), want), Code: string(workflow.CodeInvalid)}
	}
	switch kind {
	case "list":
		var all []string
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
		a[n][name] = all
	case "pairs":
		pairs := map[string]string{}
		for line := range strings.Lines(text) {
			from, to, ok := strings.Cut(line, "=")
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			switch {
			case strings.TrimSpace(line) == "":
			case !ok || from == "" || to == "":
				return wrong("lines such as old = new")
			default:
				pairs[from] = to
			}
		}
		a[n][name] = pairs
	case "when":
		at, ok := when(text, now)
		if !ok {
			return wrong("a time such as 2026-11-23T10:00 or 2026-11-23T10:00:00Z, or how long from now, such as 10m")
		}
		a[n][name] = at
	default:
		return typed(a[n], rest, text)
	}
	return nil
}

// list has those that have a type, in the order of their numbers.
func (a alterations) list() (all []any) {
	for n := range mostAlterations {
		if one := a[n]; one != nil && one["type"] != nil {
			all = append(all, one)
		}
	}
	return all
}

// when reads a time that somebody writes: with its zone, in that of now, or how long from now.
func when(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if in, err := time.ParseDuration(text); err == nil {
		return now.Add(in).UTC().Truncate(time.Millisecond), true
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), true
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
