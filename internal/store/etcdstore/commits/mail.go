package commits

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
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
