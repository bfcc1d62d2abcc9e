package etcdstore

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/health"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
	"github.com/weft-run/weft/internal/store/etcdstore/webhooks"
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
	// TaskLeases are the leases of workers' claims.
	TaskLeases = record.TaskLeases
)

// VersionRef names a version of a definition.
type VersionRef = record.VersionRef

// FormOfParts is the newest form of records in parts.
const FormOfParts = record.FormOfParts

// ChildEnd is how a child tells its parent that it has ended.
func ChildEnd(bookmark, child string, status workflow.SubStatus, output map[string]any, at time.Time) workflow.Command {
	return record.ChildEnd(bookmark, child, status, output, at)
}

// DeadID is the id of the dead letter of an instance's command.
func DeadID(instance string, cmd *workflow.Command) string { return record.DeadID(instance, cmd) }

// StimulusDeadID is the id of the dead letter of a stimulus that came at a time.
func StimulusDeadID(id string, at time.Time) string { return record.StimulusDeadID(id, at) }

// Definitions keeps workflow definitions, their versions, and the triggers, routes and
// schedules of what is published. It is for the catalog.
type Definitions = definitions.Definitions

// Published is what becomes of a head when a version of it is published.
type Published = definitions.Published

// VersionUser is something that needs the body of a version.
type VersionUser = definitions.VersionUser

// MaxVersions is how many versions one call of [Definitions.RetireVersions] or
// [Definitions.DropVersions] takes.
const MaxVersions = definitions.MaxVersions

// LongRetired picks those of retired versions whose bodies may go once nobody uses them.
func LongRetired(retired map[VersionRef]int64, age *store.Age) []VersionRef {
	return definitions.LongRetired(retired, age)
}

// Health is how etcd answers, as this node sees it.
type Health = health.Health

// Jobs keeps what is done to many instances.
type Jobs = jobs.Jobs

// Webhooks keeps who is told of what.
type Webhooks = webhooks.Webhooks

// ErrTooMany says that there are as many webhooks as may be.
var ErrTooMany = webhooks.ErrTooMany

// Claims keeps which worker has which task.
type Claims = claims.Claims

// MostClaims is how many leases of tasks are ended at once.
const MostClaims = claims.Most

// SignOuts keeps which sessions of the console have ended before their time.
type SignOuts = signouts.SignOuts

// Contents is that of package contents.
type Contents = contents.Contents

// MaxOpenJobs is how many jobs are looked at that have not ended.
const MaxOpenJobs = jobs.MaxOpenJobs

// Follow follows what is looked at often, until ctx ends, and waits for its goroutines. Without it
// all is read.
func (s *Upkeep) Follow(ctx context.Context) error { return s.conn.FollowAll(ctx) }

// Match finds the bookmarks and triggers that st is for. A stimulus with a
// correlation meets only bookmarks of that correlation; one without meets all;
// an addressed one only its instance's, and no trigger. key names the caller's
// record; "" if there is none.
func (s *Stimuli) Match(ctx context.Context, st workflow.Stimulus, hash, key string) (*lookup.Match, error) {
	return s.conn.Match(ctx, st, hash, key)
}

// Match is [Stimuli.Match], for what waits in the queue.
func (s *Upkeep) Match(ctx context.Context, st workflow.Stimulus, hash string) (*lookup.Match, error) {
	return s.conn.Match(ctx, st, hash, "")
}

// Match is what a stimulus meets, read at one revision.
type Match = lookup.Match

// MaxTargets is how many bookmarks, and how many triggers, one stimulus may meet:
// as many as a send record holds.
const MaxTargets = lookup.MaxTargets

// TooMany refuses a stimulus that meets more.
func TooMany() *workflow.Error { return lookup.TooMany() }

// Width says what of instances that wait at many places is written otherwise than of others. Tests turn it down.
type Width = lookup.Width

// NewInstance is an instance to be created with its start command.
type NewInstance = lookup.NewInstance

// DataFormat is the version of what this program reads and writes in etcd.
const DataFormat = record.DataFormat

// ErrFormat marks data of another format than this program's.
var ErrFormat = record.ErrFormat
