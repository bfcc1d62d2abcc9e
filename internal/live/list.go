package live

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Bounds of a list that is looked at.
const (
	// listRows is how many instances are told of a list: its first ones.
	listRows = 50
	// listLooked is how many instances are looked at for them.
	listLooked = 2000
	// rowWaits is how many bookmarks a row has.
	rowWaits = 5
	// incidentLength is how many characters a row has of an incident's message.
	incidentLength = 200
	// listWeight is how many instances a list counts as, where they are bounded.
	listWeight = 16
	// restsAfter is how many times as long as a look took it is not looked again.
	restsAfter = 10
)

// Row is an instance as a list shows it. Its size is bounded: it has no input, no output, no
// incidents and few bookmarks.
type Row struct {
	workflow.Instance
	Incidents, Waits int
	Incident         string // the message of the last one, in short
	modified         int64
}

// ShortIncident is the beginning of a message, as a row of a list has it: without resume links,
// since a part of one would not be known as such where they are hidden.
func ShortIncident(message string) string {
	message = resumelink.Hide(message)
	n := 0
	for at := range message {
		if n == incidentLength {
			return message[:at]
		}
		n++
	}
	return message
}

func rowOf(in workflow.Instance, modified int64) Row {
	r := Row{Instance: in, Incidents: len(in.Incidents), Waits: len(in.Bookmarks) + in.MoreWaits, modified: modified}
	if n := len(in.Incidents); n > 0 {
		r.Incident = ShortIncident(in.Incidents[n-1].Message)
	}
	r.Input, r.Output, r.Instance.Incidents = nil, nil, nil
	r.Bookmarks = slices.Clone(in.Bookmarks[:min(len(in.Bookmarks), rowWaits)])
	for i := range r.Bookmarks {
		r.Bookmarks[i].Metadata = nil
	}
	return r
}

// List is the first page of a list, as it was at one revision.
type List struct {
	Revision int64
	IDs      []string // of its instances, the newest first
	Rows     []Row    // those of them that came or changed since what was told
	More     bool     // others stand behind them, or may
}

// since is the list with those rows only that are not in what was told.
func (l *List) since(told *List) *List {
	if told == nil {
		return l
	}
	out := *l
	out.Rows = slices.DeleteFunc(slices.Clone(l.Rows), func(r Row) bool {
		return slices.ContainsFunc(told.Rows, func(t Row) bool { return t.ID == r.ID && t.modified == r.modified })
	})
	return &out
}

// same tells whether there is nothing to tell who was told the other.
func (l *List) same(told *List) bool {
	return told != nil && l.More == told.More && slices.Equal(l.IDs, told.IDs) && len(l.since(told).Rows) == 0
}

// list follows the first page of a list of instances.
type list struct {
	feed   *feed
	filter find.Filter
	show   func(string) string

	turn chan struct{} // of one place: who comes beside another takes what that one sees

	mu   sync.Mutex
	last *List // guarded by mu
	seen int64 // the revision of the newest look; guarded by mu
}

// follow asks for the list again and again: nothing tells which writes concern it. One that
// takes long is asked for less often.
func (l *list) follow(ctx context.Context) {
	for {
		began := time.Now()
		if err := l.look(ctx); err != nil && ctx.Err() == nil {
			l.feed.hub.cfg.Log.DebugContext(ctx, "list not read for those who look at it", slog.String("query", l.filter.String()), slog.Any("error", err))
		}
		if !pace.Pause(ctx, pace.Jitter(max(l.feed.hub.cfg.Lists, restsAfter*time.Since(began)))) {
			return
		}
	}
}

// atLeast makes sure that what is kept is no older than what was told before, at a revision.
func (l *list) atLeast(ctx context.Context, told int64) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	known := l.last != nil && l.seen >= told
	l.mu.Unlock()
	if known {
		return nil
	}
	return l.look(ctx)
}

// look reads the first page as it is, and wakes those who look if it is another one.
func (l *list) look(ctx context.Context) error {
	page, err := l.feed.hub.cfg.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: l.filter.Resolve(time.Now().UTC()), Limit: listRows, Most: listLooked, Show: l.show})
	if err != nil {
		return err
	}
	next := &List{Revision: page.Revision, IDs: []string{}, More: page.Next != ""}
	for i := range page.Items {
		next.IDs = append(next.IDs, page.Items[i].ID)
		next.Rows = append(next.Rows, rowOf(page.Items[i], page.Modified[i]))
	}
	if l.keep(next) {
		l.feed.nudge()
	}
	return nil
}

// keep keeps what was seen, unless something newer was, and tells whether it is news.
func (l *list) keep(next *List) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if next.Revision < l.seen {
		return false // a look that was slower than another
	}
	l.seen = next.Revision
	changed := !next.same(l.last)
	if changed {
		l.last = next
	}
	return changed
}

// current is the page that was seen last; nil: none was.
func (l *list) current() *List {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
