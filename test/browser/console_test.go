package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed axe/axe.min.js
var axe string

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const order = `id: order
name: Order
root:
  - event: approved
    result: decision
  - writeLine: ${{ variables.decision.by }}
variables:
  decision: {type: object}
`

// runSummary is what opens the form that runs a definition.
const runSummary = "main details:has(> form[action$='dispatchDefinition']) > summary"

// TestAPersonPublishesRunsAndSends goes the way of a new user: a mistake, its place, the
// mended text, a start, an event sent from the page, and the end.
func TestAPersonPublishesRunsAndSends(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	b.open("/")
	b.says("Nothing waits.")
	b.open("/console/publish")
	b.write(strings.ReplaceAll(order, "root:", "rooot:"))
	b.until("the mistake is in the margin", "document.querySelector('.cm-lint-marker-error') !== null")
	b.says("rooot")
	b.says("line 3")
	b.write(order)
	b.says("It can be published, as version 1 of order.")
	b.do(chromedp.Click("button.main"))
	b.says("Version 1 is the first that is published.")
	b.says("Every node serves it.")
	b.do(chromedp.Click("main a.button"))
	b.says("Picture")
	b.do(chromedp.Click(runSummary), chromedp.SetValue("input[name='b.correlationId']", "o-1"), chromedp.Click("button.main"))
	b.says("Done")
	b.do(chromedp.Click("main a.id"))
	b.says("waits for event approved, correlation o-1")
	b.until("the page is live", "document.querySelector('[data-age]').innerText.includes('live')")
	b.do(chromedp.SetValue("textarea[name='j.payload']", `{"by": "Grace"}`), chromedp.Click("button.main"))
	b.says("Done")
	b.do(chromedp.Click("main a.id"))
	b.until("it is finished", "document.querySelector('h1 .status').innerText.includes('Finished')")
	b.open(eval[string](b, "location.pathname") + "?tab=journal")
	b.says("Completed")
	b.clean()
}

// TestALivePageTakesNothingFromWhoWorksInIt publishes under an open form: the page renews itself around
// what was opened, closed and reached, and not while something is typed or chosen.
func TestALivePageTakesNothingFromWhoWorksInIt(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	api := "http://" + n.addr + "/api/v1"
	publish := func(event string) {
		t.Helper()
		call(t, "POST", api+"/definitions", "", strings.ReplaceAll(order, "approved", event))
	}
	const (
		run    = "document.querySelector(\"" + runSummary + "\")"
		sayNow = "document.querySelector('[data-age]').innerText"
		typed  = "input[name='b.correlationId']"
	)
	live := func(event string) {
		t.Helper()
		b.until("the page is live", sayNow+".includes('live')")
		b.until("it shows "+event, "document.querySelector('pre.source').innerText.includes('"+event+"')")
	}
	publish("first")
	b.open("/console/definitions/order")
	live("first")
	b.do(chromedp.Click(runSummary))
	b.until("the form is open, with a part of it", run+".parentElement.open && document.querySelector(\"textarea[name='j.input']\").closest('details').open")
	_ = eval[bool](b, "(document.querySelector(\"textarea[name='j.input']\").closest('details').open = false, "+run+".focus(), true)")
	publish("second")
	live("second")
	b.until("the form is open, its part closed, and the focus where it was", run+".parentElement.open && !document.querySelector(\"textarea[name='j.input']\").closest('details').open && document.activeElement === "+run)

	b.do(chromedp.SendKeys(typed, "o-1"))
	_ = eval[bool](b, "(document.activeElement.blur(), true)")
	publish("third")
	b.until("the page waits", sayNow+".includes('paused')")
	b.until("what was typed is there", "document.querySelector(\""+typed+"\").value === 'o-1' && "+run+".parentElement.open")

	b.open("/console/definitions/order")
	live("third")
	b.do(chromedp.Click(runSummary), chromedp.SetValue("select[name='wait']", "30"))
	publish("fourth")
	b.until("the page waits for who has chosen", sayNow+".includes('paused')")
	b.until("what was chosen is there", "document.querySelector(\"select[name='wait']\").value === '30'")

	// A row that is ticked no more keeps the focus, wherever the list has it then.
	id := call(t, "POST", api+"/definitions/order/dispatch", "", "{}")["instanceId"].(string)
	b.open("/console/instances")
	box := "input[value='" + id + "']"
	b.do(chromedp.Click(box), chromedp.Click(box))
	call(t, "POST", api+"/definitions/order/dispatch", "", "{}")
	b.until("another row came", "document.querySelectorAll('input[name=selected]').length === 2")
	b.until("the focus is where it was", "document.activeElement.value === '"+id+"'")
	b.clean()
}

// write puts a text into the editor, as one who pastes it.
func (b *tab) write(text string) {
	b.t.Helper()
	b.until("the editor is there", "document.querySelector('.cm-editor') !== null")
	raw, err := json.Marshal(text)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = eval[bool](b, "(() => { const v = CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')); v.dispatch({changes: {from: 0, to: v.state.doc.length, insert: "+string(raw)+"}}); return true })()")
}

// TestAnAuthorWritesBesideThePicture writes with completion, goes from the picture to the text
// and back, and is told when another author was faster.
func TestAnAuthorWritesBesideThePicture(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	b.open("/console/definitions/order/edit")
	b.says("It is as version 1 of order.")
	const chosen = "(document.querySelector('[data-picture] g.selected title')?.textContent ?? '')"
	const lineNow = "CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')).state.doc.lineAt(CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')).state.selection.main.head).number"
	_ = eval[bool](b, "(document.querySelector(\"[data-picture] g[data-line='6']\").dispatchEvent(new MouseEvent('click', {bubbles: true})), true)")
	b.until("the text goes to the activity", lineNow+" === 6")
	b.until("it is chosen", chosen+".startsWith('writeLine')")
	b.do(chromedp.KeyEvent(kb.ArrowUp))
	b.until("the picture goes to the line", chosen+".startsWith('event')")

	b.write(order[:strings.Index(order, "variables:")])
	_ = eval[bool](b, "(() => { const v = CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')); v.dispatch({selection: {anchor: v.state.doc.length}}); v.focus(); return true })()")
	b.do(chromedp.KeyEvent("  - writeL"))
	b.until("writeLine is offered", "document.querySelector('.cm-tooltip-autocomplete')?.innerText.includes('writeLine')")
	// By the pointer: a key that comes as the list opens is one of the text.
	b.until("it is taken", "(document.querySelector('.cm-tooltip-autocomplete li[aria-selected]')?.dispatchEvent(new MouseEvent('mousedown', {bubbles: true, cancelable: true})), document.querySelector('textarea').value.endsWith('  - writeLine: '))")

	call(t, "POST", api+"/definitions", "", strings.ReplaceAll(order, "approved", "theirs"))
	b.write(strings.ReplaceAll(order, "approved", "mine"))
	b.says("It can be published")
	b.do(chromedp.Click("button.main"))
	b.says("Another version came between")
	b.until("both are shown", "document.querySelector('tr.old').innerText.includes('theirs') && document.querySelector('tr.new').innerText.includes('mine')")
	b.until("the editor is there", "document.querySelector('.cm-editor') !== null")
	b.do(chromedp.Click("button.main"))
	b.says("Version 2 → 3")
	b.clean()
}

// TestNobodyLosesWhatHeWrote holds that a browser asks before it leaves a text that was not
// published, and not after.
func TestNobodyLosesWhatHeWrote(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	call(t, "POST", "http://"+n.addr+"/api/v1/definitions", "", order)
	var asked atomic.Int32
	var leave atomic.Bool
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range dialogs {
			if err != nil {
				return // the browser has ended
			}
			if ev.Type == page.DialogTypeBeforeunload {
				asked.Add(1)
			}
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: leave.Load()})
		}
	}()
	t.Cleanup(func() { <-done })
	b.open("/console/definitions/order/edit")
	b.says("It is as version 1 of order.")
	b.until("the editor is there", "document.querySelector('.cm-editor') !== null")
	_ = eval[bool](b, "(CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')).focus(), true)")
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	b.do(chromedp.Click("a.brand"))
	b.until("who wrote nothing goes", "location.pathname === '/console/'")
	if asked.Load() != 0 {
		t.Fatal("somebody who wrote nothing was asked")
	}

	b.open("/console/definitions/order/edit")
	b.until("the editor is there", "document.querySelector('.cm-editor') !== null")
	_ = eval[bool](b, "(CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')).focus(), true)")
	b.do(chromedp.KeyEvent("# mine"))
	b.do(chromedp.Click("a.brand"))
	for end := time.Now().Add(patience); asked.Load() == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody was asked")
		}
	}
	b.until("the text is still there", "location.pathname.endsWith('/edit') && document.querySelector('textarea').value.includes('# mine')")
	leave.Store(true)
	b.do(chromedp.Click("a.brand"))
	b.until("who wants to, goes", "location.pathname === '/console/'")

	leave.Store(false)
	was := asked.Load()
	b.open("/console/definitions/order/edit")
	b.write(strings.ReplaceAll(order, "approved", "mine"))
	b.says("It can be published")
	b.do(chromedp.Click("button.main"))
	b.says("Version 1 → 2")
	if got := asked.Load(); got != was {
		t.Errorf("who publishes was asked %d times", got-was)
	}
	b.clean()
}

// TestAViewHasAName keeps a search of instances under a name, finds it again, and forgets it.
func TestAViewHasAName(t *testing.T) {
	n := start(t, "")
	call(t, "POST", "http://"+n.addr+"/api/v1/definitions", "", order)
	b := browse(t, "http://"+n.addr)
	const name = "Theirs <b>&\" ü"
	b.open("/console/instances")
	b.until("the script is there", "document.querySelector('[data-age]').innerText !== ''")
	b.until("all instances are no view", "document.querySelector('[data-views] details') === null")
	b.open("/console/instances?q=def:order+status:suspended")
	b.do(chromedp.Click("[data-views] summary"), chromedp.SendKeys("[data-views] input", name), chromedp.KeyEvent(kb.Enter))
	const chip = "[...document.querySelectorAll('[data-views] .chips a')].filter(a => a.textContent === " + `"Theirs <b>&\" ü"` + ")"
	b.until("it is kept", chip+".length === 1")
	b.open("/console/instances")
	b.until("it is offered", chip+".length === 1 && "+chip+"[0].getAttribute('aria-current') === null")
	b.do(chromedp.Click("[data-views] .chips a"))
	b.until("it leads there", "new URLSearchParams(location.search).get('q') === 'def:order status:suspended' && "+chip+"[0].getAttribute('aria-current') === 'true'")
	_ = eval[bool](b, "(localStorage.setItem('weft-views', '{\"broken\": ['), true)")
	b.open("/console/instances?q=def:order")
	b.until("what cannot be read is none", "document.querySelector('[data-views] details') !== null && document.querySelector('[data-views] .chips') === null")
	b.do(chromedp.Click("[data-views] summary"), chromedp.SendKeys("[data-views] input", "again"), chromedp.KeyEvent(kb.Enter))
	b.until("it is kept", "document.querySelectorAll('[data-views] .chips a').length === 1")
	b.do(chromedp.Click("[data-views] .chips button"))
	b.until("it is forgotten", "document.querySelector('[data-views] .chips') === null && localStorage.getItem('weft-views') === '[]'")
	b.clean()
}

// TestAPageFollowsItsInstanceAcrossNodes kills the node that serves the page: the page goes on
// with another one, and shows what happens there.
func TestAPageFollowsItsInstanceAcrossNodes(t *testing.T) {
	keeper := start(t, "") // its etcd is that of all, so it stays
	first := start(t, keeper.etcd)
	call(t, "POST", "http://"+keeper.addr+"/api/v1/definitions", "", order)
	f := balance(t, first, keeper)
	id := call(t, "POST", "http://"+first.addr+"/api/v1/definitions/order/dispatch", "", "")["instanceId"].(string)
	b := browse(t, f.url)
	b.open("/console/instances/" + id + "?tab=waits")
	b.says("waits for event approved")
	b.until("the page is live", "document.querySelector('[data-age]').innerText.includes('live')")
	if f.last.Load() != 0 {
		t.Fatal("the stream is not that of the first node")
	}
	first.kill()
	call(t, "POST", "http://"+keeper.addr+"/api/v1/events/approved", "", `{"payload": {"by": "Grace"}}`)
	b.until("it is finished", "document.querySelector('h1 .status').innerText.includes('Finished')")
	for end := time.Now().Add(patience); f.last.Load() != 1; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other node serves no stream")
		}
	}
	b.clean()
}

// TestNothingIsTakenFromUnderAPerson holds that a page renews nothing while somebody types.
func TestNothingIsTakenFromUnderAPerson(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	id := call(t, "POST", api+"/definitions/order/dispatch", "", "")["instanceId"].(string)
	b := browse(t, "http://"+n.addr)
	b.open("/console/instances/" + id)
	b.says("waits for event approved")
	b.until("the page is live", "document.querySelector('[data-age]').innerText.includes('live')")
	b.do(chromedp.SendKeys("textarea[name='j.payload']", `{"half`))
	call(t, "POST", api+"/events/approved", "", `{"payload": {"by": "Grace"}}`)
	b.until("the page waits", "document.querySelector('[data-age]').innerText.includes('paused')")
	if got := eval[string](b, `document.querySelector("textarea[name='j.payload']").value`); got != `{"half` {
		t.Errorf("what was typed became %q", got)
	}
	b.clean()
}

// TestKeysAlone uses no mouse.
func TestKeysAlone(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	for i := range 3 {
		call(t, "POST", api+"/definitions/order/dispatch", "", fmt.Sprintf(`{"correlationId": "o-%d"}`, i))
	}
	b := browse(t, "http://"+n.addr)
	b.open("/console/")
	b.until("the script is there", "document.querySelector('[data-age]').innerText !== ''")
	b.do(chromedp.KeyEvent("/"))
	b.until("the search line has the focus", "document.activeElement.id === 'find'")
	_ = eval[bool](b, "(document.activeElement.value = '', true)") // the driver types the character also where the page takes the key
	b.do(chromedp.KeyEvent("def:order corr:o-1"), chromedp.KeyEvent(kb.Enter))
	b.until("one row", "location.pathname === '/console/instances' && document.querySelectorAll('tbody tr').length === 1")
	b.until("the script is there", "document.querySelector('[data-age]').innerText !== ''")
	b.do(chromedp.KeyEvent("j"))
	b.until("the row is marked", "document.querySelector('tr.here') !== null && document.activeElement.matches('a.id')")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.says("waits for event approved, correlation o-1")
	b.until("the script is there", "document.querySelector('[data-age]').innerText !== ''")
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("c"))
	b.until("the cluster", "location.pathname === '/console/cluster'")
	// Every thing that can be used is reached by Tab, in the order of the page.
	reached := map[string]bool{}
	for range 60 {
		b.do(chromedp.KeyEvent(kb.Tab))
		reached[eval[string](b, "document.activeElement.innerText || document.activeElement.name || ''")] = true
	}
	for _, want := range []string{"Instances", "Pause the cluster", "refresh", "dark"} {
		if !reached[want] {
			t.Errorf("no Tab reaches %q: %v", want, reached)
		}
	}
	// A page that nothing renews says how old it is.
	b.open("/console/activities")
	b.until("the page grows old", "/^[1-9][0-9]* s old$/.test(document.querySelector('[data-age]').innerText)")
	b.clean()
}

// TestSigningInAndOut signs in by a key, sees what its role forbids, and is asked again when
// the key is revoked.
func TestSigningInAndOut(t *testing.T) {
	weft, err := program()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys.yaml")
	keys := map[string]string{}
	for _, role := range []string{"viewer", "admin"} {
		out, err := exec.CommandContext(t.Context(), weft, "apikey", "the-"+role, "--role", role, "--auth-keys-file", file).CombinedOutput()
		if err != nil {
			t.Fatalf("weft apikey: %v %s", err, out)
		}
		for _, word := range strings.Fields(string(out)) {
			if strings.HasPrefix(word, "weft_") {
				keys[role] = word
			}
		}
	}
	n := start(t, "", "--auth-keys-file", file)
	base := "http://" + strings.Replace(n.addr, "127.0.0.1", "localhost", 1)
	b := browse(t, base)
	b.open("/console/cluster")
	b.until("a key is asked for", "document.querySelector('input[name=apikey]') !== null")
	b.do(chromedp.SendKeys("input[name=apikey]", "weft_wrong"), chromedp.Click("button.main"))
	b.says("the API key is unknown")
	b.do(chromedp.SendKeys("input[name=apikey]", keys["viewer"]), chromedp.Click("button.main"))
	b.until("signed in", "document.querySelector('.me')?.innerText.includes('the-viewer')")
	b.open("/console/cluster")
	b.says("this needs the role admin")
	if eval[bool](b, "document.cookie !== ''") {
		t.Error("a script reads the session")
	}
	if err := os.WriteFile(file, []byte("none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.until("asked again", "fetch('/console/me').then(r => r.status === 401)")
	b.open("/console/cluster")
	b.until("a key is asked for", "document.querySelector('input[name=apikey]') !== null")
	b.clean()
}

// TestNobodyIsKeptOut looks at every page with axe, light and dark, wide and narrow, and holds
// that no page runs over its side.
func TestNobodyIsKeptOut(t *testing.T) {
	n := start(t, "", "--definitions", filepath.Join(root, "examples"), "--audit-log", filepath.Join(t.TempDir(), "audit"))
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	call(t, "POST", api+"/definitions", "", "id: nightly\nroot:\n  - {cron: '0 0 3 * * *', trigger: true}\n  - delay: 20m\n")
	call(t, "POST", api+"/definitions/nightly/dispatch", "", "")
	call(t, "POST", api+"/definitions", "", strings.ReplaceAll(order, "variables.decision.by", "variables.decision"))
	call(t, "POST", api+"/definitions", "", "id: breaks\nroot:\n  - fault: no stock\n")
	call(t, "POST", api+"/definitions", "", "id: packs\nroot:\n  - runTask: {taskName: pack, payload: {much: true}}\n")
	call(t, "POST", api+"/definitions", "", asks)
	call(t, "POST", api+"/definitions/asks/dispatch", "", "")
	waits := call(t, "POST", api+"/definitions/order/dispatch", "", `{"correlationId": "`+strings.Repeat("long", 60)+`"}`)["instanceId"].(string)
	broken := call(t, "POST", api+"/definitions/breaks/dispatch", "", "")["instanceId"].(string)
	call(t, "POST", api+"/definitions/packs/dispatch", "", "")
	call(t, "POST", api+"/events/aproved", "", `{}`)
	pages := []string{"", "instances", "instances?q=statu:x", "instances/" + waits, "instances/" + waits + "?tab=journal", "instances/" + waits + "?tab=variables", "instances/" + waits + "?tab=timeline", "receipts?key=none", "go?q=nobody", "instances/" + broken,
		"definitions", "definitions/order", "definitions/order-approval", "publish", "definitions/order/edit", "definitions/order-approval/edit", "definitions/order-approval/tests", "definitions/order/versions?from=1&to=2", "definitions/order/flip?after=2&before=1&revision=1", "events?name=approved", "queue", "dead-letters", "tasks", "waiting", "waiting?others=true", "timers", "timers?kind=schedules", "activities", "activities?q=writeLine", "audit", "jobs", "cluster", "me", "nothing", "instances/" + waits + "?tab=owners", "instances/" + waits + "?tab=lineage", "instances/" + waits + "?tab=variables&from=0&to=1", "instances/" + waits + "/repair", "instances/" + broken + "/repair", "compare?a=" + waits, "compare?a=" + waits + "&b=" + broken}
	b := browse(t, "http://"+n.addr)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, width := range []int64{1280, 390} {
			b.do(chromedp.EmulateViewport(width, 900))
			for _, p := range pages {
				b.open("/console/" + p)
				where := fmt.Sprintf("%s, %d wide: /console/%s", theme, width, p)
				b.fits(where)
				if width == 1280 {
					b.keepsNobodyOut(where)
				}
			}
		}
		b.do(chromedp.EmulateViewport(1280, 900))
	}
	b.clean()
}

// TestAnAuthorEditsThePicture inserts, sets an input, wraps, undoes and publishes: the comment in
// the text is still there.
func TestAnAuthorEditsThePicture(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	b.open("/console/publish")
	b.until("the editor is there", "document.querySelector('.cm-editor') !== null")
	b.write("# why it is so\nid: pointed\nroot:\n  # say it\n  - writeLine: hello # loud\n")
	b.says("It can be published")
	const text = "document.querySelector('textarea').value"
	press := func(value string) {
		t.Helper()
		b.until("the button "+value, "!!document.querySelector('[data-part] button[value=\""+value+"\"]')")
		_ = eval[bool](b, "(document.querySelector('[data-part] button[value=\""+value+"\"]').click(), true)")
	}
	b.until("the picture is drawn", "!!document.querySelector('[data-picture] g[data-id=writeLine1]')")
	// By keys: the activity is reached and opened.
	_ = eval[bool](b, "(document.querySelector('[data-picture] g[data-id=writeLine1]').focus(), true)")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("its form has its input", "document.querySelector('[data-part] input[name=\"f.text\"]')?.value === 'hello'")
	_ = eval[bool](b, "(document.querySelector('select[name=\"e.type\"]').value = 'event', true)")
	press("insert after")
	b.until("it is inserted", text+" === '# why it is so\\nid: pointed\\nroot:\\n  # say it\\n  - writeLine: hello # loud\\n  - event:\\n'")
	b.until("its form is there", "!!document.querySelector('[data-part] input[name=\"f.eventName\"]')")
	_ = eval[bool](b, "(document.querySelector('[data-part] input[name=\"f.eventName\"]').focus(), true)")
	b.do(chromedp.KeyEvent("paid"), chromedp.KeyEvent(kb.Enter))
	b.until("it is set", text+".includes('  - event: paid\\n')")
	press("wrap")
	b.until("it is wrapped", text+".includes('  - if: true\\n    then:\\n      - event: paid\\n')")
	b.until("the picture has it", "!!document.querySelector('[data-picture] g[data-id=\"if1.then.event1\"]')")
	if to := os.Getenv("WEFT_PICTURES"); to != "" {
		b.pictures(to)
	}
	_ = eval[bool](b, "(document.querySelector('.cm-content').focus(), true)")
	b.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(2)))
	b.until("it is undone", text+" === '# why it is so\\nid: pointed\\nroot:\\n  # say it\\n  - writeLine: hello # loud\\n  - event: paid\\n'")
	b.do(chromedp.KeyEvent("y", chromedp.KeyModifiers(2)))
	b.until("it is done again", text+".includes('  - if: true\\n')")
	b.says("It can be published")
	b.do(chromedp.Click(".actions > button.main"))
	b.says("is the first")
	b.open("/console/definitions/pointed")
	b.says("# why it is so")
	b.says("# say it")
	b.says("# loud")
	b.clean()
}

// TestAnAuthorEditsCases edits the cases of a switch that the text changes beside: an edit is of the
// case that the form shows, and what is typed goes with it or stays.
func TestAnAuthorEditsCases(t *testing.T) {
	n := start(t, "")
	b := browse(t, "http://"+n.addr)
	b.open("/console/publish")
	const before, cases = "id: cased\nroot:\n  - switch:\n", "      - {label: a, when: true, then: []}\n      - {label: b, when: true, then: []}\n"
	b.write(before + cases)
	b.says("It can be published")
	b.chooses("switch1")
	is := func(what, want string) {
		t.Helper()
		b.until(what, fmt.Sprintf("%s === %q", written, want))
	}
	field := func(name string) string { return "document.querySelector('[data-part] [name=\"" + name + "\"]').value" }
	types := func(name, text string) { _ = eval[bool](b, field(name)+" = '"+text+"', true") }
	press := func(button string) {
		t.Helper()
		_ = eval[bool](b, "(document.querySelector('[data-part] button[value=\""+button+"\"]').click(), true)")
	}
	const more = "      - {label: new, when: false, then: []}\n"
	types("f.name", "kept") // who writes in the form keeps it as it is
	types("c.2.label", "typed")
	_ = eval[bool](b, fmt.Sprintf("(() => { const v = CodeMirror.EditorView.findFromDOM(document.querySelector('.cm-editor')); v.dispatch({changes: {from: %d, insert: %q}}); return true })()", len(before), more))
	press("delete case 2")
	b.until("it is refused", "document.querySelector('[data-part] .wrong')?.innerText.includes('case 2, label: typed')")
	is("nothing is gone", before+more+cases)
	b.until("the form is of the text", field("c.1.label")+" === 'new' && "+field("c.2.label")+" === 'a' && "+field("f.name")+" === 'kept'")
	types("c.3.label", "typed")
	types("n.label", "next")
	press("delete case 2")
	const now = before + more + "      - {label: typed, when: true, then: []}\n    name: kept\n"
	is("the second is gone, and what was typed is written", now)
	b.until("what is not added yet is there", field("n.label")+" === 'next' && "+field("c.2.label")+" === 'typed'")
	types("c.2.label", "new")
	press("insert case")
	b.until("it is refused", "!!document.querySelector('[data-part] .wrong')")
	b.until("what was refused is there", field("n.label")+" === 'next' && "+field("c.2.label")+" === 'new'")
	is("nothing is added", now)
	types("c.2.label", "typed")
	press("insert case")
	b.until("it is added", written+".includes('label: next') && "+field("n.label")+" === ''")
	_ = eval[bool](b, "(document.querySelector('.cm-content').focus(), true)")
	b.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(2)))
	is("it is undone", now)
	b.do(chromedp.KeyEvent("y", chromedp.KeyModifiers(2)))
	b.until("it is done again", written+".includes('label: next')")
	b.says("It can be published")
	b.do(chromedp.Click(".actions > button.main"))
	b.says("is the first")
	b.clean()
}

// pictures takes the page as it is, in both themes and sizes.
func (b *tab) pictures(to string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for name, width := range map[string]int64{"wide": 1280, "narrow": 390} {
			_ = eval[bool](b, "(document.documentElement.dataset.theme = '"+theme+"', true)")
			b.do(chromedp.EmulateViewport(width, 900))
			raw, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(90))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, "edit-"+theme+"-"+name+".jpg"), raw, 0o644)
			}
			if err != nil {
				b.t.Error(err)
			}
		}
	}
	b.do(chromedp.EmulateViewport(1280, 900))
}
