package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

// rawValue is what raw puts write. A W1 writes more, in one transaction; 1 KiB is
// what the goals were set against.
var rawValue = strings.Repeat("x", 1024)

const rawKeys = 10_000

func rawKey(i int64) string { return fmt.Sprintf("/bench/raw/%05d", i%rawKeys) }

// put is the figure that the others are ratios of.
func (s *system) put(ctx context.Context, callers int, d time.Duration) outcome {
	return closedLoop(ctx, callers, d, func(ctx context.Context, i int64) error {
		_, err := s.client.Put(ctx, rawKey(i), rawValue)
		return err
	})
}

// rawLimits are what this etcd can do without Weft.
func (s *system) rawLimits(ctx context.Context, callers int, d time.Duration, note func(name string, f func() outcome)) error {
	note("get", func() outcome {
		return closedLoop(ctx, callers, d, func(ctx context.Context, i int64) error {
			_, err := s.client.Get(ctx, rawKey(i))
			return err
		})
	})
	session, err := concurrency.NewSession(s.client, concurrency.WithTTL(30))
	if err != nil {
		return err
	}
	defer session.Close()
	cycle := func(session *concurrency.Session) func(context.Context, int64) error {
		return func(ctx context.Context, i int64) error {
			m := concurrency.NewMutex(session, fmt.Sprintf("/bench/lock/%d", i))
			if err := m.Lock(ctx); err != nil {
				return err
			}
			return m.Unlock(ctx)
		}
	}
	note("mutex, own key", func() outcome { return closedLoop(ctx, callers, d, cycle(session)) })
	folded, err := dial(s.endpoints)
	if err != nil {
		return err
	}
	defer folded.Close()
	group := groupcommit.New(groupcommit.Config{KV: folded.KV})
	defer group.Close()
	folded.KV = group
	foldedSession, err := concurrency.NewSession(folded, concurrency.WithTTL(30))
	if err != nil {
		return err
	}
	defer foldedSession.Close()
	note("mutex, folded", func() outcome { return closedLoop(ctx, callers, d, cycle(foldedSession)) })
	note("put, folded", func() outcome {
		return closedLoop(ctx, callers, d, func(ctx context.Context, i int64) error {
			_, err := folded.Put(ctx, rawKey(i), rawValue)
			return err
		})
	})
	if callers < 16 {
		return nil
	}
	return s.contended(ctx, min(callers, 64), d, note)
}

// contended is the hand-over of one mutex among sessions, which W3 is compared
// with: an etcd mutex is re-entrant within one.
func (s *system) contended(ctx context.Context, callers int, d time.Duration, note func(name string, f func() outcome)) error {
	sessions := make(chan *concurrency.Session, callers)
	for range callers {
		c, err := dial(s.endpoints)
		if err != nil {
			return err
		}
		defer c.Close()
		session, err := concurrency.NewSession(c, concurrency.WithTTL(30))
		if err != nil {
			return err
		}
		defer session.Close()
		sessions <- session
	}
	note("mutex, contended", func() outcome {
		return closedLoop(ctx, callers, d, func(ctx context.Context, _ int64) error {
			session := <-sessions
			defer func() { sessions <- session }()
			m := concurrency.NewMutex(session, "/bench/hot")
			if err := m.Lock(ctx); err != nil {
				return err
			}
			return m.Unlock(ctx)
		})
	})
	return nil
}
