package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/members"
)

// Session is this process in the cluster: one lease at a time, the node record
// on it, the list of members, and the locks. See the package documentation for
// its states.
type Session struct {
	cfg   Config
	root  string
	log   *slog.Logger
	locks *Locks

	process string
	joined  time.Time // when Open had joined

	members *members.List

	// tasks are the background clean-ups of locks; Close waits for them.
	tasks taskGroup

	// recordMu serialises the writes of the own node record.
	recordMu  sync.Mutex
	recordRev int64           // mod revision of the own record as last seen; guarded by recordMu
	last      members.Written // the heartbeat before, to be told with the next; guarded by recordMu

	mu      sync.Mutex
	epoch   *Epoch // the last one, also when it has ended; guarded by mu
	self    Node   // the own record as it should be; guarded by mu
	why     reason // why there is no live epoch; guarded by mu
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
	process := uuid.NewString()
	s := &Session{
		cfg:     cfg,
		root:    Root(cfg.Cluster),
		log:     cfg.Logger.With("node", cfg.NodeID),
		process: process,
		self: Node{
			ID: cfg.NodeID, Process: process, Address: cfg.Address, Version: cfg.Version, Program: cfg.Program, Reads: cfg.Reads, Mode: cfg.Mode,
			StartedAt: cfg.Now().UTC().Truncate(time.Millisecond),
		},
		members: members.New(),
		closing: make(chan struct{}),
		ran:     make(chan struct{}),
	}
	s.locks = &Locks{s: s}
	e, err := s.begin(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("join cluster %q: %w", cfg.Cluster, err)
	}
	if err := s.sweepMembers(ctx); err != nil {
		e.end(ErrClosed, ErrClosed)
		_ = s.revoke(ctx, e.Lease) // the lease ends by itself
		return nil, fmt.Errorf("join cluster %q: %w", cfg.Cluster, err)
	}
	s.joined = time.Now()
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
	cctx, cancel := call.WithTimeout(ctx)
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
		_ = s.revoke(ctx, e.Lease) // the lease ends by itself
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

// setEpoch publishes e, or reports false if the session is closed.
func (s *Session) setEpoch(e *Epoch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.epoch = e
	s.why = ""
	s.members.ForgetAbsent()
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
	s.members.CloseSubscriptions()
	if !first {
		return nil
	}
	if err := s.revoke(ctx, e.Lease); err != nil && !call.IsDefinite(err) {
		return fmt.Errorf("leave cluster %q: revoke the lease: %w", s.cfg.Cluster, err)
	}
	return nil
}

// Ready is nil while the session is live, and says otherwise why it is not, in
// words that name no address and no node.
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

// Overdue is how long ago the lease was renewed, and whether that is too long:
// the session lives, and is lost if this goes on. It is a reason to take on less.
// Late is false while there is no session; see [Session.Ready].
func (s *Session) Overdue() (since time.Duration, late bool) {
	e := s.Epoch()
	if e == nil {
		return 0, false
	}
	return e.overdue()
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
