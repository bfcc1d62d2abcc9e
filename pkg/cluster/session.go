package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	retry "github.com/sethvargo/go-retry"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Session is this process in the cluster: one lease at a time, the node record
// on it, the list of members, and the locks. See the package documentation for
// its states.
type Session struct {
	cfg   Config
	root  string
	log   *slog.Logger
	locks *Locks

	members members

	// tasks are the background clean-ups of locks; Close waits for them.
	tasks taskGroup

	// recordMu serialises the writes of the own node record.
	recordMu  sync.Mutex
	recordRev int64 // mod revision of the own record as last seen; guarded by recordMu

	mu      sync.Mutex
	epoch   *Epoch // the last one, also when it has ended; guarded by mu
	self    Node   // the own record as it should be; guarded by mu
	why     string // why there is no live epoch; guarded by mu
	running bool   // guarded by mu
	closed  bool   // guarded by mu

	closing chan struct{} // closed by Close
	ran     chan struct{} // closed when Run has returned
}

// Open joins the cluster: it takes a lease, registers the node record and loads
// the members. It starts nothing that outlives the call; call [Session.Run]
// soon, it keeps the lease.
//
// It returns a [*ConflictError] if a live node has the same id, if this node is
// local and others are live, or if this node is distributed and a local one is
// live. The record of a dead process with the same id is waited for: it goes
// away with its lease, within one TTL of the old process and one more for each
// change of etcd's leader. Ctx bounds the wait.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg:  cfg,
		root: Root(cfg.Cluster),
		log:  cfg.Logger.With("node", cfg.NodeID),
		self: Node{
			ID: cfg.NodeID, Address: cfg.Address, Version: cfg.Version, Mode: cfg.Mode,
			StartedAt: time.Now().UTC().Truncate(time.Millisecond),
		},
		closing: make(chan struct{}),
		ran:     make(chan struct{}),
	}
	s.locks = &Locks{s: s}
	s.members.init()
	e, err := s.begin(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("join cluster %q: %w", cfg.Cluster, err)
	}
	if err := s.sweepMembers(ctx); err != nil {
		e.end(ErrClosed, ErrClosed)
		s.revoke(ctx, e.Lease)
		return nil, fmt.Errorf("join cluster %q: %w", cfg.Cluster, err)
	}
	s.setEpoch(e)
	cfg.Metrics.SetNodeInfo(cfg.NodeID, cfg.Version)
	return s, nil
}

// begin takes a lease and registers the node record on it. If that fails it
// leaves nothing behind.
func (s *Session) begin(ctx context.Context, number int64) (*Epoch, error) {
	seen, err := s.survey(ctx)
	if err != nil {
		return nil, err
	}
	asked := time.Now()
	cctx, cancel := withCallTimeout(ctx)
	granted, err := s.cfg.LeaseClient.Grant(cctx, s.cfg.ttlSeconds())
	cancel()
	if err != nil {
		return nil, fmt.Errorf("grant a lease: %w", err)
	}
	// The server has a floor of its own: what was granted counts, not what was
	// asked for.
	ttl := time.Duration(granted.TTL) * time.Second
	if ttl != s.cfg.TTL {
		s.log.InfoContext(ctx, "etcd granted another session TTL", "asked", s.cfg.TTL, "granted", ttl)
	}
	e := newEpoch(number, granted.ID, ttl, asked)
	if err := s.register(ctx, e, seen); err != nil {
		e.end(ErrClosed, ErrClosed)
		s.revoke(ctx, e.Lease)
		return nil, err
	}
	return e, nil
}

// revoke ends a lease as well as it can: if etcd does not answer, the lease ends
// by itself. It works with a ctx that has ended.
func (s *Session) revoke(ctx context.Context, lease clientv3.LeaseID) error {
	cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := s.cfg.LeaseClient.Revoke(cctx, lease)
	return err
}

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
		reason := s.keep(ctx, e)
		if ctx.Err() != nil || s.isClosed() {
			s.endEpoch(ctx, e, ErrClosed, ErrClosed)
			return nil
		}
		s.lose(ctx, e, reason)
		next, ok := s.rebuild(ctx, e)
		if !ok {
			return nil
		}
		e = next
	}
}

// keep is the state "live": it owns the lease of e and returns why it can no
// longer be believed in, or when ctx ends.
func (s *Session) keep(ctx context.Context, e *Epoch) (reason string) {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	defer loops.Wait()
	defer cancel()

	renewals, err := s.cfg.LeaseClient.KeepAlive(ctx, e.Lease)
	if err != nil {
		return "the lease cannot be kept alive: " + err.Error()
	}
	loops.Go(func() { s.heartbeats(ctx, e) })
	loops.Go(func() { s.janitor(ctx, e) })

	expiry := time.NewTimer(e.remaining())
	defer expiry.Stop()
	for {
		select {
		case <-ctx.Done():
			return "stopped"
		case <-e.ctx.Done():
			return context.Cause(e.ctx).Error()
		case ka, ok := <-renewals:
			if !ok {
				return "the lease is gone or was not renewed in time"
			}
			// An answer that was read only after the whole TTL may be old:
			// the process was paused. Ask before believing it.
			if !e.Live() && s.leaseIsGone(ctx, e) {
				return "the lease ended while this process was paused or starved"
			}
			if ka.TTL > 0 {
				e.trust(time.Now())
			}
			expiry.Reset(e.remaining())
		case <-expiry.C:
			return fmt.Sprintf("no renewal for a whole TTL of %v", e.TTL)
		case <-e.suspect:
			if s.leaseIsGone(ctx, e) {
				return "etcd does not know the lease any more"
			}
		}
	}
}

// leaseIsGone is true only if etcd said so.
func (s *Session) leaseIsGone(ctx context.Context, e *Epoch) bool {
	// Short: meanwhile the loop does not see renewals.
	cctx, cancel := context.WithTimeout(ctx, max(e.remaining()/2, 100*time.Millisecond))
	defer cancel()
	left, err := s.cfg.LeaseClient.TimeToLive(cctx, e.Lease)
	return err == nil && left.TTL <= 0
}

// lose is the step from "live" to "rebuilding".
func (s *Session) lose(ctx context.Context, e *Epoch, reason string) {
	s.mu.Lock()
	s.why = reason
	s.mu.Unlock()
	held := s.endEpoch(ctx, e, sessionLost(reason), fmt.Errorf("%w: %s", ErrLockLost, reason))
	s.cfg.Metrics.SessionLost()
	s.log.WarnContext(ctx, "session lost, rebuilding it", "epoch", e.Number, "reason", reason, "locksLost", held)
}

// endEpoch ends e without waiting for its work, and accounts for its locks.
func (s *Session) endEpoch(_ context.Context, e *Epoch, cause, lockCause error) int {
	lost := e.end(cause, lockCause)
	for _, l := range lost {
		s.cfg.Metrics.LockLost(string(l.name.scope), time.Since(l.since))
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
	backoff := retry.WithCappedDuration(5*time.Second,
		retry.WithJitterPercent(30, retry.NewExponential(200*time.Millisecond)))
	for {
		e, err := s.begin(ctx, old.Number+1)
		if err == nil && !s.setEpoch(e) {
			e.end(ErrClosed, ErrClosed)
			s.revoke(ctx, e.Lease)
			return nil, false
		}
		if err == nil {
			s.log.InfoContext(ctx, "session rebuilt", "epoch", e.Number, "ttl", e.TTL)
			return e, true
		}
		if ctx.Err() != nil {
			return nil, false
		}
		wait, _ := backoff.Next()
		s.mu.Lock()
		s.why = err.Error()
		s.mu.Unlock()
		s.log.WarnContext(ctx, "session not rebuilt yet", "error", err, "retryIn", wait)
		if !pause(ctx, wait) {
			return nil, false
		}
	}
}

// setEpoch publishes e, or reports false if the session is closed.
func (s *Session) setEpoch(e *Epoch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.epoch = e
	s.why = ""
	return true
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close leaves the cluster: it ends the epoch, revokes the lease, which removes
// the node record and every lock, and waits for the background clean-ups. It may
// be called more than once, before, during and after Run. If etcd does not
// answer, the error says so and the lease ends by itself.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	e, running := s.epoch, s.running
	s.mu.Unlock()
	if first {
		close(s.closing)
	}
	s.endEpoch(ctx, e, ErrClosed, ErrClosed)
	if running {
		<-s.ran // soon: all its calls end with its context
	}
	s.tasks.closeAndWait()
	s.members.closeSubscriptions()
	if !first {
		return nil
	}
	if err := s.revoke(ctx, e.Lease); err != nil && !isDefinite(err) {
		return fmt.Errorf("leave cluster %q: revoke the lease: %w", s.cfg.Cluster, err)
	}
	return nil
}

// Ready is nil while the session is live, and says otherwise why it is not.
func (s *Session) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.epoch.Live():
		return nil
	case s.why != "":
		return sessionLost(s.why)
	case s.epoch.ctx.Err() != nil:
		return context.Cause(s.epoch.ctx)
	}
	return sessionLost("the lease was not renewed in time")
}

// Epoch is the live epoch, or nil while there is none.
func (s *Session) Epoch() *Epoch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.epoch.Live() {
		return nil
	}
	return s.epoch
}

// NodeID is the id of this node.
func (s *Session) NodeID() string { return s.cfg.NodeID }

// Locks takes and looks at locks.
func (s *Session) Locks() *Locks { return s.locks }

// pause waits for about d and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter spreads d by a fifth to either side.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1)
}
