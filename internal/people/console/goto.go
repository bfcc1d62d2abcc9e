package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// goView is what a text might mean.
type goView struct {
	Q           string
	Instance    *instance
	Definition  string
	Correlation listView[summary]
	Named       listView[summary]
	Event       *resultView
	Receipts    *receiptList
}

// Nothing tells whether the text was found as anything.
func (g *goView) Nothing() bool {
	return g.Instance == nil && g.Definition == "" && len(g.Correlation.Items)+len(g.Named.Items) == 0 && !g.Waited() && g.Receipts == nil
}

// Waited tells whether the text is the name of an event that would do something.
func (g *goView) Waited() bool { return g.Event != nil && g.Event.Resumed+g.Event.Started > 0 }

// goTo finds out what a text is: the id of an instance or a definition, a correlation, a
// name, an event, an Idempotency-Key. The id of an instance, and a search line, lead to
// their page at once.
func goTo(v *visit) (string, any, error) {
	q := strings.TrimSpace(v.r.URL.Query().Get("q"))
	if q == "" || strings.Contains(q, ":") {
		return "", nil, &elsewhere{to: Path + "instances?" + url.Values{"q": {q}}.Encode()}
	}
	view := goView{Q: q}
	for _, path := range []string{at("instances", q), at("instances", q, "explain")} { // that explains a start that waits, too
		found, err := ifThere[struct{}](v, path, nil)
		switch {
		case err != nil:
			return "", nil, err
		case found != nil:
			return "", nil, &elsewhere{to: strings.TrimSuffix(Path, "/") + at("instances", q)}
		}
	}
	var err error
	if _, err = v.text(at("definitions", q), nil); err == nil {
		view.Definition = q
	} else if !isProblem(err) {
		return "", nil, err
	}
	summaries := func(word string) (listView[summary], error) {
		found, err := paged[summary](v, "/instances", url.Values{"view": {"summary"}, "limit": few["limit"], "q": {word + quote(q)}})
		if isProblem(err) {
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
	if view.Event, err = ifThere[resultView](v, at("events", q), nil); err != nil {
		return "", nil, err
	}
	if view.Receipts, err = ifThere[receiptList](v, at("receipts", q), nil); err != nil {
		return "", nil, err
	}
	return "Find " + short(60, q), &view, nil
}

// ifThere reads one answer of the API; nil: it refused, as it does what is not there.
func ifThere[T any](v *visit, path string, query url.Values) (*T, error) {
	view, err := get[T](v, path, query)
	if isProblem(err) {
		return nil, nil
	}
	return &view, err
}

// isProblem tells an answer of the API that says no from one that cannot be read.
func isProblem(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status < http.StatusInternalServerError
}

// isMissing tells the answer of the API that what was asked for is not there.
func isMissing(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}

// elsewhere is no failure: what was asked for has a page of its own.
type elsewhere struct{ to string }

func (e *elsewhere) Error() string { return "it is at " + e.to }

type receiptList struct {
	Key      string
	Receipts []receipt
	More     bool
	Revision int64
}

type receipt struct {
	Request, Caller *string
	At              *time.Time
	KeptUntil       time.Time
	Open            bool
	ResponseStatus  *int
	Effects         []fate
	Unlisted        int
	Damaged         bool
	Damage          string
}

type fate struct {
	State, CommandID                           string
	InstanceID, Code, Detail, Item, DeadLetter *string
	Outcome                                    string
	LetterGone                                 bool `json:"deadLetterGone"`
	Commit                                     *struct {
		Sequence, Fence int64
		NodeID          *string
		At              *time.Time
	}
}

type receiptsView struct {
	Key   string
	Found *receiptList
}

// receiptsOf tells what became of the requests that came with a key.
func receiptsOf(v *visit) (string, any, error) {
	view := receiptsView{Key: v.r.URL.Query().Get("key")}
	if view.Key == "" {
		return "Receipts", view, nil
	}
	var err error
	view.Found, err = ifThere[receiptList](v, at("receipts", view.Key), nil)
	return "Receipts", view, err
}
