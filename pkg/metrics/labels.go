package metrics

import "github.com/weft-run/weft/pkg/workflow"

// Scope is the kind of thing that a lock protects, never its name: the label
// scope of every lock metric. pkg/cluster has it as its own type.
type Scope string

// The scopes of locks.
const (
	// ScopeInstance is the lock of one workflow instance.
	ScopeInstance Scope = "instance"
	// ScopeQueue is the lock of one shard of the bookmark queue.
	ScopeQueue Scope = "queue"
	// ScopeTimer is the lock of one shard of timers.
	ScopeTimer Scope = "timer"
	// ScopeMailbox is the lock of one shard of mailboxes.
	ScopeMailbox Scope = "mailbox"
	// ScopeRefresh is the lock of a refresh of definitions.
	ScopeRefresh Scope = "refresh"
	// ScopeReload is the lock of a reload of definitions.
	ScopeReload Scope = "reload"
)

// RetryReason is why an acquisition of a lock is tried again: the label reason of
// weft_lock_retries_total.
type RetryReason string

// The reasons of retries.
const (
	// RetryUnavailable says that no etcd member answered.
	RetryUnavailable RetryReason = "unavailable"
	// RetryTimeout says that an answer did not come in time.
	RetryTimeout RetryReason = "timeout"
	// RetryOther is any other error that passes by itself.
	RetryOther RetryReason = "other"
)

// EtcdMemberReason is why a connection to a member of etcd was closed: the label reason
// of weft_etcd_member_left_out_total.
type EtcdMemberReason string

// Why connections to members of etcd are closed.
const (
	// EtcdMemberSilent is that it did not answer in time.
	EtcdMemberSilent EtcdMemberReason = "silent"
	// EtcdMemberBehind is that it has no leader, or not what was committed.
	EtcdMemberBehind EtcdMemberReason = "behind"
)

// PurgedKind is what retention deletes: the label kind of weft_purged_total.
type PurgedKind string

// What retention deletes.
const (
	// PurgedInstance is a finished instance with its journal.
	PurgedInstance PurgedKind = "instance"
	// PurgedDeadLetter is a dead letter.
	PurgedDeadLetter PurgedKind = "dead_letter"
	// PurgedRecord is an idempotency record whose time was over.
	PurgedRecord PurgedKind = "record"
	// PurgedKey is the answer to a caller's Idempotency-Key that went before its
	// time.
	PurgedKey PurgedKind = "idempotency_key"
	// PurgedVersion is a version of a definition that nothing used.
	PurgedVersion PurgedKind = "definition_version"
	// PurgedArchived is an instance of the archive.
	PurgedArchived PurgedKind = "archived_instance"
)

// ArchiveResult is what became of instances that were to be archived: the label result of weft_archived_total.
type ArchiveResult string

// What became of them.
const (
	// ArchiveKept is that they are durable in the archive.
	ArchiveKept ArchiveResult = "kept"
	// ArchiveFailed is that the archive did not take them; they stay in etcd, and are tried again.
	ArchiveFailed ArchiveResult = "failed"
)

// ShedWanted is what a refused call wanted: the label wanted of weft_shed_total.
type ShedWanted string

// What refused calls wanted.
const (
	// ShedStart is a start, or the publication of a definition.
	ShedStart ShedWanted = "start"
	// ShedResume is a call for an instance that exists.
	ShedResume ShedWanted = "resume"
	// ShedOther is any other request.
	ShedOther ShedWanted = "other"
	// ShedConnection is a connection.
	ShedConnection ShedWanted = "connection"
)

// ShedReason is why a call was refused: the label reason of weft_shed_total.
type ShedReason string

// Why calls are refused.
const (
	// ShedSpace is that etcd is nearly full.
	ShedSpace ShedReason = "space"
	// ShedSession is that the session's lease was not renewed for too long.
	ShedSession ShedReason = "session"
	// ShedInFlight is that as many requests as may be are in flight.
	ShedInFlight ShedReason = "in_flight"
	// ShedWaiting is that as many requests wait as may.
	ShedWaiting ShedReason = "waiting"
	// ShedBodies is that the bodies of requests fill the memory that they may have.
	ShedBodies ShedReason = "bodies"
	// ShedStreams is that as many streams are open as may be.
	ShedStreams ShedReason = "streams"
	// ShedConnections is that there are as many connections as may be.
	ShedConnections ShedReason = "connections"
)

// StreamEnd is who ended a stream: the label end of weft_streams_ended_total.
type StreamEnd string

// The ends of streams.
const (
	// StreamLeft is that the client closed it.
	StreamLeft StreamEnd = "client"
	// StreamSlow is that the client did not read.
	StreamSlow StreamEnd = "slow"
	// StreamDrained is that the node drained.
	StreamDrained StreamEnd = "drain"
	// StreamRefused is that the client's credentials ended.
	StreamRefused StreamEnd = "credentials"
	// StreamFailed is that the node could not go on, as without a session.
	StreamFailed StreamEnd = "failed"
)

// LoadSource is where an instance came from that a node took: the label from of
// weft_instance_loads_total.
type LoadSource string

// Where instances come from.
const (
	// LoadIdle is the node's memory.
	LoadIdle LoadSource = "idle"
	// LoadMoved is etcd, as another node has written what this one had.
	LoadMoved LoadSource = "moved"
	// LoadRead is etcd.
	LoadRead LoadSource = "read"
)

// ResumeOutcome is what became of a resume that began without the lock: the label outcome of
// weft_unlocked_resumes_total.
type ResumeOutcome string

// What becomes of them.
const (
	// ResumeCommitted is that it was committed without the lock.
	ResumeCommitted ResumeOutcome = "committed"
	// ResumeLocked is that the lock was taken after all.
	ResumeLocked ResumeOutcome = "locked"
	// ResumeHeld is that another had the lock when it was to be committed.
	ResumeHeld ResumeOutcome = "held"
)

// The parts of etcd's database: the label part of weft_store_bytes.
const (
	storeInUse     = "in_use"
	storeAllocated = "allocated"
	storeQuota     = "quota"
)

// The parts of a disk: the label part of weft_disk_bytes.
const (
	diskFree = "free"
	diskSize = "size"
)

// Op is a kind of request to etcd: the label op of weft_etcd_requests_total.
type Op string

// The requests to etcd.
const (
	// OpRange reads, one range or several at one revision.
	OpRange Op = "range"
	// OpTxn is a transaction, which may write.
	OpTxn Op = "txn"
)

// BatchKind is what the requests of a shared proposal to etcd do: the label kind
// of the etcd_batch metrics.
type BatchKind string

// The kinds of shared proposals.
const (
	// BatchReads is a proposal of reads only.
	BatchReads BatchKind = "reads"
	// BatchWrites is a proposal of requests that may write.
	BatchWrites BatchKind = "writes"
)

// CommitOutcome is how the transaction that ends a burst ended.
type CommitOutcome string

// The outcomes of a commit.
const (
	// CommitCommitted is a commit that etcd accepted and answered; the lock
	// was released in the same transaction.
	CommitCommitted CommitOutcome = "committed"
	// CommitResolved is a commit whose answer was lost and that was found in
	// the journal afterwards.
	CommitResolved CommitOutcome = "resolved"
	// CommitFenced is a commit that was refused because the lock was not this
	// node's any more.
	CommitFenced CommitOutcome = "fenced"
	// CommitAbandoned is a commit whose outcome was made definite by giving it
	// up: its lock key is gone, so no late copy can land.
	CommitAbandoned CommitOutcome = "abandoned"
	// CommitKeptLock is an accepted commit that kept the lock because there
	// was new work for the instance.
	CommitKeptLock CommitOutcome = "kept_lock"
	// CommitConflict is a commit that was refused by a compare on something
	// that the lock does not protect.
	CommitConflict CommitOutcome = "conflict"
	// CommitHeld is a commit without a lock that was refused as somebody held the
	// lock, or had it for a while: its commands went into the mailbox.
	CommitHeld CommitOutcome = "held"
	// CommitBreach is a commit that was refused although its lock held. It
	// must never happen.
	CommitBreach CommitOutcome = "breach"
)

// RefreshTarget says what the definitions were read from again.
type RefreshTarget string

// The targets of [Metrics.Refresh].
const (
	// TargetRefresh indexes the triggers of stored definitions again.
	TargetRefresh RefreshTarget = "refresh"
	// TargetReload reads definitions from their sources again.
	TargetReload RefreshTarget = "reload"
)

// RefreshOutcome is how a refresh or a reload ended.
type RefreshOutcome string

// The outcomes of [Metrics.Refresh].
const (
	// RefreshCompleted is a refresh that this node did.
	RefreshCompleted RefreshOutcome = "completed"
	// RefreshAlreadyInProgress is a refresh that another one is doing; it is
	// not an error.
	RefreshAlreadyInProgress RefreshOutcome = "already_in_progress"
	// RefreshFailed is a refresh that ended with an error.
	RefreshFailed RefreshOutcome = "failed"
)

// WebhookOutcome is what became of one request of a webhook.
type WebhookOutcome string

// The outcomes of requests of webhooks.
const (
	// WebhookTaken is that the receiver answered 2xx.
	WebhookTaken WebhookOutcome = "taken"
	// WebhookRefused is any other answer.
	WebhookRefused WebhookOutcome = "refused"
	// WebhookFailed is that there was no answer: no connection, a private address, no time
	// left; or that the secret is not there that signs.
	WebhookFailed WebhookOutcome = "failed"
)

// The outcomes of an attempt to take a lock.
const (
	lockAcquired = "acquired"
	lockRefused  = "refused"
	lockFailed   = "failed"
)

// GatedWhat is what met a held gate.
type GatedWhat string

// What may meet a held gate and is told by a metric.
const (
	// GatedEvent is a start that an accepted event means; it waits.
	GatedEvent GatedWhat = "event"
	// GatedSchedule is an occurrence of a schedule; it starts nothing.
	GatedSchedule GatedWhat = "schedule"
)

// Due is what has a time of its own.
type Due string

// What has one.
const (
	DueTimers    Due = "timers"
	DueSchedules Due = "schedules"
	DueLeases    Due = "leases" // of tasks that workers have
)

// What is full where an instance waits for a place.
const (
	fullDefinition = "definition"
	fullMemory     = "memory"
	fullQuarantine = "quarantine"
)

// The label values that exist at zero from the start.
var (
	knownGated        = texts(GatedEvent, GatedSchedule)
	knownDue          = texts(DueTimers, DueSchedules, DueLeases)
	knownFull         = []string{fullDefinition, fullMemory, fullQuarantine}
	knownScopes       = texts(ScopeInstance, ScopeQueue, ScopeTimer, ScopeMailbox, ScopeRefresh, ScopeReload)
	knownLockOutcomes = []string{lockAcquired, lockRefused, lockFailed}
	knownRetryReasons = texts(RetryUnavailable, RetryTimeout, RetryOther)
	// A refused child is not among them: the transaction that would create it leaves
	// the dead letter, and nobody is told.
	knownDeadLetters     = texts(workflow.DeadExpired, workflow.DeadGated, workflow.DeadInstanceFinished, workflow.DeadInstanceGone, workflow.DeadPoison, workflow.DeadTooLarge, workflow.DeadUnrunnable)
	knownPurged          = texts(PurgedInstance, PurgedDeadLetter, PurgedRecord, PurgedKey, PurgedVersion, PurgedArchived)
	knownArchived        = texts(ArchiveKept, ArchiveFailed)
	knownShed            = texts(ShedStart, ShedResume, ShedOther, ShedConnection)
	knownShedReasons     = texts(ShedSpace, ShedSession, ShedInFlight, ShedWaiting, ShedBodies, ShedStreams, ShedConnections)
	knownStreamEnds      = texts(StreamLeft, StreamSlow, StreamDrained, StreamRefused, StreamFailed)
	knownWebhookOutcomes = texts(WebhookTaken, WebhookRefused, WebhookFailed)
	knownDiskParts       = []string{diskFree, diskSize}
	knownStoreParts      = []string{storeInUse, storeAllocated, storeQuota}
	knownLoadSources     = texts(LoadIdle, LoadMoved, LoadRead)
	knownResumes         = texts(ResumeCommitted, ResumeLocked, ResumeHeld)
	knownOps             = texts(OpRange, OpTxn)
	knownBatchKinds      = texts(BatchReads, BatchWrites)
	knownCommitOutcomes  = texts(CommitCommitted, CommitResolved, CommitFenced, CommitAbandoned, CommitKeptLock, CommitConflict, CommitHeld, CommitBreach)
	knownRefreshTargets  = texts(TargetRefresh, TargetReload)
	knownRefreshOutcomes = texts(RefreshCompleted, RefreshAlreadyInProgress, RefreshFailed)
	// As the HTTP API has them, so that a query and an instance agree.
	knownFinalSubStatuses = texts(workflow.Finished, workflow.Cancelled, workflow.Faulted)
)

// texts are the values of a label as the registry has them.
func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
