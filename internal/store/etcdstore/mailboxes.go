package etcdstore

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Mail reads one command of a mailbox; nil if it is not there.
func (s *Instances) Mail(ctx context.Context, id, command string) (*store.Mail, error) {
	resp, err := s.conn.Get(ctx, "read mail of "+id, s.conn.Keys.Mail(id, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return &record.DecodeMail(resp.Kvs)[0], nil
}

// MailThat reads the whole mailbox of an instance, and gives the commands that are so.
func (s *Instances) MailThat(ctx context.Context, id string, are func(*workflow.Command) bool) (found []store.Mail, err error) {
	for cursor := ""; ; {
		end, err := s.conn.Values(ctx, "read mail of "+id, s.conn.Keys.Mailbox(id), cursor, mailPage, func(kv *mvccpb.KeyValue) error {
			if m := record.DecodeMail([]*mvccpb.KeyValue{kv}); are(&m[0].Command) {
				found = append(found, m...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if cursor = end.Next; cursor == "" {
			return found, nil
		}
	}
}

// mailPage is how many commands of a mailbox are read at a time.
const mailPage = 200

// Pending is one mailbox entry as a sweep sees it.
type Pending struct {
	InstanceID string
	CommandID  string
	Key        string
	Created    int64
}

// Sweep lists up to limit mailbox entries, keys only, from cursor on; next is ""
// at the end.
func (s *Upkeep) Sweep(ctx context.Context, cursor string, limit int) (entries []Pending, next string, err error) {
	const what = "sweep mailboxes"
	from := cmp.Or(cursor, s.conn.Keys.Mailboxes())
	kvs, more, ok, err := s.conn.Boxes.Now(ctx, what, from, limit)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		began := time.Now()
		resp, err := s.conn.Get(ctx, what, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.conn.Keys.Mailboxes())), clientv3.WithKeysOnly(), clientv3.WithLimit(int64(limit)))
		if err != nil {
			return nil, "", err
		}
		if time.Since(began) > lookup.SlowLook {
			s.conn.Boxes.Want(s.conn.Keys.Mailboxes(), resp.Count)
		}
		kvs, more = resp.Kvs, resp.More
	}
	for _, kv := range kvs {
		parts := strings.Split(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Mailboxes()), "/")
		if len(parts) != 3 {
			continue
		}
		entries = append(entries, Pending{InstanceID: parts[1], CommandID: record.Decode(parts[2]), Key: string(kv.Key), Created: kv.CreateRevision})
	}
	if more && len(kvs) > 0 {
		next = string(kvs[len(kvs)-1].Key) + "\x00"
	}
	return entries, next, nil
}
