package worker

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

const (
	longestWait              = 30 * time.Second // of one claim for the first task
	firstPause, longestPause = time.Second, 30 * time.Second
	quickest                 = time.Second // between two claims that bring nothing
)

// crew is a worker with the tasks that it has.
type crew struct {
	ask  *ask.Asker
	api  *apiclient.Client
	wait time.Duration // for the first task of a claim

	names            []string
	program          []string
	path             string // of the program
	worker           string
	max, attempts    int
	lease            time.Duration
	grace, killAfter time.Duration

	mu sync.Mutex // of what is written to standard error

	places  chan struct{} // as many as may be done at once; who does one holds one
	broken  chan error    // why no more can be done; the first counts
	running sync.WaitGroup
}

var (
	errOver  = errors.New("the worker ends")
	errAgain = errors.New("the worker ends at once, interrupted again")
)

// work claims tasks and does them until ctx ends, or until that makes no sense any more.
func (c *crew) work(ctx context.Context) error {
	if c.ask.OnlyPrints() {
		_, err := c.claim(ctx, 1)
		return err
	}
	c.places, c.broken = make(chan struct{}, c.max), make(chan error, 1)
	signals := make(chan os.Signal, 2) // the first ends ctx too
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	tasks, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	c.say("%s claims tasks", c.worker)
	err := c.claims(ctx, tasks)
	c.drain(stop, signals, err == nil)
	return err
}

// claims claims tasks while there is a place for one, and does them under tasks. It ends with ctx, and then without an error.
func (c *crew) claims(ctx, tasks context.Context) error {
	failed := 0
	for {
		places := c.take(ctx)
		if ctx.Err() != nil {
			c.leave(places)
			return nil //nolint:nilerr // that it was told to stop is no error
		}
		select {
		case err := <-c.broken:
			c.leave(places)
			return err
		default:
		}
		began := time.Now()
		got, err := c.claim(ctx, places)
		c.leave(places - len(got))
		for i := range got {
			c.running.Go(func() {
				defer func() { <-c.places }()
				c.do(tasks, &got[i])
			})
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the same
		case err != nil && !passing(err):
			return err
		case err != nil:
			wait := backOff(failed)
			failed++
			c.say("%s; claims again in %v", c.ask.Explained(err), wait)
			pause(ctx, wait)
			continue
		case len(got) == 0:
			pause(ctx, quickest-time.Since(began))
		}
		failed = 0
	}
}

// take takes a place, and the others that are free then.
func (c *crew) take(ctx context.Context) (n int) {
	select {
	case <-ctx.Done():
		return 0
	case c.places <- struct{}{}:
	}
	for n = 1; n < c.max; n++ {
		select {
		case c.places <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// leave gives places back.
func (c *crew) leave(n int) {
	for range n {
		<-c.places
	}
}

func (c *crew) claim(ctx context.Context, most int) ([]apiclient.ClaimedTask, error) {
	n := int64(most)
	answer, err := c.api.ClaimTasks(ctx, apiclient.ClaimRequest{Names: c.names, Max: &n, Lease: c.lease.String(), Wait: c.wait.String(), Worker: c.worker})
	if err != nil {
		return nil, err
	}
	return answer.Body.Items[:min(len(answer.Body.Items), most)], nil
}

// drain waits for what runs, up to the grace, and lets it be given back then. interrupted: by the first signal, if it was one.
func (c *crew) drain(stop context.CancelCauseFunc, signals <-chan os.Signal, interrupted bool) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.running.Wait()
	}()
	if n := len(c.places); n > 0 {
		c.say("claims no more; what runs has %v to end, tasks: %d", c.grace, n)
	}
	grace := time.NewTimer(c.grace)
	defer grace.Stop()
	for first := interrupted; ; {
		select {
		case <-over:
			return
		case <-grace.C:
			stop(errOver)
		case <-signals:
			if !first {
				stop(errAgain)
			}
			first = false
		}
	}
}

// backOff is the pause before the next try, failed tries before it.
func backOff(failed int) time.Duration {
	return min(firstPause<<min(failed, 10), longestPause)
}

// passing tells that the same request may be answered otherwise later.
func passing(err error) bool {
	var p *apiclient.ProblemError
	if errors.As(err, &p) {
		return p.Status >= 500 || p.Status == http.StatusTooManyRequests || p.Status == http.StatusRequestTimeout
	}
	var lost *apiclient.NoAnswerError
	return errors.As(err, &lost)
}

// lost tells that what is reported of a task is of no use any more: another has it, or nobody waits for it.
func lost(err error) bool {
	var p *apiclient.ProblemError
	return errors.As(err, &p) && slices.Contains([]string{"task-claim-lost", "task-not-found", "instance-finished", "instance-not-found"}, p.Code)
}
