// Package limit has what limits by key are, and what the bookmarks of the activity say that takes a place of one.
//
// An execution of [Type] has two bookmarks. The first waits for a place, and stays while the execution has it: its key among
// those that wait, or have a place, goes with it, however it goes. The second says that the place was given, so that
// an instance which comes back is not taken for one that has a place.
//
// Guaranteed: what is not there, or is of another kind, reads as if it were not said.
package limit

import (
	"fmt"

	"github.com/weft-run/weft/pkg/workflow"
)

// Type is the activity whose bookmarks wait for a place, and have one.
const Type = workflow.LimitType

// Bounds of limits.
const (
	MaxName = 100    // bytes of a limit's name
	MaxKey  = 200    // bytes of a key
	MaxMost = 10_000 // places of one key
)

// The priorities, of which the higher one goes first.
const (
	UsualPriority = 5
	MostPriority  = 9
)

// Line is where they wait in line: a limit, and the key by which it counts.
type Line struct{ Limit, Key string }

// String says it for people.
func (l Line) String() string {
	if l.Key == "" {
		return l.Limit
	}
	return fmt.Sprintf("%s for %q", l.Limit, l.Key)
}

// Wait is what a bookmark says that waits for a place, or has it.
type Wait struct {
	Line
	Priority int64
}

// What the payloads of the two bookmarks have.
const (
	limitField    = "limit"
	keyField      = "key"
	priorityField = "priority"
	placeField    = "place"
)

// Payload is what the bookmark says.
func (w Wait) Payload() map[string]any {
	return map[string]any{limitField: w.Limit, keyField: w.Key, priorityField: w.Priority}
}

// Of is what a bookmark says that waits for a place, or has it; false: it is no such one.
func Of(b *workflow.Bookmark) (w Wait, ok bool) {
	if b.ActivityType != Type {
		return w, false
	}
	payload, _ := b.Payload.(map[string]any)
	w.Limit, ok = payload[limitField].(string)
	w.Key, _ = payload[keyField].(string)
	switch n := payload[priorityField].(type) {
	case int64:
		w.Priority = n
	case float64:
		w.Priority = int64(n)
	}
	w.Priority = min(max(w.Priority, 0), MostPriority)
	return w, ok
}

// Given is the payload of the bookmark that says that the wait of another one is over: it has its place.
func Given(place string) map[string]any { return map[string]any{placeField: place} }

// PlaceOf is the bookmark that has the place, of which another one says that it was given; "": it says nothing such.
func PlaceOf(b *workflow.Bookmark) string {
	if b.ActivityType != Type {
		return ""
	}
	payload, _ := b.Payload.(map[string]any)
	place, _ := payload[placeField].(string)
	return place
}

// Check refuses a name or a key that no limit has.
func (l Line) Check() error {
	switch {
	case l.Limit == "":
		return fmt.Errorf("the limit has no name")
	case len(l.Limit) > MaxName:
		return fmt.Errorf("the name of a limit may have up to %d bytes, and this one has %d", MaxName, len(l.Limit))
	case len(l.Key) > MaxKey:
		return fmt.Errorf("the key of limit %s may have up to %d bytes, and this one has %d: take a hash of it", l.Limit, MaxKey, len(l.Key))
	}
	return nil
}
