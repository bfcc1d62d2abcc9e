package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
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

// What waits for a person is listed, kept, given back and completed with the fields of its form: a text is what was typed.
func TestPeopleDecide(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("decide.yaml", "id: decide\nvariables: {answer: object}\noutputs: {answer: '${{ variables.answer.data }}'}\nroot:\n  - userTask: {title: Decide it, reference: d-1, outcomes: [Yes, No], form: {required: [code], properties: {code: {type: string}, n: {type: integer}}}}\n    id: approve\n    result: answer\n"))
	u.wants(0, "*", "run", "decide")
	id := strings.TrimSpace(u.wants(0, "*", "tasks", "mine", "--jq", `.items[] | select(.reference == "d-1") | .taskId`).out)
	u.wants(0, id+"  claimed\n", "tasks", "claim", id)
	u.wants(0, "anyone\n", "tasks", "show", id, "--jq", ".claimedBy")
	u.wants(0, id+"  released\n", "tasks", "release", id)
	u.refuses(2, "say with --outcome how the user task ends", "tasks", "complete", id, "--field", "code=1")
	u.refuses(3, "a user task is completed with --outcome, and weft tasks show has its outcomes", "tasks", "complete", id)
	u.refuses(2, "--result is of a worker's task, and --outcome of a user task", "tasks", "complete", id, "--outcome", "Yes", "-d", "1")
	u.refuses(3, "/data/n: n has to be integer", "tasks", "complete", id, "--outcome", "Yes", "--field", "code=1.10", "--field", "n=x")
	u.wants(0, "*", "tasks", "complete", id, "--outcome", "Yes", "--field", "code=1.10", "--field", "n=7")
	instance, _, _ := strings.Cut(id, "~")
	u.wants(0, "1.10 7\n", "instances", "get", instance, "--jq", `"\(.output.answer.code) \(.output.answer.n)"`)
}
