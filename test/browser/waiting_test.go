package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// asks has a user task with hostile texts.
const asks = `
id: asks
outputs: {answer: "${{ variables.answer }}"}
variables: {answer: object}
root:
  - userTask:
      title: "Approve <img src=x onerror=alert(1)> <script>alert(1)</script> averylongwordwithoutanyplacetobreakitaveryLongWordWithoutAnyPlaceToBreakIt"
      instructions: "**Look** [here](javascript:alert(1)) <b>twice</b>"
      taskData: {amount: 12, "<i>who</i>": "<script>alert(2)</script>"}
      dueIn: 2h
      priority: 90
      outcomes: [Approve, {key: Reject, label: "<u>Turn</u> it down"}]
      form: {required: [reason], properties: {reason: {type: string, title: "<b>Why</b>"}, limit: {type: integer}, note: {type: string, widget: textarea}, on: {type: string, format: date}, sure: {type: boolean}, pin: {type: string, masked: true}}}
    id: approve
    result: answer
`

// TestAPersonDecidesByKeys decides at 400 pixels without a mouse: Enter in a field decides nothing, a button that has the focus does.
// What workflows wrote is text on the page, and runs nothing.
func TestAPersonDecidesByKeys(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", asks)
	id := call(t, "POST", api+"/definitions/asks/execute", "", "")["instanceId"].(string)
	b := browse(t, "http://"+n.addr)
	b.do(chromedp.EmulateViewport(400, 900))
	b.open("/console/")
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("w"))
	b.until("g w leads there", "document.querySelector('h1')?.textContent === 'Waiting for me'")
	b.fits("what waits, 400 wide")
	b.keepsNobodyOut("what waits, 400 wide")
	if eval[bool](b, "!!document.querySelector('main img, main script, main b, main u, main i, main a[href^=javascript]')") {
		t.Error("what a workflow wrote is markup")
	}
	_ = eval[bool](b, "(document.querySelector('input[name=\"i.text:reason\"]').focus(), true)")
	b.do(chromedp.KeyEvent("good"), chromedp.KeyEvent(kb.Enter))
	if got := call(t, "GET", api+"/instances/"+id, "", ""); got["status"] != "Running" {
		t.Errorf("Enter in a field decided: %v", got)
	}
	for range 20 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if strings.Contains(eval[string](b, "document.activeElement.textContent"), "Turn") {
			break
		}
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("it says that it was taken", "document.querySelector('.done')?.textContent === 'Your decision was taken.'")
	got, _ := call(t, "GET", api+"/instances/"+id, "", "")["output"].(map[string]any)
	answer, _ := got["answer"].(map[string]any)
	if answer["outcome"] != "Reject" || answer["completedBy"] != "anyone" {
		t.Errorf("%v", got)
	}
	b.clean()
}
