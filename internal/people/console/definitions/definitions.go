package definitions

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// definitionsView is a page of the list of definitions.
type definitionsView struct {
	page.ListView[shape.Definition]
	Running   map[string][]running // by the definition, the newest version first
	Counted   bool                 // false: they cannot be counted now
	Uncounted bool                 // there are more versions than were counted
}

// running is how many instances of a version run.
type running struct {
	Version int
	Count   *shape.Tally
}

// List lists them, with what starts them and how many instances of each version run: a read
// of the page, one of what starts all of it, and one of counts that the node keeps for a while.
func List(v *page.Visit) (string, any, error) {
	view := definitionsView{}
	var err error
	if view.ListView, err = page.Paged[shape.Definition](v, "/definitions", url.Values{"starts": {"true"}}); err != nil {
		return "", nil, err
	}
	counts, err := shape.CountInstances(v, url.Values{"by": {"version"}})
	if err != nil || counts == nil {
		return "Definitions", &view, err
	}
	view.Running, view.Counted, view.Uncounted = map[string][]running{}, true, counts.More
	for i := range counts.Items {
		it := &counts.Items[i]
		n := it.BySubStatus.Of(find.Filter{Status: workflow.StatusRunning}, false)
		if it.Version != nil && n.Count > 0 {
			view.Running[it.DefinitionID] = append([]running{{*it.Version, n}}, view.Running[it.DefinitionID]...)
		}
	}
	return "Definitions", &view, nil
}

// Of are those of a definition that are shown, and how many versions more there are.
func (d *definitionsView) Of(id string) []running {
	all := d.Running[id]
	return all[:min(len(all), shownVersions)]
}

// Left is of how many versions more instances run.
func (d *definitionsView) Left(id string) int { return max(0, len(d.Running[id])-shownVersions) }

// shownVersions is of how many versions of a definition the list tells how many instances run.
const shownVersions = 4

type definitionView struct {
	ID, Version string // "": the published one
	Face        face
	Source      string
	page.Drawing
	Found    page.ListView[shape.Summary]
	Versions []shape.Version // the newest
	Counts   *shape.Stats    // nil: they cannot be counted now
}

// One shows a definition: what it takes, its text and picture, and its instances.
func One(v *page.Visit) (string, any, error) {
	view := definitionView{ID: v.Request.PathValue("id"), Version: v.Request.URL.Query().Get("version")}
	query := url.Values{}
	if view.Version != "" {
		query.Set("version", view.Version)
	}
	var err error
	if view.Source, err = v.Text(page.At("definitions", view.ID), query); err != nil {
		return "", nil, err
	}
	line := func(n *graph.Node) string {
		if n.Place.Line == 0 {
			return ""
		}
		return "#L" + strconv.Itoa(n.Place.Line)
	}
	if view.Drawing, err = v.Drawn(page.At("definitions", view.ID, "graph"), query, line); err != nil {
		return "", nil, err
	}
	if view.Face, err = readFace(v, view.ID, query); err != nil {
		return "", nil, err
	}
	versions, err := page.Get[page.List[shape.Version]](v, page.At("definitions", view.ID, "versions"), url.Values{"limit": {page.Rows}})
	var p *page.Problem
	if err != nil && !errors.As(err, &p) {
		return "", nil, err
	}
	view.Versions = versions.Items
	if view.Counts, err = shape.CountInstances(v, url.Values{"definitionId": {view.ID}}); err != nil {
		return "", nil, err
	}
	view.Found, err = page.Paged[shape.Summary](v, "/instances", url.Values{"view": {"summary"}, "definitionId": {view.ID}, "limit": page.Few["limit"]})
	return "Definition " + view.ID, &view, err
}

// Chips lead to the instances of a definition by their state, with how many there are.
func (d *definitionView) Chips() (chips []shape.Chip) {
	if d.Counts == nil {
		return nil
	}
	for _, f := range []find.Filter{{Status: workflow.StatusRunning}, {SubStatus: workflow.Faulted}, {SubStatus: workflow.Finished}, {SubStatus: workflow.Cancelled}} {
		q := f.String()
		_, state, _ := strings.Cut(q, ":")
		chips = append(chips, shape.Chip{Text: state, To: page.Path + "instances?q=" + url.QueryEscape("def:"+page.Quote(d.ID)+" "+q), Count: d.Counts.BySubStatus.Of(f, d.Counts.More)})
	}
	return chips
}

// offered is a version that a run form offers.
type offered struct {
	Version           int
	Published, Chosen bool
}

// Offered are the versions that can be started: that of the page is chosen, if it is another than the
// published one, and the newest where none is published.
func (d *definitionView) Offered() (all []offered) {
	chosen, _ := strconv.Atoi(d.Version)
	if chosen == 0 && d.Face.Published == 0 && len(d.Versions) > 0 {
		chosen = d.Versions[0].Version
	}
	for _, v := range d.Versions {
		all = append(all, offered{v.Version, v.Published, v.Version == chosen})
	}
	if chosen > 0 && !slices.ContainsFunc(all, func(o offered) bool { return o.Chosen }) {
		all = append(all, offered{Version: chosen, Chosen: true})
	}
	return all
}
