package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/pkg/workflow"
)

// Metrics is what one node measures about itself. A nil *Metrics measures
// nothing and is safe to use.
type Metrics struct {
	families []family

	lockAcquisitions     *prometheus.CounterVec
	lockContention       *prometheus.CounterVec
	lockWait             *prometheus.HistogramVec
	lockHold             *prometheus.HistogramVec
	locksHeld            *prometheus.GaugeVec
	locksLost            *prometheus.CounterVec
	lockRetries          *prometheus.CounterVec
	lockRetriesExhausted *prometheus.CounterVec
	lockReleaseFailures  *prometheus.CounterVec
	lockOrphansRemoved   prometheus.Counter

	commits        *prometheus.CounterVec
	commitSeconds  prometheus.Histogram
	commitBytes    prometheus.Histogram
	commitCommands prometheus.Histogram
	savesJoined    prometheus.Counter
	lateDurability prometheus.Counter

	refreshes      *prometheus.CounterVec
	refreshSeconds prometheus.Histogram

	sessionsLost prometheus.Counter
	nodes        prometheus.Gauge
	nodeInfo     *prometheus.GaugeVec
	draining     prometheus.Gauge
	certificates *expiries

	// Condition is how the node itself is.
	Condition *Condition
	scripts   *scripts

	definitions     *definitions
	bursts          prometheus.Counter
	burstSeconds    prometheus.Histogram
	activities      *prometheus.CounterVec
	takeovers       prometheus.Counter
	suspects        prometheus.Counter
	mailboxOldest   prometheus.Gauge
	setAside        prometheus.Gauge
	unreadable      prometheus.Counter
	working         prometheus.Gauge
	long            prometheus.Gauge
	workingBytes    prometheus.Gauge
	loads           *prometheus.CounterVec
	unlockedResumes *prometheus.CounterVec
	idleBytes       prometheus.Gauge
	waiting         *prometheus.GaugeVec
	queueDepth      prometheus.Gauge
	clusterAge      prometheus.Gauge
	balance         prometheus.Gauge
	queueOldest     prometheus.Gauge
	gated           *prometheus.CounterVec
	gatedWaiting    prometheus.Gauge
	limitTaken      prometheus.Gauge
	limitWaiting    prometheus.Gauge
	limitLongest    prometheus.Gauge
	deadLetters     *prometheus.CounterVec
	purged          *prometheus.CounterVec
	archived        *prometheus.CounterVec
	shed            *prometheus.CounterVec
	storeBytes      *prometheus.GaugeVec
	diskBytes       *prometheus.GaugeVec
	storeLevel      prometheus.Gauge
	etcdMembers     *EtcdMembers
	timerLateness   prometheus.Histogram
	lateShards      *prometheus.GaugeVec
	lateOldest      *prometheus.GaugeVec

	httpRequests *prometheus.CounterVec
	httpSeconds  *prometheus.HistogramVec
	streams      prometheus.Gauge
	streamsEnded *prometheus.CounterVec

	webhookRequests *prometheus.CounterVec
	webhookGivenUp  prometheus.Counter
	webhookLate     prometheus.Gauge

	etcdRequests *prometheus.CounterVec

	etcdBatches        *prometheus.HistogramVec
	etcdBatchesRefused *prometheus.CounterVec
}

// Buckets in seconds and bytes. They reach from an uncontended answer of a
// local etcd to the longest wait that the defaults allow (session TTL 10 s,
// drain 30 s), so that no alert threshold falls outside.
var (
	waitBuckets  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	holdBuckets  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	lateBuckets  = []float64{.01, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300}
	batchBuckets = []float64{1, 2, 4, 8, 16, 32, 64, 128}
	bytesBuckets = []float64{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20, 1536 << 10}
)

// New makes the collectors of one node and registers them with reg: all of
// them, or none and an error, as when reg has some of them already.
func New(reg prometheus.Registerer) (*Metrics, error) { //nolint:funlen // all names, helps and labels in one list, as the page has them
	var b builder
	scope := label{"scope", knownScopes}
	m := &Metrics{
		lockAcquisitions: b.counterVec("lock_acquisitions_total",
			"Attempts to take a lock, by how they ended: acquired; refused, held elsewhere until the wait was over; failed, with an error.",
			scope, label{"outcome", knownLockOutcomes}),
		lockContention: b.counterVec("lock_contention_total",
			"Attempts to take a lock that found it held.", scope),
		lockWait: b.histogramVec("lock_wait_seconds",
			"Time from asking for a lock to having it.", waitBuckets, scope),
		lockHold: b.histogramVec("lock_hold_seconds",
			"Time from having a lock to its release or loss.", holdBuckets, scope),
		locksHeld: b.gaugeVec("locks_held",
			"Locks that this node holds now.", scope),
		locksLost: b.counterVec("locks_lost_total",
			"Locks that ended with their session and not by a release.", scope),
		lockRetries: b.counterVec("lock_retries_total",
			"Repeated attempts to take a lock after an error that passes by itself.",
			scope, label{"reason", knownRetryReasons}),
		lockRetriesExhausted: b.counterVec("lock_retries_exhausted_total",
			"Acquisitions of a lock that were given up after the last retry.", scope),
		lockReleaseFailures: b.counterVec("lock_release_failures_total",
			"Releases of a lock that failed; the end of the lease frees it.", scope),
		lockOrphansRemoved: b.counter("lock_orphans_removed_total",
			"Lock keys on this node's own lease that nobody here held and that were removed."),

		commits: b.counterVec("commits_total",
			"Commits of bursts, by outcome. A breach must never happen.",
			label{"outcome", knownCommitOutcomes}),
		commitSeconds: b.histogram("commit_seconds",
			"Time from sending a commit to its definite outcome.", waitBuckets),
		commitBytes: b.histogram("commit_bytes",
			"Size of the transaction of a commit.", bytesBuckets),
		commitCommands: b.histogram("commit_commands",
			"Commands that a commit which took effect consumed: 1 is a commit for one command alone.", batchBuckets),
		lateDurability: b.counter("late_durability_total",
			"Direct deliveries whose cause was made durable before the burst ended, because the deadline, one second or a drain came first."),

		refreshes: b.counterVec("definition_refresh_total",
			"Refreshes (triggers indexed again) and reloads (definitions read from their sources again), by outcome.",
			label{"target", knownRefreshTargets}, label{"outcome", knownRefreshOutcomes}),
		refreshSeconds: b.histogram("definition_refresh_seconds",
			"Time that a refresh or reload took on the node that did it.", waitBuckets),

		sessionsLost: b.counter("sessions_lost_total",
			"Sessions with etcd that this node lost."),
		nodes: b.gauge("nodes",
			"Live nodes of the cluster, as this node sees them."),
		nodeInfo: b.gaugeVec("node_info",
			"Always 1: the id and the version of this node.",
			label{name: "node"}, label{name: "version"}),
		draining: b.gauge("draining",
			"1 while this node drains, else 0."),
		certificates: b.expiries("certificate_expiry_timestamp_seconds",
			"When the certificate ends that the next connection will be made with, in Unix time: api is what the node serves, etcd what it shows to etcd. A node without the one or the other does not show it.",
			"certificate"),
		Condition: b.condition(),

		definitions: b.definitions(),
		bursts: b.counter("bursts_total",
			"Bursts that this node ran."),
		burstSeconds: b.histogram("burst_seconds",
			"Time of a burst, from the loaded instance to the result.", holdBuckets),
		scripts: b.scripts(),
		activities: b.counterVec("activities_total",
			"Executed activities, by registered type and outcome.",
			label{name: "type"}, label{name: "outcome"}),
		takeovers: b.counter("takeovers_total",
			"Commands that this node found in the mailbox of an instance that nobody worked, as after a node's death, and began."),
		suspects: b.counter("suspects_total",
			"Commands that this node began though the next death makes them poison; it ran one at a time."),
		unreadable: b.counter("unreadable_records_total",
			"Records that this node left alone because its program cannot read all of them, each time it met one."),
		working: b.gauge("work_bursts",
			"Bursts that this node runs: at work, or waiting for the outside."),
		long: b.gauge("work_long_instances",
			"Instances that this node works whose command has run more activities than --max-burst-activities without a wait: they pause in between, and perhaps never end."),
		workingBytes: b.gauge("work_bytes",
			"Bytes of memory that this node's bursts work on, as estimated from the sizes of their instances and commands."),
		loads: b.counterVec("instance_loads_total",
			"Instances that this node took to work them, by where they came from: idle, it had them in memory as they are in etcd, ready to go on; moved, another node has written them since; read, it did not have them, or has to decode them, as they read a secret.",
			label{"from", knownLoadSources}),
		savesJoined: b.counter("saves_joined_total",
			"Saves around an activity that were made with a later one, in one commit, as nothing between them has an effect outside."),
		unlockedResumes: b.counterVec("unlocked_resumes_total",
			"Resumes that this node began without the lock of their instance: committed without it; locked, it was taken before an effect outside, or as the commit needed it; held, another had it, and the command went into the mailbox.",
			label{"outcome", knownResumes}),
		idleBytes: b.gauge("idle_bytes",
			"Bytes of memory that instances take which this node committed last and nobody works now, as estimated from their sizes."),
		waiting: b.gaugeVec("work_waiting_instances",
			"Instances whose mailbox waits for a place on this node, by what is full: the bursts of their definition, the memory that it may have, or the quarantine, which has one command that the next death makes poison.",
			label{"full", knownFull}),
		setAside: b.gauge("not_runnable_instances",
			"Instances with work in their mailbox that the program of this node cannot run or read, and leaves to others."),
		mailboxOldest: b.gauge("mailbox_oldest_seconds",
			"Age of the oldest command that waits in a mailbox; 0 when none waits."),
		queueDepth: b.gauge("queue_depth",
			"Stimuli in the bookmark queue."),
		clusterAge: b.gauge("cluster_age_seconds",
			"How long nodes have counted the cluster to live, as this one knows; what is kept for a time goes by it."),
		balance: b.gauge("balance_difference",
			"Accepted work that went without a reason, as the node counts that does it for all; 0 on the others."),
		queueOldest: b.gauge("queue_oldest_seconds",
			"Age of the oldest stimulus in the bookmark queue; 0 when it is empty."),
		gated: b.counterVec("gated_total",
			"Starts that met a gate which an instance held: of events, which wait in the queue then, and of schedules, of which the occurrence starts nothing.",
			label{"start", knownGated}),
		limitTaken:   b.gauge("limit_places_taken", "Places of limits that instances have, of all limits; of the node that sweeps them."),
		limitWaiting: b.gauge("limit_waiting", "Instances' activities that wait for a place of a limit; of the node that sweeps them."),
		limitLongest: b.gauge("limit_longest_wait_seconds", "How long the one has waited that waits longest for a place of a limit; of the node that sweeps them."),
		gatedWaiting: b.gauge("gated_events",
			"Events that wait in the queue until nobody holds the gate of their start."),
		deadLetters: b.counterVec("dead_letters_total",
			"Stimuli and commands that became dead letters, by reason.",
			label{"reason", knownDeadLetters}),
		purged: b.counterVec("purged_total",
			"What this node deleted because it was kept long enough or there was too much of it: finished instances with their journals, dead letters, expired idempotency records, answers to callers' Idempotency-Keys of which there were too many, and versions of definitions that nothing needed.",
			label{"kind", knownPurged}),
		archived: b.counterVec("archived_total",
			"Finished instances that this node was to put into the archive: kept there; or failed, so that they stay in etcd and are tried again.",
			label{"result", knownArchived}),
		shed: b.counterVec("shed_total",
			"Calls that this node refused to protect what it has, by what they wanted and why: etcd is nearly full, the session's lease is renewed late, too many requests are in flight or wait, too many streams are open, their bodies fill the memory that they may have, or there are too many connections.",
			label{"wanted", knownShed}, label{"reason", knownShedReasons}),
		storeBytes: b.gaugeVec("store_bytes",
			"Size of etcd's database, of its fullest member: in use, allocated, and the quota on what is allocated.",
			label{"part", knownStoreParts}),
		etcdMembers: b.etcdMembers(),
		storeLevel: b.gauge("store_level",
			"0 while etcd and its disk have room, 1 while starts are refused, 2 while only what ends or deletes instances runs, 3 while the disk of an embedded etcd is full and nothing is taken that writes."),
		diskBytes: b.gaugeVec("disk_bytes",
			"Of the disk that has the data of an embedded etcd: what is free, and its size. Without one, or where the system does not tell, there are none.",
			label{"part", knownDiskParts}),
		timerLateness: b.histogram("timer_lateness_seconds",
			"Time from when a timer or a schedule was due to when the burst began in which it took effect.", lateBuckets),
		lateShards: b.gaugeVec("timer_shards_late",
			"Shards, of 16, whose oldest timer, occurrence of a schedule, or lease of a task has been due for 30 s and more and has not fired, as this node saw it last.",
			label{"kind", knownDue}),
		lateOldest: b.gaugeVec("timer_oldest_late_seconds",
			"For how long the oldest timer, occurrence of a schedule, or lease of a task, of all shards has been due that has not fired, as this node saw it last; 0 if none is due.",
			label{"kind", knownDue}),

		httpRequests: b.counterVec("http_requests_total",
			"Answered HTTP requests, by route pattern, method and status code.",
			label{name: "route"}, label{name: "method"}, label{name: "code"}),
		httpSeconds: b.histogramVec("http_request_seconds",
			"Time of an HTTP request, by route pattern and method.", holdBuckets,
			label{name: "route"}, label{name: "method"}),
		streams: b.gauge("streams",
			"Streams of events that clients of this node listen to now."),
		streamsEnded: b.counterVec("streams_ended_total",
			"Streams of events that ended, by who ended them: client, it closed; slow, it did not read; drain; credentials, those of the client ended; failed, the node could not go on.",
			label{"end", knownStreamEnds}),
		webhookRequests: b.counterVec("webhook_requests_total",
			"Requests of webhooks, by what became of them: taken, the receiver answered 2xx; refused, it answered something else; failed, there was no answer.",
			label{"outcome", knownWebhookOutcomes}),
		webhookGivenUp: b.counter("webhook_events_given_up_total",
			"Events of webhooks that their receivers did not take within a day. They are kept until somebody tries them again or forgets them."),
		webhookLate: b.gauge("webhook_oldest_seconds",
			"Age of the oldest event that a receiver has not taken, of the webhooks that this node tells; 0 if there is none."),
		etcdRequests: b.counterVec("etcd_requests_total",
			"Requests that this node's store sent to etcd: range, which reads only, and txn, which may write.",
			label{"op", knownOps}),
		etcdBatches: b.histogramVec("etcd_batch_size",
			"Requests that shared one proposal to etcd; 1 is a request that went alone. Without group commit nothing is observed.",
			batchBuckets, label{"kind", knownBatchKinds}),
		etcdBatchesRefused: b.counterVec("etcd_batches_refused_total",
			"Shared proposals that etcd refused; their requests were sent again one by one.",
			label{"kind", knownBatchKinds}),
	}
	m.families = b.families
	m.diskBytes.Reset() // none where nobody knows it: 0 bytes free are an alert
	if err := b.register(reg); err != nil {
		return nil, err
	}
	return m, nil
}

// LockAcquired counts a lock that was taken after wait. Exactly one
// [Metrics.LockReleased] or [Metrics.LockLost] must follow. trace is as for
// [Metrics.Burst].
func (m *Metrics) LockAcquired(scope Scope, wait time.Duration, trace string) {
	if m == nil {
		return
	}
	m.lockAcquisitions.WithLabelValues(string(scope), lockAcquired).Inc()
	observe(m.lockWait.WithLabelValues(string(scope)), wait.Seconds(), trace)
	m.locksHeld.WithLabelValues(string(scope)).Inc()
}

// LockRefused counts an attempt that ended because another held the lock.
func (m *Metrics) LockRefused(scope Scope) {
	if m == nil {
		return
	}
	m.lockAcquisitions.WithLabelValues(string(scope), lockRefused).Inc()
}

// LockAcquireFailed counts an attempt that ended with an error.
func (m *Metrics) LockAcquireFailed(scope Scope) {
	if m == nil {
		return
	}
	m.lockAcquisitions.WithLabelValues(string(scope), lockFailed).Inc()
}

// LockContended counts an attempt that found the lock held, also if it gets
// the lock in the end. Call it at most once an attempt.
func (m *Metrics) LockContended(scope Scope) {
	if m == nil {
		return
	}
	m.lockContention.WithLabelValues(string(scope)).Inc()
}

// LockReleased counts the end of a held lock by its release, also when the
// release failed and the lease has to end it.
func (m *Metrics) LockReleased(scope Scope, held time.Duration) {
	if m == nil {
		return
	}
	m.lockEnded(scope, held)
}

// LockLost counts the end of a held lock by the end of its session.
func (m *Metrics) LockLost(scope Scope, held time.Duration) {
	if m == nil {
		return
	}
	m.lockEnded(scope, held)
	m.locksLost.WithLabelValues(string(scope)).Inc()
}

func (m *Metrics) lockEnded(scope Scope, held time.Duration) {
	m.lockHold.WithLabelValues(string(scope)).Observe(held.Seconds())
	m.locksHeld.WithLabelValues(string(scope)).Dec()
}

// LockRetry counts a repeated attempt to take a lock.
func (m *Metrics) LockRetry(scope Scope, reason RetryReason) {
	if m == nil {
		return
	}
	m.lockRetries.WithLabelValues(string(scope), string(reason)).Inc()
}

// LockRetriesExhausted counts an acquisition that was given up after the last
// retry.
func (m *Metrics) LockRetriesExhausted(scope Scope) {
	if m == nil {
		return
	}
	m.lockRetriesExhausted.WithLabelValues(string(scope)).Inc()
}

// LockReleaseFailed counts a release that etcd did not confirm.
func (m *Metrics) LockReleaseFailed(scope Scope) {
	if m == nil {
		return
	}
	m.lockReleaseFailures.WithLabelValues(string(scope)).Inc()
}

// LockOrphanRemoved counts a lock key of our own lease that nobody here held
// and that the janitor removed.
func (m *Metrics) LockOrphanRemoved() {
	if m == nil {
		return
	}
	m.lockOrphansRemoved.Inc()
}

// SessionLost counts the loss of this node's session.
func (m *Metrics) SessionLost() {
	if m == nil {
		return
	}
	m.sessionsLost.Inc()
}

// SetNodes says how many live nodes this node sees.
func (m *Metrics) SetNodes(n int) {
	if m == nil {
		return
	}
	m.nodes.Set(float64(n))
}

// SetNodeInfo says which node this is. What was said before is gone.
func (m *Metrics) SetNodeInfo(node, version string) {
	if m == nil {
		return
	}
	m.nodeInfo.Reset()
	m.nodeInfo.WithLabelValues(node, version).Set(1)
}

// SetDraining says whether this node drains.
func (m *Metrics) SetDraining(draining bool) {
	if m == nil {
		return
	}
	m.draining.Set(oneIf(draining))
}

// Commit counts a commit whose outcome is definite: took is the time from the
// first sending to that, bytes the size of the transaction, 0 if it was never
// built. trace is as for [Metrics.Burst].
func (m *Metrics) Commit(outcome CommitOutcome, took time.Duration, bytes int, trace string) {
	if m == nil {
		return
	}
	m.commits.WithLabelValues(string(outcome)).Inc()
	observe(m.commitSeconds, took.Seconds(), trace)
	if bytes > 0 {
		observe(m.commitBytes, float64(bytes), trace)
	}
}

// CommitCommands observes how many commands a commit consumed that took effect.
func (m *Metrics) CommitCommands(n int) {
	if m == nil {
		return
	}
	m.commitCommands.Observe(float64(n))
}

// SavesJoined counts saves of a commit that took effect which were made with a later one.
func (m *Metrics) SavesJoined(n int) {
	if m == nil {
		return
	}
	m.savesJoined.Add(float64(n))
}

// LateDurability counts a direct delivery whose cause had to be made durable
// before its burst ended.
func (m *Metrics) LateDurability() {
	if m == nil {
		return
	}
	m.lateDurability.Inc()
}

// Refresh counts a refresh or reload. The time of one that another is doing
// already is not observed: it would hide how long the work takes.
func (m *Metrics) Refresh(target RefreshTarget, outcome RefreshOutcome, took time.Duration) {
	if m == nil {
		return
	}
	m.refreshes.WithLabelValues(string(target), string(outcome)).Inc()
	if outcome != RefreshAlreadyInProgress {
		m.refreshSeconds.Observe(took.Seconds())
	}
}

// Burst counts a burst and its time. trace is the id of the trace that shows it,
// which becomes the exemplar of the bucket; "" if it is not sampled.
func (m *Metrics) Burst(took time.Duration, trace string) {
	if m == nil {
		return
	}
	m.bursts.Inc()
	observe(m.burstSeconds, took.Seconds(), trace)
}

// Activity counts an executed activity. The type must be that of a registered
// activity, not text from a definition: it becomes a label.
func (m *Metrics) Activity(typ, outcome string) {
	if m == nil {
		return
	}
	m.activities.WithLabelValues(typ, outcome).Inc()
}

// Takeover counts a command that this node found in the mailbox of an instance that
// nobody worked, and began.
func (m *Metrics) Takeover() {
	if m == nil {
		return
	}
	m.takeovers.Inc()
}

// Suspect counts a command that this node begins though it becomes poison if the
// process ends with it.
func (m *Metrics) Suspect() {
	if m == nil {
		return
	}
	m.suspects.Inc()
}

// SetQueue says how many stimuli are in the bookmark queue and how old the
// oldest is.
func (m *Metrics) SetQueue(depth int, oldest time.Duration) {
	if m == nil {
		return
	}
	m.queueDepth.Set(float64(depth))
	m.queueOldest.Set(oldest.Seconds())
}

// SetBalanceDifference says how much of what was accepted is neither applied nor there.
func (m *Metrics) SetBalanceDifference(n int64) {
	if m != nil {
		m.balance.Set(float64(n))
	}
}

// SetAge says how old the cluster is, as its nodes have counted it.
func (m *Metrics) SetAge(age time.Duration) {
	if m != nil {
		m.clusterAge.Set(age.Seconds())
	}
}

// Gated counts starts that met a held gate.
func (m *Metrics) Gated(what GatedWhat, n int) {
	if m == nil {
		return
	}
	m.gated.WithLabelValues(string(what)).Add(float64(n))
}

// SetGated says how many events wait behind held gates.
func (m *Metrics) SetGated(n int) {
	if m == nil {
		return
	}
	m.gatedWaiting.Set(float64(n))
}

// Unreadable counts a record that this program cannot read whole, and leaves.
func (m *Metrics) Unreadable() {
	if m == nil {
		return
	}
	m.unreadable.Inc()
}

// SetNotRunnable says of how many instances the mailbox holds work that this
// node's program cannot run.
func (m *Metrics) SetNotRunnable(instances int) {
	if m == nil {
		return
	}
	m.setAside.Set(float64(instances))
}

// SetCrowd says how full the node is: bursts and the bytes that they work on, and
// the instances that wait for a place among those of their definition, for memory, or
// for the quarantine.
func (m *Metrics) SetCrowd(bursts int, bytes int64, definition, memory, quarantine int) {
	if m == nil {
		return
	}
	m.working.Set(float64(bursts))
	m.workingBytes.Set(float64(bytes))
	m.waiting.WithLabelValues(fullDefinition).Set(float64(definition))
	m.waiting.WithLabelValues(fullMemory).Set(float64(memory))
	m.waiting.WithLabelValues(fullQuarantine).Set(float64(quarantine))
}

// SetLong says how many instances this node works whose command runs for long without a wait.
func SetLong(m *Metrics, instances int) {
	if m == nil {
		return
	}
	m.long.Set(float64(instances))
}

// Load counts an instance that was taken to be worked.
func (m *Metrics) Load(from LoadSource) {
	if m == nil {
		return
	}
	m.loads.WithLabelValues(string(from)).Inc()
}

// UnlockedResume counts a resume that began without the lock of its instance.
func (m *Metrics) UnlockedResume(outcome ResumeOutcome) {
	if m == nil {
		return
	}
	m.unlockedResumes.WithLabelValues(string(outcome)).Inc()
}

// SetIdle says how many bytes idle instances take.
func (m *Metrics) SetIdle(bytes int64) {
	if m == nil {
		return
	}
	m.idleBytes.Set(float64(bytes))
}

// SetMailboxOldest says how old the oldest command in a mailbox is; 0 when
// none waits.
func (m *Metrics) SetMailboxOldest(age time.Duration) {
	if m == nil {
		return
	}
	m.mailboxOldest.Set(age.Seconds())
}

// DeadLetter counts a new dead letter.
func (m *Metrics) DeadLetter(reason workflow.DeadReason) {
	if m == nil {
		return
	}
	m.deadLetters.WithLabelValues(string(reason)).Inc()
}

// Purged counts what retention deleted.
func (m *Metrics) Purged(kind PurgedKind, n int) {
	if m == nil {
		return
	}
	m.purged.WithLabelValues(string(kind)).Add(float64(n))
}

// Archived counts instances that were to be archived.
func (m *Metrics) Archived(result ArchiveResult, n int) {
	if m == nil {
		return
	}
	m.archived.WithLabelValues(string(result)).Add(float64(n))
}

// Shed counts a call that was refused to protect what the node has.
func (m *Metrics) Shed(wanted ShedWanted, reason ShedReason) {
	if m == nil {
		return
	}
	m.shed.WithLabelValues(string(wanted), string(reason)).Inc()
}

// SetStore says how large etcd's database is, in bytes, and how full that makes it.
func (m *Metrics) SetStore(inUse, allocated, quota int64, level int) {
	if m == nil {
		return
	}
	m.storeBytes.WithLabelValues(storeInUse).Set(float64(inUse))
	m.storeBytes.WithLabelValues(storeAllocated).Set(float64(allocated))
	m.storeBytes.WithLabelValues(storeQuota).Set(float64(quota))
	m.storeLevel.Set(float64(level))
}

// DiskSpace says how much of the disk of an embedded etcd is free, and how large it is; 0: that is not known.
func DiskSpace(m *Metrics, free, size int64) {
	if m == nil || size == 0 {
		return
	}
	m.diskBytes.WithLabelValues(diskFree).Set(float64(free))
	m.diskBytes.WithLabelValues(diskSize).Set(float64(size))
}

// TimerLateness observes how long after its due time what a timer sent took effect.
func (m *Metrics) TimerLateness(late time.Duration) {
	if m == nil {
		return
	}
	m.timerLateness.Observe(late.Seconds())
}

// DueLate says of timers or schedules in how many shards the oldest has been due for long, and for how long the oldest
// of all has been.
func DueLate(m *Metrics, kind Due, shards int, oldest time.Duration) {
	if m == nil {
		return
	}
	m.lateShards.WithLabelValues(string(kind)).Set(float64(shards))
	m.lateOldest.WithLabelValues(string(kind)).Set(max(0, oldest.Seconds()))
}

// StreamOpened counts a stream that a client listens to. Exactly one
// [Metrics.StreamEnded] must follow.
func (m *Metrics) StreamOpened() {
	if m == nil {
		return
	}
	m.streams.Inc()
}

// StreamEnded counts the end of a stream.
func (m *Metrics) StreamEnded(end StreamEnd) {
	if m == nil {
		return
	}
	m.streams.Dec()
	m.streamsEnded.WithLabelValues(string(end)).Inc()
}

// WebhookRequest counts one request of a webhook.
func (m *Metrics) WebhookRequest(outcome WebhookOutcome) {
	if m != nil {
		m.webhookRequests.WithLabelValues(string(outcome)).Inc()
	}
}

// WebhookGivenUp counts events that no receiver took in time.
func (m *Metrics) WebhookGivenUp(events int) {
	if m != nil {
		m.webhookGivenUp.Add(float64(events))
	}
}

// SetWebhooksLate says how old the oldest event is that was not taken.
func (m *Metrics) SetWebhooksLate(d time.Duration) {
	if m != nil {
		m.webhookLate.Set(d.Seconds())
	}
}

// HTTPRequest counts an answered request. The route must be the pattern that
// matched, never the path; an empty one is counted as "unmatched". trace is as for
// [Metrics.Burst].
func (m *Metrics) HTTPRequest(route, method string, code int, took time.Duration, trace string) {
	if m == nil {
		return
	}
	if route == "" {
		route = "unmatched"
	}
	method = knownMethod(method)
	m.httpRequests.WithLabelValues(route, method, strconv.Itoa(code)).Inc()
	observe(m.httpSeconds.WithLabelValues(route, method), took.Seconds(), trace)
}

// EtcdRequest counts a request to etcd.
func (m *Metrics) EtcdRequest(op Op) {
	if m == nil {
		return
	}
	m.etcdRequests.WithLabelValues(string(op)).Inc()
}

// observe adds a value to a histogram, with the trace that shows it as exemplar.
func observe(h prometheus.Observer, v float64, trace string) {
	if e, ok := h.(prometheus.ExemplarObserver); ok && trace != "" {
		e.ObserveWithExemplar(v, prometheus.Labels{exemplarLabel: trace})
		return
	}
	h.Observe(v)
}

// exemplarLabel is the name that OpenTelemetry and Grafana expect.
const exemplarLabel = "trace_id"

// knownMethod folds what a client may have made up: a method is any token.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	default:
		return "other"
	}
}
