package runtime

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Instance reads one instance.
func (r *Runtime) Instance(ctx context.Context, id string) (workflow.Instance, error) {
	rec, err := r.record(ctx, id)
	if err != nil {
		return workflow.Instance{}, err
	}
	return rec.Header, nil
}

func (r *Runtime) record(ctx context.Context, id string) (*store.Record, error) {
	rec, err := r.cfg.Reader.Instance(ctx, id)
	if errors.Is(err, etcdstore.ErrDamaged) {
		return nil, damaged(fmt.Sprintf("instance %q", id), err)
	}
	if err != nil {
		return nil, unavailable("instance "+id+" could not be read", err)
	}
	if rec == nil {
		return nil, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	}
	return rec, nil
}

// damaged is the error for what no program can read. Nothing but a delete or a repair mends it.
func damaged(what string, err error) error {
	return &workflow.Error{Code: workflow.CodeDamaged, Err: err,
		Detail: fmt.Sprintf("the record of %s is damaged and cannot be read: weft fsck names it, and sets it aside with --repair; see docs/runbooks/damaged-records.md", what)}
}

// WaitInstance waits up to wait for the instance's end and gives it as it then
// is.
func (r *Runtime) WaitInstance(ctx context.Context, id string, wait time.Duration) (workflow.Instance, error) {
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	until = tracing.Quiet(until)
	ctx = tracing.Quiet(ctx)
	hint := r.cfg.Reader.WatchInstance(until, id)
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		rec, err := r.record(ctx, id)
		if err != nil || rec.Header.Status == workflow.StatusFinished {
			if err != nil {
				return workflow.Instance{}, err
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

// Instances lists instances, the newest first. A page may be shorter than its limit
// and still have a next one.
func (r *Runtime) Instances(ctx context.Context, f InstanceFilter) (Page[workflow.Instance], error) {
	if f.SubStatus != "" {
		if f.Status == "" {
			f.Status = f.SubStatus.Status()
		} else if f.Status != f.SubStatus.Status() {
			return Page[workflow.Instance]{}, nil
		}
	}
	sf := etcdstore.InstanceFilter{Status: f.Status, SubStatus: f.SubStatus, DefinitionID: f.DefinitionID, Version: f.Version, CorrelationID: f.CorrelationID, Parent: f.Parent, Labels: f.Labels}
	read := func(ctx context.Context, cursor string, limit int64) (items []workflow.Instance, next string, err error) {
		for items, next, err = r.cfg.Reader.Instances(ctx, sf, cursor, limit); err == nil && len(items) == 0 && next != ""; {
			items, next, err = r.cfg.Reader.Instances(ctx, sf, next, limit)
		}
		return items, next, err
	}
	return list(ctx, "instances", f.Cursor, f.Limit, read, func(in workflow.Instance) (workflow.Instance, bool) { return in, true })
}

func readFailed(what string, err error) error {
	if workflow.CodeOf(err) != "" {
		return err
	}
	return unavailable("the "+what+" could not be read", err)
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

// Journal reads what an instance did, commit by commit, from cursor on.
func (r *Runtime) Journal(ctx context.Context, id, cursor string, limit int) (Page[workflow.JournalEntry], error) {
	var page Page[workflow.JournalEntry]
	raw, err := readCursor(cursor)
	if err != nil {
		return page, err
	}
	var after int64
	if raw != "" {
		if _, err := fmt.Sscanf(raw, "%d", &after); err != nil {
			return page, workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a journal")
		}
	}
	if _, err := r.record(ctx, id); err != nil {
		return page, err
	}
	entries, last, err := r.cfg.Reader.Journal(ctx, id, after, int64(limitOf(limit)))
	if err != nil {
		return page, readFailed("journal", err)
	}
	page.Items = entries
	if last > 0 {
		page.Next = writeCursor(fmt.Sprint(last))
	}
	return page, nil
}

// Cancel ends an instance. accepted: the command is durable, not applied yet.
func (r *Runtime) Cancel(ctx context.Context, id string) (accepted bool, err error) {
	return r.command(ctx, id, workflow.Command{Kind: workflow.CommandCancel})
}

// Delete ends an instance and removes it with its journal.
func (r *Runtime) Delete(ctx context.Context, id string) (accepted bool, err error) {
	return r.command(ctx, id, workflow.Command{Kind: workflow.CommandDelete})
}

// Retry runs a faulted instance again from its faulted activities.
func (r *Runtime) Retry(ctx context.Context, id string) (accepted bool, err error) {
	return r.command(ctx, id, workflow.Command{Kind: workflow.CommandRetry})
}

// Export gives an instance with its state.
func (r *Runtime) Export(ctx context.Context, id string) (StateExport, error) {
	rec, err := r.record(ctx, id)
	if err != nil {
		return StateExport{}, err
	}
	return StateExport{Sequence: rec.Seq, Instance: rec.Header, State: rec.State}, nil
}

// Import replaces the state of an instance, if it is at sequence ifSeq (0: any).
func (r *Runtime) Import(ctx context.Context, id string, in StateExport, ifSeq int64) (StateExport, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return StateExport{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	switch leaving, err := r.cfg.Catalog.Leaving(ctx, in.Instance.DefinitionID, in.Instance.Version); {
	case err != nil:
		return StateExport{}, err
	case leaving:
		return StateExport{}, workflow.Fail(workflow.CodeDefinitionNotFound,
			fmt.Sprintf("instance %q refused to import: definition %s has no version %d", id, in.Instance.DefinitionID, in.Instance.Version))
	}
	if err := r.importable(ctx, &in); err != nil {
		return StateExport{}, err
	}
	accepted, err := r.command(ctx, id, workflow.Command{Kind: workflow.CommandImport, State: raw, IfSeq: ifSeq})
	if err != nil {
		return StateExport{}, err
	}
	if accepted {
		return StateExport{}, busy(id)
	}
	return r.Export(ctx, id)
}

// importable refuses a state that no live node can read or run. In the mailbox it
// would be in the way of all that comes behind it.
func (r *Runtime) importable(ctx context.Context, in *StateExport) error {
	err := engine.Readable(in.State)
	if err == nil {
		_, _, err = r.cfg.Catalog.Program(ctx, in.Instance.DefinitionID, in.Instance.Version)
	}
	if workflow.CodeOf(err) != workflow.CodeNotRunnable {
		return nil // the command is refused for what else is wrong
	}
	return r.elsewhere(ctx, err)
}

// command gives an existing instance a command that is not for a bookmark.
func (r *Runtime) command(ctx context.Context, id string, cmd workflow.Command) (accepted bool, err error) {
	wants := goesOn
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		wants = ends
	}
	if err := r.accepting(wants); err != nil {
		return false, err
	}
	if _, err := r.record(ctx, id); err != nil {
		return false, r.unlessRemoved(ctx, id, cmd.Kind, err)
	}
	cmd.ID, cmd.CreatedAt = newID(), r.cfg.Now().UTC()
	c := r.cfg.Client(id)
	isBusy, err := c.Busy(ctx)
	if err != nil {
		return false, unavailable("the lock of instance "+id+" could not be read", err)
	}
	interrupts := cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete
	if !isBusy && !(interrupts && r.cfg.Node.Holds(id)) {
		res, err := c.Do(ctx, cmd)
		if err == nil {
			return res.Accepted, r.refused(ctx, id, cmd.Kind, outcomeOf(id, &res.Effect))
		}
		if err := r.elsewhere(ctx, err); err != nil {
			return false, r.unlessRemoved(ctx, id, cmd.Kind, err)
		}
	}
	out, done, err := r.mail(ctx, id, cmd, nil)
	switch {
	case err != nil:
		return false, err
	case !done:
		return false, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	case out.Outcomes[0].Outcome == workflow.OutcomeAccepted:
		return true, nil
	}
	return false, r.refused(ctx, id, cmd.Kind, out.Outcomes[0])
}

// unlessRemoved is the error of a command for an instance, nil if it was to delete it
// and that was done without reading what cannot be read or run here or elsewhere.
func (r *Runtime) unlessRemoved(ctx context.Context, id string, kind workflow.CommandKind, cause error) error {
	if code := workflow.CodeOf(cause); kind != workflow.CommandDelete || code != workflow.CodeDamaged && code != workflow.CodeNotRunnable {
		return cause
	}
	c := r.cfg.Client(id)
	err := r.settle(ctx, func() error { return c.Remove(ctx) })
	if errors.Is(err, client.ErrBusy) || errors.Is(err, store.ErrFenced) {
		return busy(id)
	}
	if err == nil {
		r.cfg.Log.WarnContext(ctx, "an instance was deleted unread", "instanceId", id, "reason", cause)
		r.cfg.Hint(nil, true)
	}
	return err
}

// refused turns a refusal into the caller's error.
func (r *Runtime) refused(ctx context.Context, id string, kind workflow.CommandKind, o TargetOutcome) error {
	fail := func(format string, args ...any) error {
		return workflow.Fail(workflow.Code(o.Code), fmt.Sprintf(format, args...))
	}
	switch workflow.Code(o.Code) {
	case "":
		return nil
	case workflow.CodeInstanceFinished:
		is := "finished" // unless it moved on since
		if rec, err := r.record(ctx, id); err == nil && rec.Header.Status == workflow.StatusFinished {
			is = string(rec.Header.SubStatus)
		}
		if is == string(workflow.Faulted) && kind == workflow.CommandCancel {
			return fail("instance %q is Faulted: it has ended, and a cancel would take away its retry; retry it, or delete it", id)
		}
		return fail("instance %q is %s; there is nothing to %s", id, is, kind)
	case workflow.CodeInstanceNotFaulted:
		return fail("instance %q runs, and nothing in it is faulted; there is nothing to retry", id)
	case workflow.CodeInstanceNotFound:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	case workflow.CodeInstanceExists:
		return exists(id)
	case workflow.CodeInstanceMoved:
		return workflow.Fail(workflow.CodeInstanceMoved, fmt.Sprintf("instance %q is at another sequence number than If-Match names; export it again", id))
	}
	if o.Detail != "" {
		return fail("instance %q refused to %s: %s", id, kind, o.Detail)
	}
	return fail("instance %q refused to %s", id, kind)
}

// ResumeBookmark resumes an instance at one bookmark. An input of a name that its
// activity does not know is refused, and the instance waits on.
func (r *Runtime) ResumeBookmark(ctx context.Context, bookmarkID string, input map[string]any, key *Key) (SendResult, error) {
	return r.resumeBookmark(ctx, bookmarkID, key, func(activityType string) (map[string]any, error) {
		if err := notByHand(activityType); err != nil {
			return nil, err
		}
		return input, r.takes(activityType, input)
	})
}

// AnswerBookmark resumes an instance at one bookmark with an answer for what
// waits there: of the names of all, with those that its activity knows.
func (r *Runtime) AnswerBookmark(ctx context.Context, bookmarkID string, all map[string]any) (SendResult, error) {
	return r.resumeBookmark(ctx, bookmarkID, nil, func(activityType string) (map[string]any, error) {
		input := map[string]any{}
		for name, v := range all {
			if one := map[string]any{name: v}; r.takes(activityType, one) == nil {
				input[name] = v
			}
		}
		return input, nil
	})
}

func (r *Runtime) resumeBookmark(ctx context.Context, bookmarkID string, key *Key, inputFor func(activityType string) (map[string]any, error)) (SendResult, error) {
	if err := r.accepting(goesOn); err != nil {
		return SendResult{}, err
	}
	id, ok := workflow.BookmarkInstance(bookmarkID)
	if !ok {
		return SendResult{}, noBookmark(bookmarkID)
	}
	k := commandKey(key)
	cmd := workflow.Command{ID: commandID(k), Kind: workflow.CommandResume, Bookmark: bookmarkID, Key: k}
	for range maxLooks {
		cmd.CreatedAt = r.cfg.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if k != nil {
			if a, err := r.usedKey(ctx, k); err != nil || a != nil {
				if err != nil {
					return SendResult{}, err
				}
				return r.answered(ctx, a, k)
			}
		}
		rec, err := r.record(ctx, id)
		if err != nil {
			return SendResult{}, err
		}
		h := &rec.Header
		if h.Status == workflow.StatusFinished {
			return SendResult{}, workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s)", id, h.SubStatus))
		}
		b := findBookmark(h, bookmarkID)
		if b == nil {
			return SendResult{}, noBookmark(bookmarkID)
		}
		if waitsForChild(h, bookmarkID) {
			return SendResult{}, workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("bookmark %q waits for the end of a child instance; that end resumes it, and nothing else", bookmarkID))
		}
		if cmd.Input, err = inputFor(typeOf(h, bookmarkID)); err != nil {
			return SendResult{}, err
		}
		res, done, err := r.resume(ctx, b, cmd)
		if err != nil || done {
			return res, err
		}
	}
	return SendResult{}, busy(id)
}

// takes refuses an input with names that the activities of a type do not know: they
// would go on with nothing, and the bookmark would be gone. A type that this node's
// program does not have, or that does not say, takes anything.
func (r *Runtime) takes(activityType string, input map[string]any) error {
	d := r.cfg.Catalog.Types().ByType(activityType)
	if d == nil || d.Type != activityType || d.Resume == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch {
		case slices.Contains(d.Resume, name):
		case len(d.Resume) == 0:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q: %s takes no input", name, activityType))
		default:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q is not one that %s knows%s; it takes %s", name, activityType,
				workflow.DidYouMean(name, d.Resume), strings.Join(d.Resume, ", ")))
		}
	}
	return nil
}

// typeOf is the activity type of a bookmark; "" if the instance has none of the id.
func typeOf(h *workflow.Instance, bookmarkID string) string {
	for _, b := range h.Bookmarks {
		if b.ID == bookmarkID {
			return b.ActivityType
		}
	}
	return ""
}

// waitsForChild reports whether a bookmark is resumed by a child's end only, so
// that the parent is resumed once per child, and after it ended.
func waitsForChild(h *workflow.Instance, bookmarkID string) bool {
	return startsChildren(typeOf(h, bookmarkID))
}

// startsChildren reports whether bookmarks of an activity type wait for
// children.
func startsChildren(activityType string) bool {
	switch activityType {
	case "Elsa.ExecuteWorkflow", "Elsa.DispatchWorkflow", "Elsa.BulkDispatchWorkflows":
		return true
	}
	return false
}

func findBookmark(h *workflow.Instance, id string) *store.BookmarkRef {
	for _, b := range h.Bookmarks {
		if b.ID == id {
			return &store.BookmarkRef{ID: id, InstanceID: h.ID, Hash: b.Hash, CorrelationID: h.CorrelationID}
		}
	}
	return nil
}

func noBookmark(id string) error {
	return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("there is no bookmark %q (any more)", id))
}
