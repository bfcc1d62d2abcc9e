package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// The list says which worker has a task, since when, until when and how far it is, and how it went before.
func TestTasksSayWhoHasThem(t *testing.T) {
	t.Parallel()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items": [
			{"taskId": "t1", "name": "pack", "instanceId": "i1", "createdAt": "2026-11-30T10:00:00Z", "worker": "one", "since": "2026-11-30T11:00:00Z", "until": "2026-11-30T11:00:30Z", "progress": 40, "text": "wrap\u001bping", "attempts": 2},
			{"taskId": "t2", "name": "pack", "instanceId": "i2", "createdAt": "2026-11-30T10:00:00Z", "worker": "two", "since": "2026-11-30T11:00:00Z", "until": "2026-11-30T11:00:30Z", "progress": 0, "attempts": 1},
			{"taskId": "t3", "name": "pack", "instanceId": "i3", "createdAt": "2026-11-30T10:00:00Z", "attempts": 1, "lastWorker": "two", "lastWhy": "exit status 1: jam"}]}`)
	}))
	t.Cleanup(cluster.Close)
	u := newUser(t, "WEFT_SERVER="+cluster.URL)
	got := regexp.MustCompile(` +`).ReplaceAllString(u.wants(0, "*", "tasks", "list", "--time", "iso", "-o", "wide").out, " ")
	want := `TASK NAME INSTANCE CREATED WORKER SINCE UNTIL PROGRESS ATTEMPTS LAST WORKER LAST ENDED PAYLOAD
t1 pack i1 2026-11-30T10:00:00Z one 2026-11-30T11:00:00Z 2026-11-30T11:00:30Z 40% wrap ping 2 - - -
t2 pack i2 2026-11-30T10:00:00Z two 2026-11-30T11:00:00Z 2026-11-30T11:00:30Z 0% 1 - - -
t3 pack i3 2026-11-30T10:00:00Z - - - - 1 two exit status 1: jam -
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
