package serve

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
// everything else; of the routes only those three are served. It asks for no credentials and shows nothing that needs any.
func Starting(nodeID string, gatherer prometheus.Gatherer, ready func() error, routes []Route) http.Handler {
	log := slog.New(slog.DiscardHandler)
	a := &API{Config: Config{NodeID: nodeID, Gatherer: gatherer, Ready: ready, Log: log, RequestTimeout: requestTimeout, BodyTimeout: bodyTimeout}, log: log, places: newPlaces(1, 0), Scrape: scraper(gatherer)}
	for _, rt := range routes {
		if isProbe(rt.Path) {
			a.routes = append(a.routes, rt)
		}
	}
	mux := http.NewServeMux()
	for i := range a.routes {
		rt := &a.routes[i]
		mux.HandleFunc(rt.Method+" "+rt.Path, func(w http.ResponseWriter, r *http.Request) { a.run(rt, w, r) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "this node is starting; ask another one", RetryAfter: time.Second})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header(), r.TLS != nil)
		x := &Exchange{unread: arriving(w, r, a.Config.BodyTimeout)}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		mux.ServeHTTP(w, r)
	})
}
