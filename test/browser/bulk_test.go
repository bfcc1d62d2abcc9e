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
	b.do(chromedp.Click("button[name='q.dryRun']"))
	b.says("Nothing was done yet")
	b.says("would take it")
	close(mended)
	b.open("/console/instances?q=status:faulted+def:breaks")
	b.do(chromedp.Click("main details:has(form[action$='createJob']) summary"))
	b.do(chromedp.SetValue("input[name='b.reason']", "the shop is back"), chromedp.Click("form[action$='createJob'] button.danger"))
	b.until("the jobs", "location.pathname === '/console/jobs'")
	settle("finished") // which takes longer than a page is waited for
	b.until("it is done", fmt.Sprintf("document.querySelector('main section.card')?.innerText.includes('done %d ')", many))
	b.open("/console/instances?q=status:faulted+def:breaks")
	b.says("No instance is like that.")
	b.open("/console/instances?q=def:order+status:suspended")
	b.until("others are left alone", "document.querySelectorAll('tbody tr').length === 50")
	b.clean()
}
