package undo

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCleanupsRunAllInOppositeOrder(t *testing.T) {
	t.Parallel()
	var got []string
	c := Steps{Log: slog.New(slog.DiscardHandler)}
	boom := errors.New("boom")
	for _, name := range []string{"first", "second", "third"} {
		c.Add(name, func(context.Context) error {
			got = append(got, name)
			if name == "second" {
				return boom
			}
			return nil
		})
	}
	err := c.Run(t.Context())
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "second") {
		t.Errorf("error %v, want one that names the step", err)
	}
	if strings.Join(got, " ") != "third second first" {
		t.Errorf("order: %v", got)
	}
	if err := c.Run(t.Context()); err != nil || len(got) != 3 {
		t.Errorf("a second run did something: %v %v", got, err)
	}
}

func TestCleanupsLeaveBehindWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ran := false
		c := Steps{Log: slog.New(slog.DiscardHandler)}
		c.Add("after it", func(context.Context) error { ran = true; return nil })
		c.Add("stubborn", func(context.Context) error { <-release; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		err := c.Run(ctx)
		if !errors.Is(err, ErrNotStopped) || !strings.Contains(err.Error(), "stubborn") || !ran {
			t.Errorf("error %v, ran %v", err, ran)
		}
		if took := time.Since(begin); took > time.Minute+2*stepGrace {
			t.Errorf("it took %v", took)
		}
		close(release)
	})
}
