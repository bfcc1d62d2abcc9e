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
	"strings"
	"unicode"
	"unicode/utf8"

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

// AnyNumber is what a limit says that does not limit how many have a place at once.
const AnyNumber = -1

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
	Units    int64 // that it takes; 0: one
}

// Amount is how many units it takes.
func (w *Wait) Amount() int64 { return max(1, w.Units) }

// What the payloads of the two bookmarks have.
const (
	limitField    = "limit"
	keyField      = "key"
	priorityField = "priority"
	placeField    = "place"
	unitsField    = "units"
)

// Grant is what the command says that tells of a place.
type Grant struct {
	At      int64  // under which time its units stand; 0: it took none that are counted
	Refused string // why it is never given one; "": it was
}

const (
	atField      = "at"
	refusedField = "refused"
)

// Input is what the command carries.
func (g Grant) Input() map[string]any {
	switch {
	case g.Refused != "":
		return map[string]any{refusedField: g.Refused}
	case g.At != 0:
		return map[string]any{atField: g.At}
	}
	return nil
}

// GrantIn reads it.
func GrantIn(input map[string]any) (g Grant) {
	g.At = number(input[atField])
	g.Refused, _ = input[refusedField].(string)
	return g
}

// number reads a whole number, as it comes from JSON or from memory.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// Payload is what the bookmark says.
func (w Wait) Payload() map[string]any {
	payload := map[string]any{limitField: w.Limit, keyField: w.Key, priorityField: w.Priority}
	if w.Units > 1 {
		payload[unitsField] = w.Units
	}
	return payload
}

// Of is what a bookmark says that waits for a place, or has it; false: it is no such one.
func Of(b *workflow.Bookmark) (w Wait, ok bool) {
	if b.ActivityType != Type {
		return w, false
	}
	payload, _ := b.Payload.(map[string]any)
	w.Limit, ok = payload[limitField].(string)
	w.Key, _ = payload[keyField].(string)
	w.Priority = min(max(number(payload[priorityField]), 0), MostPriority)
	w.Units = number(payload[unitsField])
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
	case !plain(l.Limit):
		return fmt.Errorf("the name of a limit is one line of valid UTF-8, and neither . nor .., and this one is %q", workflow.Shorten(l.Limit))
	case len(l.Limit) > MaxName:
		return fmt.Errorf("the name of a limit may have up to %d bytes, and this one has %d", MaxName, len(l.Limit))
	case len(l.Key) > MaxKey:
		return fmt.Errorf("the key of limit %s may have up to %d bytes, and this one has %d: take a hash of it", l.Limit, MaxKey, len(l.Key))
	}
	return nil
}

// plain tells whether a name can be a path of the API, and be shown in a line.
func plain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl) && name != "." && name != ".."
}
