package lookup

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// MissedEnds is [commits.Instances.MissedEnds] over a connection.
func MissedEnds(ctx context.Context, s *Conn, id string, bookmarks []workflow.Bookmark, moved bool, at time.Time) (ends []workflow.Command, why string, err error) {
	var waits []*workflow.Bookmark
	var children []string
	for i := range bookmarks {
		if child := bookmarks[i].Child(); child != "" {
			waits, children = append(waits, &bookmarks[i]), append(children, child)
		}
	}
	for len(children) > 0 && why == "" {
		n, err := s.Records(ctx, children, InWhole, 0, func(i int, r *store.Record, damage error) bool {
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
