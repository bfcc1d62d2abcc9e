package client

import (
	"context"
	"errors"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// lookQueue claims queued stimuli for bookmarks that are durable; needed where
// the commit did not look itself, and where there is no lock to keep.
func (o *owner) lookQueue(ctx context.Context, hd *workflow.Instance) ([]store.Mail, error) {
	o.course.unmatched = false
	if hd.Status != workflow.StatusRunning {
		return nil, nil
	}
	var items []store.QueueItem
	err := o.insist(ctx, func() (err error) {
		items, err = o.n.cfg.Store.LookQueue(ctx, hd, hd.Bookmarks)
		return err
	})
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return o.claim(ctx, hd, items)
}

// claim takes queued stimuli into the own mailbox, one per bookmark that waits.
func (o *owner) claim(ctx context.Context, hd *workflow.Instance, items []store.QueueItem) ([]store.Mail, error) {
	var mail []store.Mail
	taken := map[string]bool{}
	for i := range items {
		item := &items[i]
		st := item.Stimulus
		for _, b := range hd.Bookmarks {
			if taken[b.ID] || b.Hash != item.Hash || st.CorrelationID != "" && st.CorrelationID != hd.CorrelationID ||
				st.BookmarkID != "" && st.BookmarkID != b.ID {
				continue
			}
			cmd := workflow.Command{ID: item.ID, Kind: workflow.CommandResume, CreatedAt: item.CreatedAt, Bookmark: b.ID, Input: st.Input, Stimulus: &st, Key: item.Key, Trace: item.Trace}
			var created int64
			var ok bool
			err := o.insist(ctx, func() (err error) {
				created, ok, err = o.n.cfg.Store.Claim(ctx, item, o.id, cmd)
				return err
			})
			if err != nil {
				return mail, err
			}
			if ok {
				taken[b.ID] = !b.KeepOnResume
				mail = append(mail, store.Mail{Command: cmd, Created: created})
			}
			break
		}
	}
	return mail, nil
}

// insist repeats what may be repeated while it fails: of a queued stimulus that
// the commit met nobody else knows, before the next slow sweep of the queue.
func (o *owner) insist(ctx context.Context, do func() error) error {
	return pace.Repeat(ctx, pace.Every(persistRetry).Times(insistTries), func() (bool, error) {
		err := do()
		return err != nil && !errors.Is(err, etcdstore.ErrTooLarge), err
	})
}

const insistTries = 50
