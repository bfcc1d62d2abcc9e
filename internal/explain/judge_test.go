package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// suspended is an instance o-2 that waits at these bookmarks for an hour.
func suspended(marks ...workflow.Bookmark) *facts {
	for i := range marks {
		b := &marks[i]
		b.ID = workflow.BookmarkID("i", strings.Repeat("b", i+1))
		if b.CreatedAt.IsZero() {
			b.CreatedAt = ago(time.Hour)
		}
		hash, err := workflow.Hash(b.ActivityType, b.Payload)
		if err != nil {
			panic(err)
		}
		b.Hash = hash
	}
	return &facts{now: now, self: "n1", members: []cluster.Node{{ID: "n1", LeaseID: "a"}, {ID: "n2", LeaseID: "b"}},
		Situation: &store.Situation{Revision: 7, Keys: store.SituationKeys{Instance: "/weft/t/instance/i", Mailbox: "/weft/t/mailbox/00/i/", Cancel: "/weft/t/cancel/i", Pause: "/weft/t/meta/pause"},
			Record: &store.Record{Seq: 1, Header: workflow.Instance{ID: "i", DefinitionID: "d", Status: workflow.StatusRunning, SubStatus: workflow.Suspended,
				CorrelationID: "o-2", CreatedAt: ago(time.Hour), UpdatedAt: ago(time.Hour), Bookmarks: marks}}}}
}

func event(name string) workflow.Bookmark {
	return workflow.Bookmark{ActivityID: "event1", ActivityType: workflow.EventType, Name: name, Payload: workflow.EventPayload(name)}
}

func timer(due time.Time) workflow.Bookmark {
	return workflow.Bookmark{ActivityID: "delay1", ActivityType: "Elsa.Delay", Name: "Delay", DueAt: &due, Payload: map[string]any{"dueAt": due.String()}}
}

func pause(due time.Time, attempts int64) workflow.Bookmark {
	next := workflow.Retry{Activity: "charge", Attempt: 3, Attempts: attempts, Error: "no funds"}
	return workflow.Bookmark{ID: "i~1", ActivityID: "charge.retry", ActivityType: workflow.RetryType, Name: "charge", DueAt: &due, Metadata: next.Metadata()}
}

// timeout is the Delay that the notation writes beside an activity with a timeout.
func timeout(due time.Time) workflow.Bookmark {
	b := timer(due)
	b.ActivityID = "if1.then.event1.timeout.delay"
	return b
}

func endpoint(name string) workflow.Bookmark {
	method, path, _ := strings.Cut(name, " ")
	e := workflow.Endpoint{Method: method, Template: strings.TrimPrefix(path, "/")}
	return workflow.Bookmark{ActivityID: "httpEndpoint1", ActivityType: workflow.EndpointType, Name: name, Payload: e.Payload(), Metadata: e.Metadata()}
}

// faulted adds an incident of an execution, to an instance in which these are faulted.
func faulted(activity, message, execution string, now ...string) func(*facts) {
	return func(f *facts) {
		h := &f.Record.Header
		h.Incidents = append(h.Incidents, workflow.Incident{ActivityID: activity, Message: message, ContextID: execution, Time: ago(time.Minute)})
		var state struct {
			Executions []map[string]any `json:"executions"`
		}
		for _, id := range now {
			state.Executions = append(state.Executions, map[string]any{"id": id, "faulted": true, "vars": map[string]any{"id": "x9"}})
		}
		state.Executions = append(state.Executions, map[string]any{"id": "x0"})
		f.Record.State, _ = json.Marshal(state)
	}
}

func child(id string) workflow.Bookmark {
	return workflow.Bookmark{ActivityID: "executeWorkflow1", ActivityType: "Elsa.ExecuteWorkflow", Name: "kid", Payload: map[string]any{"childInstanceId": id}}
}

func doing(activity string, since time.Duration, attempt int) *client.Running {
	return &client.Running{InstanceID: "i", Doing: &engine.Doing{ActivityID: activity, ActivityType: "Elsa.SendHttpRequest", Since: ago(since), Attempt: attempt, Outside: true}}
}

func (f *facts) with(change func(*facts)) *facts { change(f); return f }

func came(where, name, correlation string, at time.Duration) sent {
	st := workflow.EventStimulus(name, nil)
	st.CorrelationID = correlation
	s := sent{where: where, id: name + correlation, stimulus: &st, at: ago(at)}
	s.hash, _ = workflow.Hash(st.ActivityType, st.Payload)
	if where == "dead-letter" {
		s.reason = workflow.DeadExpired
	}
	return s
}

func holder(node string, lease int64, since time.Duration) cluster.Holder {
	return cluster.Holder{NodeID: node, Lease: clientv3.LeaseID(lease), Since: ago(since), Fence: cluster.Fence{Key: "/weft/t/lock/i/" + node, Revision: 5}}
}

func kid(sub workflow.SubStatus, incident string) *workflow.Instance {
	h := &workflow.Instance{ID: "c", SubStatus: sub, Status: sub.Status()}
	if incident != "" {
		h.Incidents = []workflow.Incident{{Message: incident}}
	}
	return h
}

// TestStalls names the cause of each way in which an instance does not go on.
func TestStalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		f     *facts
		state State
		cause Cause
		says  []string // of the summary
		miss  string   // of the first near miss
		next  string   // of the first advice
	}{
		"the event has not come": {f: suspended(event("approved")), state: Waiting,
			says: []string{"waits for event approved, correlation o-2, since 2026-11-23 11:00:00 UTC (60 min)"}, next: `POST /events/approved {"correlationId":"o-2"}`},
		"an attempt to come": {f: suspended(pause(now.Add(4*time.Minute), 5)), state: Waiting,
			says: []string{"waits for attempt 3 of 5 of activity charge; the one before failed: no funds, in 4 min (2026-11-23 12:04:00 UTC)"}, next: "POST /bookmarks/"},
		"one of as many as there is time for": {f: suspended(pause(now.Add(4*time.Minute), 0)), state: Waiting, says: []string{"waits for attempt 3 of activity charge; "}, next: "POST /bookmarks/"},
		"a late attempt":                      {f: suspended(pause(ago(3*time.Minute), 5)), state: Stuck, says: []string{"attempt 3 of 5 of activity charge, which was due 3 min ago; the one before"}, next: "POST /bookmarks/"},
		"or its time-out": {f: suspended(timer(now.Add(45*time.Hour)), event("approved")), state: Waiting,
			says: []string{"event approved", "; or for its delay, in 45 h (2026-11-25 09:00:00 UTC)"}},
		"or its own time-out": {f: suspended(event("approved"), timeout(now.Add(45*time.Hour))), state: Waiting,
			says: []string{"waits for event approved", "; or for the timeout of if1.then.event1, in 45 h (2026-11-25 09:00:00 UTC)"}},
		"a late time-out": {cause: "late-timer", f: suspended(timeout(ago(3 * time.Minute))), state: Stuck, says: []string{"waits for the timeout of if1.then.event1, which was due 3 min ago"}},
		"a request": {cause: "endpoint", f: suspended(endpoint("GET /orders/{id}")), state: Waiting, says: []string{"waits for a request GET /orders/{id}, since"},
			next: "send it: GET /workflows/orders/{id}, which is not below /api/v1, with X-Correlation-Id: o-2"},
		"another correlation": {cause: "other-correlation", f: suspended(event("approved")).with(func(f *facts) { f.sent = []sent{came("queue", "approved", "o-1", time.Minute)} }), state: Waiting,
			says: []string{"event approved"}, miss: `it came for correlation "o-1", and this one has "o-2"`},
		"another correlation, far down in the queue": {cause: "other-correlation", f: suspended(event("approved")).with(func(f *facts) {
			f.Queued = []store.QueuedFor{{ID: "q", Hash: f.Record.Header.Bookmarks[0].Hash, CorrelationID: "o-1"}}
		}), state: Waiting, miss: `it came for correlation "o-1"`},
		"another instance": {cause: "other-instance", f: suspended(event("approved")).with(func(f *facts) {
			f.Queued = []store.QueuedFor{{ID: "q", Hash: f.Record.Header.Bookmarks[0].Hash, InstanceID: "j"}}
		}), state: Waiting, miss: "it is for instance j"},
		"another spelling": {cause: "other-name", f: suspended(event("approved")).with(func(f *facts) { f.sent = []sent{came("queue", "aproved", "o-2", time.Minute)} }), state: Waiting,
			miss: `it came as "aproved", and this one waits for "approved"`, next: `if it is the one: POST /queue/aprovedo-2/send {"instanceId":"i","name":"approved"}`},
		"another spelling, in a dead letter": {cause: "other-name", f: suspended(event("approved")).with(func(f *facts) { f.sent = []sent{came("dead-letter", "aproved", "o-2", time.Minute)} }), state: Waiting,
			miss: `it came as "aproved", and this one waits for "approved"`, next: `if it is the one: POST /dead-letters/aprovedo-2/replay {"instanceId":"i","name":"approved"}`},
		"it came too early, and nobody knows why it is dead": {cause: "dead-letter", f: suspended(event("approved")).with(func(f *facts) {
			f.sent = []sent{came("dead-letter", "approved", "o-2", 3*time.Hour)}
			f.sent[0].reason = ""
		}), state: Waiting, says: []string{"it came 2 h before this one waited, and became a dead letter (among the dead letters, since"}, next: "POST /dead-letters/approvedo-2/replay"},
		"it came too early": {cause: "dead-letter", f: suspended(event("approved")).with(func(f *facts) { f.sent = []sent{came("dead-letter", "approved", "o-2", 3*time.Hour)} }), state: Waiting,
			miss: "it came 2 h before this one waited, and became a dead letter (expired)"},
		"a dead letter of its own": {cause: "dead-letter", f: suspended(event("approved")).with(func(f *facts) {
			s := came("dead-letter", "other", "", time.Minute)
			s.instance, s.reason = "i", workflow.DeadTooLarge
			f.sent = []sent{s}
		}), state: Waiting, miss: "it is a dead letter of this instance (too-large)"},
		"the cluster is paused": {cause: "paused", f: suspended(event("approved")).with(func(f *facts) { f.Paused = true }), state: Waiting,
			says: []string{"event approved", "; the cluster is paused"}},
		"a late timer": {cause: "late-timer", f: suspended(timer(ago(3 * time.Minute))), state: Stuck, says: []string{"its delay, which was due 3 min ago", "nothing that is known will come"}},
		"a late timer, and the clock is ahead": {cause: "clock", f: suspended(timer(ago(3 * time.Minute))).with(func(f *facts) { f.skews = map[string]time.Duration{"n1": 5 * time.Minute} }), state: Waiting,
			says: []string{"its delay (2026-11-23 11:57:00 UTC)", "the clock of node n1 is 5m0s ahead of those of the others"}},
		"a late timer, and the clock is behind": {cause: "clock", f: suspended(timer(ago(-time.Minute))).with(func(f *facts) { f.skews = map[string]time.Duration{"n1": -5 * time.Minute} }), state: Waiting,
			says: []string{"which was due 4 min ago", "behind those of the others"}},
		"a timer in a paused cluster": {cause: "paused", f: suspended(timer(ago(3 * time.Minute))).with(func(f *facts) { f.Paused = true }), state: Waiting, says: []string{"due 3 min ago", "the cluster is paused"}},
		"etcd is nearly full":         {cause: "full", f: suspended(timer(ago(3 * time.Minute))).with(func(f *facts) { f.heldBack, f.full, f.roomAdvice = "etcd is nearly full: x", true, "y" }), state: Waiting, says: []string{"etcd is nearly full"}},
		"every node drains": {cause: "drain", f: suspended(event("approved")).with(func(f *facts) {
			for i := range f.members {
				f.members[i].Draining = true
			}
		}), state: Waiting, says: []string{"every node is draining"}},
		"a child that waits": {cause: "child", f: suspended(child("c")).with(func(f *facts) {
			f.Children = []store.ChildState{{ID: "c", Header: kid(workflow.Suspended, "")}}
		}), state: Waiting, says: []string{"the end of its child c (kid), which is suspended"}, next: "GET /instances/c/explain"},
		"a child that faulted": {cause: "faulted-child", f: suspended(child("c")).with(func(f *facts) {
			f.Children = []store.ChildState{{ID: "c", Header: kid(workflow.Faulted, "no money")}}
		}), state: Waiting, says: []string{"which is faulted", "no money"}},
		"a child that is gone": {cause: "lost-child", f: suspended(child("c")).with(func(f *facts) { f.Children = []store.ChildState{{ID: "c"}} }), state: Stuck, says: []string{"which is gone"}},
		"a child whose end is lost": {cause: "lost-child", f: suspended(child("c")).with(func(f *facts) {
			f.Children = []store.ChildState{{ID: "c", Header: kid(workflow.Finished, ""), Untold: true}}
		}), state: Stuck, says: []string{"which is finished, and nothing will tell its end any more"}, next: "weft fsck --repair, which tells it"},
		"a task": {cause: "task", f: suspended(workflow.Bookmark{ActivityType: workflow.TaskType, Name: "check"}), state: Waiting, says: []string{"a worker that does task check"}},
		"a task that a worker has": {cause: "task", f: suspended(workflow.Bookmark{ActivityType: workflow.TaskType, Name: "check"}).with(func(f *facts) {
			half := 50.0
			f.tasks = map[string]etcdstore.Task{"i~b": {Claim: &store.TaskClaim{Worker: "one", Since: ago(time.Minute), Until: now, Attempt: 2, Progress: &half, Text: "wrapping", Last: "no paper", DoneBy: ago(-time.Hour)}}}
		}), state: Waiting, says: []string{"a worker that does task check: worker one has it since 2026-11-23 11:59:00 UTC, attempt 2, until 2026-11-23 12:00:00 UTC unless it says more; it is at 50 %; it says wrapping; the attempt before ended so: no paper; it is to be done by 2026-11-23 13:00:00 UTC, or it fails"}},
		"a task that nobody has": {cause: "task", f: suspended(workflow.Bookmark{ActivityType: workflow.TaskType, Name: "check"}).with(func(f *facts) {
			f.tasks = map[string]etcdstore.Task{"i~b": {Past: store.TaskPast{Attempts: 1, Worker: "one", Why: "jam;", ClaimBy: ago(-time.Hour)}}}
		}), state: Waiting, says: []string{`: nobody has it, after 1 failed, the last by worker one; the attempt before ended so: "jam;"; it is to be claimed by 2026-11-23 13:00:00 UTC, or it fails`}},
		"an activity of an embedder": {cause: "stimulus", f: suspended(workflow.Bookmark{ActivityType: "acme.Wait", Name: "door", Payload: "x"}), state: Waiting, says: []string{"acme.Wait door"}, next: "POST /bookmarks/i~b/resume"},
		"it runs":                    {cause: "running", f: suspended().with(func(f *facts) { f.claims = []cluster.Holder{holder("n2", 0xb, time.Second)} }), state: Running, says: []string{"node n2 runs it"}},
		"it runs for long": {cause: "activity", f: suspended().with(func(f *facts) {
			f.claims = []cluster.Holder{holder("n2", 0xb, 5*time.Minute)}
			f.running = doing("charge", 5*time.Minute, 2)
		}), state: Running,
			says: []string{"node n2 runs it", "; it is at activity charge (Elsa.SendHttpRequest), attempt 2, which waits for the outside, or computes, since 2026-11-23 11:55:00 UTC"}, next: "POST /instances/i/cancel"},
		"its node is gone": {cause: "gone", f: suspended().with(func(f *facts) {
			f.claims = []cluster.Holder{holder("n3", 0xc, time.Minute), holder("n1", 0xa, time.Second)}
		}), state: Running,
			says: []string{"node n3 had it and is gone"}},
		"its node drains": {cause: "drain", f: suspended().with(func(f *facts) {
			f.members[1].Draining = true
			f.claims = []cluster.Holder{holder("n2", 0xb, time.Second)}
		}), state: Running, says: []string{"node n2 runs it and is draining"}},
		"mail that nobody runs": {cause: "mail", f: suspended(event("approved")).with(func(f *facts) {
			f.Mail = []store.Mail{{Command: workflow.Command{ID: "m", Kind: workflow.CommandResume, CreatedAt: ago(10 * time.Minute), Attempts: 2}}}
			f.MailLeft = 3
		}), state: Queued, says: []string{"4 commands wait to be run, the first is resume", "2 nodes took over", "none has run it"}},
		"a retry of a faulted one is on its way": {f: suspended().with(func(f *facts) {
			f.Record.Header.Status, f.Record.Header.SubStatus = workflow.StatusFinished, workflow.Faulted
			f.Mail = []store.Mail{{Command: workflow.Command{ID: "m", Kind: workflow.CommandRetry, CreatedAt: now}}}
		}), state: Queued, says: []string{"a command waits to be run, the first is retry"}},
		"mail of a newer program": {f: suspended().with(func(f *facts) {
			f.Mail = []store.Mail{{Command: workflow.Command{ID: "m"}, Unreadable: errors.New("x")}}
		}), state: Queued, says: []string{"one that this node's program cannot read"}},
		"it faulted": {cause: "fault", f: suspended().with(func(f *facts) {
			h := &f.Record.Header
			h.Status, h.SubStatus, h.Incidents = workflow.StatusFinished, workflow.Faulted, []workflow.Incident{{ActivityID: "http1", Message: "503", Time: ago(time.Minute)}}
		}), state: Faulted, says: []string{"activity http1 failed: 503, since 2026-11-23 11:59:00 UTC"}, next: "mend the cause, then POST /instances/i/retry"},
		"mail in a paused cluster": {cause: "paused", f: suspended(event("approved")).with(func(f *facts) {
			f.Paused = true
			f.Mail = []store.Mail{{Command: workflow.Command{ID: "m", Kind: workflow.CommandResume, CreatedAt: ago(10 * time.Minute)}}}
		}), state: Queued, says: []string{"the first is resume, since 2026-11-23 11:50:00 UTC (10 min); the cluster is paused"}},
		"a clock that is off by less than counts": {cause: "late-timer", f: suspended(timer(ago(3 * time.Minute))).with(func(f *facts) { f.skews = map[string]time.Duration{"n1": 1500 * time.Millisecond} }), state: Stuck},
		"a node that is alone runs it":            {cause: "activity", f: suspended().with(func(f *facts) { f.running = doing("charge", time.Second, 0) }), state: Running, says: []string{"node n1 runs it"}},
		"a retry of a faulted one runs": {f: suspended().with(func(f *facts) {
			f.Record.Header.Status, f.Record.Header.SubStatus = workflow.StatusFinished, workflow.Faulted
			f.claims = []cluster.Holder{holder("n2", 0xb, time.Second)}
		}), state: Running, says: []string{"node n2 runs it"}},
		"a name that speaks": {f: suspended(event("x; the cluster is paused\n\x1b[2J")), state: Waiting, says: []string{`event "x; the cluster is paused\n\x1b[2J", correlation o-2`}},
		"it is done": {cause: "ended", f: suspended().with(func(f *facts) {
			f.Record.Header.Status, f.Record.Header.SubStatus = workflow.StatusFinished, workflow.Cancelled
		}), state: Finished, says: []string{"it is cancelled"}},
		"its node does not answer": {cause: "lock", f: suspended().with(func(f *facts) {
			f.claims, f.unasked = []cluster.Holder{holder("n2", 0xb, time.Second)}, errors.New("no answer")
		}), state: Running, says: []string{"node n2 holds its lock, and could not be asked what it is at, since "}, next: "look at node n2"},
		"its node does nothing": {cause: "lock", f: suspended().with(func(f *facts) { f.claims = []cluster.Holder{holder("n2", 0xb, time.Minute)} }), state: Running,
			says: []string{"node n2 holds its lock and does nothing with it"}, next: "look at the log of node n2"},
		"it is at an activity for a moment": {cause: "activity", f: suspended().with(func(f *facts) {
			f.claims, f.running = []cluster.Holder{holder("n2", 0xb, time.Second)}, doing("charge", time.Second, 0)
		}), state: Running, says: []string{"; it is at activity charge (Elsa.SendHttpRequest), since 2026-11-23 11:59:59 UTC"}},
		"a child that it does not wait for faulted": {cause: "faulted-child", f: suspended(event("shipped")).with(func(f *facts) {
			kid := kid(workflow.Faulted, "no money")
			kid.ID, kid.DefinitionID = "c", "kid"
			f.kids = []workflow.Instance{*kid}
		}), state: Waiting, says: []string{"event shipped", "; its child c (kid) is faulted: no money"}, next: "GET /instances/c/explain"},
		"a child that faulted beside a timer": {cause: "timer", f: suspended(timer(ago(-time.Hour))).with(func(f *facts) { f.kids = []workflow.Instance{*kid(workflow.Faulted, "no money")} }),
			state: Waiting, says: []string{"its delay"}},
		"an event, or a time": {cause: "event", f: suspended(timer(ago(-time.Hour)), event("approved")), state: Waiting, says: []string{"event approved"}},
		"a timer of a node that is ahead": {cause: "clock", f: suspended(timer(ago(-9 * time.Minute))).with(func(f *facts) {
			f.skews = map[string]time.Duration{"n1": 0, "n2": 10 * time.Minute, "n3": 0}
		}), state: Waiting, says: []string{"its delay, in 9 min", "; the clock of node n2 is 10m0s ahead of those of the others"}, next: "set the clock of node n2 right"},
		"a timer far away, and a clock that is off": {cause: "timer", f: suspended(timer(ago(-time.Hour))).with(func(f *facts) { f.skews = map[string]time.Duration{"n1": 0, "n2": 10 * time.Minute} }), state: Waiting},
		"etcd takes no starts":                      {cause: "event", f: suspended(event("approved")).with(func(f *facts) { f.heldBack = "etcd is nearly full: x" }), state: Waiting, says: []string{"event approved", "; etcd is nearly full: x"}},
		"an event of another case": {cause: "event", f: suspended(event("approved")).with(func(f *facts) {
			f.sent = []sent{came("queue", "approved", "invoice 77", time.Minute)}
		}), state: Waiting, miss: `it came for correlation "invoice 77"`},
		"an event of another case before the one": {cause: "other-name", f: suspended(event("approved")).with(func(f *facts) {
			f.sent = []sent{came("queue", "aproved", "o-2", time.Minute)}
			f.Queued = []store.QueuedFor{{ID: "a", Hash: f.Record.Header.Bookmarks[0].Hash, CorrelationID: "invoice 77"}}
		}), state: Waiting, says: []string{`; nearly: it came as "aproved"`}},
		"another name, of another case": {cause: "event", f: suspended(event("approved")).with(func(f *facts) {
			f.sent = []sent{came("queue", "aproved", "invoice 77", time.Minute)}
		}), state: Waiting, miss: `it came as "aproved"`},
		"a node that has answered for it": {cause: "event", f: suspended(event("approved")).with(func(f *facts) { f.running = &client.Running{InstanceID: "i"} }), state: Waiting},
		"beside what faulted in it": {cause: "event", f: suspended(event("approved")).with(faulted("charge", "no funds", "x1", "x1")), state: Waiting,
			says: []string{"waits for event approved", "; activity charge in it is faulted: no funds"}, next: `POST /events/approved {"correlationId":"o-2"}`},
		"beside what faulted in it, twice": {cause: "event", f: suspended(event("approved")).with(faulted("charge", "no funds", "x1", "x1", "x2")).with(faulted("ship", "no truck", "x2", "x1", "x2")), state: Waiting,
			says: []string{"; activity ship in it is faulted: no truck (and 1 more)"}},
		"what faulted in it ran again": {cause: "event", f: suspended(event("approved")).with(faulted("charge", "no funds", "x1")), state: Waiting},
		"nothing but what faulted in it is left": {cause: "fault", f: suspended().with(faulted("charge", "no funds", "x1", "x1")), state: Stuck,
			says: []string{"nothing is left that could go on", "; activity charge in it is faulted: no funds"}, next: "mend the cause, then POST /instances/i/retry"},
		"nothing moves it": {cause: "nothing", f: suspended(), state: Stuck, says: []string{"has no work, waits for nothing, and nobody runs it"}, next: "run weft fsck"},
		"damaged":          {cause: "damaged", f: suspended().with(func(f *facts) { f.Record, f.Damage = nil, errors.New("no JSON") }), state: Damaged, says: []string{"cannot be read: no JSON"}, next: "run weft fsck"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := judge("i", tc.f)
			if tc.cause != "" && x.Cause != tc.cause || x.Cause == "" {
				t.Errorf("cause %q, want %q", x.Cause, tc.cause)
			}
			if x.State != tc.state || x.Instance.ID != "i" || x.Revision != 7 {
				t.Errorf("state %s of %s at %d, want %s", x.State, x.Instance.ID, x.Revision, tc.state)
			}
			for _, want := range tc.says {
				if !strings.Contains(x.Summary, want) {
					t.Errorf("it says %q, want %q in it", x.Summary, want)
				}
			}
			if tc.miss != "" && (len(x.NearMisses) != 1 || !strings.Contains(x.NearMisses[0].Text, tc.miss)) {
				t.Errorf("near misses %+v, want %q", x.NearMisses, tc.miss)
			}
			if tc.next != "" && (len(x.Next) == 0 || !strings.HasPrefix(x.Next[0], tc.next)) {
				t.Errorf("next %q, want %q", x.Next, tc.next)
			}
			if told := strings.Join(x.Next, "; "); strings.Count(told, "POST /instances/i/retry") > 1 {
				t.Errorf("next says a retry twice: %q", told)
			}
			if len(x.Reasons) == 0 {
				t.Error("no reason")
			}
		})
	}
}

// Of what faulted it is told whether it still is, however often it was run again.
func TestIncidentsAreTold(t *testing.T) {
	t.Parallel()
	told := func(x *Explanation) (s string) {
		for _, in := range x.Incidents {
			s += fmt.Sprintf("%s:%v ", in.Message, in.Open)
		}
		return s + fmt.Sprint(x.IncidentsLeft)
	}
	f := suspended(event("approved"))
	for i, in := range []string{"x1", "x2", "x1", "x3", "x4", "x5", "x6"} {
		faulted("charge", fmt.Sprint(i), in, "x1", "x4")(f)
	}
	x := judge("i", f)
	if got, want := told(x), "4:true 2:true 6:false 5:false 3:false 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(x.Next); n != 2 || x.Next[1] != "POST /instances/i/retry makes the call again that failed, if it may" {
		t.Errorf("%q", x.Next)
	}
	// It has ended by a fault of nobody's: the last is why.
	f.Record.Header.Status, f.Record.Header.SubStatus = workflow.StatusFinished, workflow.Faulted
	if x := judge("i", f); !strings.HasPrefix(told(x), "6:true 4:true 2:true ") || strings.Contains(x.Summary, "in it is faulted") {
		t.Errorf("%s: %s", told(x), x.Summary)
	}
	f.Record.State = json.RawMessage("{")
	f.Record.Header.SubStatus = workflow.Cancelled
	if x := judge("i", f); strings.Contains(told(x), "true") || x.State != Finished {
		t.Errorf("%s", told(x))
	}
}

// What was likely meant for an instance is told before what was not, however much there is of that, and
// also if it lies further on, or is nearly what the last of its bookmarks waits for.
func TestWhatWasMeantIsToldFirst(t *testing.T) {
	t.Parallel()
	f := suspended(event("approved"), event("shipped"))
	for i := range mostLooked {
		f.sent = append(f.sent, came("queue", "approved", fmt.Sprintf("invoice %d", i), time.Second))
	}
	for i := range 50 {
		f.recent = append(f.recent, passed("approved", fmt.Sprintf("case %d", i), "other", 1, time.Minute))
		f.Queued = append(f.Queued, store.QueuedFor{ID: fmt.Sprint("q", i), Hash: f.Record.Header.Bookmarks[0].Hash, CorrelationID: fmt.Sprintf("bill %d", i)})
	}
	f.Queued = append(f.Queued, store.QueuedFor{ID: "near", Hash: f.Record.Header.Bookmarks[0].Hash, CorrelationID: "o-22"})
	f.sent = append(f.sent, came("queue", "shiped", "o-2", time.Minute))
	own := came("dead-letter", "other", "", time.Minute)
	own.instance = "i"
	f.sent = append(f.sent, own)
	x := judge("i", f)
	var first []string
	for _, m := range x.NearMisses {
		first = append(first, m.ID)
	}
	if len(first) != mostMisses || !slices.Equal(first[:3], []string{"near", "shipedo-2", "other"}) || x.Cause != CauseCorrelation {
		t.Errorf("cause %s, %q", x.Cause, first)
	}
}

func TestAReasonNamesWhatShowsIt(t *testing.T) {
	t.Parallel()
	x := judge("i", suspended(event("approved"), event("denied")))
	if len(x.Reasons) != 2 || x.Reasons[0].Key != "/weft/t/instance/i" || x.Reasons[0].Object != "i~b" || x.Reasons[1].Object != "i~bb" {
		t.Errorf("%+v", x.Reasons)
	}
}

// TestWhatIsExplainedIsBounded: an instance may wait at thousands of places, beside
// a full queue.
func TestWhatIsExplainedIsBounded(t *testing.T) {
	t.Parallel()
	var marks []workflow.Bookmark
	for i := range 2000 {
		marks = append(marks, event("approved"+strings.Repeat("!", i/1000)))
	}
	f := suspended(marks...)
	for range mostLooked {
		f.sent = append(f.sent, came("queue", "approved", "o-"+strings.Repeat("1", len(f.sent)+1), time.Second))
	}
	x := judge("i", f)
	if len(x.NearMisses) != mostMisses || len(x.Next) != mostAdvice || len(x.Summary) > 1000 || !strings.Contains(x.Summary, "; or for 1997 others") {
		t.Errorf("%d near misses, %d advices, %q", len(x.NearMisses), len(x.Next), x.Summary)
	}
	if len(x.Reasons) != mostReasons || x.ReasonsLeft != 2000-mostReasons {
		t.Errorf("%d reasons, %d more", len(x.Reasons), x.ReasonsLeft)
	}
}

func TestNobodyIsToldOfWhatDoesNotConcernIt(t *testing.T) {
	t.Parallel()
	f := suspended(event("approved"))
	f.sent = []sent{came("queue", "shipped", "o-2", 0), {where: "queue", id: "x", stimulus: &workflow.Stimulus{ActivityType: "acme.Wait", Payload: workflow.EventPayload("approved")}}}
	if x := judge("i", f); len(x.NearMisses) != 0 {
		t.Errorf("%+v", x.NearMisses)
	}
}

// A start behind a gate is explained by who holds it, and a holder says who waits.
func TestGates(t *testing.T) {
	t.Parallel()
	item := &store.QueueItem{ID: "q", CreatedAt: ago(time.Minute), Stimulus: workflow.Stimulus{CorrelationID: "c"}, Held: &store.HeldStart{Trigger: store.TriggerRef{DefinitionID: "d", Version: 2, ActivityID: "event1"}}}
	waits := func(g store.GateState) *facts {
		f := suspended()
		g.Start, g.Key = item, "/weft/t/gate/d/-"
		f.Record, f.Gate = nil, &g
		return f
	}
	holds := func(g store.GateState) *facts {
		f := suspended(event("approved"))
		f.Gate = &g
		return f
	}
	for name, tc := range map[string]struct {
		f     *facts
		state State
		cause Cause
		says  string
		next  string
	}{
		"of a definition":      {waits(store.GateState{Gate: store.Gate{Definition: "d"}, Holder: "h", Behind: 1}), Queued, CauseGate, "it starts when instance h has ended, as one instance of d runs at a time, since ", "GET /instances/h/explain"},
		"of a correlation":     {waits(store.GateState{Gate: store.Gate{Correlation: "c 1"}, Holder: "h", Behind: 3}), Queued, CauseGate, "as one instance with correlation c 1 runs at a time; 3 starts wait for that, the oldest goes first", "GET /instances/h/explain"},
		"held by nobody":       {waits(store.GateState{Gate: store.Gate{Definition: "d"}, Behind: 1}), Queued, CauseGate, "none does any more, and nodes look every few seconds", ""},
		"and a pause":          {waits(store.GateState{Gate: store.Gate{Definition: "d"}, Holder: "h", Behind: 1}).with(func(f *facts) { f.Paused = true }), Queued, CausePause, "; the cluster is paused", "POST /unpause"},
		"it holds one":         {holds(store.GateState{Gate: store.Gate{Definition: "d"}, Holder: "i"}), Waiting, CauseEvent, "waits for event approved", "POST /events/approved"},
		"and one waits":        {holds(store.GateState{Gate: store.Gate{Definition: "d", Correlation: "o-2"}, Holder: "i", Behind: 1}), Waiting, CauseEvent, "; a start waits until it has ended, as one instance of d with correlation o-2 runs at a time", "POST /events/approved"},
		"and many wait":        {holds(store.GateState{Gate: store.Gate{Definition: "d"}, Holder: "i", Behind: 7}), Waiting, CauseEvent, "; 7 starts wait until it has ended", "POST /events/approved"},
		"another one's by now": {holds(store.GateState{Gate: store.Gate{Definition: "d"}, Holder: "x", Behind: 7}), Waiting, CauseEvent, "waits for event approved", "POST /events/approved"},
	} {
		x := judge("i", tc.f)
		if x.State != tc.state || x.Cause != tc.cause || !strings.Contains(x.Summary, tc.says) {
			t.Errorf("%s: %s, %s: %s", name, x.State, x.Cause, x.Summary)
		}
		if tc.next == "" != (len(x.Next) == 0) || tc.next != "" && !strings.HasPrefix(x.Next[0], tc.next) {
			t.Errorf("%s: %q", name, x.Next)
		}
		if told := strings.Contains(x.Summary, "until it has ended"); told != (x.Gate.Item == "" && x.Gate.Behind > 0 && x.Gate.Holder == "i") {
			t.Errorf("%s: %s", name, x.Summary)
		}
		if x.Gate.Item != "" && (x.Instance.ID != "i" || x.Instance.DefinitionID != "d" || x.Gate.Item != "q") {
			t.Errorf("%s: %+v %+v", name, x.Instance, x.Gate)
		}
	}
}

// While an instance undoes what it did, that is said beside what it waits for.
func TestAnUndoingIsTold(t *testing.T) {
	t.Parallel()
	f := suspended(event("back"))
	f.Record.State = json.RawMessage(`{"v":1,"executions":[{"id":"x1","scratch":{"next":1}},{"id":"x2","scratch":{"steps":[{"id":"s1","n":3,"seq":4,"activity":"reserve","key":"s1","now":true},{"id":"s2","n":5,"seq":6,"activity":"pay","key":"s2","now":true}],"running":"s2","undone":["ship"],"failed":{"activity":"send","message":"no stock"}}}]}`)
	if x := judge("i", f); !strings.Contains(x.Summary, "what it did is undone, since send failed: no stock; undone: ship; now: pay; then: reserve") || x.Reasons[len(x.Reasons)-1].Kind != "undoing" {
		t.Errorf("%s %+v", x.Summary, x.Reasons)
	}
	f.Record.State = json.RawMessage(`{`)
	if x := judge("i", f); strings.Contains(x.Summary, "undone") {
		t.Errorf("%s", x.Summary)
	}
}
