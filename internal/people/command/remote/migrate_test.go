package remote_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsaSequence is a definition as Elsa 3 exports it, with activities in a sequence.
func elsaSequence(id string, version int, activities string) string {
	return fmt.Sprintf(`{"id": "v-%[1]s-%[2]d", "definitionId": %[1]q, "name": %[1]q, "version": %[2]d, "root": {"type": "Elsa.Sequence", "version": 1, "id": "root", "activities": [%[3]s]}}`, id, version, activities)
}

const elsaLine = `{"type": "Elsa.WriteLine", "version": 1, "id": "line", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "hello"}}}`

func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if _, err := must(z.Create(files[i])).Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMigrateElsa(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	fine := u.file("exports/fine.json", elsaSequence("fine", 1, elsaLine))
	dir := filepath.Dir(fine)
	// A parent and its child in one archive, in this order, and what is no definition.
	u.file("exports/more.zip", zipped(t, "parent.json", elsaSequence("parent", 3, `{"type": "Elsa.ExecuteWorkflow", "version": 1, "id": "call", "workflowDefinitionId": {"typeName": "String", "expression": {"type": "Literal", "value": "child"}}, "waitForCompletion": {"typeName": "Boolean", "expression": {"type": "Literal", "value": true}}}`),
		"sub/child.json", elsaSequence("child", 1, elsaLine), "sub/child-2.json", elsaSequence("child", 2, elsaLine), "package.json", `{"name": "x"}`, "readme.txt", "x"))
	u.wants(0, fmt.Sprintf(`%[1]s/fine.json: runs unchanged
%[1]s/more.zip/parent.json: runs unchanged
%[1]s/more.zip/sub/child.json: is to be left out: %[1]s/more.zip/sub/child-2.json has version 2 of child, and this is version 1
%[1]s/more.zip/sub/child-2.json: runs unchanged
%[1]s/more.zip/package.json: is left alone: it is no definition: it has no root
3 run unchanged, 0 run with differences, 0 refused, 2 left alone
`, dir), "migrate", "elsa", dir)

	// As YAML, once; the files run.
	to := filepath.Join(u.home, "flows")
	u.wants(0, "*", "migrate", "elsa", dir, "--out", to)
	u.wants(0, "ok: 3 valid\n", "validate", "--strict", to)
	before := string(must(os.ReadFile(filepath.Join(to, "fine.yaml"))))
	u.refuses(2, "fine.yaml is there already; nothing was written", "migrate", "elsa", dir, "--out", to)
	if after := string(must(os.ReadFile(filepath.Join(to, "fine.yaml")))); after != before || !strings.Contains(before, "writeLine: hello") {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}

	// An output that goes nowhere is warned of in JSON, and is not in YAML.
	leftover := u.file("leftover.json", elsaSequence("leftover", 1, `{"type": "Elsa.RunJavaScript", "version": 1, "id": "j", "script": {"typeName": "String", "expression": {"type": "Literal", "value": "1"}}, "result": {"typeName": "Object", "memoryReference": {"id": "gone"}}}`))
	if got := u.wants(0, "*", "migrate", "elsa", leftover, "--out", filepath.Join(u.home, "left")); !strings.Contains(got.out, "leftover-output") {
		t.Errorf("%s", got.out)
	}
	u.wants(0, "ok: 1 valid\n", "validate", "--strict", filepath.Join(u.home, "left"))

	// What is refused has its place; the others are told all the same.
	u.file("exports/own.json", elsaSequence("own", 1, elsaLine+`, {"type": "Acme.Invoice", "version": 1, "id": "invoice"}`))
	u.file("exports/old.json", `{"definitionId": "old", "activities": [{"activityId": "a", "type": "WriteLine"}], "connections": []}`)
	u.file("exports/warned.json", strings.Replace(elsaSequence("warned", 1, elsaLine), `"name": "warned"`, `"name": "warned", "variables": [{"id": "x", "name": "x", "typeName": "Decimal", "value": "1.00000000000000000000001"}]`, 1))
	u.file("exports/half.json", elsaSequence("half", 1, elsaLine)[:20])
	u.file("exports/none.json", "")
	u.file("exports/huge.json", `{"root": {}, "description": "`+strings.Repeat("x", 2<<20)+`"}`)
	got := u.wants(1, "*", "migrate", "elsa", dir)
	for _, want := range []string{"/own.json: is refused\n    1:", "Acme.Invoice", "\n    instead: an activity in Go, or runTask and a worker", "/old.json: is refused\n    1:1: the definition has activities where a root is expected, as Elsa 1 and 2", "/half.json: is refused\n    1:21: this is not JSON: it ends too early", "/none.json: is refused\n", "/fine.json: runs unchanged\n", "/huge.json: is refused\n", "    the definition has 2097183 bytes", "/warned.json: runs, with differences\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	u.wants(1, "differs fine.json\n", "migrate", "elsa", dir, "--jq", `.items[] | select(.verdict == "differs") | "\(.verdict) fine.json"`)
	u.wants(1, "Acme.Invoice\n", "migrate", "elsa", dir, "--jq", `.items[] | select(.definition == "own") | .findings[0].detail | capture("(?<type>Acme.Invoice)").type`)

	// Activities of Elsa's own modules are refused with what does the same.
	for name, want := range map[string]string{
		"Elsa.SubmitAlterationPlan": "; instead: sendHttpRequest to POST /api/v1/alterations/submit", "Elsa.AlterationPlanCompleted": "; instead: ask GET /api/v1/jobs/{planId}",
		"Elsa.BpmnProcess": "; instead: draw the process",
	} {
		u.in = elsaSequence("there", 1, fmt.Sprintf(`{"type": %q, "version": 1, "id": "x"}`, name))
		if got := u.wants(1, "*", "migrate", "elsa", "-"); !strings.Contains(got.out, want) || strings.Contains(got.out, "an activity in Go") {
			t.Errorf("%s: %s", name, got.out)
		}
	}

	// A list may be written as a list, and as the text of one: definitions stored with Elsa do.
	for _, methods := range []string{`["GET"]`, `"[\u0022GET\u0022]"`} {
		u.in = elsaSequence("path", 1, `{"type": "Elsa.HttpEndpoint", "version": 1, "id": "in", "customProperties": {"canStartWorkflow": true}, "path": {"typeName": "String", "expression": {"type": "Literal", "value": "in"}}, "supportedMethods": {"typeName": "String[]", "expression": {"type": "Literal", "value": `+methods+`}}}`)
		u.wants(0, "-: runs unchanged\n1 run unchanged, 0 run with differences, 0 refused\n", "migrate", "elsa", "-")
	}

	// C# is shown as what runs, and is no mistake.
	sharp := u.file("sharp/sharp.json", elsaSequence("sharp", 1, `{"type": "Elsa.WriteLine", "version": 1, "id": "line", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "\"a\" + 1"}}}`))
	if got := u.wants(0, "*", "migrate", "elsa", sharp); !strings.HasPrefix(got.out, sharp+": runs, its C# as JavaScript\n") || !strings.Contains(got.out, "1 run unchanged, 0 run with differences") {
		t.Errorf("C#: %s", got.out)
	}
	u.wants(0, "*", "validate", "--strict", sharp)

	// From standard input, as JSON and as an archive.
	u.in = elsaSequence("in", 1, elsaLine)
	u.wants(0, "-: runs unchanged\n1 run unchanged, 0 run with differences, 0 refused\n", "migrate", "elsa", "-")
	u.in = zipped(t, "a.json", u.in)
	u.wants(0, "-/a.json: runs unchanged\n1 run unchanged, 0 run with differences, 0 refused\n", "migrate", "elsa", "-")
	u.in = "root: []\n"
	u.wants(1, "*", "migrate", "elsa", "-")
}

// Archives that are none, unpack to too much or have nothing are refused, and nothing is written.
func TestMigrateElsaRefusesArchives(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	out := filepath.Join(u.home, "out")
	u.refuses(2, "is no zip archive that can be read", "migrate", "elsa", u.file("cut.zip", zipped(t, "a.json", elsaSequence("a", 1, elsaLine))[:60]), "--out", out)
	u.refuses(2, "has no *.json", "migrate", "elsa", u.file("none.zip", zipped(t, "a.txt", "x")), "--out", out)
	var large []string
	for i := range 257 {
		large = append(large, fmt.Sprintf("%d.json", i), strings.Repeat(" ", 1<<20))
	}
	u.refuses(2, "unpacks to more than 256 MiB", "migrate", "elsa", u.file("large.zip", zipped(t, large...)), "--out", out)
	var many []string
	for i := range 10_001 {
		many = append(many, fmt.Sprintf("%d.json", i), "{}")
	}
	u.refuses(2, "has 10001 files, and may have 10000", "migrate", "elsa", u.file("many.zip", zipped(t, many...)), "--out", out)
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("there is %s: %v", out, err)
	}
}

// What Elsa runs is what is moved; what cannot be read or would be lost is told, and in the way of no other.
func TestMigrateElsaLosesNothing(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	published := func(src, is string) string {
		return strings.Replace(src, `"version"`, `"isPublished": `+is+`, "version"`, 1)
	}
	u.file("e/a1.json", published(elsaSequence("a", 1, elsaLine), "false"))
	u.file("e/a2.json", published(elsaSequence("a", 2, elsaLine), "true"))
	u.file("e/a3.json", published(elsaSequence("a", 3, elsaLine), "false"))
	u.file("e/b.json", published(elsaSequence("b", 1, elsaLine), "false"))
	u.file("e/colon.json", elsaSequence("c:d", 1, elsaLine))
	u.file("e/line.json", elsaSequence("C_D", 1, elsaLine))
	u.file("e/x/order.json", strings.Replace(elsaSequence("", 1, elsaLine), `"id": "v--1", "definitionId": "", "name": "", `, "", 1))
	u.file("e/y/order.json", strings.Replace(elsaSequence("", 1, elsaLine), `"id": "v--1", "definitionId": "", "name": "", `, "", 1))
	u.file("e/z/cut.zip", zipped(t, "a.json", elsaSequence("z", 1, elsaLine))[:60])
	u.file("e/z/none.zip", zipped(t, "a.txt", "x"))
	u.file("e/z/page.zip", "<html>")
	u.file("e/z/two.zip", zipped(t, "in.zip", zipped(t, "a.json", elsaSequence("z", 1, elsaLine)), "z.json", elsaSequence("z", 1, elsaLine)))
	u.file("e/z/wide.json", "\xff\xfe{\x00")
	u.file("e/z/list.json", "["+elsaSequence("l", 1, elsaLine)+"]")
	u.file("e/z/page.json", `{"items": [`+elsaSequence("l", 1, elsaLine)+`], "totalCount": 1}`)
	dir := filepath.Join(u.home, "e")
	out := filepath.Join(u.home, "out")
	got := u.wants(1, "*", "migrate", "elsa", dir, "--out", out)
	for _, want := range []string{
		"/a1.json: is to be left out: " + dir + "/a2.json has version 2 of a, and this is version 1, a draft\n",
		"/a2.json: runs unchanged; written as " + out + "/a.yaml\n",
		"/a3.json: is to be left out: " + dir + "/a2.json has version 2 of a, and this is version 3, a draft\n",
		"/b.json: runs, with differences: it is a draft in Elsa",
		"/colon.json: runs unchanged; written as " + out + "/c_d.yaml\n",
		"/line.json: runs unchanged; written as " + out + "/C_D-2.yaml\n",
		"/x/order.json: runs unchanged",
		"/y/order.json: is refused: it has no definitionId, and would be called order, as " + dir + "/x/order.json is",
		"/z/cut.zip: is refused: it could not be read: ",
		"/z/none.zip: is refused: it could not be read: ",
		"/z/page.zip: is refused: it could not be read: ",
		"/z/two.zip/in.zip: is refused: it could not be read: it is an archive within an archive",
		"/z/two.zip/z.json: runs unchanged",
		"/z/wide.json: is refused: it could not be read: it is UTF-16",
		"/z/list.json: is refused: it could not be read: it is a list of 1 definitions",
		"/z/page.json: is refused: it could not be read: it is a list of 1 definitions",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	// The bound is of all archives together.
	var half []string
	for i := range 150 {
		half = append(half, fmt.Sprintf("%d.json", i), strings.Repeat(" ", 1<<20))
	}
	u.refuses(2, "unpacks to more than 256 MiB, with what was unpacked before it", "migrate", "elsa", u.file("one.zip", zipped(t, half...)), u.file("two.zip", zipped(t, half...)))
}
