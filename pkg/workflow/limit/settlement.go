package limit

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// What a body has used, and that a service asks to wait, are lines of the journal: the commit that has such a line settles it
// with the limit.
const (
	settledEvent = "LimitSettled"
	heldEvent    = "LimitHeld"
)

// MaxHold is for how long a service may ask to wait.
const MaxHold = time.Hour

// Settlement is what is to be settled with a line.
type Settlement struct {
	At    int64     `json:"at,omitempty"`    // under which time the units were taken
	Units int64     `json:"units,omitempty"` // that were taken
	Used  int64     `json:"used,omitempty"`  // how many were used of them, or more
	Hold  time.Time `json:"hold,omitzero"`   // before which nobody is to be given a place; zero: nobody asks to wait
}

// What the data of the journal's lines have.
const (
	usedField = "used"
	holdField = "until"
)

// Settled is the line of the journal about units that were used: its event, its text, and its data.
func Settled(l Line, s Settlement) (event, text string, data map[string]any) {
	return settledEvent, fmt.Sprintf("used %d units of limit %s, of %d that were reserved", s.Used, l, s.Units),
		map[string]any{limitField: l.Limit, keyField: l.Key, atField: s.At, unitsField: s.Units, usedField: s.Used}
}

// Held is the line of the journal about a service that asks to wait for a time from now on, of which [MaxHold] count.
func Held(l Line, now time.Time, wait time.Duration) (event, text string, data map[string]any) {
	until := now.Add(min(wait, MaxHold)).UTC()
	return heldEvent, fmt.Sprintf("limit %s gives nobody a place until %s, as the service asks to wait", l, until.Format(time.RFC3339)),
		map[string]any{limitField: l.Limit, keyField: l.Key, holdField: until.UnixMilli()}
}

// SettlementIn is what a line of the journal has to settle; false: nothing.
func SettlementIn(item *workflow.JournalItem) (l Line, s Settlement, ok bool) {
	if item.ActivityType != Type || item.Event != settledEvent && item.Event != heldEvent {
		return l, s, false
	}
	data, _ := item.Data.(map[string]any)
	l.Limit, ok = data[limitField].(string)
	l.Key, _ = data[keyField].(string)
	if item.Event == heldEvent {
		s.Hold = time.UnixMilli(number(data[holdField])).UTC()
		return l, s, ok
	}
	s.At, s.Units, s.Used = number(data[atField]), number(data[unitsField]), number(data[usedField])
	return l, s, ok
}
