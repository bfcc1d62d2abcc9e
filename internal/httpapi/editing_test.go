package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const edited = `id: edited#
name: Edited
inputs:
  who: {type: string, required: true, default: Ada}
  more: {type: "number[]"}
outputs:
  said: {type: string, value: "yes"}
root:
  - id: begin
    event: begin-%[1]s#
    trigger: true
  - id: say
    writeLine: ${{ inputs.who }} %[1]s
`

func TestADefinitionIsCheckedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	check := func(source string) map[string]any {
		a := s.do(t, http.MethodPost, "/api/v1/definitions/check?picture=true", source, "Content-Type: text/plain")
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.json(t)
	}
	v := check(fmt.Sprintf(edited, "one"))
	if v["id"] != s.own("edited#") || v["version"] != 1.0 || len(v["problems"].([]any)) != 0 || !strings.Contains(v["picture"].(string), `data-line="10"`) {
		t.Errorf("%v", v)
	}
	v = check(strings.Replace(fmt.Sprintf(edited, "one"), "inputs.who", "inputs.whom", 1))
	problem := v["problems"].([]any)[0].(map[string]any)
	if v["version"] != 0.0 || problem["line"] != 13.0 || problem["meant"] != "who" || v["picture"] == nil {
		t.Errorf("%v", v)
	}
	for _, broken := range []string{"id: [", "", "root", "{\"root\": {\"type\": 1}}", "\x00"} {
		if v = check(broken); v["version"] != 0.0 || len(v["problems"].([]any)) == 0 {
			t.Errorf("%q: %v", broken, v)
		}
	}
	if a := s.do(t, http.MethodGet, "/api/v1/definitions/edited#", ""); a.status != http.StatusNotFound {
		t.Errorf("a check wrote: %d %s", a.status, a.body)
	}
}

func TestWhatMayStandAtAPlace(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	a := s.do(t, http.MethodPost, "/api/v1/definitions/suggest?line=2&column=8", "root:\n  - wri", "Content-Type: text/plain")
	if v := a.json(t); a.status != http.StatusOK || v["from"] != 5.0 || !strings.Contains(string(a.body), `"label":"writeLine","kind":"type"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do(t, http.MethodPost, "/api/v1/definitions/suggest?line=2&column=6", "root:\n  - writeLine: x", "Content-Type: text/plain")
	if v := a.json(t); v["word"] != "writeLine" || v["doc"] == "" {
		t.Errorf("%s", a.body)
	}
	for _, query := range []string{"", "line=1", "line=0&column=1", "line=1&column=x"} {
		if a := s.do(t, http.MethodPost, "/api/v1/definitions/suggest?"+query, "root:", "Content-Type: text/plain"); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", query, a.status)
		}
	}
	if a := s.do(t, http.MethodPost, "/api/v1/definitions/suggest?line=99&column=99", "root:", "Content-Type: text/plain"); a.status != http.StatusOK {
		t.Errorf("behind the end: %d", a.status)
	}
}

func TestVersionsAndWhatTheyTake(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	publish := func(text, match string) answer {
		return s.do(t, http.MethodPost, "/api/v1/definitions", fmt.Sprintf(edited, text), "If-Match: "+match)
	}
	for _, c := range []struct {
		text, match string
		status      int
	}{
		{"one", `"1"`, 409}, {"one", `"0"`, 201}, {"one", `"0"`, 200}, {"two", `"0"`, 409}, {"two", `"1"`, 201}, {"two", `"1"`, 200},
		{"three", `"1"`, 409}, {"three", `2`, 409}, {"three", `"x"`, 409}, {"three", `"-1"`, 409}, {"three", `"2"`, 201}, {"four", "*", 201},
	} {
		a := publish(c.text, c.match)
		if a.status != c.status || c.status == 409 && a.code() != "definition-moved" {
			t.Fatalf("%s over %s: %d %s, want %d", c.text, c.match, a.status, a.body, c.status)
		}
		if v := a.json(t); c.status == 201 && (v["before"] != v["version"].(float64)-1 || v["revision"].(float64) <= 0) {
			t.Errorf("%v", v)
		}
	}
	if a := s.do(t, http.MethodPost, "/api/v1/definitions?dryRun=true", fmt.Sprintf(edited, "five"), `If-Match: "1"`); a.status != 409 {
		t.Errorf("a dry run over an old version: %d", a.status)
	}
	// A draft does not move what is published.
	s.do(t, http.MethodPost, "/api/v1/definitions?publish=false", fmt.Sprintf(edited, "draft"))
	if a := publish("six", `"4"`); a.status != 201 || a.json(t)["version"] != 6.0 || a.json(t)["before"] != 4.0 {
		t.Errorf("%d %s", a.status, a.body)
	}

	var all []float64
	cursor := ""
	for {
		v := s.get(t, "/api/v1/definitions/edited#/versions?limit=4"+cursor).json(t)
		if v["revision"].(float64) < 1 {
			t.Errorf("a page of no revision: %v", v)
		}
		for _, it := range v["items"].([]any) {
			one := it.(map[string]any)
			all = append(all, one["version"].(float64))
			if one["published"] != (one["version"] == 6.0) || one["notation"] != "yaml" {
				t.Errorf("%v", one)
			}
		}
		next, ok := v["nextCursor"].(string)
		if !ok {
			break
		}
		cursor = "&cursor=" + next
	}
	if fmt.Sprint(all) != "[6 5 4 3 2 1]" {
		t.Errorf("versions %v", all)
	}
	for _, match := range []string{`"4"`, `"x"`, `"0"`} { // another version than the one that is there is not deleted
		if a := s.do(t, http.MethodDelete, "/api/v1/definitions/edited#", "", "If-Match: "+match); a.status != 409 || a.code() != "definition-moved" {
			t.Errorf("delete %s: %d %s", match, a.status, a.body)
		}
	}
	s.do(t, http.MethodPost, "/api/v1/definitions", "id: gone#\nroot:\n  - writeLine: a\n")
	if a := s.do(t, http.MethodDelete, "/api/v1/definitions/gone#", "", `If-Match: "1"`); a.status != 204 {
		t.Errorf("delete the version that is there: %d %s", a.status, a.body)
	}
	s.do(t, http.MethodDelete, "/api/v1/definitions/edited#/versions/3", "")
	if a := s.get(t, "/api/v1/definitions/edited#/versions"); strings.Contains(string(a.body), `"version":3,`) {
		t.Errorf("a version that nothing may begin with: %s", a.body)
	}
	for path, want := range map[string]int{"nobody/versions": 404, "edited#/versions?cursor=x": 422, "edited#/interface?version=99": 404, "nobody/interface": 404, "edited#/interface?version=x": 422} {
		if a := s.do(t, http.MethodGet, "/api/v1/definitions/"+path, ""); a.status != want {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}

	v := s.get(t, "/api/v1/definitions/edited#/interface").json(t)
	in := v["inputs"].([]any)
	who, more := in[0].(map[string]any), in[1].(map[string]any)
	if v["version"] != 6.0 || v["moreInputs"] != false || who["name"] != "who" || who["required"] != true || who["default"] != "Ada" || more["type"] != "Double" || more["list"] != true ||
		v["outputs"].([]any)[0].(map[string]any)["name"] != "said" {
		t.Errorf("%v", v)
	}
	starts := s.get(t, "/api/v1/definitions/edited#/interface?version=2").json(t)["starts"].([]any)
	if len(starts) != 1 || starts[0].(map[string]any)["when"] != s.own("begin-two#") {
		t.Errorf("%v", starts)
	}

	// What differs is marked in both pictures.
	added := strings.Replace(fmt.Sprintf(edited, "six"), "root:\n", "root:\n  - id: new\n    writeLine: new\n", 1)
	s.publish(t, added)
	for path, want := range map[string][]string{"version=7&against=6": {"node box added"}, "version=6&against=2": {"node box changed"}, "version=6&against=7": {"writeLine"}} {
		a := s.get(t, "/api/v1/definitions/edited#/graph?format=svg-part&"+path)
		for _, w := range want {
			if !strings.Contains(string(a.body), w) {
				t.Errorf("%s has no %q: %s", path, w, a.body)
			}
		}
	}
	if a := s.get(t, "/api/v1/definitions/edited#/graph?version=6&against=6"); strings.Contains(string(a.body), "changed\"") {
		t.Errorf("a version differs from itself: %s", a.body)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/definitions/edited#/graph?against=99", ""); a.status != 404 {
		t.Errorf("against nothing: %d", a.status)
	}
}

// TestADefinitionIsEditedByItsPicture holds that an edit answers the text with its comments, what
// it broke and what it is about, and stores nothing.
func TestADefinitionIsEditedByItsPicture(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	text := "id: by-picture # all\nroot:\n  # say it\n  - writeLine: a\n  - writeLine: ${{ outputs(\"writeLine1\") }}\n"
	send := func(status int, body map[string]any) map[string]any {
		t.Helper()
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		a := s.do(t, http.MethodPost, "/api/v1/definitions/edit", strings.ReplaceAll(string(raw), "#", `\u0023`), "Content-Type: application/json")
		if a.status != status {
			t.Fatalf("%d %s, want %d", a.status, a.body, status)
		}
		return a.json(t)
	}
	one := func(e map[string]any) map[string]any { return map[string]any{"text": text, "edits": []any{e}} }
	v := send(200, one(map[string]any{"op": "wrap", "activity": "writeLine1", "type": "if"}))
	if got := v["text"].(string); !strings.Contains(got, "# all\n") || !strings.Contains(got, "  # say it\n  - if: true\n    then:\n      - writeLine: a\n") {
		t.Errorf("%s", got)
	}
	about := v["about"].(map[string]any)
	field := about["fields"].([]any)[0].(map[string]any)
	if v["line"] != 4.0 || about["id"] != "if1" || about["type"] != "if" || field["name"] != "condition" || field["text"] != "true" || len(v["problems"].([]any)) == 0 {
		t.Errorf("%v", v)
	}
	v = send(200, map[string]any{"text": text, "about": "writeLine2"})
	if about = v["about"].(map[string]any); v["text"] != text || about["up"] != true || about["down"] != false || about["line"] != 5.0 {
		t.Errorf("%v", v)
	}
	v = send(200, one(map[string]any{"op": "set", "activity": "writeLine1", "key": "text", "fieldText": ""}))
	if got := v["text"].(string); !strings.Contains(got, "  - writeLine:\n") {
		t.Errorf("%s", got)
	}
	v = send(422, one(map[string]any{"op": "delete", "activity": "nobody"}))
	if !strings.Contains(v["detail"].(string), "nobody") {
		t.Errorf("%v", v)
	}
	v = send(422, map[string]any{"text": "id: x\nroot:\n  - &a {writeLine: a}\n  - *a\n", "edits": []any{map[string]any{"op": "delete", "activity": "writeLine1"}}})
	if problem := v["errors"].([]any)[0].(map[string]any); problem["line"] != 3.0 {
		t.Errorf("%v", v)
	}
	for _, bad := range []map[string]any{{}, {"text": text}, {"text": text, "about": "x", "format": "toml"}, one(map[string]any{"op": "x", "activity": "writeLine1"}), one(map[string]any{"opp": "set"})} {
		send(422, bad)
	}
	machine := "id: by-picture\nroot:\n  stateMachine:\n    states:\n      A:\n        transitions:\n          - {on: {event: e}, to: B} # on\n      B: {final: true}\n"
	v = send(200, map[string]any{"text": machine, "edits": []any{
		map[string]any{"op": "set", "activity": "root", "part": "transition", "state": "A", "number": 1, "key": "on", "fieldText": "sent"},
		map[string]any{"op": "insert", "activity": "root", "part": "state", "inputs": map[string]any{"name": "C"}},
	}})
	if want := strings.Replace(machine, "event: e", "event: sent", 1) + "      C: {}\n"; v["text"] != want {
		t.Errorf("%v, want %s", v, want)
	}
	states := v["about"].(map[string]any)["states"].([]any)
	if len(states) != 3 || states[0].(map[string]any)["transitions"].([]any)[0].(map[string]any)["on"] != "sent" || states[0].(map[string]any)["initial"] != true || states[1].(map[string]any)["final"] != true {
		t.Errorf("%v", v)
	}
	v = send(422, map[string]any{"text": machine, "edits": []any{map[string]any{"op": "delete", "activity": "root", "part": "state", "state": "B"}}})
	if problem := v["errors"].([]any)[0].(map[string]any); problem["line"] != 7.0 {
		t.Errorf("%v", v)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/definitions/by-picture", ""); a.status != http.StatusNotFound {
		t.Errorf("an edit wrote: %d %s", a.status, a.body)
	}
}
