package metrics

// Scopes of locks: the label scope of every lock metric, in the words of
// pkg/cluster. A scope is the kind of thing that is locked, never its name.
const (
	// ScopeInstance is the lock of one workflow instance.
	ScopeInstance = "instance"
	// ScopeQueue is the lock of one shard of the bookmark queue.
	ScopeQueue = "queue"
	// ScopeTimer is the lock of one shard of timers.
	ScopeTimer = "timer"
	// ScopeMailbox is the lock of one shard of mailboxes.
	ScopeMailbox = "mailbox"
	// ScopeRefresh is the lock of a refresh of definitions.
	ScopeRefresh = "refresh"
	// ScopeReload is the lock of a reload of definitions.
	ScopeReload = "reload"
)

// Reasons of a retried lock acquisition: the label reason of
// weft_lock_retries_total.
const (
	// RetryUnavailable says that no etcd member answered.
	RetryUnavailable = "unavailable"
	// RetryTimeout says that an answer did not come in time.
	RetryTimeout = "timeout"
	// RetryOther is any other error that passes by itself.
	RetryOther = "other"
)

// Reasons of a dead letter: the label reason of weft_dead_letters_total, in the
// words of pkg/store, which the API shows too.
const (
	// DeadLetterExpired is a queued stimulus that nothing claimed in time.
	DeadLetterExpired = "expired"
	// DeadLetterGated is a stimulus that waited for its start, and the gate was held
	// all the time.
	DeadLetterGated = "gated"
	// DeadLetterInstanceFinished is a command for an instance that has ended.
	DeadLetterInstanceFinished = "instance-finished"
	// DeadLetterInstanceNotFound is a command for an instance that is gone.
	DeadLetterInstanceNotFound = "instance-not-found"
	// DeadLetterPoison is a command that was taken over too often.
	DeadLetterPoison = "poison"
	// DeadLetterTooLarge is a command whose commit passes the limits of etcd.
	DeadLetterTooLarge = "too-large"
	// DeadLetterUnrunnable is a command for an instance whose definition is gone.
	DeadLetterUnrunnable = "unrunnable"
)

// What retention deletes: the label kind of weft_purged_total.
const (
	// PurgedInstance is a finished instance with its journal.
	PurgedInstance = "instance"
	// PurgedDeadLetter is a dead letter.
	PurgedDeadLetter = "dead_letter"
	// PurgedRecord is an idempotency record whose time was over.
	PurgedRecord = "record"
	// PurgedKey is the answer to a caller's Idempotency-Key that went before its
	// time.
	PurgedKey = "idempotency_key"
	// PurgedVersion is a version of a definition that nothing used.
	PurgedVersion = "definition_version"
)

// What calls that were refused wanted: the label wanted of weft_shed_total.
const (
	// ShedStart is a start, or the publication of a definition.
	ShedStart = "start"
	// ShedResume is a call for an instance that exists.
	ShedResume = "resume"
	// ShedOther is any other request.
	ShedOther = "other"
	// ShedConnection is a connection.
	ShedConnection = "connection"
)

// Why calls were refused: the label reason of weft_shed_total.
const (
	// ShedSpace is that etcd is nearly full.
	ShedSpace = "space"
	// ShedSession is that the session's lease was not renewed for too long.
	ShedSession = "session"
	// ShedInFlight is that as many requests as may be are in flight.
	ShedInFlight = "in_flight"
	// ShedWaiting is that as many requests wait as may.
	ShedWaiting = "waiting"
	// ShedBodies is that the bodies of requests fill the memory that they may have.
	ShedBodies = "bodies"
	// ShedConnections is that there are as many connections as may be.
	ShedConnections = "connections"
)

// The parts of etcd's database: the label part of weft_store_bytes.
const (
	storeInUse     = "in_use"
	storeAllocated = "allocated"
	storeQuota     = "quota"
)

// Operations on etcd: the label op of weft_etcd_requests_total.
const (
	// OpGet is a range read.
	OpGet = "get"
	// OpPut is a single put.
	OpPut = "put"
	// OpDelete is a single delete.
	OpDelete = "delete"
	// OpTxn is a transaction.
	OpTxn = "txn"
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

// What is full where an instance waits for a place.
const (
	fullDefinition = "definition"
	fullMemory     = "memory"
	fullQuarantine = "quarantine"
)

// The label values that exist at zero from the start.
var (
	knownGated           = []string{string(GatedEvent), string(GatedSchedule)}
	knownFull            = []string{fullDefinition, fullMemory, fullQuarantine}
	knownScopes          = []string{ScopeInstance, ScopeQueue, ScopeTimer, ScopeMailbox, ScopeRefresh, ScopeReload}
	knownLockOutcomes    = []string{lockAcquired, lockRefused, lockFailed}
	knownRetryReasons    = []string{RetryUnavailable, RetryTimeout, RetryOther}
	knownDeadLetters     = []string{DeadLetterExpired, DeadLetterGated, DeadLetterInstanceFinished, DeadLetterInstanceNotFound, DeadLetterPoison, DeadLetterTooLarge, DeadLetterUnrunnable}
	knownPurged          = []string{PurgedInstance, PurgedDeadLetter, PurgedRecord, PurgedKey, PurgedVersion}
	knownShed            = []string{ShedStart, ShedResume, ShedOther, ShedConnection}
	knownShedReasons     = []string{ShedSpace, ShedSession, ShedInFlight, ShedWaiting, ShedBodies, ShedConnections}
	knownStoreParts      = []string{storeInUse, storeAllocated, storeQuota}
	knownOps             = []string{OpGet, OpPut, OpDelete, OpTxn}
	knownBatchKinds      = []string{string(BatchReads), string(BatchWrites)}
	knownCommitOutcomes  = []string{string(CommitCommitted), string(CommitResolved), string(CommitFenced), string(CommitAbandoned), string(CommitKeptLock), string(CommitConflict), string(CommitBreach)}
	knownRefreshTargets  = []string{string(TargetRefresh), string(TargetReload)}
	knownRefreshOutcomes = []string{string(RefreshCompleted), string(RefreshAlreadyInProgress), string(RefreshFailed)}
	// The words of the HTTP API, so that a query and an instance agree.
	knownFinalSubStatuses = []string{"Finished", "Cancelled", "Faulted"}
)
