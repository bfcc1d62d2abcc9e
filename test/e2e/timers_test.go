package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// stamp reads a time of an answer.
func stamp(t *testing.T, v any) time.Time {
	t.Helper()
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Delays are armed through one node; it is killed before they are due: each one
// ends once, not early, and soon after it is due. Then all nodes are killed with
// delays that are armed: a new one ends them.
func TestE14_DelayEndsOnceAfterItsNodeWasKilled(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	c.publish(t, "id: later\nroot:\n  - writeLine: armed\n  - delay: 3s\n  - writeLine: due\n")
	const n = 12
	arm := func(m *member, prefix string) map[string]time.Time {
		due := map[string]time.Time{}
		for i := range n {
			id := prefix + strconv.Itoa(i)
			a := c.execute(t, m, "later", id, "{}")
			bookmarks := objects(a.body["bookmarks"])
			if len(bookmarks) != 1 {
				t.Fatalf("execute: %s", a)
			}
			due[id] = stamp(t, bookmarks[0]["dueAt"])
		}
		return due
	}
	ends := func(due map[string]time.Time) (latest time.Duration) {
		for id, due := range due {
			c.waitFor(t, c.any(), id, "Finished")
			c.wantLines(t, c.any(), id, "armed", "due")
			late := stamp(t, c.instance(t, c.any(), id).body["finishedAt"]).Sub(due)
			if late < 0 {
				t.Errorf("%s ended %v early", id, -late)
			}
			latest = max(latest, late)
		}
		if left := c.list(t, c.any(), "/api/v1/timers"); len(left) != 0 {
			t.Errorf("timers are left: %v", left)
		}
		return latest
	}
	due := arm(c.members[0], "one")
	bound := takeoverBound(t)
	c.members[0].kill(t)
	latest := ends(due)
	t.Logf("%d delays of a killed node; the latest ended %v after it was due", n, latest.Round(time.Millisecond))
	// Due a second after the kill: while the dead node's shards are still its own,
	// the others wait for two seconds.
	if latest > bound() {
		t.Errorf("one ended %v after it was due", latest)
	}

	due = arm(c.any(), "all")
	for _, m := range c.live() {
		m.kill(t)
	}
	fresh := c.launch(t, "fresh", "--session-ttl", shortTTL.String())
	if fresh == nil {
		t.FailNow()
	}
	c.members = append(c.members, fresh)
	t.Logf("%d delays of a cluster that was killed; the latest ended %v after it was due", n, ends(due).Round(time.Millisecond))
	c.checkHistories(t)
}

// A cron trigger of every second on three nodes: one instance for each second,
// none twice, none left out, also when the node that fires is stopped.
func TestCronStartsOneInstanceForEachOccurrence(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	c.publish(t, "id: ticks\noptions: {catchUp: all}\nroot:\n  - cron: \"* * * * * *\"\n    id: tick\n    trigger: true\n  - writeLine: tick\n")
	begin := time.Now()
	c.start(t) // one more, which then may be the one that fires
	polltest.Eventually(t, "it ticks", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=ticks")) >= 2
	})
	c.members[0].stop(t)
	window := time.NewTimer(time.Until(begin.Add(testsize.Of(6*time.Second, 3*time.Second))))
	defer window.Stop()
	<-window.C // the rule is about this time
	c.must(t, c.any(), "POST", "/api/v1/definitions/ticks/retract", "{}", 200)
	polltest.Eventually(t, "what was started finishes", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=ticks&status=Running")) == 0
	})
	var ids []string
	first, last := time.Now().Add(time.Hour), time.Time{}
	for _, in := range c.list(t, c.any(), "/api/v1/instances?definitionId=ticks") {
		id, _ := in["instanceId"].(string)
		ids = append(ids, id)
		at := stamp(t, in["createdAt"])
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	// The id of an instance tells its occurrence.
	occurrence := map[string]time.Time{}
	for at := begin.UTC().Truncate(time.Second).Add(-time.Second); !at.After(last); at = at.Add(time.Second) {
		occurrence[workflow.DeriveID("scheduled", "ticks", "tick", at.Format(time.RFC3339Nano))] = at
	}
	var fired []time.Time
	for _, id := range ids {
		at, ok := occurrence[id]
		if !ok {
			t.Errorf("instance %s is of no occurrence", id)
		}
		fired = append(fired, at)
		c.wantLines(t, c.any(), id, "tick")
	}
	slices.SortFunc(fired, time.Time.Compare)
	for i := 1; i < len(fired); i++ {
		if gap := fired[i].Sub(fired[i-1]); gap != time.Second {
			t.Errorf("after %v comes %v", fired[i-1], fired[i])
		}
	}
	t.Logf("%d occurrences in %v", len(fired), last.Sub(first).Round(time.Millisecond))
	if len(fired) < 3 {
		t.Errorf("only %d occurrences", len(fired))
	}
	c.checkHistories(t)
}

// StartAt as a trigger starts one instance, not early, although three nodes look.
func TestStartAtStartsOneInstanceAtItsTime(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	at := time.Now().Add(2 * time.Second).UTC().Truncate(time.Millisecond)
	c.publish(t, fmt.Sprintf("id: once\nroot:\n  - startAt: %s\n    trigger: true\n  - writeLine: started\n", at.Format(time.RFC3339Nano)))
	var started []map[string]any
	polltest.Eventually(t, "it starts and finishes", func() bool {
		started = c.list(t, c.any(), "/api/v1/instances?definitionId=once&subStatus=Finished")
		return len(started) > 0
	})
	late := stamp(t, started[0]["createdAt"]).Sub(at)
	t.Logf("started %v after its time", late)
	if late < 0 || late > 20*time.Second { // much sooner, if the machine is not busy
		t.Errorf("it started %v after its time", late)
	}
	// It is over: nothing is left that could start it again.
	if left := c.list(t, c.any(), "/api/v1/timers"); len(left) != 0 {
		t.Errorf("timers are left: %v", left)
	}
	if n := len(c.list(t, c.any(), "/api/v1/instances?definitionId=once")); n != 1 {
		t.Errorf("%d instances", n)
	}
	c.checkHistories(t)
}
