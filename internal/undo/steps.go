package undo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Steps is what has to be undone, last one first. It serves a start that
// failed half way and the stop of a node alike.
type Steps struct {
	Log   *slog.Logger
	steps []step
}

type step struct {
	name string
	do   func(ctx context.Context) error
}

// Add remembers a step.
func (c *Steps) Add(name string, do func(ctx context.Context) error) {
	c.steps = append(c.steps, step{name, do})
}

// Run does every step, also after one has failed, and forgets them. All of them
// share the time that ctx has; a step that does not return when ctx has ended is
// left behind and named in the error.
func (c *Steps) Run(ctx context.Context) error {
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
			c.Log.DebugContext(ctx, "stopped", slog.String("part", last.name), slog.Duration("took", time.Since(begin)), slog.Any("error", err))
		case <-graceAfter(ctx):
			errs = append(errs, fmt.Errorf("%s: %w", last.name, ErrNotStopped))
		}
	}
	return errors.Join(errs...)
}

// ErrNotStopped says that a part was left running because time was over.
var ErrNotStopped = errors.New("did not stop in time")

// graceAfter gives a step a moment to notice that ctx has ended.
func graceAfter(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(stepGrace, func() { close(over) }) })
	return over
}

// stepGrace is what a step may take after the deadline of all.
const stepGrace = 2 * time.Second
