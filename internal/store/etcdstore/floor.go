package etcdstore

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/balance"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/health"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/loading"
	"github.com/weft-run/weft/internal/store/etcdstore/places"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
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
	// instance can be deleted ([commits.Instances.Remove]).
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

// The outcomes of [stimuli.Stimuli.PutMail].
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

// FormLeft is what all live nodes read before an instance leaves early.
const FormLeft = record.FormLeft

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

// ListForPeople puts user tasks of a program of before into the lists of who may complete them, see [upkeep.ListForPeople].
func ListForPeople(ctx context.Context, u *Upkeep) (listed int, err error) {
	return upkeep.ListForPeople(ctx, u.Upkeep)
}

// MostClaims is how many leases of tasks are ended at once.
const MostClaims = claims.Most

// SignOuts keeps which sessions of the console have ended before their time.
type SignOuts = signouts.SignOuts

// Contents is that of package contents.
type Contents = contents.Contents

// Limits keeps limits, and gives their places.
type Limits = places.Places

// Stand is how a line at a limit stands.
type Stand = places.Stand

// MostLimits is how many limits there may be.
const MostLimits = places.MostLimits

// Position is where a bookmark stands in line for a place of a limit.
type Position = places.Position

// MostHeads is how many heads of lines one transaction of [Limits.DropHeads] deletes.
const MostHeads = places.MostHeads

// MaxOpenJobs is how many jobs are looked at that have not ended.
const MaxOpenJobs = jobs.MaxOpenJobs

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
const DataFormat = format.DataFormat

// ErrFormat marks data of another format than this program's.
var ErrFormat = format.ErrFormat

// BookmarkQuery asks for a page of bookmarks; zero fields do not restrict.
type BookmarkQuery = lists.BookmarkQuery

// AwaitingBookmark is a place where an instance waits.
type AwaitingBookmark = lists.AwaitingBookmark

// InstanceCount is how many instances of a version are in one sub-status.
type InstanceCount = lists.InstanceCount

// Filling is what fills etcd: what a cluster keeps there, by kind and by definition, as it was at one revision.
// Keys of each kind are counted; their bytes are read, up to [FillingBounds]. Where all was not read, the rest is
// taken to be like what was, and Off tells how far off that may be. It says nothing of what others keep in the
// same etcd, nor of what etcd still has of before its last compaction.
type Filling = lists.Filling

// Share is a part of what is kept.
type Share = lists.Share

// FillingBounds bound one look at what fills etcd.
type FillingBounds = lists.FillingBounds

// Sight is an instance as it was at one revision.
type Sight = lists.Sight

// InstanceQuery asks for a page of instances.
type InstanceQuery = lists.InstanceQuery

// Lineage are an instance's ancestors and descendants, as they were at one revision.
type Lineage = lists.Lineage

// Relative is one of them.
type Relative = lists.Relative

// Task is a bookmark at which an instance waits for an outside worker.
type Task = lists.Task

// JournalScan says where a journal is read from, and in which direction.
type JournalScan = trace.JournalScan

// JournalSpan is what a journal has, and how far it was read.
type JournalSpan = trace.JournalSpan

// Reckoning says who counts, and how.
type Reckoning = balance.Reckoning

// Due is a timer, or an occurrence of a schedule, whose time has come.
type Due = record.Due

// Census is how many instances of one definition there are.
type Census = upkeep.Census

// Places are places in the shards of what is dated, by shard: what a key has behind the prefix of its shard. "" is
// the beginning.
type Places = upkeep.Places

// PlaceAt is where what is due at a time begins.
func PlaceAt(at time.Time) string { return upkeep.PlaceAt(at) }

// First is what comes first in a shard.
type First = upkeep.First

// Expired is what is old enough at an age: the revisions up to which records of our
// own and of callers' keys are.
type Expired = upkeep.Expired

// KeyRecord is the record of a caller's key, as retention sees it: its entry in
// the expiry index.
type KeyRecord = upkeep.KeyRecord

// MaxPurgeKeys is how many records [etcdstore.Upkeep.PurgeKeys] takes at once.
const MaxPurgeKeys = upkeep.MaxPurgeKeys

// The outcomes of [etcdstore.Upkeep.StartHeld].
const (
	HeldStarted = upkeep.HeldStarted
	HeldGone    = upkeep.HeldGone // the item has become something else
	HeldDone    = upkeep.HeldDone // this very start was done earlier: drop the item
)

// Queued is a queue item as its key tells it.
type Queued = upkeep.Queued

// QueueShards are the shards of the queue: the first characters of hashes.
const QueueShards = upkeep.QueueShards

// Finished is an instance that has ended.
type Finished = upkeep.Finished

// Ended is a finished instance with what is left of its journal.
type Ended = upkeep.Ended

// MaxPurge is how many instances [etcdstore.Upkeep.Purge] takes at once. It reads so many records
// in one answer, as they are stored, and decodes one at a time.
const MaxPurge = upkeep.MaxPurge

// DeadSize is a dead letter as retention sees it.
type DeadSize = upkeep.DeadSize

// MaxPurgeDead is how many dead letters [etcdstore.Upkeep.PurgeDead] takes at once.
const MaxPurgeDead = upkeep.MaxPurgeDead

// ScheduleShard is the shard of a definition's occurrences.
func ScheduleShard(definition string) int { return upkeep.ScheduleShard(definition) }

// Space is how full etcd is: its fullest member.
type Space = upkeep.Space

// TimerShards is how many shards [etcdstore.Upkeep.Due] has.
const TimerShards = upkeep.TimerShards

// MaxFire is how many timers one call of [etcdstore.Upkeep.FireTimers] takes.
const MaxFire = upkeep.MaxFire

// NewHeader is the header of an instance that did not run yet.
func NewHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	return lookup.NewHeader(id, cmd, at)
}

// LaterKey is the name under which the answer to the request with a key lies that comes with a later commit than
// the one which took the request.
func LaterKey(name string) string { return lookup.LaterKey(name) }

// Leaving is a finished instance that is to leave the store.
type Leaving = upkeep.Leaving

// Told is how far webhooks have told what ended.
type Told = upkeep.Told

// ReadTold reads how far all webhooks are.
func ReadTold(ctx context.Context, s *Upkeep) (*Told, error) { return upkeep.ReadTold(ctx, s.Upkeep) }

// Late are instances that ended before the life of records.
func Late(ids ...string) []Leaving { return upkeep.Late(ids...) }

// Loading are the reads of [Instances.Load], which may ride in the transaction that
// takes the instance's lock.
type Loading = loading.Loading

// Waits is how many bookmarks a commit makes wait where stimuli may be queued for them.
func Waits(c *store.Commit) int { return commits.Waits(c) }

// MaxUnlocked is how many bookmarks a commit without a lock may create or move: beyond
// them the queue slices to compare would be too many.
const MaxUnlocked = commits.MaxUnlocked

// Whole reads the parts of a record that its owner read without them. [store.ErrConflict]: the instance has moved.
func Whole(ctx context.Context, s *Instances, r *store.Record) (*store.Record, error) {
	return commits.Whole(ctx, s, r)
}

// Ending reads of such a record what its end needs: its input and output, and its state piece by piece. An error of the
// code not-runnable-here: another program wrote what this one does not know.
func Ending(ctx context.Context, s *Instances, r *store.Record) (*store.Record, *store.ListReader, error) {
	return commits.Ending(ctx, s, r)
}

// Parts tells whether a commit that does not fit might fit in parts: it changes the index of
// an instance that is there, or begins it.
func Parts(c *store.Commit) bool { return commits.Parts(c) }

// Decide is the commit that decides all that c does and leaves the changes of the index to
// [Instances.WriteIndex].
func Decide(c *store.Commit) *store.Commit { return commits.Decide(c) }

// ReplayOutcome says what became of the replay of a command.
type ReplayOutcome = stimuli.ReplayOutcome

// The outcomes of [Stimuli.ReplayCommand].
const (
	Replayed     = stimuli.Replayed
	ReplayGone   = stimuli.ReplayGone   // the dead letter is gone
	ReplayNobody = stimuli.ReplayNobody // its instance is gone
	ReplayInMail = stimuli.ReplayInMail // a command of its id is in the mailbox: the instance goes on without it
)

// CreateOutcome tells what became of a new instance.
type CreateOutcome = stimuli.CreateOutcome

// The outcomes of [Stimuli.Create].
const (
	Created      = stimuli.Created
	CreateExists = stimuli.CreateExists // the id is taken by another start
	CreateGated  = stimuli.CreateGated  // its gate is held
	CreateMoved  = stimuli.CreateMoved  // the definition's head, the trigger or the send record is not as it was found
	CreateUsed   = stimuli.CreateUsed   // this very start was done earlier, or the caller's key was used
)

// Delivery is one target of a stimulus with the command it gets: mail for a
// bookmark, or a new instance for a trigger.
type Delivery = stimuli.Delivery

// MaxDeliveries is how many targets one transaction of [Stimuli.Deliver] takes.
const MaxDeliveries = stimuli.MaxDeliveries

// Endpoint is a pattern of a method, and what is there.
type Endpoint = stimuli.Endpoint

// RequestsOf are those of the cluster of stimuli.
func RequestsOf(s *Stimuli) stimuli.Requests { return stimuli.RequestsOf(s) }

// Instances keeps instances for the node that works them. It is for pkg/client, and
// nothing else commits: see [Instances.Commit].
type Instances = commits.Instances

// Stimuli brings stimuli and commands to whom they are for. It is for pkg/runtime.
type Stimuli = stimuli.Stimuli

// Finding is one key that does not fit the others.
type Finding = fsck.Finding

// Check is what [etcdstore.Upkeep.Fsck] found.
type Check = fsck.Check

// Checker checks and repairs what there is.
type Checker = fsck.Checker

// Repairs is what [etcdstore.Upkeep.Repair] did, and what is left.
type Repairs = fsck.Repairs
