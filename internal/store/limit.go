package store

import (
	"fmt"
	"math"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Limit is how many may have a place of it at once, of each key, and how many units may be taken in a time.
type Limit struct {
	Name string      `json:"name"`
	Most int64       `json:"most"`           // 0: nobody is given a place; [limit.AnyNumber]: it does not limit how many have one at once
	Rate *limit.Rate `json:"rate,omitempty"` // nil: it does not limit how many units are taken
	At   time.Time   `json:"at"`             // when it was last set
	By   string      `json:"by,omitempty"`

	Modified int64 `json:"-"`
}

// FreeOf is how many places more it has, of which so many are taken.
func (l *Limit) FreeOf(taken int64) int64 {
	if l.Most == limit.AnyNumber {
		return math.MaxInt64
	}
	return l.Most - taken
}

// Never tells why nobody is ever given so many units of it; "": somebody may be.
func (l *Limit) Never(units int64) string {
	if l.Rate == nil || l.Rate.Units == 0 || units <= l.Rate.Units {
		return ""
	}
	return fmt.Sprintf("it wants %d units of limit %s, which has %s: it would wait for ever", units, workflow.Shorten(l.Name), l.Rate)
}

// Place is what lies where an instance waits for a place of a limit, or has one.
type Place struct {
	Instance   string    `json:"instance"`
	Bookmark   string    `json:"bookmark"`
	Activity   string    `json:"activity"`
	Definition string    `json:"definition"`
	Came       time.Time `json:"came"`            // when it came to wait
	Given      time.Time `json:"given,omitzero"`  // when it was given the place; zero: it waits
	Trace      string    `json:"trace,omitempty"` // of the commit that came to wait
	Units      int64     `json:"units,omitempty"` // that it wants, or took; 0: one

	Line    limit.Line `json:"-"`
	Key     string     `json:"-"` // below the root
	Created int64      `json:"-"`
}

// Amount is how many units it wants, or took.
func (p *Place) Amount() int64 { return max(1, p.Units) }

// PlaceGuess is a place that a commit takes by itself if it is right: the limit and the head of the line are as they were when it
// was made, and nobody waits.
type PlaceGuess struct {
	Line        limit.Line
	Limit, Head int64  // mod revisions; a head of 0: nobody has a place
	Bookmark    string // whose place it is

	Units  int64        // that it takes
	Rate   *limit.Rate  // nil: none are counted
	Bucket limit.Bucket // as the head has it
	After  limit.Bucket // as it is with the place, under the time of the newest copy
	At     int64        // under which time the units stand then
}
