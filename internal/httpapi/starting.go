package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/pkg/workflow"
)

// Starting serves until there is an [API], for a node whose etcd lets it wait:
// /livez and /metrics as later, /readyz with 503 and what ready says, and 503 for
// everything else. It asks for no credentials and shows nothing that needs any.
func Starting(nodeID string, gatherer prometheus.Gatherer, ready func() error) http.Handler {
	log := slog.New(slog.DiscardHandler)
	a := &API{cfg: Config{NodeID: nodeID, Gatherer: gatherer, Ready: ready, Log: log, RequestTimeout: requestTimeout, BodyTimeout: bodyTimeout}, log: log, places: newPlaces(1, 0)}
	for _, rt := range a.healthRoutes() {
		if isProbe(rt.path) {
			a.routes = append(a.routes, rt)
		}
	}
	mux := http.NewServeMux()
	for i := range a.routes {
		rt := &a.routes[i]
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) { a.run(rt, w, r) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "this node is starting; ask another one", RetryAfter: time.Second})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header(), r.TLS != nil)
		x := &exchange{unread: arriving(w, r, a.cfg.BodyTimeout)}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		mux.ServeHTTP(w, r)
	})
}
