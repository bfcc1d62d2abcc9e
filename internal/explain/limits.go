package explain

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// mostLines is of how many bookmarks of one instance it is told where they stand at a limit.
const mostLines = 20

// lines are where the bookmarks stand that wait for a place of a limit, or have one.
func (x *Explainer) lines(ctx context.Context, marks []workflow.Bookmark) (map[string]*etcdstore.Position, error) {
	all := map[string]*etcdstore.Position{}
	for i := range marks {
		if marks[i].ActivityType != limit.Type || x.cfg.Limits == nil || len(all) == mostLines {
			continue
		}
		at, err := x.cfg.Limits.PositionOf(ctx, &marks[i])
		if err != nil {
			return nil, err
		}
		if at != nil {
			all[marks[i].ID] = at
		}
	}
	return all, nil
}

// lineOf names a line.
func lineOf(l limit.Line) string {
	if l.Key == "" {
		return plain(l.Limit)
	}
	return plain(l.Limit) + " for " + plain(l.Key)
}

// place explains what waits for a place of a limit, or has one.
func (x *Explanation) place(r *Reason, b *workflow.Bookmark, at *etcdstore.Position) Cause {
	w, ok := limit.Of(b)
	r.Kind = "limit"
	switch {
	case !ok:
		r.Text = "the body that has a place of limit " + plain(b.Name)
		return CauseLimit
	case at != nil && at.Has:
		r.Text = "the body that has a place of limit " + lineOf(w.Line)
		return CauseLimit
	}
	r.Text = "a place of limit " + lineOf(w.Line)
	x.advise("GET /limits/" + url.PathEscape(w.Limit) + " shows how it stands")
	if at == nil {
		return CauseLimit
	}
	r.Text += fmt.Sprintf(", %d before it of %d that wait", at.Ahead, at.Waiting)
	if at.Limit == nil {
		r.Text += "; the limit is not set, so that nobody is given one"
		x.advise("PUT /limits/" + url.PathEscape(w.Limit) + " sets how many may have one at once")
		return CauseLimit
	}
	r.Text += x.taken(w.Line, at)
	var by []string
	for i := range at.By {
		if id := plain(at.By[i].Instance); !slices.Contains(by, id) {
			by = append(by, id)
		}
	}
	if len(by) > 0 {
		r.Text += ", by " + strings.Join(by, ", ")
		if more := at.Taken - int64(len(at.By)); more > 0 {
			r.Text += fmt.Sprintf(" and %d more", more)
		}
	}
	return CauseLimit
}

// taken says how many places are taken, and which units are left.
func (x *Explanation) taken(l limit.Line, at *etcdstore.Position) string {
	text := fmt.Sprintf("; %d of %d are taken", at.Taken, at.Limit.Most)
	if at.Limit.Most == limit.AnyNumber {
		text = fmt.Sprintf("; %d are taken", at.Taken)
	}
	if rate := at.Limit.Rate; rate != nil {
		free := at.Bucket.Free(*rate, x.At)
		if free < 0 {
			text += fmt.Sprintf("; of %s it has %d less than none, as more were used than reserved", rate, -free)
		} else {
			text += fmt.Sprintf("; of %s %d are left", rate, free)
		}
		if at.Units > 1 {
			text += fmt.Sprintf(", and it wants %d", at.Units)
		}
		if free <= 0 && rate.Per == 0 {
			x.advise("PUT /limits/" + url.PathEscape(l.Limit) + " sets how many there are")
		}
	}
	if x.At.Before(at.Bucket.Hold) {
		text += ", and until " + stamp(at.Bucket.Hold) + " nobody is given a place, as the service asked to wait"
	} else if next := at.Next(x.At); !next.IsZero() {
		text += ", and there are enough at " + next.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	return text
}
