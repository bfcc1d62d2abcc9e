package etcdstore

import (
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
	"github.com/weft-run/weft/pkg/workflow"
)

// What callers name of what is below the store, and of its rooms.
var (
	// ErrUnknown marks a write whose outcome is not known: it may have been, or may
	// yet be, applied.
	ErrUnknown = db.ErrUnknown
	// ErrTooLarge marks a transaction that etcd would refuse for its size.
	ErrTooLarge = db.ErrTooLarge
	// ErrDamaged marks a record that is not what any program wrote, or that holds more
	// than is read. Nobody goes on with it: lists show its key, sweeps pass it by, and an
	// instance can be deleted ([Instances.Remove]).
	ErrDamaged = db.ErrDamaged
	// ErrCompacted says that etcd has forgotten the revision that was to be read at.
	ErrCompacted = db.ErrCompacted
)

// PageEnd is where a page of a list ends, and the revision that all of it was read at.
type PageEnd = db.PageEnd

// PageBytes is how many bytes of decoded values a page holds at most, unless its
// first value alone has more.
const PageBytes = db.PageBytes

// Encode gives the stored form of v: JSON, compressed above 4 KiB. [ErrTooLarge]: it
// has more bytes before it is compressed than are ever to be read again.
func Encode(v any) ([]byte, error) { return db.Encode(v) }

// Decode reads what [Encode] wrote. Numbers keep their value in untyped places:
// see workflow.Number. What cannot be read is [ErrDamaged].
func Decode(raw []byte, v any) error { return db.Decode(raw, v) }

// PlaceOf is where an instance stands in a list: as the cursor of a page it is what stands before it.
func PlaceOf(h *workflow.Instance) string { return record.Place(h) }

// FinishedShards is the fixed number of slices of the finished instances in the
// order of their ends.
const FinishedShards = record.FinishedShards

// MadeKey begins the names of keys that no caller knows, made for calls that came
// without: their records are our own, and live as long. No derived name begins so.
const MadeKey = record.MadeKey

// PutOutcome tells what became of a command on its way to a mailbox.
type PutOutcome = record.PutOutcome

// The outcomes of [Stimuli.PutMail].
const (
	PutDone     = record.PutDone     // it is in the mailbox
	PutGone     = record.PutGone     // the bookmark, or the instance, is gone: look again
	PutConsumed = record.PutConsumed // it took effect earlier: read its record
	PutMoved    = record.PutMoved    // the job that it is of was written since, or is gone
)

// Dated is what lies in shards in the order in which it is due.
type Dated = record.Dated

// What there is of it.
const (
	Timers    = record.Timers
	Schedules = record.Schedules
)

// Jobs keeps what is done to many instances.
type Jobs = jobs.Jobs

// SignOuts keeps which sessions of the console have ended before their time.
type SignOuts = signouts.SignOuts

// Contents is that of package contents.
type Contents = contents.Contents

// MaxOpenJobs is how many jobs are looked at that have not ended.
const MaxOpenJobs = jobs.MaxOpenJobs
