package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// explanation asks why an instance is where it is.
func (s *server) explanation(t *testing.T, id string) explained {
	t.Helper()
	x := s.get(t, "/api/v1/instances/"+id+"/explain").json(t)
	e := explained{state: x["state"].(string), summary: x["summary"].(string)}
	for _, m := range x["nearMisses"].([]any) {
		e.misses = append(e.misses, m.(map[string]any)["text"].(string))
	}
	for _, n := range x["next"].([]any) {
		e.next = append(e.next, n.(string))
	}
	e.owner, _ = x["owner"].(map[string]any)
	return e
}

// atRest waits until no node holds an instance: a burst lets go of it after what it committed
// is seen and answered.
func (s *server) atRest(t *testing.T, id string) explained {
	t.Helper()
	var x explained
	polltest.Eventually(t, "nobody holds "+id, func() bool {
		x = s.explanation(t, id)
		return x.owner == nil
	})
	return x
}

type explained struct {
	state, summary string
	misses, next   []string
	owner          map[string]any
}

const waitsForApproval = "id: ask-#\nroot:\n  - event: approved-#\n  - writeLine: done\n"

// TestExplainNamesTheStall prepares stalls, and lets explain alone name each.
func TestExplainNamesTheStall(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, waitsForApproval)
	s.publish(t, "id: later-#\nroot:\n  - delay: 45h\n")
	s.publish(t, "id: parent-#\nroot:\n  - executeWorkflow: {workflowDefinitionId: ask-#, waitForCompletion: true}\n")
	s.publish(t, "id: broken-#\nroot:\n  - fault: no money left\n")
	start := func(def, body string) {
		t.Helper()
		s.post(t, "/api/v1/definitions/"+def+"/execute", body, 200)
	}
	for name, tc := range map[string]struct {
		def, correlation string
		event, body      string // is sent and meets nothing
		state            string
		says             []string
		miss, next       string
	}{
		"missing event": {def: "ask-#", correlation: "of its own #", state: "waiting", says: []string{"waits for event approved-#, correlation of its own #, since "},
			next: `POST /events/approved-# {"correlationId":"of its own #"}`},
		"wrong correlation": {def: "ask-#", correlation: "d-#", event: "approved-#", body: `{"correlationId": "e-#"}`, state: "waiting",
			miss: `it came for correlation "e-#", and this one has "d-#"`},
		"misspelt event": {def: "ask-#", correlation: "f-#", event: "aproved-#", body: `{"correlationId": "f-#"}`, state: "waiting",
			miss: `it came as "aproved-#", and this one waits for "approved-#"`},
		"a timer": {def: "later-#", state: "waiting", says: []string{"waits for its delay, in 44 h ("}},
		"a fault": {def: "broken-#", state: "faulted", says: []string{"no money left"}, next: "mend the cause, then POST /instances/"},
		"a child": {def: "parent-#", state: "waiting", says: []string{"waits for the end of its child ", "(ask-#), which is "}, next: "GET /instances/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := strings.ReplaceAll(name, " ", "-") + "-#"
			start(tc.def, `{"instanceId": "`+id+`", "correlationId": "`+tc.correlation+`"}`)
			if tc.event != "" {
				s.post(t, "/api/v1/events/"+tc.event, tc.body, 202)
			}
			var x explained
			polltest.Eventually(t, "it is "+tc.state+", and nobody's", func() bool { // its burst lets go of it after the answer
				x = s.explanation(t, id)
				return x.state == tc.state && x.owner == nil
			})
			for _, want := range tc.says {
				if !strings.Contains(x.summary, s.own(want)) {
					t.Errorf("it says %q, want %q in it", x.summary, s.own(want))
				}
			}
			if tc.miss != "" && !strings.Contains(strings.Join(x.misses, "\n"), s.own(tc.miss)) {
				t.Errorf("near misses %q, want %q", x.misses, s.own(tc.miss))
			}
			if tc.next != "" && (len(x.next) == 0 || !strings.HasPrefix(x.next[0], s.own(tc.next))) {
				t.Errorf("next %q, want %q", x.next, s.own(tc.next))
			}
		})
	}
}

func TestExplainOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for path, code := range map[string]string{
		"/api/v1/instances/nobody-#/explain":        "instance-not-found",
		"/api/v1/instances/no%20id/explain":         "invalid-request",
		"/api/v1/instances/nobody-#/explain?more=1": "invalid-request",
	} {
		if a := s.do(t, http.MethodGet, path, ""); a.code() != code {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, code)
		}
	}
}

// A burst whose activity hangs is shown as what it is, with the node that runs it.
func TestExplainOfWhatRuns(t *testing.T) {
	t.Parallel()
	slow, inside, end := slowServer(t)
	s := ownServer(t, node.Config{AllowPrivateAddresses: true})
	s.publish(t, "id: slow\nroot:\n  - event: go\n  - sendHttpRequest: {url: \""+slow+"\"}\n")
	s.post(t, "/api/v1/definitions/slow/execute", `{"instanceId": "slow", "correlationId": "c"}`, 200)
	sent := make(chan answer, 1)
	go func() { sent <- s.do(t, http.MethodPost, "/api/v1/events/go", `{"correlationId": "c"}`) }()
	<-inside
	if x := s.explanation(t, "slow"); x.state != "running" || x.owner["self"] != true || !strings.Contains(x.summary, " runs it, since ") {
		t.Errorf("%+v", x)
	}
	end()
	<-sent
	polltest.Eventually(t, "it is finished", func() bool { return s.explanation(t, "slow").state == "finished" })
}

// What was refused its time is a dead letter, and a pause holds everything.
func TestExplainOfWhatWentByAndOfAPause(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{QueueTTL: time.Second})
	s.post(t, "/api/v1/events/go", `{"correlationId": "c"}`, 202)
	polltest.Eventually(t, "the event is a dead letter", func() bool {
		return strings.Contains(string(s.get(t, "/api/v1/dead-letters").body), `"expired"`)
	})
	s.publish(t, "id: late\nroot:\n  - event: go\n")
	s.post(t, "/api/v1/definitions/late/execute", `{"instanceId": "late", "correlationId": "c"}`, 200)
	x := s.atRest(t, "late")
	if len(x.misses) != 1 || !strings.Contains(x.misses[0], "before this one waited, and became a dead letter (expired)") {
		t.Errorf("%+v", x)
	}
	s.post(t, "/api/v1/pause", `{}`, 200)
	polltest.Eventually(t, "an event would be refused", func() bool {
		refused, _ := s.get(t, "/api/v1/events/go?correlationId=c").json(t)["refused"].(map[string]any)
		return refused["code"] == "paused"
	})
	if x := s.explanation(t, "late"); x.state != "waiting" || !strings.Contains(x.summary, "; the cluster is paused") {
		t.Errorf("%+v", x)
	}
}

// An event is asked for before it is sent: it says what it would do, and does nothing.
func TestWhatAnEventWouldDo(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, waitsForApproval)
	s.publish(t, "id: starts-#\nroot:\n  - event: approved-#\n    trigger: true\n")
	s.post(t, "/api/v1/definitions/ask-#/execute", `{"instanceId": "a-#", "correlationId": "c-#"}`, 200)
	s.publish(t, "id: ended-#\nroot:\n  - writeLine: over\n")
	s.post(t, "/api/v1/definitions/ended-#/execute", `{"instanceId": "over-#"}`, 200)
	for name, tc := range map[string]struct {
		query, body      string
		resumes, starts  int
		queued           bool
		others, resuming string
		refused          string // the code, which sending it has too
	}{
		"to all":             {resumes: 1, starts: 1, resuming: "a-#"},
		"to its correlation": {query: "correlationId=c-#", body: `"correlationId": "c-#"`, resumes: 1, starts: 1, resuming: "a-#"},
		"to another one":     {query: "correlationId=d-#", body: `"correlationId": "d-#"`, starts: 1},
		"to the instance":    {query: "instanceId=a-#", body: `"instanceId": "a-#"`, resumes: 1, resuming: "a-#"},
		"to the instance, with another correlation": {query: "instanceId=a-#&correlationId=d-#", body: `"instanceId": "a-#", "correlationId": "d-#"`, queued: true},
		"to no instance":      {query: "instanceId=b-#", body: `"instanceId": "b-#"`, refused: "instance-not-found"},
		"to one that is over": {query: "dryRun&instanceId=over-#", body: `"instanceId": "over-#"`, refused: "instance-finished"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := s.get(t, "/api/v1/events/approved-#?"+tc.query).json(t)
			dry := s.post(t, "/api/v1/events/approved-#?dryRun=true", "{"+tc.body+"}", 200).json(t)
			for way, e := range map[string]map[string]any{"GET": asked, "dryRun": dry} {
				refused, _ := e["refused"].(map[string]any)
				code, _ := refused["code"].(string)
				if e["resumed"] != float64(tc.resumes) || e["started"] != float64(tc.starts) || e["queued"] != tc.queued || e["more"] != false || code != tc.refused {
					t.Errorf("%s: %v", way, e)
				}
				if tc.resuming != "" && e["resumes"].([]any)[0].(map[string]any)["instanceId"] != s.own(tc.resuming) {
					t.Errorf("%s resumes %v", way, e["resumes"])
				}
			}
		})
	}
	t.Run("others wait", func(t *testing.T) {
		t.Parallel()
		s.publish(t, "id: alone-#\nroot:\n  - event: alone-#\n")
		s.post(t, "/api/v1/definitions/alone-#/execute", `{"instanceId": "alone-#", "correlationId": "c-#"}`, 200)
		e := s.get(t, "/api/v1/events/alone-#?correlationId=d-#").json(t)
		others := e["others"].([]any)
		if e["queued"] != true || len(others) != 1 || others[0].(map[string]any)["correlationId"] != s.own("c-#") {
			t.Errorf("%v", e)
		}
	})
	for _, body := range []string{`{"instanceId": "b-#"}`, `{"instanceId": "over-#"}`} { // as was told
		if a := s.do(t, http.MethodPost, "/api/v1/events/approved-#", body); a.code() != "instance-not-found" && a.code() != "instance-finished" {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	for _, query := range []string{"instanceId=no%20id", "dryRun=false", "dryRun=maybe", "dryRun&payload=1"} {
		if a := s.do(t, http.MethodGet, "/api/v1/events/approved-#?"+query, ""); a.code() != "invalid-request" {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	if x := s.atRest(t, "a-#"); x.state != "waiting" {
		t.Errorf("asking changed it: %+v", x)
	}
	if queue := string(s.get(t, "/api/v1/queue").body); strings.Contains(queue, s.own("approved-#")) {
		t.Errorf("asking queued it: %s", queue)
	}
}

// What an activation strategy keeps from starting is told with the instance that runs.
func TestWhatAnEventWouldNotStart(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: single-#\noptions: {activation: Singleton}\nroot:\n  - event: begins-#\n    trigger: true\n  - event: ends-#\n")
	asked := func() (code, holder string) {
		t.Helper()
		e := s.get(t, "/api/v1/events/begins-#").json(t)
		if starts := e["starts"].([]any); len(starts) == 0 || e["started"] != float64(len(starts)) || e["queued"] != false {
			t.Fatalf("%v", e)
		}
		for _, st := range e["starts"].([]any) {
			if st := st.(map[string]any); st["activation"] != nil {
				holder, _ = st["holder"].(string)
			}
		}
		refused, _ := e["refused"].(map[string]any)
		code, _ = refused["code"].(string)
		return code, holder
	}
	if code, holder := asked(); code != "" || holder != "" {
		t.Errorf("nobody runs: %s, %s", code, holder)
	}
	started := s.post(t, "/api/v1/events/begins-#", `{}`, 200).json(t)["outcomes"].([]any)[0].(map[string]any)
	first, _ := started["instanceId"].(string)
	if code, holder := asked(); code != "instance-refused" || holder != first || first == "" {
		t.Errorf("it runs: %s, %s", code, holder)
	}
	if a := s.post(t, "/api/v1/events/begins-#", `{}`, 409); a.code() != "instance-refused" {
		t.Errorf("it was started: %s", a.body)
	}
	s.publish(t, "id: beside-#\nroot:\n  - event: begins-#\n    trigger: true\n") // with it, the start waits
	if code, holder := asked(); code != "" || holder != first {
		t.Errorf("beside another: %s, %s", code, holder)
	}
}

// An instance that goes on beside what faulted in it tells of that, until it has run again.
func TestExplainTellsOfWhatIsFaultedBeside(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: faults-beside-#
options: {incidents: ContinueWithIncidents}
variables: {who: object}
root:
  - parallel:
      - event: proceeds-#
      - writeLine: "hello ${{ variables.who.name }}"
        id: greet
`)
	s.post(t, "/api/v1/definitions/faults-beside-#/execute", `{"instanceId": "b-#"}`, 200)
	incident := func() (map[string]any, map[string]any) {
		t.Helper()
		s.atRest(t, "b-#")
		x := s.get(t, "/api/v1/instances/b-#/explain").json(t)
		all := x["incidents"].([]any)
		if len(all) != 1 || x["incidentsLeft"] != 0.0 || x["cause"] != "event" || x["lastCommit"].(map[string]any)["nodeId"] != "node-1" {
			t.Fatalf("%v", x)
		}
		return x, all[0].(map[string]any)
	}
	x, in := incident()
	if summary := x["summary"].(string); in["open"] != true || in["activityId"] != "greet" || !strings.Contains(summary, "; activity greet in it is faulted: ") || !strings.HasPrefix(summary, s.own("waits for event proceeds-#")) {
		t.Errorf("%v", x)
	}
	if next := x["next"].([]any); len(next) != 2 || !strings.HasPrefix(next[1].(string), s.own("POST /instances/b-#/retry")) {
		t.Errorf("next %v", next)
	}
	s.post(t, "/api/v1/instances/b-#/alterations", `{"alterations": [{"type": "setVariable", "variable": "who", "value": {"name": "Ada"}}, {"type": "retry"}]}`, 200)
	if x, in := incident(); in["open"] != false || strings.Contains(x["summary"].(string), "faulted") {
		t.Errorf("after the retry: %v", x)
	}
}

// An event that came too early for an instance and was taken by it is no near miss that is the cause.
func TestWhatTheQueueHadForItIsNoCause(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: twice-#\nroot:\n  - event: paid-#\n  - event: paid-#\n")
	s.post(t, "/api/v1/events/paid-#", `{"correlationId": "twice-#"}`, 202)
	s.post(t, "/api/v1/definitions/twice-#/execute", `{"instanceId": "twice-#", "correlationId": "twice-#"}`, 200)
	polltest.Eventually(t, "it has taken the event", func() bool {
		return strings.Contains(string(s.get(t, "/api/v1/instances/twice-#").body), `"activityId":"event2"`)
	})
	s.atRest(t, "twice-#")
	x := s.get(t, "/api/v1/instances/twice-#/explain").json(t)
	if x["cause"] != "event" || strings.Contains(x["summary"].(string), "nearly") {
		t.Errorf("%v", x)
	}
}

// An event that went to another instance is a near miss of the one that waits, and GET /events
// tells where it went.
func TestExplainTellsOfEventsThatWentElsewhere(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, waitsForApproval)
	for _, id := range []string{"one-#", "two-#"} {
		s.post(t, "/api/v1/definitions/ask-#/execute", `{"instanceId": "`+id+`", "correlationId": "order `+id+`"}`, 200)
	}
	s.post(t, "/api/v1/events/approved-#", `{"correlationId": "order one-#"}`, 200)
	x := s.atRest(t, "two-#")
	if want := s.own(`it came for correlation "order one-#", and this one has "order two-#", and went to instance one-#`); !slices.Contains(x.misses, want) || strings.Contains(x.summary, "nearly") {
		t.Errorf("%+v, want %s", x, want)
	}
	sent := s.get(t, "/api/v1/events/aproved-#?correlationId=nobody").json(t)["recent"].([]any)
	sent = slices.DeleteFunc(sent, func(e any) bool { return e.(map[string]any)["name"] != s.own("approved-#") }) // other tests' names are near
	if len(sent) != 1 || sent[0].(map[string]any)["first"] != s.own("one-#") || sent[0].(map[string]any)["met"] != 1.0 {
		t.Errorf("recent %v", sent)
	}
	if items := s.get(t, "/api/v1/nodes/node-1/events?name=approved-#&name=x").json(t)["items"].([]any); len(slices.DeleteFunc(slices.Clone(items), func(it any) bool { return it.(map[string]any)["name"] != s.own("approved-#") })) != 1 {
		t.Errorf("of the node: %v", items)
	}
	for _, query := range []string{"", "?name=", "?name=a&name=b&name=c&name=d&name=e&name=f", "?name=a&limit=3"} {
		if a := s.do(t, http.MethodGet, "/api/v1/nodes/node-1/events"+query, ""); a.status != 422 {
			t.Errorf("%q: %d %s", query, a.status, a.body)
		}
	}
}
