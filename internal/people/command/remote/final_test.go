package remote_test

import (
	"strings"
	"testing"
)

// What has failed for good (fault with final: true) is told so wherever one looks, is left alone by a retry and by a job
// of retries, which say why, and is taken by those that mean it.
func TestWhatFailedForGood(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("final.yaml", "id: final\nroot:\n  - writeLine: refunded\n  - fault: {message: refunded, final: true}\n    id: gone\n"))
	for _, id := range []string{"final-1", "final-2"} {
		u.wants(1, "*", "run", "final", "--id", id, "--exit-status")
	}
	const why = "gone said that the instance has failed for good"
	u.wants(0, "true\n", "instances", "get", "final-1", "--jq", ".incidents[0].final")
	if got := u.wants(1, "*", "explain", "final-1"); !strings.Contains(got.out, "next     a retry is not what to do: "+why) {
		t.Errorf("explain:\n%s", got.out)
	}
	if next := u.wants(1, "*", "explain", "final-1", "--jq", ".next[]").out; strings.Count(next, "\n") != 1 || !strings.HasPrefix(next, "a retry is not what to do") {
		t.Errorf("explain has as next: %s", next)
	}
	u.refuses(3, why+": look at what it did before, then retry with again (--again), or delete the instance (instance-undone)", "instances", "retry", "final-1")
	if got := u.wants(1, "*", "instances", "retry", "final-1", "--dry-run"); !strings.Contains(got.out, "0 would take it and 1 would refuse it") || !strings.Contains(got.out, "final-1  instance-undone  "+why) {
		t.Errorf("dry run:\n%s", got.out)
	}
	if got := u.wants(1, "*", "instances", "retry", "--query", "def:final", "--dry-run"); !strings.Contains(got.out, "0 would take it and 2 would refuse it") || strings.Count(got.out, why) != 2 {
		t.Errorf("dry run of a job:\n%s", got.out)
	}
	got := u.wants(3, "retry  0 took it, 2 refused it (instance-undone 2)\n", "instances", "retry", "--query", "def:final", "--yes")
	if strings.Count(got.err, why) != 2 {
		t.Errorf("job:\n%s", got.err)
	}
	job := `.items[] | select(.query | contains("def:final ")) | `
	u.wants(0, "{\"instance-undone\":2}\n", "jobs", "list", "--all", "--jq", job+".refusedBy | tojson")
	u.wants(0, "0 took it, 2 refused it (instance-undone 2)\n", "jobs", "list", "--all", "--jq", job+".report")
	u.wants(0, "1\n", "instances", "get", "final-1", "--jq", ".incidents | length") // nothing ran
	u.wants(0, "final-1  retried, is Faulted\n", "instances", "retry", "final-1", "--again")
	u.wants(1, "retry  2 took it (faulted again 2)\n", "instances", "retry", "--query", "def:final", "--again", "--yes")
}
