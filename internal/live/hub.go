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

	Sweep time.Duration // between two looks that no watch asked for; default 10 s
	Log   *slog.Logger  // nil: discarded
}

// Hub shares what is followed among those who look. Make it with [New].
type Hub struct {
	cfg Config

	mu    sync.Mutex
	feeds map[string]*feed // of the instances that somebody looks at; guarded by mu
}

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Hub, error) {
	if cfg.Reader == nil || cfg.Catalog == nil || cfg.Session == nil {
		return nil, errors.New("live: Reader, Catalog and Session are required")
	}
	cfg.Sweep = cmp.Or(cfg.Sweep, 10*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{cfg: cfg, feeds: map[string]*feed{}}, nil
}

// Followed is how many instances are watched in etcd.
func (h *Hub) Followed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.feeds)
}

// enter makes a viewer hear of an instance.
func (h *Hub) enter(id string, v *Viewer) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[id]
	if f == nil {
		ctx, stop := context.WithCancel(context.Background())
		f = &feed{hub: h, id: id, viewers: map[*Viewer]struct{}{}, stop: stop, done: make(chan struct{})}
		h.feeds[id] = f
		go f.run(ctx)
	}
	f.add(v)
	return f
}

// leave is the end of enter. The last one waits until the instance is not followed any more.
func (h *Hub) leave(f *feed, v *Viewer) {
	h.mu.Lock()
	last := f.remove(v) == 0
	if last {
		delete(h.feeds, f.id)
	}
	h.mu.Unlock()
	if last {
		f.stop()
		<-f.done
	}
}
