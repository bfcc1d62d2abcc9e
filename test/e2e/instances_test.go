package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
)

// Thirty starts of a singleton through three nodes at once: one runs, the others
// are refused; when it has finished, another may start, and again only one.
func TestSingletonRunsOnceHoweverManyStart(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: single\noptions: {activation: Singleton}\nroot:\n  - event: end\n  - writeLine: ended\n")
	c.publish(t, "id: called\noptions: {activation: Singleton}\nroot:\n  - event: call\n    trigger: true\n  - event: end\n")
	c.publish(t, `
id: starter
variables: {r: object}
root:
  - executeWorkflow: {workflowDefinitionId: single}
    result: r
  - writeLine: "${{ variables.r.SubStatus }}"
`)
	const starts = 30
	for round := range testsize.Of(5, 2) {
		for _, how := range []string{"execute", "dispatch"} {
			answers := make([]answer, starts)
			atOnce(starts, func(i int) {
				answers[i] = c.call(t, c.members[i%3], "POST", "/api/v1/definitions/single/"+how, fmt.Sprintf(`{"correlationId": "c%d"}`, i%2))
			})
			running := ""
			for _, a := range answers {
				switch {
				case a.status == 200 || a.status == 202:
					if running != "" {
						t.Errorf("round %d, %s: a second one started: %s", round, how, a)
					}
					running = a.text("instanceId")
				case a.status != 409 || a.text("code") != "instance-refused":
					t.Errorf("round %d, %s: %s", round, how, a)
				}
			}
			if running == "" {
				t.Fatalf("round %d, %s: none started: %v", round, how, answers)
			}
			if n := len(c.list(t, c.any(), "/api/v1/instances?definitionId=single&status=Running")); n != 1 {
				t.Errorf("round %d, %s: %d run", round, how, n)
			}
			// A parent's child meets the same gate; the parent hears that it was refused.
			parent := fmt.Sprintf("starter-%d-%s", round, how)
			c.execute(t, c.any(), "starter", parent, "{}")
			c.waitFor(t, c.any(), running, "Suspended")
			if n := len(c.list(t, c.any(), "/api/v1/instances?definitionId=single&status=Running")); n != 1 {
				t.Errorf("round %d, %s: %d run beside a parent's child", round, how, n)
			}
			a := c.call(t, c.any(), "POST", "/api/v1/events/end", fmt.Sprintf(`{"instanceId": %q}`, running))
			if kind(a) != "resumed" {
				t.Errorf("round %d, %s: end: %s", round, how, a)
			}
			c.waitFor(t, c.any(), parent, "Finished")
		}
	}
	// By an event: the start is refused, and said so.
	answers := make([]answer, 9)
	atOnce(len(answers), func(i int) { answers[i] = c.call(t, c.members[i%3], "POST", "/api/v1/events/call", "{}") })
	count := map[string]int{}
	for _, a := range answers {
		count[kind(a)]++
	}
	if count["started"] != 1 || count["refused"] != len(answers)-1 {
		t.Errorf("events: %v", count)
	}
	c.checkHistories(t)
}

// Cancel and delete, sent to another node than the one that works: the burst ends,
// also inside of a call that never does, what it has done so far is kept with the
// cancel, and a deleted instance never comes back, whatever reaches it later.
func TestCancelAndDeleteInterruptARunningInstance(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	out := newOutside(t)
	c.publish(t, calling)
	for round := range testsize.Of(3, 1) {
		begin := func(what string) (id string, other *member) {
			id = fmt.Sprintf("%s%d", what, round)
			c.dispatch(t, c.any(), "calling", id, fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/"+id)))
			out.wait(t, "/"+id, 1)
			holder := c.holder(t, c.any(), id)
			if holder == nil {
				t.Fatalf("nobody holds %s", id)
			}
			return id, c.others(holder)[round%2]
		}
		id, other := begin("cancel")
		if a := c.call(t, other, "POST", "/api/v1/instances/"+id+"/cancel", "{}"); a.outcome != done {
			t.Errorf("cancel inside of an activity: %s", a)
		}
		took := c.waitFor(t, other, id, "Cancelled")
		t.Logf("cancelled %v after the answer", took.Round(time.Millisecond))
		c.wantLines(t, other, id, "before")
		if a := c.call(t, c.any(), "POST", "/api/v1/instances/"+id+"/cancel", "{}"); a.status >= 500 {
			t.Errorf("cancel again: %s", a)
		}

		id, other = begin("delete")
		if a := c.call(t, other, "DELETE", "/api/v1/instances/"+id, ""); a.outcome != done {
			t.Errorf("delete inside of an activity: %s", a)
		}
		took = polltest.Within(t, patience, "it is gone", func() bool { return c.instance(t, other, id).status == 404 })
		t.Logf("deleted %v after the answer", took.Round(time.Millisecond))
		if n := len(out.keys("/" + id)); n != 1 {
			t.Errorf("the outside was called %d times for the deleted instance", n)
		}
		for _, m := range c.members {
			if a := c.instance(t, m, id); a.status != 404 {
				t.Errorf("%s still shows it: %s", m.id, a)
			}
			for _, late := range [][2]string{
				{"POST", "/api/v1/instances/" + id + "/cancel"}, {"POST", "/api/v1/instances/" + id + "/retry"}, {"DELETE", "/api/v1/instances/" + id},
			} {
				if a := c.call(t, m, late[0], late[1], ""); a.status != 404 {
					t.Errorf("%s %s after the delete: %s", late[0], late[1], a)
				}
			}
			if a := c.call(t, m, "POST", "/api/v1/events/go", fmt.Sprintf(`{"instanceId": %q}`, id)); a.status != 404 {
				t.Errorf("an event for it: %s", a)
			}
		}
	}
	c.checkHistories(t)
}

// Deletes race with the events that resume and finish an instance: afterwards it
// is not there, nothing of it is left in etcd, and each call was answered.
func TestDeletedInstanceNeverComesBack(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	c.publish(t, "id: steps\nroot:\n  - event: one\n  - writeLine: one\n  - event: two\n  - writeLine: two\n  - delay: 1h\n")
	n := testsize.Of(60, 15)
	concurrently(n, 4, func(i int) {
		id, correlation := fmt.Sprintf("x%d", i), fmt.Sprintf("c%d", i)
		c.execute(t, c.any(), "steps", id, fmt.Sprintf(`{"correlationId": %q}`, correlation))
		answers := make([]answer, 4)
		atOnce(4, func(k int) {
			switch k {
			case 0:
				answers[k] = c.event(t, c.any(), "one", correlation)
			case 1:
				answers[k] = c.event(t, c.any(), "two", correlation)
			default:
				answers[k] = c.call(t, c.any(), "DELETE", "/api/v1/instances/"+id, "")
			}
		})
		for k, a := range answers {
			if a.outcome != done && (k < 2 || a.status != 404) {
				t.Errorf("round %d, call %d: %s", i, k, a)
			}
		}
	})
	polltest.Eventually(t, "all are gone", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=steps")) == 0
	})
	for i := range n {
		if a := c.instance(t, c.any(), fmt.Sprintf("x%d", i)); a.status != 404 {
			t.Errorf("x%d: %s", i, a)
		}
	}
	// Events that met nothing may wait for the next, and the locks of the workers that look at
	// them come and go; nothing else is left.
	for _, key := range c.keys(t) {
		for _, gone := range []string{"instance/", "journal/", "mailbox/", "bookmark/", "cancel/", "index/", "task/", "by-correlation/", "by-parent/", "label/", "lock/instance/"} {
			if strings.HasPrefix(key, gone) {
				t.Errorf("left in etcd: %s", key)
			}
		}
	}
	for _, timer := range c.list(t, c.any(), "/api/v1/timers") {
		t.Errorf("left: timer %v", timer)
	}
	c.checkHistories(t)
}
