package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	keep := flag.Bool("keep", false, "leave the cluster running")
	images := flag.Bool("images", false, "build every stand-in again, and stop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *keep, *images); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

// run builds what is missing, starts the cluster, and goes through the steps.
func run(ctx context.Context, keep, imagesOnly bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	if err := startDocker(ctx); err != nil {
		return err
	}
	if err := buildImages(ctx, imagesOnly); err != nil {
		return err
	}
	if imagesOnly {
		return nil
	}
	c, err := newCluster(ctx)
	if err != nil {
		return err
	}
	if keep {
		defer c.say("kept: %s", c.manual())
	} else {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
			defer cancel()
			if err != nil {
				c.logs(ctx)
			}
			err = errors.Join(err, c.down(ctx))
		}()
	}
	begin := time.Now()
	for i, s := range steps {
		if err := s.run(ctx, c); err != nil {
			fmt.Printf("%d passed, 1 failed\n", i)
			return fmt.Errorf("%s: %w", s.name, err)
		}
		c.say("passed: %s", s.name)
	}
	c.say("all of it took %v", time.Since(begin).Round(time.Second))
	fmt.Printf("%d passed, 0 failed\n", len(steps))
	return nil
}
