package catalog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/engine"
)

// Config is what [New] needs.
type Config struct {
	Store      *etcdstore.Definitions  // required
	Registry   *engine.Registry        // required
	Declared   []*declared.Declaration // activity types that files declare
	Evaluators []engine.Evaluator      // of the expressions that definitions may use
	Secrets    func() *secrets.Set     // what this node can read; nil: it has no secrets, and cannot check their names
	Checker    Checker                 // of what is published; nil: the compiler alone
	Log        *slog.Logger            // nil: discarded
	Now        func() time.Time        // nil: time.Now
	Sweep      time.Duration           // between two sweeps behind the watch; default 30 s
	Programs   int                     // how many compiled versions are kept; default 500
}

// Catalog publishes definitions and knows those that are published. Make it
// with [New].
type Catalog struct {
	cfg       Config
	store     *etcdstore.Definitions
	log       *slog.Logger
	types     *declared.Types
	programs  *programs
	flights   singleflight.Group
	table     atomic.Pointer[table]
	abilities []string      // what this node's program has
	loaded    chan struct{} // closed when the table was read for the first time
	once      sync.Once     // of closing loaded

	mu sync.Mutex // serialises those who replace the table
}

// New makes a catalogue; it does not touch the store.
func New(cfg Config) (*Catalog, error) {
	if cfg.Store == nil || cfg.Registry == nil {
		return nil, errors.New("catalog: Store and Registry are required")
	}
	if cfg.Checker == nil {
		cfg.Checker = compiles{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sweep <= 0 {
		cfg.Sweep = 30 * time.Second
	}
	if cfg.Programs <= 0 {
		cfg.Programs = 500
	}
	programs, err := newPrograms(cfg.Programs)
	if err != nil {
		return nil, err
	}
	types, err := declared.NewTypes(cfg.Registry, cfg.Declared)
	if err != nil {
		return nil, err
	}
	c := &Catalog{cfg: cfg, store: cfg.Store, log: cfg.Log, types: types, programs: programs, abilities: declared.Abilities(cfg.Registry, cfg.Evaluators), loaded: make(chan struct{})}
	c.table.Store(&table{replaced: make(chan struct{})})
	return c, nil
}

// Loaded is closed when the table was read for the first time.
func (c *Catalog) Loaded() <-chan struct{} { return c.loaded }

// Types are the activity types of this node's program, and those that its files declare.
func (c *Catalog) Types() *engine.Registry { return c.types.Now().Registry }

// Evaluators are those of the languages that definitions may use.
func (c *Catalog) Evaluators() []engine.Evaluator { return c.cfg.Evaluators }

// Revision is the store's revision up to which the table knows every change. It
// goes into the node record, so that people see a node that is behind.
func (c *Catalog) Revision() int64 { return c.table.Load().revision }

func (c *Catalog) now() time.Time { return c.cfg.Now().UTC().Truncate(time.Millisecond) }

// call bounds work that several callers share, so that it does not end with the
// one that came first.
func shared(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
}
