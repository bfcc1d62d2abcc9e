package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// cleanups is what has to be undone, last one first. It serves a start that
// failed half way and the stop of a node alike.
type cleanups struct {
	log   *slog.Logger
	steps []cleanup
}

type cleanup struct {
	name string
	do   func(ctx context.Context) error
}

// add remembers a step.
func (c *cleanups) add(name string, do func(ctx context.Context) error) {
	c.steps = append(c.steps, cleanup{name, do})
}

// run does every step, also after one has failed, and forgets them. All of them
// share the time that ctx has; a step that does not return when ctx has ended is
// left behind and named in the error.
func (c *cleanups) run(ctx context.Context) error {
	var errs []error
	for len(c.steps) > 0 {
		last := c.steps[len(c.steps)-1]
		c.steps = c.steps[:len(c.steps)-1]
		begin := time.Now()
		done := make(chan error, 1)
		go func() { done <- last.do(ctx) }()
		select {
		case err := <-done:
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", last.name, err))
			}
			c.log.DebugContext(ctx, "stopped", slog.String("part", last.name), slog.Duration("took", time.Since(begin)), slog.Any("error", err))
		case <-graceAfter(ctx):
			errs = append(errs, fmt.Errorf("%s: %w", last.name, errNotStopped))
		}
	}
	return errors.Join(errs...)
}

// errNotStopped says that a part was left running because time was over.
var errNotStopped = errors.New("did not stop in time")

// graceAfter gives a step a moment to notice that ctx has ended.
func graceAfter(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(stepGrace, func() { close(over) }) })
	return over
}

// stepGrace is what a step may take after the deadline of all.
const stepGrace = 2 * time.Second
