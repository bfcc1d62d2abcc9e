package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	versions := flag.String("versions", "3.5.35,3.6.16,3.7.3", "of etcd, the oldest first; members go from one to the next")
	auth := flag.String("auth", "never", "when access control is turned on: before the nodes start, during the load, or never")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, strings.Split(*versions, ","), *auth); err != nil {
		fmt.Fprintln(os.Stderr, "etcds:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, versions []string, auth string) (err error) {
	if auth != "before" && auth != "during" && auth != "never" {
		return fmt.Errorf("-auth is before, during or never, and not %q", auth)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "weft-etcds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &world{dir: dir, began: time.Now()}
	defer func() { err = errors.Join(err, w.end(err != nil)) }()
	if err := w.build(ctx, versions); err != nil {
		return err
	}
	return w.play(ctx, versions, auth)
}

// play goes through the steps.
func (w *world) play(ctx context.Context, versions []string, auth string) error {
	if err := w.found(ctx, versions[0]); err != nil {
		return err
	}
	if auth == "before" {
		if err := w.access(ctx); err != nil {
			return err
		}
	}
	for _, id := range []string{"a", "b"} {
		if err := w.startNode(ctx, id, w.endpoints()); err != nil {
			return err
		}
	}
	l, err := w.startLoad(ctx)
	if err != nil {
		return err
	}
	defer l.stop()
	steps := []step{{"three members of " + versions[0], nothing}}
	if auth == "during" {
		steps = append(steps, step{"access control is turned on", w.access})
	}
	for _, next := range versions[1:] {
		for i := range members {
			steps = append(steps, step{fmt.Sprintf("%d of %d members are of %s", i+1, members, next), func(ctx context.Context) error { return w.upgrade(ctx, next) }})
		}
	}
	last := versions[len(versions)-1]
	steps = append(steps,
		step{"a learner joins, and a node has its address too", func(ctx context.Context) error {
			if err := w.learner(ctx, last); err != nil {
				return err
			}
			return w.startNode(ctx, "c", w.endpoints())
		}},
		step{"the learner becomes a member", w.promote})
	for _, s := range steps {
		began := time.Now()
		l.during(s.name)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := l.more(ctx, each); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		l.report(s.name, time.Since(began))
	}
	l.stop()
	return l.check(ctx)
}

// step is something that is done to the cluster while it works, and each is how many instances end after it before the
// next one is taken.
type step struct {
	name string
	do   func(ctx context.Context) error
}

const each = 100

func nothing(context.Context) error { return nil }
