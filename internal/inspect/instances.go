package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Instance reads one instance.
func (i *Inspector) Instance(ctx context.Context, id string) (workflow.Instance, error) {
	rec, err := Header(ctx, i.cfg.Reader, id)
	if err != nil {
		return i.orArchived(ctx, id, err)
	}
	return rec.Header, nil
}

// Brief reads one instance, and of thousands of places where it waits the first: it says at how many more.
func (i *Inspector) Brief(ctx context.Context, id string) (workflow.Instance, error) {
	rec, err := Brief(ctx, i.cfg.Reader, id)
	if err != nil {
		return i.orArchived(ctx, id, err)
	}
	return rec.Header, nil
}

// Header reads an instance without its state, or gives the error for the caller.
func Header(ctx context.Context, r *etcdstore.Reader, id string) (*store.Record, error) {
	rec, err := r.Header(ctx, id)
	if err := unread(id, rec != nil, err); err != nil {
		return nil, err
	}
	return rec, nil
}

// Brief reads an instance without its state, and of thousands of places where it waits the first, or gives the error for
// the caller.
func Brief(ctx context.Context, r *etcdstore.Reader, id string) (*store.Record, error) {
	rec, err := r.Brief(ctx, id)
	if err := unread(id, rec != nil, err); err != nil {
		return nil, err
	}
	return rec, nil
}

// Record reads an instance with its state, or gives the error for the caller.
func Record(ctx context.Context, r *etcdstore.Reader, id string) (*store.Record, error) {
	rec, err := r.Instance(ctx, id)
	if err := unread(id, rec != nil, err); err != nil {
		return nil, err
	}
	return rec, nil
}

// unread is the error for the caller of an instance that could not be read, or is not
// there.
func unread(id string, found bool, err error) error {
	switch {
	case errors.Is(err, etcdstore.ErrDamaged):
		return etcdstore.Damaged(fmt.Sprintf("instance %q", id), err)
	case err != nil:
		return etcdstore.Unavailable("instance "+id+" could not be read", err)
	case !found:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	}
	return nil
}

// WaitInstance waits up to wait for the instance's end and gives it as it then
// is.
func (i *Inspector) WaitInstance(ctx context.Context, id string, wait time.Duration) (workflow.Instance, error) {
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	until = tracing.Quiet(until)
	ctx = tracing.Quiet(ctx)
	hint := i.cfg.Reader.WatchInstance(until, id)
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		rec, err := Header(ctx, i.cfg.Reader, id)
		if err != nil || rec.Header.Status == workflow.StatusFinished {
			if err != nil {
				return i.orArchived(ctx, id, err)
			}
			return rec.Header, nil
		}
		select {
		case <-until.Done():
			return rec.Header, nil
		case _, ok := <-hint:
			if !ok {
				hint = nil
			}
		case <-poll.C:
		}
	}
}

// Paging says which part of a list of instances is asked for.
type Paging struct {
	Limit  int    // 1..500, default 50
	Cursor string // from the page before, which was of the same filter
	// Show gives a text of an instance as who asks may see it: what it hides is not found
	// by its parts. Nil: as it is.
	Show func(string) string
	// Whole: with input and output; else those of large instances are left out.
	Whole bool
}

// InstancePage is a page of instances.
type InstancePage struct {
	Page[workflow.Instance]
	Looked int       // how many instances were looked at for it
	Now    time.Time // that durations of the filter count from, on each page of the list
}

// Instances lists instances in the order of the filter. A page may be shorter than its limit,
// and even empty, and still have a next one.
func (i *Inspector) Instances(ctx context.Context, f find.Filter, p Paging) (InstancePage, error) {
	now, place, err := openCursor(p.Cursor, f)
	if err != nil {
		return InstancePage{}, err
	}
	if now.IsZero() {
		now = i.cfg.Now().UTC().Truncate(time.Millisecond)
	}
	if at, archived := strings.CutPrefix(place, archivePlace); archived {
		return i.archivedPage(ctx, f, p, now, at)
	}
	read, err := i.cfg.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: f.Resolve(now), Cursor: place, Limit: int64(limitOf(p.Limit)), Show: p.Show, Whole: p.Whole})
	if err != nil {
		return InstancePage{}, etcdstore.ReadFailed("instances", err)
	}
	out := InstancePage{Page: Page[workflow.Instance]{Items: read.Items, Revision: read.Revision}, Looked: read.Looked, Now: now}
	if out.Items == nil {
		out.Items = []workflow.Instance{}
	}
	if read.Next != "" {
		out.Next = makeCursor(now, f, read.Next)
		return out, nil
	}
	return i.goOn(ctx, f, p, out), nil
}

// A cursor of instances has the time that durations of its filter count from, so that all pages
// mean the same times; the filter's sum; and the place of the last one that was looked at.
func makeCursor(now time.Time, f find.Filter, place string) string {
	return writeCursor(fmt.Sprintf("instances/%d/%s/%s", now.UnixMilli(), sumOf(f), place))
}

// sumOf tells filters apart by mistake, and not by intent: who makes up a cursor gets what they may read anyway.
func sumOf(f find.Filter) string {
	if f.Order == find.NewestFirst { // which it is anyway
		f.Order = ""
	}
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(f.String()))), 16)
}

func openCursor(cursor string, f find.Filter) (now time.Time, place string, err error) {
	if cursor == "" {
		return now, "", nil
	}
	raw, err := readCursor(cursor)
	if err != nil {
		return now, "", err
	}
	parts := strings.SplitN(raw, "/", 4)
	if len(parts) < 4 || parts[0] != "instances" || !placeForm.MatchString(parts[3]) {
		return now, "", workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a list of instances")
	}
	ms, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return now, "", workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a list of instances")
	}
	if parts[2] != sumOf(f) {
		return now, "", workflow.Fail(workflow.CodeInvalid, "the cursor is of a list with another filter, or in another order; begin that list without a cursor")
	}
	return time.UnixMilli(ms).UTC(), parts[3], nil
}

// placeForm is what the place of an instance in a list looks like.
var placeForm = regexp.MustCompile(`^[0-9]{13}/[^/\x00]{1,400}$|^` + archivePlace + `(-?[0-9]{1,15}/[^/\x00]{1,400})?$`)

// StateExport is an instance as it is exported and imported.
type StateExport struct {
	Sequence int64             `json:"sequence"` // the ETag
	Instance workflow.Instance `json:"instance"`
	State    json.RawMessage   `json:"state"`
	Files    []StateFile       `json:"-"` // that lie beside it; nil: it is not said which
}

// StateFile is a file of an exported instance.
type StateFile struct {
	Hash    string
	Bytes   int64
	Content []byte
	LeftOut bool // it has no content here
}

// Export gives an instance with its state, without its files.
func (i *Inspector) Export(ctx context.Context, id string) (StateExport, error) {
	rec, err := Record(ctx, i.cfg.Reader, id)
	if err != nil {
		it, err := i.archived(ctx, id, err)
		if err != nil {
			return StateExport{}, err
		}
		return StateExport{Sequence: it.Sequence, Instance: it.Instance, State: it.State}, nil
	}
	return StateExport{Sequence: rec.Seq, Instance: rec.Header, State: rec.State}, nil
}
