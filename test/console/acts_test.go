package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// publish publishes definitions.
func (s *site) publish(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if status, answer := s.api(http.MethodPost, "/definitions", text); status >= 300 {
			s.t.Fatalf("%d %v", status, answer)
		}
	}
}

// run starts an instance and gives its id.
func (s *site) run(definition string, body map[string]any) string {
	s.t.Helper()
	var sent any // none is not null
	if body != nil {
		sent = body
	}
	status, answer := s.api(http.MethodPost, "/definitions/"+definition+"/dispatch", sent)
	id, _ := answer["instanceId"].(string)
	if status >= 300 || id == "" {
		s.t.Fatalf("%d %v", status, answer)
	}
	return id
}

// shows holds that a page has texts.
func (v *visitor) shows(p page, wants ...string) {
	v.t.Helper()
	for _, want := range wants {
		if !strings.Contains(p.text, want) {
			v.t.Errorf("%s has no %q\n%s", p.url, want, p.text)
		}
	}
}

// The home page counts, puts faults of one kind together, and tells what waits for unusually long.
func TestHomeTellsWhatIsUnusual(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	v.shows(v.check("/console/", http.StatusOK), "No instance is faulted.", "Nothing waits.", "None is late.")
	s.publish("id: breaks\ninputs: {n: {type: integer}}\nroot:\n  - fault: ${{ 'no stock <b> for order ' + string(inputs.n) + ' today' }}\n",
		"id: other\nroot:\n  - fault: another matter\n",
		"id: quick\nroot:\n  - writeLine: done\n  - if: ${{ inputs.hold }}\n    then:\n      - event: go\ninputs: {hold: {type: boolean}}\n",
		"id: sleeps\nroot:\n  - delay: 6s\n")
	for i := range 3 {
		await(t, s, s.run("breaks", map[string]any{"input": map[string]any{"n": 4711 + i}}), "Faulted")
	}
	await(t, s, s.run("other", nil), "Faulted")
	for range 6 {
		await(t, s, s.run("quick", map[string]any{"input": map[string]any{"hold": false}}), "Finished")
	}
	held := s.run("quick", map[string]any{"input": map[string]any{"hold": true}})
	await(t, s, held, "Suspended")
	late := s.run("sleeps", nil)
	await(t, s, late, "Suspended")
	s.api(http.MethodPost, "/pause", nil)
	var p page
	polltest.Eventually(t, "a stall and a late timer are told", func() bool {
		p = v.check("/console/", http.StatusOK)
		return strings.Contains(p.text, "over 10 times") && strings.Contains(p.text, "1 is late.") && strings.Contains(p.text, "it was due") &&
			strings.Contains(p.text, `<b>4</b> <span class="status faulted">`) // counts are kept for a while
	})
	v.shows(p, `<b>4</b> <span class="status faulted">`, `<b>2</b> <span class="status suspended">`, `<b>6</b> <span class="status finished">`, "no stock &lt;b&gt; for order 47", held, late, "etcd has ")
	if n := strings.Count(p.text, "no stock"); n != 1 {
		t.Errorf("one kind of fault has %d rows", n)
	}
	if strings.Index(p.text, "no stock") > strings.Index(p.text, "another matter") {
		t.Error("the most frequent fault is not first")
	}
	// Each group leads to its instances.
	at := regexp.MustCompile(`<td class="number"><a href="([^"]+)">3</a>`).FindStringSubmatch(p.text)
	if at == nil {
		t.Fatalf("no group of three\n%s", p.text)
	}
	found := v.check(html.UnescapeString(at[1]), http.StatusOK)
	if n := strings.Count(found.text, `class="id" href="/console/instances/`); n != 3 {
		t.Errorf("%s finds %d", at[1], n)
	}
	v.follow(p)
}

// command is one of the program's.
func TestEachPageSaysHowToGetTheSame(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	waits, _ := fill(t, s)
	cli, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?s)<details class="copy".*?<pre[^>]*>(.*?)</pre>`)
	curl := regexp.MustCompile(`^curl -H "Authorization: Bearer \$WEFT_TOKEN" "\$WEFT_SERVER"'?([^']+)'?$`)
	word := regexp.MustCompile(`^[a-z-]+$`)
	paths := append([]string{"definitions/shop", "definitions/shop/edit", "definitions/shop/tests", "definitions/shop/versions", "definitions/shop/flip?after=1&revision=1", "instances?q=-status:faulted"}, plain...)
	for _, tab := range []string{"waits", "journal", "variables", "lineage"} {
		paths = append(paths, "instances/"+waits+"?tab="+tab)
	}
	quiet := map[string]bool{"publish": true, "receipts": true, "compare": true}
	calls, commands := 0, 0
	for _, path := range paths {
		p := v.check("/console/"+path, http.StatusOK)
		m := shown.FindStringSubmatch(p.text)
		if m == nil {
			if !quiet[path] {
				t.Errorf("%s does not say how to get the same", path)
			}
			continue
		}
		for line := range strings.SplitSeq(html.UnescapeString(m[1]), "\n") {
			if c := curl.FindStringSubmatch(line); c != nil {
				calls++
				resp, err := http.Get(s.base + c[1]) //nolint:noctx // as somebody does by hand
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				early := path == "cluster" && resp.StatusCode == http.StatusServiceUnavailable // nobody has added up yet
				if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound && !early {
					t.Errorf("%s: %s answers %d", path, line, resp.StatusCode)
				}
				continue
			}
			rest, is := strings.CutPrefix(line, "weft ")
			if !is {
				t.Errorf("%s says %q", path, line)
				continue
			}
			commands++
			name := ""
			for w := range strings.FieldsSeq(rest) {
				if !word.MatchString(w) || strings.Contains(string(cli), "\n### weft"+name+"\n") {
					break
				}
				name += " " + w
			}
			if !strings.Contains(string(cli), "\n### weft"+name+"\n") {
				t.Errorf("%s: there is no command %q", path, line)
			}
		}
	}
	if calls < len(paths) || commands < 20 {
		t.Errorf("%d calls and %d commands", calls, commands)
	}
}

// A dead letter is looked at, changed and sent as a new one; those of a reason are sent together.
func TestDeadLettersAreMended(t *testing.T) {
	t.Parallel()
	s := open(t, true, func(c *node.Config) { c.QueueTTL = time.Second })
	v := s.as(auth.Operator)
	s.publish("id: waits\nroot:\n  - event: go\n")
	id := s.run("waits", map[string]any{"correlationId": "right"})
	await(t, s, id, "Suspended")
	for i := range 4 {
		s.api(http.MethodPost, "/events/go", map[string]any{"correlationId": "wrong", "payload": fmt.Sprint("p-", i)})
	}
	letters := func() []any {
		_, found := s.api(http.MethodGet, "/dead-letters", nil)
		items, _ := found["items"].([]any)
		return items
	}
	polltest.Eventually(t, "they are dead letters", func() bool { return len(letters()) == 4 })
	p := v.check("/console/dead-letters", http.StatusOK)
	v.shows(p, "/console/dead-letters?reason=expired", "<b>4</b> expired", "Send all again")
	v.follow(p)
	v.shows(v.check("/console/", http.StatusOK), "<b>4</b> expired")
	first, _ := letters()[0].(map[string]any)["id"].(string)
	at := "/console/dead-letters/" + url.PathEscape(first)
	p = v.check(at, http.StatusOK)
	v.shows(p, "It meets nothing", "With another correlation, these wait for it", id, "p-", `placeholder="wrong"`)
	if p := s.as(auth.Viewer).check(at, http.StatusOK); !strings.Contains(p.text, "Your role may not see it") || strings.Contains(p.text, "&#34;p-") {
		t.Errorf("a viewer sees\n%s", p.text)
	}
	p = v.post("/console/do/replayDeadLetter", url.Values{"p.id": {first}, "b.correlationId": {"right"}, "key": {"mend"}, "back": {"/console/dead-letters"}, "gone": {"/console/dead-letters"}})
	if p.status != http.StatusOK {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	await(t, s, id, "Finished")
	all := url.Values{"b.reason": {"expired"}, "j.limit": {"2"}, "key": {"all"}, "back": {"/console/dead-letters?reason=expired"}}
	tried := url.Values{"b.reason": {"expired"}, "j.limit": {"500"}, "q.dryRun": {"true"}, "key": {"tried"}, "back": {"/console/dead-letters"}}
	v.shows(v.post("/console/do/deleteDeadLetters", tried), "Nothing was done yet. It would be done for 3.")
	v.shows(v.post("/console/do/replayDeadLetters", tried), "Nothing was done yet. It would be done for 3.")
	if n := len(letters()); n != 3 {
		t.Errorf("%d are left of what was only tried", n)
	}
	p = v.post("/console/do/deleteDeadLetters", all)
	v.shows(p, "Done for 2 so far.", "There are others.", "Go on")
	next := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`).FindAllStringSubmatch(p.text, -1) {
		next.Set(m[1], html.UnescapeString(m[2]))
	}
	v.shows(v.post("/console/do/deleteDeadLetters", next), "Done for 1.")
	if n := len(letters()); n != 0 {
		t.Errorf("%d are left", n)
	}
	if p := s.as(auth.Viewer).post("/console/do/deleteDeadLetters", all); p.status != http.StatusForbidden {
		t.Errorf("a viewer deletes: %d", p.status)
	}
}

// An item of the queue tells whom it nearly met, and is sent to it.
func TestAQueuedEventIsMended(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	s.publish("id: waits\nroot:\n  - event: go\n")
	id := s.run("waits", map[string]any{"correlationId": "right"})
	await(t, s, id, "Suspended")
	_, sent := s.api(http.MethodPost, "/events/go", map[string]any{"correlationId": "wrong", "payload": map[string]any{"by": "Grace"}})
	item, _ := sent["queued"].(string)
	v.follow(v.check("/console/queue", http.StatusOK))
	p := v.check("/console/queue/"+item, http.StatusOK)
	v.shows(p, id, "With another correlation, these wait for it", "Grace")
	v.post("/console/do/sendQueueItem", url.Values{"p.id": {item}, "b.correlationId": {"right"}, "key": {"k"}, "back": {"/console/queue"}, "gone": {"/console/queue"}})
	await(t, s, id, "Finished")
	v.check("/console/queue/"+item, http.StatusNotFound)
	for range 3 {
		s.api(http.MethodPost, "/events/nobody", nil)
	}
	s.api(http.MethodPost, "/events/else", nil)
	p = v.check("/console/queue?name=nobody", http.StatusOK)
	v.shows(p, "Only of the event nobody.", "Delete all")
	v.shows(v.post("/console/do/deleteQueueItems", url.Values{"b.name": {"nobody"}, "j.limit": {"500"}, "key": {"k-2"}, "back": {"/console/queue"}}), "Done for 3.")
	if _, q := s.api(http.MethodGet, "/queue", nil); len(q["items"].([]any)) != 1 {
		t.Errorf("left: %v", q)
	}
}

// An item without an event's name is shown with what it is for, and a page of a filter that has none of
// its items leads on to those that others have.
func TestTheQueueHasOtherThanEvents(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Operator)
	v.shows(v.check("/console/queue", http.StatusOK), "The queue is empty.")
	v.shows(v.check("/console/queue?name=last", http.StatusOK), "Nothing in the queue is like that.")
	v.shows(v.check("/console/dead-letters", http.StatusOK), "There are no dead letters.")
	v.shows(v.check("/console/dead-letters?reason=expired", http.StatusOK), "No dead letter is like that.")
	for _, path := range []any{"seven-<b>", strings.Repeat("long", 1000)} {
		if status, answer := s.api(http.MethodPost, "/stimuli", map[string]any{"activityType": "Elsa.Delay", "stimulus": map[string]any{"path": path}}); status >= 300 {
			t.Fatal(status, answer)
		}
	}
	p := v.check("/console/queue", http.StatusOK)
	v.shows(p, "Elsa.Delay", "&#34;path&#34;: &#34;seven-", "open raw")
	v.follow(p)
	for range 60 {
		s.api(http.MethodPost, "/events/first", nil)
	}
	name := "" // that comes behind the others: items come by what they are for, not by time
	for i := 0; name == "" && i < 50; i++ {
		s.api(http.MethodPost, fmt.Sprint("/events/last-", i), nil)
		p = v.check(fmt.Sprint("/console/queue?name=last-", i), http.StatusOK)
		if !strings.Contains(p.text, ">last-") {
			name = fmt.Sprint("last-", i)
		}
	}
	v.shows(p, "None among those that were looked at; go on below.", "Delete all")
	p = v.check(v.next(p), http.StatusOK)
	v.shows(p, ">"+name+"</a>", ">the first</a>", "Delete all")
	if strings.Contains(p.text, "looked at") || strings.Contains(p.text, "newest") {
		t.Errorf("the page with it says\n%s", p.text)
	}
}

// Who may change nothing is offered no button that would be refused, and not one that only looks what would be
// done either, where that is refused too.
func TestAViewerPressesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.publish("id: waits\nroot:\n  - event: go\n", "id: breaks\nroot:\n  - fault: no\n", "id: packs\nroot:\n  - runTask: {taskName: pack}\n", "id: nightly\nroot:\n  - {cron: '0 0 3 * * *', trigger: true}\n")
	waits, broken := s.starts("waits", "Suspended", nil), s.starts("breaks", "Faulted", nil)
	s.starts("packs", "Suspended", nil)
	s.api(http.MethodPost, "/events/nobody", nil)
	viewer, operator := s.as(auth.Viewer), s.as(auth.Operator)
	form := regexp.MustCompile(`(?s)<form[^>]* method="post" action="/console/do/.*?</form>`)
	button := regexp.MustCompile(`<button[^>]*>[^<]*`)
	looks := 0
	for _, path := range []string{"instances", "instances/" + waits, "instances/" + waits + "/repair", "instances/" + broken, "instances/" + broken + "/repair", "events", "events?name=go", "queue", "queue?name=nobody", "dead-letters?reason=expired",
		"tasks", "timers", "jobs", "definitions/waits", "definitions/waits/edit", "definitions/waits/versions", "publish", "cluster"} {
		p := viewer.check("/console/"+path, http.StatusOK)
		for _, f := range form.FindAllString(p.text, -1) {
			for _, b := range button.FindAllString(f, -1) {
				if !strings.Contains(b, " disabled") && !strings.Contains(b, `formmethod="get"`) && !strings.Contains(b, `type="button"`) {
					t.Errorf("%s: %s", path, b)
				}
			}
		}
		looks += strings.Count(operator.check("/console/"+path, http.StatusOK).text, `<button name="q.dryRun" value="true">What would it do?`)
	}
	if looks < 5 {
		t.Errorf("an operator can look at %d places what would be done", looks)
	}
}

// The panel of a wait tells since when, what the event may bring, and what it would do.
func TestAWaitTellsWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	s.publish("id: needs\nvariables: {d: {type: object}}\nroot:\n  - event: approved\n    result: d\n  - if: ${{ variables.d.amount > 10 }}\n    then: [{writeLine: \"${{ variables.d.by }}\"}]\n")
	id := s.run("needs", nil)
	await(t, s, id, "Suspended")
	at := "/console/instances/" + id
	v.shows(v.check(at+"?tab=waits", http.StatusOK), "such as <code>{&#34;amount&#34;: 0, &#34;by&#34;: &#34;…&#34;}</code>", "since <time", "What would it do?")
	p := v.post("/console/do/sendEvent", url.Values{"p.name": {"approved"}, "b.instanceId": {id}, "q.dryRun": {"true"}, "key": {"k"}, "back": {at}})
	v.shows(p, "What it would do now", id)
}

// Tests of a definition run from its page; what is wrong comes back with what was typed.
func TestDefinitionsAreTestedFromTheirPage(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Designer)
	s.publish("id: asked\ninputs: {who: {type: string, required: true}, days: {type: integer, default: 3}}\nroot:\n  - event: decided\n  - writeLine: ${{ inputs.who }}\n")
	at := "/console/definitions/asked/tests"
	v.shows(v.check("/console/definitions/asked", http.StatusOK), at)
	v.shows(v.check(at, http.StatusOK), `input: {&#34;who&#34;: &#34;&#34;}`)
	run := func(as *visitor, tests string) page {
		return as.post("/console/do/tryDefinition", url.Values{"b.definitionId": {"asked"}, "b.tests": {tests}, "key": {"k"}, "back": {at}})
	}
	p := run(v, "cases:\r\n  - name: good\r\n    input: {who: Ada}\r\n    steps: [{event: decided}]\r\n    expect: {status: Finished, lines: [Ada]}\r\n  - name: <b>bad</b>\r\n    input: {who: Ada}\r\n    expect: {status: Finished}\r\n")
	v.shows(p, "1 of 2 cases passed.", "&lt;b&gt;bad&lt;/b&gt;", "line 8: <code>expect: {status: Finished}</code>, <code>status</code>", "What it did", "  - name: good\n")
	if p.status != http.StatusOK || strings.Contains(p.text, "<b>bad") {
		t.Errorf("%d", p.status)
	}
	p = run(v, "cases:\n  - nmae: x # mine\n")
	if v.shows(p, "line 2", "did you mean name?", "nmae: x # mine"); p.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", p.status)
	}
	if p = v.post("/console/do/tryDefinition", url.Values{"b.definitionId": {"asked"}, "b.tests": {"cases: [{}]"}, "j.strict": {"true"}, "back": {at}}); !strings.Contains(p.text, `value="true" checked`) {
		t.Errorf("what was chosen is lost\n%s", p.text)
	}
	p = v.post("/console/do/tryDefinition", url.Values{"b.definitionId": {"asked"}, "b.tests": {"cases: [{name: it waits, input: {who: Ada}}]"}, "j.crash": {"true"}, "back": {at}})
	v.shows(p, "1 of 1 cases passed.", "Run again with failures of a node: 2 (points: 1).", `name="j.crash" value="true" checked`)

	// Who may not is told so before and after.
	o := s.as(auth.Operator)
	if p = o.check(at, http.StatusOK); !strings.Contains(p.text, `<button class="main" disabled title="this needs the role designer">Run</button>`) {
		t.Errorf("an operator is offered to run tests\n%s", p.text)
	}
	if p = run(o, "cases: [{}]"); p.status != http.StatusForbidden || !strings.Contains(p.text, "cases: [{}]") {
		t.Errorf("an operator: %d\n%s", p.status, p.text)
	}
	v.check("/console/definitions/nobody/tests", http.StatusNotFound)
	p = v.post("/console/do/tryDefinition", url.Values{"b.definitionId": {"nobody"}, "b.tests": {"cases: [{}]"}, "back": {at}})
	if v.shows(p, "definition-not-found", "cases: [{}]"); p.status != http.StatusNotFound {
		t.Errorf("of what is not there: %d", p.status)
	}
}

// A page of cases that fail with much to tell has a bound, and says what it left out.
func TestTestsOfADefinitionAreToldWithinABound(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Designer)
	s.publish("id: talks\nvariables: {text: {type: string, value: " + strings.Repeat("<", 300) + "}}\nroot:\n  - forEach: ${{ 0..30 }}\n    body:\n      - writeLine: ${{ variables.text }}\n  - event: never\n")
	var expect []string
	for i := range 20 {
		expect = append(expect, fmt.Sprintf("%q", strings.Repeat(fmt.Sprint(i%10), 1000)))
	}
	tests := "cases:\n" + strings.Repeat("  - expect: {status: Finished, lines: ["+strings.Join(expect, ", ")+"]}\n", 12)
	p := v.post("/console/do/tryDefinition", url.Values{"b.definitionId": {"talks"}, "b.tests": {tests}, "back": {"/console/definitions/talks/tests"}})
	if v.shows(p, "0 of 12 cases passed.", "What it did is told of the first that failed only"); p.status != http.StatusOK {
		t.Fatalf("%d", p.status)
	}
	if n := strings.Count(p.text, "<summary>What it did"); n != 5 {
		t.Errorf("%d cases tell what they did", n)
	}
	if more := len(p.text) - len(url.QueryEscape(tests)); more > 400_000 {
		t.Errorf("the page has %d bytes beside the tests", more)
	}
}
