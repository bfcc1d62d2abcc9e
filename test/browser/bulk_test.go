package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// breaks faults as long as what it calls gives no answer.
const breaks = `id: breaks
root:
  - sendHttpRequest: "%s"
`

// TestAThousandAreTriedAgain goes the way of an operator after an outage: finds what is faulted,
// sees what a retry of all of it would do, does it, and looks at how far it is until it is done.
func TestAThousandAreTriedAgain(t *testing.T) {
	const many = 1000
	mended := make(chan struct{})
	l := listen(t)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-mended:
			w.WriteHeader(http.StatusOK)
		default:
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	n := start(t, "", "--allow-private-addresses")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", fmt.Sprintf(breaks, "http://"+l.Addr().String()))
	call(t, "POST", api+"/definitions", "", order)
	for i := range many {
		if i%16 == 0 {
			call(t, "POST", api+"/definitions/order/dispatch", "", "")
		}
		call(t, "POST", api+"/definitions/breaks/dispatch", "", "")
	}
	count := func(sub string) float64 {
		stats := call(t, "GET", api+"/stats?definitionId=breaks", "", "")
		return stats["bySubStatus"].(map[string]any)[sub].(map[string]any)["count"].(float64)
	}
	settle := func(sub string) {
		t.Helper()
		for end := time.Now().Add(5 * patience); count(sub) != many; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%v are %s, want %d", count(sub), sub, many)
			}
		}
	}
	settle("faulted")

	b := browse(t, "http://"+n.addr)
	b.open("/console/instances?q=status:faulted+def:breaks")
	b.until("50 rows", "document.querySelectorAll('tbody tr').length === 50")
	b.do(chromedp.Click("main details:has(form[action$='createJob']) summary"))
	b.do(chromedp.Click("details > form button[name='q.dryRun']"))
	b.says("Nothing was done yet")
	b.says("would take it")
	close(mended)
	b.open("/console/instances?q=status:faulted+def:breaks")
	b.do(chromedp.Click("main details:has(form[action$='createJob']) summary"))
	b.do(chromedp.SetValue("details > form input[name='b.reason']", "the shop is back"), chromedp.Click("details > form[action$='createJob'] button.danger"))
	b.until("the jobs", "location.pathname === '/console/jobs'")
	settle("finished") // which takes longer than a page is waited for
	b.until("it is done", fmt.Sprintf("document.querySelector('main section.card')?.innerText.includes('%d took it (finished %d)')", many, many))
	b.open("/console/instances?q=status:faulted+def:breaks")
	b.says("No instance is like that.")
	b.open("/console/instances?q=def:order+status:suspended")
	b.until("others are left alone", "document.querySelectorAll('tbody tr').length === 50")
	b.clean()
}

// TestRowsAreChosen chooses rows by the keys and the pointer: the page waits with them, tells how many
// there are, compares two, and does what is asked for to these alone.
func TestRowsAreChosen(t *testing.T) {
	n := start(t, "")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	for range 4 {
		call(t, "POST", api+"/definitions/order/dispatch", "", "")
	}
	b := browse(t, "http://"+n.addr)
	b.open("/console/instances")
	b.until("four rows that can be chosen", "document.querySelectorAll('tbody input[name=selected]').length === 4 && document.querySelector('[data-all] input') !== null")
	b.until("none is chosen", "document.querySelector('[data-two]').disabled && document.querySelector('[data-chosen]').innerText === 'Act on chosen rows…'")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	b.until("one is chosen", "document.querySelector('[data-chosen]').innerText === 'Act on 1 chosen row…' && document.querySelector('[data-all] input').indeterminate")
	b.until("the page waits", "document.querySelector('[data-age]').innerText.includes('paused')")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	b.until("the first and the third are chosen", "[...document.querySelectorAll('tbody input[name=selected]')].map(i => i.checked).join() === 'true,false,true,false' && !document.querySelector('[data-two]').disabled")
	b.do(chromedp.Click("[data-all] input"))
	b.until("all are chosen", "document.querySelector('[data-chosen]').innerText === 'Act on 4 chosen rows…' && document.querySelector('[data-two]').disabled")
	b.do(chromedp.Click("[data-all] input"))
	b.until("none is chosen", "document.querySelectorAll('tbody input[name=selected]:checked').length === 0")
	b.do(chromedp.Click("tbody tr:nth-child(2) input"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	ids := eval[string](b, "[...document.querySelectorAll('tbody input[name=selected]:checked')].map(i => i.value).join()")
	b.do(chromedp.Click("[data-two]"))
	b.until("two are compared", "location.pathname === '/console/compare' && new URLSearchParams(location.search).get('a') + ',' + new URLSearchParams(location.search).get('b') === "+fmt.Sprintf("%q", ids))
	b.open("/console/instances")
	b.do(chromedp.Click("tbody tr:nth-child(2) input"), chromedp.Click("tbody tr:nth-child(4) input"), chromedp.Click("summary[data-chosen]"))
	b.do(chromedp.SetValue("#chosen select", "cancel"), chromedp.Click("#chosen button.danger"))
	b.until("the jobs", "location.pathname === '/console/jobs'")
	b.until("it is done", "document.querySelector('main section.card')?.innerText.includes('2 took it (cancelled 2)')")
	b.open("/console/instances?q=status:cancelled")
	b.until("two are cancelled", "document.querySelectorAll('tbody tr').length === 2")
	// Columns: a choice is kept.
	b.open("/console/instances")
	b.do(chromedp.Click("details:has(form[action$='/columns']) summary"), chromedp.Click("input[name=column][value=labels]"), chromedp.Click("form[action$='/columns'] button"))
	b.until("labels are shown", "location.search.includes('labels') && [...document.querySelectorAll('th')].some(t => t.innerText === 'Labels')")
	b.open("/console/instances")
	b.until("they are kept", "[...document.querySelectorAll('th')].some(t => t.innerText === 'Labels')")
	b.clean()
}
