package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var pictures = flag.Bool("pictures", false, "take the pictures of docs/pictures again")

// TestPicturesOfTheDocs goes to the screens that docs/console.md and README.md show. After a
// change that they should have:
//
//	go -C test/browser test -run TestPicturesOfTheDocs -pictures
//
// and look at them.
func TestPicturesOfTheDocs(t *testing.T) {
	one := start(t, "", "--node-id", "node-1", "--definitions", filepath.Join(root, "examples"))
	start(t, one.etcd, "--node-id", "node-2")
	b := browse(t, "http://"+one.addr)
	api := "http://" + one.addr + "/api/v1"
	const waits = "order-4717"
	for _, o := range []struct{ id, amount string }{
		{"4712", "1250"}, {"4713", "2400"}, {"4714", "1800"}, {"4715", "5000"}, {"4716", "3120"}, {"4717", "1999"}, {"4718", "7400"}, {"4719", "1020"}, {"4720", "2210"}, {"4721", "4300"}, {"4722", "1130"},
	} {
		call(t, "POST", api+"/definitions/order-approval/dispatch", "", `{"instanceId": "order-`+o.id+`", "input": {"orderId": "o-`+o.id+`", "amount": `+o.amount+`}}`)
	}
	b.open("/console/instances?q=def:order-approval+status:suspended")
	b.until("all wait", "document.querySelectorAll('tbody tr').length === 11")
	call(t, "POST", api+"/events/approved", "", `{"correlationId": "o-4712", "payload": {"by": "Grace"}}`)
	call(t, "POST", api+"/events/aproved", "", `{"correlationId": "o-4717", "payload": {"by": "Ada"}}`)
	call(t, "POST", api+"/definitions/leave-request/dispatch", "", `{"instanceId": "leave-31"}`)
	b.open("/console/instances/order-4712?tab=incidents")
	b.until("it is faulted", "document.querySelector('h1 .status').innerText.includes('Faulted')")

	b.theme("dark")
	b.open("/console/instances/order-4712?tab=incidents")
	b.takes("incident", "no server is known by this name", 900)
	b.theme("light")
	b.open("/console/instances/" + waits + "?tab=waits")
	b.takes("instance", "it came as \"aproved\"", 900)
	b.open("/console/instances?q=def:order-approval")
	b.takes("instances", "order-4722", 600)
	b.open("/console/definitions/order-approval")
	b.takes("definition", "Versions", 800)
	b.open("/console/cluster")
	b.takes("cluster", "node-2", 600)
	b.open("/console/")
	b.until("it counts what has faulted", "[...document.querySelectorAll('main a, main li, main div')].some(e => /^1\\s+\\S*\\s*Faulted$/.test(e.innerText.trim()))")
	b.takes("home", "node-2", 700)

	b.open("/console/definitions/order-approval/edit")
	b.takes("editor", "It is as version 1 of order-approval.", 900)
	b.chooses("pay")
	b.do(chromedp.SetValue("select[name='e.type']", "setVariable"), chromedp.Click("button[value='insert before']"))
	b.until("it is added", "document.querySelector('[data-said]').innerText.startsWith('Added setVariable1 before pay')")
	b.until("the picture has it", "!!document.querySelector('[data-picture] g.selected[data-id=setVariable1]')")
	b.do(chromedp.SetValue("[name='f.variable']", "decision"), chromedp.SetValue("[name='f.value']", "${{ {by: 'the system'} }}"), chromedp.Click("[data-apply]"))
	b.says("Changed setVariable1")
	b.takes("editing", "It can be published, as version 2 of order-approval.", 1170)
	b.clean()
}

// takes the picture of a screen of some height that says something.
func (b *tab) takes(name, text string, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(1280, height))
	b.says(text)
	if !*pictures {
		return
	}
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "docs", "pictures", name+".png"), raw, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
