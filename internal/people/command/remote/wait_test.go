package remote_test

import (
	"fmt"
	"testing"
)

// --wait stands alone, or has its duration in the same word or the next.
func TestWaitIsSaidInThreeWays(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("slow.yaml", fmt.Sprintf(waiting, "ways-to-wait")), "--wait", "1m", u.file("quick.yaml", "id: quick-to-end\nroot: []\n"))
	for i, wait := range [][]string{{"--wait"}, {"--wait=20s"}, {"--wait", "20s"}} {
		id := fmt.Sprintf("quick-%d", i)
		u.wants(0, "Finished\n", append([]string{"run", "quick-to-end", "--id", id, "--jq", ".subStatus"}, wait...)...)
		u.wants(0, "Finished\n", append(append([]string{"instances", "get"}, wait...), id, "--jq", ".subStatus")...)
	}
	u.wants(0, "*", "run", "ways-to-wait", "--id", "waits-1")
	u.refuses(6, "is Suspended and not over after 1s; weft explain waits-1 says why", "instances", "get", "waits-1", "--wait", "1s")
	u.refuses(2, "--wait must not be below zero", "instances", "get", "waits-1", "--wait=-1s")
	u.refuses(2, "accepts 1 arg(s), received 2", "instances", "get", "waits-1", "waits-2", "--wait")
	u.refuses(2, "accepts 1 arg(s), received 2", "instances", "get", "waits-1", "20s")
	// A value that is given is the value, also where it is the one of --wait alone, and an id may read as a duration.
	u.wants(0, "*", "run", "quick-to-end", "--id", "5m")
	u.wants(0, "Finished\n", "instances", "get", "5m", "--wait=30s", "--jq", ".subStatus")
	u.refuses(2, "accepts 1 arg(s), received 2", "instances", "get", "waits-1", "5m", "--wait=30s")
	u.refuses(6, "is Suspended", "run", "ways-to-wait", "--wait", "1s")
	u.wants(0, "waits-1  is Cancelled\n", "instances", "cancel", "waits-1", "--yes", "--wait", "30s")

	u.wants(0, "*", "apply", u.file("fails.yaml", "id: fails-again\nroot:\n  - fault: no\n"))
	u.wants(1, "*", "run", "fails-again", "--id", "fails-1", "--wait", "--exit-status")
	u.wants(0, "fails-1  is Faulted\n", "instances", "retry", "fails-1", "--wait", "30s")
}
