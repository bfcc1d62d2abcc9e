package inspect

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// Page is one page of a list.
type Page[T any] struct {
	Items    []T
	Next     string // "" at the end
	Revision int64  // of etcd, that all of it was read at
}

func limitOf(n int) int {
	if n <= 0 {
		return 50
	}
	return min(n, 500)
}

func readCursor(c string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil {
		return "", workflow.Fail(workflow.CodeInvalid, "the cursor is not one that this API gave out")
	}
	return string(raw), nil
}

func writeCursor(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// list reads one page of a list of the store and turns its items into what the
// API shows.
func list[S, T any](ctx context.Context, what, cursor string, limit int, read func(context.Context, string, int64) ([]S, etcdstore.PageEnd, error), show func(S) T) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	raw, err := readCursor(cursor)
	if err != nil {
		return page, err
	}
	items, end, err := read(ctx, raw, int64(limitOf(limit)))
	if err != nil {
		return page, etcdstore.ReadFailed(what, err)
	}
	for _, item := range items {
		page.Items = append(page.Items, show(item))
	}
	page.Next, page.Revision = writeCursor(end.Next), end.Revision
	return page, nil
}

// List reads one page of a list whose items are shown as they are.
func List[T any](ctx context.Context, what, cursor string, limit int, read func(context.Context, string, int64) ([]T, etcdstore.PageEnd, error)) (Page[T], error) {
	return list(ctx, what, cursor, limit, read, func(t T) T { return t })
}

// QueueItem is a stimulus that waits for a target, or for the gate of its start.
type QueueItem struct {
	ID        string
	Stimulus  workflow.Stimulus
	Gated     string // the definition that it starts once nobody holds the gate
	CreatedAt time.Time
	ExpiresAt time.Time
	Damaged   bool   // its record cannot be read, and this is what its key says
	Damage    string // why
}

// QueueFilter selects stimuli of the queue; zero fields do not restrict.
type QueueFilter struct {
	Name          string // of the event
	ActivityType  string
	CorrelationID string
	InstanceID    string
	Before        time.Time // when they came into the queue
}

// Fits reports whether a stimulus is one of the filter's.
func (f *QueueFilter) Fits(q *QueueItem) bool {
	st := &q.Stimulus
	is := func(want, is string) bool { return want == "" || want == is }
	return is(f.Name, st.EventName()) && is(f.ActivityType, st.ActivityType) && is(f.CorrelationID, st.CorrelationID) && is(f.InstanceID, st.InstanceID) &&
		(f.Before.IsZero() || q.CreatedAt.Before(f.Before))
}

// Queue lists stimuli that wait for a target. A page may be shorter than its limit and
// have a next one.
func (i *Inspector) Queue(ctx context.Context, f QueueFilter, cursor string, limit int) (Page[QueueItem], error) {
	page, err := list(ctx, "queue", cursor, limit, i.queueItems, func(q store.QueueItem) QueueItem { return i.ShowQueueItem(&q) })
	page.Items = slices.DeleteFunc(page.Items, func(q QueueItem) bool { return !f.Fits(&q) })
	return page, err
}

func (i *Inspector) queueItems(ctx context.Context, cursor string, limit int64) ([]store.QueueItem, etcdstore.PageEnd, error) {
	return i.cfg.Reader.QueueItems(ctx, "", cursor, limit)
}

// QueueRecords is [Inspector.Queue] as it is stored.
func (i *Inspector) QueueRecords(ctx context.Context, f QueueFilter, cursor string, limit int) (Page[store.QueueItem], error) {
	page, err := List(ctx, "queue", cursor, limit, i.queueItems)
	page.Items = slices.DeleteFunc(page.Items, func(q store.QueueItem) bool {
		shown := i.ShowQueueItem(&q)
		return !f.Fits(&shown)
	})
	return page, err
}

// ShowQueueItem is a queue item as people see it.
func (i *Inspector) ShowQueueItem(q *store.QueueItem) QueueItem {
	item := QueueItem{ID: q.ID, Stimulus: q.Stimulus, CreatedAt: q.CreatedAt, ExpiresAt: i.expiresAt(q, i.cfg.Age())}
	if errors.Is(q.Unreadable, etcdstore.ErrDamaged) {
		item.Damaged, item.Damage = true, q.Unreadable.Error()
	}
	if q.Held != nil {
		item.Gated = q.Held.Trigger.DefinitionID
	}
	return item
}

// expiresAt is about when a queue item becomes a dead letter, by this node's clock.
func (i *Inspector) expiresAt(item *store.QueueItem, age *store.Age) time.Time {
	return i.cfg.Now().UTC().Add(max(0, i.cfg.QueueTTL-age.Of(item.Created)))
}

// TimerItem is one timer or cron occurrence to come.
type TimerItem struct {
	DueAt        time.Time
	Kind         string // bookmark, cron, timer, startAt
	InstanceID   string
	BookmarkID   string
	DefinitionID string
	ActivityID   string
	Gated        int64       // of a schedule: occurrences that started nothing, as an instance held the gate
	GatedAt      time.Time   // when that happened last
	Then         []time.Time // of a schedule: the occurrences after that, 4 at most
	Damaged      bool        // its record cannot be read, and this is what its key says
	Damage       string      // why
}

// Upcoming is what list of timers is wanted.
type Upcoming string

// The lists of timers.
const (
	UpcomingAll       Upcoming = ""          // timers of instances, then schedules
	UpcomingTimers    Upcoming = "timers"    // of instances
	UpcomingSchedules Upcoming = "schedules" // the next occurrence of each
)

// Timers lists all that is to come, see [Inspector.Upcoming].
func (i *Inspector) Timers(ctx context.Context, cursor string, limit int) (Page[TimerItem], error) {
	return i.Upcoming(ctx, UpcomingAll, cursor, limit)
}

// Upcoming lists what is to come, the soonest first: timers of instances, then the next
// occurrence of each schedule. A page may be shorter than its limit and have a next one.
func (i *Inspector) Upcoming(ctx context.Context, want Upcoming, cursor string, limit int) (Page[TimerItem], error) {
	read := func(ctx context.Context, cursor string, limit int64) ([]TimerItem, etcdstore.PageEnd, error) {
		rest, schedules := strings.CutPrefix(cursor, schedulesCursor)
		if rest != "" && !soonestCursor.MatchString(rest) {
			return nil, etcdstore.PageEnd{}, workflow.Fail(workflow.CodeInvalid, "the cursor is not one that this API gave out")
		}
		if schedules || want == UpcomingSchedules {
			return i.readSchedules(ctx, rest, limit, 0)
		}
		due, end, err := i.cfg.Reader.Timers(ctx, cursor, limit)
		var items []TimerItem
		for _, d := range due {
			items = append(items, showTimer(d))
		}
		if err != nil || want == UpcomingTimers {
			return items, end, err
		}
		if end.Next != "" || int64(len(items)) == limit {
			end.Next = cmp.Or(end.Next, schedulesCursor)
			return items, end, nil
		}
		more, behind, err := i.readSchedules(ctx, "", limit-int64(len(items)), end.Revision)
		if errors.Is(err, etcdstore.ErrCompacted) { // etcd has forgotten that revision: the timers are a page
			end.Next = schedulesCursor
			return items, end, nil
		}
		return append(items, more...), behind, err
	}
	return list(ctx, "timers", cursor, limit, read, func(t TimerItem) TimerItem { return t })
}

// soonestCursor is the beginning of the cursors of both parts of the list. A time behind
// [store.LastMilli] has more digits.
var soonestCursor = regexp.MustCompile(`^[0-9]{13,}/`)

func showTimer(d etcdstore.Due) TimerItem {
	return TimerItem{DueAt: d.At, Kind: "bookmark", InstanceID: d.Instance(), BookmarkID: d.Bookmark(), Damaged: d.Damaged != "", Damage: d.Damaged}
}

// thenMost is how many occurrences of a schedule are told behind the next one.
const thenMost = 4

// then are the occurrences of a schedule behind the one that comes next.
func then(e *store.CronEntry) (out []time.Time) {
	next := func(time.Time) (time.Time, bool) { return time.Time{}, false }
	switch e.Kind {
	case store.ScheduleCron:
		if s, err := cron.Parse(e.Expression); err == nil {
			next = s.Next
		}
	case store.ScheduleTimer:
		next = func(after time.Time) (time.Time, bool) { return after.Add(e.Interval), e.Interval > 0 }
	}
	for at, more := next(e.Due.UTC()); more && len(out) < thenMost; at, more = next(at) {
		out = append(out, at)
	}
	return out
}

// schedulesCursor begins the cursors of the second part of the list.
const schedulesCursor = "schedules:"

func (i *Inspector) readSchedules(ctx context.Context, cursor string, limit, revision int64) ([]TimerItem, etcdstore.PageEnd, error) {
	entries, end, err := i.cfg.Reader.Schedules(ctx, cursor, limit, revision)
	items := make([]TimerItem, len(entries))
	for n, e := range entries {
		items[n] = TimerItem{DueAt: e.Due, Kind: string(e.Kind), DefinitionID: e.DefinitionID, ActivityID: e.ActivityID, Gated: e.Gated, GatedAt: e.GatedAt, Then: then(&e), Damaged: e.Damaged != "", Damage: e.Damaged}
	}
	if end.Next != "" {
		end.Next = schedulesCursor + end.Next
	}
	return items, end, err
}

// DeadLetter is work that could not be done, with the reason.
type DeadLetter struct {
	ID         string
	Reason     workflow.DeadReason
	Detail     string
	Stimulus   *workflow.Stimulus
	Command    *workflow.Command
	Dropped    *store.Dropped // what was too large to be kept of both
	InstanceID string
	CreatedAt  time.Time
	Damaged    bool   // its record cannot be read, and this is what its key says
	Damage     string // why
}

// DeadLetters lists work that could not be done.
func (i *Inspector) DeadLetters(ctx context.Context, f DeadLetterFilter, cursor string, limit int) (Page[DeadLetter], error) {
	page, err := list(ctx, "dead letters", cursor, limit, i.cfg.Reader.DeadLetters, ShowDeadLetter)
	page.Items = slices.DeleteFunc(page.Items, func(d DeadLetter) bool { return !f.Fits(&d) })
	return page, err
}

// ShowDeadLetter is a dead letter as people see it.
func ShowDeadLetter(d store.DeadLetter) DeadLetter {
	return DeadLetter{ID: d.ID, Reason: d.Reason, Detail: d.Detail, Stimulus: d.Stimulus, Command: d.Command, Dropped: d.Dropped, InstanceID: d.InstanceID, CreatedAt: d.CreatedAt, Damaged: d.Damaged != "", Damage: d.Damaged}
}

// DeadLetterFilter selects dead letters; zero fields do not restrict.
type DeadLetterFilter struct {
	Reason        workflow.DeadReason
	Name          string // of the event
	ActivityType  string
	CorrelationID string
	InstanceID    string
	Before        time.Time // when they came to be
}

// Fits reports whether a dead letter is one of the filter's.
func (f *DeadLetterFilter) Fits(d *DeadLetter) bool {
	st := d.Stimulus
	if st == nil {
		st = &workflow.Stimulus{}
	}
	is := func(want, is string) bool { return want == "" || want == is }
	return is(string(f.Reason), string(d.Reason)) && is(f.Name, st.EventName()) && is(f.ActivityType, st.ActivityType) &&
		is(f.CorrelationID, st.CorrelationID) && is(f.InstanceID, d.InstanceID) && (f.Before.IsZero() || d.CreatedAt.Before(f.Before))
}

// Task is a RunTask that waits for an outside worker.
type Task struct {
	TaskID     string
	Name       string
	InstanceID string
	Payload    any
	CreatedAt  time.Time
	Claim      *store.TaskClaim // of the worker that has it; nil: it is free
	Past       store.TaskPast   // of a free one
	Damaged    bool             // its record cannot be read, and this is what its key says
	Damage     string           // why
}

// Tasks lists the tasks that wait for an outside worker, the oldest first; name
// restricts them, without it they come name by name. A task's id is the id of its
// bookmark. A page may be shorter than its limit and have a next one.
func (i *Inspector) Tasks(ctx context.Context, name, cursor string, limit int) (Page[Task], error) {
	read := func(ctx context.Context, cursor string, limit int64) ([]etcdstore.Task, etcdstore.PageEnd, error) {
		return i.cfg.Reader.Tasks(ctx, name, cursor, limit)
	}
	return list(ctx, "tasks", cursor, limit, read, func(t etcdstore.Task) Task {
		if usertask.Is(&t.Bookmark) {
			t.Bookmark.Metadata = nil // it is for its candidates
		}
		return Task{TaskID: t.Bookmark.ID, Name: t.Bookmark.Name, InstanceID: t.InstanceID, Payload: t.Bookmark.Metadata, CreatedAt: t.Bookmark.CreatedAt, Claim: t.Claim, Past: t.Past, Damaged: t.Damaged != "", Damage: t.Damaged}
	})
}
