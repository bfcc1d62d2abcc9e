package console

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

const greeting = `# who is greeted
id: greet
inputs:
  who: {type: string, required: true, description: "Whom <b>to</b> greet"}
  times: {type: integer, default: 3}
  loud: {type: boolean}
  tags: {type: "string[]"}
outputs:
  said: "${{ {who: inputs.who, times: inputs.times, loud: inputs.loud, tags: inputs.tags} }}"
root:
  - event: %s
    trigger: true
  - writeLine: ${{ inputs.who }}
`

var hidden = regexp.MustCompile(`name="over" value="([0-9]+)"`)

// over is the version that an editor's form names.
func over(t *testing.T, p page) string {
	t.Helper()
	m := hidden.FindStringSubmatch(p.text)
	if m == nil {
		t.Fatalf("no version in the form\n%s", p.text)
	}
	return m[1]
}

// TestTwoAuthors publish over the same version: the second one is told, and shown what would change.
func TestTwoAuthors(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Designer)
	publish := func(source, from string) page {
		return v.post("/console/do/publishDefinition", url.Values{"source": {source}, "over": {from}, "key": {strconv.Itoa(len(source)) + "-" + from}, "back": {"/console/definitions"}})
	}
	first, theirs, mine := fmt.Sprintf(greeting, "hello"), fmt.Sprintf(greeting, "their-</textarea><script>"), fmt.Sprintf(greeting, "mine")
	p := publish(first, over(t, v.check("/console/publish", http.StatusOK)))
	if p.status != http.StatusOK || p.url.Path != "/console/definitions/greet/flip" || !strings.Contains(p.text, "Version 1 is the first") {
		t.Fatalf("%d %s\n%s", p.status, p.url, p.text)
	}
	edit := v.check("/console/definitions/greet/edit", http.StatusOK)
	if !strings.Contains(edit.text, "# who is greeted") || !strings.Contains(edit.text, "data-line=") || !strings.Contains(edit.text, "It is as version 1 of greet.") {
		t.Errorf("the editor shows no text or no picture\n%s", edit.text)
	}
	from := over(t, edit)
	if p = publish(theirs, from); p.status != http.StatusOK || !strings.Contains(p.text, "Version 1 → 2") {
		t.Fatalf("%d\n%s", p.status, p.text)
	}
	if p = publish(theirs, from); p.status != http.StatusOK { // the same form again
		t.Errorf("sent twice: %d\n%s", p.status, p.text)
	}
	// A check keeps the text, and publishes nothing.
	for _, c := range []struct{ text, over, want string }{
		{mine, "2", "It can be published, with warnings"},
		{theirs, "2", "It can be published, with warnings"},
		{strings.ReplaceAll(mine, "writeLine", "riteLine"), "2", "to mend"},
		{"# as short as can be\nid: clean\nroot:\n  - writeLine: hello\n", "0", "No problems were found"},
	} {
		p = v.post("/console/do/publishDefinition", url.Values{"source": {c.text}, "over": {c.over}, "q.dryRun": {"true"}, "key": {strconv.Itoa(len(c.text)) + c.want}, "back": {"/console/definitions"}})
		if !strings.Contains(p.text, c.want) || !strings.Contains(p.text, html.EscapeString(c.text)) || !strings.Contains(p.text, "data-unkept") || over(t, p) != c.over {
			t.Errorf("checked: %d, no %q or not the text\n%s", p.status, c.want, p.text)
		}
	}
	p = publish(mine, from)
	if p.status != http.StatusConflict || !strings.Contains(p.text, "definition-moved") || !strings.Contains(p.text, "event: mine") || !strings.Contains(p.text, html.EscapeString("their-</textarea><script>")) {
		t.Errorf("over another version: %d\n%s", p.status, p.text)
	}
	if strings.Contains(p.text, "</textarea><script>") {
		t.Error("what somebody wrote is markup")
	}
	if p = publish(mine, over(t, p)); p.status != http.StatusOK || !strings.Contains(p.text, "Version 2 → 3") {
		t.Errorf("knowing it: %d\n%s", p.status, p.text)
	}
	if p = publish(strings.ReplaceAll(first, "id: greet", "id: new"), "7"); p.status != http.StatusConflict || !strings.Contains(p.text, "is gone") {
		t.Errorf("over what is not there: %d\n%s", p.status, p.text)
	}

	p = v.check("/console/definitions/greet/versions", http.StatusOK)
	for _, want := range []string{"From version 2 to version 3", "Starts now by", "mine", `aria-label="Picture of version 2"`, `<tr class="new">`, `<tr class="old">`, "changed"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("versions have no %q\n%s", want, p.text)
		}
	}
	if p = v.check("/console/definitions/greet/versions?from=1&to=1", http.StatusOK); strings.Contains(p.text, `<tr class="new">`) {
		t.Error("a version differs from itself")
	}
	v.check("/console/definitions/greet/versions?from=1&to=9", http.StatusNotFound)
	p = v.post("/console/do/publishVersion", url.Values{"p.id": {"greet"}, "j.version": {"1"}, "key": {"again"}, "back": {"/console/definitions/greet/versions"}})
	if p.status != http.StatusOK || !strings.Contains(p.text, "Version 3 → 1") {
		t.Errorf("an older version again: %d\n%s", p.status, p.text)
	}
	if p = s.as(auth.Viewer).check("/console/definitions/greet/edit", http.StatusOK); !strings.Contains(p.text, `data-editor=""`) || !strings.Contains(p.text, "this needs the role designer") || !strings.Contains(p.text, "data-line=") {
		t.Errorf("a viewer's editor\n%s", p.text)
	}
	for name, want := range map[string]int{"checkDefinition": http.StatusForbidden, "suggest": http.StatusForbidden, "publishDefinition": http.StatusNotFound, "x": http.StatusNotFound} {
		if p = s.as(auth.Operator).post("/console/tell/"+name, nil); p.status != want {
			t.Errorf("an operator tells %s: %d, want %d", name, p.status, want)
		}
	}
}

// TestARunFormHasTheInputs holds that each input has a field of its type, and arrives as that.
func TestARunFormHasTheInputs(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	if status, answer := s.api(http.MethodPost, "/definitions", fmt.Sprintf(greeting, "hello")); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	p := v.check("/console/definitions/greet", http.StatusOK)
	for _, want := range []string{`name="i.text:who" required`, `name="i.number:times"`, `name="i.boolean:loud"`, `name="i.json:tags"`, "else 3", "Whom &lt;b&gt;to&lt;/b&gt; greet"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the form has no %q\n%s", want, p.text)
		}
	}
	run := func(key string, fields url.Values) page {
		fields.Set("p.id", "greet")
		fields.Set("key", key)
		fields.Set("back", "/console/definitions/greet")
		return v.post("/console/do/executeDefinition", fields)
	}
	for what, c := range map[string]struct {
		fields url.Values
		want   string
	}{
		"no number": {url.Values{"i.text:who": {"Ada"}, "i.number:times": {"many"}}, "has to be a number"},
		"no list":   {url.Values{"i.text:who": {"Ada"}, "i.json:tags": {"a, b"}}, "has to be JSON"},
		"no object": {url.Values{"i.text:who": {"Ada"}, "j.input": {"[1]"}}, "has to be an object"},
		"not given": {url.Values{"i.number:times": {"1"}}, "who"},
	} {
		if p = run(what, c.fields); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, c.want) {
			t.Errorf("%s: %d\n%s", what, p.status, p.text)
		}
	}
	p = run("good", url.Values{"i.text:who": {"12"}, "i.number:times": {"90071992547409931"}, "i.boolean:loud": {"false"}, "j.input": {`{"who": "nobody", "tags": ["a"]}`}})
	m := regexp.MustCompile(`/console/instances/([^"]+)"`).FindStringSubmatch(p.text)
	if p.status != http.StatusOK || m == nil {
		t.Fatalf("%d\n%s", p.status, p.text)
	}
	raw := v.get("/console/raw/instances/" + m[1]).text
	for _, want := range []string{`"who": "12"`, `"times": 90071992547409931`, `"loud": false`, `"tags": [`} {
		if !strings.Contains(raw, want) {
			t.Errorf("the input has no %s: %s", want, raw)
		}
	}
}

// TestFilesAreAskedForOnce holds that a browser takes a file of pages again only when it changed.
func TestFilesAreAskedForOnce(t *testing.T) {
	t.Parallel()
	v := open(t, false).as(auth.Admin)
	for name, most := range map[string]int{"console.js": 15_000, "editor.js": 15_000, "codemirror.js": 150_000, "console.css": 15_000, "graph.css": 5_000} {
		p := v.do(http.MethodGet, "/console/static/"+name, nil, http.Header{"Accept-Encoding": {"gzip"}})
		if p.status != http.StatusOK || p.head.Get("Content-Encoding") != "gzip" || len(p.text) > most {
			t.Errorf("%s: %d, %d bytes, %v", name, p.status, len(p.text), p.head)
		}
		if again := v.do(http.MethodGet, "/console/static/"+name, nil, http.Header{"If-None-Match": {p.head.Get("ETag")}}); again.status != http.StatusNotModified {
			t.Errorf("%s again: %d", name, again.status)
		}
	}
	if p := v.get("/console/static/nothing"); p.status != http.StatusNotFound {
		t.Errorf("a file that is not there: %d", p.status)
	}
}

// TestAnActivityIsEditedWithoutAScript holds that the buttons of a form edit the text, keep what
// is not edited, and store nothing; a script gets the same as JSON.
func TestAnActivityIsEditedWithoutAScript(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Designer)
	source := "# all </textarea><script>\nid: amended\nroot:\n  # say it\n  - writeLine: hello\n  - writeLine: ${{ outputs(\"writeLine1\") }}\n"
	send := func(source string, fields url.Values) page {
		fields.Set("source", source)
		fields.Set("over", "0")
		return v.post("/console/amend", fields)
	}
	has := func(p page, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if p.status != http.StatusOK || !strings.Contains(p.text, want) {
				t.Fatalf("%d, no %q in\n%s", p.status, want, p.text)
			}
		}
	}
	p := send(source, url.Values{"e.activity": {"writeLine1"}})
	has(p, `name="f.text" value="hello"`, html.EscapeString("# all </textarea><script>"), "data-unkept", `value="move up" formaction="/console/amend" formnovalidate disabled`)
	if strings.Contains(p.text, "</textarea><script>") {
		t.Error("what somebody wrote is markup")
	}
	p = send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {"set"}, "f.text": {"a: b"}, "f.name": {"first"}, "f.id": {"say"}})
	has(p, html.EscapeString("  # say it\n  - writeLine: 'a: b'\n"), "    id: say\n", "    name: first\n", "left something behind")
	p = send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {"insert after"}, "e.type": {"sendHttpRequest"}})
	has(p, html.EscapeString("  - writeLine: hello\n  - sendHttpRequest:\n"), `name="f.url"`)
	p = send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {"wrap"}, "e.wrap": {"if"}})
	has(p, html.EscapeString("  # say it\n  - if: true\n    then:\n      - writeLine: hello\n"))
	p = send(source, url.Values{"e.activity": {"writeLine2"}, "e.op": {"set"}, "f.text": {"${{ inputs.amuont + }}"}})
	has(p, `aria-invalid="true"`)
	mail := "id: mail\nroot:\n  - sendHttpRequest:\n      url: https://a.example\n      method: \"PO\\rST\"\n      content: \"Dear ${{ inputs.name }},\\r\\nbye\\r\"\n"
	untouched := url.Values{"e.activity": {"sendHttpRequest1"}, "e.op": {"set"}, "f.url": {"https://b.example"}, "f.method": {"POST"}, "f.content": {"Dear ${{ inputs.name }},\r\nbye\r\n"}}
	has(send(mail, untouched), html.EscapeString(strings.Replace(mail, "a.example", "b.example", 1)))
	untouched.Set("f.content", "Dear ${{ inputs.name }},\r\nbye")
	has(send(mail, untouched), html.EscapeString("https://b.example\n      method: \"PO\\rST\"\n"), html.EscapeString("content: |-\n        Dear ${{ inputs.name }},\n        bye\n"))
	machine := "id: amended\nroot:\n  stateMachine:\n    states:\n      A b&c:\n        transitions:\n          - {on: {event: e}, to: B} # on\n      B: {final: true}\n"
	p = send(machine, url.Values{"e.activity": {"root"}})
	has(p, `name="s.1.1.on" value="e"`, `value="delete state A&#43;b%26c"`, `value="move transition A&#43;b%26c 1 up" formaction="/console/amend" formnovalidate aria-label="Transition 1 of A b&amp;c up" disabled`)
	p = send(machine, url.Values{"e.activity": {"root"}, "e.op": {"set"}, "s.1.name": {"New"}, "s.1.1.on": {"sent"}, "s.1.1.when": {"${{ true }}"}, "s.1.1.to": {"B"}, "s.2.name": {"B"}})
	has(p, html.EscapeString("      New:\n        transitions:\n          - {on: {event: sent}, when: \"${{ true }}\", to: B} # on\n      B: {final: true}\n"))
	p = send(machine, url.Values{"e.activity": {"root"}, "e.op": {"insert transition A+b%26c"}, "n.on.A+b%26c": {"lost"}, "n.to.A+b%26c": {"B"}})
	has(p, html.EscapeString("          - {on: {event: e}, to: B} # on\n          - on: {event: lost}\n            to: B\n"))
	for _, button := range []string{"set state B final false", "set state B initial true", "insert state", "delete transition A+b%26c 1", "move transition A+b%26c 1 down", "delete state B", "set state", "set case x", "delete state %zz"} {
		if p = send(machine, url.Values{"e.activity": {"root"}, "e.op": {button}, "n.name": {"C"}}); p.status != http.StatusOK || !strings.Contains(p.text, "State") {
			t.Errorf("%s: %d\n%s", button, p.status, p.text)
		}
	}
	chart := "id: amended\nroot:\n  flowchart:\n    activities:\n      ask: {flowSwitch: [{label: Too large, when: true}]}\n      a: {writeLine: a}\n    connections: [ask.Too large -> a]\n"
	p = send(chart, url.Values{"e.activity": {"ask"}})
	has(p, `value="disconnect Too&#43;large a"`, `name="c.1.label" value="Too large"`, "<option>Default</option>", `value="move case 1 up" formaction="/console/amend" formnovalidate aria-label="Case 1 up" disabled`)
	has(send(chart, url.Values{"e.activity": {"ask"}, "e.op": {"disconnect Too+large a"}}), "connections: []")
	has(send(chart, url.Values{"e.activity": {"ask"}, "e.op": {"set"}, "c.1.label": {"Small"}}), html.EscapeString("{label: Small, when: true}"), html.EscapeString("[ask.Small -> a]"))
	has(send(chart, url.Values{"e.activity": {"ask"}, "e.op": {"insert case"}, "n.label": {"Other"}}), html.EscapeString("{label: Too large, when: true}, {label: Other, when: true}"))
	p = send(source, url.Values{"e.activity": {"nobody"}, "e.op": {"delete"}})
	has(p, "Not edited.", "nobody", html.EscapeString("# say it"))
	// What was typed is kept by the next button, and by a refusal.
	p = send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {"move down"}, "f.text": {"typed"}, "f.id": {"say"}})
	has(p, html.EscapeString("\n  # say it\n  - writeLine: typed\n    id: say\n"), "Moved writeLine1 down, line 6.")
	p = send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {"wrap"}, "e.wrap": {"nothing"}, "f.text": {"typed"}})
	has(p, "Not edited.", `name="f.text" value="typed"`, html.EscapeString("  - writeLine: hello\n"))
	for op, want := range map[string]string{"insert before": "Added sendHttpRequest1 before writeLine1, line 4.", "delete": "Deleted writeLine1", "wrap": "Wrapped writeLine1 in if", "set": "Nothing is to be changed"} {
		has(send(source, url.Values{"e.activity": {"writeLine1"}, "e.op": {op}, "e.type": {"sendHttpRequest"}, "e.wrap": {"if"}}), `<p data-said role="status" tabindex="-1">`+want)
	}

	q := v.do(http.MethodPost, "/console/amend", url.Values{"source": {source}, "e.activity": {"writeLine1"}, "e.op": {"delete"}}, http.Header{"Accept": {"application/json"}})
	if q.status != http.StatusOK || strings.Contains(q.text, "# say it") || !strings.Contains(q.text, `"text":"# all`) || !strings.Contains(q.text, `"refused":false`) {
		t.Errorf("%d %s", q.status, q.text)
	}
	if q = s.as(auth.Operator).post("/console/amend", url.Values{"source": {source}, "e.activity": {"writeLine1"}, "e.op": {"delete"}}); strings.Contains(q.text, "line 5") || !strings.Contains(q.text, html.EscapeString("# say it")) {
		t.Errorf("an operator edits: %d\n%s", q.status, q.text)
	}
	v.check("/console/definitions/amended", http.StatusNotFound)
}

var shownParts = regexp.MustCompile(`name="e.was" value="([0-9a-f]+)"`)

// TestCasesAndStatesAreThoseThatTheFormShows holds that an edit of a case or a state is of the one
// that somebody saw, and that what was typed goes with it, or comes back.
func TestCasesAndStatesAreThoseThatTheFormShows(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Designer)
	send := func(source, id, op string, fields url.Values) page {
		t.Helper()
		of := url.Values{"source": {source}, "over": {"0"}, "e.activity": {id}, "e.op": {op}}
		for name, values := range fields {
			of[name] = values
		}
		p := v.post("/console/amend", of)
		if p.status != http.StatusOK {
			t.Fatalf("%s: %d\n%s", op, p.status, p.text)
		}
		return p
	}
	was := func(source, id string) url.Values {
		t.Helper()
		m := shownParts.FindStringSubmatch(send(source, id, "", nil).text)
		if m == nil {
			t.Fatal("the form does not say which it shows")
		}
		return url.Values{"e.was": {m[1]}}
	}
	with := func(all url.Values, pairs ...string) url.Values {
		out := url.Values{}
		for name, values := range all {
			out[name] = values
		}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	has := func(p page, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(p.text, want) && !strings.Contains(p.text, html.EscapeString(want)) {
				t.Fatalf("no %q in\n%s", want, p.text)
			}
		}
	}
	const text = "id: x\nroot:\n  - switch:\n      - {label: a, when: true, then: []}\n      - {label: b, when: true, then: []}\n      - {label: c, when: true, then: []}\n"
	form := was(text, "switch1")
	other := strings.Replace(text, "      - {label: a", "      - {label: new, when: false, then: []}\n      - {label: a", 1)
	for op, fields := range map[string]url.Values{"delete case 2": nil, "move case 2 up": nil, "set": {"c.1.label": {"typed"}}, "insert after": {"c.1.label": {"typed"}}} {
		p := send(other, "switch1", op, with(form, "e.type", "finish"))
		if fields != nil {
			p = send(other, "switch1", op, with(form, "e.type", "finish", "c.1.label", "typed"))
			has(p, "case 1, label: typed")
		}
		if op != "insert after" || fields != nil {
			has(p, "Not edited.", "the text changed since", other, `name="c.1.label" value="new"`)
		}
	}
	p := send("# a line more\n"+other, "switch1", "set", with(form, "e.line", "3", "c.1.label", "typed"))
	has(p, "Not edited.", "in line 3", "case 1, label: typed", `name="c.1.label" value="new"`)
	moved := "# a line more\n" + text // those are the same
	has(send(moved, "switch1", "delete case 2", form), strings.Replace(moved, "      - {label: b, when: true, then: []}\n", "", 1))

	// What was typed goes with the next button, but for what goes.
	has(send(text, "switch1", "delete case 2", with(form, "c.1.label", "typed", "c.2.label", "c", "c.3.when", "${{ 1 > 0 }}", "f.name", "n", "n.label", "next")),
		"      - {label: typed, when: true, then: []}\n      - {label: c, when: \"${{ 1 > 0 }}\", then: []}\n", "    name: n\n", `name="n.label" value="next"`)
	if p := send(text, "switch1", "insert case", with(form, "n.label", "next")); !strings.Contains(p.text, `name="n.label" value=""`) || !strings.Contains(p.text, "next") {
		t.Errorf("what was added is there again\n%s", p.text)
	}
	has(send(text, "switch1", "wrap", with(form, "e.wrap", "nothing", "c.2.label", "typed", "n.label", "next")), "Not edited.", text, `name="c.2.label" value="typed"`, `name="n.label" value="next"`)
	has(send(text, "switch1", "insert case", with(form, "c.2.label", "a", "n.label", "a")), "Not edited.", text, `name="c.2.label" value="a"`, `name="n.label" value="a"`)

	const machine = "id: x\nroot:\n  stateMachine:\n    initial: A\n    states:\n      A:\n        transitions:\n          - {on: {event: e}, to: B}\n          - {on: {event: f}, to: B}\n      B: {}\n"
	states := was(machine, "root")
	has(send(machine, "root", "insert transition B", with(states, "s.1.name", "First", "s.2.name", "Last", "n.on.B", "g", "n.to.B", "A")),
		"    initial: First\n", "      First:\n", "to: Last}\n", "      Last:", "to: First")
	has(send(machine, "root", "delete transition A 1", with(states, "s.1.1.on", "typed", "s.1.2.on", "kept")), "        transitions:\n          - {on: {event: kept}, to: B}\n")
	has(send(machine, "root", "delete state B", with(states, "s.1.1.on", "typed", "s.1.1.to", "A")), "Not edited.", machine, `name="s.1.1.on" value="typed"`, `<option value="A" selected>`)
	has(send(strings.Replace(machine, "event: e}", "event: x}", 1), "root", "delete transition A 2", states), "Not edited.", "the text changed since")
	has(send(machine, "root", "insert transition", states), "Not edited.", "There is no button")

	// A condition of several lines stays as it is.
	lines := strings.Replace(text, "{label: a, when: true, then: []}", "label: a\n        when: |\n          ${{ inputs.a\n            && inputs.b }}\n        then: []", 1)
	p = send(lines, "switch1", "", nil)
	has(p, "<textarea name=\"c.1.when\" rows=\"4\" spellcheck=\"false\">\n${{ inputs.a\n")
	m := regexp.MustCompile(`(?s)<textarea name="c.1.when"[^>]*>\n(.*?)</textarea>`).FindStringSubmatch(p.text)
	has(send(lines, "switch1", "set", url.Values{"c.1.when": {strings.ReplaceAll(html.UnescapeString(m[1]), "\n", "\r\n")}, "c.2.label": {"typed"}}), strings.Replace(lines, "label: b", "label: typed", 1))

	// An outcome may be called as a part is; it goes with its label.
	chart := "id: x\nroot:\n  flowchart:\n    activities:\n      ask: {flowSwitch: [{label: case, when: true}]}\n      a: {writeLine: a}\n    connections: [ask.case -> a]\n"
	has(send(chart, "ask", "disconnect case a", nil), "connections: []", "Disconnected ask, case to a")
	has(send(chart, "ask", "disconnect case a", url.Values{"c.1.label": {"typed"}}), "connections: []", "{label: typed, when: true}")

	// More fields than one call may edit.
	var many strings.Builder
	many.WriteString("id: x\nroot:\n  - switch:\n")
	all := url.Values{}
	for i := 1; i <= 210; i++ {
		fmt.Fprintf(&many, "      - {label: l%d, when: true, then: []}\n", i)
		if i <= 45 {
			all.Set(fmt.Sprintf("c.%d.label", i), fmt.Sprintf("m%d", i))
		}
	}
	p = send(many.String(), "switch1", "set", all)
	has(p, "{label: m1, ", "{label: m45, ", "{label: l46, ", "Changed switch1")
	all.Set("c.45.label", "l46") // there is one
	has(send(many.String(), "switch1", "set", all), "Not edited.", many.String(), `name="c.1.label" value="m1"`)
	for i := 1; i <= 210; i++ {
		all.Set(fmt.Sprintf("c.%d.label", i), fmt.Sprintf("m%d", i))
	}
	has(send(many.String(), "switch1", "set", all), "Not edited.", "210 fields are changed", many.String())
}
