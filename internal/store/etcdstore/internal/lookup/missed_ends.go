package lookup

import (
	"cmp"
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
		var away error
		n, err := s.Records(ctx, children, InWhole, 0, func(i int, r *store.Record, damage error) bool {
			if r == nil && damage == nil && s.Archived != nil {
				if r, away = archived(ctx, s, children[i]); away != nil {
					return true
				}
			}
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
		if err = cmp.Or(err, away); err != nil {
			return nil, "", err
		}
		waits, children = waits[n:], children[n:]
	}
	return ends, why, nil
}

// archived is an instance that ended, and left for the archive; nil: the archive has none of this id.
func archived(ctx context.Context, s *Conn, id string) (*store.Record, error) {
	in, err := s.Archived(ctx, id)
	if err != nil || in == nil {
		return nil, err
	}
	return &store.Record{Header: *in}, nil
}
