package serve

import (
	"encoding/json"
	"net/http"
	"testing"
)

// readProblem checks the form of a problem.
func readProblem(t *testing.T, resp *http.Response) Problem {
	t.Helper()
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type is %q", got)
	}
	var p Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	if p.Type != "about:blank" || p.Title == "" || p.Status != resp.StatusCode || p.Code == "" || p.Detail == "" {
		t.Errorf("not a whole problem: %+v", p)
	}
	return p
}
