package remote_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestALock(t *testing.T) {
	t.Parallel()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items": [{"name": "instance b", "scope": "instance", "holder": "node-3", "fence": 48377, "since": "2026-11-22T13:16:40Z",
			"waiters": [{"nodeId": "node-1", "since": null, "fence": 48380}, {"nodeId": null, "since": "2026-11-22T13:16:44Z", "fence": 48391}]}], "nextCursor": null, "revision": 1}`)
	}))
	t.Cleanup(cluster.Close)
	u := newUser(t, "WEFT_SERVER="+cluster.URL)
	u.wants(0, "instance b  held by node-3  fence 48377  since TIME\n  1. node-1  fence 48380\n  2.   fence 48391  waits since TIME\n", "locks", "show", "instance/b", "--time", "iso")
	u.wants(0, "48380\n", "lock", "show", "instance/b", "--jq", ".waiters[0].fence")
	u.wants(0, "*", "locks", "show", "instance b") // as the list has it
	u.refuses(3, "weft locks list", "locks", "show", "instance/c")

	busy := played(t, map[string]string{
		"/locks":   `{"items": [{"name": "instance b", "scope": "instance", "holder": "node-3", "fence": 7, "since": "2026-11-22T13:16:40Z", "waiters": []}], "nextCursor": null, "revision": 1}`,
		"/explain": `{"state": "running", "doing": {"activityId": "ship", "activityType": "Elsa.SendHttpRequest", "since": "2026-11-22T13:16:41Z"}, "mail": [{"kind": "resume"}], "mailLeft": 36}`,
	}, false)
	u.wants(0, "instance b  held by node-3  fence 7  since TIME  (Elsa.SendHttpRequest ship since TIME)\n  mailbox: 37 commands ride in the next commits\n",
		"locks", "show", "instance/b", "--time", "iso", "--server", busy.URL)
}
