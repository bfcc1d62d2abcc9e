package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// begin starts an instance and waits until it is as it is to be.
func (s *site) begin(t *testing.T, definition, status string, input map[string]any) string {
	t.Helper()
	id := s.run(definition, map[string]any{"input": input})
	await(t, s, id, status)
	return id
}

func TestVariablesOfTwoCommits(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	s.publish(`id: vars
variables: {same: {type: string, value: kept}, n: {type: number, value: 1}, late: {type: string}, long: {type: string}}
root:
  - event: go
  - setVariable: {variable: n, value: 2}
  - setVariable: {variable: late, value: '<i>come</i>'}
  - setVariable: {variable: long, value: '` + strings.Repeat("x", 5000) + `'}
  - event: on
`)
	id := s.begin(t, "vars", "Suspended", nil)
	s.api(http.MethodPost, "/events/go", map[string]any{})
	polltest.Eventually(t, "it waits for the other event", func() bool {
		_, in := s.api(http.MethodGet, "/instances/"+id, nil)
		return strings.Contains(fmt.Sprint(in["bookmarks"]), "on")
	})
	path := "/console/instances/" + id + "?tab=variables"
	p := v.check(path, http.StatusOK)
	v.shows(p, `name="from"`, "What changed?", "the beginning; the journal has no more", "data-copy")
	row := func(p page, name string) string {
		m := regexp.MustCompile(`<tr class="([^"]+)"><td><b>[^<]+</b></td><td><b>` + name + `</b>`).FindStringSubmatch(p.text)
		if m == nil {
			return ""
		}
		return m[1]
	}
	for query, want := range map[string]map[string]string{
		"&from=1&to=2": {"n": "changed", "late": "added", "long": "added", "same": ""},
		"&from=2&to=1": {"n": "changed", "late": "added"}, // whichever way round
		"&from=0&to=2": {"n": "added", "same": "added", "late": "added"},
		"&to=1":        {"n": "added", "late": ""},
	} {
		p := v.check(path+query, http.StatusOK)
		for name, was := range want {
			if got := row(p, name); got != was {
				t.Errorf("%s: %s is %q, want %q\n%s", query, name, got, was, p.text)
			}
		}
		if strings.Contains(p.text, "<i>come") {
			t.Error("a value is markup")
		}
	}
	for _, query := range []string{"&from=x&to=2", "&from=1&to=-7", "&from=" + url.QueryEscape(hostile) + "&to=1"} {
		if p := v.check(path+query, http.StatusOK); !strings.Contains(p.text, `role="alert"`) || !strings.Contains(p.text, "What changed?") {
			t.Errorf("%s: %s", query, p.text)
		}
	}
}

// An incident leads to its line in the text, and what is wrong is mended where it stands.
func TestAnIncidentIsRepaired(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Admin)
	s.publish(`id: mends
variables: {of: {type: string, value: none}}
root:
  - event: go
    id: first
  - if: ${{ variables.of == 'none' }}
    then: {fault: there is <i>none</i>}
    id: look
  - writeLine: ${{ variables.of }}
  - delay: 20h
    id: rest
`)
	id := s.begin(t, "mends", "Suspended", nil)
	base := "/console/instances/" + id
	// Skip the wait: looked at first, then done.
	form := regexp.MustCompile(`(?s)<h2>Skip an activity</h2>.*?name="key" value="([^"]+)"`)
	p := v.check(base+"/repair?activity=first", http.StatusOK)
	v.shows(p, `name="a.0:text:activity" value="first"`, "<option>look</option>", "<option>of</option>", "Set a variable", "Cancel an activity")
	if strings.Contains(p.text, "Try again what failed") || strings.Contains(p.text, "Move a timer") {
		t.Error("it offers to try again what did not fail, or to move a timer that is none")
	}
	m := form.FindStringSubmatch(p.text)
	if m == nil {
		t.Fatalf("no form\n%s", p.text)
	}
	skip := url.Values{"p.id": {id}, "a.0:text:type": {"skip"}, "a.0:text:activity": {"first"}, "b.reason": {"it came by <b>phone"}, "key": {m[1]}, "back": {base}, "q.dryRun": {"true"}}
	p = v.post("/console/do/alterInstance", skip)
	v.shows(p, "Nothing was done yet", "skips first", "<b>root</b>", `name="a.0:text:activity" value="first"`, `name="b.reason" value="it came by &lt;b&gt;phone"`, "Do it")
	if strings.Contains(p.text, "dryRun") {
		t.Error("what was tried would be tried again")
	}
	await(t, s, id, "Suspended")
	skip.Del("q.dryRun")
	for range 2 { // sent twice it acts once
		if p = v.post("/console/do/alterInstance", skip); p.status != http.StatusOK || p.url.Path != base || !strings.Contains(p.text, "The change was taken.") {
			t.Fatalf("%d %s\n%s", p.status, p.url, p.text)
		}
	}
	await(t, s, id, "Faulted")
	p = v.check(base+"?tab=incidents", http.StatusOK)
	v.shows(p, "there is &lt;i&gt;none", "Repair…", "Retry")
	line := regexp.MustCompile(`href="(/console/definitions/mends\?version=1#L(\d+))">line (\d+) of version 1`).FindStringSubmatch(p.text)
	if line == nil || line[2] != "7" {
		t.Fatalf("no way to its line: %v\n%s", line, p.text)
	}
	v.shows(v.check(line[1], http.StatusOK), `id="L7"`)
	v.follow(p)

	// What does not fit is refused with its reason, and what was typed stays.
	wrong := url.Values{"p.id": {id}, "a.0:text:type": {"setVariable"}, "a.0:text:variable": {"off"}, "a.0:json:value": {`"one"`}, "key": {"k-1"}, "back": {base}}
	p = v.post("/console/do/alterInstance", wrong)
	if p.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", p.status)
	}
	v.shows(p, "off", "&#34;one&#34;", "variable<input")
	wrong.Set("q.dryRun", "true")
	v.shows(v.post("/console/do/alterInstance", wrong), "It would be refused")

	// The variable is set and what failed tried again, in one commit. After a fault that is the condition.
	mend := url.Values{"p.id": {id}, "a.0:text:type": {"setVariable"}, "a.0:text:variable": {"of"}, "a.0:json:value": {`"one"`}, "a.1:text:type": {"retry"}, "a.1:text:activity": {"look"}, "key": {"k-2"}, "back": {base}}
	if p = v.post("/console/do/alterInstance", mend); p.status != http.StatusOK {
		t.Fatalf("%d\n%s", p.status, p.text)
	}
	await(t, s, id, "Suspended")
	p = v.check(base+"/repair?activity=rest", http.StatusOK)
	v.shows(p, "Move a timer")
	timer := regexp.MustCompile(`<option value="([^"]+)" selected>rest, due `).FindStringSubmatch(p.text)
	if timer == nil {
		t.Fatalf("no timer\n%s", p.text)
	}
	move := url.Values{"p.id": {id}, "a.0:text:type": {"reschedule"}, "a.0:text:bookmark": {html.UnescapeString(timer[1])}, "a.0:when:dueAt": {"0s"}, "key": {"k-3"}, "back": {base}}
	if p = v.post("/console/do/alterInstance", move); p.status != http.StatusOK {
		t.Fatalf("%d\n%s", p.status, p.text)
	}
	await(t, s, id, "Finished")
	v.shows(v.check(base+"/repair", http.StatusOK), "It has ended")
	v.shows(v.check(base+"?tab=journal", http.StatusOK), "Altered", "it came by &lt;b&gt;phone")
	v.check("/console/instances/none/repair", http.StatusNotFound)

	// Who may not repair sees why.
	other := s.begin(t, "mends", "Suspended", nil)
	viewer := s.as(auth.Viewer)
	p = viewer.check("/console/instances/"+other+"/repair", http.StatusOK)
	if n := strings.Count(p.text, `title="this needs the role operator"`); n < 8 {
		t.Errorf("%d buttons are disabled\n%s", n, p.text)
	}
	if p := viewer.post("/console/do/alterInstance", url.Values{"p.id": {other}, "a.0:text:type": {"cancel"}, "key": {"k-4"}}); p.status != http.StatusForbidden {
		t.Errorf("a viewer repairs: %d", p.status)
	}
}

var rowsBeside = regexp.MustCompile(`(?s)<tr( class="[^"]+")?[^>]*><td>(.*?)</td><td>(.*?)</td></tr>`)

func TestTwoInstancesAreCompared(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	s.publish(`id: ways
inputs: {n: {type: number}, long: {type: string}}
variables: {got: {type: number}}
root:
  - setVariable: {variable: got, value: "${{ inputs.n }}"}
  - for: {start: 1, end: 30}
    body: {writeLine: <i>again</i>}
  - if: ${{ inputs.n > 1 }}
    then: {writeLine: much}
    else: {writeLine: little}
  - event: never
`)
	long := strings.Repeat("a", 3000)
	a, b := s.begin(t, "ways", "Suspended", map[string]any{"n": 1, "long": long + "1"}), s.begin(t, "ways", "Suspended", map[string]any{"n": 2, "long": long + "2"})
	same := s.begin(t, "ways", "Suspended", map[string]any{"n": 2, "long": long + "2"})
	v.check("/console/compare", http.StatusOK)
	p := v.check("/console/instances/"+a, http.StatusOK)
	v.shows(p, `href="/console/compare?a=`+a+`"`)
	p = v.check("/console/compare?a="+a, http.StatusOK)
	v.shows(p, "With another one of its definition", "a="+a+"&amp;b="+b)
	v.follow(p)

	p = v.check("/console/compare?a="+a+"&b="+b, http.StatusOK)
	v.shows(p, "<b>input.n</b>", "<b>variable.got</b>", "aaa1&#34;</pre>", "aaa2&#34;</pre>", "Here they part.")
	if strings.Contains(p.text, "<i>again") {
		t.Error("a line is markup")
	}
	v.follow(p)
	parts := rowsBeside.FindAllStringSubmatch(p.text[strings.Index(p.text, "Where their ways part"):], -1)
	at := -1
	for i, r := range parts {
		if strings.Contains(r[1], "parted") {
			at = i
		}
	}
	if at != 5 || strings.Contains(parts[at-1][1], "class") || parts[at][2] == parts[at][3] {
		t.Errorf("their ways part at row %d of %v", at, parts)
	}
	if p = v.check("/console/compare?a="+b+"&b="+same, http.StatusOK); strings.Contains(p.text, "they part") {
		t.Errorf("two that are the same part\n%s", p.text)
	}
	v.shows(p, "They did the same", "are the same.")

	// What is kept out of the journal is neither the same nor different.
	s.publish("id: kept\noptions: {logging: Exclude}\ninputs: {n: {type: number}}\nvariables: {got: {type: number}}\nroot:\n  - setVariable: {variable: got, value: \"${{ inputs.n }}\"}\n  - event: never\n")
	kept := func(n int) string { return s.begin(t, "kept", "Suspended", map[string]any{"n": n}) }
	p = v.check("/console/compare?a="+kept(1)+"&b="+kept(1), http.StatusOK)
	v.shows(p, "variable.got: not compared, as it is kept out of the journal.", "the variables that could be compared.", "They did the same")
	p = v.check("/console/compare?a="+kept(1)+"&b="+kept(2), http.StatusOK)
	v.shows(p, "variable.got: not compared", "<b>input.n</b>")
	if strings.Contains(p.text, "<b>variable.got</b>") {
		t.Errorf("a variable that nobody compared differs\n%s", p.text)
	}

	// Of a long way the page reads a part and says so.
	s.publish("id: far\ninputs: {n: {type: number}}\nroot:\n  - for: {start: 1, end: 2600}\n    body: {writeLine: on}\n  - writeLine: ${{ string(inputs.n) }}\n  - event: never\n")
	p = v.check("/console/compare?a="+s.begin(t, "far", "Suspended", map[string]any{"n": 1})+"&b="+s.begin(t, "far", "Suspended", map[string]any{"n": 2}), http.StatusOK)
	v.shows(p, "The first 5000 entries are the same", "weft instances compare")

	for _, query := range []string{"?a=none", "?a=none&b=" + a, "?a=" + a + "&b=none", "?a=" + url.QueryEscape(hostile) + "&b=" + a, "?id=" + a + "&id=" + b + "&id=" + same} {
		v.shows(v.check("/console/compare"+query, http.StatusOK), `role="alert"`)
	}
	v.shows(v.check("/console/compare?id="+a+"&id="+b, http.StatusOK), "Here they part.")
}

// TestAPictureIsATableToo holds that each activity of a picture is a link with a name, and that
// a table says the same.
func TestAPictureIsATableToo(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Admin)
	waits, faulted := fill(t, s)
	p := v.check("/console/instances/"+waits, http.StatusOK)
	link := regexp.MustCompile(`<a href="/console/instances/` + waits + `\?activity=event1&(?:amp;|#38;)tab=journal"><title>event, paid, event1, waiting since 20[^<]+ UTC</title>`)
	if !link.MatchString(p.text) {
		t.Errorf("the event is no link with a name\n%s", p.text)
	}
	v.shows(p, `<tr data-activity="event1">`, "<b>event</b> paid", "waiting since", "The same as a table")
	if row := regexp.MustCompile(`<tr data-activity="writeLine1">.*?</tr>`).FindString(p.text); !strings.Contains(row, "done") || !strings.Contains(row, "<td>event1</td>") {
		t.Errorf("the line before: %s", row)
	}
	v.follow(p)
	v.shows(v.check("/console/instances/"+faulted, http.StatusOK), "faulted")
	p = v.check("/console/definitions/shop", http.StatusOK)
	v.shows(p, `<a href="#L10"><title>event, paid, event1</title>`, `href="#L10">event1</a> <span class="quiet">line 10</span>`)

	// A commit says what it took and how long; an instance can be exported.
	commit := regexp.MustCompile(`commit 1 · one · [^<]*1 command · [\d.]+ (?:µs|ms|s|min)`)
	if p = v.check("/console/instances/"+waits+"?tab=journal", http.StatusOK); !commit.MatchString(p.text) {
		t.Errorf("no commands and time of a commit\n%s", p.text)
	}
	v.shows(p, `href="/console/raw/instances/`+waits+`/state" download="`+waits+`.json"`)
	export := v.get("/console/raw/instances/" + waits + "/state")
	if !json.Valid([]byte(export.text)) {
		t.Errorf("the export is no JSON: %s", export.text)
	}
	if status, answer := s.api(http.MethodPut, "/instances/"+waits+"/state", export.text); status >= 300 {
		t.Errorf("the export does not come back: %d %v", status, answer)
	}
	p = s.as(auth.Viewer).check("/console/instances/"+waits, http.StatusOK)
	if strings.Contains(p.text, "download=") {
		t.Error("a viewer is offered the export")
	}

	// What is cut has its whole beside it.
	s.publish("id: big\ninputs: {text: {type: string}}\nroot:\n  - event: never\n")
	big := s.begin(t, "big", "Suspended", map[string]any{"text": strings.Repeat("x", 100_000)})
	p = v.check("/console/instances/"+big+"?tab=data", http.StatusOK)
	v.shows(p, "bytes more", `<a href="/console/raw/instances/`+big+`">open raw</a>`)

	// The state that is told when it changes is another one with each state.
	state := regexp.MustCompile(`data-state="([^"]+)"`)
	was := state.FindStringSubmatch(v.get("/console/instances/" + waits).text)[1]
	s.api(http.MethodPost, "/events/paid", map[string]any{"instanceId": waits})
	deadline := time.Now().Add(time.Minute)
	for state.FindStringSubmatch(v.get("/console/instances/" + waits).text)[1] == was {
		if time.Now().After(deadline) {
			t.Fatal("the state stays as it was")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// An instance that has not started, as its start waits behind a gate, has a page too: why, who runs
// now, and where its start lies. The page becomes that of the instance when it has started.
func TestAStartThatWaitsHasAPage(t *testing.T) {
	t.Parallel()
	s := open(t, true, func(c *node.Config) { c.ReplyWait = time.Second }) // whoever starts behind a gate waits it out
	v := s.as(auth.Viewer)
	s.publish("id: single\noptions: {activation: Singleton}\nroot:\n  - event: begins\n    trigger: true\n  - event: ends\n")
	s.publish("id: beside\nroot:\n  - event: begins\n    trigger: true\n")
	first := s.begin(t, "single", "Suspended", nil)
	_, sent := s.api(http.MethodPost, "/events/begins", map[string]any{})
	id := ""
	for _, o := range sent["outcomes"].([]any) {
		if o := o.(map[string]any); o["outcome"] == "accepted" {
			id, _ = o["instanceId"].(string)
		}
	}
	if id == "" {
		t.Fatalf("no start waits: %v", sent)
	}
	at := "/console/instances/" + id
	var p page
	polltest.Eventually(t, "its start waits", func() bool {
		p = v.get(at)
		return p.status == http.StatusOK
	})
	p = v.check(at, http.StatusOK)
	v.shows(p, "Not started", "it starts when instance "+first+" has ended", "/console/instances/"+first, "/console/definitions/single", "/console/queue/", "GET /instances/"+first+"/explain", "explain "+id)
	for _, not := range []string{"damaged", "cancelInstance", "Journal", "0001-01-01"} {
		if strings.Contains(p.text, not) {
			t.Errorf("what has not started shows %s\n%s", not, p.text)
		}
	}
	v.follow(p)
	v.check(at+"?tab=lineage", http.StatusOK)
	if found := v.check("/console/go?q="+id, http.StatusOK); found.url.Path != at {
		t.Errorf("it is looked for at %s", found.url)
	}
	s.api(http.MethodPost, "/events/ends", map[string]any{"instanceId": first})
	polltest.Eventually(t, "it has started, and its page is that of an instance", func() bool {
		p = v.get(at)
		return p.status == http.StatusOK && strings.Contains(p.text, "waits for event ends")
	})
	v.check("/console/instances/nobody", http.StatusNotFound)
	v.check("/console/instances/"+id[:len(id)-4]+"0000", http.StatusNotFound)
}

// Of an instance that waits at many places the page has a hundred, and leads to the others.
func TestAWideInstanceIsShownInParts(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	s.publish("id: wide\nroot:\n  - parallelForEach: ${{ 1..250 }}\n    body:\n      event: paid\n")
	id := s.begin(t, "wide", "Suspended", nil)
	seen := map[string]int{}
	path := "/console/instances/" + id
	for _, want := range []string{"1 to 100 of 250 places", "101 to 200 of 250 places", "201 to 250 of 250 places"} {
		p := v.check(path, http.StatusOK)
		v.shows(p, want, "Waits for (250)")
		seen["forms"] += strings.Count(p.text, `action="/console/do/sendEvent"`)
		next := regexp.MustCompile(`<a href="([^"]*)" rel="next">next</a>`).FindStringSubmatch(p.text)
		if next == nil {
			break
		}
		path = html.UnescapeString(next[1])
	}
	if seen["forms"] != 250 {
		t.Errorf("%d places are shown", seen["forms"])
	}
}
