package instances

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// Open tells whether something of the instance can still be changed.
func (v instanceView) Open() bool {
	return !v.Damaged && !v.Archived && (v.Status != string(workflow.StatusFinished) || v.SubStatus == string(workflow.Faulted))
}

// State is another one whenever the instance is in another state: its status, what it waits for,
// or its incidents.
func (v instanceView) State() string {
	sum := fnv.New32a()
	for _, b := range v.Bookmarks {
		_, _ = sum.Write([]byte(b.BookmarkID)) // it never fails
	}
	return fmt.Sprintf("%s-%d-%x", v.SubStatus, len(v.Incidents), sum.Sum32())
}

type instanceView struct {
	shape.Instance
	Explanation shape.Explanation
	Unborn      bool // its start waits behind a gate: there is nothing of it but the explanation
	Tab         string
	Tabs        []string
	Journal     *journalTab
	Timeline    *timeline
	Variables   *shape.Variables
	Changes     *variableChanges // of them between two commits; nil: nobody asked
	Wrong       *page.Problem    // with what was asked of them
	Lineage     *shape.Lineage
	Source      string // of the definition, for what an event may bring; "": it is not needed
	page.Drawing
	Older  string // address of the part of the journal before; "": there is none
	Newer  string
	Newest string
	Waits  waitsTab
}

// journalTab is a part of the journal by commits, the newest first.
type journalTab struct {
	shape.Journal
	Groups []journalGroup
	Filter map[string]string
}

type journalGroup struct {
	Commit         shape.Commit
	Items          []shape.JournalItem
	Before, Behind int  // items of the commit that other pages have
	Taken          bool // another node made the commit before it
}

// A page of a journal has so many commits, and so many items. What a timeline draws of an item is
// less than what a journal tells of it.
const (
	journalCommits = "100"
	journalItems   = "300"
	timelineItems  = "600"
)

var instanceTabs = []string{"waits", "journal", "timeline", "variables", "incidents", "data", "lineage", "owners"}

// One shows an instance, and why it is where it is.
func One(v *page.Visit) (string, any, error) {
	id := v.Request.PathValue("id")
	query := v.Request.URL.Query()
	view := instanceView{Tabs: instanceTabs, Tab: query.Get("tab")}
	err := explained(v, id, &view)
	if err != nil {
		return "", nil, err
	}
	if view.Unborn {
		return "Instance " + id, view, nil
	}
	if !view.Damaged {
		if view.Drawing, err = drawnInstance(v, id); err != nil {
			return "", nil, err
		}
	}
	if !slices.Contains(instanceTabs, view.Tab) {
		view.Tab = "waits"
		switch {
		case len(view.Incidents) > 0:
			view.Tab = "incidents"
		case len(view.Bookmarks) == 0:
			view.Tab = "journal"
		}
	}
	switch view.Tab {
	case "journal":
		err = readJournal(v, id, journalItems, &view)
	case "timeline":
		if err = readJournal(v, id, timelineItems, &view); err == nil {
			view.Timeline = drawTimeline(&view.Journal.Journal, view.FinishedAt, v.Now())
		}
	case "variables":
		err = readVariables(v, id, &view)
	case "waits":
		view.Waits = waitsFrom(view.Bookmarks, v.Request.URL.Path, query.Get("from"))
		if waitsForEvent(&view.Instance) {
			view.Source, err = v.Text(page.At("definitions", view.DefinitionID), url.Values{"version": {strconv.Itoa(view.Version)}})
			if page.IsProblem(err) { // it is no more there
				err = nil
			}
		}
	case "lineage":
		var tree shape.Lineage
		tree, err = page.Get[shape.Lineage](v, page.At("instances", id, "lineage"), nil)
		view.Lineage = &tree
	}
	return "Instance " + id, view, err
}

// explained reads an instance and why it is where it is. What has not started has the explanation only.
func explained(v *page.Visit, id string, view *instanceView) error {
	var err error
	view.Instance, err = page.Get[shape.Instance](v, page.At("instances", id), nil)
	missing := page.IsMissing(err)
	if err != nil && !missing {
		return err
	}
	if view.Explanation, err = page.Get[shape.Explanation](v, page.At("instances", id, "explain"), nil); err != nil || !missing {
		return err
	}
	if view.Explanation.Unborn() {
		view.InstanceID, view.Unborn = id, true
		return nil
	}
	view.Instance, err = page.Get[shape.Instance](v, page.At("instances", id), nil) // it started between the two
	return err
}

// readJournal reads the end of a journal, or the part that the cursor of the page's address names.
func readJournal(v *page.Visit, id, items string, view *instanceView) error {
	query := v.Request.URL.Query()
	ask, own := url.Values{"items": {items}}, url.Values{"tab": {view.Tab}}
	tab := &journalTab{Filter: page.Filtered(query, []string{"activity", "event", "text"}, ask, own)}
	if cursor := query.Get("cursor"); cursor != "" {
		ask.Set("cursor", cursor)
		ask.Set("limit", journalCommits)
		view.Newest = page.Address(v.Request.URL.Path, own)
	} else {
		ask.Set("tail", journalCommits)
	}
	var err error
	if tab.Journal, err = page.Get[shape.Journal](v, page.At("instances", id, "journal"), ask); err != nil {
		return err
	}
	part := func(cursor *string) string {
		if cursor == nil {
			return ""
		}
		own.Set("cursor", *cursor)
		return page.Address(v.Request.URL.Path, own)
	}
	view.Older, view.Newer = part(tab.PreviousCursor), part(tab.NextCursor)
	tab.Groups = byCommit(&tab.Journal)
	view.Journal = tab
	return nil
}

// byCommit puts the items of a journal below their commits, the newest first.
func byCommit(j *shape.Journal) []journalGroup {
	items := map[int64][]shape.JournalItem{}
	for _, it := range j.Items {
		items[it.Commit] = append(items[it.Commit], it)
	}
	groups := make([]journalGroup, 0, len(j.Commits))
	for i, c := range slices.Backward(j.Commits) {
		g := journalGroup{Commit: c, Items: items[c.Commit]}
		if i > 0 {
			now, before := c.Node, j.Commits[i-1].Node
			g.Taken = now != nil && before != nil && *now != *before
		}
		groups = append(groups, g)
	}
	if n := len(groups); n > 0 {
		groups[0].Behind, groups[n-1].Before = j.ItemsBehind, j.ItemsBefore
	}
	return groups
}
