package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
)

// A definition is published again and again on one node while others execute it
// and send its event: from the first 201 on it is never unknown, a call that
// begins after a 201 meets that version or a newer one, and an event starts all
// triggers of one version, never those of two, never a part.
func TestPublishingIsAtomicForEveryNode(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	// Two triggers wait for one event; each version writes its number.
	source := func(version int) string {
		return fmt.Sprintf(`
id: flips
root:
  flowchart:
    activities:
      idle: {writeLine: executed %[1]d}
      a: {event: flip, trigger: true}
      b: {event: flip, trigger: true}
      wroteA: {writeLine: a %[1]d}
      wroteB: {writeLine: b %[1]d}
    start: idle
    connections: [a -> wroteA, b -> wroteB]
`, version)
	}
	var asked, published atomic.Int64 // versions that were begun to publish, and that were answered
	versions := testsize.Of(40, 10)
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() {
		defer close(over)
		for v := 1; v <= versions; v++ {
			asked.Store(int64(v))
			a := c.call(t, c.members[0], "POST", "/api/v1/definitions", source(v))
			if a.status != 201 || a.body["version"] != float64(v) {
				t.Errorf("publish version %d: %s", v, a)
				return
			}
			published.Store(int64(v))
			// Others get their turn; the next version comes at any moment of their calls.
			for range 2 {
				c.call(t, c.members[0], "GET", "/api/v1/definitions/flips", "")
			}
		}
	})
	var executed, sent atomic.Int64
	check := func(what string, version, before float64) {
		if after := float64(asked.Load()); version < before || version > after {
			t.Errorf("%s met version %v, published before it was %v, begun after it %v", what, version, before, after)
		}
	}
	for _, m := range c.members[1:] {
		for range 2 {
			wg.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
					}
					before := float64(published.Load())
					if before == 0 {
						continue
					}
					a := c.call(t, m, "POST", "/api/v1/definitions/flips/execute", "{}")
					if a.status != 200 {
						t.Errorf("execute after version %v was published: %s", before, a)
						return
					}
					executed.Add(1)
					version, _ := a.body["version"].(float64)
					check("execute", version, before)
				}
			})
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-over:
						return
					default:
					}
					before := float64(published.Load())
					if before == 0 {
						continue
					}
					a := c.call(t, m, "POST", "/api/v1/events/flip", "{}")
					outcomes := a.outcomes()
					if len(outcomes) != 2 {
						t.Errorf("an event after version %v was published: %s", before, a)
						return
					}
					sent.Add(1)
					met := map[float64]bool{}
					for id := range outcomes {
						version, _ := c.instance(t, m, id).body["version"].(float64)
						met[version] = true
						check("an event", version, before)
					}
					if len(met) != 1 {
						t.Errorf("one event met triggers of versions %v", met)
					}
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d versions, %d executions, %d events", versions, executed.Load(), sent.Load())
	if executed.Load() == 0 || sent.Load() == 0 {
		t.Error("nothing was shown")
	}
	// Each event started a and b of one version, each once.
	last := fmt.Sprintf("executed %d", versions)
	a := c.must(t, c.members[2], "POST", "/api/v1/definitions/flips/execute", "{}", 200)
	c.wantLines(t, c.members[1], a.text("instanceId"), last)
	c.checkHistories(t)
}

// Right after the 201 of a new definition every node knows it.
func TestNewDefinitionIsKnownEverywhereAfterItsAnswer(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	for i := range testsize.Of(40, 10) {
		id := fmt.Sprintf("new%d", i)
		c.must(t, c.members[i%3], "POST", "/api/v1/definitions", fmt.Sprintf("id: %[1]s\nroot:\n  - event: %[1]s\n    trigger: true\n  - writeLine: hi\n", id), 201)
		atOnce(4, func(k int) {
			m := c.members[(i+1+k%2)%3]
			if k < 2 {
				if a := c.call(t, m, "POST", "/api/v1/definitions/"+id+"/dispatch", "{}"); a.status != 202 {
					t.Errorf("dispatch %s on %s: %s", id, m.id, a)
				}
			} else if a := c.call(t, m, "POST", "/api/v1/events/"+id, "{}"); len(a.outcomes()) == 0 {
				t.Errorf("event %s on %s: %s", id, m.id, a)
			}
		})
		c.must(t, c.members[i%3], "POST", "/api/v1/definitions/"+id+"/retract", "{}", 200)
		atOnce(2, func(k int) {
			m := c.members[(i+1+k)%3]
			if a := c.call(t, m, "POST", "/api/v1/definitions/"+id+"/execute", "{}"); a.status != 404 {
				t.Errorf("execute %s after it was retracted, on %s: %s", id, m.id, a)
			}
		})
	}
	c.checkHistories(t)
}

// An event that comes before the definition that it starts waits in the queue
// and starts it when it is published.
func TestEventWaitsForTheDefinitionThatItStarts(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	const n = 9
	concurrently(n, 3, func(i int) {
		if a := c.call(t, c.members[i%3], "POST", "/api/v1/events/early", "{}"); kind(a) != "queued" {
			t.Errorf("event: %s", a)
		}
	})
	c.publish(t, "id: late\nroot:\n  - event: early\n    trigger: true\n  - writeLine: started\n")
	polltest.Eventually(t, "the queued events start it", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=late&subStatus=Finished")) == n
	})
	if left := c.list(t, c.any(), "/api/v1/queue"); len(left) != 0 {
		t.Errorf("left in the queue: %v", left)
	}
	c.checkHistories(t)
}
