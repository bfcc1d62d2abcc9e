package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
)

// sent counts what became of sends.
type sent struct {
	mu    sync.Mutex
	count map[string]int // guarded by mu
}

func (s *sent) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[what]++
}

// kind tells what a send came to: resumed, accepted, queued, or the answer.
func kind(a answer) string {
	outcomes := a.outcomes()
	switch {
	case a.status == 202 && a.text("queued") != "":
		return "queued"
	case a.status == 409 && a.text("code") == "instance-refused":
		return "refused"
	case a.status == 200 && len(outcomes) == 1, a.status == 202 && len(outcomes) == 1:
		for _, o := range outcomes {
			if (o == "accepted") == (a.status == 202) {
				return o
			}
		}
	}
	return a.String()
}

// Three sends of one event at once to three nodes, for an instance that waits
// once: it moves once, by the send that is told so; the other two wait in the
// queue. Half of the instances finish by the event, the others wait for another.
func TestE17_OneEventSentThreeTimesAtOnceMovesTheInstanceOnce(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: ends\nvariables: {r: object}\nroot:\n  - event: go\n    result: r\n  - writeLine: moved by ${{ variables.r.send }}\n")
	c.publish(t, "id: stays\nvariables: {r: object}\nroot:\n  - event: go\n    result: r\n  - writeLine: moved by ${{ variables.r.send }}\n  - event: never\n")
	var all sent
	n := testsize.Of(500, 60)
	concurrently(n, 4, func(i int) {
		id, correlation := "w"+strconv.Itoa(i), "c"+strconv.Itoa(i)
		definition := []string{"ends", "stays"}[i%2]
		if a := c.execute(t, c.any(), definition, id, fmt.Sprintf(`{"correlationId": %q}`, correlation)); a.text("subStatus") != "Suspended" {
			t.Errorf("execute: %s", a)
			return
		}
		answers := make([]answer, 3)
		atOnce(3, func(k int) {
			answers[k] = c.call(t, c.members[k], "POST", "/api/v1/events/go", fmt.Sprintf(`{"correlationId": %q, "payload": {"send": %d}}`, correlation, k))
		})
		var moved, unsaid []string
		for k, a := range answers {
			what := kind(a)
			all.add(what)
			switch what {
			case "resumed":
				moved = append(moved, "moved by "+strconv.Itoa(k))
			case "accepted": // on a slow machine: it was not said within a second what came of it
				unsaid = append(unsaid, "moved by "+strconv.Itoa(k))
			case "queued":
			default:
				t.Errorf("round %d: send %d: %s", i, k, what)
			}
		}
		if len(moved) > 1 || len(moved)+len(unsaid) == 0 {
			t.Errorf("round %d: these were told that they moved the instance: %q", i, moved)
			return
		}
		if len(moved) == 0 {
			c.waitForLines(t, c.any(), id, 1)
			if moved = c.lines(t, c.any(), id); len(moved) != 1 || !slices.Contains(unsaid, moved[0]) {
				t.Errorf("round %d: it wrote %q, one of %q had to move it", i, moved, unsaid)
			}
			return
		}
		c.wantLines(t, c.any(), id, moved...)
	})
	t.Logf("%d rounds: %v", n, all.count)
	// What is queued is in the queue: two of each correlation, and nothing died.
	polltest.Eventually(t, "every queued send is in the queue", func() bool {
		return len(c.list(t, c.any(), "/api/v1/queue")) == 2*n
	})
	waiting := map[string]int{}
	for _, item := range c.list(t, c.any(), "/api/v1/queue") {
		correlation, _ := item["correlationId"].(string)
		waiting[correlation]++
	}
	for i := range n {
		if got := waiting["c"+strconv.Itoa(i)]; got != 2 {
			t.Errorf("%d sends of round %d wait in the queue, want 2", got, i)
		}
	}
	if dead := c.list(t, c.any(), "/api/v1/dead-letters"); len(dead) != 0 {
		t.Errorf("%d dead letters, the first is %v", len(dead), dead[0])
	}
	c.checkHistories(t)
}

// Instances are started, suspended and resumed through nodes chosen at random,
// events often sent before the instance waits: each finishes, and each line is
// written once.
func TestInstancesFinishThroughAnyNodesWithEveryLineOnce(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, `
id: steps
variables: {a: object, b: object}
root:
  - writeLine: begun
  - event: first
    result: a
  - writeLine: first ${{ variables.a.n }}
  - event: second
    result: b
  - writeLine: second ${{ variables.b.n }}
`)
	n := testsize.Of(200, 40)
	send := func(name string, i int) {
		a := c.call(t, c.any(), "POST", "/api/v1/events/"+name, fmt.Sprintf(`{"correlationId": "c%d", "payload": {"n": %d}}`, i, i))
		if what := kind(a); what != "resumed" && what != "queued" && what != "accepted" {
			t.Errorf("event %s %d: %s", name, i, a)
		}
	}
	start := func(i int) {
		id, body := "s"+strconv.Itoa(i), fmt.Sprintf(`{"correlationId": "c%d"}`, i)
		if i%2 == 0 {
			c.dispatch(t, c.any(), "steps", id, body)
		} else {
			c.execute(t, c.any(), "steps", id, body)
		}
	}
	concurrently(n, 16, func(i int) {
		steps := []func(){func() { start(i) }, func() { send("first", i) }, func() { send("second", i) }}
		if i%4 < 2 { // in any order
			rand.Shuffle(len(steps), func(a, b int) { steps[a], steps[b] = steps[b], steps[a] })
		}
		for _, step := range steps {
			step()
		}
	})
	took := polltest.Within(t, patience, "all instances finish", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=steps&subStatus=Finished")) == n
	})
	t.Logf("%d instances; the last one finished %v after the last call", n, took)
	for i := range n {
		c.wantLines(t, c.any(), "s"+strconv.Itoa(i), "begun", fmt.Sprintf("first %d", i), fmt.Sprintf("second %d", i))
	}
	if left := len(c.list(t, c.any(), "/api/v1/queue")); left != 0 {
		t.Errorf("%d events are left in the queue", left)
	}
	c.checkHistories(t)
}

// Events that meet nothing wait in the queue; they are no burden to an instance
// that waits for the same event with another correlation.
func TestUnmatchedEventsDoNotHoldUpANewInstance(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: waits\nroot:\n  - event: go\n  - writeLine: went\n")
	three := func(name string) time.Duration {
		begin := time.Now()
		for i, m := range c.members {
			id := name + strconv.Itoa(i)
			if a := c.execute(t, m, "waits", id, fmt.Sprintf(`{"correlationId": %q}`, id)); a.text("subStatus") != "Suspended" {
				t.Fatalf("execute: %s", a)
			}
			if a := c.event(t, c.members[(i+1)%3], "go", id); kind(a) != "resumed" && kind(a) != "accepted" {
				t.Errorf("event: %s", a)
			}
			c.waitFor(t, m, id, "Finished")
			c.wantLines(t, m, id, "went")
		}
		return time.Since(begin)
	}
	before := three("before")
	n := testsize.Of(200, 50)
	concurrently(n, 16, func(i int) {
		if a := c.event(t, c.any(), "go", "other"+strconv.Itoa(i)); kind(a) != "queued" {
			t.Errorf("event %d: %s", i, a)
		}
	})
	took := three("mine")
	t.Logf("three instances started and resumed in %v beside %d unmatched events, in %v without them", took, n, before)
	if took > 5*time.Second+10*before {
		t.Errorf("it took %v", took)
	}
	if left := len(c.list(t, c.any(), "/api/v1/queue")); left != n {
		t.Errorf("%d events wait, want %d", left, n)
	}
	c.checkHistories(t)
}
