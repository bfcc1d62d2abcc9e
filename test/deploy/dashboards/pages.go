package main

import "regexp"

// page is one dashboard.
type page struct {
	id, title, about string
	views            []view
}

// kind is a kind of panel, in Grafana's words.
type kind string

const (
	tile  kind = "stat"
	graph kind = "timeseries"
	table kind = "table"
)

// view is one panel: a question, and what answers it.
type view struct {
	kind          kind
	title, about  string
	unit          string
	bad, badBelow float64 // red from here, or below; 0: never
	stacked       bool
	empty         string // shown where there is nothing, which is normal
	queries       []query
}

type query struct{ expr, legend string }

// one is a panel with one query.
func one(k kind, title, about, unit, expr, legend string) view {
	return view{kind: k, title: title, about: about, unit: unit, queries: []query{{expr, legend}}}
}

// normally says what is shown where nothing is, as mostly nothing is.
func (v view) normally(text string) view {
	v.empty = text
	return v
}

// traced are the queries for the slowest of a histogram whose values name their
// traces. Asking for them once a panel is enough.
var traced = regexp.MustCompile(`^histogram_quantile\(0\.99, .*weft_(lock_wait_seconds|commit_seconds|commit_bytes|burst_seconds|http_request_seconds)_bucket`)

// times is a panel with the median and the slowest of a histogram, by labels.
func times(title, about, histogram, selector, by, legend string) view {
	group := "le"
	if by != "" {
		group, legend = by+", le", legend+" "
	}
	rate := "sum by (" + group + ") (rate(" + histogram + "_bucket{" + selector + "}[$__rate_interval]))"
	return view{kind: graph, title: title, about: about, unit: "s", queries: []query{
		{"histogram_quantile(0.5, " + rate + ")", legend + "p50"},
		{"histogram_quantile(0.99, " + rate + ")", legend + "p99"},
	}}
}

func (v view) redFrom(limit float64) view  { v.bad = limit; return v }
func (v view) redBelow(limit float64) view { v.badBelow = limit; return v }
func (v view) stack() view                 { v.stacked = true; return v }

var pages = []page{
	{id: "overview", title: "Overview", about: "Whether the cluster works, and how much.", views: []view{
		one(tile, "Nodes", "Nodes that Prometheus reaches.", "short", `count(up{job="weft"} == 1) or vector(0)`, "").redBelow(1),
		one(tile, "etcd members", "Members that Prometheus reaches.", "short", `count(up{job="etcd"} == 1) or vector(0)`, "").redBelow(2),
		one(tile, "Alerts", "Alerts of this cluster that fire now.", "short", `count(ALERTS{alertstate="firing",alertname=~"(Weft|Etcd).+",cluster=~"$cluster|",namespace=~"$namespace|$etcd|"}) or vector(0)`, "").redFrom(1),
		one(tile, "Dead letters, 1 h", "Accepted, and without effect until replayed.", "short", `sum(increase(weft_dead_letters_total{job="weft"}[1h]))`, "").redFrom(1),
		one(tile, "Oldest command", "The longest that an instance has left a command in its mailbox.", "s", `max(weft_mailbox_oldest_seconds{job="weft"})`, "").redFrom(60),
		one(tile, "Breaches", "Commits that were refused although their lock held. Never.", "short", `sum(increase(weft_commits_total{job="weft",outcome="breach"}[24h]))`, "").redFrom(1),
		one(graph, "Requests", "Answered requests, by status.", "reqps", `sum by (code) (rate(weft_http_requests_total{job="weft"}[$__rate_interval]))`, "{{code}}").stack(),
		times("Time of a request", "All routes but those that wait on purpose.", "weft_http_request_seconds", `job="weft"`, "", ""),
		one(graph, "Instances started", "By node.", "ops", `sum by (instance) (rate(weft_instances_started_total{job="weft"}[$__rate_interval]))`, "{{instance}}").stack(),
		one(graph, "Instances finished", "By how they ended.", "ops", `sum by (sub_status) (rate(weft_instances_finished_total{job="weft"}[$__rate_interval]))`, "{{sub_status}}").stack(),
		times("Time of a burst", "From the loaded instance to the result; activities included.", "weft_burst_seconds", `job="weft"`, "", ""),
		one(graph, "Activities", "Executed, by type.", "ops", `topk(10, sum by (type) (rate(weft_activities_total{job="weft"}[$__rate_interval])))`, "{{type}}"),
	}},
	{id: "workflows", title: "Workflows", about: "What the business does, by definition. The first definitions that a node meets have a line of their own (--metrics-definitions), the rest is other.", views: []view{
		one(tile, "Started, 1 h", "", "short", `sum(increase(weft_instances_started_total{job="weft"}[1h]))`, ""),
		one(tile, "Ended, 1 h", "However they ended.", "short", `sum(increase(weft_instances_finished_total{job="weft"}[1h]))`, ""),
		one(tile, "Faulted, 1 h", "", "short", `sum(increase(weft_instances_finished_total{job="weft",sub_status="Faulted"}[1h]))`, "").redFrom(1),
		one(tile, "Wait now", "For something outside.", "short", `sum(max by (definition) (weft_instances{job="weft",sub_status="Suspended"}))`, "").normally("0"),
		one(tile, "Faulted now", "Kept, to be retried or deleted.", "short", `sum(max by (definition) (weft_instances{job="weft",sub_status="Faulted"}))`, "").normally("0"),
		one(tile, "Oldest that waits", "From its start.", "s", `max(weft_oldest_suspended_seconds{job="weft"})`, "").normally("none"),
		one(graph, "Started", "By definition.", "ops", `topk(10, sum by (definition) (rate(weft_instances_started_total{job="weft"}[$__rate_interval])))`, "{{definition}}"),
		one(graph, "Ended", "By definition and how.", "ops", `topk(10, sum by (definition, sub_status) (rate(weft_instances_finished_total{job="weft"}[$__rate_interval])))`, "{{definition}} {{sub_status}}"),
		one(graph, "Faulted, of those that ended", "By definition.", "percentunit", `sum by (definition) (rate(weft_instances_finished_total{job="weft",sub_status="Faulted"}[$__rate_interval])) / (sum by (definition) (rate(weft_instances_finished_total{job="weft"}[$__rate_interval])) > 0)`, "{{definition}}").redFrom(0.1).normally("nothing ended"),
		one(graph, "Have work", "Begun, or to go on: by definition.", "short", `topk(10, sum by (definition) (max by (definition, sub_status) (weft_instances{job="weft",sub_status=~"Pending|Executing"})))`, "{{definition}}").normally("none"),
		one(graph, "Wait", "By definition.", "short", `topk(10, max by (definition) (weft_instances{job="weft",sub_status="Suspended"}))`, "{{definition}}").normally("none"),
		one(graph, "Oldest that waits", "From its start, by definition.", "s", `topk(10, max by (definition) (weft_oldest_suspended_seconds{job="weft"}))`, "{{definition}}").normally("none"),
		one(graph, "Time from start to end", "p95, by definition.", "s", `topk(10, histogram_quantile(0.95, sum by (definition, le) (rate(weft_instance_lifetime_seconds_bucket{job="weft"}[$__rate_interval]))))`, "{{definition}}").normally("nothing ended"),
		one(graph, "Time that one waits", "p95 of those that went on, by definition.", "s", `topk(10, histogram_quantile(0.95, sum by (definition, le) (rate(weft_instance_suspended_seconds_bucket{job="weft"}[$__rate_interval]))))`, "{{definition}}").normally("none went on"),
	}},
	{id: "locks", title: "Locks and contention", about: "Who waits for what, and for how long. GET /api/v1/locks names the holders.", views: []view{
		one(tile, "Held", "Locks held now.", "short", `sum(weft_locks_held{job="weft"})`, ""),
		one(tile, "Contention, 1 h", "Acquisitions that found the lock held, of all. Resumes that needed no lock are none.", "percentunit", `sum(increase(weft_lock_contention_total{job="weft"}[1h])) / sum(increase(weft_lock_acquisitions_total{job="weft"}[1h]))`, ""),
		one(tile, "Lost, 1 h", "Locks that ended with their session.", "short", `sum(increase(weft_locks_lost_total{job="weft"}[1h]))`, "").redFrom(1),
		one(tile, "Failed releases, 1 h", "The end of the lease frees them.", "short", `sum(increase(weft_lock_release_failures_total{job="weft"}[1h]))`, "").redFrom(1),
		one(tile, "Orphans removed, 1 h", "Keys on a node's own lease that nobody there held.", "short", `sum(increase(weft_lock_orphans_removed_total{job="weft"}[1h]))`, ""),
		times("Time to get a lock", "From asking to having, by scope.", "weft_lock_wait_seconds", `job="weft"`, "scope", "{{scope}}").redFrom(2.5),
		times("Time a lock is held", "By scope.", "weft_lock_hold_seconds", `job="weft"`, "scope", "{{scope}}"),
		one(graph, "Contention ratio", "Acquisitions that found the lock held, of all, by scope. On queue, timer and mailbox it is normal: workers try, and pass on.", "percentunit", `sum by (scope) (rate(weft_lock_contention_total{job="weft"}[$__rate_interval])) / (sum by (scope) (rate(weft_lock_acquisitions_total{job="weft"}[$__rate_interval])) > 0)`, "{{scope}}"),
		one(graph, "Acquisitions", "By scope and outcome.", "ops", `sum by (scope, outcome) (rate(weft_lock_acquisitions_total{job="weft"}[$__rate_interval]))`, "{{scope}} {{outcome}}").stack(),
		{kind: graph, title: "Resumes without the lock", about: "Begun without it, by what they came to; lost, to others who were faster: those run again under the lock, or wait in the mailbox.", unit: "ops", queries: []query{
			{`sum by (outcome) (rate(weft_unlocked_resumes_total{job="weft"}[$__rate_interval]))`, "{{outcome}}"},
			{`sum(rate(weft_commits_total{job="weft",outcome=~"conflict|held"}[$__rate_interval]))`, "lost"},
		}},
		one(graph, "Who holds", "Locks held, by node and scope.", "short", `sum by (instance, scope) (weft_locks_held{job="weft"}) > 0`, "{{instance}} {{scope}}").stack().normally("nobody"),
		one(graph, "Who meets a held lock", "Contention, by node and scope.", "ops", `sum by (instance, scope) (rate(weft_lock_contention_total{job="weft"}[$__rate_interval])) > 0`, "{{instance}} {{scope}}").stack().normally("nobody"),
	}},
	{id: "retries", title: "Retries", about: "Repeated acquisitions of locks. They hide short troubles of etcd; many of them are one.", views: []view{
		one(tile, "Retries, 1 h", "", "short", `sum(increase(weft_lock_retries_total{job="weft"}[1h]))`, ""),
		one(tile, "Given up, 1 h", "After the last retry: callers got 503.", "short", `sum(increase(weft_lock_retries_exhausted_total{job="weft"}[1h]))`, "").redFrom(1),
		one(graph, "Retries by reason", "Per second, over the cluster.", "ops", `sum by (reason) (rate(weft_lock_retries_total{job="weft"}[$__rate_interval]))`, "{{reason}}").stack().redFrom(1),
		one(graph, "Retries by scope and node", "", "ops", `sum by (instance, scope) (rate(weft_lock_retries_total{job="weft"}[$__rate_interval])) > 0`, "{{instance}} {{scope}}").stack().normally("none"),
		one(graph, "Given up", "By scope.", "ops", `sum by (scope) (rate(weft_lock_retries_exhausted_total{job="weft"}[$__rate_interval]))`, "{{scope}}").stack(),
		one(graph, "Failed acquisitions", "By scope.", "ops", `sum by (scope) (rate(weft_lock_acquisitions_total{job="weft",outcome="failed"}[$__rate_interval]))`, "{{scope}}").stack(),
	}},
	{id: "refreshes", title: "Refreshes", about: "Refreshes and reloads of definitions. One node at a time does the same work; the others answer AlreadyInProgress, which is no error.", views: []view{
		one(tile, "Completed, 1 h", "", "short", `sum(increase(weft_definition_refresh_total{job="weft",outcome="completed"}[1h]))`, ""),
		one(tile, "AlreadyInProgress, 1 h", "", "short", `sum(increase(weft_definition_refresh_total{job="weft",outcome="already_in_progress"}[1h]))`, ""),
		one(tile, "Failed, 1 h", "", "short", `sum(increase(weft_definition_refresh_total{job="weft",outcome="failed"}[1h]))`, "").redFrom(1),
		one(graph, "By outcome", "", "ops", `sum by (target, outcome) (rate(weft_definition_refresh_total{job="weft"}[$__rate_interval]))`, "{{target}} {{outcome}}").stack(),
		times("Time that one takes", "On the node that does it.", "weft_definition_refresh_seconds", `job="weft"`, "", ""),
		one(graph, "Who does it", "Completed, by node.", "short", `sum by (instance, target) (increase(weft_definition_refresh_total{job="weft",outcome="completed"}[10m]))`, "{{instance}} {{target}}"),
		one(graph, "Locks of refreshes held", "Above 0 for long: somebody does not come to an end.", "short", `sum by (scope) (weft_locks_held{job="weft",scope=~"refresh|reload"})`, "{{scope}}"),
	}},
}
