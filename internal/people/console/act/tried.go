package act

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/weft-run/weft/internal/people/console/page"
)

// triedView is what a change would do, and the form that makes it.
type triedView struct {
	Fits      bool
	Code      string
	Errors    []page.ProblemItem
	Did, Next []string
	SubStatus string
	Version   int
	BasedOn   int64

	Action, Back string
	Fields       []page.Field
}

// tried shows what a change would do.
func tried(v *page.Visit, to *page.Answer) {
	var view triedView
	if err := json.Unmarshal(to.Body.Bytes(), &view); err != nil {
		v.Fail("instances", fmt.Errorf("read what a change would do: %w", err))
		return
	}
	form := maps.Clone(v.Request.PostForm)
	delete(form, "q.dryRun")
	view.Action, view.Back, view.Fields = v.Request.URL.Path, v.Back(), page.Fields(form)
	for i := range view.Fields {
		view.Fields[i].Typed = false // it is done as it was tried
	}
	v.Render(http.StatusOK, "tried", page.Page{Title: "What it would do", Here: "instances", View: &view})
}
