package console

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/weft-run/weft/internal/auth"
)

// plain are the pages that need nothing to be there.
var plain = []string{"", "instances", "instances?q=status:faulted", "definitions", "publish", "events", "events?name=paid", "queue", "dead-letters", "tasks", "waiting", "waiting?others=true", "timers", "timers?kind=timers", "timers?kind=schedules", "activities", "activities?q=write+line", "activities?q=" + url.QueryEscape(hostile), "audit", "audit?target=" + url.QueryEscape(hostile), "jobs", "cluster", "me", "receipts", "receipts?key=none", "go?q=nobody", "compare", "compare?a=nobody&b=" + url.QueryEscape(hostile)}

// policy lets a page run what bears its nonce, and nothing else.
var policy = regexp.MustCompile(`^default-src 'none'; script-src 'nonce-([A-Z2-7]+)'; style-src 'nonce-([A-Z2-7]+)'; img-src 'self' data:; `)

// check reads a page as a browser does and finds what is wrong with it.
func (v *visitor) check(path string, want int) page {
	v.t.Helper()
	p := v.get(path)
	if p.status != want {
		v.t.Errorf("%s: %d, want %d\n%s", path, p.status, want, p.text)
	}
	nonce := policy.FindStringSubmatch(p.head.Get("Content-Security-Policy"))
	if nonce == nil || nonce[1] != nonce[2] || len(nonce[1]) < 20 {
		v.t.Fatalf("%s: policy %q", path, p.head.Get("Content-Security-Policy"))
	}
	doc, err := html.Parse(strings.NewReader(p.text))
	if err != nil {
		v.t.Fatal(err)
	}
	ids, labelled := map[string]int{}, map[string]bool{}
	var walk func(n *html.Node, inLabel bool)
	var fields []*html.Node
	walk = func(n *html.Node, inLabel bool) {
		if n.Type == html.ElementNode {
			at := map[string]string{}
			for _, a := range n.Attr {
				at[a.Key] = a.Val
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					v.t.Errorf("%s: <%s %s=%q>", path, n.Data, a.Key, a.Val)
				}
			}
			if id := at["id"]; id != "" {
				ids[id]++
			}
			switch n.Data {
			case "script":
				if !strings.HasPrefix(at["src"], "/console/static/") || n.FirstChild != nil || at["nonce"] != nonce[1] {
					v.t.Errorf("%s: a script in the page: %v", path, at)
				}
			case "link":
				if at["rel"] == "stylesheet" && at["nonce"] != nonce[1] {
					v.t.Errorf("%s: a style without the nonce: %v", path, at)
				}
			case "style":
				v.t.Errorf("%s: a style in the page", path)
			case "img", "iframe", "object", "embed", "base":
				v.t.Errorf("%s: <%s>", path, n.Data)
			case "label":
				inLabel = true
				labelled[at["for"]] = true
			case "input", "textarea", "select":
				if at["type"] != "hidden" && !inLabel && at["aria-label"] == "" {
					fields = append(fields, n)
				}
			case "form":
				if !strings.HasPrefix(at["action"], "/console/") {
					v.t.Errorf("%s: a form goes to %q", path, at["action"])
				}
			case "a":
				if href := at["href"]; href != "" && !strings.HasPrefix(href, "/console/") && !strings.HasPrefix(href, "#") {
					v.t.Errorf("%s: a link to %q", path, href)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, inLabel)
		}
	}
	walk(doc, false)
	for id, n := range ids {
		if n > 1 {
			v.t.Errorf("%s: %d elements have the id %s", path, n, id)
		}
	}
	for _, f := range fields {
		id := ""
		for _, a := range f.Attr {
			if a.Key == "id" {
				id = a.Val
			}
		}
		if id == "" || !labelled[id] {
			v.t.Errorf("%s: <%s %v> has no label", path, f.Data, f.Attr)
		}
	}
	return p
}

var link = regexp.MustCompile(`href="(/console/[^"]*)"`)

// follow opens every link of a page.
func (v *visitor) follow(p page) {
	v.t.Helper()
	for _, m := range link.FindAllStringSubmatch(p.text, -1) {
		to := html.UnescapeString(m[1])
		if got := v.get(to); got.status >= 400 {
			v.t.Errorf("%s links to %s, which answers %d", p.url, to, got.status)
		}
	}
}

func TestPagesOfAnEmptyCluster(t *testing.T) {
	t.Parallel()
	v := open(t, false).as(auth.Admin)
	for _, path := range plain {
		v.follow(v.check("/console/"+path, http.StatusOK))
	}
	v.check("/console/nothing", http.StatusNotFound)
	v.check("/console/instances/nothing", http.StatusNotFound)
	v.check("/console/definitions/nothing", http.StatusNotFound)
	v.check("/console/instances?q=statu:x", http.StatusOK)
	if p := v.get("/console/instances?q=statu:x"); !strings.Contains(p.text, "^") {
		t.Error("a mistake in the search line has no caret")
	}
}

const hostile = `</textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>" onfocus="alert(1)` + "\u202e ünïcode 漢字"

const definition = `id: shop
name: '<b>shop</b>'
inputs:
  what: {type: string}
variables:
  said: {type: string}
root:
  - setVariable: {variable: said, value: "${{ inputs.what }}"}
  - writeLine: ${{ inputs.what }}
  - event: paid
  - runTask: {taskName: pack, payload: "${{ inputs.what }}"}
`

// fill makes instances that wait for an event and for a task, that faulted and ended, and a queue.
func fill(t *testing.T, s *site) (waits, faulted string) {
	t.Helper()
	if status, answer := s.api(http.MethodPost, "/definitions", definition); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	if status, answer := s.api(http.MethodPost, "/definitions", "id: breaks\nroot:\n  - fault: no <i>stock</i>\n"); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	start := func(id string, body any) string {
		status, answer := s.api(http.MethodPost, "/definitions/"+id+"/dispatch", body)
		if status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		return answer["instanceId"].(string)
	}
	input := map[string]any{"input": map[string]any{"what": hostile}, "correlationId": hostile[:40]}
	waits, faulted = start("shop", input), start("breaks", nil)
	task := start("shop", input)
	await(t, s, waits, "Suspended")
	await(t, s, task, "Suspended")
	await(t, s, faulted, "Faulted")
	s.api(http.MethodPost, "/events/paid", map[string]any{"instanceId": task, "payload": hostile})
	s.api(http.MethodPost, "/events/"+url.PathEscape("nobody<waits>"), map[string]any{"correlationId": hostile[:40]})
	return waits, faulted
}

func await(t *testing.T, s *site, id, status string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		_, in := s.api(http.MethodGet, "/instances/"+id, nil)
		if in["subStatus"] == status {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %v, want %s", id, in["subStatus"], status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestPagesOfHostileDataForEachRole(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	waits, faulted := fill(t, s)
	for _, role := range roles {
		v := s.as(role)
		for _, path := range plain {
			v.check("/console/"+path, http.StatusOK)
		}
		var looked strings.Builder
		for _, id := range []string{waits, faulted} {
			for _, tab := range []string{"", "waits", "journal", "timeline", "variables", "incidents", "data", "lineage", "owners"} {
				p := v.check("/console/instances/"+id+"?tab="+tab, http.StatusOK)
				looked.WriteString(p.text)
			}
		}
		v.follow(v.check("/console/instances/"+waits, http.StatusOK))
		v.follow(v.check("/console/instances", http.StatusOK))
		for _, path := range []string{"instances/" + waits + "?tab=variables&from=0&to=1", "instances/" + waits + "/repair", "instances/" + faulted + "/repair?activity=" + url.QueryEscape(hostile), "compare?a=" + waits + "&b=" + faulted, "compare?a=" + waits} {
			looked.WriteString(v.check("/console/"+path, http.StatusOK).text)
		}
		v.check("/console/definitions/shop", http.StatusOK)
		v.check("/console/publish?from=shop", http.StatusOK)
		v.check("/console/definitions/shop/edit", http.StatusOK)
		v.check("/console/definitions/shop/tests", http.StatusOK)
		v.follow(v.check("/console/definitions/shop/versions", http.StatusOK))
		v.check("/console/definitions/shop/flip?after=1&revision=1", http.StatusOK)
		v.check("/console/events?name="+url.QueryEscape(hostile), http.StatusOK)
		v.check("/console/receipts?key="+url.QueryEscape(hostile), http.StatusOK)
		looked.WriteString(v.check("/console/go?q="+url.QueryEscape(hostile[:40]), http.StatusOK).text)
		if text := looked.String(); strings.Contains(text, "<script>alert") || strings.Contains(text, "<img src=x") || strings.Contains(text, "<i>stock") {
			t.Errorf("%s: what somebody wrote is markup", role)
		}
		disabled := strings.Contains(v.get("/console/instances/"+waits).text, "this needs the role operator")
		if disabled != (role < auth.Operator) {
			t.Errorf("%s: the cancel is disabled: %v", role, disabled)
		}
		if p := v.post("/console/do/pause", url.Values{"back": {"/console/cluster"}}); (p.status == http.StatusForbidden) != (role < auth.Admin) {
			t.Errorf("%s: pause answers %d", role, p.status)
		}
		s.api(http.MethodPost, "/unpause", nil)
	}
}

// What is typed into the one field of every page leads to what it is.
func TestWhatIsLookedForIsFound(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	waits, _ := fill(t, s)
	for q, want := range map[string]string{
		waits:             "/console/instances/" + waits,
		"status:faulted":  "/console/instances?q=status%3Afaulted",
		"":                "/console/instances?q=",
		" " + waits + " ": "/console/instances/" + waits,
	} {
		if p := v.get("/console/go?q=" + url.QueryEscape(q)); p.url.RequestURI() != want || p.status != http.StatusOK {
			t.Errorf("%q leads to %s with %d, want %s", q, p.url.RequestURI(), p.status, want)
		}
	}
	status, _ := s.api(http.MethodPost, "/definitions/breaks/dispatch", map[string]any{"correlationId": "two words"})
	if status >= 300 {
		t.Fatal(status)
	}
	for q, want := range map[string][]string{
		"shop":      {"<h2>Definition</h2>", "/console/definitions/shop"},
		"two words": {">Correlation</a></h2>", "/console/definitions/breaks"},
		"paid":      {">Event</a></h2>", "resume <a", waits},
		"nobody":    {"Nothing has this as its id"},
	} {
		p := v.check("/console/go?q="+url.QueryEscape(q), http.StatusOK)
		for _, text := range want {
			if !strings.Contains(p.text, text) {
				t.Errorf("%q: no %q in\n%s", q, text, p.text)
			}
		}
	}
	if p := v.post("/console/do/sendEvent", url.Values{"p.name": {"paid"}, "b.instanceId": {waits}, "key": {"k-1"}, "back": {"/console/events"}}); p.status != http.StatusOK {
		t.Fatalf("%d %s", p.status, p.text)
	}
	for _, path := range []string{"/console/go?q=k-1", "/console/receipts?key=k-1"} {
		if p := v.check(path, http.StatusOK); !strings.Contains(p.text, "<b>applied</b>") || !strings.Contains(p.text, waits) {
			t.Errorf("%s says not what became of the event:\n%s", path, p.text)
		}
	}
}

// Times are in the zone that a person chose, and say what it is off UTC.
func TestTimesHaveTheirZone(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	waits, _ := fill(t, s)
	page := "/console/instances/" + waits
	shows := func(zone string) {
		t.Helper()
		p := v.get(page)
		m := regexp.MustCompile(`<dt>Started</dt><dd><time datetime="([^"]+)" title="[^"]*">([^<]+)<`).FindStringSubmatch(p.text)
		if m == nil {
			t.Fatalf("no time in\n%s", p.text)
		}
		at, err := time.Parse(time.RFC3339Nano, html.UnescapeString(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := html.UnescapeString(m[2]), at.In(in).Format("2006-01-02 15:04:05Z07:00"); got != want {
			t.Errorf("in %s it is %s, want %s", zone, got, want)
		}
	}
	shows("UTC")
	for _, zone := range []string{"Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "UTC"} {
		if p := v.post("/console/zone", url.Values{"zone": {zone}, "back": {page}}); p.status != http.StatusOK || p.url.RequestURI() != page {
			t.Fatalf("%s: %d at %s", zone, p.status, p.url)
		}
		shows(zone)
	}
	// The button behind the field has its name.
	if p := v.post("/console/zone", url.Values{"zone": {"Asia/Kathmandu", "Pacific/Kiritimati"}, "back": {page}}); p.status != http.StatusOK {
		t.Errorf("as the browser: %d", p.status)
	}
	shows("Pacific/Kiritimati")
	v.post("/console/zone", url.Values{"zone": {"UTC"}, "back": {page}})
	for _, wrong := range []string{"Mars/Olympus", "Local", "../../etc/passwd", hostile, strings.Repeat("a", 10_000)} {
		if p := v.post("/console/zone", url.Values{"zone": {wrong}, "back": {page}}); p.status != http.StatusUnprocessableEntity || strings.Contains(p.text, "<script>alert") {
			t.Errorf("%.40q: %d", wrong, p.status)
		}
	}
	shows("UTC")
}

func TestActions(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	waits, faulted := fill(t, s)
	v := s.as(auth.Admin)

	// An event is looked at before it is sent, and a form sent twice acts once.
	send := url.Values{"p.name": {"paid"}, "b.instanceId": {waits}, "j.payload": {`{"amount": 12}`}, "key": {"k-1"}, "back": {"/console/instances/" + waits}}
	look := url.Values{"p.name": {"paid"}, "b.instanceId": {waits}, "q.dryRun": {"true"}, "key": {"k-0"}, "back": {"/console/events"}}
	if p := v.post("/console/do/sendEvent", look); p.status != http.StatusOK || !strings.Contains(p.text, "What it would do now") {
		t.Errorf("dry run: %d\n%s", p.status, p.text)
	}
	for range 2 {
		if p := v.post("/console/do/sendEvent", send); p.status != http.StatusOK || !strings.Contains(p.text, "resumed") && !strings.Contains(p.text, "accepted") {
			t.Errorf("sent: %d\n%s", p.status, p.text)
		}
	}
	if _, q := s.api(http.MethodGet, "/queue", nil); len(q["items"].([]any)) != 1 {
		t.Errorf("an event sent twice acted twice: %v", q)
	}

	// What was typed is kept when it is refused.
	send.Set("j.payload", `{"amount": `)
	send.Set("key", "k-2")
	p := v.post("/console/do/sendEvent", send)
	if p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, "payload is no JSON") || !strings.Contains(p.text, `{&#34;amount&#34;: </textarea>`) {
		t.Errorf("a mistake: %d\n%s", p.status, p.text)
	}

	// A retry goes back to its page, which says what was done.
	p = v.post("/console/do/retryInstance", url.Values{"p.id": {faulted}, "key": {"k-3"}, "back": {"/console/instances/" + faulted}})
	if p.status != http.StatusOK || p.url.Path != "/console/instances/"+faulted || !strings.Contains(p.text, "The retry was taken.") {
		t.Errorf("retry: %d %s\n%s", p.status, p.url, p.text)
	}
	await(t, s, faulted, "Faulted")
	p = v.post("/console/do/deleteInstance", url.Values{"p.id": {faulted}, "key": {"k-4"}, "back": {"/console/instances/" + faulted}, "gone": {"/console/instances"}})
	if p.status != http.StatusOK || p.url.Path != "/console/instances" {
		t.Errorf("delete: %d %s", p.status, p.url)
	}

	// A definition with a mistake names its place, and is kept.
	wrong := "id: shop\nroot:\n  - writeLine: ${{ inputs. }}\n"
	p = v.post("/console/do/publishDefinition", url.Values{"source": {wrong}, "key": {"k-5"}, "back": {"/console/definitions"}})
	if p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, "line 3") || !strings.Contains(p.text, "writeLine: ${{ inputs. }}") {
		t.Errorf("publish: %d\n%s", p.status, p.text)
	}
	p = v.post("/console/do/publishDefinition", url.Values{"source": {strings.ReplaceAll(definition, "id: shop", "id: other")}, "key": {"k-6"}, "back": {"/console/definitions"}})
	if p.status != http.StatusOK || !strings.Contains(p.text, "/console/definitions/other") {
		t.Errorf("publish: %d\n%s", p.status, p.text)
	}
	if p = v.post("/console/do/dispatchDefinition", url.Values{"p.id": {"other"}, "j.input": {`{"what": "x"}`}, "key": {"k-7"}, "back": {"/console/definitions/other"}}); p.status != http.StatusOK || !strings.Contains(p.text, "/console/instances/") {
		t.Errorf("start: %d\n%s", p.status, p.text)
	}
	// All that match: looked at first, then done, by a job that is shown.
	many := url.Values{"b.kind": {"cancel"}, "b.q": {"def:shop status:running"}, "key": {"k-8"}, "back": {"/console/jobs"}, "q.dryRun": {"true"}}
	if p = v.post("/console/do/createJob", many); p.status != http.StatusOK || !strings.Contains(p.text, "Nothing was done yet") {
		t.Errorf("dry run of a job: %d\n%s", p.status, p.text)
	}
	many.Del("q.dryRun")
	many.Set("key", "k-9")
	if p = v.post("/console/do/createJob", many); p.status != http.StatusOK || p.url.Path != "/console/jobs" || !strings.Contains(p.text, "<b>cancel</b>") {
		t.Errorf("a job: %d %s\n%s", p.status, p.url, p.text)
	}
	// No form leads away, or to what is no action.
	for _, back := range []string{"https://evil.example/", "//evil.example/console/", "/api/v1/pause", "javascript:alert(1)"} {
		p = v.post("/console/do/pause", url.Values{"back": {back}})
		if p.url.Host != strings.TrimPrefix(s.base, "http://") || !strings.HasPrefix(p.url.Path, "/console/") {
			t.Errorf("back to %s leads to %s", back, p.url)
		}
		v.post("/console/do/unpause", nil)
	}
	if p = v.post("/console/do/listInstances", nil); p.status != http.StatusNotFound {
		t.Errorf("a read as an action: %d", p.status)
	}
	if p = v.get("/console/raw/stream?topics=cluster"); p.status != http.StatusNotFound {
		t.Errorf("a stream as a page: %d", p.status)
	}
	// A little over what is read: a server that answers before it has read all may be cut off before its answer is read.
	if p = v.post("/console/do/publishDefinition", url.Values{"source": {strings.Repeat("x", 4<<20)}}); p.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of over 4 MiB: %d", p.status)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	stranger := s.visitor()
	for _, path := range plain {
		if p := stranger.check("/console/"+path, http.StatusUnauthorized); !strings.Contains(p.text, `name="apikey"`) {
			t.Errorf("%s is shown to a stranger", path)
		}
	}
	for what, key := range map[string]string{"wrong": "weft_" + strings.Repeat("x", 43), "empty": "", "long": strings.Repeat("y", 1<<15), "no key": "eyJhbGciOi"} {
		if p := stranger.post("/console/sign-in", url.Values{"apikey": {key}}); p.status != http.StatusUnauthorized || len(key) > 20 && strings.Contains(p.text, key) {
			t.Errorf("a %s key: %d", what, p.status)
		}
	}
	// What was typed before the session was over goes with the sign-in.
	p := stranger.post("/console/do/sendEvent", url.Values{"p.name": {"paid"}, "j.payload": {`"typed"`}, "key": {"k"}, "back": {"/console/events"}})
	if p.status != http.StatusUnauthorized || !strings.Contains(p.text, `name="form.j.payload" value="&#34;typed&#34;"`) {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	p = stranger.post("/console/sign-in", url.Values{"apikey": {s.keys[auth.Operator]}, "action": {"/console/do/sendEvent"}, "next": {"/console/events"}, "form.j.payload": {`"typed"`}, "form.p.name": {"paid"}, "form.key": {"k"}})
	if p.status != http.StatusOK || !strings.Contains(p.text, "&#34;typed&#34;") || !strings.Contains(p.text, `action="/console/do/sendEvent"`) {
		t.Errorf("%d\n%s", p.status, p.text)
	}

	v := s.as(auth.Operator)
	// A page of another site cannot act with the session.
	for _, head := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Origin": {"https://evil.example"}}} {
		if p := v.do(http.MethodPost, "/console/do/sendEvent", url.Values{"p.name": {"paid"}}, head); p.status != http.StatusForbidden {
			t.Errorf("%v: %d", head, p.status)
		}
	}
	// The cookie opens pages, and no route of the API.
	if p := v.get("/api/v1/instances"); p.status != http.StatusUnauthorized {
		t.Errorf("the API takes the cookie: %d", p.status)
	}
	at, _ := url.Parse(s.base)
	for _, c := range v.client.Jar.Cookies(at) {
		if c.Name != "__Host-weft" || strings.Contains(c.Value, "weft_") {
			t.Errorf("cookie %s=%s", c.Name, c.Value)
		}
		value, middle := []byte(c.Value), len(c.Value)/2 // where each bit of a character counts
		if value[middle] = 'A'; c.Value[middle] == 'A' {
			value[middle] = 'B'
		}
		forged := s.visitor()
		forged.client.Jar.SetCookies(at, []*http.Cookie{{Name: c.Name, Value: string(value), Path: "/", Secure: true}})
		if p := forged.get("/console/me"); p.status != http.StatusUnauthorized {
			t.Errorf("a changed cookie: %d", p.status)
		}
	}
	if p := v.post("/console/sign-out", nil); p.url.Path != "/console/sign-in" {
		t.Errorf("signed out: %s", p.url)
	}
	if p := v.get("/console/me"); p.status != http.StatusUnauthorized {
		t.Errorf("after the sign-out: %d", p.status)
	}

	// Who is revoked is asked again at the next click.
	v = s.as(auth.Viewer)
	s.revokeAll()
	deadline := time.Now().Add(30 * time.Second)
	for v.get("/console/me").status != http.StatusUnauthorized {
		if time.Now().After(deadline) {
			t.Fatal("a revoked key still opens pages")
		}
		time.Sleep(100 * time.Millisecond)
	}
	// Who was known loses no definition, and others are told.
	long := strings.Repeat("# ä long definition\n", 40_000)
	form := url.Values{"source": {long}, "over": {"0"}, "key": {"k-long"}, "back": {"/console/definitions"}}
	for range 2 {
		if p := v.post("/console/do/publishDefinition", form); p.status != http.StatusUnauthorized || !strings.Contains(p.text, `name="form.source" value="`+long) {
			t.Errorf("%d: of %d bytes, %d came back", p.status, len(long), len(p.text))
		}
	}
	if p := v.post("/console/sign-in", url.Values{"apikey": {"wrong"}, "action": {"/console/do/publishDefinition"}, "form.source": {long}}); p.status != http.StatusUnauthorized || !strings.Contains(p.text, long) {
		t.Errorf("with a wrong key: %d, %d bytes", p.status, len(p.text))
	}
	form.Set("source", long[:100_000])
	if p := s.visitor().post("/console/do/publishDefinition", form); p.status != http.StatusUnauthorized || !strings.Contains(p.text, "was not kept") {
		t.Errorf("a stranger's form: %d\n%.2000s", p.status, p.text)
	}
}

// TestAWorkflowHasNoPartInASession holds that what a definition serves on the same host neither
// sees nor makes nor ends a session.
func TestAWorkflowHasNoPartInASession(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	page := `id: page
root:
  - httpEndpoint: {path: /page, supportedMethods: [GET]}
    trigger: true
    result: request
  - writeHttpResponse:
      content: ${{ string(variables.request.headers) }}
      contentType: text/html
      responseHeaders:
        Set-Cookie: " __Host-weft=stolen; Path=/; Secure"
        Clear-Site-Data: '"cookies"'
variables:
  request: {type: object}
`
	if status, answer := s.api(http.MethodPost, "/definitions", page); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	v := s.as(auth.Viewer)
	p := v.get("/workflows/page")
	if p.status != http.StatusOK || p.head.Get("Set-Cookie") != "" || p.head.Get("Clear-Site-Data") != "" || strings.Contains(p.text, "__Host-weft") ||
		!strings.HasPrefix(p.head.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%d %v\n%s", p.status, p.head, p.text)
	}
	v.check("/console/me", http.StatusOK)
}

// TestAPageAsksOtherNodes holds that what only another node knows or does is reached from a
// page as from the API, with the role of who looks.
func TestAPageAsksOtherNodes(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.join("two")
	waits, _ := fill(t, s)
	v := s.as(auth.Admin)
	if p := v.get("/console/raw/instances/" + waits + "/explain"); p.status != http.StatusOK || strings.Contains(p.text, `"unasked": [
    "`) {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	if p := v.get("/console/raw/nodes/two/bursts"); p.status != http.StatusOK || !strings.Contains(p.text, `"two"`) {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	drain := url.Values{"p.id": {"two"}, "key": {"k"}, "back": {"/console/cluster"}}
	if p := s.as(auth.Operator).post("/console/do/drainNode", drain); p.status != http.StatusForbidden {
		t.Errorf("an operator drains: %d", p.status)
	}
	if p := v.post("/console/do/drainNode", drain); p.status != http.StatusOK || !strings.Contains(p.text, "The node drains") {
		t.Errorf("%d\n%s", p.status, p.text)
	}
}

// TestAPageHasABound holds that no page grows with what it shows.
func TestAPageHasABound(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	loop := "id: loop\ninputs: {to: integer}\nroot:\n  - forEach: ${{ 0..inputs.to }}\n    body: [{writeLine: '" + strings.Repeat("long ", 40) + "'}]\n  - event: paid\n"
	if status, answer := s.api(http.MethodPost, "/definitions", loop); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	var last string
	for i := range 120 {
		to := 20
		if i == 119 {
			to = 2000 // the one that is looked at
		}
		_, answer := s.api(http.MethodPost, "/definitions/loop/dispatch", map[string]any{"correlationId": fmt.Sprint(i, strings.Repeat("c", 200)), "input": map[string]any{"to": to}})
		if id, ok := answer["instanceId"].(string); ok {
			last = id
		}
	}
	await(t, s, last, "Suspended")
	for path, most := range map[string]int{
		"/console/":          150_000,
		"/console/instances": 200_000,
		"/console/instances/" + last + "?tab=journal": 600_000,
	} {
		if p := v.check(path, http.StatusOK); len(p.text) > most {
			t.Errorf("%s has %d bytes, want %d at most", path, len(p.text), most)
		}
	}
	// The pages of a list lead to its end, and have each row once.
	seen := map[string]bool{}
	rows := v.rows("/console/instances", regexp.MustCompile(`class="id" href="/console/instances/([^"]+)"`))
	for _, id := range rows {
		seen[id] = true
	}
	if len(seen) != 120 || len(rows) != 120 {
		t.Errorf("%d rows of %d instances, want 120", len(rows), len(seen))
	}
	// So do those of a journal, with all items of one large commit; and those of its timeline.
	_, answer := s.api(http.MethodGet, "/instances/"+last+"/journal?tail=1&items=1", nil)
	newest := int(answer["items"].([]any)[0].(map[string]any)["sequence"].(float64))
	items := map[string]bool{}
	shown := v.rows("/console/instances/"+last+"?tab=journal", regexp.MustCompile(`<tr id="s(\d+)"`))
	for _, number := range shown {
		items[number] = true
	}
	if newest < 6000 || len(shown) != newest || len(items) != newest || !items["1"] || !items[strconv.Itoa(newest)] {
		t.Errorf("%d rows of %d items, want %d", len(shown), len(items), newest)
	}
	if bars := v.rows("/console/instances/"+last+"?tab=timeline", regexp.MustCompile(`<rect class="ran"`)); len(bars) < 2000 {
		t.Errorf("%d bars of 2,001 lines", len(bars))
	}
	p := v.check("/console/instances/"+last+"?tab=journal", http.StatusOK)
	_, answer = s.api(http.MethodGet, "/instances/"+last+"/journal?tail=100&items=300", nil)
	if more := fmt.Sprint(answer["itemsBefore"], " more items of this commit come before these"); !strings.Contains(p.text, more) || strings.Contains(p.text, `rel="first"`) {
		t.Errorf("the page does not say: %s", more)
	}
	p = v.check(v.next(p), http.StatusOK)
	_, answer = s.api(http.MethodGet, fmt.Sprint("/instances/", last, "/journal?limit=100&items=300&cursor=", answer["previousCursor"]), nil)
	if behind := fmt.Sprint(answer["itemsBehind"], " more items of this commit come behind these"); !strings.Contains(p.text, behind) || !strings.Contains(p.text, `rel="prev"`) || !strings.Contains(p.text, `rel="first"`) {
		t.Errorf("an older page does not say: %s", behind)
	}
	if p := v.check("/console/instances/"+last+"?tab=journal&cursor=x", http.StatusUnprocessableEntity); !strings.Contains(p.text, "cursor") {
		t.Errorf("a wrong cursor: %s", p.text)
	}
}

// rows goes from a page to those behind it, to the last, and gives what stands in their rows.
func (v *visitor) rows(at string, row *regexp.Regexp) (rows []string) {
	v.t.Helper()
	for at != "" {
		p := v.check(at, http.StatusOK)
		for _, m := range row.FindAllStringSubmatch(p.text, -1) {
			rows = append(rows, m[len(m)-1])
		}
		at = v.next(p)
	}
	return rows
}

// next is the address of the page behind one; "": it is the last.
func (v *visitor) next(p page) string {
	m := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(p.text)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}
