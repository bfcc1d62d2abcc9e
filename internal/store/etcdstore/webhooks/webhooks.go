package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// IncidentAt reads the note of a commit with new incidents as [Webhooks.InstanceAt] reads an
// instance; nil: it is gone.
func (s *Webhooks) IncidentAt(ctx context.Context, definition, id string, commit, revision int64) (*record.IncidentNote, error) {
	kv, err := s.oneAt(ctx, "read incident of "+id, s.conn.Keys.Incident(definition, id, commit), revision)
	if err != nil || kv == nil {
		return nil, err
	}
	var note record.IncidentNote
	if err := db.Decode(kv.Value, &note); err != nil {
		s.conn.Left(kv.Key, err)
		return nil, nil
	}
	return &note, nil
}

// Webhooks keeps who is told of what, how far they are, and what was not taken. It is for
// internal/webhook. What there is to tell it takes from keys that others write anyway, see
// [Webhooks.Collect]: no commit knows of webhooks, but for those that have incidents.
type Webhooks struct{ conn *record.Conn }

// New is the webhooks over a connection.
func New(c *record.Conn) *Webhooks { return &Webhooks{c} }

// Max is how many there may be: each watches.
const Max = 100

// Ranges are the keys that say what a webhook tells, below the root. A kind that this
// program does not know, as a newer one put it, has none here: it tells nothing of it.
func Ranges(w *store.Webhook) []string {
	var out []string
	k := record.KeysBelow("")
	instances := func(all string, of func(definition string) string) {
		for _, def := range w.Definitions {
			out = append(out, of(def))
		}
		if len(w.Definitions) == 0 {
			out = append(out, all)
		}
	}
	ended := func(subs ...workflow.SubStatus) {
		for _, sub := range subs {
			instances(k.Index(sub), func(def string) string { return k.IndexOf(sub, def) })
		}
	}
	for _, on := range w.On {
		switch on {
		case store.WebhookDeadLetter:
			out = append(out, k.Deads())
		case store.WebhookIncident:
			instances(k.Incidents(), k.IncidentsOf)
		case store.WebhookFaulted:
			ended(workflow.Faulted)
		case store.WebhookEnded:
			ended(workflow.Finished, workflow.Cancelled, workflow.Faulted)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// List gives all webhooks, in the order of their names.
func (s *Webhooks) List(ctx context.Context) ([]store.Webhook, error) {
	resp, err := s.conn.Get(ctx, "list webhooks", s.conn.Keys.Webhooks(), clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	var out []store.Webhook
	for _, kv := range resp.Kvs {
		w, err := s.decodeWebhook(kv)
		if err != nil {
			s.conn.Left(kv.Key, err)
			continue
		}
		out = append(out, *w)
	}
	return out, nil
}

func (s *Webhooks) decodeWebhook(kv *mvccpb.KeyValue) (*store.Webhook, error) {
	w := &store.Webhook{Created: kv.CreateRevision, Modified: kv.ModRevision}
	return w, db.DecodeWhole(kv.Value, w)
}

// WatchList gives a hint when a webhook was put or deleted, as Reader.WatchInstance does.
func (s *Webhooks) WatchList(ctx context.Context) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.Webhooks(), clientv3.WithPrefix())
}

// Webhook reads one and how far it is; nil if there is none. It tells how many letters wait,
// and how many were given up.
func (s *Webhooks) Webhook(ctx context.Context, name string) (w *store.Webhook, at *store.WebhookPosition, due, failed int64, err error) {
	var ask db.Reads
	is, position := ask.Value(s.conn.Keys.Webhook(name)), ask.Value(s.conn.Keys.WebhookAt(name))
	waits := ask.Add(clientv3.OpGet(s.conn.Keys.WebhookDues(name), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	lost := ask.Add(clientv3.OpGet(s.conn.Keys.WebhookFails(name), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	resp, err := s.conn.Read(ctx, "read webhook", ask.Ops...)
	if err != nil || is.One(resp) == nil {
		return nil, nil, 0, 0, err
	}
	if w, err = s.decodeWebhook(is.One(resp)); err != nil {
		return nil, nil, 0, 0, err
	}
	at = s.position(w, position.One(resp), resp.Header.Revision)
	return w, at, waits.In(resp).Count, lost.In(resp).Count, nil
}

// position is how far a webhook is, as kv says it (nil: nothing does), in an etcd of that revision.
func (s *Webhooks) position(w *store.Webhook, kv *mvccpb.KeyValue, revision int64) *store.WebhookPosition {
	at := &store.WebhookPosition{}
	if kv != nil {
		at.Modified = kv.ModRevision
		if err := db.DecodeWhole(kv.Value, at); err != nil {
			s.conn.Left(kv.Key, err)
			at.At, at.Behind, at.Foreign = nil, nil, !errors.Is(err, db.ErrDamaged)
		}
	}
	// A range without a position came with the last change, by a program that did not put one.
	return at.Of(Ranges(w), w.Modified, revision)
}

// ErrTooMany says that there are as many webhooks as may be.
var ErrTooMany = fmt.Errorf("there are as many webhooks as may be, %d; one for several definitions tells the same", Max)

// PutWebhook puts one. False: it is not as it was read, whose mod revision it has, or somebody
// told it since. What it told before it tells from where it was, what is new from now on: that
// stands in its position, so that a later change does not lose it.
//
// If: its mod revision as read; that of its position.
func (s *Webhooks) PutWebhook(ctx context.Context, w *store.Webhook) (bool, error) {
	t := s.conn.Begin("put webhook", db.ModifiedAt(s.conn.Keys.Webhook(w.Name), w.Modified))
	if err := s.move(ctx, w, t); err != nil {
		return false, err
	}
	if err := s.unwant(ctx, w.Name, t.Ops); err != nil {
		return false, err
	}
	t.Put(s.conn.Keys.Webhook(w.Name), w)
	for key := range s.conn.Wants(w) {
		t.PutRaw(key, nil)
	}
	resp, err := t.SubmitSmall(ctx)
	if err == nil && resp.Succeeded {
		w.Modified = resp.Header.Revision
	}
	return err == nil && resp.Succeeded, err
}

// move has t put how far a webhook is that is put as w. A position that a newer program wrote stays as it is.
func (s *Webhooks) move(ctx context.Context, w *store.Webhook, t *db.Txn) error {
	var ask db.Reads
	is, position := ask.Value(s.conn.Keys.Webhook(w.Name)), ask.Value(s.conn.Keys.WebhookAt(w.Name))
	all := ask.Add(clientv3.OpGet(s.conn.Keys.Webhooks(), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	resp, err := s.conn.Read(ctx, "read how far the webhook is", ask.Ops...)
	if err != nil {
		return err
	}
	now, at := resp.Header.Revision, &store.WebhookPosition{} // an earlier one of this name took its position with it
	if w.Modified == 0 && all.In(resp).Count >= Max {
		return ErrTooMany
	}
	if kv := is.One(resp); w.Modified != 0 && kv != nil {
		was, err := s.decodeWebhook(kv)
		if err != nil {
			return err
		}
		at = s.position(was, position.One(resp), now)
		t.When(db.ModifiedAt(s.conn.Keys.WebhookAt(w.Name), at.Modified))
	}
	if !at.Foreign {
		t.Put(s.conn.Keys.WebhookAt(w.Name), at.Change(Ranges(w), now))
	}
	return nil
}

// unwant deletes the keys by which commits know what a webhook wants, also those that a node
// which knows nothing of incidents left behind. Who put it since is who the transaction refuses.
func (s *Webhooks) unwant(ctx context.Context, name string, o *db.Ops) error {
	for cursor := ""; ; {
		kvs, next, err := s.conn.Page(ctx, "list wanted incidents", s.conn.Keys.AllWanted(), cursor, db.ChunkSize, clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			if key := string(kv.Key); strings.HasSuffix(key, "/"+name) {
				o.Del(key)
			}
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}

// DeleteWebhook deletes one, with how far it is, and then what it has not told. False: it is
// not as it was read. What a node that ends leaves of that belongs to none: it names the
// create revision of its webhook.
//
// If: its mod revision.
func (s *Webhooks) DeleteWebhook(ctx context.Context, name string, modified int64) (bool, error) {
	t := s.conn.Begin("delete webhook", db.ModifiedAt(s.conn.Keys.Webhook(name), modified))
	t.Del(s.conn.Keys.Webhook(name))
	t.Del(s.conn.Keys.WebhookAt(name))
	if err := s.unwant(ctx, name, t.Ops); err != nil {
		return false, err
	}
	ok, err := db.Applied(t.SubmitSmall(ctx))
	if err != nil || !ok {
		return ok, err
	}
	for _, prefix := range []string{s.conn.Keys.WebhookDues(name), s.conn.Keys.WebhookFails(name)} {
		if err := s.DropLetters(ctx, name, prefix); err != nil {
			return true, err
		}
	}
	return true, nil
}

// DropLetters deletes the letters of a webhook that is gone, some at a time.
//
// If: there is no such webhook. One that comes later drops what is not its own.
func (s *Webhooks) DropLetters(ctx context.Context, name, prefix string) error {
	for {
		kvs, _, err := s.conn.Page(ctx, "list letters", prefix, "", db.ChunkSize, clientv3.WithKeysOnly())
		if err != nil || len(kvs) == 0 {
			return err
		}
		t := s.conn.Begin("drop letters", db.Absent(s.conn.Keys.Webhook(name)))
		for _, kv := range kvs {
			t.Del(string(kv.Key))
		}
		if ok, err := db.Applied(t.SubmitSmall(ctx)); err != nil || !ok {
			return err
		}
	}
}

// Advance puts how far a webhook is, and the letters with what was not taken up to there.
// False: it is gone, or another node tells it; or it is foreign, and would lose what this
// program does not know.
//
// Where there are many letters, most go before, in transactions of their own: what is put
// without the position is put again, and a receiver hears of it twice.
//
// If: its create revision; the position's mod revision as read.
func (s *Webhooks) Advance(ctx context.Context, w *store.Webhook, at *store.WebhookPosition, letters ...store.WebhookLetter) (bool, error) {
	if at.Foreign {
		return false, nil
	}
	for {
		some := letters[:min(len(letters), lettersAtOnce)]
		letters = letters[len(some):]
		t := s.conn.Begin("advance webhook", db.CreatedAt(s.conn.Keys.Webhook(w.Name), w.Created), db.ModifiedAt(s.conn.Keys.WebhookAt(w.Name), at.Modified))
		for i := range some {
			t.Put(s.conn.Keys.WebhookDue(w.Name, some[i].Due, some[i].ID), &some[i])
		}
		if len(letters) == 0 {
			t.Put(s.conn.Keys.WebhookAt(w.Name), at)
		}
		resp, err := t.SubmitSmall(ctx)
		if err != nil || !resp.Succeeded {
			return false, err
		}
		if len(letters) == 0 {
			at.Modified = resp.Header.Revision
			return true, nil
		}
	}
}

// lettersAtOnce is how many letters one transaction puts: each has 100 events of some 400
// bytes at most.
const lettersAtOnce = 20

// Letters gives the letters of a webhook that are due first, and how many there are at all.
func (s *Webhooks) Letters(ctx context.Context, w *store.Webhook, limit int64) (first []store.WebhookLetter, all int64, err error) {
	resp, err := s.conn.Get(ctx, "list letters", s.conn.Keys.WebhookDues(w.Name), clientv3.WithPrefix(), clientv3.WithLimit(limit))
	if err != nil {
		return nil, 0, err
	}
	for _, kv := range resp.Kvs {
		l, err := s.decodeLetter(kv)
		if err != nil {
			s.conn.Left(kv.Key, err)
			continue
		}
		at, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.WebhookDues(w.Name)), "/")
		l.Due = record.FromMillis(at)
		first = append(first, *l)
	}
	return first, resp.Count, nil
}

func (s *Webhooks) decodeLetter(kv *mvccpb.KeyValue) (*store.WebhookLetter, error) {
	l := &store.WebhookLetter{Modified: kv.ModRevision}
	return l, db.DecodeWhole(kv.Value, l)
}

// Settle takes a due letter away, and puts what is left of it: to be tried again when it is
// due, or given up. Nil: nothing is left. False: another node was at it, or the webhook is gone.
//
// If: the letter's mod revision; if something is put, the webhook's create revision.
func (s *Webhooks) Settle(ctx context.Context, w *store.Webhook, l *store.WebhookLetter, left *store.WebhookLetter, givenUp bool) (bool, error) {
	key := s.conn.Keys.WebhookDue(w.Name, l.Due, l.ID)
	t := s.conn.Begin("settle letter", db.ModifiedAt(key, l.Modified))
	t.Del(key)
	switch {
	case left == nil:
	case givenUp:
		t.When(db.CreatedAt(s.conn.Keys.Webhook(w.Name), w.Created))
		t.Put(s.conn.Keys.WebhookFailed(w.Name, left.ID), left)
	default:
		t.When(db.CreatedAt(s.conn.Keys.Webhook(w.Name), w.Created))
		t.Put(s.conn.Keys.WebhookDue(w.Name, left.Due, left.ID), left)
	}
	return db.Applied(t.SubmitSmall(ctx))
}

// Failed gives a page of the letters that were given up.
func (s *Webhooks) Failed(ctx context.Context, name, cursor string, limit int64) (page []store.WebhookLetter, end db.PageEnd, err error) {
	end, err = s.conn.Values(ctx, "list failed letters", s.conn.Keys.WebhookFails(name), cursor, limit, func(kv *mvccpb.KeyValue) error {
		l, err := s.decodeLetter(kv)
		if err != nil {
			s.conn.Left(kv.Key, err)
			return nil
		}
		page = append(page, *l)
		return nil
	})
	return page, end, err
}

// Replay makes a letter that was given up due again, or forgets it. False: it is gone.
//
// If: its mod revision; to make it due, the webhook's create revision.
func (s *Webhooks) Replay(ctx context.Context, w *store.Webhook, l *store.WebhookLetter, due time.Time, forget bool) (bool, error) {
	key := s.conn.Keys.WebhookFailed(w.Name, l.ID)
	t := s.conn.Begin("replay letter", db.ModifiedAt(key, l.Modified))
	t.Del(key)
	if !forget {
		t.When(db.CreatedAt(s.conn.Keys.Webhook(w.Name), w.Created))
		again := *l
		again.Attempts, again.At = 0, due
		t.Put(s.conn.Keys.WebhookDue(w.Name, due, l.ID), &again)
	}
	return db.Applied(t.SubmitSmall(ctx))
}

// EventOf is what a key that was put says; false: nothing.
func (s *Webhooks) EventOf(w *store.Webhook, kv *mvccpb.KeyValue) (store.WebhookEvent, bool) {
	e := store.WebhookEvent{Revision: kv.ModRevision}
	key := strings.TrimPrefix(string(kv.Key), s.conn.Keys.Root)
	e.ID = workflow.DeriveID("webhook", w.Name, strconv.FormatInt(w.Created, 10), key, occasion(key, kv))
	if id, ok := strings.CutPrefix(key, "dead/"); ok {
		e.What, e.Subject = string(store.WebhookDeadLetter), record.Decode(id)
		return e, true
	}
	if of, ok := strings.CutPrefix(key, "incident/"); ok {
		parts := strings.Split(of, "/") // <definition>/<id>/<seq>
		if len(parts) != 3 {
			return e, false
		}
		e.What, e.DefinitionID, e.Subject = string(store.WebhookIncident), parts[0], parts[1]
		e.Commit, _ = strconv.ParseInt(parts[2], 10, 64)
		return e, true
	}
	parts := strings.Split(key, "/") // index/<sub-status>/<definition>/<version>/<newest>/<id>
	if len(parts) != 6 {
		return e, false
	}
	e.What, e.DefinitionID, e.Subject = parts[1], parts[2], parts[5]
	e.Version, _ = strconv.Atoi(parts[3])
	return e, true
}

// occasion tells one event of a key from the next one of that key. It is no revision where that can be:
// what is done again after a restore has another one, and is the same event.
func occasion(key string, kv *mvccpb.KeyValue) string {
	revision := strconv.FormatInt(kv.ModRevision, 10)
	switch {
	case strings.HasPrefix(key, "dead/"): // no two dead letters have one id
		return ""
	case strings.HasPrefix(key, "incident/"): // its number of the commit is in the key
		var note record.IncidentNote
		if db.Decode(kv.Value, &note) != nil || note.Made.IsZero() {
			return revision
		}
		return note.Made.UTC().Format(time.RFC3339Nano)
	case len(kv.Value) == 0: // an older program put it
		return revision
	}
	return "commit " + string(kv.Value)
}

// InstanceAt reads an instance as it was at a revision or, where etcd has forgotten that, as
// it is; nil if there is none.
func (s *Webhooks) InstanceAt(ctx context.Context, id string, revision int64) (*store.Record, error) {
	kv, err := s.oneAt(ctx, "read instance "+id, s.conn.Keys.Instance(id), revision)
	if err != nil || kv == nil {
		return nil, err
	}
	rec, err := record.DecodeRecord(kv)
	if err != nil {
		return nil, nil //nolint:nilerr // what is damaged must not stop what comes behind it
	}
	return rec, nil
}

// DeadLetterAt is [Webhooks.InstanceAt] of a dead letter.
func (s *Webhooks) DeadLetterAt(ctx context.Context, id string, revision int64) (*store.DeadLetter, error) {
	kv, err := s.oneAt(ctx, "read dead letter", s.conn.Keys.Dead(id), revision)
	if err != nil || kv == nil {
		return nil, err
	}
	d, err := record.DecodeDead(kv, db.Decode)
	if err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	return &d, nil
}

func (s *Webhooks) oneAt(ctx context.Context, what, key string, revision int64) (*mvccpb.KeyValue, error) {
	resp, err := s.conn.Get(ctx, what, key, clientv3.WithRev(revision))
	if errors.Is(err, db.ErrCompacted) {
		resp, err = s.conn.Get(ctx, what, key)
	}
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return resp.Kvs[0], nil
}
