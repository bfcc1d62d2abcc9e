package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Exchange is what the layers of one request tell each other.
type Exchange struct {
	id      string
	route   string          // the pattern that matched, "" while none has
	served  *Route          // what serves it; nil while nothing does
	Caller  *auth.Principal // who asks; nil if that is not known or was not asked
	code    workflow.Code   // of the problem that was answered, "" for a success
	target  string          // what it is about, if its path does not say
	DryRun  bool            // it only looks what would happen
	unread  bool            // there is a body that nobody has read to its end
	Theirs  bool            // a workflow wrote the answer
	Arrived time.Time       // when
	Began   time.Duration   // after which it began to stream; 0: it streams nothing
}

type exchangeKey struct{}

func requestID(r *http.Request) string { return ExchangeOf(r).id }

func routeOf(r *http.Request) string { return ExchangeOf(r).route }

// ExchangeOf is what the layers of a request know of it.
func ExchangeOf(r *http.Request) *Exchange {
	if x, ok := r.Context().Value(exchangeKey{}).(*Exchange); ok {
		return x
	}
	return &Exchange{}
}

// ServeHTTP is the whole chain: it numbers the request, guards, counts and logs
// it, and hands it to its route.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	hurry(w, 2*a.Config.BodyTimeout) // for what is refused: of the body, and of the answer
	x := &Exchange{id: incomingID(r), Arrived: start, unread: arriving(w, r, a.Config.BodyTimeout)}
	ctx, span := a.trace(r)
	r = r.WithContext(context.WithValue(ctx, exchangeKey{}, x))
	out := &recorder{ResponseWriter: w}
	setSecurityHeaders(out.Header(), r.TLS != nil)
	out.Header().Set("X-Request-Id", x.id)
	if a.isDraining() || a.Config.DrainsUntil != nil && !a.Config.DrainsUntil().IsZero() { // the next request of this connection would be cut off
		out.Header().Set("Connection", "close")
	}
	defer func() {
		if cause := recover(); cause != nil {
			a.panicked(out, r, cause)
		}
		span.Answered(r.Method, x.route, out.code())
		took := cmp.Or(x.Began, time.Since(start)) // how long somebody listens says nothing of the node
		a.Config.Metrics.HTTPRequest(x.route, r.Method, out.code(), took, tracing.TraceID(ctx))
		a.audit(r, x, out.Header(), out.code())
		a.log.DebugContext(r.Context(), "request answered", slog.String("requestId", x.id), slog.String("method", r.Method),
			slog.String("route", x.route), slog.Int("status", out.code()), slog.Int64("bytes", out.bytes),
			slog.Duration("took", time.Since(start)), slog.String("remote", r.RemoteAddr))
	}()
	a.direct(out, r)
}

// trace begins the span of a request. What asks how the node is, every few
// seconds, is not traced, nor what lasts as long as somebody listens.
func (a *API) trace(r *http.Request) (context.Context, tracing.Request) {
	if isProbe(r.URL.Path) || r.URL.Path == Prefix+StreamPath {
		return r.Context(), tracing.Request{}
	}
	return a.Config.Tracer.Request(r.Context(), r)
}

// direct finds who answers. What a definition declares below /workflows/ may
// have any path, so it does not go through the mux, which would clean it.
func (a *API) direct(w http.ResponseWriter, r *http.Request) {
	p := r.URL.EscapedPath()
	if err := a.checkHost(r); err != nil {
		a.fail(w, r, err)
		return
	}
	shared := strings.HasPrefix(p, EndpointPrefix) || strings.HasPrefix(p, Prefix+"/") // not what the console's cookie opens
	if shared && wire.Cross(w, r, a.Config.Origins) {
		return
	}
	switch {
	case strings.HasPrefix(p, EndpointPrefix):
		ExchangeOf(r).route = EndpointPrefix + "…"
		a.run(a.endpoints, w, r)
	case !strings.HasPrefix(p, LinkPath) && foreign.Check(r) != nil && !(shared && slices.Contains(a.Config.Origins, r.Header.Get("Origin"))):
		a.fail(w, r, workflow.Fail(codeForbidden, "a page of another site may not do this: a browser sent it, with another Origin than this API's"))
	case p != "/" && path.Clean(p) != p:
		// The mux would redirect, and a redirected POST becomes a GET.
		a.unknown(w, r, noRoute(r))
	default:
		a.mux.ServeHTTP(w, r)
	}
}

// foreign tells what a browser sends for the page of another site. What is no
// browser says neither Origin nor Sec-Fetch-Site.
var foreign = http.NewCrossOriginProtection()

func noRoute(r *http.Request) error {
	return workflow.Fail(codeNotFound, fmt.Sprintf("there is no route %s; GET /openapi.json lists them", Shorten(r.URL.EscapedPath())))
}

// panicked answers 500 for a bug in a handler; the stack goes to the log.
func (a *API) panicked(w *recorder, r *http.Request, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause) // net/http's own way to drop a connection
	}
	a.log.ErrorContext(r.Context(), "request panicked", slog.String("requestId", requestID(r)), slog.String("route", routeOf(r)),
		slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	if w.status == 0 {
		a.fail(w, r, workflow.Fail(workflow.CodeInternal, "something went wrong inside the node; its log has the request's id"))
	}
}

// incomingID takes the id that a proxy gave, or makes one.
func incomingID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); workflow.CheckID("X-Request-Id", id) == nil {
		return id
	}
	return workflow.NewID()
}

func setSecurityHeaders(h http.Header, encrypted bool) {
	if encrypted {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// EndpointPrefix is where HTTP endpoints live that definitions declare.
const EndpointPrefix = "/workflows/"

// LinkPath is where resume links lead; the token follows.
const LinkPath = "/links/"

// StreamPath is where somebody listens.
const StreamPath = "/stream"

// streamBeat is how often it is asked whether a stream may go on: by the node, and by
// who listens.
const streamBeat = 5 * time.Second
