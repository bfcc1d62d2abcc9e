package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestAnActivityIsChosenEverywhere chooses an activity in the picture of an instance, in its
// journal and by arrows, copies a value, and hears of the end and of nothing else.
func TestAnActivityIsChosenEverywhere(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", `id: goes
variables: {n: {type: number, value: 41}}
root:
  - writeLine: one
  - if: true
    then: {writeLine: two}
    else: {writeLine: six}
  - event: approved
  - event: ended
`)
	id := call(t, "POST", api+"/definitions/goes/dispatch", "", "")["instanceId"].(string)
	b := browse(t, "http://"+n.addr)
	b.open("/console/instances/" + id + "?tab=journal")
	b.until("the page is live", "document.querySelector('[data-age]').innerText.includes('live')")
	const node = "document.querySelector('[data-chooses] g[data-id=\"%s\"]')"
	of := func(id string) string { return strings.ReplaceAll(node, "%s", id) }
	press := func(id string) {
		t.Helper()
		_ = eval[bool](b, "("+of(id)+".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, detail: 1})), true)")
	}
	press("writeLine1")
	b.until("the journal has it", "[...document.querySelectorAll('tr.chosen')].length > 0 && [...document.querySelectorAll('tr.chosen')].every(r => r.dataset.activity === 'writeLine1') && "+of("writeLine1")+".matches('.selected')")
	if at := eval[string](b, "location.search"); at != "?tab=journal" {
		t.Errorf("the first click leads to %s", at)
	}
	_ = eval[bool](b, "(document.querySelector('tr[data-activity=event1] b.event').click(), true)")
	b.until("the picture has it", of("event1")+".matches('.selected') && !"+of("writeLine1")+".matches('.selected')")

	// Arrows go along the ways, and Enter opens, also what was not chosen.
	press("writeLine1")
	b.until("another one is chosen", of("writeLine1")+".matches('.selected')")
	_ = eval[bool](b, "("+of("writeLine1")+".closest('a').focus(), true)")
	const at = "document.activeElement.querySelector('g')?.dataset.id"
	for _, step := range []struct{ key, want string }{{kb.ArrowDown, "if1"}, {kb.ArrowDown, "if1.then.writeLine1"}, {kb.ArrowRight, "if1.else.writeLine1"}, {kb.ArrowDown, "event1"}, {kb.ArrowDown, "event2"}, {kb.ArrowUp, "event1"}} {
		b.do(chromedp.KeyEvent(step.key))
		b.until("the arrow leads to "+step.want, at+" === '"+step.want+"'")
	}
	if stops := eval[int](b, "document.querySelectorAll('[data-chooses] a[tabindex=\"0\"]').length"); stops != 1 {
		t.Errorf("Tab stops %d times in the picture", stops)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("its journal", "location.search === '?activity=event1&tab=journal' && [...document.querySelectorAll('section.commit tr')].every(r => r.dataset.activity === 'event1')")

	// A change of state is said, once, and the table stays open.
	b.until("the page is live", "document.querySelector('[data-age]').innerText.includes('live')")
	b.do(chromedp.Click("#drawn summary"))
	call(t, "POST", api+"/events/approved", "", "{}")
	b.until("it waits for the other one", "document.querySelector('.sentence').innerText.includes('ended')")
	b.until("it is said", "document.querySelector('body > [data-said]').textContent.startsWith('Suspended: waits for event ended')")
	b.until("the table is open", "document.querySelector('#drawn').open")
	call(t, "POST", api+"/events/ended", "", "{}")
	b.until("its end is said", "document.querySelector('body > [data-said]').textContent.startsWith('Finished: ')")

	b.open("/console/instances/" + id + "?tab=variables")
	b.until("a value can be copied", "document.querySelector('td [data-copy]')?.hidden === false")
	b.do(chromedp.Click("td [data-copy]"))
	b.until("it is copied", "document.querySelector('td [data-copy]').textContent === 'Copied'")

	// The picture of a definition has the same keys, and its links lead to lines.
	b.open("/console/definitions/goes")
	b.until("the script is there", "document.querySelectorAll('.picture a[tabindex=\"0\"]').length === 1")
	_ = eval[bool](b, "(document.querySelector('.picture a[tabindex=\"0\"]').focus(), true)")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.until("its line is chosen", "document.querySelector('.line.chosen')?.id === 'L5'")
	b.clean()
}

// TestAPersonRepairs tries a change before it is made, and makes it.
func TestAPersonRepairs(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", "id: mends\nroot:\n  - event: never\n    id: waits\n  - writeLine: ended\n")
	id := call(t, "POST", api+"/definitions/mends/dispatch", "", "")["instanceId"].(string)
	b := browse(t, "http://"+n.addr)
	b.open("/console/instances/" + id)
	b.do(chromedp.Click(".actions a[href$='/repair']"))
	const skip = "[...document.querySelectorAll('.card')].find(c => c.querySelector('h2').innerText === 'Skip an activity')"
	b.until("the forms", "!!"+skip)
	_ = eval[bool](b, "("+skip+".querySelector('[name=\"a.0:text:activity\"]').focus(), true)")
	b.do(chromedp.KeyEvent("waits"))
	_ = eval[bool](b, "("+skip+".querySelector('[name=\"q.dryRun\"]').click(), true)")
	b.says("Nothing was done yet.")
	b.do(chromedp.Click("button.main"))
	b.says("The change was taken.")
	b.until("it is finished", "document.querySelector('h1 .status').innerText.includes('Finished')")
	b.clean()
}
