package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// busy is a service that refuses every call, and remembers the keys of each path.
type busy struct {
	*httptest.Server
	mu   sync.Mutex
	keys map[string][]string // guarded by mu
}

func newBusy(t *testing.T) *busy {
	t.Helper()
	b := &busy{keys: map[string][]string{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.keys[r.URL.Path] = append(b.keys[r.URL.Path], r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *busy) calls(path string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.keys[path])
}

// The node that made the first attempt is killed in the pause after it: others make each
// of the attempts that follow once, with the same Idempotency-Key, and then give up.
func TestAttemptsAreMadeOnceEachAfterTheirNodeWasKilled(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	c.publish(t, `
id: charging
inputs: {url: string}
root:
  - sendHttpRequest: "${{ inputs.url }}"
    id: charge
    retry: {attempts: 4, delay: 5s, factor: 1}
    onGiveUp:
      - writeLine: gave up
`)
	c.publish(t, "id: resting\ninputs: {url: string}\nroot:\n  - sendHttpRequest: \"${{ inputs.url }}\"\n    retry: {attempts: 2, delay: 1h}\n")
	service := newBusy(t)
	const n, attempts = 8, 4
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		a := c.execute(t, c.members[0], "charging", id, fmt.Sprintf(`{"input": {"url": %q}}`, service.URL+"/"+id))
		marks := objects(a.body["bookmarks"])
		if a.status == 200 && (len(marks) != 1 || fmt.Sprintf("%v of %v of %v", dig(marks[0], "retry", "attempt"), dig(marks[0], "retry", "attempts"), dig(marks[0], "retry", "activityId")) != "2 of 4 of charge") {
			t.Fatalf("execute: %s", a)
		}
	}
	c.execute(t, c.members[0], "resting", "r", fmt.Sprintf(`{"input": {"url": %q}}`, service.URL+"/r"))
	c.waitFor(t, c.members[0], "r", "Suspended")
	c.members[0].kill(t)
	polltest.Eventually(t, "it waits for its retry, held by nobody", func() bool {
		reasons := objects(c.must(t, c.any(), "GET", "/api/v1/instances/r/explain", "", 200).body["reasons"])
		return len(reasons) == 1 && reasons[0]["kind"] == "retry"
	})
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "gave up")
		keys := service.calls("/" + id)
		if len(keys) != attempts || len(slices.Compact(keys)) != 1 || keys[0] == "" {
			t.Errorf("%s: the service saw the keys %q, want the same one %d times", id, keys, attempts)
		}
		var told []any
		for _, item := range c.journal(t, c.any(), id) {
			if item["event"] == "AttemptFailed" || item["event"] == "GaveUp" {
				told = append(told, dig(item, "data", "attempt"))
			}
		}
		if fmt.Sprint(told) != "[1 2 3 4]" {
			t.Errorf("%s: the journal tells of the attempts %v", id, told)
		}
	}
	c.checkHistories(t)
}

// A cancel in the pause ends it, and no attempt follows.
func TestACancelBetweenTwoAttempts(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: charging\ninputs: {url: string}\nroot:\n  - sendHttpRequest: \"${{ inputs.url }}\"\n    retry: {attempts: 4, delay: 1h}\n")
	service := newBusy(t)
	c.execute(t, c.members[0], "charging", "c", fmt.Sprintf(`{"input": {"url": %q}}`, service.URL+"/c"))
	c.waitFor(t, c.any(), "c", "Suspended")
	c.must(t, c.members[1], "POST", "/api/v1/instances/c/cancel", "{}", 200)
	if left := c.list(t, c.any(), "/api/v1/timers"); len(left) != 0 {
		t.Errorf("timers are left: %v", left)
	}
	c.waitFor(t, c.any(), "c", "Cancelled")
	if in := c.instance(t, c.any(), "c"); len(service.calls("/c")) != 1 {
		t.Errorf("%s, %d calls", in, len(service.calls("/c")))
	}
}

// An export of the pause between two attempts, imported in the pause and after the attempt that
// followed: the attempts go on from there, as the same calls.
func TestAnImportBetweenTwoAttempts(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: charging\ninputs: {url: string}\nroot:\n  - sendHttpRequest: \"${{ inputs.url }}\"\n    id: charge\n    retry: {attempts: 3, delay: 4s, factor: 1}\n    onGiveUp:\n      - event: later\n")
	service := newBusy(t)
	c.execute(t, c.members[0], "charging", "c", fmt.Sprintf(`{"input": {"url": %q}}`, service.URL+"/c"))
	waits := func() bool { // for the event: while an attempt is made, the instance has the bookmark of its pause
		marks := objects(c.instance(t, c.any(), "c").body["bookmarks"])
		return len(marks) == 1 && marks[0]["name"] == "later"
	}
	state := c.must(t, c.any(), "GET", "/api/v1/instances/c/state", "", 200)
	c.must(t, c.members[1], "PUT", "/api/v1/instances/c/state", state.raw, 200)
	polltest.Eventually(t, "the policy gives up", func() bool { return waits() && len(service.calls("/c")) == 3 })
	c.must(t, c.members[2], "PUT", "/api/v1/instances/c/state", state.raw, 200)
	polltest.Eventually(t, "it makes the second and the third attempt again", func() bool { return waits() && len(service.calls("/c")) == 5 })
	if keys := service.calls("/c"); len(slices.Compact(keys)) != 1 {
		t.Errorf("the attempts have the keys %q", keys)
	}
	c.must(t, c.any(), "POST", "/api/v1/events/later", "{}", 200)
	c.waitFor(t, c.any(), "c", "Finished")
	if n := len(service.calls("/c")); n != 5 {
		t.Errorf("%d calls", n)
	}
}
