package instances

import (
	"net/url"
	"slices"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// repairView is what may be changed in an instance.
type repairView struct {
	shape.Instance
	Activity  string           // that somebody came from; "": none
	About     []shape.Incident // those of that activity, or all
	IDs       []string         // of its activities, as far as they are drawn
	Variables []string
	Timers    []shape.Bookmark
	Versions  []shape.Version
	Ended     bool // nothing may be changed any more
}

// Repair shows the ways to change an instance; each can be tried first.
func Repair(v *page.Visit) (string, any, error) {
	id := v.Request.PathValue("id")
	view := repairView{Activity: v.Request.URL.Query().Get("activity")}
	var err error
	if view.Instance, err = page.Get[shape.Instance](v, page.At("instances", id), nil); err != nil {
		return "", nil, err
	}
	view.About = view.Incidents
	if view.Activity != "" {
		view.About = slices.DeleteFunc(slices.Clone(view.Incidents), func(i shape.Incident) bool { return i.ActivityID != view.Activity })
	}
	view.Ended = !instanceView{Instance: view.Instance}.Open()
	title := "Repair instance " + id
	if view.Ended {
		return title, &view, nil
	}
	drawing, err := drawnInstance(v, id)
	if err != nil {
		return "", nil, err
	}
	for i := range drawing.Rows {
		if own := drawing.Rows[i].ID; own != "" && !slices.Contains(view.IDs, own) {
			view.IDs = append(view.IDs, own)
		}
	}
	vars, err := page.Get[shape.Variables](v, page.At("instances", id, "variables"), nil)
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
	versions, err := page.IfThere[page.List[shape.Version]](v, page.At("definitions", view.DefinitionID, "versions"), url.Values{"limit": {page.Rows}})
	if err != nil {
		return "", nil, err
	}
	if versions != nil {
		view.Versions = slices.DeleteFunc(versions.Items, func(other shape.Version) bool { return other.Version == view.Version })
	}
	return title, &view, nil
}
