package console

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

// starts starts an instance and waits until it stands in a sub-status.
func (s *site) starts(definition, until string, body map[string]any) string {
	s.t.Helper()
	id := s.run(definition, body)
	polltest.Eventually(s.t, id+" is "+until, func() bool {
		_, in := s.api(http.MethodGet, "/instances/"+id, nil)
		return in["subStatus"] == until
	})
	return id
}

var heading = regexp.MustCompile(`<th(?: class="number")?>([^<]+)</th>`)

// headings are those of a page's first table.
func headings(p page) (names []string) {
	text, _, _ := strings.Cut(p.text, "</thead>")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// The columns of the list are those of its address, or else those that the browser keeps, and an address
// that leads on has them too.
func TestAPersonChoosesColumns(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	s.publish("id: marks\nroot:\n  - setLabel: {name: team, value: '<b>sales'}\n  - event: go\n", "id: ends\nroot:\n  - writeLine: x\n")
	for range 51 {
		s.api(http.MethodPost, "/definitions/marks/dispatch", nil)
	}
	s.starts("marks", "Suspended", nil)
	s.starts("ends", "Finished", nil)
	v := s.as(auth.Admin)
	usual := []string{"Status", "Definition", "Instance", "Name", "Correlation", "Waits for", "Started", "Changed", "Duration", "Incidents"}
	p := v.check("/console/instances", http.StatusOK)
	if got := headings(p); !slices.Equal(got, usual) {
		t.Errorf("%v", got)
	}
	if !strings.Contains(p.text, `<span class="quiet" title="so far">`) || !regexp.MustCompile(`<td>[0-9.]+ (µs|ms|s)</td>`).MatchString(p.text) {
		t.Errorf("no duration, of one that runs and one that ended\n%s", p.text)
	}
	p = v.check("/console/instances?q=def:marks&columns=labels,status", http.StatusOK)
	if got := headings(p); !slices.Equal(got, []string{"Instance", "Labels", "Status"}) || !strings.Contains(p.text, `team:&lt;b&gt;sales</a>`) {
		t.Errorf("%v\n%s", got, p.text)
	}
	v.follow(p)
	next := nextPage(p)
	if next == "" {
		t.Fatal("no next page")
	}
	p = v.check(next, http.StatusOK)
	if got := headings(p); len(got) != 3 || !strings.Contains(p.text, `columns=labels%2Cstatus&amp;q=status%3Afaulted`) {
		t.Errorf("the next page has %v, and its links lead to others\n%s", got, p.text)
	}
	if got := headings(v.get("/console/instances")); !slices.Equal(got, usual) {
		t.Errorf("who opens an address keeps %v", got)
	}
	// A choice stands in the address and is kept.
	p = v.post("/console/columns", url.Values{"column": {"status", "labels"}, "back": {"/console/instances?done=theme&q=def%3Amarks"}})
	if p.status != http.StatusOK || p.url.Query().Get("columns") != "status,id,labels" || p.url.Query().Get("q") != "def:marks" {
		t.Errorf("%d %s", p.status, p.url)
	}
	if got := headings(v.get("/console/instances")); !slices.Equal(got, []string{"Status", "Instance", "Labels"}) {
		t.Errorf("kept are %v", got)
	}
	if p = v.check("/console/instances?columns=sattus,id,"+url.QueryEscape(hostile), http.StatusOK); !strings.Contains(p.text, "There is no column sattus, ") || len(headings(p)) != 1 {
		t.Errorf("%v\n%s", headings(p), p.text)
	}
	if p = v.post("/console/columns", url.Values{"column": {"labels", hostile}}); p.status != http.StatusUnprocessableEntity || strings.Contains(p.text, "<script>alert") {
		t.Errorf("a column that there is not: %d", p.status)
	}
	p = v.post("/console/columns", url.Values{"back": {"/console/instances?columns=id"}})
	if got := headings(p); p.url.RawQuery != "" || !slices.Equal(got, usual) {
		t.Errorf("none chosen: %s, %v", p.url, got)
	}
}

// A row shows five waits and says how many more there are; of five it says nothing more.
func TestARowSaysHowManyWaitsItLeavesOut(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	waits := func(n int) string { return strings.Repeat("      - event: go\n", n) }
	s.publish("id: seven\nroot:\n  - parallel:\n"+waits(7), "id: five\nroot:\n  - parallel:\n"+waits(5))
	s.starts("seven", "Suspended", nil)
	s.starts("five", "Suspended", nil)
	v := s.as(auth.Admin)
	const more = ` <span class="quiet">and 2 more</span>`
	for _, path := range []string{"/console/instances?q=def:seven", "/console/"} {
		if p := v.check(path, http.StatusOK); strings.Count(p.text, more) != 1 || strings.Count(p.text, " more</span>") != 1 {
			t.Errorf("%s\n%s", path, p.text)
		}
	}
	if p := v.check("/console/instances?q=def:five", http.StatusOK); strings.Contains(p.text, " more</span>") {
		t.Errorf("five are more than five\n%s", p.text)
	}
}

// What is done to the rows that a person chose is done to these alone, and who refuses is told.
func TestChosenRows(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.publish("id: waits\nroot:\n  - event: go\n", "id: breaks\nroot:\n  - fault: no\n")
	var ids []string
	for range 3 {
		ids = append(ids, s.starts("waits", "Suspended", nil))
	}
	broken := s.starts("breaks", "Faulted", nil)
	v := s.as(auth.Operator)
	p := v.check("/console/instances", http.StatusOK)
	for _, id := range append(slices.Clone(ids), broken) {
		if !strings.Contains(p.text, `form="chosen" name="selected" value="`+id+`"`) {
			t.Errorf("%s cannot be chosen", id)
		}
	}
	form := func(more ...string) url.Values {
		return url.Values{"key": {fmt.Sprint("k-", more)}, "back": {"/console/jobs"}, "selected": append([]string{""}, more...)}
	}
	// It is tried: of two, the one that is not faulted would refuse.
	try := form(broken, ids[0])
	try.Set("b.kind", "retry")
	try.Set("q.dryRun", "true")
	if p = v.post("/console/do/createJob", try); p.status != http.StatusOK || !strings.Contains(p.text, "is 2 instances. Of the newest 2, 1 would take it.") || !strings.Contains(p.text, "instance-not-faulted") {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	cancel := form(ids[0], ids[1])
	cancel.Set("b.kind", "cancel")
	if p = s.as(auth.Viewer).post("/console/do/createJob", cancel); p.status != http.StatusForbidden || strings.Count(p.text, `name="selected"`) != 3 {
		t.Errorf("a viewer: %d\n%s", p.status, p.text)
	}
	if p = v.post("/console/do/createJob", cancel); p.status != http.StatusOK || p.url.Path != "/console/jobs" || !strings.Contains(p.text, "id:"+strings.Join(sorted(ids[0], ids[1]), ",")) {
		t.Errorf("%d %s\n%s", p.status, p.url, p.text)
	}
	for _, id := range ids[:2] {
		await(t, s, id, "Cancelled")
	}
	polltest.Eventually(t, "the job ends", func() bool { return strings.Contains(v.get("/console/jobs").text, "2 took it (cancelled 2)") })
	await(t, s, ids[2], "Suspended")
	await(t, s, broken, "Faulted")
	// None chosen is not all.
	none := form()
	none.Set("b.kind", "delete")
	if p = v.post("/console/do/createJob", none); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, "No row is chosen") {
		t.Errorf("none: %d\n%s", p.status, p.text)
	}
	// Two are compared.
	for n, want := range map[int]int{0: http.StatusUnprocessableEntity, 1: http.StatusUnprocessableEntity, 3: http.StatusUnprocessableEntity} {
		if p = v.get("/console/chosen?" + form(ids[:n]...).Encode()); p.status != want {
			t.Errorf("%d are compared: %d", n, p.status)
		}
	}
	if p = v.get("/console/chosen?" + form(ids[:2]...).Encode()); p.url.Path != "/console/compare" || p.url.Query().Get("a") != ids[0] || p.url.Query().Get("b") != ids[1] {
		t.Errorf("two are compared at %s", p.url)
	}
	// What was chosen outlives a session.
	if p = s.visitor().post("/console/do/createJob", cancel); p.status != http.StatusUnauthorized || strings.Count(p.text, `name="form.selected"`) != 3 {
		t.Errorf("a stranger: %d\n%s", p.status, p.text)
	}
}

func sorted(texts ...string) []string { return slices.Sorted(slices.Values(texts)) }

// Lists say how many there are, and how many run of each version.
func TestListsSayHowManyThereAre(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	s.publish("id: waits\nroot:\n  - event: 'old <i>'\n    trigger: true\n  - event: go\n", "id: breaks\nroot:\n  - fault: no\n",
		"id: web\nroot:\n  - httpEndpoint: {path: 'shop/orders/{id}', supportedMethods: [GET, POST]}\n    trigger: true\n  - writeLine: x\n", "id: nightly\nroot:\n  - {cron: '0 0 3 * * *', trigger: true}\n")
	for range 2 {
		s.starts("waits", "Suspended", nil)
	}
	s.publish("id: waits\nroot:\n  - event: new\n    trigger: true\n  - event: gone\n")
	for range 3 {
		s.starts("waits", "Suspended", map[string]any{"correlationId": "c"})
	}
	s.starts("breaks", "Faulted", nil)
	v := s.as(auth.Admin)
	says := func(path string, want ...string) {
		t.Helper()
		var p page
		polltest.Eventually(t, path+" is counted", func() bool { // a node counts every two seconds
			p = v.get("/console/" + path)
			return strings.Contains(p.text, want[0])
		})
		v.follow(v.check("/console/"+path, http.StatusOK))
		for _, text := range want[1:] {
			if !strings.Contains(p.text, text) {
				t.Errorf("%s: no %q in\n%s", path, text, p.text)
			}
		}
	}
	says("instances", `>all <span class="quiet">6</span>`, `>running <span class="quiet">5</span>`, `>suspended <span class="quiet">5</span>`, `>faulted <span class="quiet">1</span>`, `>finished <span class="quiet">0</span>`, "6 of 6 rows")
	says("instances?q=def:waits+version:1", "2 of 2 rows")
	says("instances?q=def:waits+status:running", "5 of 5 rows")
	if p := v.get("/console/instances?q=corr:c"); !strings.Contains(p.text, ">3 rows, at revision") {
		t.Errorf("of a correlation it is not known how many there are\n%s", p.text)
	}
	says("definitions", `<b>3</b> v2</a>, <a`, `<b>2</b> v1</a>`, `event <a href="/console/events?name=new">new</a>`, "GET /workflows/shop/orders/{id}", "POST /workflows/shop/orders/{id}", ">a schedule</a>")
	says("definitions/waits", `>running <span class="quiet">5</span>`, `>faulted <span class="quiet">0</span>`, `>finished <span class="quiet">0</span>`)
}

// A run can be of another version than the published one, and can be waited for.
func TestARunIsOfAVersionAndWaitedFor(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	for _, said := range []string{"one", "two"} {
		s.publish("id: says\noutputs: {said: {type: string}}\nroot:\n  - setOutput: {outputName: said, outputValue: " + said + "}\n")
	}
	s.publish("id: waits\nroot:\n  - event: go\n")
	v := s.as(auth.Admin)
	p := v.check("/console/definitions/says", http.StatusOK)
	for _, want := range []string{`<option value="">the published one, 2</option>`, `<option value="2">2 (published)</option>`, `<option value="1">1</option>`, `formaction="/console/do/executeDefinition"`} {
		if !strings.Contains(p.text, want) {
			t.Errorf("no %q in\n%s", want, p.text)
		}
	}
	if p = v.check("/console/definitions/says?version=1", http.StatusOK); !strings.Contains(p.text, `<option value="1" selected>`) {
		t.Errorf("the version of the page is not chosen\n%s", p.text)
	}
	for version, want := range map[string]string{"": "two", "2": "two", "1": "one"} {
		run := url.Values{"p.id": {"says"}, "j.version": {version}, "wait": {"30"}, "key": {"k-" + version}, "back": {"/console/definitions/says"}}
		if p = v.post("/console/do/executeDefinition", run); p.status != http.StatusOK || !strings.Contains(p.text, "&#34;said&#34;: &#34;"+want+"&#34;") || !strings.Contains(p.text, `class="status finished"`) {
			t.Errorf("version %q: %d\n%s", version, p.status, p.text)
		}
	}
	p = v.post("/console/do/executeDefinition", url.Values{"p.id": {"waits"}, "wait": {"1"}, "key": {"k"}, "back": {"/console/definitions/waits"}})
	if p.status != http.StatusOK || !strings.Contains(p.text, `class="status suspended"`) {
		t.Errorf("one that does not end: %d\n%s", p.status, p.text)
	}
	p = v.post("/console/do/dispatchDefinition", url.Values{"p.id": {"says"}, "j.version": {"7"}, "wait": {"10"}, "key": {"k-7"}, "back": {"/console/definitions/says"}})
	if p.status != http.StatusNotFound || !strings.Contains(p.text, `name="wait"`) {
		t.Errorf("a version that there is not: %d\n%s", p.status, p.text)
	}
}

// The page of events has who waits for which, page by page, and what was sent lately with nearly that name.
func TestEventsSayWhoWaits(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	name := "paid <b>&\" ü"
	s.publish(fmt.Sprintf("id: waits\nroot:\n  - event: %q\n", name), "id: other\nroot:\n  - event: approved\n", "id: task\nroot:\n  - runTask: {taskName: pack}\n")
	const many = 60
	for i := range many {
		s.api(http.MethodPost, "/definitions/waits/dispatch", map[string]any{"correlationId": fmt.Sprint("c-", i)})
	}
	one := s.starts("other", "Suspended", map[string]any{"correlationId": hostile[:40]})
	s.starts("task", "Suspended", nil)
	v := s.as(auth.Admin)
	row := regexp.MustCompile(`<tr><td><a class="id" href="/console/instances/([^"]+)"`)
	rows := func(at string) (ids []string) {
		for at != "" {
			p := v.check(at, http.StatusOK)
			n := 0
			for _, m := range row.FindAllStringSubmatch(p.text, -1) {
				ids = append(ids, m[1])
				n++
			}
			if n > 50 {
				t.Errorf("%s has %d rows", at, n)
			}
			at = nextPage(p)
		}
		return slices.Compact(sorted(ids...))
	}
	polltest.Eventually(t, "all wait", func() bool { return len(rows("/console/events")) == many+1 })
	if got := rows("/console/events?name=" + url.QueryEscape(name)); len(got) != many || slices.Contains(got, one) {
		t.Errorf("%d wait for it", len(got))
	}
	if got := rows("/console/events?name=approved"); len(got) != 1 || got[0] != one {
		t.Errorf("%v wait for it", got)
	}
	if got := rows("/console/events?name=" + url.QueryEscape(name) + "&correlationId=c-7"); len(got) != 1 {
		t.Errorf("%v wait for it with that correlation", got)
	}
	p := v.check("/console/events", http.StatusOK)
	if strings.Contains(p.text, "paid <b>") || !strings.Contains(p.text, ">approved</a></th>") && !strings.Contains(p.text, ">paid &lt;b&gt;&amp;&#34; ü</a></th>") {
		t.Errorf("%s", p.text)
	}
	s.api(http.MethodPost, "/events/aproved", map[string]any{"correlationId": hostile[:40]})
	s.api(http.MethodPost, "/events/other", nil)
	p = v.check("/console/events?name=approved", http.StatusOK)
	if !strings.Contains(p.text, `<a href="/console/events?name=aproved">aproved</a>`) || strings.Contains(p.text, "name=other") || !strings.Contains(p.text, "it went into the") {
		t.Errorf("%s", p.text)
	}
	v.follow(p)
	if p = v.check("/console/events?name=nobody", http.StatusOK); !strings.Contains(p.text, "Nobody waits for it.") {
		t.Errorf("%s", p.text)
	}
}

// The page of tasks says which worker has each, and how it went before; what workers say is text.
func TestTasksSayWhoHasThem(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	s.publish("id: task\nroot:\n  - runTask: {taskName: pack}\n")
	s.starts("task", "Suspended", nil)
	v := s.as(auth.Admin)
	if p := v.check("/console/tasks", http.StatusOK); strings.Contains(p.text, ">taken<") || strings.Contains(p.text, "Free;") {
		t.Errorf("nobody had it: %s", p.text)
	}
	_, got := s.api(http.MethodPost, "/tasks/claim", map[string]any{"names": []string{"pack"}, "worker": "one & <b>", "wait": "20s"})
	items, _ := got["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("%v", got)
	}
	task := items[0].(map[string]any)
	at := "/tasks/" + url.PathEscape(task["taskId"].(string))
	s.api(http.MethodPost, at+"/heartbeat", map[string]any{"claim": task["claim"], "progress": 0, "text": hostile})
	p := v.check("/console/tasks", http.StatusOK)
	if !strings.Contains(p.text, ">taken</span> by <b>one &amp; &lt;b&gt;</b> ") || !strings.Contains(p.text, ", 0% done: ") || !strings.Contains(p.text, "its lease ends <time ") {
		t.Errorf("%s", p.text)
	}
	s.api(http.MethodPost, at+"/fail", map[string]any{"claim": task["claim"], "retry": true, "message": "jam <i>"})
	if p = v.check("/console/tasks", http.StatusOK); !strings.Contains(p.text, "Free; one &amp; &lt;b&gt; had it last: jam &lt;i&gt;, attempts: 1") || strings.Contains(p.text, ">taken<") {
		t.Errorf("%s", p.text)
	}
}
