package commits

import (
	"cmp"
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// The mailbox of an instance that is sent much is a range that is emptied all the time, and each
// load, commit and release went over it. It is followed like others ([lookup.Follower]). Then:
//
//   - A load reads what the watch has told of, by its keys.
//   - A commit does not compare the mailbox. If the watch has told of new mail before, the commit does
//     not release the lock; else it does, and a look follows, at the revision of the commit.
//   - If that finds mail, it came before the commit, so that its sender counts on this owner:
//     who works the instance is told to take it again ([store.Committed.Waits]). Mail of a later
//     revision is its sender's, as ever. If the node ends between the two, the sweep
//     finds the mail, as after the end of any owner.

// boxLook is the look behind a commit at a mailbox that was not compared.
type boxLook int

const (
	boxCompared boxLook = iota // none: the commit compares it, or does not ask
	boxReleased                // the lock is released, or is not for what is queued
	boxKept                    // there is new mail, and the lock stays
	boxGoesOn                  // the burst goes on
)

// lookBehind looks into the mailbox at the revision of a commit that did not compare it.
func (s *Instances) lookBehind(ctx context.Context, c *store.Commit, t *Prepared, done *store.Committed) {
	id := c.After.Header.ID
	switch {
	case t.box == boxCompared:
	case done.Released:
		done.Waits = s.conn.Boxes.CameBefore(ctx, s.conn.Keys.Mailbox(id), c.SeenMail, done.Modified)
	default:
		kept := cmp.Or(done.Kept, &store.Kept{Revision: done.Modified, Unread: t.box == boxKept && Waits(c) > 0})
		if err := s.keepMail(ctx, id, kept); err != nil {
			done.Kept, done.Unseen = nil, true
			return
		}
		done.Kept = kept
	}
}

// keepMail reads what lies in a mailbox for an owner who goes on.
func (s *Instances) keepMail(ctx context.Context, id string, kept *store.Kept) error {
	kvs, err := s.conn.Boxes.MailAt(ctx, id, kept.Revision)
	if err == nil {
		keeps(kept, record.DecodeMail(kvs))
	}
	return err
}
