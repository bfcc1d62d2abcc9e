package etcdstore

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// putMail puts a command into the mailbox of an instance, and where it is found if it
// is to end that.
func (s *base) putMail(o *db.Ops, instance string, cmd workflow.Command) {
	o.Put(s.keys.mail(instance, cmd.ID), lean(cmd))
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		o.Put(s.keys.cancel(instance), cmd.ID)
	}
}

// lean leaves out of a command what its stimulus says too: it is stored once.
func lean(cmd workflow.Command) workflow.Command {
	if cmd.Stimulus != nil && len(cmd.Input) > 0 && reflect.DeepEqual(cmd.Input, cmd.Stimulus.Input) {
		cmd.Input = nil
	}
	return cmd
}

// whole is what lean left, as it was.
func whole(cmd *workflow.Command) {
	if cmd.Stimulus != nil && cmd.Input == nil {
		cmd.Input = cmd.Stimulus.Input
	}
}

// decodeMail reads a mailbox. Of a command that it cannot read it gives the id:
// it has its place in the order.
func decodeMail(kvs []*mvccpb.KeyValue) []store.Mail {
	mail := make([]store.Mail, len(kvs))
	for i, kv := range kvs {
		m := &mail[i]
		m.Created, m.Modified = kv.CreateRevision, kv.ModRevision
		if m.Unreadable = db.DecodeWhole(kv.Value, &m.Command); m.Unreadable != nil {
			key := string(kv.Key)
			m.Command = workflow.Command{ID: decode(key[strings.LastIndexByte(key, '/')+1:])}
		}
		whole(&mail[i].Command)
	}
	return mail
}

// Mail reads one command of a mailbox; nil if it is not there.
func (s *Instances) Mail(ctx context.Context, id, command string) (*store.Mail, error) {
	resp, err := s.conn.Get(ctx, "read mail of "+id, s.conn.keys.mail(id, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return &decodeMail(resp.Kvs)[0], nil
}

// MailThat reads the whole mailbox of an instance, and gives the commands that are so.
func (s *Instances) MailThat(ctx context.Context, id string, are func(*workflow.Command) bool) (found []store.Mail, err error) {
	for cursor := ""; ; {
		end, err := s.conn.Values(ctx, "read mail of "+id, s.conn.keys.mailbox(id), cursor, mailPage, func(kv *mvccpb.KeyValue) error {
			if m := decodeMail([]*mvccpb.KeyValue{kv}); are(&m[0].Command) {
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
	from := cmp.Or(cursor, s.conn.keys.mailboxes())
	kvs, more, ok, err := s.conn.boxes.now(ctx, what, from, limit)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		began := time.Now()
		resp, err := s.conn.Get(ctx, what, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.conn.keys.mailboxes())), clientv3.WithKeysOnly(), clientv3.WithLimit(int64(limit)))
		if err != nil {
			return nil, "", err
		}
		if time.Since(began) > slowLook {
			s.conn.boxes.want(s.conn.keys.mailboxes(), resp.Count)
		}
		kvs, more = resp.Kvs, resp.More
	}
	for _, kv := range kvs {
		parts := strings.Split(strings.TrimPrefix(string(kv.Key), s.conn.keys.mailboxes()), "/")
		if len(parts) != 3 {
			continue
		}
		entries = append(entries, Pending{InstanceID: parts[1], CommandID: decode(parts[2]), Key: string(kv.Key), Created: kv.CreateRevision})
	}
	if more && len(kvs) > 0 {
		next = string(kvs[len(kvs)-1].Key) + "\x00"
	}
	return entries, next, nil
}
