package etcdstore

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
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
	var waits []*workflow.Bookmark
	var children []string
	for i := range bookmarks {
		if child := bookmarks[i].Child(); child != "" {
			waits, children = append(waits, &bookmarks[i]), append(children, child)
		}
	}
	for len(children) > 0 && why == "" {
		n, err := s.conn.Records(ctx, children, lookup.InWhole, 0, func(i int, r *store.Record, damage error) bool {
			end, tells := record.MissedEnd(r, id, waits[i], at)
			switch {
			case damage != nil:
				why = fmt.Sprintf("it would wait for the end of its child %s, which is damaged: weft fsck says how to mend it", children[i])
			case !tells:
				why = fmt.Sprintf("it would wait for the end of its child %s, which runs and will not tell it: cancel or delete %s first", children[i], children[i])
			case r == nil && moved:
				why = fmt.Sprintf("it would wait for the end of its child %s, which is not here: import %s first", children[i], children[i])
			case end != nil:
				ends = append(ends, *end)
			}
			return why != ""
		})
		if err != nil {
			return nil, "", err
		}
		waits, children = waits[n:], children[n:]
	}
	return ends, why, nil
}
