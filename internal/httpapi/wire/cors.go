package wire

import (
	"net/http"
	"slices"
)

// Headers that pages of other sites may send and read.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsSends   = "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Correlation-Id, X-Request-Id, X-Workflow-Instance-Id"
	corsReads   = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id"
)

// Cross answers what browsers ask for the pages of other sites (CORS): those of origins may send requests to this node
// and read the answers, without cookies. It reports whether the request was a question of that kind (a preflight), which
// is then answered. From any other site it changes nothing.
func Cross(w http.ResponseWriter, r *http.Request, origins []string) (answered bool) {
	if len(origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsReads)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsSends)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
