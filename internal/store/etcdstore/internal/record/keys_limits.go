package record

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Who waits for a place of a limit lies in line, by priority and by when it came; who has one lies among those that
// have. Both keys are named by the bookmark, so that they go with it, however it goes. The head of a line is put with
// every place that is given: that it is as it was read says that nobody was given one since.

// LimitKeys are the keys of limits.
type LimitKeys struct{ root string }

// All is what limits begin with.
func (k LimitKeys) All() string { return k.root + "limit/" }

// Limit holds a limit.
func (k LimitKeys) Limit(name string) string { return k.All() + Encode(name) }

// Heads is what the heads of lines begin with.
func (k LimitKeys) Heads() string { return k.root + "limit-head/" }

// Head is the head of a line.
func (k LimitKeys) Head(l limit.Line) string { return k.Heads() + lineOf(l) }

// Waits is what those begin with that wait, in any line.
func (k LimitKeys) Waits() string { return k.root + "limit-wait/" }

// Line is what those begin with that wait in a line.
func (k LimitKeys) Line(l limit.Line) string { return k.Waits() + lineOf(l) + "/" }

// Places is what the places of all lines begin with.
func (k LimitKeys) Places() string { return k.root + "limit-taken/" }

// Taken is what the places of a line begin with.
func (k LimitKeys) Taken(l limit.Line) string { return k.Places() + lineOf(l) + "/" }

// Settlements is what those begin with that are to be settled with any line.
func (k LimitKeys) Settlements() string { return k.root + "limit-settle/" }

// SettlementsOf is what those begin with that are to be settled with a line.
func (k LimitKeys) SettlementsOf(l limit.Line) string { return k.Settlements() + lineOf(l) + "/" }

// Settlement is what the journal of an instance says under a number.
func (k LimitKeys) Settlement(l limit.Line, instance string, sequence int64) string {
	return fmt.Sprintf("%s%s/%d", k.SettlementsOf(l), instance, sequence)
}

func lineOf(l limit.Line) string { return Encode(l.Limit) + "/" + Encode(l.Key) }

// Wait is where a bookmark waits for its place.
func (k LimitKeys) Wait(w limit.Wait, b *workflow.Bookmark) string {
	return fmt.Sprintf("%s%d%s/%s", k.Line(w.Line), limit.MostPriority-w.Priority, Millis(b.CreatedAt), placeOf(b.ID))
}

// Place is the place that a bookmark has.
func (k LimitKeys) Place(l limit.Line, bookmark string) string {
	return k.Taken(l) + placeOf(bookmark)
}

func placeOf(bookmark string) string {
	id, local := workflow.SplitBookmarkID(bookmark)
	return id + "/" + Encode(local)
}

// KeysOf are the keys that go with a bookmark; none, if it waits for no place.
func (k LimitKeys) KeysOf(b *workflow.Bookmark) []string {
	w, ok := limit.Of(b)
	if !ok {
		return nil
	}
	return []string{k.Wait(w, b), k.Place(w.Line, b.ID)}
}

// PutWait puts a bookmark in line; nothing, if it waits for no place.
func PutWait(k LimitKeys, o *db.Ops, b *workflow.Bookmark, of *workflow.Instance, trace string) {
	if w, ok := limit.Of(b); ok {
		o.Put(k.Wait(w, b), PlaceFor(b, of, trace))
	}
}

// PlaceFor is what lies where a bookmark of an instance waits.
func PlaceFor(b *workflow.Bookmark, of *workflow.Instance, trace string) store.Place {
	w, _ := limit.Of(b)
	return store.Place{Instance: of.ID, Bookmark: b.ID, Activity: b.ActivityID, Definition: of.DefinitionID, Came: b.CreatedAt, Trace: trace, Units: w.Units}
}

// LineIn is the line of what lies below [LimitKeys.Waits], [LimitKeys.Places] or [LimitKeys.Heads].
func LineIn(key string) limit.Line {
	name, rest, _ := strings.Cut(key, "/")
	by, _, _ := strings.Cut(rest, "/")
	return limit.Line{Limit: Decode(name), Key: Decode(by)}
}
