package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
)

// Run keeps the session alive until ctx ends or Close is called, and then
// returns nil. It may be called once. When it returns, the epoch has ended and
// nothing that Run started is still running; the lease is left to [Session.Close].
func (s *Session) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.running || s.closed {
		defer s.mu.Unlock()
		if s.closed {
			return ErrClosed
		}
		return errors.New("cluster: Run was called twice")
	}
	s.running = true
	e := s.epoch
	s.mu.Unlock()
	defer close(s.ran)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() {
		select {
		case <-s.closing:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	})
	loops.Go(func() { s.watchMembers(ctx) })

	for {
		why, err := s.keep(ctx, e)
		if ctx.Err() != nil || s.isClosed() {
			s.endEpoch(ctx, e, ErrClosed, ErrClosed)
			return nil
		}
		s.lose(ctx, e, why, err)
		next, ok := s.rebuild(ctx, e)
		if !ok {
			return nil
		}
		e = next
	}
}

// keep is the state "live": it owns the lease of e and returns why it can no
// longer be believed in, or when ctx ends; err is for the log.
func (s *Session) keep(ctx context.Context, e *Epoch) (why reason, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	defer loops.Wait()
	defer cancel()
	loops.Go(func() { s.heartbeats(ctx, e) })
	loops.Go(func() { s.janitor(ctx, e) })

	r := &renewals{s: s, e: e, answers: make(chan renewal)}
	defer r.end()
	next := time.NewTimer(0) // an epoch may have waited for this
	defer next.Stop()
	expiry := time.NewTimer(e.remaining())
	defer expiry.Stop()
	for {
		select {
		case <-ctx.Done():
			return "stopped", nil
		case <-e.ctx.Done():
			return "its time is over", context.Cause(e.ctx)
		case <-next.C:
			r.ask(ctx)
			next.Reset(askAgain(e.TTL))
		case a := <-r.answers:
			switch {
			case errors.Is(a.err, rpctypes.ErrLeaseNotFound):
				return "the lease is gone or was not renewed in time", a.err
			case a.err != nil:
				err = a.err // for the log, if no later one is answered
				continue
			}
			// An answer that was read only after the whole TTL may be old:
			// the process was paused. Ask before believing it.
			if !e.Live() && s.leaseIsGone(ctx, e) {
				return "the lease ended while this process was paused or starved", nil
			}
			r.end()
			err = nil
			e.trust(a.asked)
			next.Reset(max(renewEvery(e.TTL)-time.Since(a.asked), 0))
			expiry.Reset(e.remaining())
		case <-expiry.C:
			return "there was no renewal for a whole TTL", err
		case <-e.suspect:
			if s.leaseIsGone(ctx, e) {
				return "etcd does not know the lease any more", nil
			}
		}
	}
}

// renewals are the requests that renew a lease for one more time: the first answer
// counts. A member that hangs, and one that passes a renewal on to a leader that
// hangs, answers none; so after a part of the TTL another one is sent, over another
// member if there is one. The first goes on beside it: an etcd that is slow answers it.
type renewals struct {
	s       *Session
	e       *Epoch
	answers chan renewal
	cancel  context.CancelFunc // of those under way; nil if there are none
	ctx     context.Context    // of those under way
	tries   sync.WaitGroup
}

// renewal is one answer.
type renewal struct {
	asked time.Time
	err   error
}

// renewEvery leaves time for an election before the lease counts as late; see
// [Epoch.overdue].
func renewEvery(ttl time.Duration) time.Duration { return ttl / 5 }

// askAgain is how long one renewal may go without an answer before the next is sent.
func askAgain(ttl time.Duration) time.Duration { return max(ttl/10, 250*time.Millisecond) }

// ask sends a renewal.
func (r *renewals) ask(ctx context.Context) {
	if r.cancel == nil {
		r.ctx, r.cancel = context.WithTimeoutCause(ctx, r.e.TTL, call.ErrNoAnswer)
	}
	ctx = r.ctx
	r.tries.Go(func() {
		a := renewal{asked: time.Now()}
		_, a.err = r.s.cfg.LeaseClient.KeepAliveOnce(ctx, r.e.Lease)
		select {
		case r.answers <- a:
		case <-ctx.Done():
		}
	})
}

// end ends those that are under way, and waits for them.
func (r *renewals) end() {
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
	}
	r.tries.Wait()
}

// leaseIsGone is true only if etcd said so.
func (s *Session) leaseIsGone(ctx context.Context, e *Epoch) bool {
	// Short: until it returns the loop does not see renewals.
	cctx, cancel := context.WithTimeout(ctx, max(e.remaining()/2, 100*time.Millisecond))
	defer cancel()
	left, err := s.cfg.LeaseClient.TimeToLive(cctx, e.Lease)
	return err == nil && left.TTL <= 0
}

// lose is the step from "live" to "rebuilding".
func (s *Session) lose(ctx context.Context, e *Epoch, why reason, err error) {
	s.mu.Lock()
	s.why = why
	s.mu.Unlock()
	held := s.endEpoch(ctx, e, sessionLost(why), fmt.Errorf("%w: %s", ErrLockLost, why))
	s.cfg.Metrics.SessionLost()
	said := []any{"epoch", e.Number, "ttl", e.TTL, "reason", why, "locksLost", held}
	if err != nil {
		said = append(said, "error", err)
	}
	s.log.WarnContext(ctx, "session lost, rebuilding it", said...)
}

// endEpoch ends e without waiting for its work, and accounts for its locks.
func (s *Session) endEpoch(_ context.Context, e *Epoch, cause, lockCause error) int {
	lost := e.end(cause, lockCause)
	for _, l := range lost {
		s.cfg.Metrics.LockLost(l.name.scope, time.Since(l.since))
	}
	return len(lost)
}

// rebuild is the state "rebuilding": it makes a new lease with a new epoch
// number until that works or ctx ends.
func (s *Session) rebuild(ctx context.Context, old *Epoch) (*Epoch, bool) {
	// The old lease may still live in etcd. Nothing of ours relies on it any
	// more, so let its locks go to others now. Best effort.
	if err := s.revoke(ctx, old.Lease); err != nil {
		s.log.DebugContext(ctx, "old lease not revoked, it ends by itself", "epoch", old.Number, "error", err)
	}
	waits := pace.Doubling(200 * time.Millisecond).Spread(30).UpTo(5 * time.Second)
	for {
		e, err := s.begin(ctx, old.Number+1)
		if err == nil && !s.setEpoch(e) {
			e.end(ErrClosed, ErrClosed)
			_ = s.revoke(ctx, e.Lease) // the lease ends by itself
			return nil, false
		}
		if err == nil {
			s.log.InfoContext(ctx, "session rebuilt", "epoch", e.Number, "ttl", e.TTL)
			return e, true
		}
		if ctx.Err() != nil {
			return nil, false
		}
		wait, _ := waits.Next()
		s.mu.Lock()
		s.why = whyNotRebuilt(err)
		s.mu.Unlock()
		s.log.WarnContext(ctx, "session not rebuilt yet", "error", err, "retryIn", wait)
		if !pace.Pause(ctx, wait) {
			return nil, false
		}
	}
}

// whyNotRebuilt says it without what err names, which may be addresses and nodes.
func whyNotRebuilt(err error) reason {
	var conflict *ConflictError
	switch {
	case errors.As(err, &conflict):
		return "another live node is in the way of a new one"
	case call.IsDefinite(err):
		return "etcd refuses a new one"
	}
	return "etcd does not answer"
}
