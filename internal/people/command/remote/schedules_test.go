package remote_test

import (
	"strings"
	"testing"
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("yearly.yaml", "id: cli-yearly\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - writeLine: Happy\n"))
	u.wants(0, "*", "apply", u.file("two.yaml", "id: cli-two\nroot:\n  parallel:\n    - {cron: 0 0 0 1 1 *, id: a, trigger: true}\n    - {cron: 0 0 0 1 2 *, id: b, trigger: true}\n"))
	got := u.wants(0, "*", "schedules", "fire", "cli-yearly")
	id := strings.Fields(got.out)[0]
	u.wants(0, "cli-yearly\n", "instances", "get", id, "--wait", "60s", "--jq", ".definitionId")
	first := strings.TrimSpace(u.wants(0, "*", "schedules", "list", "--all", "--jq", `.items[] | select(.definitionId == "cli-yearly") | .dueAt`).out)
	u.refuses(2, "say --yes", "schedules", "skip", "cli-yearly")
	if got := u.wants(0, "*", "schedules", "skip", "cli-yearly", "--yes"); !strings.HasPrefix(got.out, first+"  skipped; the next is due at ") {
		t.Errorf("skip: %s", got.out)
	}
	if got := u.wants(1, "*", "schedules", "skip", "cli-yearly", "newyear", "--due", first, "--yes"); !strings.HasPrefix(got.out, first+"  was fired or skipped already; ") {
		t.Errorf("the same again: %s", got.out)
	}
	u.refuses(2, "cli-two has 2 schedules: name the activity, one of ", "schedules", "fire", "cli-two")
	u.wants(0, "*", "schedules", "skip", "cli-two", "b", "--yes")
	u.refuses(3, "the activity c of cli-two has no occurrence to come", "schedules", "fire", "cli-two", "c")
	u.refuses(3, "no schedule starts nothing-here", "schedules", "fire", "nothing-here")
	u.refuses(2, "it must be a time", "schedules", "skip", "cli-yearly", "--due", "soon", "--yes")
	u.refuses(5, "nothing listens", "schedules", "fire", "cli-yearly", "--server", "http://127.0.0.1:1")
}
