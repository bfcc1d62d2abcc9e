package upkeep

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/workflow"
)

// mailboxes works what is in mailboxes, and finds what nobody works.
type mailboxes struct {
	worker
	aside aside // what this node's program cannot run
}

// workMailboxes works what is in mailboxes. Up to cfg.Opening instances are taken
// and read at a time, which asks etcd and nobody else; a burst that runs leaves
// that place to the next, however long it waits for the outside. How many run is
// bounded by the client's Limits.
func (m *mailboxes) workMailboxes(ctx context.Context) error {
	opening := make(chan struct{}, m.cfg.Opening)
	var bursts sync.WaitGroup
	defer bursts.Wait()
	for {
		id, recovered, ok := m.cfg.Wakeups.next(ctx)
		if !ok {
			return nil
		}
		if m.intake.Suspended() || m.aside.waits(id) || m.cfg.Node.Waits(id) {
			continue // the sweep finds it when work goes on, and the node when it has a place
		}
		select {
		case opening <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		bursts.Go(func() {
			opened := sync.OnceFunc(func() { <-opening })
			defer opened()
			m.workMailbox(ctx, id, recovered, opened)
		})
	}
}

// workMailbox works one instance's mailbox.
func (m *mailboxes) workMailbox(ctx context.Context, id string, recovered bool, opened func()) {
	if m.intake.Level() == intake.OutOfDisk {
		return
	}
	if m.intake.Level() >= intake.Full {
		// Only what ends runs. If that cannot be read, later.
		if end, err := m.cfg.Store.Interrupted(ctx, id); err != nil || end == "" {
			return
		}
	}
	err := m.cfg.Client(id).Work(ctx, recovered, opened)
	switch {
	case workflow.CodeOf(err) == workflow.CodeNotRunnable:
		m.setAside(ctx, id, err)
	case err == nil, errors.Is(err, client.ErrBusy), errors.Is(err, admission.ErrCrowded), errors.Is(err, store.ErrFenced), ctx.Err() != nil:
	default:
		m.cfg.Log.WarnContext(ctx, "mailbox not worked; a sweep will find it again", "instanceId", id, "error", err)
	}
}

const (
	sweepEvery = 800 * time.Millisecond // while there is mail
	sweepPage  = 1000
	// strangerAge is how many sweeps an entry has to outlive before a node that is
	// not preferred takes it. The preferred one may be there and not work: starting,
	// or cut off and not aware of it. With the first sight and the jitter this has to
	// stay well below the shortest TTL and two seconds, also on a busy machine.
	strangerAge = 2
	// How long the answer to one request of a sweep is waited for, at first: one member
	// of etcd that hangs would keep all nodes from all takeovers for as long as calls
	// may take. The next try goes to the next member. It doubles up to the most, for
	// an etcd that is slow.
	sweepPatience     = time.Second
	sweepPatienceMost = 8 * time.Second
)

// sweepMailboxes finds work that nobody does: entries that outlived a sweep
// while nobody held the lock. The preferred node takes them first. A vanished
// node hastens it.
func (m *mailboxes) sweepMailboxes(ctx context.Context) error {
	seen := map[string]sighting{}
	patience := sweepPatience
	wake := make(chan struct{}, 1)
	nothing := false // was there at the last sweep
	every := func() time.Duration {
		if nothing {
			return m.rest(sweepEvery)
		}
		return sweepEvery
	}
	return m.besideVanished(ctx, func() { signal(wake) },
		func(ctx context.Context) error {
			return m.pacedLoop(ctx, "mailbox sweep", every, wake, func(ctx context.Context) (bool, error) {
				nothing = false
				if m.intake.Suspended() {
					return false, nil
				}
				next, err := m.sweep(ctx, seen, patience)
				switch {
				case err == nil:
					seen, patience, nothing = next, sweepPatience, len(next) == 0
				case errors.Is(err, context.DeadlineExceeded):
					patience = min(2*patience, sweepPatienceMost)
					signal(wake) // at once: the next member may answer
				}
				return false, err
			})
		})
}

type sighting struct {
	created int64
	sweeps  int
	since   time.Time
}

// onlyEnds are the instances that are to end, when etcd has no room for others to
// go on; nil when it has.
func (m *mailboxes) onlyEnds(ctx context.Context) (map[string]bool, error) {
	if m.intake.Level() < intake.Full {
		return nil, nil
	}
	ids, err := m.cfg.Store.Cancelled(ctx)
	ends := make(map[string]bool, len(ids))
	for _, id := range ids {
		ends[id] = true
	}
	return ends, err
}

// sweep looks at every mailbox entry once, keys only.
func (m *mailboxes) sweep(ctx context.Context, before map[string]sighting, patience time.Duration) (map[string]sighting, error) {
	now := time.Now()
	ends, err := m.onlyEnds(ctx)
	if err != nil {
		return nil, err
	}
	after, mailed, entered := map[string]sighting{}, map[string]bool{}, map[string]bool{}
	oldest := time.Duration(0)
	for cursor := ""; ; {
		page, cancel := context.WithTimeout(ctx, patience)
		entries, next, err := m.cfg.Store.Sweep(page, cursor, sweepPage)
		cancel()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			entered[e.InstanceID] = true
			was, known := before[e.Key]
			if !known || was.created != e.Created {
				after[e.Key] = sighting{created: e.Created, since: now}
				continue
			}
			was.sweeps++
			after[e.Key] = was
			oldest = max(oldest, now.Sub(was.since))
			mailed[e.InstanceID] = true
			if m.cfg.Wakeups.has(e.InstanceID) || m.aside.waits(e.InstanceID) || m.cfg.Node.Waits(e.InstanceID) || m.cfg.Node.Rests(e.InstanceID, e.CommandID) || ends != nil && !ends[e.InstanceID] {
				continue // it waits for its turn here, or until there is room
			}
			if was.sweeps >= strangerAge || m.cfg.Session.PreferredNode(e.InstanceID) == m.cfg.Session.NodeID() {
				m.cfg.Wakeups.add(e.InstanceID, true)
			}
		}
		if next == "" {
			break
		}
		cursor = next
	}
	m.cfg.Metrics.SetMailboxOldest(oldest)
	crowd := m.cfg.Node.Sweep(entered)
	m.cfg.Metrics.SetCrowd(crowd.Bursts, crowd.Bytes, crowd.WaitDefinition, crowd.WaitMemory, crowd.WaitQuarantine)
	m.cfg.Metrics.SetNotRunnable(m.aside.keep(mailed))
	return after, nil
}
