package signout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

const (
	// MostOfOne is how many sessions of one person are kept by themselves. Who ends more
	// ends all that begin before the minute is over: so nobody fills etcd by signing in and out.
	MostOfOne = 1000
	// margin is how much longer than a session it is kept that it ended, for nodes whose
	// clocks are behind.
	margin = time.Hour
	// pageSize is how many are read at once.
	pageSize = 1000
)

// Session is a session of the console.
type Session struct {
	ID    string // "": a program gave it none that did not know this package
	Who   string // whose it is: the name of the caller
	Began time.Time
	Ends  time.Time // by itself
	Since time.Time // what [List.Since] gave as it began; zero: a program before that began it, and Began counts
}

// since is what the end of all has to be behind if the session is to end with it.
func (s *Session) since() time.Time {
	if s.Since.IsZero() {
		return s.Began
	}
	return s.Since
}

// Config says where the list is. Store is required.
type Config struct {
	Store *etcdstore.SignOuts

	Sweep time.Duration    // behind the watch; default 1 min
	First time.Duration    // how long the first pages wait for the list; default 10 s
	Now   func() time.Time // default [time.Now]
	Log   *slog.Logger     // nil: discarded
}

// List is which sessions have ended. Make it with [New], keep [List.Run] running.
type List struct {
	cfg    Config
	loaded chan struct{} // closed once the list was read

	mu     sync.RWMutex
	people map[string]*person // by name; guarded by mu
	oldest time.Time          // when the first of them is over; guarded by mu
	mine   []*ended           // by this node, that no list had yet which it has read; guarded by mu
}

// ended is what this node has ended.
type ended struct {
	store.SignOut

	kept bool // etcd has it
}

// person is who ended sessions.
type person struct {
	sessions map[string]bool // by their ids
	before   time.Time       // all that began before; zero: none
	heard    time.Time       // when this node heard of before, by its clock
}

// many tells whether a person has ended as many sessions as are kept by themselves.
func (p *person) many() bool { return len(p.sessions) >= MostOfOne }

// New checks the configuration. It starts nothing.
func New(cfg Config) (*List, error) {
	if cfg.Store == nil {
		return nil, errors.New("signout: Store is required")
	}
	cfg.Sweep, cfg.First = cmp.Or(cfg.Sweep, time.Minute), cmp.Or(cfg.First, 10*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &List{cfg: cfg, loaded: make(chan struct{}), people: map[string]*person{}}, nil
}

// ErrNotKnown says that the node does not know yet which sessions have ended.
var ErrNotKnown = errors.New("it is not known yet which sessions have ended; try again")

// Ended tells whether a session counts no more. It waits for nothing, but soon after the
// start of the node. The error is [ErrNotKnown].
func (l *List) Ended(ctx context.Context, s Session) (bool, error) {
	select {
	case <-l.loaded:
	default:
		select {
		case <-l.loaded:
		case <-ctx.Done():
			return false, ErrNotKnown
		case <-time.After(l.cfg.First):
			return false, ErrNotKnown
		}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	p := l.people[s.Who]
	return p != nil && (p.sessions[s.ID] || s.since().Before(p.before)), nil
}

// Since is what a session is to carry that a person begins now: behind which end of all theirs
// that this node knows it begins. The next end of all is behind that, also by a clock that is behind.
func (l *List) Since(who string) time.Time {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p := l.people[who]
	switch now := l.cfg.Now(); {
	case p == nil || p.before.IsZero():
		return time.UnixMilli(1).UTC() // none; all that come are behind it
	case p.many() && now.Before(p.before) && now.Sub(p.heard) < time.Minute:
		return now // who ends session after session waits until the minute is over, also that of a clock that is ahead
	}
	return p.before
}

// End ends a session on every node. An error says that it is not known whether others hear
// of it; this node refuses it in any case.
func (l *List) End(ctx context.Context, s Session) error {
	if _, many := l.of(s.Who); s.ID == "" || many {
		return l.EndAll(ctx, s, s.Ends.Sub(s.Began))
	}
	return l.put(ctx, store.SignOut{Until: s.Ends.Add(margin), Who: s.Who, Session: s.ID})
}

// EndAll ends all sessions of the person of s that have begun, s among them, of which none
// lasts longer than life.
func (l *List) EndAll(ctx context.Context, s Session, life time.Duration) error {
	before := latest(l.cfg.Now(), s.since())
	if known, many := l.of(s.Who); many {
		before = before.Truncate(time.Minute).Add(time.Minute) // one entry a minute
	} else {
		before = latest(before, known).Add(time.Millisecond).Truncate(time.Millisecond) // strictly behind
	}
	before = before.UTC()
	return l.put(ctx, store.SignOut{Until: before.Add(life + margin), Who: s.Who, Before: before})
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// of is the latest end of all of a person that is known, and whether the person has ended as
// many sessions as are kept by themselves.
func (l *List) of(who string) (before time.Time, many bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p := l.people[who]
	if p == nil {
		return time.Time{}, false
	}
	return p.before, p.many()
}

// put tells this node, and then all others. What etcd did not take is put again with each
// look at the list, for as long as this node runs.
func (l *List) put(ctx context.Context, out store.SignOut) error {
	own := &ended{SignOut: out}
	l.mu.Lock()
	note(l.people, out, l.cfg.Now())
	if i := slices.IndexFunc(l.mine, func(e *ended) bool { return e.SignOut == out }); i >= 0 {
		own = l.mine[i]
	} else {
		l.mine = append(l.mine, own)
	}
	l.mu.Unlock()
	return l.keep(ctx, own)
}

func (l *List) keep(ctx context.Context, own *ended) error {
	err := l.cfg.Store.Put(ctx, own.SignOut)
	if errors.Is(err, etcdstore.ErrUnknown) {
		err = l.cfg.Store.Put(ctx, own.SignOut)
	}
	if err != nil {
		return etcdstore.Unavailable("the other nodes have perhaps not heard of it", err)
	}
	l.mu.Lock()
	own.kept = true
	l.mu.Unlock()
	return nil
}

// note adds what was ended to what is known, as it is heard of now.
func note(people map[string]*person, out store.SignOut, now time.Time) {
	p := people[out.Who]
	if p == nil {
		p = &person{sessions: map[string]bool{}}
		people[out.Who] = p
	}
	switch {
	case out.Session != "":
		p.sessions[out.Session] = true
	case p.before.Before(out.Before):
		p.before, p.heard = out.Before, now
	}
}

// Run follows the list until ctx ends.
func (l *List) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		l.follow(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: make a new one
	}
	return nil
}

// follow returns when ctx ends or the watch breaks.
func (l *List) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hint := l.cfg.Store.Watch(ctx)
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-hint:
			if !ok {
				return
			}
		case <-sweep.C:
		}
		sweep.Reset(pace.Jitter(l.cfg.Sweep))
		if err := l.read(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.WarnContext(ctx, "sessions that were ended not read, or not told to others; it is tried again", slog.Any("error", err))
			sweep.Reset(pace.Jitter(time.Second))
			continue
		}
		if err := l.forget(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.WarnContext(ctx, "sessions that were ended not forgotten; it is tried again", slog.Any("error", err))
		}
	}
}

// read takes the list as it is.
func (l *List) read(ctx context.Context) error {
	l.mu.Lock()
	kept, owed := map[*ended]bool{}, []*ended(nil)
	for _, own := range l.mine {
		if kept[own] = own.kept; !own.kept {
			owed = append(owed, own)
		}
	}
	l.mu.Unlock()
	var failed error // it is read all the same: etcd without space takes nothing, and tells
	for _, own := range owed {
		failed = errors.Join(failed, l.keep(ctx, own))
	}
	people, oldest := map[string]*person{}, time.Time{}
	for cursor := ""; ; {
		page, next, err := l.cfg.Store.List(ctx, cursor, pageSize)
		if err != nil {
			return err
		}
		for _, out := range page {
			if oldest.IsZero() {
				oldest = out.Until
			}
			note(people, out, l.cfg.Now())
		}
		if cursor = next; next == "" {
			break
		}
	}
	l.mu.Lock()
	l.mine = slices.DeleteFunc(l.mine, func(own *ended) bool { return kept[own] })
	for _, own := range l.mine {
		note(people, own.SignOut, l.cfg.Now())
	}
	for who, p := range people {
		if was := l.people[who]; was != nil && was.before.Equal(p.before) {
			p.heard = was.heard
		}
	}
	l.people, l.oldest = people, oldest
	l.mu.Unlock()
	select {
	case <-l.loaded:
	default:
		close(l.loaded)
	}
	return failed
}

// forget deletes what is over. Each node does when it sees it: the second one finds nothing.
func (l *List) forget(ctx context.Context) error {
	l.mu.RLock()
	oldest := l.oldest
	l.mu.RUnlock()
	now := l.cfg.Now()
	if oldest.IsZero() || now.Before(oldest) {
		return nil
	}
	return l.cfg.Store.Forget(ctx, now)
}
