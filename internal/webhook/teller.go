package webhook

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// teller tells one webhook.
type teller struct {
	h    *Webhooks
	w    *store.Webhook
	stop context.CancelFunc
	done chan struct{} // closed when run has ended

	at      *store.WebhookPosition
	waiting int64 // letters, as counted last

	// A receiver that takes nothing is away: what comes is not tried but put by, and few
	// letters are tried, later and later. Of what comes some is tried now and then too: what
	// it never takes says nothing about the rest.
	away   bool
	tries  int
	next   time.Time // when letters are tried again
	knock  time.Time // when what comes is
	missed int       // how many that came were not taken one after the other
	why    string    // the receiver took nothing when it was last found away
}

const (
	// atOnce is how many requests of a webhook are under way at a time.
	atOnce = 8
	// batch is how many events are told before the position is put.
	batch = 2000
	// perLetter is how many events a letter holds.
	perLetter = 100
	// triedLetters is how many letters are tried of a receiver that is away: one of them may
	// hold what no receiver ever takes.
	triedLetters = 4
	// triedAtOnce is how many letters are read at once otherwise.
	triedAtOnce = 50
	// idle is how long a teller waits for something to tell before it puts how far it is.
	idle = time.Minute
)

func (t *teller) run(ctx context.Context) {
	defer close(t.done)
	ctx = tracing.Quiet(ctx)
	for ctx.Err() == nil {
		if err := t.tell(ctx); err != nil && ctx.Err() == nil {
			t.h.cfg.Log.WarnContext(ctx, "a webhook is not told at the moment; it is tried again", slog.String("webhook", t.w.Name), slog.Any("error", err))
		}
		pace.Pause(ctx, pace.Jitter(time.Second))
	}
}

// tell tells until something is in its way: then how far it is is read again.
func (t *teller) tell(ctx context.Context) error {
	w, at, waiting, _, err := t.h.cfg.Store.Webhook(ctx, t.w.Name)
	if err != nil || !t.mayTell(w, at) {
		return err
	}
	t.at, t.waiting = at, waiting
	for ctx.Err() == nil {
		if err := t.again(ctx); err != nil {
			return err
		}
		full, most := t.away && t.waiting >= t.h.cfg.MaxLetters, batch
		if full {
			pace.Pause(ctx, min(t.pause(), t.untilKnock()))
			most = atOnce * atOnce
		}
		events, to, err := t.h.cfg.Store.Collect(ctx, t.w, t.at, most, t.pause())
		if err != nil {
			return err
		}
		if len(events) > 0 && t.waiting == 0 {
			t.next = time.Time{} // somebody may replay what was given up: it is looked at as it is awake
		}
		left, why, err := t.told(ctx, events)
		if err != nil {
			return err
		}
		if full && t.away {
			continue // the position stays where it is
		}
		if len(events) == 0 && maps.Equal(to.At, t.at.At) && maps.Equal(to.Behind, t.at.Behind) {
			continue
		}
		if ok, err := t.h.cfg.Store.Advance(ctx, t.w, to, t.letters(left, why)...); err != nil || !ok {
			return err // another node tells it, or it is gone
		}
		t.at = to
		t.waiting += int64((len(left) + perLetter - 1) / perLetter)
	}
	return nil
}

// mayTell is false of a webhook that is gone, which who owns this sees too, or whose position only a newer program
// can read.
func (t *teller) mayTell(w *store.Webhook, at *store.WebhookPosition) bool {
	return w != nil && !w.Paused && w.Created == t.w.Created && !at.Foreign
}

// pause is how long nothing has to be tried again.
func (t *teller) pause() time.Duration {
	switch {
	case t.waiting == 0:
		return idle
	case t.away:
		return min(idle, max(50*time.Millisecond, t.next.Sub(t.h.cfg.Now())))
	}
	return min(idle, t.h.cfg.Backoff[0])
}

func (t *teller) untilKnock() time.Duration {
	return max(50*time.Millisecond, t.knock.Sub(t.h.cfg.Now()))
}

// told tells what came, and gives what was not taken, and why. Of a receiver that is away it waits until
// some may be tried, unless so much came that etcd might forget what comes next until then.
func (t *teller) told(ctx context.Context, events []store.WebhookEvent) (left []store.WebhookEvent, why string, err error) {
	if t.away && len(events) > 0 {
		if len(events) < batch {
			pace.Pause(ctx, t.untilKnock())
		} else if t.h.cfg.Now().Before(t.knock) {
			return events, t.why, nil
		}
		t.missed = atOnce // one look tells
		events = sampled(events)
	}
	o, err := t.deliver(ctx, events, &t.missed)
	if err != nil {
		return nil, "", err
	}
	return o.left, o.why, nil
}

// sampled puts those first that are tried of a receiver which is away: from all of what came,
// as the head of it may be what it never takes.
func sampled(events []store.WebhookEvent) []store.WebhookEvent {
	step := (len(events) + atOnce - 1) / atOnce
	if step < 2 {
		return events
	}
	var first, rest []store.WebhookEvent
	for i := range events {
		if i%step == 0 {
			first = append(first, events[i])
		} else {
			rest = append(rest, events[i])
		}
	}
	return append(first, rest...)
}

// outcome is what became of some events.
type outcome struct {
	mu    sync.Mutex
	heard int // how many were taken, or refused for what they are
	left  []store.WebhookEvent
	why   string // the last one was not taken
	gone  bool
	err   error
}

// deliver sends events, some at a time. When as many as may be under way at a time were not
// heard one after the other, the receiver is away, and the rest is not tried; missed counts them
// from call to call.
func (t *teller) deliver(ctx context.Context, events []store.WebhookEvent, missed *int) (*outcome, error) {
	o := &outcome{}
	for at := 0; at < len(events); at += atOnce {
		some := events[at:min(at+atOnce, len(events))]
		before := o.heard
		var all sync.WaitGroup
		for i := range some {
			all.Go(func() { t.one(ctx, &some[i], o) })
		}
		all.Wait()
		switch {
		case o.err != nil:
			return nil, o.err
		case o.gone:
			return nil, t.pauseIt(ctx)
		case o.heard == before:
			if *missed += len(some); *missed >= atOnce {
				*missed = 0
				t.leave(o.why)
				o.left = slices.Concat(events[at+len(some):], o.left) // those first that were not tried
				return o, nil
			}
		default:
			*missed = 0
			t.back()
		}
	}
	return o, nil
}

func (t *teller) one(ctx context.Context, e *store.WebhookEvent, o *outcome) {
	answer, err := t.h.send(ctx, t.w, e)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil:
		o.err = err
	case answer.refusal == "":
		o.heard++
	default:
		o.left, o.why, o.gone = append(o.left, *e), answer.refusal, o.gone || answer.status == http.StatusGone
		if answer.ofTheEvent() {
			o.heard++
		}
	}
}

// leave notes that the receiver takes nothing.
func (t *teller) leave(why string) {
	now := t.h.cfg.Now()
	t.why = why
	if !t.away {
		t.h.cfg.Log.Warn("the receiver of a webhook takes nothing: what there is to tell is kept", slog.String("webhook", t.w.Name), slog.String("host", Host(t.w.URL)), slog.String("why", why))
	}
	t.knock = now.Add(t.h.cfg.Backoff[0])
	if t.away && now.Before(t.next) {
		return // of the same look
	}
	t.away, t.next = true, now.Add(t.backoff(t.tries))
	t.tries++
}

// back notes that it takes something.
func (t *teller) back() {
	if t.away {
		t.h.cfg.Log.Info("the receiver of a webhook is back", slog.String("webhook", t.w.Name), slog.String("host", Host(t.w.URL)))
	}
	t.away, t.tries = false, 0
}

func (t *teller) backoff(n int) time.Duration {
	return pace.Jitter(t.h.cfg.Backoff[min(n, len(t.h.cfg.Backoff)-1)])
}

// pauseIt is for a receiver that says that it is gone (410).
func (t *teller) pauseIt(ctx context.Context) error {
	d := *t.w
	d.Paused, d.Because = true, "the receiver answered 410: it wants nothing any more"
	switch ok, err := t.h.cfg.Store.PutWebhook(ctx, &d); {
	case err != nil:
		return err
	case !ok:
		return errors.New("it was changed while the receiver answered 410, and is told as it is now")
	}
	return errors.New("it is paused: " + d.Because)
}

// letters puts events by. What was not tried is tried as soon as the receiver takes anything.
func (t *teller) letters(left []store.WebhookEvent, why string) []store.WebhookLetter {
	var out []store.WebhookLetter
	now := t.h.cfg.Now().UTC()
	due := now
	if !t.away {
		due = now.Add(t.backoff(0))
	}
	for some := range slices.Chunk(left, perLetter) {
		out = append(out, store.WebhookLetter{ID: letterID(t.w, some), Webhook: t.w.Created, Events: some, At: now, Last: why, Due: due})
	}
	return out
}

func letterID(w *store.Webhook, events []store.WebhookEvent) string {
	parts := []string{"letter", w.Name}
	for i := range events {
		parts = append(parts, events[i].ID)
	}
	return workflow.DeriveID(parts...)
}

// again tries what was not taken and is due.
func (t *teller) again(ctx context.Context) error {
	now := t.h.cfg.Now()
	if now.Before(t.next) && (t.away || t.waiting == 0) {
		return nil
	}
	limit := int64(triedAtOnce)
	if t.away {
		limit = triedLetters
	}
	letters, all, err := t.h.cfg.Store.Letters(ctx, t.w, limit)
	if err != nil {
		return err
	}
	t.waiting = all
	t.showLate(now, letters)
	if all == 0 {
		t.next = now.Add(idle) // somebody may replay what was given up
		return nil
	}
	before, missed := t.away, 0
	for i := range letters {
		if letters[i].Due.After(now) || t.away && !before {
			break
		}
		if t.away {
			missed = atOnce // few are tried
		}
		if err := t.settle(ctx, &letters[i], &missed); err != nil {
			return err
		}
	}
	if t.away && now.After(t.next) { // nothing was due
		t.next = now.Add(t.backoff(0))
	}
	return nil
}

func (t *teller) showLate(now time.Time, letters []store.WebhookLetter) {
	oldest := now
	for i := range letters {
		if letters[i].At.Before(oldest) {
			oldest = letters[i].At
		}
	}
	t.h.setLate(t.w.Name, now.Sub(oldest))
}

// settle tries one letter, and puts what is left of it. Where as many wait as may, a receiver that
// takes others is not asked for it again: it would keep those from being read.
func (t *teller) settle(ctx context.Context, l *store.WebhookLetter, missed *int) error {
	var o outcome
	if l.Webhook == t.w.Created { // else it is of an earlier webhook of this name
		done, err := t.deliver(ctx, l.Events, missed)
		if err != nil {
			return err
		}
		o.left, o.why = done.left, done.why
	}
	now := t.h.cfg.Now().UTC()
	rest := &store.WebhookLetter{ID: l.ID, Webhook: l.Webhook, Events: o.left, At: l.At, Attempts: l.Attempts + 1, Last: o.why, Due: now.Add(t.backoff(l.Attempts))}
	givenUp := len(o.left) > 0 && (now.Sub(l.At) > t.h.cfg.GiveUp || !t.away && t.waiting > t.h.cfg.MaxLetters)
	if len(o.left) == 0 {
		rest = nil
	}
	if rest == nil || givenUp {
		t.waiting--
	}
	if givenUp {
		t.h.cfg.Metrics.WebhookGivenUp(len(o.left))
		t.h.cfg.Log.WarnContext(ctx, "a webhook gives up what its receiver did not take: see GET /api/v1/webhooks/{name}/failed",
			slog.String("webhook", t.w.Name), slog.Int("events", len(o.left)), slog.String("why", o.why))
	}
	_, err := t.h.cfg.Store.Settle(ctx, t.w, l, rest, givenUp)
	return err
}
