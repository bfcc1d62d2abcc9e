package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
)

// SignOuts keeps which sessions of the console have ended before their time. It is for
// internal/people/signout.
//
// The list grows and is forgotten: nothing in it is ever changed. So its writes have no
// compares, and each is right twice and late: what a late copy puts says nothing new, and
// is forgotten with the next sweep.
type SignOuts struct{ conn *conn }

// signOutKeys are its keys, in the order in which they are forgotten.
type signOutKeys struct{ root string }

func (k signOutKeys) signOuts() string { return k.root + "signed-out/" }
func (k signOutKeys) signOutsUntil(until time.Time) string {
	return k.signOuts() + millis(until) + "/"
}
func (k signOutKeys) signOut(until time.Time, who, session string) string {
	return k.signOutsUntil(until) + encode(who) + "/" + encode(session)
}
func (k signOutKeys) signOutOfAll(until time.Time, who string, before time.Time) string {
	return k.signOutsUntil(until) + encode(who) + "/~all/" + millis(before)
}

// Put ends sessions. It may be sent again.
func (s *SignOuts) Put(ctx context.Context, out store.SignOut) error {
	key := s.conn.keys.signOut(out.Until, out.Who, out.Session)
	if out.Session == "" {
		key = s.conn.keys.signOutOfAll(out.Until, out.Who, out.Before)
	}
	t := s.conn.Begin("end sessions")
	t.PutRaw(key, nil)
	_, err := t.Submit(ctx)
	return err
}

// List gives a page of them, those that are forgotten first at first; next is "" at the
// end. What cannot be read is left out, with a line in the log.
func (s *SignOuts) List(ctx context.Context, cursor string, limit int64) (page []store.SignOut, next string, err error) {
	kvs, next, err := s.conn.Page(ctx, "list sessions that have ended", s.conn.keys.signOuts(), cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	for _, kv := range kvs {
		out, err := readSignOut(strings.TrimPrefix(string(kv.Key), s.conn.keys.signOuts()))
		if err != nil {
			s.conn.Left(kv.Key, err)
			continue
		}
		page = append(page, out)
	}
	return page, next, nil
}

// readSignOut reads what a key says behind the range that all are in.
func readSignOut(key string) (out store.SignOut, err error) {
	parts := strings.Split(key, "/")
	if out.Until, err = readMillis(parts[0]); err != nil {
		return out, err
	}
	switch {
	case len(parts) == 3 && parts[2] != "":
		out.Who, out.Session = decode(parts[1]), decode(parts[2])
	case len(parts) == 4 && parts[2] == "~all":
		out.Who = decode(parts[1])
		out.Before, err = readMillis(parts[3])
	default:
		err = errors.New("it is neither of one session nor of all of a person")
	}
	return out, err
}

// readMillis is the opposite of [millis].
func readMillis(text string) (time.Time, error) {
	at := fromMillis(text)
	if millis(at) != text {
		return time.Time{}, fmt.Errorf("%.40q is no time in milliseconds", text)
	}
	return at, nil
}

// Forget deletes those whose sessions would have ended before a time.
//
// It compares nothing: a copy that comes late deletes what was to be deleted then already.
func (s *SignOuts) Forget(ctx context.Context, before time.Time) error {
	t := s.conn.Begin("forget sessions that have ended")
	t.Tail = append(t.Tail, clientv3.OpDelete(s.conn.keys.signOuts(), clientv3.WithRange(s.conn.keys.signOutsUntil(before))))
	_, err := t.SubmitSmall(ctx)
	return err
}

// Watch gives a hint when the list has changed, as [Reader.WatchInstance] does.
func (s *SignOuts) Watch(ctx context.Context) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.keys.signOuts(), clientv3.WithPrefix(), clientv3.WithFilterDelete())
}
