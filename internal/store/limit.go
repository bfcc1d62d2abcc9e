package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Limit is how many may have a place of it at once, of each key.
type Limit struct {
	Name string    `json:"name"`
	Most int64     `json:"most"` // 0: nobody is given a place
	At   time.Time `json:"at"`   // when it was last set
	By   string    `json:"by,omitempty"`

	Modified int64 `json:"-"`
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

	Line    limit.Line `json:"-"`
	Key     string     `json:"-"` // below the root
	Created int64      `json:"-"`
}

// PlaceGuess is a place that a commit takes by itself if it is right: the limit and the head of the line are as they were when it
// was made, and nobody waits.
type PlaceGuess struct {
	Line        limit.Line
	Limit, Head int64  // mod revisions; a head of 0: nobody has a place
	Bookmark    string // whose place it is
}
