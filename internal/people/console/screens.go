package console

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
)

// screens are the pages of the console.
var screens = []screen{
	{path: "{$}", template: "home", here: "home", every: 5, read: home, weft: says("top --once")},
	{path: "instances", template: "instances", here: "instances", every: 5, read: instances, weft: with("q", "instances list", "instances list")},
	{path: "chosen", template: "problem", here: "instances", read: chosen},
	{path: "instances/{id}", template: "instance", here: "instances", topics: "instance:{id}", read: oneInstance, weft: weftInstance},
	{path: "instances/{id}/repair", template: "repair", here: "instances", read: repair},
	{path: "compare", template: "compare", here: "instances", read: compared, weft: weftCompare},
	{path: "definitions", template: "definitions", here: "definitions", topics: "definitions", every: 5, read: definitions, weft: says("definitions list")},
	{path: "definitions/{id}", template: "definition", here: "definitions", topics: "definitions", every: 5, read: oneDefinition, weft: of("definitions get", "graph")},
	{path: "definitions/{id}/edit", template: "edit", here: "definitions", read: edit, weft: of("definitions get")},
	{path: "definitions/{id}/versions", template: "versions", here: "definitions", read: versions, weft: of("definitions versions")},
	{path: "definitions/{id}/tests", template: "tests", here: "definitions", read: tests},
	{path: "definitions/{id}/flip", template: "flip", here: "definitions", every: 1, read: flip, weft: says("nodes list")},
	{path: "publish", template: "edit", here: "definitions", read: edit},
	{path: "events", template: "events", here: "events", read: events, weft: weftEvents},
	{path: "queue", template: "queue", here: "queue", every: 5, read: queue, weft: says("queue list")},
	{path: "queue/{id}", template: "letter", here: "queue", read: oneQueueItem, weft: of("queue show")},
	{path: "dead-letters", template: "deadletters", here: "dead-letters", every: 5, read: deadLetters, weft: with("reason", "dead-letters list --reason", "dead-letters list")},
	{path: "dead-letters/{id}", template: "letter", here: "dead-letters", read: oneDeadLetter, weft: of("dead-letters show")},
	{path: "tasks", template: "tasks", here: "tasks", every: 5, read: plain[task]("Tasks", "/tasks", "name"), weft: says("tasks list")},
	{path: "jobs", template: "jobs", here: "jobs", every: 2, read: plain[job]("Jobs", "/jobs"), weft: says("jobs list")},
	{path: "timers", template: "timers", here: "timers", every: 5, read: timersAndSchedules, weft: says("timers list", "schedules list")},
	{path: "activities", template: "activities", here: "activities", read: catalogue, weft: says("activities")},
	{path: "audit", template: "audit", here: "audit", every: 5, read: audited},
	{path: "cluster", template: "cluster", here: "cluster", topics: "cluster", every: 5, read: theCluster, weft: says("cluster status", "cluster balance", "locks list", "top --once")},
	{path: "served", template: "refreshed", here: "cluster", every: 1, read: servedBy, weft: says("nodes list")},
	{path: "receipts", template: "receipts", here: "events", read: receiptsOf, weft: with("key", "events trace", "")},
	{path: "go", template: "go", here: "instances", read: goTo},
	{path: "me", template: "me", here: "me", read: me, weft: says("whoami")},
}

// rows is how many a page of a list has.
const rows = "50"

// listView is a page of a list.
type listView[T any] struct {
	list[T]
	Next   string // address of the next page; "": none
	First  string // of the first one, if this is another
	Filter map[string]string
}

// paged reads a page of a list of the API; filters are the parameters that go to it.
func paged[T any](v *visit, path string, with url.Values, filters ...string) (view listView[T], err error) {
	query := v.r.URL.Query()
	ask := url.Values{"limit": {rows}}
	for name, values := range with {
		ask[name] = values
	}
	own := url.Values{}
	view.Filter = filtered(query, filters, ask, own)
	if cursor := query.Get("cursor"); cursor != "" {
		ask.Set("cursor", cursor)
		view.First = address(v.r.URL.Path, own)
	}
	if view.list, err = get[list[T]](v, path, ask); err != nil {
		return view, err
	}
	if view.NextCursor != nil {
		own.Set("cursor", *view.NextCursor)
		view.Next = address(v.r.URL.Path, own)
	}
	return view, nil
}

// filtered takes the filters of a page's address into what is asked, and into the addresses of
// its other pages.
func filtered(query url.Values, filters []string, ask, own url.Values) map[string]string {
	shown := map[string]string{}
	for _, name := range filters {
		shown[name] = query.Get(name)
		if shown[name] != "" {
			ask.Set(name, shown[name])
			own.Set(name, shown[name])
		}
	}
	return shown
}

// address is a path with a query; without one, the path.
func address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// plain makes the page of a plain list.
func plain[T any](title, path string, filters ...string) func(*visit) (string, any, error) {
	return func(v *visit) (string, any, error) {
		view, err := paged[T](v, path, nil, filters...)
		return title, view, err
	}
}

// text reads an answer that is no JSON.
func (v *visit) text(path string, query url.Values) (string, error) {
	to, err := v.ask(asked{method: http.MethodGet, path: path, query: query})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(to.body.String(), "\n"), nil
}

// picture reads a graph as a part of a page. The API made it, with all texts escaped. One
// that cannot be drawn is no reason to show nothing.
func (v *visit) picture(path string, query url.Values) (template.HTML, error) {
	with := url.Values{"format": {"svg-part"}}
	for name, values := range query {
		with[name] = values
	}
	text, err := v.text(path, with)
	var p *problem
	if errors.As(err, &p) {
		return "", nil
	}
	return template.HTML(text), err
}

type meView struct {
	Open  bool // nobody is asked who it is
	Zone  string
	How   string    // of the sign-in
	Began time.Time // the session
	Ends  time.Time // at the latest
	Idle  time.Duration
	Roles []roleView
}

// roleView is what a role may do, beside what those before it may.
type roleView struct {
	auth.Role
	May  string
	Mine bool // the person who looks has it
}

// me shows who looks, and what each role may do.
func me(v *visit) (string, any, error) {
	view := meView{Open: v.open(), Zone: v.zone().String(), Idle: sessionIdle}
	if v.who == nil {
		return "Me", view, nil
	}
	view.How, view.Began, view.Ends = "an API key", v.session.Made, v.session.Made.Add(v.session.life())
	if v.session.Who != nil {
		view.How = "your organization's provider"
	}
	for _, r := range []roleView{
		{Role: auth.Viewer, May: "look at everything but what events bring"},
		{Role: auth.Operator, May: "start, cancel and retry instances, send events, complete tasks, work dead letters and the queue"},
		{Role: auth.Designer, May: "publish and retract definitions"},
		{Role: auth.Admin, May: "pause the cluster, drain nodes, change states, see the audit log"},
	} {
		r.Mine = v.who.Role >= r.Role
		view.Roles = append(view.Roles, r)
	}
	return "Me", view, nil
}
