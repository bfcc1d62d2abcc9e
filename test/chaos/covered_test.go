package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// coverage counts what a run must have seen to prove anything, beside what the
// nodes' metrics count.
type coverage struct {
	queueRefused   atomic.Int64 // a stimulus was not queued, since a bookmark or a trigger had appeared
	keptForQueue   atomic.Int64 // a lock was not released, since a queued stimulus waited for a new bookmark
	keptForMail    atomic.Int64 // a lock was not released, since mail had come
	watchesDropped atomic.Int64
	revoked        atomic.Int64 // leases taken from live nodes
	killed         atomic.Int64
	restarted      atomic.Int64
	cut            atomic.Int64 // nodes cut off from etcd for a time
	posthumous     atomic.Int64 // calls that arrived after their node had died
}

// wanted are the counters that must not stay at zero, and why they count.
var wanted = []string{
	"commits fenced", "commits resolved", "commits that kept the lock", "commits abandoned",
	"stimuli not queued beside a new bookmark", "locks kept for a queued stimulus", "locks kept for mail",
	"late durability", "takeovers", "orphaned locks removed", "epochs lost",
	"watches dropped", "leases revoked", "nodes killed", "nodes restarted", "nodes cut off",
	"answers lost, though applied", "calls failed before",
	"numbers seen in instance", "numbers seen in mailbox", "numbers seen in queue", "numbers seen in send", "numbers seen in answers",
	"requests for endpoints", "tasks done", "tasks failed", "claimed tasks done", "workers that died", "claims that were lost", "instances retried", "links followed", "stimuli", "instances imported", "lists read",
	"singletons started by published events", "definitions for the newer program", "nodes with the older program",
}

// wantedOfResumes are those of nodes whose resumes take no lock first.
func wantedOfResumes() []string {
	if options.resumeLocking == node.ResumeLockingAlways {
		return nil
	}
	return []string{"resumes without the lock", "resumes that took the lock after all"}
}

// enoughResumes is in how many rounds chance makes a resume without the lock void.
const enoughResumes = 10

// wantedOfManyResumes are what a run of many rounds must have seen, and not each round.
func wantedOfManyResumes() []string {
	if options.resumeLocking == node.ResumeLockingAlways || options.rounds < enoughResumes {
		return nil
	}
	return []string{"resumes that were made void"}
}

// wantedOfLongChaos happen too seldom for one short round.
var wantedOfLongChaos = []string{"pauses", "refreshes", "singletons published for queued events"}

// counters gives all of them by name, of this round.
func (w *world) counters() map[string]int64 {
	c := &w.coverage
	out := map[string]int64{
		"stimuli not queued beside a new bookmark": c.queueRefused.Load(),
		"locks kept for a queued stimulus":         c.keptForQueue.Load(),
		"locks kept for mail":                      c.keptForMail.Load(),
		"watches dropped":                          c.watchesDropped.Load(),
		"leases revoked":                           c.revoked.Load(),
		"calls applied after their node's death":   c.posthumous.Load(),
		"nodes killed":                             c.killed.Load(),
		"nodes restarted":                          c.restarted.Load(),
		"nodes cut off":                            c.cut.Load(),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, faults := range w.tracked {
		for _, a := range faults {
			out["fault: "+name] += int64(a.Fired())
		}
	}
	out["answers lost, though applied"] = out["fault: answer lost"] + out["fault: no space, though applied"]
	out["calls failed before"] = out["fault: failed before"]
	for key, name := range measured {
		out[name] = int64(w.totals[key])
	}
	return out
}

// measured are counters of the nodes that count here: names with label values.
var measured = map[string]string{
	"weft_commits_total/fenced": "commits fenced", "weft_commits_total/resolved": "commits resolved",
	"weft_commits_total/kept_lock": "commits that kept the lock", "weft_commits_total/abandoned": "commits abandoned",
	"weft_commits_total/breach": "commits in breach", "weft_commits_total/committed": "commits",
	"weft_commits_total/conflict": "commits in conflict", "weft_late_durability_total": "late durability",
	"weft_takeovers_total": "takeovers", "weft_lock_orphans_removed_total": "orphaned locks removed",
	"weft_unlocked_resumes_total/committed": "resumes without the lock", "weft_unlocked_resumes_total/locked": "resumes that took the lock after all",
	"weft_unlocked_resumes_total/held": "resumes that were made void",
	"weft_saves_joined_total":          "saves joined with a later one",
	"weft_sessions_lost_total":         "epochs lost", "weft_dead_letters_total/poison": "poisoned commands",
}

// track remembers the faults of all nodes by name.
func (w *world) track(name string, a *clustertest.Armed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tracked[name] = append(w.tracked[name], a)
}

// collect adds the metrics of a node that has ended.
func (w *world) collect(r *prometheus.Registry) {
	families, err := r.Gather()
	if err != nil {
		w.log.Error("metrics not read", "error", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += "/" + l.GetValue()
			}
			w.totals[key] += m.GetCounter().GetValue()
		}
	}
}

// uncovered names the wanted counters that stayed at zero.
func uncovered(counters map[string]int64, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return counters[name] > 0 })
}

// observed looks at transactions as etcd answers them, below the faults.
type observed struct {
	clientv3.KV
	c *coverage
}

func (o *observed) Txn(ctx context.Context) clientv3.Txn {
	return &observedTxn{Txn: o.KV.Txn(ctx), c: o.c}
}

type observedTxn struct {
	clientv3.Txn
	c           *coverage
	then, other []clientv3.Op
}

func (t *observedTxn) If(cs ...clientv3.Cmp) clientv3.Txn { t.Txn = t.Txn.If(cs...); return t }

func (t *observedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	t.Txn = t.Txn.Then(ops...)
	return t
}

func (t *observedTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.other = append(t.other, ops...)
	t.Txn = t.Txn.Else(ops...)
	return t
}

func (t *observedTxn) Commit() (*clientv3.TxnResponse, error) {
	resp, err := t.Txn.Commit()
	if err == nil {
		t.look(resp)
	}
	return resp, err
}

func (t *observedTxn) look(resp *clientv3.TxnResponse) {
	if !resp.Succeeded {
		if slices.ContainsFunc(t.then, func(op clientv3.Op) bool { return op.IsPut() && strings.Contains(string(op.KeyBytes()), "/queue/") }) {
			for _, r := range resp.Responses {
				// The void record was written, or the send record is still there.
				if tr := r.GetResponseTxn(); tr != nil && tr.Succeeded || tr == nil && len(t.other) == 1 && r.GetResponseRange().GetCount() > 0 {
					t.c.queueRefused.Add(1)
				}
			}
		}
		return
	}
	for i, op := range t.then {
		if !op.IsTxn() {
			continue
		}
		_, then, _ := op.Txn()
		inner := resp.Responses[i].GetResponseTxn()
		if len(then) != 1 || !then[0].IsDelete() || !strings.Contains(string(then[0].KeyBytes()), "/lock/instance/") || inner.Succeeded {
			continue
		}
		for j, r := range inner.Responses {
			switch {
			case len(r.GetResponseRange().GetKvs()) == 0:
			case j == 0:
				t.c.keptForMail.Add(1)
			default:
				t.c.keptForQueue.Add(1)
			}
		}
	}
}

// describe lists counters, one a line.
func describe(counters map[string]int64) string {
	var names []string
	for name := range counters {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "  %-46s %d\n", name, counters[name])
	}
	return b.String()
}
