package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

func TestActivitiesAreFoundByWhatIsSaidOfThem(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	name := regexp.MustCompile(`<summary><b>([^<]+)</b>`)
	found := func(q string) (names []string) {
		for _, m := range name.FindAllStringSubmatch(v.check("/console/activities?q="+url.QueryEscape(q), http.StatusOK).text, -1) {
			names = append(names, m[1])
		}
		return names
	}
	all := found("")
	if len(all) < 40 {
		t.Errorf("%d activities", len(all))
	}
	p := v.check("/console/activities", http.StatusOK)
	for _, want := range []string{"- writeLine: Order ${{ inputs.orderId }}", "Elsa.SendHttpRequest", "WaitAll", "known as it runs", "no effect", "it may do something there", "starts instances", "CurrentValue"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("no %q", want)
		}
	}
	if got := found("WRITELINE"); len(got) == 0 || got[0] != "writeLine" {
		t.Errorf("of its name: %v", got)
	}
	if got := found("header url method"); !slices.Contains(got, "sendHttpRequest") || slices.Contains(got, "writeLine") {
		t.Errorf("of three words: %v", got)
	}
	if got := found("zebra crossing"); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}

	used := func(q string, wants ...string) {
		t.Helper()
		p := v.check("/console/activities?q="+q, http.StatusOK)
		for _, want := range wants {
			if !strings.Contains(p.text, want) {
				t.Errorf("%s: no %q in\n%s", q, want, p.text)
			}
		}
	}
	used("Elsa.Fault", "No published definition uses it.")
	for i := range 21 {
		if status, answer := s.api(http.MethodPost, "/definitions", fmt.Sprintf("id: used-%02d\nroot:\n  - fault: x\n", i)); status >= 300 {
			t.Fatal(status, answer)
		}
	}
	used("Elsa.Fault", "used by 21", `<a href="/console/definitions/used-19">used-19</a>`, "the first 20 of 21")
	if p := v.get("/console/activities?q=Elsa.Fault"); strings.Contains(p.text, "used-20") {
		t.Error("more than 20 are named")
	}
}

func TestTheAuditPageTellsWhoDidWhat(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit")
	s := open(t, true, func(c *node.Config) { c.AuditLog = file })
	two := s.join("two")
	admin := s.as(auth.Admin)
	admin.post("/console/do/pause", nil)
	s.api(http.MethodPost, "/unpause", nil)
	other := *s
	other.base = "http://" + two.HTTPAddr()
	other.api(http.MethodDelete, "/definitions/"+url.PathEscape("no such <b>"), nil)
	other.api(http.MethodDelete, "/definitions/nothing", nil)
	s.as(auth.Operator).post("/console/do/pause", nil)

	var p page
	polltest.Eventually(t, "both nodes are asked", func() bool {
		p = admin.check("/console/audit", http.StatusOK)
		return strings.Contains(p.text, "deleteDefinition")
	})
	for _, want := range []string{"key:the-admin", "key:the-operator", "by the console", "<b class=\"bad\">denied</b>", "<b class=\"bad\">failed</b>", "the cluster", "nothing"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("no %q\n%s", want, p.text)
		}
	}
	if strings.Index(p.text, "key:the-operator") > strings.Index(p.text, "unpause") {
		t.Error("the newest is not first")
	}
	if strings.Contains(p.text, "such <b>") {
		t.Error("what somebody wrote is markup")
	}
	rows := func(filter string) int {
		return strings.Count(admin.check("/console/audit?"+filter, http.StatusOK).text, "<br><span class=\"quiet\">")
	}
	for filter, want := range map[string]int{"who=key:the-operator": 1, "operation=unpause": 1, "operation=pause&result=denied": 1, "operation=pause&result=done": 1, "target=the+cluster": 3, "target=no+way": 0, "who=key:the-operator&result=done": 0} {
		if got := rows(filter); got != want {
			t.Errorf("%s: %d rows, want %d", filter, got, want)
		}
	}
	if p := admin.get("/console/raw/nodes/two/audit"); p.status != http.StatusOK || !strings.Contains(p.text, "deleteDefinition") {
		t.Errorf("of one node: %d %s", p.status, p.text)
	}
	if p := admin.get("/console/raw/audit?result=maybe"); p.status != http.StatusUnprocessableEntity && p.status != http.StatusBadRequest {
		t.Errorf("a result that is none: %d", p.status)
	}
	for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Designer} {
		v := s.as(role)
		if p := v.check("/console/audit", http.StatusOK); !strings.Contains(p.text, "this needs the role admin") || strings.Contains(p.text, "key:the-admin") {
			t.Errorf("%s sees\n%s", role, p.text)
		}
		for _, raw := range []string{"audit", "nodes/two/audit", "nodes/one/audit"} {
			if p := v.get("/console/raw/" + raw); p.status != http.StatusForbidden {
				t.Errorf("%s: /%s answers %d", role, raw, p.status)
			}
		}
	}
}

// A node without credentials and without a file keeps none, and says so.
func TestANodeWithoutAnAuditLogSaysSo(t *testing.T) {
	t.Parallel()
	v := open(t, false).as(auth.Admin)
	v.post("/console/do/pause", nil)
	if p := v.check("/console/audit", http.StatusOK); !strings.Contains(p.text, "keeps no audit log") || strings.Contains(p.text, "<tbody>") {
		t.Errorf("%s", p.text)
	}
}

var dueAt = regexp.MustCompile(`<tr(?: class="late")?><td><time datetime="([^"]+)"`)

// Timers come in the order of their times, whatever shards they lie in, and once each.
func TestTimersComeInTheirOrder(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	for _, text := range []string{
		"id: later\ninputs: {minutes: {type: integer}}\nroot:\n  - delay: ${{ string(inputs.minutes) + 'm' }}\n",
		"id: soon\nroot:\n  - delay: 5s\n",
		"id: nightly\nroot:\n  - {cron: '0 0 3 * * *', trigger: true}\n",
		"id: often\nroot:\n  - {timer: 20m, trigger: true}\n",
	} {
		if status, answer := s.api(http.MethodPost, "/definitions", text); status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
	}
	const n = 130
	var last string
	for i := range n {
		_, answer := s.api(http.MethodPost, "/definitions/later/dispatch", map[string]any{"input": map[string]any{"minutes": (i*37)%n + 10}})
		last, _ = answer["instanceId"].(string)
	}
	await(t, s, last, "Suspended")
	read := func(at string) (times []time.Time, next string) {
		p := v.check(at, http.StatusOK)
		for _, m := range dueAt.FindAllStringSubmatch(p.text, -1) {
			due, err := time.Parse(time.RFC3339Nano, m[1])
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, due)
		}
		if m := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(p.text); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
		return times, next
	}
	var all []time.Time
	polltest.Eventually(t, "all wait", func() bool {
		all = nil
		for at := "/console/timers?kind=timers"; at != ""; {
			times, next := read(at)
			all, at = append(all, times...), next
		}
		return len(all) == n
	})
	if !slices.IsSortedFunc(all, time.Time.Compare) {
		t.Error("they are not in the order of their times")
	}
	p := v.check("/console/timers", http.StatusOK)
	for _, want := range []string{"nightly", "often", "cron", "Due in the next hour: ", `class="due"`} {
		if !strings.Contains(p.text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, late := range []string{`class="late"`, ">late<", " late: "} { // an id may have the letters
		if strings.Contains(p.text, late) {
			t.Errorf("something is late: %s", late)
		}
	}
	if _, next := read("/console/timers"); !strings.Contains(next, "kind=timers") {
		t.Errorf("the next page is %q", next)
	}
	// Of the 50 that come at once, those of 60 minutes are not known to be all; it looks for more.
	var in int
	if m := regexp.MustCompile(`Due in the next hour: (\d+)<`).FindStringSubmatch(p.text); m != nil {
		_, _ = fmt.Sscan(m[1], &in)
	}
	if in < 48 || in > 56 {
		t.Errorf("in the next hour %d are due", in)
	}
	form := regexp.MustCompile(`name="p.id" value="nightly"><input type="hidden" name="p.activity" value="([^"]+)"><input type="hidden" name="b.dueAt" value="([^"]+)"`).FindStringSubmatch(p.text)
	if form == nil {
		t.Fatalf("no way to skip\n%s", p.text)
	}
	skip := url.Values{"p.id": {"nightly"}, "p.activity": {form[1]}, "b.dueAt": {form[2]}, "key": {"skip"}, "back": {"/console/timers"}}
	for range 2 { // the second time it is another one that comes next
		if p := v.post("/console/do/skipSchedule", skip); p.status != http.StatusOK || strings.Contains(p.text, form[2]) {
			t.Errorf("skipped: %d\n%s", p.status, p.text)
		}
	}
	fire := url.Values{"p.id": {"nightly"}, "p.activity": {form[1]}, "key": {"fire"}, "back": {"/console/timers"}}
	if p := v.post("/console/do/fireSchedule", fire); p.status != http.StatusOK || !strings.Contains(p.text, "/console/instances/") {
		t.Errorf("started: %d\n%s", p.status, p.text)
	}
	_, answer := s.api(http.MethodPost, "/definitions/soon/dispatch", nil)
	await(t, s, answer["instanceId"].(string), "Suspended")
	v.post("/console/do/pause", nil)
	polltest.Eventually(t, "it is late", func() bool {
		return strings.Contains(v.check("/console/timers", http.StatusOK).text, "1 of these is late") || finished(s, answer["instanceId"].(string))
	})
	if p := v.get("/console/raw/timers?cursor=MGYvMDAwMA"); p.status != http.StatusUnprocessableEntity {
		t.Errorf("a cursor of another program: %d", p.status)
	}
}

func finished(s *site, id string) bool {
	_, in := s.api(http.MethodGet, "/instances/"+id, nil)
	return in["subStatus"] == "Finished"
}

// copyOf is a browser into which somebody copied the cookies of another one.
func (v *visitor) copyOf(base string) *visitor {
	v.t.Helper()
	at, err := url.Parse(v.base)
	if err != nil {
		v.t.Fatal(err)
	}
	to := *v.site
	to.base = base
	c := to.visitor()
	there, err := url.Parse(base)
	if err != nil {
		v.t.Fatal(err)
	}
	var cookies []*http.Cookie
	for _, kept := range v.client.Jar.Cookies(at) {
		cookies = append(cookies, &http.Cookie{Name: kept.Name, Value: kept.Value, Path: "/", Secure: true})
	}
	c.client.Jar.SetCookies(there, cookies)
	return c
}

// TestASignOutCountsOnEveryNode holds that a cookie that somebody copied opens nothing after
// its person has signed out, on any node, and that others are left alone.
func TestASignOutCountsOnEveryNode(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	two := s.join("two")
	base := "http://" + two.HTTPAddr()
	mine, also, theirs := s.as(auth.Admin), s.as(auth.Admin), s.as(auth.Viewer)
	here, there := mine.copyOf(s.base), mine.copyOf(base)
	alsoThere := also.copyOf(base)
	for _, c := range []*visitor{here, there, alsoThere} {
		c.check("/console/me", http.StatusOK)
	}
	resp, err := here.client.Get(s.base + "/console/stream?topics=cluster")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %d, %v", resp.StatusCode, err)
	}
	stream := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(resp.Body) // until the node ends it
		stream <- string(rest)
	}()
	if p := mine.post("/console/sign-out", url.Values{}); p.url.Path != "/console/sign-in" {
		t.Fatalf("signed out: %d %s", p.status, p.url)
	}
	if p := here.check("/console/me", http.StatusUnauthorized); !strings.Contains(p.text, "somebody signed out of this session") {
		t.Errorf("%s", p.text)
	}
	polltest.Eventually(t, "the other node refuses it", func() bool { return there.get("/console/me").status == http.StatusUnauthorized })
	if p := there.post("/console/do/pause", nil); p.status != http.StatusUnauthorized {
		t.Errorf("it acts: %d", p.status)
	}
	select {
	case text := <-stream:
		if !strings.Contains(text, `"credentials"`) {
			t.Errorf("the stream ends with\n%s", text)
		}
	case <-time.After(time.Minute):
		t.Error("a stream of the session goes on")
	}
	also.check("/console/me", http.StatusOK)
	alsoThere.check("/console/me", http.StatusOK)
	if p := also.post("/console/sign-out", url.Values{"everywhere": {"yes"}}); p.url.Path != "/console/sign-in" {
		t.Fatalf("signed out: %d %s", p.status, p.url)
	}
	polltest.Eventually(t, "all of the person are refused", func() bool { return alsoThere.get("/console/me").status == http.StatusUnauthorized })
	theirs.check("/console/me", http.StatusOK)
	// The key counts all the same, for programs and for a new session.
	if status, _ := s.api(http.MethodGet, "/nodes", nil); status != http.StatusOK {
		t.Errorf("the key answers %d", status)
	}
	polltest.Eventually(t, "one can sign in again", func() bool {
		v := s.visitor()
		return v.post("/console/sign-in", url.Values{"apikey": {s.keys[auth.Admin]}, "next": {"/console/me"}}).status == http.StatusOK
	})
	// Without a session, or twice, it is no mistake.
	for range 2 {
		if p := mine.post("/console/sign-out", nil); p.url.Path != "/console/sign-in" || p.status != http.StatusOK {
			t.Errorf("without a session: %d %s", p.status, p.url)
		}
	}
}

// What a person sees of himself.
func TestOnesOwnPage(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	p := s.as(auth.Operator).check("/console/me", http.StatusOK)
	for _, want := range []string{"key:the-operator", "an API key", "Sign out everywhere", "2 h 0 min", "<b>viewer</b> ✓", "<b>operator</b> ✓", "<b>designer</b> may", "(not you)"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("no %q\n%s", want, p.text)
		}
	}
	if p := open(t, false).as(auth.Admin).check("/console/me", http.StatusOK); strings.Contains(p.text, "Sign out") || !strings.Contains(p.text, "asks for no credentials") {
		t.Errorf("%s", p.text)
	}
}
