package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	control = chromedp.Modifier(2)
	shift   = chromedp.Modifier(8)

	// focused is what has the focus, in words.
	focused = `(e => e === document.body || !e ? "nothing" : e.matches("g[data-line]") ? "box " + e.dataset.id : e.matches("[data-said]") ? "what was done" : e.matches("[data-part] h2") ? "the form" :
		e.matches("[data-part] .wrong") ? "the refusal" : e.matches("[data-undo]") ? "undo" : e.matches("[data-redo]") ? "redo" : e.closest(".cm-editor") ? "the text" :
		(e.name || e.tagName) + (e.name === "e.op" ? " " + e.value : e.matches("button") && !e.name ? " " + e.innerText : ""))(document.activeElement)`
	said    = "document.querySelector('[data-said]').innerText"
	written = "document.querySelector('textarea').value"
)

// focus waits until something has the focus.
func (b *tab) focus(want string) {
	b.t.Helper()
	b.until("the focus is on "+want+", and was on "+eval[string](b, focused), focused+" === "+fmt.Sprintf("%q", want))
}

// reach presses Tab until something has the focus, backwards or on.
func (b *tab) reach(want string, how ...chromedp.KeyOption) {
	b.t.Helper()
	var seen []string
	for range 60 {
		b.do(chromedp.KeyEvent(kb.Tab, how...))
		now := eval[string](b, focused)
		if now == want {
			return
		}
		seen = append(seen, now)
	}
	b.t.Fatalf("no Tab reaches %q, but %q", want, seen)
}

// TestAnAuthorEditsByKeysAlone chooses an activity of the picture, inserts another one, sets an
// input, undoes and does again, and publishes, without a mouse. Nothing that it does loses the
// focus, and each edit says what it did.
func TestAnAuthorEditsByKeysAlone(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	const source = "id: keyed\nroot:\n  - writeLine: hello # loud\n  - if: true\n    then:\n      - delay: 1s\n    else:\n      - writeLine: no\n  - writeLine: bye\n  - runTask: &pack {taskName: pack}\n  - runTask: *pack\n"
	call(t, "POST", "http://"+n.addr+"/api/v1/definitions", "", source)
	b.open("/console/definitions/keyed/edit")
	b.says("It is as version 1 of keyed.")
	b.until("nothing can be undone", "document.querySelector('[data-undo]').disabled && document.querySelector('[data-redo]').disabled && document.querySelector('[data-undo]').offsetWidth > 0")
	press := func(want string, key string, how ...chromedp.KeyOption) {
		t.Helper()
		b.do(chromedp.KeyEvent(key, how...))
		b.focus(want)
	}

	// One box is reached by Tab, the others from there.
	b.reach("box writeLine1")
	press("box if1", kb.ArrowDown)
	press("box if1.then.delay1", kb.ArrowDown)
	press("box if1.else.writeLine1", kb.ArrowRight)
	press("box if1.then.delay1", kb.ArrowLeft)
	press("box if1", kb.ArrowUp)
	press("box if1.then.delay1", "j")
	press("box if1", "k")
	press("box runTask2", kb.End)
	press("box runTask2", kb.ArrowDown) // there is no other one
	press("box runTask1", kb.ArrowUp)

	// A refusal has the focus, and what was typed is still there.
	press("the form", kb.Enter)
	b.reach("f.taskName")
	b.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent("s"), chromedp.KeyEvent(kb.Enter)) // of both
	b.focus("the refusal")
	b.until("what was typed is there", "document.querySelector('[name=\"f.taskName\"]').value === 'packs'")
	b.reach("f.taskName")
	b.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Backspace))
	press("box runTask1", kb.Escape)
	press("box writeLine1", kb.Home)
	press("q.dryRun", kb.Tab) // the others are no stops of their own
	press("box writeLine1", kb.Tab, chromedp.KeyModifiers(shift))

	// Its form is entered, an activity is added behind it, and its input is set.
	press("the form", kb.Enter)
	press("e.type", kb.Tab)
	b.do(chromedp.KeyEvent("event"))
	b.until("the type is chosen", "document.activeElement.value === 'event'")
	b.reach("e.op insert after")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.focus("what was done")
	b.until("it is said", said+" === 'Added event1 behind writeLine1, line 4.'")
	b.until("it is inserted", written+".includes('hello # loud\\n  - event:\\n')")
	b.reach("f.eventName")
	b.do(chromedp.KeyEvent("paid"), chromedp.KeyEvent(kb.Enter))
	b.until("it is said", said+" === 'Changed event1, line 4.'")
	b.until("it is set", written+".includes('  - event: paid\\n')")
	b.focus("f.eventName")

	b.reach("f.id")
	b.do(chromedp.KeyEvent("ev"), chromedp.KeyEvent(kb.Enter))
	b.until("the id is set", written+".includes('  - event: paid\\n    id: ev\\n')")
	b.focus("f.id")

	// One history, by keys and by buttons, from wherever the focus is.
	b.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(control)))
	b.until("the id is undone", "!"+written+".includes('id: ev')")
	b.until("it is said", said+".startsWith('Undone: line ')")
	b.until("the form is of the text", "document.querySelector('[name=\"f.id\"]').value === ''")
	b.focus("f.id")
	b.do(chromedp.KeyEvent("y", chromedp.KeyModifiers(control)))
	b.until("it is done again", written+".includes('    id: ev\\n') && "+said+".startsWith('Done again: line ')")
	b.reach("undo", chromedp.KeyModifiers(shift))
	for range 3 {
		if got := eval[string](b, focused); got != "undo" {
			t.Fatalf("the focus went to %s", got)
		}
		b.do(chromedp.KeyEvent(kb.Enter))
	}
	b.until("all is undone", written+" === "+fmt.Sprintf("%q", source))
	b.focus("what was done") // the button is disabled
	b.until("undo is disabled", "document.querySelector('[data-undo]').disabled")
	b.reach("redo", chromedp.KeyModifiers(shift))
	for range 3 {
		b.do(chromedp.KeyEvent(kb.Enter))
	}
	b.until("all is done again", written+".includes('  - event: paid\\n    id: ev\\n') && document.querySelector('[data-redo]').disabled")
	b.focus("what was done")

	// Back in the picture, which is drawn again, what was edited is chosen.
	b.until("the picture has it", "!!document.querySelector('[data-picture] g.selected[data-id=ev]')")
	b.reach("e.type")
	press("box ev", kb.Escape)
	b.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(control)))
	b.until("the picture is of the text", "!!document.querySelector('[data-picture] g[data-id=event1]')")
	b.focus("box event1")
	b.do(chromedp.KeyEvent("y", chromedp.KeyModifiers(control)))
	b.until("the picture is of the text", "!!document.querySelector('[data-picture] g[data-id=ev]')")
	b.focus("box ev")

	// What is moved, wrapped and deleted keeps the focus, too.
	press("the form", kb.Enter)
	b.reach("e.op move down")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("it is said", said+".startsWith('Moved ev down')")
	b.focus("e.op move down")
	b.reach("e.op wrap")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("it is said", said+".startsWith('Wrapped ev in if')")
	b.focus("what was done")
	b.reach("e.op delete")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("it is said", said+".startsWith('Deleted if2')")
	if got := eval[string](b, focused); got == "nothing" {
		t.Error("a delete loses the focus")
	}
	for range 3 {
		b.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(control)))
	}
	b.until("all three are undone", written+".includes('loud\\n  - event: paid\\n    id: ev\\n')")

	b.says("It can be published, as version 2 of keyed.")
	b.reach("BUTTON Publish", chromedp.KeyModifiers(shift))
	b.do(chromedp.KeyEvent(kb.Enter))
	b.says("Version 1 → 2")
	if got := call(t, "GET", "http://"+n.addr+"/api/v1/definitions/keyed/interface", "", "")["version"]; got != 2.0 {
		t.Errorf("published is version %v", got)
	}
	b.clean()
}

// TestTheEditFormKeepsNobodyOut looks with axe at the form of an activity as each of its tools
// leaves it, light and dark, narrow and wide.
func TestTheEditFormKeepsNobodyOut(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1/definitions"
	call(t, "POST", api, "", "id: steps\nroot:\n  - writeLine: hello\n  - runJavaScript: return 1\n  - if: true\n    then:\n      - writeLine: ${{ outputs(\"runJavaScript1\") }}\n  - runTask: &pack {taskName: pack, payload: {a: 1}}\n  - runTask: *pack\n")
	call(t, "POST", api, "", "id: chart\nroot:\n  flowchart:\n    start: ask\n    activities:\n      ask: {flowDecision: true}\n      yes: {writeLine: y}\n      no: {writeLine: n}\n    connections: [ask.True -> yes, ask.False -> no]\n")
	b := browse(t, "http://"+n.addr)
	chosen := func(definition, id string) {
		t.Helper()
		b.open("/console/definitions/" + definition + "/edit")
		b.says("It is as version 1")
		b.chooses(id)
	}
	press := func(op, want string) {
		t.Helper()
		_ = eval[bool](b, "(document.querySelector('[data-part] button[value=\""+op+"\"]').click(), true)")
		b.until(op, "document.querySelector('main').innerText.includes("+fmt.Sprintf("%q", want)+")")
	}
	states := map[string]func(){
		"a step":               func() { chosen("steps", "writeLine1") },
		"one with branches":    func() { chosen("steps", "if1") },
		"one of a flowchart":   func() { chosen("chart", "ask") },
		"one with many fields": func() { chosen("steps", "runTask1") },
		"added":                func() { chosen("steps", "if1"); press("insert into then", "in if1, as the last of then") },
		"wrapped":              func() { chosen("steps", "writeLine1"); press("wrap", "Wrapped writeLine1 in if") },
		"disconnected":         func() { chosen("chart", "ask"); press("disconnect", "Not edited.") },
		"refused": func() {
			chosen("steps", "runTask1")
			_ = eval[bool](b, "(document.querySelector('[name=\"f.taskName\"]').value = 'packs', true)")
			press("set", "Not edited.")
		},
		"wrong": func() {
			chosen("steps", "writeLine1")
			_ = eval[bool](b, "(document.querySelector('[name=\"f.text\"]').value = '${{ inputs.x + }}', true)")
			press("set", "to mend")
			b.until("the field is marked", "!!document.querySelector('[data-part] [aria-invalid]')")
		},
		"left behind": func() { chosen("steps", "runJavaScript1"); press("delete", "left something behind") },
	}
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, width := range []int64{1280, 390} {
			b.do(chromedp.EmulateViewport(width, 900))
			for name, state := range states {
				state()
				where := fmt.Sprintf("%s, %d wide, %s", theme, width, name)
				b.fits(where)
				b.keepsNobodyOut(where)
			}
		}
		b.do(chromedp.EmulateViewport(1280, 900))
	}
	b.clean()
}

// theme chooses the colours of all pages.
func (b *tab) theme(theme string) {
	b.t.Helper()
	b.open("/console/me")
	b.do(chromedp.Click("button[value=" + theme + "]"))
	b.until("the theme is kept", "document.documentElement.dataset.theme === '"+theme+"'")
}

// fits holds that the page does not run over its side.
func (b *tab) fits(where string) {
	b.t.Helper()
	if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.t.Errorf("%s runs %d pixels over its side", where, over)
	}
}

// keepsNobodyOut holds that axe finds nothing serious in the page.
func (b *tab) keepsNobodyOut(where string) {
	b.t.Helper()
	if !eval[bool](b, "!!window.axe") {
		_ = eval[bool](b, axe+"; true")
	}
	raw := eval[string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => [v.id, v.nodes.map(n => n.html + " " + n.failureSummary).slice(0, 3).join("; ")])))`)
	var found [][2]string
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range found {
		b.t.Errorf("%s: %s: %s", where, v[0], v[1])
	}
}

// chooses clicks on an activity of the editor's picture.
func (b *tab) chooses(id string) {
	b.t.Helper()
	b.until("the picture has it", "!!document.querySelector('[data-picture] g[data-id=\""+id+"\"]')")
	_ = eval[bool](b, "(document.querySelector('[data-picture] g[data-id=\""+id+"\"]').dispatchEvent(new MouseEvent('click', {bubbles: true})), true)")
	b.until("its form is there", "document.querySelector('[data-part] h2 code')?.title === '"+id+"'")
}

// TestARenewedPageKeepsThePlace holds that a page which renews itself leaves a person at what they came to, where
// rows come and go: at the same button, box and link, and never at another one.
func TestARenewedPageKeepsThePlace(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	b := browse(t, "http://"+n.addr)
	script := func() { b.until("the script is there", "document.querySelector('[data-age]').innerText !== ''") }
	rows := func(n int) {
		b.until(fmt.Sprint(n, " rows"), fmt.Sprint("document.querySelectorAll('tbody tr').length === ", n))
	}

	// A button is that of its own item, or none.
	var items []string
	for range 3 {
		items = append(items, call(t, "POST", api+"/events/nobody", "", "{}")["queued"].(string))
	}
	b.open("/console/queue")
	script()
	rows(3)
	_ = eval[bool](b, "([...document.querySelectorAll('tbody form')].find(f => f.querySelector('[name=\"p.id\"]').value === '"+items[1]+"').querySelector('button').focus(), true)")
	call(t, "DELETE", api+"/queue/"+items[0], "", "")
	rows(2)
	if got := eval[string](b, "document.activeElement.form?.querySelector('[name=\"p.id\"]').value ?? ''"); got != items[1] {
		t.Errorf("the focus went from Delete of %s to that of %q", items[1], got)
	}
	call(t, "DELETE", api+"/queue/"+items[1], "", "")
	rows(1)
	if !eval[bool](b, "document.activeElement === document.body") {
		t.Errorf("the focus of an item that is gone went to %s", eval[string](b, focused))
	}

	// A row is marked by what it is about.
	call(t, "POST", api+"/definitions", "", order)
	for range 3 {
		call(t, "POST", api+"/definitions/order/dispatch", "", "")
	}
	b.open("/console/instances")
	script()
	rows(3)
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	const at = "(document.querySelector('tr.here a.id')?.getAttribute('href') ?? '')"
	second := eval[string](b, at)
	if second == "" || second != eval[string](b, "document.querySelectorAll('tbody tr')[1].querySelector('a.id').getAttribute('href')") {
		t.Fatalf("marked is %q", second)
	}
	call(t, "POST", api+"/definitions/order/dispatch", "", "")
	rows(4)
	if got, focus := eval[string](b, at), eval[string](b, "document.activeElement.getAttribute('href') ?? ''"); got != second || focus != second {
		t.Errorf("from %s the mark went to %q and the focus to %q", second, got, focus)
	}
	_ = eval[bool](b, "(document.querySelector('tr.here input').focus(), true)")
	call(t, "POST", api+"/definitions/order/dispatch", "", "")
	rows(5)
	if got := eval[string](b, "document.activeElement.value ?? ''"); got == "" || !strings.HasSuffix(second, got) {
		t.Errorf("the focus went from the box of %s to %q", second, got)
	}
	id := second[strings.LastIndex(second, "/")+1:]

	// j goes to no title of rows, and to none that is folded away.
	b.open("/console/events")
	script()
	b.do(chromedp.KeyEvent("j"))
	b.until("a row of the event is marked", "!!document.querySelector('tr.here td')")
	b.open("/console/instances/" + id + "?tab=waits")
	b.until("the table is folded", "document.querySelectorAll('#drawn tbody tr').length > 0 && !document.querySelector('#drawn').open")
	script()
	b.do(chromedp.KeyEvent("j"))
	if eval[bool](b, "!!document.querySelector('tr.here')") {
		t.Error("a row is marked that nobody sees")
	}

	b.clean()
}
