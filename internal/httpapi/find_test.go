package httpapi_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// ids are the instances of an answer, sorted, without what makes them this test's own.
func (s *server) ids(t *testing.T, query url.Values) string {
	t.Helper()
	page := s.get(t, "/api/v1/instances?"+query.Encode()).json(t)
	var out []string
	for _, item := range page["items"].([]any) {
		id, _, _ := strings.Cut(item.(map[string]any)["instanceId"].(string), "-")
		out = append(out, id)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestInstancesAreFoundByALine(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: find-order#
inputs: {who: string}
labels: {customer: "${{ inputs.who }}"}
root:
  - setName: order of ${{ inputs.who }}
  - parallel:
      - event: paid#
      - delay: 48h
`)
	s.publish(t, "id: find-bad#\nroot:\n  - fault: 'the \"Shop\" timed out'\n")
	s.publish(t, "id: find-parent#\nroot:\n  - executeWorkflow: {workflowDefinitionId: find-order#, correlationId: of-parent#, input: {who: child}}\n")
	for _, in := range [][3]string{{"find-order#", "ada", "o-1#"}, {"find-order#", "bob", "o-2#"}, {"find-bad#", "bad", "o-3#"}, {"find-parent#", "parent", "p#"}} {
		s.post(t, "/api/v1/definitions/"+in[0]+"/execute", `{"instanceId": "`+in[1]+`-#", "correlationId": "`+in[2]+`", "input": `+map[bool]string{true: `{"who": "` + in[1] + `"}`, false: "{}"}[in[0] == "find-order#"]+`}`, 200)
	}
	bookmarks := s.get(t, "/api/v1/instances/parent-#").json(t)["bookmarks"].([]any)
	child, _ := bookmarks[0].(map[string]any)["childInstanceId"].(string)
	if child == "" {
		t.Fatalf("the parent's bookmark does not name its child: %v", bookmarks)
	}
	kid, _, _ := strings.Cut(child, "-")
	polltest.Eventually(t, "the child comes to wait", func() bool { return s.get(t, "/api/v1/instances/"+child).json(t)["subStatus"] == "Suspended" })
	for line, want := range map[string]string{
		"waits:event/paid#":                                      "ada bob " + kid,
		"waits:event/paid# label.customer:ada":                   "ada",
		"waits:event/paid# -label.customer:ada -parent:parent-#": "bob",
		"def:find-order# status:suspended corr:o-*":              "ada bob",
		"def:find-order# version:1 waits:timer/delay created<1h": "ada bob " + kid,
		"def:find-order# created>1h":                             "",
		`def:find-order# name:"order of b"*`:                     "bob",
		`name:"order of ada" def:find-order#`:                    "ada",
		"parent:parent-#":                                        kid,
		"corr:of-parent#":                                        kid,
		"waits:child/" + child:                                   "parent",
		"status:faulted def:find-bad#":                           "bad",
		`def:find-bad# incident:"\"shop\" TIMED"`:                "bad",
		`def:find-bad# incident:"no such"`:                       "",
		"def:find-bad# has:incidents finished<1h":                "bad",
		"def:find-order# has:incidents":                          "",
		"status:running sub:faulted":                             "",
		"corr:o-1# label.customer:bob":                           "",
	} {
		got := s.ids(t, url.Values{"q": {s.own(line)}})
		if want := strings.Join(slices.Sorted(slices.Values(strings.Fields(want))), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, tt := range []struct {
		query url.Values
		want  string
	}{
		{url.Values{"definitionId": {"find-order#"}, "q": {"corr:o-1#"}}, "ada"},
		{url.Values{"waitsFor": {"event/paid#"}, "name": {"order of bob"}, "createdAfter": {"1h"}, "view": {"summary"}}, "bob"},
		{url.Values{"definitionId": {"find-bad#"}, "incident": {"timed out"}, "hasIncidents": {"true"}, "sort": {"-created"}}, "bad"},
		{url.Values{"definitionId": {"find-order#"}, "hasIncidents": {"false"}, "createdBefore": {time.Now().Add(-time.Hour).Format(time.RFC3339)}}, ""},
	} {
		for name, v := range tt.query {
			tt.query[name] = []string{s.own(v[0])}
		}
		if got := s.ids(t, tt.query); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.query, got, tt.want)
		}
	}
	row := s.get(t, "/api/v1/instances?view=summary&correlationId=o-2#").json(t)["items"].([]any)[0].(map[string]any)
	if len(row["waitsFor"].([]any)) != 2 || row["waits"] != float64(2) || row["name"] != "order of bob" || row["input"] != nil {
		t.Errorf("a row: %v", row)
	}
	bad := s.get(t, "/api/v1/instances?view=summary&correlationId=o-3#").json(t)["items"].([]any)[0].(map[string]any)
	if bad["incidents"] != float64(1) || bad["incident"] == nil || bad["finishedAt"] == nil {
		t.Errorf("a row: %v", bad)
	}
}

// The pages of a list mean the same times, name the revision that each was read at, and go with
// their own filter only.
func TestACursorGoesWithItsFilter(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: pages#\nroot:\n  - event: never#\n")
	for i := range 5 {
		s.post(t, "/api/v1/definitions/pages#/execute", fmt.Sprintf(`{"instanceId": "p%d-#", "correlationId": "c#"}`, i), 200)
	}
	const path = "/api/v1/instances?q=def:pages%23%20created%3C1h&limit=2"
	first := s.get(t, strings.ReplaceAll(path, "%23", "#")).json(t)
	cursor, _ := first["nextCursor"].(string)
	if cursor == "" || first["revision"].(float64) < 1 || first["looked"] != float64(2) || first["query"] != s.own("def:pages# created<1h") {
		t.Fatalf("the first page: %v", first)
	}
	n := 2
	for next := cursor; next != ""; {
		page := s.get(t, strings.ReplaceAll(path, "%23", "#")+"&view=summary&cursor="+next).json(t)
		if page["now"] != first["now"] || page["revision"].(float64) < first["revision"].(float64) {
			t.Errorf("another now: %v after %v", page["now"], first["now"])
		}
		n += len(page["items"].([]any))
		next, _ = page["nextCursor"].(string)
	}
	if n != 5 {
		t.Errorf("%d instances of 5", n)
	}
	for what, query := range map[string]string{
		"another definition": "q=def:other%20created%3C1h", "another age": "q=def:pages#%20created%3C2h", "no filter": "", "a correlation": "correlationId=c#",
		"another order": "q=def:pages#%20created%3C1h&sort=created",
	} {
		a := s.do(t, "GET", "/api/v1/instances?limit=2&cursor="+cursor+"&"+query, "")
		if a.status != 422 || !strings.Contains(string(a.body), "another filter") {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	if again := s.get(t, strings.ReplaceAll(path, "%23", "#")+"&sort=-created&cursor="+cursor).json(t); len(again["items"].([]any)) != 2 {
		t.Errorf("the order that it has anyway: %v", again)
	}
	// The oldest first, by a parameter and by a word.
	for _, sort := range []string{"q=def:pages#&sort=created", "q=def:pages#%20sort:created", "q=def:pages#%20sort:created&sort=created"} {
		var got []string
		for next := ""; ; {
			page := s.get(t, "/api/v1/instances?"+sort+"&limit=2&cursor="+next).json(t)
			if page["query"] != s.own("def:pages# sort:created") {
				t.Errorf("%s: it is %v", sort, page["query"])
			}
			for _, item := range page["items"].([]any) {
				id, _, _ := strings.Cut(item.(map[string]any)["instanceId"].(string), "-")
				got = append(got, id)
			}
			if next, _ = page["nextCursor"].(string); next == "" {
				break
			}
			if a := s.do(t, "GET", "/api/v1/instances?q=def:pages#&limit=2&cursor="+next, ""); a.status != 422 || !strings.Contains(string(a.body), "another order") {
				t.Errorf("a cursor of the other order: %d %s", a.status, a.body)
			}
		}
		if !slices.Equal(got, []string{"p0", "p1", "p2", "p3", "p4"}) {
			t.Errorf("%s: %v", sort, got)
		}
	}
	for query, says := range map[string]string{"sort=updated": "-created", "q=sort:updated": "no list is kept", "q=sort:created&sort=-created": "something else", "q=-sort:created": "without -"} {
		if a := s.do(t, "GET", "/api/v1/instances?"+query, ""); a.status != 422 || !strings.Contains(string(a.body), says) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	tasks := s.do(t, "GET", "/api/v1/tasks?cursor="+cursor, "")
	if tasks.status >= 500 {
		t.Errorf("a cursor of instances for tasks: %d %s", tasks.status, tasks.body)
	}
	for _, raw := range []string{"aW5zdGFuY2Vz", "aW5zdGFuY2VzLzEvMC8", "x", "", "aW5zdGFuY2VzLzk5OTk5OTk5OTk5OTk5OTk5OTk5LzAvMDAwMDAwMDAwMDAwMC9h"} {
		if a := s.do(t, "GET", "/api/v1/instances?cursor="+raw, ""); a.status != 422 && raw != "" {
			t.Errorf("%s: %d %s", raw, a.status, a.body)
		}
	}
}

// Who may not see a resume link does not find it letter by letter.
func TestNobodyFindsWhatIsHiddenFromThem(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, func(c *node.Config) { c.PublicURL = "https://weft.example" })
	const definition = `
id: approval
root:
  - parallel:
      - event: decided
        id: decision
      - setName: "${{ resumeUrl('decision', 'approve') }}"
`
	if a := g.do(t, "POST", "/api/v1/definitions", definition, g.keys[auth.Designer]); a.status != 201 {
		t.Fatalf("publish: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", "/api/v1/definitions/approval/execute", `{"instanceId": "one"}`, g.keys[auth.Operator]); a.status != 200 {
		t.Fatalf("execute: %d %s", a.status, a.body)
	}
	link := regexp.MustCompile(`https://weft.example/links/[A-Za-z0-9_.-]{4}`).FindString(string(g.get(t, "/api/v1/instances/one", g.keys[auth.Operator]).body))
	if link == "" {
		t.Fatal("an operator does not see the link")
	}
	for role, found := range map[auth.Role]bool{auth.Operator: true, auth.Viewer: false} {
		query := url.Values{"q": {"name:" + link + "*"}}
		page := g.get(t, "/api/v1/instances?"+query.Encode(), g.keys[role])
		if page.status != 200 || strings.Contains(string(page.body), `"one"`) != found {
			t.Errorf("as %v: %d %s", role, page.status, page.body)
		}
	}
}

// The page about it has every word, and its examples can be read.
func TestTheWordsOfALineAreDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "### Find instances\n")
	section, _, _ = strings.Cut(section, "\n### ")
	for _, word := range find.Words() {
		if !strings.Contains(section, "`"+word+":") && !strings.Contains(section, "`"+word+"<") {
			t.Errorf("%s is not documented", word)
		}
	}
	examples := regexp.MustCompile("q=([^']*)'|`(-?[a-z][a-z.]*[:<>][^` ]+|incident:\"[^`]*\")`").FindAllStringSubmatch(section, -1)
	if len(examples) < 10 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		if line := e[1] + e[2]; !strings.HasPrefix(line, "label.<name>") {
			if _, err := find.Parse(line, "/q"); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
