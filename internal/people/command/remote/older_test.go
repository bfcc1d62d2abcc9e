package remote_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A node of an older version refuses a parameter that it does not know: what is new is only said where it is asked for.
func TestWhatIsNewIsNotSaidToAnOlderNode(t *testing.T) {
	t.Parallel()
	u := at(t)
	older := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.RawQuery != "":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"status": 422, "code": "invalid-request", "detail": "there is no query parameter here"}`))
		case r.URL.Path == "/api/v1/queue/q-1/send", r.URL.Path == "/api/v1/dead-letters/d-1/replay":
			_, _ = w.Write([]byte(`{"outcomes": []}`))
		default:
			_, _ = w.Write([]byte(`{"done": ["x"], "refused": [], "nextCursor": null}`))
		}
	}))
	t.Cleanup(older.Close)
	for _, args := range [][]string{
		{"queue", "send", "q-1"}, {"queue", "send", "--all"}, {"queue", "delete", "--event", "paid"},
		{"dead-letters", "replay", "d-1"}, {"dead-letters", "replay", "--all"}, {"dead-letters", "delete", "--all"},
	} {
		u.wants(0, "*", append(args, "--yes", "--server", older.URL)...)
	}
	u.refuses(3, "no query parameter", "queue", "send", "--all", "--dry-run", "--server", older.URL)
}
