package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

// No retry offers itself for what has failed for good. One that is sent all the same is asked for, with the reason,
// and is taken when it says that it is meant; so is one that would make a call again that onGiveUp may have undone.
func TestARetryOfWhatHasFailedForGoodIsAsked(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	v := s.as(auth.Admin)
	s.publish("id: gone\nroot:\n  - fault: {message: refunded, final: true}\n")
	s.publish(`id: undone
root:
  - sendHttpRequest: {url: "http://127.0.0.1:1/ship", method: POST}
    id: ship
    retry: {attempts: 1}
    onGiveUp:
      - {id: refund, sendHttpRequest: "http://127.0.0.1:1/refund", retry: {attempts: 1}, onGiveUp: {writeLine: x}}
      - fault: no
`)
	for definition, want := range map[string]struct {
		offered bool
		why     string
	}{"gone": {false, "has failed for good"}, "undone": {true, "refund"}} {
		id := s.begin(t, definition, "Faulted", nil)
		at := "/console/instances/" + id
		p := v.get(at + "?tab=incidents")
		if offered := strings.Contains(p.text, "/console/do/retryInstance"); offered != want.offered || strings.Contains(p.text, "Failed for good") == want.offered {
			t.Errorf("%s: a retry is offered: %t\n%s", definition, offered, p.text)
		}
		p = v.post("/console/do/retryInstance", url.Values{"p.id": {id}, "key": {"k-" + definition}, "back": {at}})
		if p.status != http.StatusConflict || !strings.Contains(p.text, want.why) || !strings.Contains(p.text, "Retry all the same") {
			t.Fatalf("%s: %d\n%s", definition, p.status, p.text)
		}
		form := url.Values{}
		for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(p.text[strings.Index(p.text, "If it is to be run again"):], -1) {
			form.Set(m[1], html.UnescapeString(m[2]))
		}
		if p = v.post("/console/do/retryInstance", form); p.status != http.StatusOK || !strings.Contains(p.text, "The retry was taken.") {
			t.Errorf("%s, with %v: %d", definition, form, p.status)
		}
	}
}
