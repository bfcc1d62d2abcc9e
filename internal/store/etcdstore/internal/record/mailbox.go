package record

import (
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// ChildEnd is the command that tells a waiting parent of its child's end. Its id
// derives from the child's, so that it is delivered once.
func ChildEnd(bookmark, child string, status workflow.SubStatus, output map[string]any, at time.Time) workflow.Command {
	return workflow.Command{ID: store.ChildEndCommand(bookmark, child), Kind: workflow.CommandChildEnd, CreatedAt: at, Bookmark: bookmark, Input: map[string]any{
		"WorkflowInstanceId": child, "WorkflowStatus": string(status.Status()), "WorkflowSubStatus": string(status), "WorkflowOutput": output,
	}}
}

// DecodeMail reads a mailbox. Of a command that it cannot read it gives the id:
// it has its place in the order.
func DecodeMail(kvs []*mvccpb.KeyValue) []store.Mail {
	mail := make([]store.Mail, len(kvs))
	for i, kv := range kvs {
		m := &mail[i]
		m.Created, m.Modified = kv.CreateRevision, kv.ModRevision
		if m.Unreadable = db.DecodeWhole(kv.Value, &m.Command); m.Unreadable != nil {
			key := string(kv.Key)
			m.Command = workflow.Command{ID: Decode(key[strings.LastIndexByte(key, '/')+1:])}
		}
		Whole(&mail[i].Command)
	}
	return mail
}

// MissedEnd is the end of a child that has ended, or is gone (nil), for who waits for it; nil: it
// runs on. Then tells reports whether that one will hear of its end.
func MissedEnd(child *store.Record, parent string, b *workflow.Bookmark, at time.Time) (end *workflow.Command, tells bool) {
	ended, output := workflow.Cancelled, map[string]any(nil)
	if child != nil {
		if child.Header.Status != workflow.StatusFinished {
			p := child.Header.Parent
			return nil, p != nil && *p == workflow.Parent{InstanceID: parent, BookmarkID: b.ID}
		}
		ended, output = child.Header.SubStatus, child.Header.Output
	}
	cmd := ChildEnd(b.ID, b.Child(), ended, output, at)
	return &cmd, true
}

// ChildStatus is how a child has ended, by what its parent is told.
func ChildStatus(end *workflow.Command) string {
	status, _ := end.Input["WorkflowSubStatus"].(string)
	return status
}
