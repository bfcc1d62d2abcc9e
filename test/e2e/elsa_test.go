package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// TestE01_… to TestE17_… are what was seen when Elsa ran as a cluster, one by one
// (the table is in docs/verification.md). In this file are those in which no node
// is lost; elsa_faults_test.go has the others, timers_test.go E14 and
// events_test.go E17.

// collects is a definition whose instances take so many events "hit", one after
// the other, and write each one's token.
func collects(id string, events int) string {
	return fmt.Sprintf(`
id: %s
variables: {n: 0, e: object}
root:
  - while: ${{ variables.n < %d }}
    body:
      - event: hit
        result: e
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
      - writeLine: "${{ variables.e.token }}"
`, id, events)
}

// acknowledged tells whether a sender may forget about what it sent: it took
// effect, is durable, or waits in the queue.
func acknowledged(a answer) bool {
	switch kind(a) {
	case "resumed", "accepted", "queued":
		return true
	default:
		return false
	}
}

// sameLines checks what an instance wrote, in any order.
func (c *cluster) sameLines(t *testing.T, m *member, id string, want []string) {
	t.Helper()
	got := c.lines(t, m, id)
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("instance %s wrote %q, want %q", id, got, want)
	}
}

// nothingLeft checks that nothing waits any more: no bookmark, mail, send record,
// queued event, lock or dead letter.
func (c *cluster) nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		left := slices.DeleteFunc(c.keys(t), func(key string) bool {
			return !slices.ContainsFunc([]string{"bookmark/", "mailbox/", "send/", "queue/", "dead/", "lock/"}, func(p string) bool { return strings.HasPrefix(key, p) })
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left in etcd: %q", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Forty events for one instance at once, through three nodes, half of them
// addressed by its id and half by its correlation: it takes every one of them,
// and each once.
func TestE09_FortyEventsAtOnceByIDAndByCorrelationAllArrive(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	const events = 40
	c.publish(t, collects("forty", events))
	for round := range testsize.Of(10, 2) {
		id := fmt.Sprintf("forty%d", round)
		c.execute(t, c.any(), "forty", id, fmt.Sprintf(`{"correlationId": %q}`, id))
		want := make([]string, events)
		var all sent
		atOnce(events, func(i int) {
			want[i] = fmt.Sprintf("%d-%d", round, i)
			address := []string{"instanceId", "correlationId"}[i%2]
			a := c.call(t, c.members[i%3], "POST", "/api/v1/events/hit", fmt.Sprintf(`{%q: %q, "payload": {"token": %q}}`, address, id, want[i]))
			all.add(kind(a))
			if !acknowledged(a) {
				t.Errorf("event %d: %s", i, a)
			}
		})
		c.waitFor(t, c.any(), id, "Finished")
		c.sameLines(t, c.any(), id, want)
		t.Logf("round %d: %v", round, all.count)
	}
	c.nothingLeft(t)
	c.checkHistories(t)
}

// An instance is cancelled through another node than the one that runs it, in
// its first burst and in a later one: what the burst wanted to save does not undo
// the cancel, and the instance stays cancelled.
func TestE10_ACancelIsNotUndoneByTheBurstThatRuns(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	out := newOutside(t)
	c.publish(t, calling)
	c.publish(t, "id: later\ninputs: {url: string}\nroot:\n  - event: go\n  - sendHttpRequest: \"${{ inputs.url }}\"\n  - writeLine: after\n  - event: never\n")
	for run := range testsize.Of(4, 2) {
		definition, id := []string{"calling", "later"}[run%2], fmt.Sprintf("cancel%d", run)
		path := "/" + id
		c.dispatch(t, c.any(), definition, id, fmt.Sprintf(`{"correlationId": %q, "input": {"url": %q}}`, id, out.hold(path)))
		if definition == "later" {
			if a := c.event(t, c.any(), "go", id); !acknowledged(a) {
				t.Fatalf("event: %s", a)
			}
		}
		out.wait(t, path, 1)
		holder := c.holder(t, c.any(), id)
		if holder == nil {
			t.Fatalf("nobody holds %s", id)
		}
		if a := c.call(t, c.others(holder)[run/2%2], "POST", "/api/v1/instances/"+id+"/cancel", "{}"); a.outcome != done {
			t.Errorf("cancel of a burst that runs elsewhere: %s", a)
		}
		out.release(path)
		c.waitFor(t, c.any(), id, "Cancelled")
		polltest.Eventually(t, "nobody holds it", func() bool { return c.holder(t, c.any(), id) == nil })
		for _, m := range c.members {
			if a := c.call(t, m, "POST", "/api/v1/events/never", fmt.Sprintf(`{"instanceId": %q}`, id)); a.status != 409 || a.text("code") != "instance-finished" {
				t.Errorf("an event for a cancelled instance: %s", a)
			}
			if a := c.instance(t, m, id); a.text("subStatus") != "Cancelled" || len(objects(a.body["bookmarks"])) != 0 {
				t.Errorf("%s shows %s", m.id, a)
			}
			if lines := c.lines(t, m, id); slices.Contains(lines, "after") {
				t.Errorf("it went on after the cancel: %q", lines)
			}
		}
	}
	c.nothingLeft(t)
	c.checkHistories(t)
}

// An instance that waits is started again under its id, retried, and resumed at
// places that it does not have: it does not run from its root a second time, and
// still waits where it did.
func TestE11_AnInstanceThatWaitsIsNotRunFromItsRootAgain(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: waits\nroot:\n  - writeLine: begun\n  - event: go\n  - writeLine: went\n")
	for run := range testsize.Of(10, 2) {
		id := fmt.Sprintf("waits%d", run)
		c.execute(t, c.any(), "waits", id, fmt.Sprintf(`{"correlationId": %q}`, id))
		shown := func() string {
			a := c.instance(t, c.any(), id)
			// A retry that was accepted while another node had the instance leaves its refusal, and nothing else.
			items := slices.DeleteFunc(c.journal(t, c.any(), id), func(item map[string]any) bool { return item["event"] == "Refused" })
			return fmt.Sprint(items, a.text("subStatus"), a.body["bookmarks"], a.body["createdAt"])
		}
		before := shown()
		tries := []struct {
			path, body string
			status     int
			code       string
		}{
			{"/api/v1/definitions/waits/execute", fmt.Sprintf(`{"instanceId": %q}`, id), 409, "instance-exists"},
			{"/api/v1/definitions/waits/dispatch", fmt.Sprintf(`{"instanceId": %q}`, id), 409, "instance-exists"},
			{"/api/v1/bookmarks/" + id + "~7/resume", "{}", 404, "bookmark-not-found"},
			{"/api/v1/stimuli", fmt.Sprintf(`{"activityType": "Elsa.Event", "stimulus": {"eventName": "go"}, "instanceId": %q, "bookmarkId": "%s~7"}`, id, id), 404, "bookmark-not-found"},
			{"/api/v1/instances/" + id + "/retry", "{}", 0, ""}, // whatever it says, it does nothing
		}
		atOnce(3*len(tries), func(i int) {
			try := tries[i/3]
			if a := c.call(t, c.members[i%3], "POST", try.path, try.body); try.status != 0 && (a.status != try.status || a.text("code") != try.code) {
				t.Errorf("POST %s %s: %s", try.path, try.body, a)
			}
		})
		if after := shown(); after != before {
			t.Errorf("it moved from %s to %s", before, after)
		}
		if a := c.event(t, c.any(), "go", id); kind(a) != "resumed" {
			t.Errorf("event: %s", a)
		}
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "begun", "went")
	}
	c.nothingLeft(t)
	c.checkHistories(t)
}

// A singleton is started through three nodes at one moment, two hundred times:
// each time one of the three runs.
func TestE12_OfASingletonStartedAtOneMomentOneRuns(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	const lanes = 4 // definitions, each a singleton of its own
	for lane := range lanes {
		c.publish(t, fmt.Sprintf("id: only%d\noptions: {activation: Singleton}\nroot:\n  - event: end\n", lane))
	}
	tries := testsize.Of(200, 20) / lanes
	var together atomic.Int64 // tries in which another start was refused, so that they met
	concurrently(lanes, lanes, func(lane int) {
		definition := fmt.Sprintf("only%d", lane)
		for try := range tries {
			answers := make([]answer, 3)
			how := []string{"execute", "dispatch"}[try%2]
			atOnce(3, func(i int) {
				answers[i] = c.call(t, c.members[i], "POST", "/api/v1/definitions/"+definition+"/"+how, "{}")
			})
			running := ""
			for _, a := range answers {
				switch {
				case a.outcome == done && running == "":
					running = a.text("instanceId")
				case a.outcome == done:
					t.Errorf("try %d of %s: a second one runs: %s", try, definition, a)
				case a.text("code") == "instance-refused":
					together.Add(1)
				default:
					t.Errorf("try %d of %s: %s", try, definition, a)
				}
			}
			if n := len(c.list(t, c.any(), "/api/v1/instances?status=Running&definitionId="+definition)); n != 1 {
				t.Errorf("try %d of %s: %d run", try, definition, n)
			}
			if a := c.call(t, c.any(), "POST", "/api/v1/events/end", fmt.Sprintf(`{"instanceId": %q}`, running)); !acknowledged(a) {
				t.Errorf("end of try %d of %s: %s", try, definition, a)
			}
			deadline := time.Now().Add(patience)
			for c.instance(t, c.any(), running).text("status") != "Finished" {
				if time.Now().After(deadline) {
					t.Errorf("try %d of %s does not end", try, definition)
					return
				}
			}
		}
	})
	if n := len(c.list(t, c.any(), "/api/v1/instances?subStatus=Finished")); n != lanes*tries || together.Load() != int64(2*n) {
		t.Errorf("%d instances ran and %d starts were refused, of %d tries with three starts", n, together.Load(), lanes*tries)
	}
	c.nothingLeft(t)
	c.checkHistories(t)
}

// A timer and a cron trigger on three nodes: each occurrence starts one instance,
// not one a node, and none is left out.
func TestE13_ATimerAndACronFireOncePerOccurrenceNotPerNode(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	// All that were missed: on a busy machine one may be more than its period late.
	c.publish(t, "id: every\noptions: {catchUp: all}\nroot:\n  - timer: 1s\n    id: tick\n    trigger: true\n  - writeLine: tick\n")
	c.publish(t, "id: cron\noptions: {catchUp: all}\nroot:\n  - cron: \"*/2 * * * * *\"\n    id: tick\n    trigger: true\n  - writeLine: tick\n")
	first := map[string]time.Time{} // the first occurrence that is known to come
	polltest.Eventually(t, "both are scheduled", func() bool {
		for _, timer := range c.list(t, c.any(), "/api/v1/timers") {
			definition, _ := timer["definitionId"].(string)
			if _, known := first[definition]; !known {
				first[definition] = stamp(t, timer["dueAt"])
			}
		}
		return len(first) == 2
	})
	step := map[string]time.Duration{"every": time.Second, "cron": 2 * time.Second}
	occurrence := func(definition string, k int) string {
		due := first[definition].Add(time.Duration(k) * step[definition])
		return workflow.DeriveID("scheduled", definition, "tick", due.UTC().Format(time.RFC3339Nano))
	}
	many := map[string]int{"every": testsize.Of(8, 4), "cron": testsize.Of(4, 2)}
	for definition, n := range many {
		polltest.Eventually(t, definition+" fires", func() bool {
			return c.instance(t, c.any(), occurrence(definition, n-1)).status == 200
		})
	}
	for definition, n := range many {
		c.must(t, c.any(), "POST", "/api/v1/definitions/"+definition+"/retract", "{}", 200)
		for c.instance(t, c.any(), occurrence(definition, -1)).status == 200 {
			first[definition] = first[definition].Add(-step[definition]) // it fired before its schedule was read
		}
		started := c.list(t, c.any(), "/api/v1/instances?definitionId="+definition)
		for k := range max(n, len(started)) {
			id := occurrence(definition, k)
			found := slices.ContainsFunc(started, func(in map[string]any) bool { return in["instanceId"] == id })
			if !found {
				t.Errorf("%s: nothing was started at occurrence %d; %d were started", definition, k, len(started))
				continue
			}
			c.waitFor(t, c.any(), id, "Finished")
			c.wantLines(t, c.any(), id, "tick")
			due := first[definition].Add(time.Duration(k) * step[definition])
			if early := due.Sub(stamp(t, c.instance(t, c.any(), id).body["createdAt"])); early > 0 {
				t.Errorf("%s: occurrence %d came %v early", definition, k, early)
			}
		}
		t.Logf("%s: %d occurrences", definition, len(started))
	}
	c.checkHistories(t)
}

// An event before anything waits for it: it is kept and meets what comes to wait
// for it, also much later than Elsa's minute. What nobody claims in its time is a
// dead letter that can be sent again; and what met somebody is not kept for others.
func TestE15_AnEventBeforeItsBookmarkIsKeptOrSeen(t *testing.T) {
	t.Parallel()
	const waits = "id: waits\nroot:\n  - event: go\n  - writeLine: went\n"
	t.Run("kept", func(t *testing.T) {
		c := inProcess(t, outcomes)
		c.publish(t, waits)
		if a := c.event(t, c.any(), "go", "early"); kind(a) != "queued" {
			t.Fatalf("event: %s", a)
		}
		items := c.list(t, c.any(), "/api/v1/queue")
		if len(items) != 1 {
			t.Fatalf("the queue has %v", items)
		}
		if kept := stamp(t, items[0]["expiresAt"]).Sub(stamp(t, items[0]["createdAt"])); kept < 75*time.Second {
			t.Errorf("an event is kept for %v only", kept)
		}
		c.execute(t, c.any(), "waits", "other", `{"correlationId": "other"}`) // not for this one
		c.execute(t, c.any(), "waits", "early", `{"correlationId": "early"}`)
		c.waitFor(t, c.any(), "early", "Finished")
		c.wantLines(t, c.any(), "early", "went")
		if a := c.instance(t, c.any(), "other"); a.text("subStatus") != "Suspended" {
			t.Errorf("the event of another correlation moved it: %s", a)
		}
		if a := c.event(t, c.any(), "go", "other"); kind(a) != "resumed" {
			t.Errorf("event: %s", a)
		}
		c.nothingLeft(t)
		c.checkHistories(t)
	})
	t.Run("claimed", func(t *testing.T) {
		c := inProcess(t, outcomes)
		c.publish(t, waits)
		c.publish(t, "id: called\nroot:\n  - event: go\n    trigger: true\n  - writeLine: called\n")
		if a := c.event(t, c.any(), "go", "x"); kind(a) != "started" {
			t.Errorf("event: %s", a)
		}
		c.execute(t, c.any(), "waits", "later", `{"correlationId": "x"}`)
		if left := c.list(t, c.any(), "/api/v1/queue"); len(left) != 0 {
			t.Errorf("an event that started something is kept for others: %v", left)
		}
		if a := c.instance(t, c.any(), "later"); a.text("subStatus") != "Suspended" {
			t.Errorf("it was moved by an event from before, which had its effect: %s", a)
		}
		c.checkHistories(t)
	})
	t.Run("expired", func(t *testing.T) {
		c := inProcess(t, func(cfg *node.Config) { cfg.QueueTTL = 500 * time.Millisecond }, outcomes)
		c.publish(t, waits)
		n := testsize.Of(10, 3)
		for i := range n {
			if a := c.event(t, c.any(), "go", strconv.Itoa(i)); kind(a) != "queued" {
				t.Errorf("event: %s", a)
			}
		}
		polltest.Eventually(t, "what nobody claimed is a dead letter", func() bool {
			return len(c.list(t, c.any(), "/api/v1/dead-letters")) == n && len(c.list(t, c.any(), "/api/v1/queue")) == 0
		})
		for i := range n {
			c.execute(t, c.any(), "waits", "e"+strconv.Itoa(i), fmt.Sprintf(`{"correlationId": "%d"}`, i))
		}
		for _, letter := range c.list(t, c.any(), "/api/v1/dead-letters") {
			if letter["reason"] != "expired" {
				t.Errorf("dead letter %v", letter)
			}
			a := c.call(t, c.any(), "POST", fmt.Sprintf("/api/v1/dead-letters/%v/replay", letter["id"]), "{}")
			if a.outcome != done {
				t.Errorf("replay: %s", a)
			}
		}
		for i := range n {
			c.waitFor(t, c.any(), "e"+strconv.Itoa(i), "Finished")
			c.wantLines(t, c.any(), "e"+strconv.Itoa(i), "went")
		}
		c.nothingLeft(t)
		c.checkHistories(t)
	})
}

// The event that a node is just consuming is sent again through the two others:
// under its key it is the same event, with the same answer and one effect; without
// one it is another event, which waits for somebody else. The activity runs once.
func TestE16_AnEventSentAgainWhileItIsConsumedTakesEffectOnce(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	out := newOutside(t)
	c.publish(t, "id: consumes\ninputs: {url: string}\nroot:\n  - event: go\n  - sendHttpRequest: \"${{ inputs.url }}\"\n  - writeLine: consumed\n")
	runs := testsize.Of(6, 2)
	concurrently(runs, 3, func(run int) {
		id, path := fmt.Sprintf("consumes%d", run), fmt.Sprintf("/c%d", run)
		c.execute(t, c.any(), "consumes", id, fmt.Sprintf(`{"correlationId": %q, "input": {"url": %q}}`, id, out.hold(path)))
		var begun atomic.Bool
		answers := make([]answer, 4)
		atOnce(len(answers), func(i int) {
			for i > 0 && !begun.Load() { // the repeats come while the first is in the activity
				if len(out.keys(path)) > 0 {
					begun.Store(true)
				}
				time.Sleep(time.Millisecond)
			}
			var headers []string
			if i < 3 {
				headers = []string{"Idempotency-Key: go-" + id}
			}
			answers[i] = c.event(t, c.members[(run+i)%3], "go", id, headers...)
			if i == 3 {
				out.release(path)
			}
		})
		for i, a := range answers {
			if !acknowledged(a) || (i < 3 && a.outcomes()[id] == "") {
				t.Errorf("%s, call %d: %s", id, i, a)
			}
		}
		if n := len(out.keys(path)); n != 1 {
			t.Errorf("the activity of %s ran %d times", id, n)
		}
	})
	for run := range runs {
		id := fmt.Sprintf("consumes%d", run)
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "consumed")
		if a := c.event(t, c.any(), "go", id, "Idempotency-Key: go-"+id); a.status != 200 || a.outcomes()[id] != "resumed" {
			t.Errorf("the same again, when it is over: %s", a)
		}
	}
	// The events without a key are there, each once, for whoever waits next.
	polltest.Eventually(t, "the other events wait", func() bool { return len(c.list(t, c.any(), "/api/v1/queue")) == runs })
	c.checkHistories(t)
}
