package metrics_test

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// contract is what dashboards and alerts rely on: every family and its labels.
// The first part is what was promised at first, the second is what came with
// reasons of its own. docs/metrics.md has both. A change here is a change for those who operate Weft.
var contract = map[string][]string{
	"weft_lock_acquisitions_total":      {"outcome", "scope"},
	"weft_lock_contention_total":        {"scope"},
	"weft_lock_wait_seconds":            {"scope"},
	"weft_lock_hold_seconds":            {"scope"},
	"weft_locks_held":                   {"scope"},
	"weft_lock_retries_total":           {"reason", "scope"},
	"weft_lock_retries_exhausted_total": {"scope"},
	"weft_lock_release_failures_total":  {"scope"},
	"weft_lock_orphans_removed_total":   nil,
	"weft_commits_total":                {"outcome"},
	"weft_commit_seconds":               nil,
	"weft_commit_bytes":                 nil,
	"weft_definition_refresh_total":     {"outcome", "target"},
	"weft_definition_refresh_seconds":   nil,
	"weft_sessions_lost_total":          nil,
	"weft_etcd_member_answers":          {"member"}, // by endpoint: with how many members down would the cluster stop
	"weft_etcd_member_left_out_total":   {"member", "reason"},
	"weft_nodes":                        nil,
	"weft_node_info":                    {"node", "version"},
	"weft_draining":                     nil,
	"weft_ready":                        nil,
	"weft_session":                      nil,
	"weft_file_unread":                  {"file"},
	"weft_instances_started_total":      {"definition"},
	"weft_instances_finished_total":     {"definition", "sub_status"},
	"weft_bursts_total":                 nil,
	"weft_burst_seconds":                nil,
	"weft_activities_total":             {"outcome", "type"},
	"weft_mailbox_oldest_seconds":       nil,
	"weft_not_runnable_instances":       nil,
	"weft_unreadable_records_total":     nil,
	"weft_work_bursts":                  nil,
	"weft_work_bytes":                   nil,
	"weft_work_long_instances":          nil,
	"weft_work_waiting_instances":       {"full"},
	"weft_queue_depth":                  nil,
	"weft_cluster_age_seconds":          nil,
	"weft_queue_oldest_seconds":         nil,
	"weft_gated_total":                  {"start"},
	"weft_gated_events":                 nil,
	"weft_limit_places_taken":           nil,
	"weft_limit_waiting":                nil,
	"weft_limit_longest_wait_seconds":   nil,
	"weft_dead_letters_total":           {"reason"},
	"weft_timer_lateness_seconds":       nil,
	"weft_timer_shards_late":            {"kind"},
	"weft_timer_oldest_late_seconds":    {"kind"},
	"weft_takeovers_total":              nil,
	"weft_suspects_total":               nil,
	"weft_http_requests_total":          {"code", "method", "route"},
	"weft_http_request_seconds":         {"method", "route"},

	// A lost lock is no failed release: alerts need it apart.
	"weft_locks_lost_total": {"scope"},
	// Whether scripts have too few processors, which is nobody's fault and seen nowhere else.
	"weft_scripts_waiting": nil, "weft_script_waits_total": nil, "weft_script_wait_seconds_total": nil,
	// How often a direct delivery cost more than two writes.
	"weft_late_durability_total":  nil,
	"weft_unlocked_resumes_total": {"outcome"}, // what a resume without the lock comes to
	"weft_instance_loads_total":   {"from"},    // what an instance that comes back to its node saves
	"weft_idle_bytes":             nil,         // and what that costs
	// Retention runs by itself, and what it does is seen nowhere else.
	"weft_purged_total":   {"kind"},
	"weft_archived_total": {"result"}, // an archive that is away is seen before etcd is full
	// What a node sheds on, from where it looks: etcd's own metrics are not in
	// everybody's Prometheus.
	"weft_shed_total": {"reason", "wanted"}, "weft_store_bytes": {"part"}, "weft_disk_bytes": {"part"}, "weft_store_level": nil,
	// Who listens for long is no request in flight, and is seen nowhere else.
	"weft_streams": nil, "weft_streams_ended_total": {"end"}, "weft_webhook_requests_total": {"outcome"}, "weft_webhook_events_given_up_total": nil, "weft_webhook_oldest_seconds": nil,
	// Whether the business goes on, and not only the machine.
	"weft_instance_lifetime_seconds": {"definition"}, "weft_instance_suspended_seconds": {"definition"},
	"weft_instances": {"definition", "sub_status"}, "weft_oldest_suspended_seconds": {"definition"},
	// Whether accepted work has vanished, which nothing else would tell.
	"weft_balance_difference": nil,
	// Whether commands share commits, which is what makes a busy instance fast.
	"weft_commit_commands": nil,
	// Whether saves are joined, which is what makes the option that saves after each activity cheap.
	"weft_saves_joined_total": nil,
	// What a burst costs etcd, for sizing.
	"weft_etcd_requests_total": {"op"},
	// Whether group commit pays: how many requests share a proposal.
	"weft_etcd_batch_size":            {"kind"},
	"weft_etcd_batches_refused_total": {"kind"},
}

func newMetrics(t *testing.T) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

// useAll calls every verb once.
func useAll(m *metrics.Metrics) {
	m.LockAcquired(metrics.ScopeInstance, time.Millisecond, "")
	m.LockAcquired(metrics.ScopeQueue, time.Millisecond, "")
	m.LockAcquired(metrics.ScopeRefresh, time.Millisecond, "")
	m.LockRefused(metrics.ScopeQueue)
	m.LockAcquireFailed(metrics.ScopeInstance)
	m.LockContended(metrics.ScopeInstance)
	m.LockReleased(metrics.ScopeInstance, time.Second)
	m.LockLost(metrics.ScopeQueue, 2*time.Second)
	m.LockRetry(metrics.ScopeInstance, metrics.RetryUnavailable)
	m.LockRetriesExhausted(metrics.ScopeInstance)
	m.LockReleaseFailed(metrics.ScopeInstance)
	m.LockOrphanRemoved()
	m.SessionLost()
	m.SetNodes(3)
	m.SetNodeInfo("a", "v0")
	metrics.DiskSpace(m, 1, 2)
	m.SetNodeInfo("b", "v1")
	m.SetDraining(true)
	metrics.EtcdMembersOf(m).Answers("10.0.0.1:2379", true)
	metrics.EtcdMembersOf(m).LeftOut("10.0.0.1:2379", metrics.EtcdMemberSilent)
	m.Condition.SetFileUnread(metrics.FileAuthKeys, true)
	m.Condition.Ask(func() (ready, session bool) { return false, true })
	m.Commit(metrics.CommitCommitted, time.Millisecond, 2048, "")
	m.Commit(metrics.CommitFenced, time.Millisecond, 0, "")
	m.CommitCommands(3)
	m.SavesJoined(2)
	m.LateDurability()
	m.Load(metrics.LoadIdle)
	m.UnlockedResume(metrics.ResumeCommitted)
	m.SetIdle(4096)
	m.Refresh(metrics.TargetRefresh, metrics.RefreshCompleted, time.Second)
	m.Refresh(metrics.TargetReload, metrics.RefreshAlreadyInProgress, time.Second)
	m.NameDefinitions(2)
	m.InstanceStarted("orders")
	m.InstanceFinished("orders", workflow.Faulted, time.Minute)
	m.InstanceWaited("orders", 30*time.Second)
	m.SetCensus(map[string]metrics.DefinitionCensus{"orders": {Instances: map[workflow.SubStatus]int64{workflow.Suspended: 4}, Oldest: time.Hour}})
	m.Burst(time.Millisecond, "")
	m.Activity("Elsa.WriteLine", "completed")
	m.Takeover()
	m.Suspect()
	m.SetQueue(7, 90*time.Second)
	m.SetAge(time.Minute)
	m.SetBalanceDifference(-2)
	m.Gated(metrics.GatedEvent, 2)
	m.Gated(metrics.GatedSchedule, 1)
	m.SetGated(2)
	metrics.Lines{Taken: 3, Waiting: 4, Longest: 5 * time.Second}.Tell(m)
	m.SetMailboxOldest(4 * time.Second)
	m.SetNotRunnable(3)
	m.ScriptWaits(func() (int, uint64, time.Duration) { return 2, 3, 1500 * time.Millisecond })
	m.Unreadable()
	m.SetCrowd(5, 1<<20, 2, 1, 3)
	metrics.SetLong(m, 2)
	m.DeadLetter(workflow.DeadExpired)
	m.TimerLateness(time.Millisecond)
	metrics.DueLate(m, metrics.DueTimers, 3, time.Minute)
	m.HTTPRequest("/api/v1/events/{name}", "POST", 202, time.Millisecond, "")
	m.StreamOpened()
	m.StreamOpened()
	m.StreamEnded(metrics.StreamSlow)
	m.WebhookRequest(metrics.WebhookRefused)
	m.WebhookGivenUp(3)
	m.SetWebhooksLate(90 * time.Second)
	m.HTTPRequest("", "BREW", 404, time.Millisecond, "")
	m.EtcdRequest(metrics.OpTxn)
	m.EtcdBatch(metrics.BatchWrites, 3)
	m.EtcdBatchRefused(metrics.BatchWrites)
}

func gather(t *testing.T, reg prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range families {
		out[f.GetName()] = f
	}
	return out
}

// values returns every series by its name, "name{label=value,...}" with the
// labels in alphabetical order; a histogram by its count.
func values(families map[string]*dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for name, f := range families {
		for _, s := range f.GetMetric() {
			var labels []string
			for _, l := range s.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			sort.Strings(labels)
			key := name
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			switch {
			case s.GetCounter() != nil:
				out[key] = s.GetCounter().GetValue()
			case s.GetGauge() != nil:
				out[key] = s.GetGauge().GetValue()
			default:
				out[key] = float64(s.GetHistogram().GetSampleCount())
			}
		}
	}
	return out
}

func TestNamesAndLabelsAreTheContract(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	useAll(m)
	got := gather(t, reg)
	for name, family := range got {
		want, ok := contract[name]
		if !ok {
			t.Errorf("%s is not in the contract: add it there and say why it exists", name)
			continue
		}
		for _, series := range family.GetMetric() {
			var labels []string
			for _, l := range series.GetLabel() {
				labels = append(labels, l.GetName())
			}
			slices.Sort(labels)
			if !slices.Equal(labels, want) {
				t.Errorf("%s has labels %v, want %v", name, labels, want)
			}
		}
	}
	for name := range contract {
		if got[name] == nil {
			t.Errorf("%s is missing although every verb was called", name)
		}
	}
}

func TestNamesFollowThePrometheusConventions(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	useAll(m)
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestVerbsMoveTheirSeries(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	useAll(m)
	got := values(gather(t, reg))
	for series, want := range map[string]float64{
		"weft_lock_acquisitions_total{outcome=acquired,scope=instance}":              1,
		"weft_lock_acquisitions_total{outcome=refused,scope=queue}":                  1,
		"weft_lock_acquisitions_total{outcome=failed,scope=instance}":                1,
		"weft_lock_contention_total{scope=instance}":                                 1,
		"weft_lock_wait_seconds{scope=instance}":                                     1,
		"weft_lock_hold_seconds{scope=instance}":                                     1,
		"weft_lock_hold_seconds{scope=queue}":                                        1,
		"weft_locks_held{scope=instance}":                                            0,
		"weft_locks_held{scope=queue}":                                               0,
		"weft_locks_held{scope=refresh}":                                             1,
		"weft_locks_lost_total{scope=instance}":                                      0,
		"weft_locks_lost_total{scope=queue}":                                         1,
		"weft_lock_retries_total{reason=unavailable,scope=instance}":                 1,
		"weft_lock_retries_exhausted_total{scope=instance}":                          1,
		"weft_lock_release_failures_total{scope=instance}":                           1,
		"weft_lock_orphans_removed_total":                                            1,
		"weft_commits_total{outcome=committed}":                                      1,
		"weft_commits_total{outcome=fenced}":                                         1,
		"weft_commit_seconds":                                                        2,
		"weft_commit_bytes":                                                          1,
		"weft_late_durability_total":                                                 1,
		"weft_saves_joined_total":                                                    2,
		"weft_definition_refresh_total{outcome=completed,target=refresh}":            1,
		"weft_definition_refresh_total{outcome=already_in_progress,target=reload}":   1,
		"weft_definition_refresh_seconds":                                            1,
		"weft_sessions_lost_total":                                                   1,
		"weft_nodes":                                                                 3,
		"weft_node_info{node=b,version=v1}":                                          1,
		"weft_draining":                                                              1,
		"weft_ready":                                                                 0,
		"weft_session":                                                               1,
		"weft_file_unread{file=auth-keys-file}":                                      1,
		"weft_file_unread{file=secrets-dir}":                                         0,
		"weft_instances_started_total{definition=orders}":                            1,
		"weft_instances_finished_total{definition=orders,sub_status=Faulted}":        1,
		"weft_instances_finished_total{definition=orders,sub_status=Finished}":       0,
		"weft_instance_lifetime_seconds{definition=orders}":                          1,
		"weft_instance_suspended_seconds{definition=orders}":                         1,
		"weft_instances{definition=orders,sub_status=Suspended}":                     4,
		"weft_oldest_suspended_seconds{definition=orders}":                           3600,
		"weft_bursts_total":                                                          1,
		"weft_burst_seconds":                                                         1,
		"weft_activities_total{outcome=completed,type=Elsa.WriteLine}":               1,
		"weft_takeovers_total":                                                       1,
		"weft_suspects_total":                                                        1,
		"weft_queue_depth":                                                           7,
		"weft_cluster_age_seconds":                                                   60,
		"weft_balance_difference":                                                    -2,
		"weft_queue_oldest_seconds":                                                  90,
		"weft_gated_total{start=event}":                                              2,
		"weft_gated_total{start=schedule}":                                           1,
		"weft_gated_events":                                                          2,
		"weft_limit_places_taken":                                                    3,
		"weft_limit_waiting":                                                         4,
		"weft_limit_longest_wait_seconds":                                            5,
		"weft_mailbox_oldest_seconds":                                                4,
		"weft_unreadable_records_total":                                              1,
		"weft_not_runnable_instances":                                                3,
		"weft_scripts_waiting":                                                       2,
		"weft_script_waits_total":                                                    3,
		"weft_script_wait_seconds_total":                                             1.5,
		"weft_work_bursts":                                                           5,
		"weft_work_bytes":                                                            1 << 20,
		"weft_work_long_instances":                                                   2,
		"weft_work_waiting_instances{full=definition}":                               2,
		"weft_work_waiting_instances{full=memory}":                                   1,
		"weft_work_waiting_instances{full=quarantine}":                               3,
		"weft_dead_letters_total{reason=expired}":                                    1,
		"weft_timer_lateness_seconds":                                                1,
		"weft_timer_shards_late{kind=timers}":                                        3,
		"weft_timer_oldest_late_seconds{kind=timers}":                                60,
		"weft_http_requests_total{code=202,method=POST,route=/api/v1/events/{name}}": 1,
		"weft_http_request_seconds{method=POST,route=/api/v1/events/{name}}":         1,
		"weft_http_requests_total{code=404,method=other,route=unmatched}":            1,
		"weft_streams":                                                               1,
		"weft_streams_ended_total{end=slow}":                                         1,
		"weft_webhook_requests_total{outcome=refused}":                               1,
		"weft_webhook_events_given_up_total":                                         3,
		"weft_webhook_oldest_seconds":                                                90,
		"weft_etcd_requests_total{op=txn}":                                           1,
		"weft_etcd_batch_size{kind=writes}":                                          1,
		"weft_etcd_batches_refused_total{kind=writes}":                               1,
	} {
		if v, ok := got[series]; !ok || v != want {
			t.Errorf("%s = %v (there: %t), want %v", series, v, ok, want)
		}
	}
	if _, ok := got["weft_node_info{node=a,version=v0}"]; ok {
		t.Error("the node info that was replaced is still there")
	}
	m.SetDraining(false)
	if got := values(gather(t, reg))["weft_draining"]; got != 0 {
		t.Errorf("draining = %v after it ended", got)
	}
}

func TestKnownSeriesExistAtZeroFromTheStart(t *testing.T) {
	t.Parallel()
	_, reg := newMetrics(t)
	got := values(gather(t, reg))
	for series, v := range got {
		if v != 0 {
			t.Errorf("%s = %v before anything happened", series, v)
		}
	}
	// Only what depends on this node, its etcd, its activities and its routes is not
	// known beforehand.
	unknown := map[string]bool{
		"weft_node_info": true, "weft_activities_total": true,
		"weft_http_requests_total": true, "weft_http_request_seconds": true,
		"weft_instances": true, "weft_oldest_suspended_seconds": true,
		"weft_disk_bytes":          true, // WeftDiskFills takes a 0 for what it says
		"weft_etcd_member_answers": true, "weft_etcd_member_left_out_total": true,
	}
	families := gather(t, reg)
	for name := range contract {
		if unknown[name] == (families[name] != nil) {
			t.Errorf("%s exists at start: %t, want %t", name, families[name] != nil, !unknown[name])
		}
	}
	for _, outcome := range []string{"committed", "resolved", "fenced", "abandoned", "kept_lock", "conflict", "breach"} {
		if _, ok := got["weft_commits_total{outcome="+outcome+"}"]; !ok {
			t.Errorf("commits_total has no %s", outcome)
		}
	}
	for _, target := range []string{"refresh", "reload"} {
		for _, outcome := range []string{"completed", "already_in_progress", "failed"} {
			if _, ok := got["weft_definition_refresh_total{outcome="+outcome+",target="+target+"}"]; !ok {
				t.Errorf("definition_refresh_total has no %s of %s", outcome, target)
			}
		}
	}
}

func TestNilMetricsMeasureNothing(t *testing.T) {
	t.Parallel()
	// By reflection, so that a verb added tomorrow is called too.
	v := reflect.ValueOf((*metrics.Metrics)(nil))
	if v.NumMethod() == 0 {
		t.Fatal("no methods found")
	}
	for i := range v.NumMethod() {
		method := v.Type().Method(i)
		args := make([]reflect.Value, method.Type.NumIn()-1)
		for j := range args {
			args[j] = reflect.Zero(method.Type.In(j + 1))
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s on a nil *Metrics: %v", method.Name, r)
				}
			}()
			v.Method(i).Call(args)
		}()
	}
}

func TestTwoNodesInOneProcessDoNotShareSeries(t *testing.T) {
	t.Parallel()
	a, regA := newMetrics(t)
	b, regB := newMetrics(t)
	a.InstanceStarted("x")
	b.InstanceStarted("x")
	b.InstanceStarted("x")
	if got := values(gather(t, regA))["weft_instances_started_total{definition=x}"]; got != 1 {
		t.Errorf("first node counted %v", got)
	}
	if got := values(gather(t, regB))["weft_instances_started_total{definition=x}"]; got != 2 {
		t.Errorf("second node counted %v", got)
	}
}

func TestNewRegistersAllOrNothing(t *testing.T) {
	t.Parallel()
	if _, err := metrics.New(nil); err == nil {
		t.Error("New accepted no registerer")
	}
	reg := prometheus.NewPedanticRegistry()
	// In the way of one of the last collectors.
	reg.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "weft_etcd_requests_total", Help: "taken"}))
	_, err := metrics.New(reg)
	if err == nil || !strings.Contains(err.Error(), "weft_etcd_requests_total") {
		t.Fatalf("New beside a foreign collector of the same name: %v", err)
	}
	if got := gather(t, reg); len(got) != 1 {
		t.Errorf("%d families stayed registered after the error, want only the foreign one", len(got))
	}

	_, reg = newMetrics(t)
	if _, err := metrics.New(reg); err == nil {
		t.Error("New twice with one registry succeeded")
	}
}

// A histogram's bucket names the trace of its last sampled value; what is not
// sampled leaves the one before.
func TestHistogramsNameTheTraceOfAValue(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	m, reg := newMetrics(t)
	m.LockAcquired(metrics.ScopeInstance, time.Millisecond, trace)
	m.Commit(metrics.CommitCommitted, time.Millisecond, 2048, trace)
	m.Burst(time.Millisecond, trace)
	m.Burst(time.Millisecond, "")
	m.HTTPRequest("/x", "POST", 202, time.Millisecond, trace)
	m.TimerLateness(time.Millisecond)
	found := map[string]string{}
	for name, family := range gather(t, reg) {
		for _, s := range family.GetMetric() {
			for _, b := range s.GetHistogram().GetBucket() {
				for _, l := range b.GetExemplar().GetLabel() {
					found[name] = l.GetName() + "=" + l.GetValue()
				}
			}
		}
	}
	for _, name := range []string{"weft_lock_wait_seconds", "weft_commit_seconds", "weft_commit_bytes", "weft_burst_seconds", "weft_http_request_seconds"} {
		if found[name] != "trace_id="+trace {
			t.Errorf("%s has the exemplar %q", name, found[name])
		}
		delete(found, name)
	}
	if len(found) > 0 {
		t.Errorf("exemplars that nobody gave: %v", found)
	}
}

// Of definitions that a node meets together the largest have series of their own.
func TestTheLargestDefinitionsAreNamed(t *testing.T) {
	t.Parallel()
	census := map[string]metrics.DefinitionCensus{}
	for i := range 20 {
		n := map[workflow.SubStatus]int64{workflow.Suspended: int64(i / 2), workflow.Faulted: int64(i % 2)}
		census[fmt.Sprintf("d%02d", i)] = metrics.DefinitionCensus{Instances: n}
	}
	m, reg := newMetrics(t)
	m.NameDefinitions(2)
	m.SetCensus(census)
	got := values(gather(t, reg))
	for _, id := range []string{"d19", "d17"} { // 10 and 9; d18 has 9 too, and comes behind in the alphabet
		if _, ok := got["weft_instances{definition="+id+",sub_status=Suspended}"]; !ok {
			t.Errorf("%s has no series of its own", id)
		}
	}
}

// Definitions have their series before anything happens to them, if there are enough for all.
func TestKnownDefinitionsHaveSeriesAtZero(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	m.NameDefinitions(3)
	faulted := func(id string) (float64, bool) {
		n, ok := values(gather(t, reg))["weft_instances_finished_total{definition="+id+",sub_status=Faulted}"]
		return n, ok
	}
	m.KnowDefinitions([]string{"a", "b", "c", "d"})
	if _, ok := faulted("a"); ok {
		t.Error("some of too many have series")
	}
	m.InstanceFinished("b", workflow.Faulted, time.Second)
	m.KnowDefinitions([]string{"a", "b", "c"})
	m.KnowDefinitions([]string{"a", "b", "c"})
	for id, want := range map[string]float64{"a": 0, "b": 1, "c": 0} {
		if n, ok := faulted(id); !ok || n != want {
			t.Errorf("%s: %v, %v", id, n, ok)
		}
	}
	m.KnowDefinitions([]string{"e"})
	if _, ok := faulted("e"); ok {
		t.Error("there are more series than may be")
	}
}

// The label definition is bounded: the first have series of their own, those that come
// later share one.
func TestDefinitionsAreNamedUpToABound(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	m.NameDefinitions(2)
	census := map[string]metrics.DefinitionCensus{}
	for i := range 10 {
		id := string(rune('a' + i))
		m.InstanceStarted(id)
		m.InstanceFinished(id, workflow.Finished, -time.Second) // the clocks of two nodes
		census[id] = metrics.DefinitionCensus{Instances: map[workflow.SubStatus]int64{workflow.Suspended: int64(i)}, Oldest: time.Duration(i) * time.Second}
	}
	m.SetCensus(census)
	got := values(gather(t, reg))
	for series, want := range map[string]float64{
		"weft_instances_started_total{definition=a}":                          1,
		"weft_instances_started_total{definition=b}":                          1,
		"weft_instances_started_total{definition=other}":                      8,
		"weft_instances_finished_total{definition=other,sub_status=Finished}": 8,
		"weft_instances{definition=b,sub_status=Suspended}":                   1,
		"weft_instances{definition=other,sub_status=Suspended}":               44,
		"weft_oldest_suspended_seconds{definition=other}":                     9,
	} {
		if v, ok := got[series]; !ok || v != want {
			t.Errorf("%s = %v (there: %t), want %v", series, v, ok, want)
		}
	}
	if _, ok := got["weft_instances_started_total{definition=c}"]; ok {
		t.Error("there is a third definition")
	}
	delete(census, "a")
	m.SetCensus(census)
	if got := values(gather(t, reg)); got["weft_instances{definition=b,sub_status=Suspended}"] != 1 {
		t.Error("what was counted again is gone")
	} else if _, ok := got["weft_oldest_suspended_seconds{definition=a}"]; ok {
		t.Error("what is counted no more is still there")
	}
	m.SetCensus(nil) // another node counts
	for series := range values(gather(t, reg)) {
		if strings.HasPrefix(series, "weft_instances{") || strings.HasPrefix(series, "weft_oldest_suspended") {
			t.Errorf("%s is there, though another node counts", series)
		}
	}
}
