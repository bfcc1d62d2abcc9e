package etcdstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

var writeGolden = flag.Bool("golden", false, "write the golden files that are not there yet; those that are there stay")

// goldenFolder has a record of each kind as some program wrote it. Every later one
// must read it, and write it again as the same bytes. What is there is not changed: for a field
// that is new, a line is added to golden, and -golden writes its file.
const goldenFolder = "testdata/golden"

// Values that records bring from outside, with what an encoder may get wrong.
var goldenValues = map[string]any{
	"whole": int64(9223372036854775807), "exact": int64(9007199254740993), "large": json.Number("18446744073709551616"), "beyond": json.Number("-1e400"),
	"decimal": 0.1, "small": 5e-324, "float": 1e21, "zero": int64(0), "yes": true, "no": false, "nothing": nil,
	"empty": "", "text": "<a href=\"x\">\\ & \u2028\u0000\b\t\n é 😀 \ufffd", "key \"<&>\"": "",
	"list": []any{}, "lists": []any{[]any{int64(1)}, map[string]any{}}, "object": map[string]any{"b": "2", "a": "1"},
}

var (
	goldenAt    = time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	goldenLater = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

	goldenGuard    = workflow.Guard{Authorize: true, Policy: "role = clerk"}
	goldenKey      = workflow.CommandKey{Name: "call-1", BodyHash: "b0d1", Guard: &goldenGuard}
	goldenStimulus = workflow.Stimulus{ActivityType: workflow.EventType, Payload: workflow.EventPayload("approved"), CorrelationID: "order-4711", InstanceID: "i1", BookmarkID: "i1~1", Input: goldenValues}
	goldenBegun    = []workflow.Begun{{Process: "p1", Node: "node-1", At: goldenAt, Age: 86400000}}
	goldenBookmark = workflow.Bookmark{
		ID: "i1~1", ActivityID: "event1", ActivityType: workflow.EventType, Name: "approved", Hash: "hashhashhashhashhashhashhashhash", Payload: workflow.EventPayload("approved"),
		ContextID: "x2", Callback: "resumed", KeepOnResume: true, DueAt: &goldenLater, CreatedAt: goldenAt, Metadata: goldenValues,
	}
	goldenIncident = workflow.Incident{ActivityID: "call1", ActivityType: "Elsa.SendHttpRequest", ContextID: "x3", Expression: "text: JavaScript", Message: "it failed", Cause: "refused", Time: goldenAt}
	goldenInstance = workflow.Instance{
		ID: "i1", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, Name: "Order 4711", CorrelationID: "order-4711",
		Parent: &workflow.Parent{InstanceID: "i0", BookmarkID: "i0~7"}, CreatedAt: goldenAt, UpdatedAt: goldenLater, FinishedAt: &goldenLater,
		Input: goldenValues, Output: goldenValues, Incidents: []workflow.Incident{goldenIncident}, Bookmarks: []workflow.Bookmark{goldenBookmark},
	}
	goldenStart = workflow.Start{
		DefinitionID: "order-approval", Version: 3, Input: goldenValues, Name: "Order 4711", CorrelationID: "order-4711", Properties: goldenValues,
		Parent: goldenInstance.Parent, Trigger: "event1", TriggerInput: goldenValues,
	}
	goldenCommand = workflow.Command{
		ID: "c1", Kind: workflow.CommandResume, CreatedAt: goldenAt, Attempts: 2, Begun: goldenBegun, Start: &goldenStart, Bookmark: "i1~1", Input: goldenValues, Stimulus: &goldenStimulus,
		State: []byte(`{"v":1}`), IfSeq: 4, Key: &goldenKey, Several: true, Due: &goldenLater, Timer: true, Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
	goldenAlter = workflow.Alter{By: "key:ops", Reason: "the service is back", Definition: "order-approval", Alterations: []workflow.Alteration{
		{Type: workflow.AlterMigrate, Version: 4, Activities: map[string]string{"b": "c", "a": "b"}},
		{Type: workflow.AlterSetVariable, Variable: "amount", Value: goldenValues, Activity: "in", Execution: 3},
		{Type: workflow.AlterSkip, Activity: "ask", Outcomes: []string{"True"}},
		{Type: workflow.AlterReschedule, Bookmark: "i1~1", DueAt: &goldenLater},
		{Type: workflow.AlterRetry, Activity: "charge", NewKey: true},
	}}
	goldenTrigger  = store.TriggerRef{Hash: "hash", DefinitionID: "order-approval", Version: 3, ActivityID: "event1", Activation: "correlation", Modified: 42}
	goldenGate     = store.Gate{Definition: "order-approval", Correlation: "order-4711"}
	goldenTarget   = store.Target{Bookmark: &store.BookmarkRef{ID: "i1~1", InstanceID: "i1", Hash: "hash", CorrelationID: "order-4711", Created: 42}, Trigger: &goldenTrigger}
	goldenEffect   = store.Effect{InstanceID: "i1", Outcome: workflow.OutcomeRefused, Code: "not-found", Detail: "there is no such bookmark", Command: "c1"}
	goldenUses     = []store.Use{{RefID: "child", RefVersionID: "child-v2", RefVersion: 2, ID: "child", Version: 2}}
	goldenResponse = workflow.Response{Status: 201, ContentType: "text/plain", Headers: map[string]string{"X-B": "2", "X-A": "<1>"}, Body: []byte("made")}
)

// golden are the records, each with its key as docs/keys.md and
// docs/keys-definitions.md have it, and a file. What a record was once stays a line.
var golden = []struct {
	key, file string
	is        any
}{
	{"instance/<id>", "instance", &store.Record{
		Header: goldenInstance, State: []byte(`{"v":1,"seq":7,"executions":[{"id":"a","parent":-1,"node":"root"}]}`), Seq: 5, Gate: &goldenGate, JournalFrom: 2, JournalBytes: 4096,
	}},
	{"instance/<id>", "instance-new", &store.Record{Header: workflow.Instance{ID: "i1", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning, SubStatus: workflow.Pending, CreatedAt: goldenAt, UpdatedAt: goldenAt}}},
	{"instance/<id>", "instance-files", &store.Record{Header: workflow.Instance{ID: "i1", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning, SubStatus: workflow.Pending, CreatedAt: goldenAt, UpdatedAt: goldenAt}, Contents: true}},
	{"mailbox/<shard>/<id>/<command>", "mail-files", &workflow.Command{ID: "c1", Kind: workflow.CommandResume, CreatedAt: goldenAt, Contents: []files.Content{{Hash: "b0d1"}}}},
	{"idem/k/<key>", "answer-file", &store.Answer{BodyHash: "b0d1", Response: &workflow.Response{Status: 200, ContentType: "application/pdf", File: &files.Ref{Instance: "i1", Hash: "b0d1", Bytes: 5, Name: "a.pdf", Type: "application/pdf"}}}},
	{"instance/<id>", "instance-labels", &store.Record{Header: workflow.Instance{
		ID: "i1", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning, SubStatus: workflow.Executing, CreatedAt: goldenAt, UpdatedAt: goldenAt,
		Labels: map[string]string{"region": "north <1>", "customer": "4711"},
	}}},
	{"instance/<id>", "instance-parts", &store.Record{Header: goldenInstance, Seq: 5, Parts: []store.Part{{At: 57, Gap: 4, ID: "s145d5hn30d6sjai3jj6bie2jo", Bytes: 50_002, Kept: 38_012}}}},
	{"instance/<id>", "instance-wide", &store.Record{Header: goldenInstance, Seq: 5, Parts: []store.Part{{At: 57, Gap: 4, ID: "s145d5hn30d6sjai3jj6bie2jo", Bytes: 50_002, Kept: 38_012}}, Cut: 2, Waits: 30_000}},
	{"instance/<id>", "instance-unwritten", &store.Record{Header: goldenInstance, Seq: 6, Unwritten: &store.Unwritten{
		Gone: []workflow.Bookmark{{ID: "i1~2", Hash: "hash", ActivityType: workflow.TaskType, Name: "check", DueAt: &goldenLater, CreatedAt: goldenAt}},
		Made: []store.Span{{From: 1, To: 3}}, Moved: true, Was: "order-4711", Trace: goldenCommand.Trace, At: goldenAt, Delete: true,
	}}},
	{"journal/<id>/<seq>", "journal", &record.JournalEntry{
		Commit: "commit-1", Seq: 5, Node: "node-1", Fence: 4711, Commands: []string{"c1", "c2"}, Others: []string{"c0"}, At: goldenAt.Truncate(time.Microsecond), Took: 1500, First: 8,
		Activities: [][]string{{"event1", workflow.EventType}, {"line1", "Elsa.WriteLine"}},
		Items: []record.JournalItem{
			{Execution: 3, Parent: 1, Activity: 1, Event: "Resumed"},
			{Skip: 1, Time: 250, Command: 2, Activity: 2, Event: "WriteLine", Text: "<b>", Data: goldenValues},
		},
		Reset: true, Gone: []int64{0, 2}, Left: 3,
		Set: []record.JournalSet{{Execution: 3, Name: "v", Value: goldenValues, By: 9, Clipped: true, Hidden: true}},
	}},
	{"journal/<id>/<seq>", "journal-takeover", &record.JournalEntry{Commit: "commit-1", Seq: 6, Node: "node-2", Fence: 4712, Takeover: true, At: goldenAt.Truncate(time.Microsecond)}},
	{"mailbox/<shard>/<id>/<command>", "mail", &goldenCommand},
	{"mailbox/<shard>/<id>/<command>", "mail-alter", &workflow.Command{ID: "c1", Kind: workflow.CommandAlter, CreatedAt: goldenAt, Alter: &goldenAlter}},
	{"mailbox/<shard>/<id>/<command>", "mail-labels", &workflow.Command{ID: "c1", Kind: workflow.CommandStart, CreatedAt: goldenAt, Start: &workflow.Start{DefinitionID: "ship", Version: 1, Labels: map[string]string{"customer": "acme"}}}},
	{"mailbox/<shard>/<id>/<command>", "mail-retry-again", &workflow.Command{ID: "c1", Kind: workflow.CommandAlter, CreatedAt: goldenAt, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Again: true}}}}},
	{"mailbox/<shard>/<id>/<command>", "mail-replayed", &workflow.Command{ID: "c1", Kind: workflow.CommandResume, CreatedAt: goldenAt, Replays: 2, Bookmark: "i1~1"}},
	{"cancel/<id>", "cancel", new("c1")},
	{"send/<shard>/<id>", "send", &store.Send{ID: "s1", Stimulus: goldenStimulus, Targets: []store.Target{goldenTarget}, Key: &goldenKey, CreatedAt: goldenAt, Trace: goldenCommand.Trace}},
	{"sent/<shard>/<id>", "sent", &record.SentCount{Done: 30}},
	{"job/<id>", "job", &store.Job{
		ID: "j1", Kind: workflow.CommandAlter, Alter: &goldenAlter, Filter: "status:faulted def:order-approval version:3 label.customer:4711",
		By: "key:ops", BodyHash: "b0d1", State: store.JobCancelled, CreatedAt: goldenAt, UpdatedAt: goldenLater, EndedAt: &goldenLater, Node: "node-1", Write: "w1", Cursor: "c", Page: []string{"i1", "i2"}, Next: "n",
		Done: 1, Accepted: 2, Refused: 3, Unknown: 4, Refusals: []store.JobRefusal{{InstanceID: "i3", Code: "invalid-request", Detail: "charge does not run now"}},
	}},
	{"job/<id>", "job-became", &store.Job{ID: "j1", Kind: workflow.CommandCancel, State: store.JobRunning, CreatedAt: goldenAt, UpdatedAt: goldenLater, Write: "w1", Done: 3, Refused: 1,
		RefusedBy: map[string]int64{"instance-finished": 1}, Became: map[string]int64{"Cancelled": 1, store.JobGone: 1}, Moving: []string{"i1"}}},
	{"job/<id>", "job-late", &store.Job{ID: "j1", Kind: workflow.CommandCancel, State: store.JobRunning, CreatedAt: goldenAt, UpdatedAt: goldenLater, Write: "w1", Page: []string{"i1"}, Late: goldenAt}},
	{"job/<id>", "job-late-at", &store.Job{ID: "j1", Kind: workflow.CommandCancel, State: store.JobRunning, CreatedAt: goldenAt, UpdatedAt: goldenLater, Write: "w1", Page: []string{"i1"}, Late: goldenAt, LateAt: 7}},
	{"dead/<id>", "dead", &store.DeadLetter{
		ID: "c1@1", Reason: workflow.DeadTooLarge, Detail: "its commit is too large", Stimulus: &goldenStimulus, Targets: []store.Target{goldenTarget}, Command: &goldenCommand,
		Dropped: &store.Dropped{Bytes: 2 << 20, SHA256: "5a5a"}, InstanceID: "i1", CreatedAt: goldenAt,
	}},
	{"bookmark/<hash>/<slice>/<id>/<bookmark>", "bookmark", &record.BookmarkEntry{Instance: "i1", Type: workflow.EventType, Name: "approved", Correlation: "order-4711", Created: goldenAt}},
	{"queue/<hash>/<slice>/<item>", "queue", &store.QueueItem{ID: "q1", Stimulus: goldenStimulus, Hash: "hash", Key: &goldenKey, CreatedAt: goldenAt, Trace: goldenCommand.Trace}},
	{"queue/~gated/<definition or *>/<slice>/<created>-<item>", "queue-gated", &store.QueueItem{
		ID: "q1", Stimulus: goldenStimulus, Hash: "hash", CreatedAt: goldenAt, Held: &store.HeldStart{Event: "e1", Trigger: goldenTrigger, Gate: goldenGate},
	}},
	{"timer/<shard>/<due>/<bookmark>", "timer", &record.TimerEntry{Instance: "i1", Bookmark: "i1~1", Hash: "hash", Due: goldenLater, Trace: goldenCommand.Trace, Set: goldenAt}},
	{"task/<name>/<created>/<id>/<bookmark>", "task-past", &store.TaskPast{Attempts: 2, Worker: "packer-1", Ended: goldenLater, Why: "its lease ended", Claim: "claim-1"}},
	{"task/<name>/<created>/<id>/<bookmark>", "task-past-retried", &store.TaskPast{Attempts: 2, Why: "no paper", Retried: true}},
	{"task/<name>/<created>/<id>/<bookmark>", "task-past-limits", &store.TaskPast{ClaimBy: goldenLater, DoneWithin: time.Hour, DoneBy: goldenAt}},
	{"task-taken/<name>/<created>/<id>/<bookmark>", "task-claim-retried", &store.TaskClaim{ID: "claim-1", Worker: "packer-1", Node: "node-1", Since: goldenAt, Until: goldenLater, Lease: 30 * time.Second, Attempt: 3, Retried: true, DoneBy: goldenLater, Last: "no paper"}},
	{"task/<name>/<created>/<id>/<bookmark>", "task-past-turns", &store.TaskPast{Definition: "order", FairBy: "north"}},
	{"task-taken/<name>/<created>/<id>/<bookmark>", "task-claim-turns", &store.TaskClaim{ID: "claim-1", Worker: "packer-1", Node: "node-1", Since: goldenAt, Until: goldenLater, Lease: 30 * time.Second, Attempt: 1, Definition: "order", FairBy: "north"}},
	{"task-lease/<shard>/<at>/<bookmark>!<limit>", "task-limit", &store.TaskLease{Task: "i1~1", Name: "pack", Created: goldenAt, Limit: store.LimitDone, Within: time.Hour}},
	{"task-taken/<name>/<created>/<id>/<bookmark>", "task-claim", &store.TaskClaim{ID: "claim-1", Worker: "packer-1", Node: "node-1", Since: goldenAt, Until: goldenLater, Lease: 30 * time.Second, Attempt: 3,
		Heard: goldenAt, Progress: &goldenProgress, Text: "half <packed>"}},
	{"task-lease/<shard>/<until>/<bookmark>", "task-lease", &store.TaskLease{Task: "i1~1", Name: "pack", Created: goldenAt, Claim: "claim-1"}},
	{"limit/<name>", "limit", &store.Limit{Name: "card-service", Most: 10, At: goldenAt, By: "ann"}},
	{"limit/<name>", "limit-rate", &store.Limit{Name: "tokens", Most: limit.AnyNumber, Rate: &limit.Rate{Units: 100, Per: time.Minute}, At: goldenAt}},
	{"limit-head/<name>/<key>", "limit-head", &limit.Bucket{Taken: []limit.Taken{{At: 1767225600000, Units: 7}}, Hold: goldenLater}},
	{"limit-settle/<name>/<key>/<id>/<sequence>", "limit-settle", &limit.Settlement{At: 1767225600000, Units: 60, Used: 75, Hold: goldenLater}},
	{"limit-wait/<name>/<key>/<order>/<id>/<bookmark>", "limit-wait", &store.Place{Instance: "i1", Bookmark: "i1~1", Activity: "call", Definition: "order", Came: goldenAt}},
	{"limit-wait/<name>/<key>/<order>/<id>/<bookmark>", "limit-wait-units", &store.Place{Instance: "i1", Bookmark: "i1~1", Activity: "call", Definition: "order", Came: goldenAt, Units: 3}},
	{"limit-taken/<name>/<key>/<id>/<bookmark>", "limit-place", &store.Place{Instance: "i1", Bookmark: "i1~1", Activity: "call", Definition: "order", Came: goldenAt, Given: goldenLater, Trace: "00-1-2-01"}},
	{"idem/c/<id>/<command>", "record", &goldenEffect},
	{"idem/c/<id>/<command>", "record-misfits", &store.Effect{InstanceID: "i1", Outcome: workflow.OutcomeRefused, Code: "invalid-request", Misfits: []store.Misfit{{Code: "not-running", Detail: "charge does not run now", Pointer: "/alterations/0/activity"}}}},
	{"idem/c/<id>/<command>", "record-interrupted", &store.Effect{Outcome: workflow.OutcomeAccepted, Interrupted: "charge"}},
	{"idem/c/<id>/~deleted", "record-deleted", &record.DeletedEntry{Commit: "commit-1"}},
	{"idem/c/<id>/~deleted", "record-deleted-from", &record.DeletedEntry{Commit: "commit-1", From: 7}},
	{"idem/c/~queue/<item>", "record-accepted", &store.Effect{Outcome: workflow.OutcomeAccepted}},
	{"idem/k/<key>", "answer-receipt", &store.Answer{
		BodyHash: "b0d1", Targets: []store.Effect{{InstanceID: "i1", Outcome: workflow.OutcomeRefused, Code: "instance-finished", Seq: 7, Dead: "d1"}}, Queued: "q1", Slot: "hash/-",
		Request: "POST /api/v1/events/paid", Caller: "key:shop", At: goldenAt,
	}},
	{"idem/k/<key>", "answer-job", &store.Answer{BodyHash: "b0d1", Job: "j1", Request: "POST /api/v1/jobs", Caller: "key:ops", At: goldenAt}},
	{"idem/k/<key>", "answer-began", &store.Answer{BodyHash: "b0d1", Began: "w1", Request: "POST /api/v1/pause", Caller: "key:ops", At: goldenAt}},
	{"idem/k/<key>", "answer-reply", &store.Answer{BodyHash: "b0d1", Began: "w1", Request: "POST /api/v1/pause", At: goldenAt, Reply: &store.Reply{
		Status: 200, Type: "application/json", Body: []byte("{\"paused\":true}\n"), Location: "/api/v1/nodes", ETag: `"3"`, Headers: map[string]string{"Vary": "Accept"}}}},
	{"mailbox/<shard>/<id>/<command>", "mail-receipt", &workflow.Command{ID: "c1", Kind: workflow.CommandResume, CreatedAt: goldenAt,
		Key: &workflow.CommandKey{Name: "call-1", BodyHash: "b0d1", Request: "POST /api/v1/events/paid", Caller: "key:shop", At: goldenAt}}},
	{"mailbox/<shard>/<id>/<command>", "mail-endpoint", &workflow.Command{ID: "c1", Kind: workflow.CommandResume, CreatedAt: goldenAt,
		Key: &workflow.CommandKey{Name: "call-1", BodyHash: "b0d1", Guard: &goldenGuard, AnswerBy: goldenAt, Kept: true}}},
	{"idem/k/<key>", "answer-dead", &store.Answer{BodyHash: "b0d1", Queued: "q1", Slot: "hash/-", Dead: "q1@1"}},
	{"idem/k/<key>", "answer-open", &store.Answer{BodyHash: "b0d1", Targets: []store.Effect{goldenEffect}, Open: true}},
	{"idem/k/<key>", "answer", &store.Answer{
		BodyHash: "b0d1", Targets: []store.Effect{goldenEffect}, Queued: "q1", Instance: &goldenInstance, Response: &goldenResponse, Guard: &goldenGuard,
	}},
	{"meta/format", "format", &format.Format{Version: 2, Shards: 64, TimerShards: 16}},
	{"meta/format", "format-4", &format.Format{Version: 4, Shards: 64, TimerShards: 16}},
	{"meta/age", "age", &record.StoredAge{Etcd: "1f", Elapsed: 86400000, Marks: [][2]int64{{1, 0}, {42, 3600000}}}},
	{"meta/balance", "balance", &store.Balance{
		Etcd: "1f", Since: 41, Began: goldenAt, Because: "nobody counted before", Revision: 4711, At: goldenLater, Node: "node-1", Accepted: 20, Applied: 8, Refused: 3, Deleted: 2, SetAside: 1,
		Waiting: store.Waiting{Mailboxes: 1, Queue: 2, Sends: 1, Dead: 1}, Rests: 4, Difference: 1, Lost: []store.Lost{{Key: "queue/hash/-/q1", Revision: 4700}},
	}},
	{"webhook/<name>", "webhook", &store.Webhook{
		Name: "crm", URL: "https://example.com/<weft>?a=b&c", On: []store.WebhookKind{store.WebhookEnded, store.WebhookFaulted}, Definitions: []string{"order-approval"},
		Labels: map[string]string{"region": "north <1>"}, Secrets: []string{"crm-key", "crm-next"}, Paused: true, Because: "the receiver answered 410", By: "key:ops",
	}},
	{"webhook-at/<name>", "webhook-at", &store.WebhookPosition{At: map[string]int64{"index/Faulted/order-approval/": 4711, "dead/": 42}, Behind: map[string]store.WebhookListing{"dead/": {Cursor: "x", Revision: 43}}}},
	{"webhook-due/<name>/<due>/<letter>", "webhook-letter", &store.WebhookLetter{
		ID: "letter-1", Webhook: 41, At: goldenAt, Attempts: 2, Last: "the receiver answered 500",
		Events: []store.WebhookEvent{{ID: "e1", What: "Faulted", Subject: "i1", DefinitionID: "order-approval", Version: 3, Revision: 4711}, {ID: "e2", What: "deadLetter", Subject: "c1@1", Revision: 4712}},
	}},
	{"webhook-due/<name>/<due>/<letter>", "webhook-letter-incident", &store.WebhookLetter{
		ID: "letter-2", Webhook: 41, At: goldenAt, Events: []store.WebhookEvent{{ID: "e3", What: "incident", Subject: "i1", DefinitionID: "order-approval", Revision: 4713, Commit: 5}},
	}},
	{"webhook-at/<name>", "webhook-at-until", &store.WebhookPosition{At: map[string]int64{"index/Faulted/": 4711, "index/Faulted/order-approval/": 4700}, Until: map[string]int64{"index/Faulted/order-approval/": 4711}}},
	{"instance/<id>", "instance-failed-for-good", &store.Record{Header: workflow.Instance{
		ID: "i1", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusFinished, SubStatus: workflow.Faulted, CreatedAt: goldenAt, UpdatedAt: goldenLater, FinishedAt: &goldenLater,
		Incidents: []workflow.Incident{{ActivityID: "fault1", ActivityType: "Elsa.Fault", Message: "refunded", Time: goldenAt, Final: true}},
	}}},
	{"incident/<definition>/<id>/<seq>", "incident", &record.IncidentNote{New: 2, At: goldenAt}},
	{"incident/<definition>/<id>/<seq>", "incident-made", &record.IncidentNote{New: 2, At: goldenLater, Made: goldenAt}},
	{"webhook-failed/<name>/<letter>", "webhook-failed", &store.WebhookLetter{ID: "letter-1", Webhook: 41, At: goldenAt, Events: []store.WebhookEvent{{ID: "e1", What: "Faulted", Subject: "i1"}}}},
	{"meta/link-key", "link-key", &record.LinkKey{Key: []byte("0123456789abcdef")}},

	{"definition/<id>/head", "definition-head", &store.DefinitionHead{
		ID: "order-approval", Name: "Approval", Description: "of <orders>", Latest: 4, LatestHash: "h4", Published: 3, Hash: "h3", PublishedAt: goldenAt, UpdatedAt: goldenLater,
		Activation: "correlation", AutoUpdate: true, Usable: true, VersionID: "v3", Uses: goldenUses, Generation: 6, Deleted: &goldenLater, Purged: true, Writes: []string{"w2", "w1"},
	}},
	{"definition/<id>/head", "definition-head-set", &store.DefinitionHead{ID: "order-approval", Latest: 1, Published: 1, Hash: "h1", Set: "shop", UpdatedAt: goldenAt, Generation: 1, Writes: []string{"w1"}}},
	{"definition-version/<id>/<n>", "definition-version", &store.DefinitionVersion{
		ID: "order-approval", Version: 3, VersionID: "v3", Hash: "h3", Notation: "yaml", Source: "id: order-approval\n# <&>\n", Uses: goldenUses, Needs: []string{"Elsa.Event"}, CreatedAt: goldenAt,
	}},
	{"definition-version/<id>/<n>", "definition-version-types", &store.DefinitionVersion{
		ID: "order-approval", Version: 4, Hash: "h4", Notation: "yaml", Source: "x", Needs: []string{"declared:1"}, CreatedAt: goldenAt,
		Types: map[string]json.RawMessage{"acme.Ship": json.RawMessage(`{"type":"acme.Ship","task":"ship","inputs":[{"name":"address","type":"string","required":true}]}`)},
	}},
	{"definition-content/<id>/<hash>", "definition-content", &record.VersionRef{ID: "order-approval", Version: 3}},
	{"definition-ref/<version id>/<id>", "definition-ref", &record.VersionRef{ID: "order-approval", Version: 3}},
	{"definition-index/<id>", "definition-index", &store.IndexedKeys{
		Triggers: []store.TriggerKey{{Hash: "hash", ActivityID: "event1"}}, Routes: []store.RouteKey{{Method: "GET", Template: "orders/{id}"}}, Crons: true,
	}},
	{"trigger/<hash>/<id>/<activity>", "trigger", &store.TriggerEntry{
		DefinitionID: "order-approval", Version: 3, ActivityID: "event1", ActivityType: workflow.EventType, Hash: "hash", Name: "ordered", Activation: "correlation",
	}},
	{"route/<method>/<pattern>", "route", &store.RouteEntry{
		DefinitionID: "order-approval", Version: 3, ActivityID: "http1", Hash: "hash", Method: "GET", Template: "orders/{id}", Activation: "correlation",
		EndpointLimits: workflow.EndpointLimits{Authorize: true, Policy: "role = clerk", Timeout: time.Minute, MaxBody: 1 << 20, TooLarge: true},
	}},
	{"route/<method>/<pattern>", "route-files", &store.RouteEntry{
		DefinitionID: "order-approval", Version: 3, ActivityID: "http1", Hash: "hash", Method: "POST", Template: "orders/{id}",
		EndpointLimits: workflow.EndpointLimits{Files: &files.Rules{MaxSize: 1 << 10, Allowed: []string{".pdf"}, Blocked: []string{".exe"}, Types: []string{"application/pdf"}, SizeGoesOn: true, ExtensionGoesOn: true, TypeGoesOn: true, Unreadable: true}},
	}},
	{"cron/<shard>/<due>/<id>/<activity>", "cron", &store.CronEntry{
		DefinitionID: "order-approval", Version: 3, Generation: 6, ActivityID: "cron1", ActivityType: "Elsa.Cron", Kind: store.ScheduleCron, Expression: "0 0 9 * * *", Interval: time.Hour,
		At: &goldenAt, Due: goldenLater, CatchUp: "one", Activation: "correlation", Gated: 2, GatedAt: goldenAt,
	}},
}

// noRecord are the keys of the pages, up to what is inserted, whose values are no
// records of this package.
var noRecord = map[string]string{
	"job-open/": "empty",
	"nodes/":    "of pkg/cluster", "ability/": "of pkg/cluster", "lock/…/": "of pkg/cluster", "endpoint/": "empty", "queue-mark/": "empty", "by-correlation/": "empty", "by-parent/": "empty",
	"incident-wanted/": "empty", "label/": "empty", "signed-out/": "empty", "index/": "empty, or a number", "idem-expiry/": "empty", "definition-retired/": "empty", "definition-use/": "empty",
	"gate/": "an id", "user-task/all/": "empty", "part/": "a piece of JSON", "content/": "a piece of a file", "finished/": "a number, and maybe a word", "idem-expiry/k/": "a number", "meta/pause": "a word", "idem/c/…/": "a text that nobody reads", "damaged/": "bytes of another key",
}

// What this program writes of its format is golden: one of another number has a file of its own.
func TestTheFormatIsGolden(t *testing.T) {
	t.Parallel()
	for _, g := range golden {
		if f, ok := g.is.(*format.Format); ok && *f == format.ThisFormat {
			return
		}
	}
	t.Errorf("no record of meta/format is %+v", format.ThisFormat)
}

// What any program wrote is read as it was meant, and written again as it was.
func TestGoldenRecordsAreReadAndWrittenAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, g := range golden {
		stored := goldenFile(t, g.file+".json", func() []byte { return encoded(t, g.is) })
		got := reflect.New(reflect.TypeOf(g.is).Elem()).Interface()
		if err := db.DecodeWhole(stored, got); err != nil || !reflect.DeepEqual(got, g.is) {
			t.Errorf("%s is %+v, %v; want %+v", g.file, got, err, g.is)
		}
		if again := encoded(t, got); !bytes.Equal(again, stored) {
			t.Errorf("%s is written as\n%s\nand was\n%s", g.file, again, stored)
		}
	}
}

// What lies in etcd is called in errors as ever, wherever its type is by now.
func TestErrorsCallRecordsAsEver(t *testing.T) {
	t.Parallel()
	ever := map[string]string{"journal": "journalEntry", "bookmark": "bookmarkEntry", "timer": "timerEntry", "sent": "sentCount", "incident": "IncidentNote",
		"definition-ref": "VersionRef", "format": "format", "age": "storedAge", "link-key": "linkKey"}
	for _, g := range golden {
		name, own := ever[g.file]
		if !own {
			continue
		}
		delete(ever, g.file)
		err := db.DecodeWhole([]byte("{"), reflect.New(reflect.TypeOf(g.is).Elem()).Interface())
		if want := "damaged record: decode *etcdstore." + name + ": "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "(*etcdstore."+name+")") {
			t.Errorf("%s: %v, want %q in it", g.file, err, want)
		}
	}
	if err := db.Decode([]byte("{"), new(record.EntryHead)); !strings.Contains(err.Error(), "decode *etcdstore.entryHead: ") {
		t.Errorf("the head of an entry: %v", err)
	}
	if len(ever) > 0 {
		t.Errorf("there are no golden records of %v", ever)
	}
}

// One that is compressed is read; how well it is compressed may change.
func TestAGoldenRecordThatIsCompressedIsRead(t *testing.T) {
	t.Parallel()
	large := store.Record{Header: goldenInstance}
	large.Header.Input = map[string]any{"text": strings.Repeat("a long text. ", 1000)}
	raw, err := db.Encode(&large)
	if err != nil {
		t.Fatal(err)
	}
	stored := goldenFile(t, "instance-large.zst", func() []byte { return raw })
	if !bytes.HasPrefix(stored, db.ZstdMagic) {
		t.Error("it is not compressed")
	}
	for _, b := range [][]byte{stored, raw} {
		var got store.Record
		if err := db.DecodeWhole(b, &got); err != nil || !reflect.DeepEqual(got, large) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

// encoded is what [db.Encode] gives, of a record of any size as JSON.
func encoded(t rapid.TB, v any) []byte {
	t.Helper()
	raw, err := db.Encode(v)
	if err == nil {
		raw, err = db.Inflate(raw, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// goldenFile gives the file, which ends with a newline unless it is compressed.
func goldenFile(t *testing.T, name string, is func() []byte) []byte {
	t.Helper()
	path := filepath.Join(goldenFolder, name)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *writeGolden {
		if raw = is(); strings.HasSuffix(name, ".json") {
			raw = append(raw, '\n')
		}
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		t.Fatalf("%v (go test -run Golden -golden writes it)", err)
	}
	return bytes.TrimSuffix(raw, []byte("\n"))
}

// Each kind of record has a file, and each field of it is in one.
func TestEveryRecordIsGolden(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+/[^`]*)`")
	var pages []string
	for _, page := range []string{"keys.md", "keys-definitions.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			pages = append(pages, m[1])
		}
	}
	seen := map[string]bool{}
	for _, g := range golden {
		if !slices.Contains(pages, g.key) {
			t.Errorf("no page has the key %s", g.key)
		}
		fieldsSet(seen, reflect.ValueOf(g.is).Elem())
	}
	for _, key := range pages {
		plain, _, _ := strings.Cut(key, "<")
		has := noRecord[plain] != ""
		for _, g := range golden {
			has = has || g.key == key
		}
		if !has {
			t.Errorf("no record of %s is golden", key)
		}
	}
	for field, set := range seen {
		if !set && field != "workflow.JournalItem.Burst" { // journalItem has one in front of it
			t.Errorf("the field %s is in no golden record", field)
		}
	}
	if len(pages) < 40 || len(seen) < 150 {
		t.Errorf("found %d keys, %d fields", len(pages), len(seen))
	}
}

// fieldsSet notes which fields of stored structs are anything but their zero value.
func fieldsSet(seen map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fieldsSet(seen, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			fieldsSet(seen, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") == "-" {
				continue
			}
			name := v.Type().String() + "." + f.Name
			seen[name] = seen[name] || !v.Field(i).IsZero()
			fieldsSet(seen, v.Field(i))
		}
	}
}
