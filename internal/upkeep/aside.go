package upkeep

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/workflow"
)

// aside is what this node found that its program cannot run or read: work of
// definitions that use what only another version of the program has, and records
// that it wrote. Nothing is done to it. It stays where it is, for a node that can,
// and this node tries again seldom.
type aside struct {
	mu   sync.Mutex
	held map[string]*backoff // by instance; guarded by mu
	said time.Time           // guarded by mu
}

type backoff struct {
	wait time.Duration
	till time.Time
}

const (
	asideFirst = time.Second
	asideMost  = time.Minute
	asideSaid  = 10 * time.Second // at most so often the log says that something waits
)

// waits reports whether it is too early to try an instance again.
func (a *aside) waits(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.held[id]
	return b != nil && time.Now().Before(b.till)
}

// note puts an instance aside, for longer each time.
func (a *aside) note(id string) (total int, say bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.held[id]
	if b == nil {
		if a.held == nil {
			a.held = map[string]*backoff{}
		}
		b = &backoff{wait: asideFirst / 2}
		a.held[id] = b
	}
	b.wait = min(2*b.wait, asideMost)
	b.till = time.Now().Add(pace.Jitter(b.wait))
	if say = time.Since(a.said) >= asideSaid; say {
		a.said = time.Now()
	}
	return len(a.held), say
}

// Keep forgets the instances that have no mail any more, and tells how many are
// left.
func (a *aside) keep(mailed map[string]bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.held {
		if !mailed[id] {
			delete(a.held, id)
		}
	}
	return len(a.held)
}

// setAside leaves an instance to nodes whose program can run it.
func (m *mailboxes) setAside(ctx context.Context, id string, err error) {
	total, say := m.aside.note(id)
	if !say {
		return
	}
	var e *workflow.Error
	errors.As(err, &e) // its code said so
	able, aerr := m.cfg.Session.Able(ctx, e.Needs)
	others := strings.Join(able, ", ")
	switch {
	case aerr != nil:
		others = "not known: " + aerr.Error()
	case len(able) == 0:
		others = "none that is live; start a node with a program that can"
	}
	m.cfg.Log.WarnContext(ctx, "work left to other nodes: the program of this one cannot run it; it waits in its mailbox",
		"instanceId", id, "error", err, "nodesThatCan", others, "instancesLeft", total)
}
