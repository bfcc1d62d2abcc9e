package httpapi_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// all follows the cursors of a call that mends several, and gives the ids of all for which it
// was done.
func (s *server) all(t *testing.T, path, body string) (done []string) {
	t.Helper()
	for cursor := ""; ; {
		res := s.post(t, path, strings.Replace(body, "{", `{"limit": 2, "cursor": "`+cursor+`", `, 1), 200).json(t)
		for _, id := range res["done"].([]any) {
			done = append(done, id.(string))
		}
		if len(res["refused"].([]any)) > 0 {
			t.Errorf("%s: %v", body, res)
		}
		if res["nextCursor"] == nil {
			return done
		}
		cursor = res["nextCursor"].(string)
	}
}

// What waits in the queue is mended, redirected, sent again and deleted by filter. What was
// sent again and comes back is not taken once more.
func TestTheQueueIsMendedByFilter(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: queued#\nroot:\n  - event: astray#\n  - event: astray#\n  - event: redirect#\n  - event: redirect#\n")
	s.post(t, "/api/v1/definitions/queued#/execute", `{"instanceId": "queued-1#", "correlationId": "right#"}`, 200)
	queue := func(name, correlation string) []string {
		t.Helper()
		given, of := "null", ""
		if correlation != "" {
			given, of = strconv.Quote(correlation), "&correlationId="+correlation
		}
		for _, body := range []string{`{"correlationId": ` + given + `}`, `{"correlationId": ` + given + `, "payload": 2}`} {
			s.post(t, "/api/v1/events/"+name, body, 202)
		}
		var ids []string
		for cursor := ""; ; {
			page := s.get(t, "/api/v1/queue?limit=2&name="+name+of+"&cursor="+cursor).json(t)
			for _, q := range page["items"].([]any) {
				ids = append(ids, q.(map[string]any)["id"].(string))
			}
			if page["nextCursor"] == nil {
				slices.Sort(ids)
				return ids
			}
			cursor = page["nextCursor"].(string)
		}
	}
	check := func(what string, done, want []string) {
		t.Helper()
		slices.Sort(done)
		if len(want) != 2 || !slices.Equal(done, want) {
			t.Errorf("%s: done %q, want %q", what, done, want)
		}
	}
	astray, kept := queue("astray#", "wrong#"), queue("kept#", "")
	check("mended", s.all(t, "/api/v1/queue/send", `{"name": "astray#", "correlationId": "wrong#", "edit": {"correlationId": "right#"}}`), astray)
	check("sent again", s.all(t, "/api/v1/queue/send", `{"name": "kept#"}`), kept)
	again := queue("forgotten#", "")
	check("deleted", s.all(t, "/api/v1/queue/delete", `{"name": "forgotten#"}`), again)
	redirect := queue("other#", "nobody#")
	check("redirected", s.all(t, "/api/v1/queue/send", `{"name": "other#", "edit": {"name": "redirect#", "instanceId": "queued-1#", "correlationId": ""}}`), redirect)
	if in := s.get(t, "/api/v1/instances/queued-1#", "Prefer: wait=20").json(t); in["subStatus"] != "Finished" {
		t.Errorf("%v", in)
	}
	if left := s.all(t, "/api/v1/queue/delete", `{"name": "forgotten#"}`); left != nil {
		t.Errorf("left: %q", left)
	}
}

// asOf is what goes on by itself.
var asOf = regexp.MustCompile(`"(revision":[0-9]+|expiresAt":"[^"]*")`)

// Whatever is wrong with what is to be mended is told with its place, all of it at once, and
// nothing is changed.
func TestRepairsThatAreNoRepairs(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: whole#\nroot:\n  - event: nothing#\n    id: wait\n")
	s.post(t, "/api/v1/definitions/whole#/execute", `{"instanceId": "whole#"}`, 200)
	s.publish(t, "id: whole#\nroot:\n  - writeLine: x\n    id: wait\n")
	item := "/api/v1/queue/" + s.post(t, "/api/v1/events/unmet#", `{"payload": 1}`, 202).json(t)["queued"].(string)
	state := func() string {
		is := string(s.get(t, "/api/v1/instances/whole#").body) + string(s.get(t, "/api/v1/instances/whole#/journal").body) + string(s.get(t, item).body)
		return asOf.ReplaceAllString(is, "")
	}
	was := state()
	const one, queue, dead = "/api/v1/instances/whole#", "/api/v1/queue", "/api/v1/dead-letters"
	edits := map[string][]string{
		`{"edit": {"instanceId": "a b", "name": "", "correlationId": "` + strings.Repeat("x", 300) + `", "payload": 1, "input": {}}}`: {
			"missing-filter", "bad-name /edit/name", "bad-correlationId /edit/correlationId", "bad-instanceId /edit/instanceId", "two-inputs /edit/payload"},
		`{"all": true, "name": "x", "limit": -1, "instanceId": "../x"}`:          {"bad-limit /limit", "bad-id /instanceId"},
		`{"name": "unmet#", "correlationId": "", "edit": {"correlationId": ""}}`: {"empty-filter /correlationId"},
		`{"all": true, "edit": {"nam": "x"}}`:                                    {"unknown-field /edit/nam"},
		`{"all": true, "edit": 7, "before": "now"}`:                              {"wrong-type /edit", "/before"},
	}
	several := map[string][]string{
		`{}`:                              {"missing-filter"},
		`{"all": "yes", "limit": "many"}`: {"wrong-type /all", "wrong-type /limit"},
		`{"name": "x", "limit": 501}`:     {"bad-limit /limit"},
		`{"all": true, "nam": "x"}`:       {"unknown-field /nam"},
		`{"all": true, "name": "", "instanceId": "", "activityType": ""}`: {"empty-filter /name", "empty-filter /instanceId", "empty-filter /activityType"},
		`{"all": true`: {"malformed-json"},
	}
	for path, bodies := range map[string]map[string][]string{
		one + "/alterations": {
			`{}`: {"missing-field /alterations"},
			`{"alterations": [{"type": "skip"}, {"type": "mend"}, {"type": "setVariable", "activity": "wait"}, {"type": "retry", "variable": "x"}]}`: {
				"missing-field /alterations/0/activity", "unknown-alteration /alterations/1/type", "missing-field /alterations/2/variable", "unknown-field /alterations/3/variable"},
			`{"alterations": [{"type": "skip", "activity": "nobody"}, {"type": "setVariable", "variable": "none", "value": 1}]}`: {"unknown-activity /alterations/0/activity", "unknown-variable /alterations/1/variable"},
			`{"alterations": [{"type": "migrate", "version": 2}]}`:                                                               {"other-type /alterations/0/activities"},
			`{"alterations": [{"type": "migrate", "version": 3}]}`:                                                               {"unknown-version /alterations/0/version"},
			`{"alterations": [{"type": "skip", "activity": "wait"}`:                                                              {"malformed-json"},
			`{"alteration": []}`: {"unknown-field /alteration"},
		},
		one + "/retry": {
			`{"from": "nobody"}`: {"unknown-activity /from"},
			`{"from": "nobody", "execution": 7, "reason": "` + strings.Repeat("x", 257) + `"}`: {"too-long /reason"},
			`{"execution": "one"}`: {"wrong-type /execution"},
			`{"form": "wait"}`:     {"unknown-field /form"},
		},
		"/api/v1/instances/retry": {
			`{"definitionId": "a b", "limit": 501}`:     {"bad-id /definitionId"},
			`{"definitionId": "", "correlationId": ""}`: {"empty-filter /definitionId", "empty-filter /correlationId"},
			`{"limit": 501}`:    {"bad-limit /limit"},
			`{"cursor": "%%%"}`: {""},
			`{"q": "x"}`:        {"unknown-field /q"},
		},
		item + "/send": {
			`{"payload": 1, "input": {}, "instanceId": "a b", "name": "` + strings.Repeat("x", 300) + `"}`: {"two-inputs /payload", "bad-name /name", "bad-instanceId /instanceId"},
			`{"input": {"foo": 1}}`: {""},
			`{"id": 1}`:             {"unknown-field /id"},
		},
		queue + "/send": edits, queue + "/delete": several, dead + "/replay": edits, dead + "/delete": several,
	} {
		for body, want := range bodies {
			a := s.do(t, http.MethodPost, path, body)
			if a.status != 422 && a.status != 400 {
				t.Errorf("%s %.120s: %d %s", path, body, a.status, a.body)
				continue
			}
			var said []string
			errs, _ := a.json(t)["errors"].([]any)
			for _, e := range errs {
				e := e.(map[string]any)
				said = append(said, fmt.Sprint(e["code"], " ", e["pointer"]))
			}
			for _, w := range want {
				if w != "" && (len(said) != len(want) || !slices.ContainsFunc(said, func(is string) bool { return strings.Contains(is, w) })) {
					t.Errorf("%s %.120s: %q, want %q", path, body, said, want)
					break
				}
			}
		}
	}
	for path, code := range map[string]string{
		queue + "?before=now": "bad-parameter", queue + "?limit=0": "bad-limit", queue + "?nam=x": "unknown-parameter", queue + "?cursor=%25": "cursor",
		dead + "?before=now": "bad-parameter", dead + "?reasons=x": "unknown-parameter",
	} {
		if a := s.do(t, http.MethodGet, path, ""); a.status != 422 && a.status != 400 || !strings.Contains(string(a.body), code) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for path, code := range map[string]string{
		"POST /api/v1/instances/nobody#/alterations": "instance-not-found", "POST /api/v1/instances/nobody#/retry": "instance-not-found", "DELETE /api/v1/instances/nobody#": "instance-not-found",
		"POST /api/v1/queue/nobody/send": "queue-item-not-found", "DELETE /api/v1/queue/nobody": "queue-item-not-found", "DELETE /api/v1/queue/%2e%2e%2f": "queue-item-not-found",
		"POST /api/v1/dead-letters/nobody/replay": "dead-letter-not-found", "DELETE /api/v1/dead-letters/nobody": "dead-letter-not-found",
	} {
		method, path, _ := strings.Cut(path, " ")
		body := ""
		if strings.HasSuffix(path, "/alterations") {
			body = `{"alterations": [{"type": "skip", "activity": "x"}]}`
		}
		if a := s.do(t, method, path, body); a.status != 404 || a.code() != code {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if is := state(); is != was {
		t.Errorf("something changed: it was %s\nand is %s", was, is)
	}
}
