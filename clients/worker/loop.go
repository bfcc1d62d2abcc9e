package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
)

type loop struct {
	Config
	client   *apiclient.Client
	handlers Handlers
}

// Run does tasks until ctx ends, and then waits for those that run. An error says why the cluster refuses this worker: a token
// that may not, a name that no task can have. What passes, such as a cluster that is away, is waited for.
func Run(ctx context.Context, client *apiclient.Client, handlers Handlers, cfg Config) error {
	if cfg.Max < 0 || cfg.Lease < 0 || cfg.Grace < 0 || cfg.Attempts < 0 {
		return fmt.Errorf("a worker has no fields below 0: %d tasks at once, a lease of %v, a grace of %v, %d attempts", cfg.Max, cfg.Lease, cfg.Grace, cfg.Attempts)
	}
	host, _ := os.Hostname()
	cfg.Name, cfg.Max, cfg.Attempts = cmp.Or(cfg.Name, fmt.Sprintf("%s/%d", host, os.Getpid())), cmp.Or(cfg.Max, 1), cmp.Or(cfg.Attempts, 3)
	cfg.Lease, cfg.Grace = cmp.Or(cfg.Lease, 30*time.Second), cmp.Or(cfg.Grace, 30*time.Second)
	l, places := &loop{cfg, client, handlers}, make(chan struct{}, cfg.Max)
	tasks, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer func() {
		over := time.AfterFunc(cfg.Grace, func() { stop(ErrOver) })
		defer over.Stop()
		running.Wait()
	}()
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case places <- struct{}{}:
		}
		got, err := l.claim(ctx, 1+cap(places)-len(places))
		<-places // each task takes one, and nobody else takes any
		for i := range got {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				l.do(ctx, tasks, &Task{got[i], make(chan apiclient.HeartbeatRequest, 1)})
			})
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !passing(err):
			return err
		case err != nil:
			l.say(ctx, "asks for tasks again in a moment", nil, err)
			rest(ctx, failed)
			failed++
		default:
			failed = 0
		}
	}
}

func (l *loop) claim(ctx context.Context, most int) ([]apiclient.ClaimedTask, error) {
	n, began := int64(min(most, 100)), time.Now()
	got, err := l.client.ClaimTasks(ctx, apiclient.ClaimRequest{Names: slices.Sorted(maps.Keys(l.handlers)), Max: &n, Lease: l.Lease.String(), Wait: "30s", Worker: l.Name})
	if err != nil {
		return nil, err
	}
	if len(got.Body.Items) == 0 && time.Since(began) < time.Second {
		rest(ctx, 0) // a node that ends does not let it wait
	}
	return got.Body.Items, nil
}

// do does a task and reports what came of it, with heartbeats until then.
func (l *loop) do(claims, tasks context.Context, t *Task) {
	ctx, stop := context.WithCancelCause(tasks)
	defer stop(nil)
	beats, reported := context.WithCancel(context.WithoutCancel(tasks))
	var beating sync.WaitGroup
	defer beating.Wait()
	defer reported()
	beating.Go(func() { l.beat(beats, t, stop) })
	if claims.Err() != nil { // it came in the last moment
		l.release(tasks, t)
		return
	}
	result, err := call(ctx, l.handlers[t.Name], t)
	f := &FailureError{Kind: "error", Retry: t.Retried || t.Attempt < int64(l.Attempts)}
	switch {
	case errors.Is(context.Cause(ctx), ErrInVain):
		return
	case err == nil:
		l.complete(tasks, t, result)
		return
	case ctx.Err() != nil:
		l.release(tasks, t)
		return
	case !errors.As(err, &f):
		f.Message = cmp.Or(err.Error(), "the handler gave no message")
	}
	l.fail(tasks, t, f)
}

// call calls a handler; a panic in it is an error.
func call(ctx context.Context, h Handler, t *Task) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the handler panicked: %v", r)
		}
	}()
	return h(ctx, t)
}

// beat sends heartbeats until ctx ends. stop is told when nobody waits for the task, or another worker has it.
func (l *loop) beat(ctx context.Context, t *Task, stop context.CancelCauseFunc) {
	said := apiclient.HeartbeatRequest{Claim: t.Claim}
	each := time.NewTicker(l.Lease / 3)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case said = <-t.said:
		case <-each.C:
		}
		once, end := context.WithTimeout(ctx, max(l.Lease/3, time.Second))
		heard, err := l.client.HeartbeatTask(once, t.TaskID, said)
		end()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && heard.Body.Stop, err != nil && lost(err):
			stop(ErrInVain)
			return
		case err != nil:
			l.say(ctx, "no heartbeat", t, err)
		}
	}
}
