package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// operate does what operators do, until ctx ends: replays dead letters, refreshes
// triggers, pauses the cluster for a moment.
func (e *evidence) operate(ctx context.Context, r *rand.Rand, c *caller, paused func(bool)) {
	defer e.unpause(context.WithoutCancel(ctx), c)
	for wait(ctx, 300*time.Millisecond+time.Duration(r.Int64N(int64(time.Second)))) {
		switch n := r.IntN(20); {
		case n < 8:
			c.replay(ctx)
		case n < 12:
			c.worker(context.WithoutCancel(ctx), true)
			c.retry(context.WithoutCancel(ctx))
		case n < 15:
			if _, err := c.ask(ctx, c.node(), "POST", "/definitions/refresh", map[string]any{"definitionIds": []string{}}, "", nil); err == nil {
				e.count("refreshes")
			}
		case n < 16:
			paused(true)
			if _, err := c.ask(ctx, c.node(), "POST", "/pause", nil, "", nil); err == nil {
				e.count("pauses")
			}
			wait(ctx, 200*time.Millisecond+time.Duration(r.Int64N(int64(time.Second))))
			e.unpause(context.WithoutCancel(ctx), c)
			paused(false)
		default:
			c.look(ctx)
		}
	}
}

// unpause asks until it is so.
func (e *evidence) unpause(ctx context.Context, c *caller) {
	for began := time.Now(); time.Since(began) < time.Minute; wait(ctx, 50*time.Millisecond) {
		if _, err := c.ask(ctx, c.node(), "POST", "/unpause", nil, "", nil); err == nil {
			return
		}
	}
	e.record.violate("harness", "the cluster could not be unpaused")
}

// replay sends dead letters again whose queue item had expired. Each takes effect
// once, whoever else replays it.
func (c *caller) replay(ctx context.Context) {
	var page struct {
		Items []struct {
			ID     string
			Reason workflow.DeadReason
		}
	}
	if _, err := c.ask(ctx, c.node(), "GET", "/dead-letters?limit=50", nil, "", &page); err != nil {
		return
	}
	var replaying sync.WaitGroup
	for _, d := range page.Items {
		if d.Reason != workflow.DeadExpired || c.draw(3) > 0 {
			continue
		}
		for range 1 + c.draw(2) {
			m := c.node()
			replaying.Go(func() {
				if _, err := c.ask(ctx, m, "POST", "/dead-letters/"+url.PathEscape(d.ID)+"/replay", nil, "", nil); err == nil {
					c.e.count("dead letters replayed")
				}
			})
		}
	}
	replaying.Wait()
}

// look reads the lists that operators read, for the numbers in them.
func (c *caller) look(ctx context.Context) {
	for _, path := range []string{"/queue?limit=50", "/dead-letters?limit=50", "/instances?limit=20", "/timers?limit=20", "/nodes", "/locks"} {
		if _, err := c.ask(ctx, c.node(), "GET", path, nil, "", nil); err == nil {
			c.e.count("lists read")
		}
	}
}

// crowd: how many more callers and definitions there are in such a round.
const (
	crowdCallers     = 240
	crowdDefinitions = 300
)

func crowdDefinition(i int) string {
	return fmt.Sprintf(`
id: crowd-%d
variables: {got: object}
root:
  - event: crowded-%d
    trigger: true
    result: got
  - delay: 400ms
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, i, i)
}

// publishCrowd publishes the definitions of a crowd, several at a time.
func (e *evidence) publishCrowd(ctx context.Context, c *caller) {
	next := make(chan int)
	var publishing sync.WaitGroup
	for range 8 {
		publishing.Go(func() {
			for i := range next {
				for ctx.Err() == nil {
					bound, cancel := context.WithTimeout(ctx, patience)
					err := c.node().Publish(bound, crowdDefinition(i))
					cancel()
					if err == nil {
						break
					}
				}
			}
		})
	}
	for i := range crowdDefinitions {
		next <- i
	}
	close(next)
	publishing.Wait()
}

// jostle calls now and then, as one of many.
func (c *caller) jostle(ctx context.Context) {
	for wait(ctx, 500*time.Millisecond+time.Duration(c.draw(int(4*time.Second)))) {
		calling := context.WithoutCancel(ctx)
		token := c.name("crowded")
		c.e.count("calls of the crowd")
		switch c.draw(4) {
		case 0:
			c.sleeper(calling)
		case 1:
			c.newborn(calling)
		default:
			c.send(calling, fmt.Sprintf("crowded-%d", c.draw(crowdDefinitions)), "", token, "key-"+token)
		}
	}
}
