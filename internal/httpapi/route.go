package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// prefix is where the API lives.
const prefix = "/api/v1"

// kind says what a route does to the cluster.
type kind int

const (
	open    kind = iota // answers also without a session, and is never refused
	reads               // looks
	changes             // changes something that exists
	starts              // makes new work
)

// route is one line of the outward contract: it serves the requests and is what
// openapi.json is made from.
type route struct {
	method, path string // path as the mux reads it, below prefix unless bare
	bare         bool
	name         string // operationId
	summary      string
	kind         kind
	role         auth.Role // the least that may call it; without one it is not served
	tag          string

	query      []param
	anyQuery   bool   // and any other
	idempotent bool   // takes Idempotency-Key
	waits      bool   // takes Prefer: wait
	mayWait    bool   // what it finds says how long it waits
	ifMatch    string // what If-Match means here; "": it is not taken

	body     any    // zero value of the request body; nil: none
	bodyDoc  string // for a body that is not plain JSON
	maxBody  int64  // 0: the configured limit
	answers  map[int]any
	events   map[string]any  // what an answer streams, by the name of the event
	problems []workflow.Code // beside those that every route can answer

	audited  bool              // in the audit log although it only reads
	target   string            // what it is about, for the audit log, if nothing else says
	streams  bool              // answers as long as the caller listens, in a place of its own kind
	costly   bool              // takes much of a processor, as lists do: those of one caller run in line
	reserved bool              // finds a place also when all are taken
	before   func(*call) error // looks at the head of a request before its body is read
	serve    func(*call) (reply, error)
}

// param is one query parameter.
type param struct {
	name, typ, doc string   // a name may end with <name>: then it is one for each name
	values         []string // if only these
}

// takes tells whether a query's parameter is this one.
func (p *param) takes(name string) bool {
	prefix, each := p.each()
	return p.name == name || each && strings.HasPrefix(name, prefix)
}

// each gives what the names of a parameter begin with that is one for each name.
func (p *param) each() (prefix string, ok bool) { return strings.CutSuffix(p.name, "<name>") }

func (rt *route) fullPath() string {
	if rt.bare {
		return rt.path
	}
	return prefix + rt.path
}

// lists tells whether it answers with a page.
func (rt *route) lists() bool {
	return rt.kind == reads && slices.ContainsFunc(rt.query, func(p param) bool { return p.name == pageParams[1].name })
}

// mount builds the mux from the table: each route, and for each path an answer
// to the methods that it does not have.
func (a *API) mount() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for i := range a.routes {
		rt := &a.routes[i]
		mux.HandleFunc(rt.method+" "+rt.fullPath(), func(w http.ResponseWriter, r *http.Request) {
			exchangeOf(r).route = rt.fullPath()
			a.run(rt, w, r)
		})
		methods[rt.fullPath()] = append(methods[rt.fullPath()], rt.method)
	}
	for p, has := range methods {
		if covered(p, methods) {
			continue
		}
		if slices.Contains(has, http.MethodGet) {
			has = append(has, http.MethodHead)
		}
		slices.Sort(has)
		allow := strings.Join(has, ", ")
		mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) {
			exchangeOf(r).route = p
			w.Header().Set("Allow", allow)
			a.unknown(w, r, workflow.Fail(codeMethodNotAllowed, "this route takes "+allow))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.unknown(w, r, noRoute(r)) })
	return mux
}

// covered tells whether another path with a parameter matches this one, such as
// /definitions/{id} and /definitions/refresh. Then that one's answer has to do:
// the mux refuses both as ambiguous.
func covered(p string, methods map[string][]string) bool {
	parts := strings.Split(p, "/")
	for other := range methods {
		theirs := strings.Split(other, "/")
		if other == p || len(theirs) != len(parts) {
			continue
		}
		matches := true
		for i := range parts {
			matches = matches && (theirs[i] == parts[i] || strings.HasPrefix(theirs[i], "{"))
		}
		if matches {
			return true
		}
	}
	return false
}

// run is one request to a route of the table.
func (a *API) run(rt *route, w http.ResponseWriter, r *http.Request) {
	if rt.bare && rt.kind == open && r.URL.RawPath != "" {
		a.unknown(w, r, noRoute(r)) // a proxy that keeps /metrics inside knows one spelling
		return
	}
	exchangeOf(r).served = rt
	if err := a.allow(w, r, rt.role); err != nil {
		a.fail(w, r, err)
		return
	}
	c := &call{request: request{api: a, w: w, r: r, query: r.URL.Query(), manyValues: rt.maxBody > a.cfg.MaxBody}}
	defer c.release()
	leave, err := a.arrived(rt, c)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	defer leave()
	answer, err := a.answer(rt, c)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	if answer.handler != nil {
		answer.handler.ServeHTTP(w, r)
		return
	}
	a.write(w, r, answer)
}

// arrived reads the body of a request that a route takes, and then takes a place
// for it: what is refused by its head alone costs no more than that.
func (a *API) arrived(rt *route, c *call) (leave func(), err error) {
	if err := c.checkQuery(rt); err != nil && !rt.anyQuery {
		return nil, err
	}
	place := func() (func(), error) {
		switch {
		case rt.kind == open:
			return func() {}, nil
		case rt.streams:
			return a.listen(c)
		}
		return a.admit(rt, c)
	}
	if !exchangeOf(c.r).unread {
		if leave, err = place(); err == nil && rt.before != nil {
			if err = rt.before(c); err != nil {
				leave()
			}
		}
		return leave, err
	}
	if rt.kind != open {
		if err := a.serving(); err != nil {
			return nil, err
		}
	}
	if err := c.readBody(cmp.Or(rt.maxBody, a.cfg.MaxBody), func() error {
		if rt.before == nil {
			return nil
		}
		leave, err := place()
		if err != nil {
			return err
		}
		defer leave()
		return rt.before(c)
	}); err != nil {
		return nil, err
	}
	return place()
}

func (a *API) answer(rt *route, c *call) (reply, error) {
	ctl := http.NewResponseController(c.w)
	timeout := a.cfg.RequestTimeout
	switch {
	case rt.waits:
		timeout += c.wait()
	case rt.mayWait:
		timeout = max(timeout, a.cfg.MaxWait)
	}
	_ = ctl.SetWriteDeadline(time.Now().Add(timeout + a.cfg.BodyTimeout))
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	defer cancel()
	c.r = c.r.WithContext(ctx)
	if rt.costly || rt.lists() {
		leave, err := a.inLine(c)
		if err != nil {
			return reply{}, err
		}
		defer leave()
	}
	if rt.lists() {
		return a.page(rt, c)
	}
	return rt.serve(c)
}

// onlyLooks tells whether the caller may look and not act: what resumes, and what events
// bring, is hidden from such a one.
func (a *API) onlyLooks(r *http.Request) bool {
	if a.cfg.Auth == nil {
		return false
	}
	caller := exchangeOf(r).caller
	return caller == nil || caller.Role < auth.Operator
}

// encode gives v as JSON without the values of secrets, and without resume links
// unless the caller may resume. What a workflow keeps has no secrets; what a caller
// sent may.
func (a *API) encode(r *http.Request, v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return raw, err
	}
	if a.onlyLooks(r) {
		raw = []byte(workflow.HideLinks(string(raw)))
	}
	if a.cfg.Secrets == nil {
		return raw, nil
	}
	return a.cfg.Secrets().RedactJSON(raw)
}

// write sends a success.
func (a *API) write(w http.ResponseWriter, r *http.Request, answer reply) {
	if answer.status == 0 {
		answer.status = http.StatusOK
	}
	body, typ := answer.raw, answer.rawType
	if answer.body != nil {
		var err error
		if body, err = a.encode(r, answer.body); err != nil {
			a.fail(w, r, err)
			return
		}
		body, typ = append(body, '\n'), "application/json"
	}
	h := w.Header()
	for name, value := range answer.headers {
		h.Set(name, value)
	}
	if answer.location != "" {
		h.Set("Location", answer.location)
	}
	if answer.etag != "" {
		h.Set("ETag", answer.etag)
	}
	if typ != "" {
		h.Set("Content-Type", typ)
	}
	w.WriteHeader(answer.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}
