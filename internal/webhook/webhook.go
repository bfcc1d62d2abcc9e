package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Config says what tells, and how. The first group is required.
type Config struct {
	Store   *etcdstore.Webhooks
	Session *cluster.Session
	Client  *http.Client // of internal/outgoing
	Cluster string       // its name

	Secrets func() *secrets.Set // that sign, and that nobody is told; nil: none
	Timeout time.Duration       // of one request; default 10 s
	Backoff []time.Duration     // before each next attempt, the last one again and again; default 5 s to 1 h
	GiveUp  time.Duration       // after which a letter is not tried any more; default 24 h
	Sweep   time.Duration       // behind watches; default 30 s
	// MaxLetters is how many letters of a webhook wait: beyond that its position stays where
	// it is while its receiver is away, and one that takes others is not asked for them again.
	// Default 1,000.
	MaxLetters int64
	Log        *slog.Logger     // nil: discarded
	Metrics    *metrics.Metrics // nil: none
	Now        func() time.Time // default time.Now
}

// Webhooks keeps webhooks and tells them. Make it with [New], keep [Webhooks.Run] running.
type Webhooks struct {
	cfg    Config
	client *http.Client // that follows no redirect

	mu   sync.Mutex
	late map[string]time.Duration // how old what was not taken is, of the webhooks that this node tells; guarded by mu
}

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Webhooks, error) {
	if cfg.Store == nil || cfg.Session == nil || cfg.Client == nil || cfg.Cluster == "" {
		return nil, errors.New("webhook: Store, Session, Client and Cluster are required")
	}
	if cfg.Secrets == nil {
		cfg.Secrets = func() *secrets.Set { return nil }
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	if cfg.Backoff == nil {
		cfg.Backoff = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}
	}
	cfg.GiveUp = cmp.Or(cfg.GiveUp, 24*time.Hour)
	cfg.Sweep = cmp.Or(cfg.Sweep, 30*time.Second)
	cfg.MaxLetters = cmp.Or(cfg.MaxLetters, 1000)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client := *cfg.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhooks{cfg: cfg, client: &client, late: map[string]time.Duration{}}, nil
}

// Status is a webhook and how it is.
type Status struct {
	Definition
	Node    string  // that tells it
	Waiting int64   // letters with up to 100 events that were not taken, and are tried again
	Failed  int64   // letters that were given up
	Next    *Letter // of those that wait the one that is due first, without its events; nil: none waits
}

// Get gives one. Errors: [workflow.CodeWebhookNotFound].
func (h *Webhooks) Get(ctx context.Context, name string) (*Status, error) {
	d, _, waiting, failed, err := h.cfg.Store.Webhook(ctx, name)
	if err != nil {
		return nil, etcdstore.ReadFailed("the webhook", err)
	}
	if d == nil {
		return nil, workflow.Fail(workflow.CodeWebhookNotFound, "there is no webhook "+name)
	}
	s := &Status{Definition: *d, Node: h.teller(name), Waiting: waiting, Failed: failed}
	if waiting == 0 {
		return s, nil
	}
	first, _, err := h.cfg.Store.Letters(ctx, d, firstOf)
	if err != nil {
		return nil, etcdstore.ReadFailed("what the webhook has not told yet", err)
	}
	if len(first) > 0 {
		s.Next = &first[0]
		s.Next.Events = nil
	}
	return s, nil
}

// List gives all, in the order of their names; there are 100 at most.
func (h *Webhooks) List(ctx context.Context) ([]Status, error) {
	all, err := h.cfg.Store.List(ctx)
	if err != nil {
		return nil, etcdstore.ReadFailed("the webhooks", err)
	}
	var out []Status
	for i := range all {
		s, err := h.Get(ctx, all[i].Name)
		if err != nil {
			continue // it went since
		}
		out = append(out, *s)
	}
	return out, nil
}

// firstOf is how many letters are read for the one that is due first: those that are damaged are left out.
const firstOf = 5

func (h *Webhooks) teller(name string) string { return h.cfg.Session.PreferredNode("webhook/" + name) }

// Put makes a webhook, which is told then, or changes it: what else it tells counts from then
// on, and what waits stays. Errors: [workflow.CodeInvalid], [workflow.CodeBusy].
func (h *Webhooks) Put(ctx context.Context, d Definition) (s *Status, made bool, err error) {
	if err := h.check(&d); err != nil {
		return nil, false, err
	}
	for range putTries {
		was, _, _, _, err := h.cfg.Store.Webhook(ctx, d.Name)
		if err != nil {
			return nil, false, etcdstore.ReadFailed("the webhook", err)
		}
		if d.Modified = 0; was != nil {
			d.Modified = was.Modified
		}
		ok, err := h.cfg.Store.PutWebhook(ctx, &d)
		switch {
		case errors.Is(err, etcdstore.ErrTooMany):
			return nil, false, workflow.Fail(workflow.CodeInvalid, err.Error())
		case err != nil:
			return nil, false, etcdstore.Unavailable("the webhook was not put, or it is not known whether it was", err)
		case ok:
			s, err := h.Get(ctx, d.Name)
			return s, was == nil, err
		}
	}
	return nil, false, contended(d.Name)
}

// putTries is how often a webhook is read again that somebody else puts at the same time.
const putTries = 5

func contended(name string) error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: "others change the webhook " + name + " at the same time", RetryAfter: time.Second}
}

// Delete forgets a webhook with all that it has not told.
func (h *Webhooks) Delete(ctx context.Context, name string) error {
	for range putTries {
		s, err := h.Get(ctx, name)
		if err != nil {
			return err
		}
		ok, err := h.cfg.Store.DeleteWebhook(ctx, name, s.Modified)
		if err != nil {
			return etcdstore.Unavailable("the webhook was not deleted, or not with all that it has", err)
		}
		if ok {
			return nil
		}
	}
	return contended(name)
}

// Letter is what was given up.
type Letter = store.WebhookLetter

// Failed gives a page of what was given up.
func (h *Webhooks) Failed(ctx context.Context, name, cursor string, limit int) ([]Letter, etcdstore.PageEnd, error) {
	if _, err := h.Get(ctx, name); err != nil {
		return nil, etcdstore.PageEnd{}, err
	}
	page, end, err := h.cfg.Store.Failed(ctx, name, cursor, int64(limit))
	if err != nil {
		return nil, end, etcdstore.ReadFailed("what the webhook gave up", err)
	}
	return page, end, nil
}

// Again tries all that was given up once more, or forgets it. It gives the number of events.
func (h *Webhooks) Again(ctx context.Context, name string, forget bool) (int, error) {
	s, err := h.Get(ctx, name)
	if err != nil {
		return 0, err
	}
	n := 0
	for {
		page, _, err := h.cfg.Store.Failed(ctx, name, "", 50)
		if err != nil {
			return n, etcdstore.ReadFailed("what the webhook gave up", err)
		}
		if len(page) == 0 {
			return n, nil
		}
		moves := false
		for i := range page {
			ok, err := h.cfg.Store.Replay(ctx, &s.Definition, &page[i], h.cfg.Now(), forget || page[i].Webhook != s.Created)
			if err != nil {
				return n, etcdstore.Unavailable("it is not known whether all of it is tried again", err)
			}
			if ok {
				moves, n = true, n+len(page[i].Events)
			}
		}
		if !moves {
			return n, nil // somebody else is at it
		}
	}
}

// Run tells the webhooks that this node is preferred for, until ctx ends.
func (h *Webhooks) Run(ctx context.Context) error {
	tellers := map[string]*teller{}
	defer func() {
		for _, t := range tellers {
			t.stop()
		}
		for _, t := range tellers {
			<-t.done
		}
	}()
	for ctx.Err() == nil {
		h.follow(ctx, tellers)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: make a new one
	}
	return nil
}

// follow returns when ctx ends or the watch breaks.
func (h *Webhooks) follow(ctx context.Context, tellers map[string]*teller) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hint := h.cfg.Store.WatchList(ctx)
	members, leave := h.cfg.Session.MembersChanged()
	defer leave()
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
		case <-members:
		case <-sweep.C:
		}
		sweep.Reset(pace.Jitter(h.cfg.Sweep))
		all, err := h.cfg.Store.List(ctx)
		if err != nil {
			continue // the next look tells
		}
		h.assign(ctx, all, tellers)
	}
}

// assign ends the tellers that this node should not have any more, and begins those that it
// should. Of one that changed the old one ends first.
func (h *Webhooks) assign(ctx context.Context, all []store.Webhook, tellers map[string]*teller) {
	want := map[string]*store.Webhook{}
	for i := range all {
		if w := &all[i]; !w.Paused && h.teller(w.Name) == h.cfg.Session.NodeID() {
			want[w.Name] = w
		}
	}
	for name, t := range tellers {
		if w := want[name]; w == nil || w.Modified != t.w.Modified {
			t.stop()
			<-t.done
			delete(tellers, name)
			h.setLate(name, -1)
		}
	}
	for name, w := range want {
		if tellers[name] != nil {
			continue
		}
		run, stop := context.WithCancel(context.WithoutCancel(ctx)) // Run ends it, not the watch
		t := &teller{h: h, w: w, stop: stop, done: make(chan struct{})}
		tellers[name] = t
		go t.run(run)
	}
}

// setLate shows how old the oldest event is that was not taken, of all webhooks of this node.
func (h *Webhooks) setLate(name string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.late[name] = d; d < 0 {
		delete(h.late, name)
	}
	var most time.Duration
	for _, d := range h.late {
		most = max(most, d)
	}
	h.cfg.Metrics.SetWebhooksLate(most)
}

// Host names a receiver without what its URL may tell.
func Host(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
