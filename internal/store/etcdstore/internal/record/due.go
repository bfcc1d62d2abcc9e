package record

import (
	"time"

	"github.com/weft-run/weft/internal/store"
)

// Due is a timer, or an occurrence of a schedule, whose time has come.
type Due struct {
	At    time.Time
	Shard int
	Place string // in its shard
	// Schedule is the occurrence; nil: it is a timer.
	Schedule *store.CronEntry
	// Misplaced: it lies where a program of before put it, between others that are due sooner.
	Misplaced bool
	// Trace is the W3C traceparent of what fires it, handed on with the command.
	Trace string
	// Unreadable: this program cannot read all of it, and leaves it.
	Unreadable bool
	// Damaged tells of a listed one why it cannot be read: of it is known what its key
	// says. "": it can.
	Damaged string

	Key     string
	Created int64
	Entry   TimerEntry
	Lease   store.TaskLease // of a worker's claim, in the place of the timer
}

// Origin tells which trace set the timer, and when; "" without one.
func (d Due) Origin() (trace string, set time.Time) { return d.Entry.Trace, d.Entry.Set }

// Instance is the instance whose bookmark the timer resumes.
func (d Due) Instance() string { return d.Entry.Instance }

// Bookmark is the id of the bookmark that the timer resumes.
func (d Due) Bookmark() string { return d.Entry.Bookmark }
