package definitions

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"

	"github.com/weft-run/weft/internal/people/console/differ"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

type versionsView struct {
	ID         string
	Versions   page.ListView[shape.Version]
	From, To   int
	Lines      []differ.Line
	Before     template.HTML
	After      template.HTML
	Gone, Came []shape.Starts // what started instances before and does not now, and the other way
}

// Versions lists the versions of a definition, and shows what differs between two of them.
func Versions(v *page.Visit) (string, any, error) {
	view := versionsView{ID: v.Request.PathValue("id")}
	var err error
	if view.Versions, err = page.Paged[shape.Version](v, page.At("definitions", view.ID, "versions"), nil); err != nil {
		return "", nil, err
	}
	query := v.Request.URL.Query()
	view.From, _ = strconv.Atoi(query.Get("from")) // 0: the one before
	view.To, _ = strconv.Atoi(query.Get("to"))     // 0: the newest
	if items := view.Versions.Items; view.To == 0 && len(items) > 0 {
		view.To = items[0].Version
	}
	if view.From == 0 {
		for _, it := range view.Versions.Items {
			if it.Version < view.To {
				view.From = it.Version
				break
			}
		}
	}
	if view.From != 0 && view.To != 0 && view.From != view.To {
		err = compareVersions(v, &view)
	}
	return "Versions of " + view.ID, view, err
}

// compareVersions reads two versions.
func compareVersions(v *page.Visit, view *versionsView) error {
	var texts [2][]string
	var faces [2]face
	pictures := [2]*template.HTML{&view.Before, &view.After}
	for i, n := range []int{view.From, view.To} {
		which := url.Values{"version": {strconv.Itoa(n)}}
		text, err := v.Text(page.At("definitions", view.ID), which)
		if err != nil {
			return err
		}
		texts[i] = linesOf(text)
		which.Set("against", strconv.Itoa([]int{view.To, view.From}[i]))
		if *pictures[i], err = v.Picture(page.At("definitions", view.ID, "graph"), which); err != nil {
			return err
		}
		which.Del("against")
		if faces[i], err = readFace(v, view.ID, which); err != nil {
			return err
		}
	}
	view.Lines = differ.Lines(texts[0], texts[1])
	view.Gone, view.Came = without(faces[0].Starts, faces[1].Starts), without(faces[1].Starts, faces[0].Starts)
	return nil
}

func without(some, others []shape.Starts) []shape.Starts {
	return slices.DeleteFunc(slices.Clone(some), func(s shape.Starts) bool { return slices.Contains(others, s) })
}

// flipView shows a publication arrive at each node.
type flipView struct {
	ID            string
	Before, After int
	Serves        shape.Serves
}

// Settled tells that the page has nothing to wait for.
func (f *flipView) Settled() bool { return f.Serves.Settled() }

// Flip follows a publication.
func Flip(v *page.Visit) (string, any, error) {
	query := v.Request.URL.Query()
	view := flipView{ID: v.Request.PathValue("id")}
	view.Before, _ = strconv.Atoi(query.Get("before"))
	view.After, _ = strconv.Atoi(query.Get("after"))
	revision, _ := strconv.ParseInt(query.Get("revision"), 10, 64)
	var err error
	view.Serves, err = shape.WhoServes(v, revision)
	return fmt.Sprintf("%s version %d", view.ID, view.After), &view, err
}
