package console

import (
	"net/url"
	"slices"
	"strconv"
)

type instanceView struct {
	instance
	Explanation explanation
	Unborn      bool // its start waits behind a gate: there is nothing of it but the explanation
	Tab         string
	Tabs        []string
	Journal     *journalTab
	Timeline    *timeline
	Variables   *variables
	Changes     *variableChanges // of them between two commits; nil: nobody asked
	Wrong       *problem         // with what was asked of them
	Lineage     *lineage
	Source      string // of the definition, for what an event may bring; "": it is not needed
	drawing
	Older  string // address of the part of the journal before; "": there is none
	Newer  string
	Newest string
	Waits  waitsTab
}

// journalTab is a part of the journal by commits, the newest first.
type journalTab struct {
	journal
	Groups []journalGroup
	Filter map[string]string
}

type journalGroup struct {
	Commit         commit
	Items          []journalItem
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

// oneInstance shows an instance, and why it is where it is.
func oneInstance(v *visit) (string, any, error) {
	id := v.r.PathValue("id")
	query := v.r.URL.Query()
	view := instanceView{Tabs: instanceTabs, Tab: query.Get("tab")}
	err := v.explained(id, &view)
	if err != nil {
		return "", nil, err
	}
	if view.Unborn {
		return "Instance " + id, view, nil
	}
	if !view.Damaged {
		if view.drawing, err = v.drawnInstance(id); err != nil {
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
			view.Timeline = drawTimeline(&view.Journal.journal, view.FinishedAt, v.now())
		}
	case "variables":
		err = v.readVariables(id, &view)
	case "waits":
		view.Waits = waitsFrom(view.Bookmarks, v.r.URL.Path, query.Get("from"))
		if view.instance.waitsForEvent() {
			view.Source, err = v.text(at("definitions", view.DefinitionID), url.Values{"version": {strconv.Itoa(view.Version)}})
			if isProblem(err) { // it is no more there
				err = nil
			}
		}
	case "lineage":
		var tree lineage
		tree, err = get[lineage](v, at("instances", id, "lineage"), nil)
		view.Lineage = &tree
	}
	return "Instance " + id, view, err
}

// explained reads an instance and why it is where it is. What has not started has the explanation only.
func (v *visit) explained(id string, view *instanceView) error {
	var err error
	view.instance, err = get[instance](v, at("instances", id), nil)
	missing := isMissing(err)
	if err != nil && !missing {
		return err
	}
	if view.Explanation, err = get[explanation](v, at("instances", id, "explain"), nil); err != nil || !missing {
		return err
	}
	if view.Explanation.unborn() {
		view.InstanceID, view.Unborn = id, true
		return nil
	}
	view.instance, err = get[instance](v, at("instances", id), nil) // it started between the two
	return err
}

// readJournal reads the end of a journal, or the part that the cursor of the page's address names.
func readJournal(v *visit, id, items string, view *instanceView) error {
	query := v.r.URL.Query()
	ask, own := url.Values{"items": {items}}, url.Values{"tab": {view.Tab}}
	tab := &journalTab{Filter: filtered(query, []string{"activity", "event", "text"}, ask, own)}
	if cursor := query.Get("cursor"); cursor != "" {
		ask.Set("cursor", cursor)
		ask.Set("limit", journalCommits)
		view.Newest = address(v.r.URL.Path, own)
	} else {
		ask.Set("tail", journalCommits)
	}
	var err error
	if tab.journal, err = get[journal](v, at("instances", id, "journal"), ask); err != nil {
		return err
	}
	part := func(cursor *string) string {
		if cursor == nil {
			return ""
		}
		own.Set("cursor", *cursor)
		return address(v.r.URL.Path, own)
	}
	view.Older, view.Newer = part(tab.PreviousCursor), part(tab.NextCursor)
	tab.Groups = byCommit(&tab.journal)
	view.Journal = tab
	return nil
}

// byCommit puts the items of a journal below their commits, the newest first.
func byCommit(j *journal) []journalGroup {
	items := map[int64][]journalItem{}
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
