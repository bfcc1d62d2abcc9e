package browser

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestAPersonWhoNeverSawItResumesAnInstance goes the way that docs/console.md writes down, by
// what can be seen on the pages only: from the first page to an instance that went on.
func TestAPersonWhoNeverSawItResumesAnInstance(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	step := func(what string) { t.Logf("%5.1f s  %s", time.Since(began).Seconds(), what) }
	n := start(t, "", "--definitions", examples)
	step("the node is ready")
	b := browse(t, "http://"+n.addr)
	b.open("/")
	b.says("Nothing waits.")
	step("1 the first page")
	b.do(chromedp.Click("main a[href='/console/definitions']"))
	b.says("leave-request")
	step("2 its definitions")
	b.do(chromedp.Click("main a[href='/console/definitions/leave-request']"))
	b.says("Leave request")
	step("3 one of them")
	run := "form[action='/console/do/dispatchDefinition']"
	b.do(chromedp.Click("main details:has(" + run + ") > summary"))
	b.do(chromedp.SendKeys("input[name='i.text:who']", "Ada"), chromedp.SendKeys("input[name='i.number:days']", "10"), chromedp.Click(run+" button.main"))
	b.says("Done")
	step("4 Run…, two fields, Start")
	b.do(chromedp.Click("main a.id"))
	b.says("waits for event leave-decided")
	b.until("an example of what the event brings", "document.querySelector('main label code')?.innerText === '{\"granted\": true, \"by\": \"…\"}'")
	step("5 the instance says what it waits for")
	b.do(chromedp.SendKeys("textarea[name='j.payload']", `{"granted": true, "by": "Grace"}`), chromedp.Click("form[action='/console/do/sendEvent'] button.main"))
	b.says("Done")
	step("6 the event is sent")
	b.do(chromedp.Click("main a.id"))
	b.until("it is finished", "document.querySelector('h1 .status').innerText.includes('Finished')")
	step("7 the instance went on, and ended")
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("a script took %v for it", took)
	}
	b.clean()
}
