package node_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// TestScriptsThatWaitAreSeen starts more scripts than run at once.
func TestScriptsThatWaitAreSeen(t *testing.T) {
	t.Parallel()
	n := start(t, node.Config{})
	if m := scraped(t, n.HTTPAddr()); !regexp.MustCompile(`(?m)^weft_scripts_waiting \d+$`).MatchString(m) {
		t.Error("no weft_scripts_waiting")
	}
	if status, p := call(t, n, "POST", "/api/v1/definitions", `
id: heavy
root:
  - runJavaScript: "let n = 0; for (let i = 0; i < 200000; i++) n += i; n"
`); status != 201 {
		t.Fatalf("%d %v", status, p)
	}
	waits := regexp.MustCompile(`(?m)^weft_script_waits_total (\S+)$`)
	seconds := regexp.MustCompile(`(?m)^weft_script_wait_seconds_total (\S+)$`)
	polltest.Eventually(t, "some wait", func() bool {
		for range 20 {
			if status, p := call(t, n, "POST", "/api/v1/definitions/heavy/dispatch", ""); status != 202 {
				t.Fatalf("%d %v", status, p)
			}
		}
		m := scraped(t, n.HTTPAddr())
		for _, r := range []*regexp.Regexp{waits, seconds} {
			found := r.FindStringSubmatch(m)
			if found == nil {
				t.Fatalf("no %v", r)
			}
			if v, err := strconv.ParseFloat(found[1], 64); err != nil || v == 0 {
				return false
			}
		}
		return true
	})
}
