package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
)

// widest is how many places an instance waits at: as many as may be, or as many as take several commits.
var widest = testsize.Of(10_000, 3000)

// An instance that waits at as many places as there may be is exported, imported over itself, migrated, cancelled and
// deleted by jobs, and imported after that, over HTTP, on whichever node.
func TestTheWidestInstanceGoesEveryWay(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("10,000 tasks")
	}
	c := inProcess(t, outcomes)
	definition := fmt.Sprintf("id: wide\noptions: {logging: Exclude}\nroot:\n  - parallelForEach: ${{ 1..%d }}\n    id: each\n    body:\n      runTask: pack\n      id: pack\n", widest)
	c.publish(t, definition)
	c.publish(t, definition+"  - writeLine: packed\n    id: packed\n")
	began := time.Now()
	step := func(what string) {
		t.Logf("%-40s %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	if a := c.call(t, c.members[0], "POST", "/api/v1/definitions/wide/execute", `{"instanceId": "w", "version": 1, "correlationId": "c"}`); a.status != 200 {
		t.Fatalf("start: %d %.500s", a.status, a.raw)
	}
	// waits until it is as it is to be, at so many places, by its state and by the index of tasks.
	waits := func(what, subStatus string, places int, version float64) {
		t.Helper()
		step(what)
		polltest.Eventually(t, what+": it is "+subStatus, func() bool {
			a := c.call(t, c.any(), "GET", "/api/v1/instances/w", "")
			return a.status == 200 && a.text("subStatus") == subStatus && len(objects(a.body["bookmarks"])) == places && a.body["version"] == version
		})
		polltest.Eventually(t, what+": the index has its tasks", func() bool { return c.indexed(t, "task/") == places && c.indexed(t, "mailbox/") == 0 })
		step("  written")
	}
	state := func() (body, tag string) {
		t.Helper()
		a := c.call(t, c.any(), "GET", "/api/v1/instances/w/state", "")
		if a.status != 200 {
			t.Fatalf("export: %d %.500s", a.status, a.raw)
		}
		var v struct{ Instance, State json.RawMessage }
		if err := json.Unmarshal([]byte(a.raw), &v); err != nil {
			t.Fatal(err)
		}
		t.Logf("an export has %d bytes", len(a.raw))
		return a.raw, a.header.Get("ETag")
	}
	imports := func(body string, status int, headers ...string) {
		t.Helper()
		if a := c.call(t, c.any(), "PUT", "/api/v1/instances/w/state", body, headers...); a.status != status {
			t.Fatalf("import: %d %.500s", a.status, a.raw)
		}
	}
	job := func(body string) {
		t.Helper()
		id := c.must(t, c.any(), "POST", "/api/v1/jobs", body, 202).text("id")
		polltest.Eventually(t, "the job ends", func() bool {
			a := c.must(t, c.any(), "GET", "/api/v1/jobs/"+id, "", 200)
			if a.text("state") == "running" {
				return false
			}
			if a.body["refused"] != 0.0 || a.body["unknown"] != nil && a.body["unknown"] != 0.0 {
				t.Errorf("the job ends with %s", a.raw)
			}
			return true
		})
	}

	waits("start", "Suspended", widest, 1)
	first, tag := state()
	imports(first, 200, "If-Match: "+tag)
	waits("import over itself", "Suspended", widest, 1)
	if a := c.call(t, c.any(), "POST", "/api/v1/instances/w/alterations", `{"alterations": [{"type": "migrate", "version": 2}]}`); a.status != 200 && a.status != 202 {
		t.Fatalf("migrate: %d %.500s", a.status, a.raw)
	}
	waits("migrate", "Suspended", widest, 2)
	second, _ := state()
	job(`{"kind": "cancel", "q": "def:wide"}`)
	waits("cancel by a job", "Cancelled", 0, 2)
	imports(second, 200)
	waits("import after the cancel", "Suspended", widest, 2)
	job(`{"kind": "delete", "q": "def:wide"}`)
	step("delete by a job")
	polltest.Eventually(t, "it is gone", func() bool { return c.call(t, c.any(), "GET", "/api/v1/instances/w", "").status == 404 })
	for _, prefix := range []string{"task/", "bookmark/", "part/", "mailbox/", "by-correlation/", "index/"} {
		if n := c.indexed(t, prefix); n != 0 {
			t.Errorf("%d keys below %s are left", n, prefix)
		}
	}
	imports(first, 200)
	waits("import after the delete", "Suspended", widest, 1)
	job(`{"kind": "alter", "q": "def:wide", "alterations": [{"type": "migrate", "version": 2}]}`)
	waits("migrate by a job", "Suspended", widest, 2)
	c.must(t, c.any(), "DELETE", "/api/v1/instances/w", "", 204)
	polltest.Eventually(t, "it is gone", func() bool { return c.call(t, c.any(), "GET", "/api/v1/instances/w", "").status == 404 })
	c.fsckFindsNothing(t)
}

// indexed counts the keys below a prefix.
func (c *cluster) indexed(t *testing.T, prefix string) int {
	t.Helper()
	n := 0
	for _, key := range c.keys(t) {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			n++
		}
	}
	return n
}
