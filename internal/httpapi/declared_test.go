package httpapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

const shipDeclared = `type: acme.Ship
title: Ship a parcel
task: ship
inputs:
  address: {type: string, required: true, description: Where it goes.}
  speed: {type: string, enum: [slow, fast], default: slow}
  boxes: {type: integer, default: 1}
outputs:
  tracking: {type: string, required: true, description: By which it is found.}
outcomes: [Shipped, Refused]
retry: {attempts: 2, delay: 1ms}
`

// declaring is a node whose files declare acme.Ship.
func declaring(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ship.yaml"), []byte(shipDeclared), 0o600); err != nil {
		t.Fatal(err)
	}
	return ownServer(t, node.Config{ActivityTypes: dir, AllowPrivateAddresses: true})
}

// Who writes definitions is told of a declared type as of a built-in one.
func TestADeclaredTypeIsKnown(t *testing.T) {
	t.Parallel()
	s := declaring(t)
	for _, path := range []string{"/api/v1/activities", "/schema/v1.json"} {
		for _, says := range []string{"acme.Ship", "Where it goes.", "By which it is found."} {
			if got := string(s.get(t, path).body); !strings.Contains(got, says) && !(path == "/schema/v1.json" && strings.HasPrefix(says, "By")) {
				t.Errorf("%s does not say %q", path, says)
			}
		}
	}
	for src, says := range map[string]string{
		"id: a\nroot: [acme.Ship: {adress: x}]\n":                           "did you mean address?",
		"id: a\nroot: [acme.Ship: {}]\n":                                    "address",
		"id: a\nroot: [acme.Ship: {address: x, speed: fats}]\n":             "did you mean fast?",
		"id: a\nroot: [{acme.Ship: {address: x}, outputs: {trackin: x}}]\n": "did you mean tracking?",
		"id: a\nroot: [acme.Shop: {address: x}]\n":                          "did you mean acme.Ship?",
	} {
		if a := s.do(t, "POST", "/api/v1/definitions", src); a.status != 422 || !strings.Contains(string(a.body), says) {
			t.Errorf("%q: %d %s; want %q", src, a.status, a.body, says)
		}
	}
	sent := `{"text": "id: a\noutputs: {t: \"${{ variables.t }}\"}\nvariables: {t: string}\nroot: [{acme.Ship: {address: x}, outputs: {tracking: t}}]\n", ` +
		`"tests": "cases:\n  - name: it is shipped\n    steps: [{task: ship, result: {tracking: T1, outcome: Shipped}}]\n    expect: {output: {t: T1}}\n"}`
	if a := s.do(t, "POST", "/api/v1/definitions/test", sent); a.status != 200 || a.json(t)["passed"] != 1.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	elsa := `{"definitionId": "elsa", "name": "elsa", "root": {"type": "Elsa.Sequence", "id": "s", "activities": [{"type": "acme.Ship", "id": "x", "address": {"typeName": "String", "expression": {"type": "Literal", "value": "there"}}}]}}`
	s.post(t, "/api/v1/definitions", elsa, 201)
	s.post(t, "/api/v1/definitions/elsa/execute", `{}`, 200)
	if got := s.claimed(t, `{"names": ["ship"], "worker": "one"}`); len(got) != 1 || fmt.Sprint(got[0]["payload"]) != "map[address:there boxes:1 speed:slow]" {
		t.Errorf("%v", got)
	}
}

// A result is one of the type, or the worker is told where not, and the task stays its own.
func TestAResultIsOfItsType(t *testing.T) {
	t.Parallel()
	s := declaring(t)
	s.publish(t, `id: order
outputs: {tracking: "${{ variables.tracking }}", way: "${{ variables.way }}"}
variables: {tracking: string, way: string}
root:
  flowchart:
    activities:
      - {acme.Ship: {address: here, boxes: 2}, id: ship, outputs: {tracking: tracking}}
      - {setVariable: {variable: way, value: shipped}, id: yes}
      - {setVariable: {variable: way, value: refused}, id: no}
    connections: [{from: ship.Shipped, to: yes}, {from: ship.Refused, to: no}]
`)
	begin := func(id string) {
		s.post(t, "/api/v1/definitions/order/execute", `{"instanceId": "`+id+`"}`, 200)
	}
	claim := func() (path, claim string) {
		got := s.claimed(t, `{"names": ["ship"], "worker": "one", "wait": "20s"}`)
		if len(got) != 1 || fmt.Sprint(got[0]["payload"]) != "map[address:here boxes:2 speed:slow]" {
			t.Fatalf("%v", got)
		}
		return about(got[0])
	}
	begin("one")
	path, mine := claim()
	for result, says := range map[string]string{
		`null`: "/result/tracking", `"x"`: `/result"`, `{"tracking": 1, "outcome": "Shipped"}`: "/result/tracking", `{"tracking": "T"}`: "/result/outcome",
		`{"tracking": "T", "outcome": "Shiped"}`: "did you mean Shipped?", `{"trackin": "T", "outcome": "Shipped"}`: "did you mean tracking?",
	} {
		for _, with := range []string{mine + ", ", ""} {
			if a := s.do(t, "POST", path+"/complete", `{`+with+`"result": `+result+`}`); a.status != 422 || !strings.Contains(string(a.body), says) {
				t.Errorf("%s with %q: %d %s; want %s", result, with, a.status, a.body, says)
			}
		}
	}
	s.post(t, path+"/complete", `{`+mine+`, "result": {"tracking": "T1", "outcome": "Refused"}}`, 200)
	polltest.Eventually(t, "it has ended", func() bool { return s.subStatus(t, "one") == "Finished" })
	if in := string(s.get(t, "/api/v1/instances/one").body); !strings.Contains(in, `"tracking":"T1"`) || !strings.Contains(in, `"way":"refused"`) {
		t.Errorf("%s", in)
	}

	// A failure is tried again as declared, and an incident then, which a retry ends.
	begin("two")
	for _, message := range []string{"rain", "snow"} {
		path, mine = claim()
		s.post(t, path+"/fail", `{`+mine+`, "kind": "weather", "message": "`+message+`", "retry": true}`, 200)
	}
	polltest.Eventually(t, "it is faulted", func() bool { return s.subStatus(t, "two") == "Faulted" })
	if in := string(s.get(t, "/api/v1/instances/two").body); !strings.Contains(in, "weather: snow") {
		t.Errorf("%s", in)
	}
	if j := string(s.get(t, "/api/v1/instances/two/journal").body); !strings.Contains(j, "attempt 1 of 2 failed: task ship failed: weather: rain") {
		t.Errorf("%s", j)
	}
	// Its worker says that no attempt will do better.
	s.post(t, "/api/v1/instances/two/retry", `{}`, 200)
	path, mine = claim()
	s.post(t, path+"/fail", `{`+mine+`, "kind": "weather", "message": "ice"}`, 200)
	polltest.Eventually(t, "it is faulted at once", func() bool { return s.subStatus(t, "two") == "Faulted" })
	if in := string(s.get(t, "/api/v1/instances/two").body); !strings.Contains(in, "weather: ice") {
		t.Errorf("%s", in)
	}
	s.post(t, "/api/v1/instances/two/retry", `{}`, 200)
	path, mine = claim()
	s.post(t, path+"/complete", `{`+mine+`, "result": {"tracking": "T2", "outcome": "Shipped"}}`, 200)
	polltest.Eventually(t, "it has ended", func() bool { return s.subStatus(t, "two") == "Finished" })
}
