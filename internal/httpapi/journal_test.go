package httpapi_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
)

// Who reads the journal sees which commit did what, where, and what the variables
// were then.
func TestTheJournalTellsRoundsCommitsAndVariables(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: rounds#
variables:
  n: {type: number, default: 0}
  long: string
root:
  - for: {end: 1}
    id: loop
    body:
      - event: tick#
        id: tick
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
        id: add
  - setVariable: {variable: long, value: "`+strings.Repeat("l", 300)+`"}
`)
	s.post(t, "/api/v1/definitions/rounds#/execute", `{"instanceId": "rounds#"}`, 200)
	for range 2 {
		s.post(t, "/api/v1/events/tick#", `{}`, 200)
	}
	page := s.get(t, "/api/v1/instances/rounds#/journal").json(t)
	commits, items := page["commits"].([]any), page["items"].([]any)
	if len(commits) != 3 || page["nextCursor"] != nil {
		t.Fatalf("%d commits: %v", len(commits), page)
	}
	ticks, adds := map[any]bool{}, map[any]any{}
	for i, it := range items {
		j := it.(map[string]any)
		if j["sequence"] != float64(i+1) {
			t.Errorf("item %d is %v", i+1, j)
		}
		switch j["activityId"] {
		case "tick":
			ticks[j["execution"]] = true
		case "add":
			adds[j["commit"]] = j["execution"]
		}
	}
	if len(ticks) != 2 || len(adds) != 2 || adds[2.0] == adds[3.0] {
		t.Errorf("executions of the event %v, of the variable %v in %v", ticks, adds, items)
	}
	last := 0.0
	for i, it := range commits {
		c := it.(map[string]any)
		began, err := time.Parse(time.RFC3339Nano, fmt.Sprint(c["began"]))
		ended, err2 := time.Parse(time.RFC3339Nano, fmt.Sprint(c["ended"]))
		if c["commit"] != float64(i+1) || c["node"] != "node-1" || c["id"] == "" || len(c["commands"].([]any)) != 1 || err != nil || err2 != nil || ended.Before(began) {
			t.Errorf("commit %d is %v", i+1, c)
		}
		if fence := c["fence"].(float64); fence != 0 { // without the lock it has none
			if fence <= last {
				t.Errorf("the fence of commit %d is %v, after %v", i+1, fence, last)
			}
			last = fence
		}
		said := map[any]map[string]any{}
		for _, v := range c["variables"].([]any) {
			if v := v.(map[string]any); v["execution"] == 0.0 {
				said[v["name"]] = v
			}
		}
		if n := said["n"]; n == nil || n["value"] != float64(i) || i > 0 && n["by"] != adds[c["commit"]] {
			t.Errorf("commit %d says of n %v", i+1, n)
		}
		if closed := c["closed"].([]any); i > 0 && len(closed) != 1 {
			t.Errorf("commit %d closes the scopes %v, not that of one round", i+1, closed)
		}
		if long := said["long"]; i == 2 && (long == nil || long["clipped"] != true || len(fmt.Sprint(long["value"])) > 260) {
			t.Errorf("commit %d says of the long text %v", i+1, long)
		}
	}
	if next := s.get(t, "/api/v1/instances/rounds#/journal?limit=2").json(t); len(next["commits"].([]any)) != 2 || next["nextCursor"] == nil {
		t.Errorf("a page of two commits: %v", next)
	}
}

// pageOf is a page of a journal: which commits it has, and where it leads.
type pageOf struct {
	commits               []int
	events                []string
	next, previous        any
	from, to, first, last float64
	revision              float64
	items                 []int // their numbers
	before, behind        float64
}

func (s *server) journalPage(t *testing.T, id, query string) pageOf {
	t.Helper()
	v := s.get(t, "/api/v1/instances/"+id+"/journal?"+query).json(t)
	p := pageOf{next: v["nextCursor"], previous: v["previousCursor"], from: v["lookedFrom"].(float64), to: v["lookedTo"].(float64),
		first: v["first"].(float64), last: v["last"].(float64), revision: v["revision"].(float64),
		before: v["itemsBefore"].(float64), behind: v["itemsBehind"].(float64)}
	for _, c := range v["commits"].([]any) {
		p.commits = append(p.commits, int(c.(map[string]any)["commit"].(float64)))
	}
	for _, it := range v["items"].([]any) {
		j := it.(map[string]any)
		p.events = append(p.events, fmt.Sprint(j["commit"], " ", j["activityId"], " ", j["event"]))
		p.items = append(p.items, int(j["sequence"].(float64)))
	}
	return p
}

// ticking starts an instance that has made commits 1 to n.
func ticking(t *testing.T, s *server, id string, n int) {
	t.Helper()
	s.publish(t, `
id: `+id+`
variables:
  n: {type: number, default: 0}
root:
  - while: true
    body:
      - event: `+id+`
        id: tick
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
        id: add
      - writeLine: "round ${{ variables.n }} for <Ada>"
        id: line
`)
	s.post(t, "/api/v1/definitions/"+id+"/execute", `{"instanceId": "`+id+`"}`, 200)
	for range n - 1 {
		s.post(t, "/api/v1/events/"+id, `{}`, 200)
	}
}

// A journal opens at its end, and its pages lead to both sides.
func TestTheJournalOpensAtItsEnd(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ticking(t, s, "ends-#", 12)
	for query, want := range map[string][]int{
		"limit=3": {1, 2, 3}, "tail=3": {10, 11, 12}, "tail=500": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "before=3": {1, 2}, "before=8&tail=2": {6, 7}, "before=8&limit=2": {6, 7},
		"after=9": {10, 11, 12}, "after=3&limit=2": {4, 5}, "after=3&before=6": {4, 5}, "after=3&before=9&tail=2": {7, 8}, "after=12": nil, "before=1": nil, "after=9007199254740991": nil,
		"before=9007199254740991&tail=1": {12}, "after=5&before=6": nil, "after=9&before=3": nil,
	} {
		p := s.journalPage(t, "ends-#", query)
		if !slices.Equal(p.commits, want) || p.first != 1 || p.last != 12 || p.revision == 0 {
			t.Errorf("%s: %+v, want %v", query, p, want)
		}
		if len(want) > 0 && (p.from != float64(want[0]) || p.to != float64(want[len(want)-1]) || (p.next == nil) != (p.to == 12) || (p.previous == nil) != (p.from == 1)) {
			t.Errorf("%s leads to %+v", query, p)
		}
	}
	for after, want := range map[int]float64{7: 12, 11: 12, 12: 12, 100: 12} { // who follows passes it on, also when nothing was new
		if p := s.journalPage(t, "ends-#", fmt.Sprint("after=", after)); p.to != want {
			t.Errorf("after %d it was looked to %v", after, p.to)
		}
	}
	for bounds, want := range map[string][]int{"after=3": {4, 5, 6, 7, 8, 9, 10, 11, 12}, "after=3&before=6": {4, 5}, "before=6": {4, 5}, "after=11": {12}, "after=12": nil} { // each page is asked for with them
		var on []int
		for query := bounds + "&limit=2"; query != ""; {
			p := s.journalPage(t, "ends-#", query)
			if on, query = append(on, p.commits...), ""; p.next != nil {
				query = fmt.Sprint(bounds, "&limit=2&cursor=", p.next)
			}
		}
		if !slices.Equal(on, want) {
			t.Errorf("pages of %s: %v, want %v", bounds, on, want)
		}
	}
	for _, limit := range []int{1, 5, 12} {
		var back, on []int
		p := s.journalPage(t, "ends-#", fmt.Sprint("tail=", limit))
		for back = p.commits; p.previous != nil; back = append(p.commits, back...) {
			p = s.journalPage(t, "ends-#", fmt.Sprint("limit=", limit, "&cursor=", p.previous))
		}
		for on = p.commits; p.next != nil; on = append(on, p.commits...) {
			p = s.journalPage(t, "ends-#", fmt.Sprint("limit=", limit, "&cursor=", p.next))
		}
		if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(back, want) || !slices.Equal(on, want) {
			t.Errorf("pages of %d: back %v, on %v", limit, back, on)
		}
	}
}

func TestTheJournalIsFiltered(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ticking(t, s, "filtered-#", 4)
	for query, want := range map[string][]string{
		"activity=line":          {"2 line Started", "2 line WriteLine", "2 line Completed", "3 line Started", "3 line WriteLine", "3 line Completed", "4 line Started", "4 line WriteLine", "4 line Completed"},
		"event=WriteLine&tail=2": {"3 line WriteLine", "4 line WriteLine"},
		"activity=line&activity=add&event=Completed&tail=1": {"4 add Completed", "4 line Completed"},
		"text=ROUND%203&event=WriteLine":                    {"4 line WriteLine"},
		"text=round%202%20for%20%3Cada&event=WriteLine":     {"3 line WriteLine"},
		"event=WriteLine&before=4&tail=1":                   {"3 line WriteLine"},
		"event=Faulted":                                     nil,
		"activity=nobody&tail=1":                            nil,
	} {
		p := s.journalPage(t, "filtered-#", query)
		if !slices.Equal(p.events, want) {
			t.Errorf("%s: %q, want %q", query, p.events, want)
		}
	}
	// What is not there was looked for everywhere, and that is said.
	if p := s.journalPage(t, "filtered-#", "event=Faulted&tail=1"); p.from != 1 || p.to != 4 || p.next != nil || p.previous != nil {
		t.Errorf("%+v", p)
	}
	if p := s.journalPage(t, "filtered-#", "event=WriteLine&tail=1"); p.from != 4 || p.previous == nil {
		t.Errorf("%+v", p)
	}
}

// A page has as many items as were asked for, also of a commit with thousands, says how many of
// that commit it leaves, and leads to them.
func TestAJournalPageHasSoManyItems(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: long-#
root:
  - forEach: ${{ 1..200 }}
    body: [{writeLine: a line}, {writeLine: another}]
  - while: true
    body:
      - event: long-#
        id: tick
      - writeLine: ticked
        id: line
`)
	s.post(t, "/api/v1/definitions/long-#/execute", `{"instanceId": "long-#"}`, 200)
	for range 3 {
		s.post(t, "/api/v1/events/long-#", `{}`, 200)
	}
	whole := s.journalPage(t, "long-#", "limit=500")
	first := s.journalPage(t, "long-#", "limit=1")
	n, all := len(first.items), len(whole.items)
	if n < 1200 || len(whole.commits) != 4 || all <= n || whole.before != 0 || whole.behind != 0 {
		t.Fatalf("%d items of commit 1, %d of %v, %v before, %v behind", n, all, whole.commits, whole.before, whole.behind)
	}
	walk := func(items int, filter string, want []int) {
		t.Helper()
		size := fmt.Sprint("items=", items, filter)
		var back, on []int
		for query := "tail=100&" + size; query != ""; {
			p := s.journalPage(t, "long-#", query)
			if len(p.items) > items || p.before > 0 && p.previous == nil {
				t.Fatalf("%s: %d items, %v before", query, len(p.items), p.before)
			}
			if query = ""; p.previous != nil {
				query = fmt.Sprint("limit=100&cursor=", p.previous, "&", size)
			}
			back = append(p.items, back...)
		}
		for query := "limit=100&" + size; query != ""; {
			p := s.journalPage(t, "long-#", query)
			if len(p.items) > items || p.behind > 0 && (p.next == nil || p.to != float64(p.commits[len(p.commits)-1]-1)) {
				t.Fatalf("%s: %d items, %v behind", query, len(p.items), p.behind)
			}
			if query = ""; p.next != nil {
				query = fmt.Sprint("limit=100&cursor=", p.next, "&", size)
			}
			on = append(on, p.items...)
		}
		if !slices.Equal(back, want) || !slices.Equal(on, want) {
			t.Errorf("pages of %d items%s: %d back and %d on, want %d", items, filter, len(back), len(on), len(want))
		}
	}
	for _, items := range testsize.Of([]int{99, all - n - 1, all - n, all - n + 1, n - 1, n, n + 1, all - 1, all, all + 1, 5000}, []int{all - n, n - 1, n, n + 1, all}) {
		walk(items, "", whole.items)
	}
	lines := s.journalPage(t, "long-#", "limit=500&event=WriteLine")
	if len(lines.items) != 403 {
		t.Fatalf("%d lines", len(lines.items))
	}
	walk(100, "&event=WriteLine", lines.items)
	walk(1, "&activity=line&event=WriteLine", s.journalPage(t, "long-#", "limit=500&activity=line&event=WriteLine").items)
	walk(5000, "&event=Faulted", nil)
	for query, want := range map[string]struct {
		items          int
		commits        []int
		before, behind int
		on, back       bool // whether something is on either side
	}{
		"items=1":                      {1, []int{1}, 0, n - 1, true, false},
		"items=1000&limit=1":           {1000, []int{1}, 0, n - 1000, true, false},
		"items=1&before=2":             {1, []int{1}, n - 1, 0, true, true},
		"items=1000&tail=4":            {1000, []int{1, 2, 3, 4}, all - 1000, 0, false, true},
		"items=5000&tail=3":            {all - n, []int{2, 3, 4}, 0, 0, false, true},
		"items=1&after=1":              {1, []int{2}, 0, (all-n)/3 - 1, true, true},
		"items=2&event=WriteLine":      {2, []int{1}, 0, 400 - 2, true, false},
		"items=2&before=2&event=Fault": {0, nil, 0, 0, true, false},
	} {
		p := s.journalPage(t, "long-#", query)
		if len(p.items) != want.items || !slices.Equal(p.commits, want.commits) || int(p.before) != want.before || int(p.behind) != want.behind || (p.next != nil) != want.on || (p.previous != nil) != want.back {
			t.Errorf("%s: %d items of %v, %v before, %v behind, on to %v, back to %v, want %+v", query, len(p.items), p.commits, p.before, p.behind, p.next, p.previous, want)
		}
	}
}

func TestBadJournalQueries(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ticking(t, s, "asked-#", 2)
	for _, query := range []string{
		"journal?tail=0", "journal?tail=501", "journal?tail=-1", "journal?tail=x", "journal?tail=", "journal?tail=1&limit=1", "journal?before=0", "journal?before=-3", "journal?before=99999999999999999999",
		"journal?after=-1", "journal?after=9007199254740992", "journal?after=1.5", "journal?cursor=eHl6", "journal?cursor=LQ", "journal?cursor=MA", "journal?cursor=%25", "journal?cursor=MQ&tail=1", "journal?order=desc", "journal?items=0", "journal?items=-1", "journal?items=5001", "journal?items=x", "journal?cursor=MS4", "journal?cursor=MS4tMQ",
		"variables?at=0", "variables?at=-1", "variables?at=3", "variables?at=99999999999999999999", "variables?at=x", "variables?at=", "variables?from=1",
		"variables/changes?from=2&to=1", "variables/changes?to=0", "variables/changes?to=3", "variables/changes?from=3", "variables/changes?from=-1",
	} {
		if a := s.do(t, "GET", "/api/v1/instances/asked-#/"+query, ""); a.code() != "invalid-request" {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	for _, path := range []string{"journal?tail=1", "variables", "variables?at=7", "variables/changes"} {
		if a := s.do(t, "GET", "/api/v1/instances/nobody-#/"+path, ""); a.code() != "instance-not-found" {
			t.Errorf("%s of nobody: %d %s", path, a.status, a.body)
		}
	}
}

// Variables are told as they were after any commit, with who set them.
func TestVariablesAtACommit(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: vars-#
variables:
  n: {type: number, default: 0}
  long: string
  never: string
root:
  - for: {start: 5, end: 6}
    id: loop
    body:
      - event: vars-#
        id: tick
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
        id: add
  - setVariable: {variable: long, value: "`+strings.Repeat("l", 300)+`"}
    id: lengthen
  - event: vars-#
`)
	s.post(t, "/api/v1/definitions/vars-#/execute", `{"instanceId": "vars-#"}`, 200)
	for range 2 {
		s.post(t, "/api/v1/events/vars-#", `{}`, 200)
	}
	at := func(query string) (map[string]map[string]any, map[string]any) {
		t.Helper()
		v := s.get(t, "/api/v1/instances/vars-#/variables"+query).json(t)
		found := map[string]map[string]any{}
		for _, x := range v["variables"].([]any) {
			x := x.(map[string]any)
			name := fmt.Sprint(x["name"])
			if x["execution"] != 0.0 {
				name = fmt.Sprint(x["activityId"], ".", name)
			}
			found[name] = x
		}
		return found, v
	}
	one, page := at("?at=1")
	if page["complete"] != true || page["at"] != 1.0 || page["last"] != 3.0 || len(one) != 2 {
		t.Errorf("after the first commit: %v", page)
	}
	if n := one["n"]; n["value"] != 0.0 || n["by"] != 0.0 || n["commit"] != 1.0 || n["node"] != "node-1" || n["time"] == nil || n["byActivityId"] != nil {
		t.Errorf("n: %v", n)
	}
	if v := one["loop.body.CurrentValue"]; v["value"] != 5.0 || v["byActivityId"] != "loop" {
		t.Errorf("a variable of a round: %v", one)
	}
	two, _ := at("?at=2")
	if n := two["n"]; n["value"] != 1.0 || n["byActivityId"] != "add" || n["commit"] != 2.0 {
		t.Errorf("n in the second: %v", n)
	}
	last, page := at("")
	if page["at"] != 3.0 || len(last) != 2 { // the round's is gone
		t.Errorf("at the end: %v", page)
	}
	if n := last["n"]; n["value"] != 2.0 || n["byActivityId"] != "add" || n["commit"] != 3.0 {
		t.Errorf("n at the end: %v", n)
	}
	if long := last["long"]; long["clipped"] != true || long["byActivityId"] != "lengthen" {
		t.Errorf("the long one: %v", long)
	}
	changes := func(query string) map[string]string {
		t.Helper()
		v := s.get(t, "/api/v1/instances/vars-#/variables/changes"+query).json(t)
		found := map[string]string{}
		value := func(v any) any {
			if v == nil {
				return "none"
			}
			text := fmt.Sprint(v.(map[string]any)["value"])
			return text[:min(len(text), 3)]
		}
		for _, x := range v["changes"].([]any) {
			x := x.(map[string]any)
			if x["execution"] == 0.0 {
				found[fmt.Sprint(x["name"])] = fmt.Sprint(value(x["before"]), " ", value(x["after"]))
			} else {
				found["round"] += fmt.Sprint(value(x["before"]), " ", value(x["after"]), ";")
			}
		}
		return found
	}
	for query, want := range map[string]map[string]string{
		"?from=0&to=1": {"n": "none 0", "round": "none 5;"}, "?to=1": {"n": "none 0", "round": "none 5;"}, "?from=1&to=2": {"n": "0 1", "round": "none 6;5 none;"},
		"": {"n": "1 2", "long": "none lll", "round": "6 none;"}, "?from=1": {"n": "0 2", "long": "none lll", "round": "5 none;"}, "?from=3&to=3": {},
	} {
		if got := changes(query); !maps.Equal(got, want) {
			t.Errorf("changes%s: %q, want %q", query, got, want)
		}
	}
}
