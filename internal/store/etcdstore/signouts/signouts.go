package signouts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// SignOuts keeps which sessions of the console have ended before their time. It is for
// internal/people/signout.
//
// The list grows and is forgotten: nothing in it is ever changed. So its writes have no
// compares, and each is right twice and late: what a late copy puts says nothing new, and
// is forgotten with the next sweep.
type SignOuts struct{ conn *record.Conn }

// New is the ended sessions over a connection.
func New(c *record.Conn) *SignOuts { return &SignOuts{c} }

// Put ends sessions. It may be sent again.
func (s *SignOuts) Put(ctx context.Context, out store.SignOut) error {
	key := s.conn.Keys.SignOut(out.Until, out.Who, out.Session)
	if out.Session == "" {
		key = s.conn.Keys.SignOutOfAll(out.Until, out.Who, out.Before)
	}
	t := s.conn.Begin("end sessions")
	t.PutRaw(key, nil)
	_, err := t.Submit(ctx)
	return err
}

// List gives a page of them, those that are forgotten first at first; next is "" at the
// end. What cannot be read is left out, with a line in the log.
func (s *SignOuts) List(ctx context.Context, cursor string, limit int64) (page []store.SignOut, next string, err error) {
	kvs, next, err := s.conn.Page(ctx, "list sessions that have ended", s.conn.Keys.SignOuts(), cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	for _, kv := range kvs {
		out, err := ReadSignOut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.SignOuts()))
		if err != nil {
			s.conn.Left(kv.Key, err)
			continue
		}
		page = append(page, out)
	}
	return page, next, nil
}

// ReadSignOut reads what a key says behind the range that all are in.
func ReadSignOut(key string) (out store.SignOut, err error) {
	parts := strings.Split(key, "/")
	if out.Until, err = readMillis(parts[0]); err != nil {
		return out, err
	}
	switch {
	case len(parts) == 3 && parts[2] != "":
		out.Who, out.Session = record.Decode(parts[1]), record.Decode(parts[2])
	case len(parts) == 4 && parts[2] == "~all":
		out.Who = record.Decode(parts[1])
		out.Before, err = readMillis(parts[3])
	default:
		err = errors.New("it is neither of one session nor of all of a person")
	}
	return out, err
}

// readMillis is the opposite of [record.Millis].
func readMillis(text string) (time.Time, error) {
	at := record.FromMillis(text)
	if record.Millis(at) != text {
		return time.Time{}, fmt.Errorf("%.40q is no time in milliseconds", text)
	}
	return at, nil
}

// Forget deletes those whose sessions would have ended before a time.
//
// It compares nothing: a copy that comes late deletes what was to be deleted then already.
func (s *SignOuts) Forget(ctx context.Context, before time.Time) error {
	t := s.conn.Begin("forget sessions that have ended")
	t.Tail = append(t.Tail, clientv3.OpDelete(s.conn.Keys.SignOuts(), clientv3.WithRange(s.conn.Keys.SignOutsUntil(before))))
	_, err := t.SubmitSmall(ctx)
	return err
}

// Watch gives a hint when the list has changed, as Reader.WatchInstance does.
func (s *SignOuts) Watch(ctx context.Context) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.SignOuts(), clientv3.WithPrefix(), clientv3.WithFilterDelete())
}
