package commits

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
)

// MissedEnds gives what children of an instance do not tell it any more, for bookmarks that it did
// not have before: an import brought them back. Each child that has ended, or is gone, told its end
// when nobody waited for it. The import is refused, with why, for one that runs on and tells another
// place, or nobody, as its end would never come; and, if moved (the instance is new here), for one that
// is not here: it may come yet.
//
// It is to be asked behind all mail that came before the import. An end that comes later is mail
// for the imported bookmark, and one that is told twice has one key in the mailbox.
func (s *Instances) MissedEnds(ctx context.Context, id string, bookmarks []workflow.Bookmark, moved bool, at time.Time) (ends []workflow.Command, why string, err error) {
	return lookup.MissedEnds(ctx, s.conn, id, bookmarks, moved, at)
}
