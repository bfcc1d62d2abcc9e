package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// onShards is how many timers or queued events each measurement is of.
const onShards = 1000

// timersOnShards lets timers come due that are all in one shard, in four, in all:
// what is not in the wanted shards is cancelled before its time.
func timersOnShards(ctx context.Context, m *meter, name, _ string, _ int) error {
	for _, shards := range []int{1, 4, etcdstore.TimerShards} {
		definition := fmt.Sprintf("timers-%d", shards)
		if err := m.sys.api.publish(ctx, "id: "+definition+"\ninputs: {wait: {type: string}}\nroot:\n  - delay: ${{ inputs.wait }}\n"); err != nil {
			return err
		}
		// To have them in one of 16 shards takes 16 starts for each, and 15 cancels.
		due, err := m.enoughTime(ctx, 3*onShards*etcdstore.TimerShards/shards)
		if err != nil {
			return err
		}
		var set, cancelled atomic.Int64
		err = inParallel(ctx, 10*onShards*etcdstore.TimerShards, func(ctx context.Context, _ int) error {
			if set.Load() >= onShards {
				return nil
			}
			in, err := m.sys.target.start(ctx, start{definition: definition, input: map[string]any{"wait": fmt.Sprintf("%dms", time.Until(due).Milliseconds())}})
			if err != nil {
				return err
			}
			// A start that takes a node over a second is answered before the timer is set.
			for len(in.Bookmarks) == 0 && time.Now().Before(due) {
				if err := m.sys.api.call(ctx, http.MethodGet, "/instances/"+in.ID, nil, prefer(time.Second), &in); err != nil {
					return err
				}
			}
			if len(in.Bookmarks) != 1 { // it is over already
				return errTooSlow
			}
			if etcdstore.ScheduleShard(in.Bookmarks[0].ID) < shards && set.Add(1) <= onShards {
				return nil
			}
			cancelled.Add(1)
			return m.sys.api.call(ctx, http.MethodPost, "/instances/"+in.ID+"/cancel", nil, nil, nil)
		})
		if err != nil {
			return err
		}
		if time.Now().After(due) {
			return errTooSlow
		}
		cancelledBefore, err := m.sys.finished(ctx, definition)
		if err != nil {
			return err
		}
		if cancelledBefore != int(cancelled.Load()) {
			return fmt.Errorf("%d instances ended of %d that were cancelled", cancelledBefore, cancelled.Load())
		}
		time.Sleep(time.Until(due))
		if err := m.drained(ctx, fmt.Sprintf("%s on %d shards", name, shards), definition, cancelledBefore, onShards, due); err != nil {
			return err
		}
	}
	return nil
}

// queueOnShards queues events that nobody waits for, under hashes of one shard, of
// eight, of all, and then publishes what they start.
func queueOnShards(ctx context.Context, m *meter, name, _ string, _ int) error {
	for _, shards := range []int{1, 8, len(etcdstore.QueueShards)} {
		names, err := eventsOnShards(shards, fmt.Sprintf("queue %d %d", shards, serial.Add(1)))
		if err != nil {
			return err
		}
		err = inParallel(ctx, onShards, func(ctx context.Context, i int) error {
			_, err := m.sys.target.send(ctx, names[i%len(names)], "")
			return err
		})
		if err != nil {
			return err
		}
		definition := fmt.Sprintf("queue-%d", shards)
		began := time.Now()
		if err := m.sys.api.publish(ctx, triggered(definition, names)); err != nil {
			return err
		}
		if err := m.drained(ctx, fmt.Sprintf("%s on %d shards", name, shards), definition, 0, onShards, began); err != nil {
			return err
		}
	}
	return nil
}

// eventsOnShards finds names of events whose hashes are in the first shards, one
// name for each.
func eventsOnShards(shards int, prefix string) ([]string, error) {
	var names []string
	found := map[byte]bool{}
	for i := 0; len(names) < shards; i++ {
		name := fmt.Sprintf("%s %d", prefix, i)
		hash, err := workflow.Hash(workflow.EventType, workflow.EventPayload(name))
		if err != nil {
			return nil, err
		}
		if at := strings.IndexByte(etcdstore.QueueShards, hash[0]); at >= 0 && at < shards && !found[hash[0]] {
			found[hash[0]] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// triggered is a definition that each of the events starts, and that ends there.
func triggered(id string, events []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nroot:\n  flowchart:\n    activities:\n", id)
	for i, e := range events {
		fmt.Fprintf(&b, "      e%d: {event: %q, trigger: true}\n", i, e)
	}
	return b.String()
}

// drained waits until n more instances of a definition are finished, and notes
// how long after began each was.
func (m *meter) drained(ctx context.Context, name, definition string, before, n int, began time.Time) error {
	var failure error
	m.note(ctx, "workload", name, "", n, func() outcome {
		var out outcome
		for ctx.Err() == nil && time.Since(began) < 2*time.Minute {
			done, err := m.sys.finished(ctx, definition)
			if err != nil {
				failure = err
				return out
			}
			for len(out.lat) < done-before {
				out.lat = append(out.lat, time.Since(began))
			}
			if out.ops = len(out.lat); out.ops >= n {
				break
			}
			time.Sleep(20 * time.Millisecond) // how exact the figure is
		}
		out.took = time.Since(began)
		if out.ops < n {
			failure = fmt.Errorf("%d of %d are finished after %v", out.ops, n, out.took)
		}
		return out
	})
	return failure
}
