package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Of a journal a part is asked for at a time, whatever a commit has, and no more than is compared.
func TestAComparisonReadsAPartAtATime(t *testing.T) {
	t.Parallel()
	const has, compared = 6_000, 5_000 // entries
	given := map[string]int{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query := strings.TrimPrefix(r.URL.Path, "/api/v1"), r.URL.Query()
		if !strings.HasSuffix(path, "/journal") {
			_, _ = w.Write([]byte(`{"paths": {}}`)) // also the instance, and its variables
			return
		}
		items, first := 0, 0
		if _, err := fmt.Sscan(query.Get("items"), &items); err != nil || items < 1 || items > 500 {
			t.Errorf("asked for %q", r.URL.RawQuery)
			items = has
		}
		if cursor := query.Get("cursor"); cursor != "" {
			if _, err := fmt.Sscan(cursor, &first); err != nil {
				t.Errorf("the cursor %q", cursor)
			}
		}
		to := min(first+items, has)
		var rows []string
		for i := first; i < to; i++ {
			rows = append(rows, fmt.Sprintf(`{"sequence": %d, "event": "WriteLine", "text": "line %d"}`, i+1, i+1))
		}
		next := "null"
		if to < has {
			next = fmt.Sprintf(`"%d"`, to)
		}
		given[path] += to - first
		_, _ = fmt.Fprintf(w, `{"items": [%s], "nextCursor": %s}`, strings.Join(rows, ","), next)
	})
	c, err := New(Config{API: handler, Open: true, NodeID: "one", Secrets: [][]byte{make([]byte, 32)}, Now: func() time.Time { return atTen }})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/console/compare?a=one&b=two", nil))
	if text := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(text, "The first 5000 entries are the same.") {
		t.Fatalf("%d\n%s", w.Code, text)
	}
	for _, id := range []string{"one", "two"} {
		if n := given["/instances/"+id+"/journal"]; n < compared || n > compared+500 {
			t.Errorf("of %s %d entries were read", id, n)
		}
	}
}
