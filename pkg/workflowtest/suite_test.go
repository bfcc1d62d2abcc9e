package workflowtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

func TestTheExamples(t *testing.T) {
	t.Parallel()
	files, err := workflowtest.Find("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	workflowtest.CheckFiles(t, workflowtest.FileOptions{}, files...)
}

const parcel = `
id: parcel
inputs: {n: number}
outputs: {got: object}
variables: {r: object, answer: object}
root:
  - runTask: pack
    result: r
  - publishEvent: {eventName: packed, payload: {n: "${{ inputs.n }}"}}
  - sendHttpRequest: https://a.example/ship
    outputs: {parsedContent: answer}
  - executeWorkflow: deliver
  - event: arrived
  - delay: 1h
  - setOutput: {outputName: got, outputValue: "${{ variables.answer.id }}"}
  - writeHttpResponse: {statusCode: 201, content: "${{ {r: variables.r} }}"}
  - {fault: at the end, id: last}
`

const parcelTest = `
# every key once
description: parcels
definition: parcel.yaml
secrets: {token: t0ken-x}
http:
  - {url: "https://a.example/*", body: {id: 7}}
children:
  deliver: {hold: true}
cases:
  - name: all of it
    now: 2026-06-01T00:00:00Z
    input: {n: 3}
    correlationId: c
    start: false
    steps:
      - start
      - task: pack
        result: box
      - expect: {waits: [deliver], events: [{name: packed, payload: {n: 3}}], children: [deliver]}
      - {child: deliver, status: Finished, output: {}}
      - {event: arrived, early: true, correlationId: c}
      - advance: 1h
      - retry:
    expect:
      status: Faulted
      incidents: [at the end, at the end]
      output: {got: 7}
      response: {status: 201, body: {r: box}}
      calls: {sendHttpRequest1: 1, fault: 2}
  - name: differs
    input: {n: 3}
    mocks:
      pack: [{fault: no}]
      sendHttpRequest: {branch: nowhere}
    steps:
      - advance: 1s
    expect:
      status: Finished
      output:
        got: 8
        other: 1
      calls:
        runTask: 1
  - name: slips
    input: {n: 1}
    steps:
      - {task: pck}
      - advance: 1s
`

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestATestFile(t *testing.T) {
	t.Parallel()
	source := strings.Replace(parcelTest, "      pack: [", "      runTask1: [", 1)
	dir := write(t, map[string]string{"parcel.yaml": parcel, "a.test.yaml": source})
	file := filepath.Join(dir, "a.test.yaml")
	res, err := workflowtest.RunFile(file, workflowtest.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Cases) != 3 || res.Failed() != 2 || len(res.Cases[0].Failures) > 0 {
		t.Fatalf("got %+v", res)
	}
	lines := strings.Split(source, "\n")
	var got []string
	for _, f := range res.Cases[1].Failures {
		got = append(got, fmt.Sprintf("%s | %s", strings.TrimSpace(lines[f.Line-1]), f))
	}
	want := []string{
		`name: differs`, // no incidents were expected
		`status: Finished | status: got Faulted, want Finished`,
		`got: 8 | output.got: it has no value, want 8`,
		`other: 1 | output.other`,
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), strings.TrimPrefix(w, "name: differs")) {
			t.Errorf("no %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if f := res.Cases[2].Failures; len(f) != 1 || !strings.Contains(lines[f[0].Line-1], "pck") || !strings.Contains(f[0].Message, "what waits: pack") {
		t.Errorf("got %+v", f)
	}

	res, err = workflowtest.RunFile(file, workflowtest.FileOptions{Only: regexp.MustCompile("^all")})
	if err != nil || len(res.Cases) != 1 {
		t.Errorf("one case: %+v, %v", res, err)
	}
}

func TestATestFileMaySayItsVersionOfYAML(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"x.yaml": "%YAML 1.2\n---\nid: x\nroot:\n  - writeLine: x\n", "x.test.yaml": "%YAML 1.2\n---\ncases:\n  - name: it ends\n    expect:\n      status: Finished\n"})
	res, err := workflowtest.RunFile(filepath.Join(dir, "x.test.yaml"), workflowtest.FileOptions{})
	if err != nil || len(res.Cases) != 1 || res.Failed() != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestSlipsInATestFileAreToldWithTheirPlace(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                                ":1: the file is empty",
		"cases: [":                        "this is not YAML",
		"- a":                             ":1: a test file should be a mapping",
		"definition: a.yaml":              "no cases",
		"cases: [{}]":                     "names no definition",
		"definition: a.yaml\ncase: []":    ":2: a test file has no key case (did you mean cases?)",
		"definition: a\ncases:\n- nam: x": ":3: a case has no key nam (did you mean name?)",
		"definition: a\ncases: [{},{name: case 1}]":                "two cases are called",
		"definition: a\ncases: [{steps: [{advance: soon}]}]":       "advance takes a duration",
		"definition: a\ncases: [{steps: [{advance: -1h}]}]":        "advance takes a duration",
		"definition: a\ncases: [{steps: [{event: a, task: b}]}]":   "a step does one thing",
		"definition: a\ncases: [{steps: [{event: a, result: b}]}]": "the step event takes no result",
		"definition: a\ncases: [{steps: [{payload: b}]}]":          "a step has one of the keys",
		"definition: a\ncases: [{steps: [jump]}]":                  "a step should be a mapping",
		"definition: a\ncases: [{expect: {status: Finishd}}]":      "did you mean Finished?",
		"definition: a\ncases: [{expect: {calls: {a: -1}}}]":       "the number of calls",
		"definition: a\ncases: [{expect: {lines: {a: b}}}]":        "lines should be a list",
		"definition: a\ncases: [{now: today}]":                     "a time is written like",
		"definition: a\ncases: [{start: maybe}]":                   "true or false",
		"definition: a\ncases: [{input: {a: 1, a: 2}}]":            "twice",
		"definition: a\ncases: [{mocks: {a: {fault: [x]}}}]":       "fault should be a text",
		"definition: a\ncases: [{http: [{status: many}]}]":         "whole number",
		"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]": "those that aliases repeat",
		"definition: a\ncases: &c\n- input: {a: *c}":                              "nested up to",
		"definition: a\ncases:\n- input: {a: 0x_}\n  expect: {output: {a: .inf}}": "",
	} {
		dir := write(t, map[string]string{"x.test.yaml": source})
		_, err := workflowtest.RunFile(filepath.Join(dir, "x.test.yaml"), workflowtest.FileOptions{})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %s", source, err, want)
		}
	}
}

func TestTheDefinitionOfItsOwnNameIsTested(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"hi.yaml": "id: hi\nroot:\n  - writeLine: hi\n", "hi.test.yml": "cases:\n  - expect: {lines: hi}\n", ".hidden": "", "other.yaml": "",
	})
	files, err := workflowtest.Find(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	workflowtest.CheckFiles(t, workflowtest.FileOptions{}, files...)

	if _, err := workflowtest.Find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "*.test.yaml") {
		t.Errorf("got %v", err)
	}
	if _, err := workflowtest.Find(filepath.Join(dir, "none")); err == nil {
		t.Error("a path that does not exist is found")
	}
}

func TestADefinitionThatIsNotValidFailsTheCase(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": "id: a\nroot:\n  - writeLin: hi\n", "a.test.yaml": "cases:\n  - name: x\n"})
	res, err := workflowtest.RunFile(filepath.Join(dir, "a.test.yaml"), workflowtest.FileOptions{})
	if err != nil || res.Failed() != 1 || !strings.Contains(res.Cases[0].Failures[0].Message, "did you mean writeLine?") {
		t.Errorf("got %+v, %v", res, err)
	}
}
