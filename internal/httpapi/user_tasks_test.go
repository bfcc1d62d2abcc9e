package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

const approval = `
id: approval
inputs: {author: string}
variables: {answer: object, card: object}
outputs: {answer: "${{ variables.answer }}"}
root:
  - userTask:
      title: Approve what ${{ inputs.author }} wants
      instructions: hush-hush
      candidateUsers: ["oidc:anna"]
      candidateGroups: [finance]
      excludedUsers: ["${{ inputs.author }}"]
      outcomes: [Approve, Reject]
      form:
        required: [reason]
        properties:
          reason: {type: string, maxLength: 10}
          pin: {type: string, masked: true, pattern: "^[0-9]{5}$"}
    id: approve
    outputs: {result: answer, masked: card}
`

// people is a node with a definition that asks people, and who they are.
type people struct {
	*guarded
	anna, bert, carl, cleo, op string // headers; bert and cleo are of the group finance, carl is nobody
}

func startPeople(t *testing.T) *people {
	t.Helper()
	g := startGuarded(t, nil)
	p := &people{guarded: g, op: g.keys[auth.Operator]}
	person := func(name string, roles ...string) string {
		return "Authorization: Bearer " + g.issuer.Token(map[string]any{"sub": name, "roles": append(roles, "viewer")})
	}
	p.anna, p.bert, p.carl, p.cleo = person("anna"), person("bert", "finance"), person("carl"), person("cleo", "finance")
	if a := g.do(t, "POST", "/api/v1/definitions", approval, g.keys[auth.Designer], "Content-Type: application/yaml"); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return p
}

// ask starts an instance, and gives the path of its task.
func (p *people) ask(t *testing.T, id string) string {
	t.Helper()
	p.post(t, "/api/v1/definitions/approval/execute", `{"instanceId": "`+id+`", "input": {"author": "cleo"}}`, 200, p.op)
	for _, item := range p.waiting(t, p.anna, "") {
		if item["instanceId"] == id {
			return "/api/v1/user-tasks/" + item["taskId"].(string)
		}
	}
	t.Fatal("nothing waits for anna")
	return ""
}

func (p *people) waiting(t *testing.T, who, query string) []map[string]any {
	t.Helper()
	var got struct{ Items []map[string]any }
	if err := json.Unmarshal(p.get(t, "/api/v1/user-tasks"+query, who).body, &got); err != nil {
		t.Fatal(err)
	}
	return got.Items
}

// Candidates see, claim and complete a task; to everybody else, and to who is excluded, it is not there.
func TestOnlyCandidatesMay(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "a")
	for who, sees := range map[string]bool{p.anna: true, p.bert: true, p.carl: false, p.cleo: false} {
		for _, query := range []string{"", "?others=true"} {
			if got := len(p.waiting(t, who, query)) == 1; got != sees {
				t.Errorf("%.40s… sees it%s: %t", who, query, got)
			}
		}
		if sees {
			continue
		}
		for _, call := range []struct{ method, what, body string }{{"GET", "", ""}, {"POST", "/claim", "{}"}, {"POST", "/release", "{}"}, {"POST", "/complete", `{"outcome": "Approve", "data": {"reason": "x"}}`}} {
			if a := p.do(t, call.method, path+call.what, call.body, who); a.status != 404 || a.code() != "task-not-found" {
				t.Errorf("%s: %d %s", call.what, a.status, a.body)
			}
		}
	}
	if mine, all := p.waiting(t, p.op, ""), p.waiting(t, p.op, "?others=true"); len(mine) != 0 || len(all) != 1 {
		t.Errorf("an operator sees %v and %v", mine, all)
	}
	for _, at := range []string{"/api/v1/tasks", "/api/v1/bookmarks", "/api/v1/instances/a/explain"} { // what all viewers see
		if body := string(p.get(t, at, p.carl).body); strings.Contains(body, "that does task") || strings.Contains(body, "hush-hush") || strings.Contains(body, "Approve what") {
			t.Errorf("%s has %s", at, body)
		}
	}

	claimed := p.post(t, path+"/claim", "{}", 200, p.bert).json(t)
	if claimed["claimedBy"] != "oidc:bert" || claimed["revision"] == nil || len(p.waiting(t, p.bert, "")) != 1 || len(p.waiting(t, p.anna, "")) != 0 || len(p.waiting(t, p.anna, "?others=true")) != 1 {
		t.Errorf("%v", claimed)
	}
	again := p.post(t, path+"/claim", "{}", 200, p.bert).json(t)
	if again["revision"] != claimed["revision"] {
		t.Errorf("%v", again)
	}
	for _, what := range []string{"/claim", "/release", "/complete"} {
		body := map[string]string{"/complete": `{"outcome": "Approve", "data": {"reason": "x"}}`}[what]
		if a := p.do(t, "POST", path+what, body, p.anna); a.status != 409 || a.code() != "task-claim-lost" || !strings.Contains(string(a.body), "oidc:bert has user task ") {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	if a := p.do(t, "POST", path+"/complete", `{"outcome": "Approve", "data": {"reason": "x"}, "revision": 1}`, p.bert); a.status != 409 {
		t.Errorf("by another claim: %d %s", a.status, a.body)
	}
	p.post(t, path+"/release", "{}", 200, p.op) // an operator takes it away
	p.post(t, path+"/complete", `{"outcome": "Approve", "data": {"reason": "x"}}`, 200, p.anna)
	if a := p.do(t, "POST", path+"/claim", "{}", p.bert); a.status != 404 || !strings.Contains(string(a.body), "is done: oidc:anna completed it at ") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// What does not fit the form is told by field, and the task stays; what was masked is told nobody.
func TestAFormIsHeldAgainstWhatComes(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "f")
	long := strings.Repeat("x", 1_000_000)
	many := []string{`"reason": "x"`}
	for i := range 10_000 {
		many = append(many, fmt.Sprintf(`"f%d": %d`, i, i))
	}
	for body, want := range map[string]string{
		`{"outcome": "Approve", "data": {"pin": "12345"}}`:                       `"pointer":"/data/reason"`,
		`{"outcome": "Approve", "data": {"reason": 7}}`:                          `"pointer":"/data/reason"`,
		`{"outcome": "Approve", "data": {"reason": "` + long + `"}}`:             `"pointer":"/data/reason"`,
		`{"outcome": "Approve", "data": {` + strings.Join(many, ",") + `}}`:      `"pointer":"/data/f0"`,
		`{"outcome": "Approve", "data": {"reason": "x", "pin": "geheim-9"}}`:     `"pointer":"/data/pin"`,
		`{"outcome": "Perhaps", "data": {"reason": "x"}}`:                        `"pointer":"/outcome"`,
		`{"data": {"reason": "x"}}`:                                              `"pointer":"/outcome"`,
		`{"outcome": "Approve", "data": {"reason": "x"}, "by": "somebody else"}`: `"pointer":"/by"`,
	} {
		a := p.do(t, "POST", path+"/complete", body, p.anna, "Idempotency-Key: "+fmt.Sprint(len(body)))
		if a.status != 422 || !strings.Contains(string(a.body), want) || strings.Contains(string(a.body), "geheim-9") {
			t.Errorf("%.60s: %d %.500s", body, a.status, a.body)
		}
	}
	if got := p.get(t, path, p.anna).json(t); got["claimedBy"] != nil {
		t.Errorf("a refusal claimed it: %v", got)
	}
	const done = `{"outcome": "Reject", "data": {"reason": "no", "pin": "98765"}}`
	first := p.post(t, path+"/complete", done, 200, p.anna, "Idempotency-Key: k")
	if again := p.post(t, path+"/complete", done, 200, p.anna, "Idempotency-Key: k"); string(again.body) != string(first.body) {
		t.Errorf("a repeat got %s, the first %s", again.body, first.body)
	}
	if a := p.do(t, "POST", path+"/complete", strings.Replace(done, "Reject", "Approve", 1), p.anna, "Idempotency-Key: k"); a.status != 422 || a.code() != "idempotency-key-reused" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if out := fmt.Sprint(p.get(t, "/api/v1/instances/f", p.carl).json(t)["output"]); !strings.Contains(out, "completedBy:oidc:anna") || !strings.Contains(out, "reason:no") {
		t.Errorf("%s", out)
	}
	for _, at := range []string{"", "/journal?limit=500", "/variables", "/variables/changes", "/explain"} {
		if body := string(p.get(t, "/api/v1/instances/f"+at, p.carl).body); strings.Contains(body, "98765") {
			t.Errorf("%s has what was masked: %s", at, body)
		}
	}
	if strings.Contains(p.log.String(), "98765") {
		t.Error("the log has what was masked")
	}
}

// Who decides on a task as it was shown, which nobody has, decides; who saw it before somebody had it and gave it back does not.
func TestAFreeTaskIsCompletedAsItWasShown(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "f")
	decide := func(seen any, want int) {
		t.Helper()
		body := fmt.Sprintf(`{"outcome": "Approve", "data": {"reason": "fine"}, "revision": %.0f}`, seen)
		if a := p.do(t, "POST", path+"/complete", body, p.anna); a.status != want {
			t.Errorf("by revision %v: %d %s, want %d", seen, a.status, a.body, want)
		}
	}
	before := p.get(t, path, p.anna).json(t)["revision"]
	p.post(t, path+"/claim", "", 200, p.anna)
	decide(before, 409)
	p.post(t, path+"/release", "{}", 200, p.anna)
	decide(before, 409)
	decide(p.get(t, path, p.anna).json(t)["revision"], 200)
}

// Of two who complete a task at once, one does; the other is told who was faster, or that the task is gone, and there is one effect.
func TestTwoPeopleDecideAtOnce(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for n := range 5 {
		id := fmt.Sprintf("two%d", n)
		path := p.ask(t, id)
		var answers [2]answer
		var wait sync.WaitGroup
		for i, who := range []string{p.anna, p.bert} {
			wait.Go(func() {
				answers[i] = p.do(t, "POST", path+"/complete", `{"outcome": "`+[]string{"Approve", "Reject"}[i]+`", "data": {"reason": "x"}}`, who)
			})
		}
		wait.Wait()
		won := slices.IndexFunc(answers[:], func(a answer) bool { return a.status == 200 })
		if won < 0 {
			t.Fatalf("nobody: %s and %s", answers[0].body, answers[1].body)
		}
		if lost := answers[1-won]; lost.status != 404 && lost.status != 409 || lost.status == 409 && !strings.Contains(string(lost.body), "oidc:"+[]string{"anna", "bert"}[won]) && lost.code() != "task-claim-lost" {
			t.Errorf("the other was told %d %s", lost.status, lost.body)
		}
		if out := fmt.Sprint(p.get(t, "/api/v1/instances/"+id, p.op).json(t)["output"]); !strings.Contains(out, "outcome:"+[]string{"Approve", "Reject"}[won]) {
			t.Errorf("%d won, and the output is %s", won, out)
		}
	}
}

// There is no other way to a user task: not as a worker's, not by its bookmark, not by a stimulus.
func TestAUserTaskHasOneDoor(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	id := strings.TrimPrefix(p.ask(t, "d"), "/api/v1/user-tasks/")
	for _, call := range []struct {
		path, body string
		status     int
	}{
		{"/tasks/claim", `{"names": ["Elsa.UserTask"], "worker": "w"}`, 422},
		{"/tasks/" + id + "/complete", `{"result": {"outcome": "Approve"}}`, 409},
		{"/tasks/" + id + "/complete", `{"error": "no"}`, 409},
		{"/bookmarks/" + id + "/resume", `{"input": {"result": {"outcome": "Approve"}}}`, 409},
		{"/bookmarks/" + id + "/resume", `{"input": {"worker": "key:anna"}}`, 409},
	} {
		if a := p.do(t, "POST", "/api/v1"+call.path, call.body, p.op); a.status != call.status {
			t.Errorf("%s %s: %d %s", call.path, call.body, a.status, a.body)
		}
	}
	if len(p.waiting(t, p.anna, "")) != 1 {
		t.Error("it waits no more")
	}
}

// What others have is looked at and left out, a bounded number of times, also with the smallest limit: then a page is empty,
// and goes on behind. What others are asked is not looked at.
func TestAPageOfOneLooksFewTimes(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for n := range 25 {
		p.post(t, "/api/v1/definitions/approval/execute", fmt.Sprintf(`{"instanceId": "x%d", "input": {"author": "zoe"}}`, n), 200, p.op)
	}
	for _, item := range p.waiting(t, p.bert, "") {
		p.post(t, "/api/v1/user-tasks/"+item["taskId"].(string)+"/claim", "{}", 200, p.bert)
	}
	for who, want := range map[string]int{p.anna: 2, p.carl: 1} {
		pages, cursor := 0, ""
		for {
			var got struct {
				Items      []any
				NextCursor *string
			}
			if err := json.Unmarshal(p.get(t, "/api/v1/user-tasks?limit=1"+cursor, who).body, &got); err != nil || len(got.Items) != 0 {
				t.Fatal(err, got.Items)
			}
			if pages++; got.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(*got.NextCursor)
		}
		if pages != want {
			t.Errorf("25 tasks of others are %d pages, want %d", pages, want)
		}
	}
}

// Operators give a task to somebody, who alone has it then and may give it on or back; its id stays. Each counts only for the
// task as it was seen, and once.
func TestAUserTaskIsGivenToSomebody(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "g")
	sees := func(what string, want map[string]int) {
		t.Helper()
		for name, who := range map[string]string{"anna": p.anna, "bert": p.bert, "carl": p.carl, "cleo": p.cleo} {
			if got := p.do(t, "GET", path, "", who).status; (got == 200) != (want[name] > 0) || len(p.waiting(t, who, "")) != want[name] {
				t.Errorf("%s: %s sees it as %d, and %d wait", what, name, got, len(p.waiting(t, who, "")))
			}
		}
	}
	for who, want := range map[string]int{p.anna: 403, p.carl: 403} {
		if a := p.do(t, "POST", path+"/assign", `{"to": "oidc:carl"}`, who); a.status != want {
			t.Errorf("assign by %.30s: %d %s", who, a.status, a.body)
		}
	}
	if a := p.do(t, "POST", path+"/delegate", `{"to": "oidc:carl"}`, p.anna); a.status != 409 {
		t.Errorf("what anna has not: %d %s", a.status, a.body)
	}
	claimed := p.post(t, path+"/claim", `{}`, 200, p.bert).json(t)
	if a := p.do(t, "POST", path+"/delegate", `{"to": "oidc:carl"}`, p.anna); a.status != 409 {
		t.Errorf("what bert has: %d %s", a.status, a.body)
	}
	if a := p.do(t, "POST", path+"/delegate", `{"to": "oidc:carl", "revision": 1}`, p.bert); a.status != 409 {
		t.Errorf("of another revision: %d %s", a.status, a.body)
	}
	for _, to := range []string{"", "cleo", "oidc:cleo", strings.Repeat("x", 600), "a\\u0000b"} {
		if a := p.do(t, "POST", path+"/delegate", `{"to": "`+to+`"}`, p.bert); a.status != 422 || !strings.Contains(string(a.body), `"pointer":"/to"`) {
			t.Errorf("to %.20q: %d %s", to, a.status, a.body)
		}
	}
	give := fmt.Sprintf(`{"to": "oidc:carl", "reason": "he knows", "revision": %v}`, int64(claimed["revision"].(float64)))
	first := p.post(t, path+"/delegate", give, 200, p.bert, "Idempotency-Key: d")
	if again := p.post(t, path+"/delegate", give, 200, p.bert, "Idempotency-Key: d"); string(again.body) != string(first.body) {
		t.Errorf("a repeat got %s, the first %s", again.body, first.body)
	}
	if a := p.do(t, "POST", path+"/delegate", `{"to": "oidc:anna"}`, p.bert, "Idempotency-Key: d"); a.code() != "idempotency-key-reused" {
		t.Errorf("another body: %d %s", a.status, a.body)
	}
	sees("given to carl", map[string]int{"carl": 1})
	p.post(t, path+"/comment", `{"text": "<b>why me?</b>"}`, 200, p.carl)
	if a := p.do(t, "POST", path+"/comment", `{"text": "x"}`, p.anna); a.status != 404 {
		t.Errorf("a comment of whose it is not: %d", a.status)
	}
	got := p.get(t, path, p.carl).json(t)
	if got["assignedTo"] != "oidc:carl" || !strings.Contains(fmt.Sprint(got["comments"]), "<b>why me?</b>") || !strings.Contains(fmt.Sprint(got["comments"]), "oidc:carl") {
		t.Errorf("%v", got)
	}
	p.post(t, path+"/release", `{}`, 200, p.carl)
	sees("given back", map[string]int{"anna": 1, "bert": 1})
	p.post(t, path+"/claim", `{}`, 200, p.anna)
	p.post(t, path+"/assign", `{"to": "oidc:anna"}`, 200, p.op) // which ends the claim, and keeps the comments
	sees("assigned to anna", map[string]int{"anna": 1})
	if a := p.do(t, "POST", path+"/cancel", `{"reason": "x"}`, p.op); a.status != 422 || !strings.Contains(string(a.body), "cancellation-disabled") {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	p.post(t, path+"/complete", `{"outcome": "Approve", "data": {"reason": "x"}}`, 200, p.anna)
	if a := p.do(t, "POST", path+"/comment", `{"text": "x"}`, p.anna); a.status != 404 || !strings.Contains(string(a.body), "is done: oidc:anna completed it at ") {
		t.Errorf("%d %s", a.status, a.body)
	}
	journal := string(p.get(t, "/api/v1/instances/g/journal?limit=500", p.op).body)
	for _, want := range []string{"oidc:bert gave it to oidc:carl", "oidc:carl gave it back", " gave it to oidc:anna", "he knows"} {
		if !strings.Contains(journal, want) {
			t.Errorf("the journal has no %q", want)
		}
	}
}

// Of two who give a task to somebody at once, one does, and the other is told or comes behind; it is one task at the end.
func TestATaskIsGivenAndCompletedAtOnce(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for n := range 5 {
		id := fmt.Sprintf("o%d", n)
		path := p.ask(t, id)
		var wait sync.WaitGroup
		var done, given answer
		wait.Go(func() {
			done = p.do(t, "POST", path+"/complete", `{"outcome": "Approve", "data": {"reason": "x"}}`, p.anna)
		})
		wait.Go(func() { given = p.do(t, "POST", path+"/assign", `{"to": "oidc:bert"}`, p.op) })
		wait.Wait()
		ended := fmt.Sprint(p.get(t, "/api/v1/instances/"+id, p.op).json(t)["status"]) == "Finished"
		if ended != (done.status == 200) || done.status != 200 && len(p.waiting(t, p.bert, "")) == 0 {
			t.Errorf("completed %d %s, given %d %s", done.status, done.body, given.status, given.body)
		}
		if !ended {
			p.post(t, path+"/complete", `{"outcome": "Reject", "data": {"reason": "x"}}`, 200, p.bert)
		}
	}
}

// What an operator claims who is no candidate is in the list of that one.
func TestAnOperatorFindsWhatItClaimed(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "c")
	got := p.post(t, path+"/claim", `{}`, 200, p.op).json(t)
	if got["claimedBy"] != got["assignedTo"] || len(p.waiting(t, p.op, "")) != 1 || len(p.waiting(t, p.anna, "")) != 0 {
		t.Errorf("%v", got)
	}
	p.post(t, path+"/release", `{}`, 200, p.op)
	if len(p.waiting(t, p.op, "")) != 0 || len(p.waiting(t, p.anna, "")) != 1 {
		t.Error("it is not given back")
	}
}

// Who has the role business sees and decides what is asked of that one, and nothing else.
func TestBusinessSeesItsOwnUserTasksOnly(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	dora := "Authorization: Bearer " + p.issuer.Token(map[string]any{"sub": "dora", "roles": []string{"business", "finance"}})
	evan := "Authorization: Bearer " + p.issuer.Token(map[string]any{"sub": "evan", "roles": []string{"business"}})
	path := p.ask(t, "b")
	if got := p.get(t, "/api/v1/whoami", dora).json(t); got["role"] != "business" {
		t.Errorf("%v", got)
	}
	if len(p.waiting(t, dora, "")) != 1 || len(p.waiting(t, evan, "?others=true")) != 0 || p.do(t, "GET", path, "", evan).status != 404 {
		t.Error("business does not see its own alone")
	}
	for _, call := range [][2]string{
		{"GET", "/instances"}, {"GET", "/instances/b"}, {"GET", "/instances/b/journal"}, {"GET", "/tasks"}, {"GET", "/bookmarks"}, {"GET", "/definitions"}, {"GET", "/stream"}, {"GET", "/receipts/x"},
		{"POST", "/events/x"}, {"POST", strings.TrimPrefix(path, "/api/v1") + "/assign"}, {"POST", strings.TrimPrefix(path, "/api/v1") + "/cancel"},
	} {
		if a := p.do(t, call[0], "/api/v1"+call[1], "", dora); a.status != 403 {
			t.Errorf("%s %s: %d", call[0], call[1], a.status)
		}
	}
	p.post(t, path+"/claim", "{}", 200, dora)
	p.post(t, path+"/complete", `{"outcome": "Approve", "data": {"reason": "x"}}`, 200, dora)
}

// A comment counts also while the task is given on: its writer is not asked to do it again.
func TestACommentCountsWhileATaskIsGivenOn(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	path := p.ask(t, "w")
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			if a := p.do(t, "POST", path+"/comment", fmt.Sprintf(`{"text": "c%d"}`, n), p.op); a.status != 200 && a.status != 202 {
				t.Errorf("comment %d: %d %s", n, a.status, a.body)
			}
		})
		wait.Go(func() { p.do(t, "POST", path+"/assign", fmt.Sprintf(`{"to": "oidc:u%d"}`, n), p.op) })
	}
	wait.Wait()
	polltest.Eventually(t, "all comments are there", func() bool {
		comments, _ := p.get(t, path, p.op).json(t)["comments"].([]any)
		return len(comments) == 8
	})
}
