package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
)

// Config says what is looked at. The first group is required.
type Config struct {
	Reader  *etcdstore.Reader
	Catalog *catalog.Catalog
	Session *cluster.Session

	// MaxInstances is how many instances are followed at once; one caller gets half of them.
	// A list counts as 16. Default 2,048.
	MaxInstances int

	Sweep time.Duration // between two looks that no watch asked for; default 10 s
	Lists time.Duration // between two looks at a list; default 2 s
	Log   *slog.Logger  // nil: discarded
}

// Hub shares what is followed among those who look. Make it with [New].
type Hub struct {
	cfg Config

	mu    sync.Mutex
	feeds map[string]*feed // of what somebody looks at; guarded by mu
	all   int              // how many instances they count as; guarded by mu
	by    map[string]int   // how many of these began for a caller; guarded by mu
}

// ErrTooMany says that as many instances are followed as may be: in all, or for one caller.
var ErrTooMany = errors.New("live: as many instances are followed as may be")

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Hub, error) {
	if cfg.Reader == nil || cfg.Catalog == nil || cfg.Session == nil {
		return nil, errors.New("live: Reader, Catalog and Session are required")
	}
	cfg.MaxInstances = cmp.Or(cfg.MaxInstances, 2048)
	cfg.Sweep = cmp.Or(cfg.Sweep, 10*time.Second)
	cfg.Lists = cmp.Or(cfg.Lists, 2*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{cfg: cfg, feeds: map[string]*feed{}, by: map[string]int{}}, nil
}

// Followed is how many instances and lists are followed.
func (h *Hub) Followed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.feeds)
}

// MayFollow is how many instances are followed at once: in all, and for one caller.
func (h *Hub) MayFollow() (all, each int) { return h.cfg.MaxInstances, max(1, h.cfg.MaxInstances/2) }

// enter makes a viewer hear of something; begin makes what follows it, if nothing does. Nil:
// no more may be followed.
func (h *Hub) enter(key, caller string, weight int, v *Viewer, begin func(*feed) followed) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[key]
	if f == nil {
		if all, each := h.MayFollow(); h.all+weight > all || h.by[caller]+weight > each {
			return nil
		}
		h.all += weight
		h.by[caller] += weight
		ctx, stop := context.WithCancel(context.Background())
		f = &feed{hub: h, key: key, caller: caller, weight: weight, viewers: map[*Viewer]struct{}{}, stop: stop, done: make(chan struct{})}
		f.of = begin(f)
		h.feeds[key] = f
		go f.run(ctx)
	}
	f.add(v)
	return f
}

// leave is the end of enter. The last one waits until it is not followed any more.
func (h *Hub) leave(f *feed, v *Viewer) {
	h.mu.Lock()
	last := f.remove(v) == 0
	if last {
		delete(h.feeds, f.key)
		h.all -= f.weight
		if h.by[f.caller] -= f.weight; h.by[f.caller] <= 0 {
			delete(h.by, f.caller)
		}
	}
	h.mu.Unlock()
	if last {
		f.stop()
		<-f.done
	}
}
