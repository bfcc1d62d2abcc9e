package inspect

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// fromArchive gets what the archive has of an instance that is not in etcd, which live says.
func fromArchive[T any](ctx context.Context, a *archive.Archive, id string, live error, get func(*archive.Archive, context.Context, string) (*T, error)) (*T, error) {
	if a == nil || workflow.CodeOf(live) != workflow.CodeInstanceNotFound {
		return nil, live
	}
	found, err := get(a, ctx, id)
	switch {
	case err != nil:
		return nil, away(id, err)
	case found == nil:
		return nil, live
	}
	return found, nil
}

// orArchived gives an instance that is not in etcd, which live says, as the archive has it.
func (i *Inspector) orArchived(ctx context.Context, id string, live error) (workflow.Instance, error) {
	in, err := fromArchive(ctx, i.cfg.Archive, id, live, (*archive.Archive).Instance)
	if err != nil {
		return workflow.Instance{}, err
	}
	in.Archived = true
	return *in, nil
}

// archived is orArchived, with all that the archive has.
func (i *Inspector) archived(ctx context.Context, id string, live error) (*archive.Item, error) {
	it, err := fromArchive(ctx, i.cfg.Archive, id, live, (*archive.Archive).Get)
	if err != nil {
		return nil, err
	}
	it.Instance.Archived = true
	return it, nil
}

// away says that it is not known whether there is an instance.
func away(id string, err error) error {
	return &workflow.Error{Code: cmp.Or(workflow.CodeOf(err), workflow.CodeUnavailable), Detail: "instance " + strconv.Quote(id) + " is not in etcd, and whether it is in the archive is not known: " + err.Error(), RetryAfter: time.Second, Err: err}
}

// scanJournal is [etcdstore.Reader.ScanJournal], of the archive where etcd has no such instance.
func (i *Inspector) scanJournal(ctx context.Context, id string, scan etcdstore.JournalScan, do func(*workflow.JournalEntry) (enough bool)) (*etcdstore.JournalSpan, error) {
	span, err := i.cfg.Reader.ScanJournal(ctx, id, scan, do)
	if err != nil || span != nil || i.cfg.Archive == nil {
		return span, err
	}
	it, err := i.cfg.Archive.Get(ctx, id)
	if err != nil {
		return nil, away(id, err)
	}
	if it == nil {
		return nil, nil
	}
	return scanArchived(it, scan, do), nil
}

func scanArchived(it *archive.Item, scan etcdstore.JournalScan, do func(*workflow.JournalEntry) (enough bool)) *etcdstore.JournalSpan {
	entries := it.Journal
	span := &etcdstore.JournalSpan{First: it.Sequence + 1, Last: it.Sequence}
	if len(entries) > 0 {
		span.First = entries[0].Sequence
	}
	if scan.Back {
		slices.Reverse(entries)
	}
	for n := range entries {
		e := &entries[n]
		if scan.From > 0 && (scan.Back && e.Sequence > scan.From || !scan.Back && e.Sequence < scan.From) {
			continue
		}
		if do(e) {
			if n+1 < len(entries) {
				span.Next = entries[n+1].Sequence
			}
			break
		}
	}
	return span
}

// archivePlace is what the places of a list begin with that goes on in the archive.
const archivePlace = "archive/"

// goOn fills what is left of a page whose instances in etcd have ended with those of the archive. If the archive does not
// answer, the page says that there is more: who asks for that is told.
func (i *Inspector) goOn(ctx context.Context, f find.Filter, p Paging, page InstancePage) InstancePage {
	if i.cfg.Archive == nil || neverArchived(f) {
		return page
	}
	limit := limitOf(p.Limit)
	page.Next = makeCursor(page.Now, f, archivePlace)
	if len(page.Items) >= limit {
		return page
	}
	p.Limit = limit - len(page.Items)
	rest, err := i.archivedPage(ctx, f, p, page.Now, "")
	if err != nil {
		return page
	}
	page.Items, page.Next, page.Looked = append(page.Items, rest.Items...), rest.Next, page.Looked+rest.Looked
	return page
}

// neverArchived reports whether nothing that has ended fits.
func neverArchived(f find.Filter) bool {
	return f.Status == workflow.StatusRunning || f.SubStatus != "" && f.SubStatus.Status() == workflow.StatusRunning || f.WaitsFor.Kind != ""
}

// What is looked at for a page of the archive, at most, and how many of them at once.
const (
	mostArchived  = 5000
	archivedChunk = 500
	mostLists     = mostArchived/archivedChunk + 2 // of those that are large there are few in one
	mostKept      = 8 << 20                        // bytes of what is kept of them
)

// listedBytes is how large the input and output of a listed instance are at most.
const listedBytes = 32 << 10

// archivedPage is a page of what the archive has behind a place: CREATED/ID, or "" for its beginning.
func (i *Inspector) archivedPage(ctx context.Context, f find.Filter, p Paging, now time.Time, place string) (InstancePage, error) {
	page := InstancePage{Page: Page[workflow.Instance]{Items: []workflow.Instance{}}, Now: now}
	if i.cfg.Archive == nil {
		return page, nil // it was taken away since the page before
	}
	asked := f // whose sum the cursor has
	f = f.Resolve(now)
	limit, show := limitOf(p.Limit), p.Show
	if show == nil {
		show = func(text string) string { return text }
	}
	q := archive.Query{IDs: f.IDs, DefinitionID: f.DefinitionID, CorrelationID: f.CorrelationID, SubStatus: f.SubStatus, Parent: f.Parent, Labels: f.Labels, After: f.Created.After.At, Before: f.Created.Before.At, OldestFirst: f.Order == find.OldestFirst, From: placeOf(place)}
	kept := int64(0)
	full := func() bool { return len(page.Items) == limit || kept >= mostKept }
	for lists := 1; ; lists++ {
		if q.Limit = limit - len(page.Items); page.Looked > 0 {
			q.Limit = archivedChunk // few of them fit
		}
		found, more, err := i.cfg.Archive.List(ctx, q)
		if err != nil {
			return page, err
		}
		for n := range found {
			in := &found[n]
			at := archive.PlaceOf(in)
			q.From = &at
			page.Looked++
			if in.Archived = true; in.Damaged == "" && !f.Fits(in, show) {
				continue
			}
			if !p.Whole && engine.Weigh(in.Input)+engine.Weigh(in.Output) > listedBytes {
				in.Input, in.Output = nil, nil
			}
			kept += int64(engine.Weigh(in.Input) + engine.Weigh(in.Output))
			page.Items = append(page.Items, *in)
			if full() {
				break
			}
		}
		ended := !more && !full()
		if !ended && !full() && page.Looked < mostArchived && lists < mostLists {
			continue
		}
		if page.Items, err = i.onlyArchived(ctx, page.Items); err != nil {
			return page, err
		}
		if !ended {
			page.Next = makeCursor(now, asked, archivePlace+strconv.FormatInt(q.From.Created, 10)+"/"+q.From.ID)
		}
		return page, nil
	}
}

// onlyArchived leaves out what is in etcd, too: the list has had it.
func (i *Inspector) onlyArchived(ctx context.Context, items []workflow.Instance) ([]workflow.Instance, error) {
	if len(items) == 0 {
		return items, nil
	}
	ids := make([]string, len(items))
	for n := range items {
		ids[n] = items[n].ID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for cursor := ""; ; { // large ones come in several pages
		live, err := i.cfg.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: find.Filter{IDs: ids}, Limit: int64(len(ids)), Cursor: cursor})
		if err != nil {
			return nil, etcdstore.ReadFailed("instances", err)
		}
		items = slices.DeleteFunc(items, func(in workflow.Instance) bool {
			return slices.ContainsFunc(live.Items, func(l workflow.Instance) bool {
				return l.ID == in.ID && l.CreatedAt.UnixMilli() == in.CreatedAt.UnixMilli()
			})
		})
		if cursor = live.Next; cursor == "" {
			return items, nil
		}
	}
}

func placeOf(place string) *archive.Place {
	created, id, ok := strings.Cut(place, "/")
	if !ok {
		return nil
	}
	at, _ := strconv.ParseInt(created, 10, 64) // of [placeForm]
	return &archive.Place{Created: at, ID: id}
}
