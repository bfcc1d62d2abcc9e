package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/internal/pairs"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Prefix is where the API lives.
const Prefix = "/api/v1"

// kind says what a route does to the cluster.
type kind int

// The kinds of routes.
const (
	Open    kind = iota // answers also without a session, and is never refused
	Reads               // looks
	Changes             // changes something that exists
	Starts              // makes new work
)

// Route is one line of the outward contract: it serves the requests and is what
// openapi.json is made from.
type Route struct {
	Method, Path string // path as the mux reads it, below prefix unless bare
	Bare         bool
	Name         string // operationId
	Summary      string
	Kind         kind
	Role         auth.Role // the least that may call it; without one it is not served
	Tag          string

	Query      []Param
	AnyQuery   bool   // and any other
	Idempotent bool   // its effect is in one transaction with the record of an Idempotency-Key
	Once       bool   // doing it twice is more than doing it once; else a repeat whose first try left no reply is done
	Waits      bool   // takes Prefer: wait
	MayWait    bool   // what it finds says how long it waits
	IfMatch    string // what If-Match means here; "": it is not taken
	Tagged     bool   // its answer has an ETag, and If-None-Match is answered with 304

	Body     any    // zero value of the request body; nil: none
	BodyDoc  string // for a body that is not plain JSON
	MaxBody  int64  // 0: the configured limit
	Files    bool   // one that holds files may have more
	Answers  map[int]any
	Events   map[string]any  // what an answer streams, by the name of the event
	Problems []workflow.Code // beside those that every route can answer

	Audited  bool              // in the audit log although it only reads
	Target   string            // what it is about, for the audit log, if nothing else says
	Streams  bool              // answers as long as the caller listens, in a place of its own kind
	Costly   bool              // takes much of a processor, as lists do: those of one caller run in line
	Reserved bool              // finds a place also when all are taken
	Before   func(*Call) error // looks at the head of a request before its body is read
	Serve    func(*Call) (Reply, error)
}

// Param is one query parameter.
type Param struct {
	Name, Type, Doc string   // a name may end with <name>: then it is one for each name
	Values          []string // if only these
	Several         bool     // it may be given several times
}

// takes tells whether a query's parameter is this one.
func (p *Param) takes(name string) bool {
	prefix, each := p.each()
	return p.Name == name || each && strings.HasPrefix(name, prefix)
}

// filters tells whether a value that is empty would be taken for none: who sent it had a variable that was empty.
func (p *Param) filters() bool {
	switch p.Name {
	case "q", "cursor", "limit", "topics": // topics has to be there, and says so itself
		return false
	}
	_, each := p.each()
	return p.Type != "boolean" && !each
}

// takesNone tells whether a body asks for something that the route does not do.
func (rt *Route) takesNone() bool {
	return !rt.AnyQuery && (rt.Method == http.MethodGet || rt.Method == http.MethodDelete)
}

// each gives what the names of a parameter begin with that is one for each name.
func (p *Param) each() (prefix string, ok bool) { return strings.CutSuffix(p.Name, "<name>") }

// FullPath is the path as callers ask for it.
func (rt *Route) FullPath() string {
	if rt.Bare {
		return rt.Path
	}
	return Prefix + rt.Path
}

// lists tells whether it answers with a page.
func (rt *Route) lists() bool {
	return rt.Kind == Reads && slices.ContainsFunc(rt.Query, func(p Param) bool { return p.Name == PageParams[1].Name })
}

// mount builds the mux from the table: each route, and for each path an answer
// to the methods that it does not have.
func (a *API) mount() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for i := range a.routes {
		rt := &a.routes[i]
		mux.HandleFunc(rt.Method+" "+rt.FullPath(), func(w http.ResponseWriter, r *http.Request) {
			ExchangeOf(r).route = rt.FullPath()
			a.run(rt, w, r)
		})
		methods[rt.FullPath()] = append(methods[rt.FullPath()], rt.Method)
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
			ExchangeOf(r).route = p
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
func (a *API) run(rt *Route, w http.ResponseWriter, r *http.Request) {
	if rt.Bare && rt.Kind == Open && r.URL.RawPath != "" {
		a.unknown(w, r, noRoute(r)) // a proxy that keeps /metrics inside knows one spelling
		return
	}
	ExchangeOf(r).served = rt
	if err := a.allow(w, r, rt.Role); err != nil {
		a.fail(w, r, err)
		return
	}
	query, err := pairs.Read(r.URL.RawQuery) // what r.URL.Query() cannot read it leaves out, and the rest would be done
	if err != nil {
		a.fail(w, r, Invalid("bad-query", "", "nothing was done, as the query of the address cannot be read: "+err.Error()))
		return
	}
	c := &Call{API: a, Writer: w, Request: r, Query: query, manyValues: rt.MaxBody > a.Config.MaxBody}
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
	if answer.Handler != nil {
		if !rt.Streams { // who has one is cut off by what it does not read
			a.Hurry(w)
		}
		answer.Handler.ServeHTTP(w, r)
		return
	}
	a.write(w, r, answer)
}

// arrived reads the body of a request that a route takes, and then takes a place
// for it: what is refused by its head alone costs no more than that.
func (a *API) arrived(rt *Route, c *Call) (leave func(), err error) {
	if err := c.checkHead(rt); err != nil {
		return nil, err
	}
	if err := c.checkQuery(rt); err != nil && !rt.AnyQuery {
		return nil, err
	}
	place := func() (func(), error) {
		switch {
		case rt.Kind == Open:
			return func() {}, nil
		case rt.Streams:
			return a.listen(c)
		}
		return a.admit(rt, c)
	}
	if !ExchangeOf(c.Request).unread {
		if leave, err = place(); err == nil && rt.Before != nil {
			if err = rt.Before(c); err != nil {
				leave()
			}
		}
		return leave, err
	}
	if rt.Kind != Open {
		if err := a.Serving(); err != nil {
			return nil, err
		}
	}
	if err := c.readBody(wire.Limit(rt.Files, c.Request.Header, cmp.Or(rt.MaxBody, a.Config.MaxBody)), func() error {
		if rt.Before == nil {
			return nil
		}
		leave, err := place()
		if err != nil {
			return err
		}
		defer leave()
		return rt.Before(c)
	}); err != nil {
		return nil, err
	}
	return place()
}

// Hurry bounds how long a caller may take from now on to read the answer that is there, or its next part: what is left of a wait is not for reading.
func (a *API) Hurry(w http.ResponseWriter) { hurry(w, a.Config.BodyTimeout) }

func hurry(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d)) // tests' writers have none
}

func (a *API) answer(rt *Route, c *Call) (Reply, error) {
	ctl := http.NewResponseController(c.Writer)
	timeout := a.Config.RequestTimeout
	switch {
	case rt.Waits:
		timeout += c.Wait()
	case rt.MayWait:
		timeout = max(timeout, a.Config.MaxWait)
	}
	_ = ctl.SetWriteDeadline(time.Now().Add(timeout + a.Config.BodyTimeout))
	ctx, cancel := context.WithTimeout(c.Request.Context(), timeout)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	if rt.Costly || rt.lists() {
		leave, err := a.inLine(c)
		if err != nil {
			return Reply{}, err
		}
		defer leave()
	}
	if rt.lists() {
		return a.page(rt, c)
	}
	return a.once(rt, c)
}

// keyed tells whether a request with an Idempotency-Key has one effect and one answer.
func (rt *Route) keyed() bool {
	return rt.Idempotent || rt.Kind >= Changes && rt.Role > auth.Anyone
}

// once serves a request, or gives the reply to an earlier one with its key.
func (a *API) once(rt *Route, c *Call) (Reply, error) {
	if rt.Idempotent || !rt.keyed() || c.Request.Header["Idempotency-Key"] == nil {
		return rt.Serve(c)
	}
	if dry, err := c.Flag("dryRun", false); dry || err != nil {
		return rt.Serve(c)
	}
	key, err := c.Key()
	if err != nil {
		return Reply{}, err
	}
	begun, kept, err := a.Config.Runtime.Keeper.Begin(c.Request.Context(), key, !rt.Once)
	if err != nil {
		return Reply{}, err
	}
	if kept != nil {
		return Reply{Status: kept.Status, Raw: kept.Body, RawType: kept.Type, Location: kept.Location, ETag: kept.ETag, Headers: kept.Headers}, nil
	}
	did, err := rt.Serve(c)
	var reply *runtime.Reply
	if err == nil {
		if did.Body != nil {
			if did.Raw, err = a.Encode(c.Request, did.Body); err != nil {
				return Reply{}, err
			}
			did.Raw, did.RawType, did.Body = append(did.Raw, '\n'), "application/json", nil
		}
		reply = &runtime.Reply{Status: did.Status, Type: did.RawType, Body: did.Raw, Location: did.Location, ETag: did.ETag, Headers: did.Headers}
	} else if rt.Once && !a.undone(c, err) {
		return Reply{}, err // nobody knows: the note of the request stays
	}
	if noted := begun.End(c.Request.Context(), reply); noted != nil {
		a.log.WarnContext(c.Request.Context(), "the answer to a request is not kept under its Idempotency-Key", slog.String("requestId", requestID(c.Request)), slog.Any("error", noted))
	}
	return did, err
}

// undone tells that an error says that nothing was done.
func (a *API) undone(c *Call, err error) bool {
	e := tellable(c.Request.Context(), err)
	return c.Request.Context().Err() == nil && e.Code != workflow.CodeUnknownOutcome && status[e.Code] != 0 && status[e.Code] != http.StatusInternalServerError
}

// OnlyLooks tells whether the caller may look and not act: what resumes, and what events
// bring, is hidden from such a one.
func (a *API) OnlyLooks(r *http.Request) bool {
	if a.Config.Auth == nil {
		return false
	}
	caller := ExchangeOf(r).Caller
	return caller == nil || caller.Role < auth.Operator
}

// Encode gives v as JSON without the values of secrets, and without resume links
// unless the caller may resume. What a workflow keeps has no secrets; what a caller
// sent may.
func (a *API) Encode(r *http.Request, v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return raw, err
	}
	if a.OnlyLooks(r) {
		raw = []byte(resumelink.Hide(string(raw)))
	}
	if a.Config.Secrets == nil {
		return raw, nil
	}
	return a.Config.Secrets().RedactJSON(raw)
}

// write sends a success.
func (a *API) write(w http.ResponseWriter, r *http.Request, answer Reply) {
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	body, typ := answer.Raw, answer.RawType
	if answer.Body != nil {
		var err error
		if body, err = a.Encode(r, answer.Body); err != nil {
			a.fail(w, r, err)
			return
		}
		body, typ = append(body, '\n'), "application/json"
	}
	h := w.Header()
	for name, value := range answer.Headers {
		h.Set(name, value)
	}
	if answer.Location != "" {
		h.Set("Location", answer.Location)
	}
	if answer.ETag != "" {
		h.Set("ETag", answer.ETag)
	}
	if typ != "" {
		h.Set("Content-Type", typ)
	}
	if answer.Status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) && wire.Known(r.Header, answer.ETag) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if !ExchangeOf(r).Theirs {
		body = wire.Gzipped(r, h, body)
	}
	a.Hurry(w)
	w.WriteHeader(answer.Status)
	if r.Method == http.MethodHead {
		return
	}
	for part := range slices.Chunk(body, answerPart) {
		a.Hurry(w)
		if _, err := w.Write(part); err != nil { // the client is gone, or does not read
			return
		}
	}
}

// answerPart is of how much of an answer the time to read it is: who reads a large one over a slow line is not cut off.
const answerPart = 1 << 20

// codeForbidden says that the caller is known and may not do this.
const codeForbidden workflow.Code = "forbidden"

// PageParams are those of every list.
var PageParams = []Param{
	{Name: "limit", Type: "integer", Doc: "Items of a page, 1 to 500, 50 if absent."},
	{Name: "cursor", Type: "string", Doc: "nextCursor of the page before."},
}
