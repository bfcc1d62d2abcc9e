package cluster

import (
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// goView is what a text might mean.
type goView struct {
	Q           string
	Instance    *shape.Instance
	Definition  string
	Correlation page.ListView[shape.Summary]
	Named       page.ListView[shape.Summary]
	Event       *shape.ResultView
	Receipts    *receiptList
}

// Nothing tells whether the text was found as anything.
func (g *goView) Nothing() bool {
	return g.Instance == nil && g.Definition == "" && len(g.Correlation.Items)+len(g.Named.Items) == 0 && !g.Waited() && g.Receipts == nil
}

// Waited tells whether the text is the name of an event that would do something.
func (g *goView) Waited() bool { return g.Event != nil && g.Event.Resumed+g.Event.Started > 0 }

// Find finds out what a text is: the id of an instance or a definition, a correlation, a
// name, an event, an Idempotency-Key. The id of an instance, and a search line, lead to
// their page at once.
func Find(v *page.Visit) (string, any, error) {
	q := strings.TrimSpace(v.Request.URL.Query().Get("q"))
	if q == "" || strings.Contains(q, ":") {
		return "", nil, &page.Elsewhere{To: page.Path + "instances?" + url.Values{"q": {q}}.Encode()}
	}
	view := goView{Q: q}
	for _, path := range []string{page.At("instances", q), page.At("instances", q, "explain")} { // that explains a start that waits, too
		found, err := page.IfThere[struct{}](v, path, nil)
		switch {
		case err != nil:
			return "", nil, err
		case found != nil:
			return "", nil, &page.Elsewhere{To: strings.TrimSuffix(page.Path, "/") + page.At("instances", q)}
		}
	}
	var err error
	if _, err = v.Text(page.At("definitions", q), nil); err == nil {
		view.Definition = q
	} else if !page.IsProblem(err) {
		return "", nil, err
	}
	summaries := func(word string) (page.ListView[shape.Summary], error) {
		found, err := page.Paged[shape.Summary](v, "/instances", url.Values{"view": {"summary"}, "limit": page.Few["limit"], "q": {word + page.Quote(q)}})
		if page.IsProblem(err) {
			err = nil
		}
		return found, err
	}
	if view.Correlation, err = summaries("corr:"); err != nil {
		return "", nil, err
	}
	if view.Named, err = summaries("name:"); err != nil {
		return "", nil, err
	}
	if view.Event, err = page.IfThere[shape.ResultView](v, page.At("events", q), nil); err != nil {
		return "", nil, err
	}
	if view.Receipts, err = page.IfThere[receiptList](v, page.At("receipts", q), nil); err != nil {
		return "", nil, err
	}
	return "Find " + page.Short(60, q), &view, nil
}
