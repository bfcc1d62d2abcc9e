package etcdstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// goldenKeys has a line for each call of goldenCalls, and what it gave some program. What is
// stored lies at such keys and has such ids: a program that makes others finds none of it.
// What is there is not changed: for what is new a call is added here, and -golden adds its line.
const goldenKeys = "keys.txt"

// Ids as clients choose them, and as they may come to be; texts with what a key has to encode.
const (
	oddID       = "a.B_9:-z"
	oddTenant   = "07!a~b"
	oddBookmark = "07!a~b~1v/é"
	oddText     = "é/ß %+&~😀"
)

var (
	oddEarly = time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC) // before 1970
	oddTime  = time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.FixedZone("", 3600))
	oddLate  = time.UnixMilli(12345678901234).UTC() // has more than 13 digits
)

// call is a function and what it is called with.
type call struct {
	fn   any
	with []any
}

func by(fn any, with ...any) call { return call{fn, with} }

// goldenLimited is a task that is to be claimed within a time.
func goldenLimited() *workflow.Bookmark {
	terms := task.Terms{ClaimWithin: 90 * time.Second}
	return &workflow.Bookmark{ID: oddBookmark, ActivityType: workflow.TaskType, Name: oddText, CreatedAt: oddTime, Payload: terms.Into(map[string]any{})}
}

// goldenUrgent is a task of the highest priority.
func goldenUrgent() *workflow.Bookmark {
	terms := task.Terms{Above: task.MostPriority - task.UsualPriority}
	return &workflow.Bookmark{ID: oddBookmark, ActivityType: workflow.TaskType, Name: oddText, CreatedAt: oddTime, Payload: terms.Into(map[string]any{})}
}

// goldenAsked is a user task for some people.
func goldenAsked(users []any) *workflow.Bookmark {
	return &workflow.Bookmark{ID: oddBookmark, ActivityType: workflow.TaskType, Name: task.UserName, CreatedAt: oddTime, Metadata: map[string]any{
		"priority": int64(80), "dueAt": oddTime.Format(time.RFC3339Nano), "users": users, "groups": users[:min(1, len(users))],
	}}
}

func goldenCalls() []call {
	k := record.KeysBelow("/weft/c/")
	header := func(at time.Time) *workflow.Instance {
		return &workflow.Instance{ID: oddTenant, DefinitionID: oddID, Version: 12, SubStatus: workflow.Suspended, CreatedAt: at, UpdatedAt: at}
	}
	ended := header(oddTime)
	ended.FinishedAt = new(oddLate)
	return slices.Concat(goldenBuilders(k), goldenDefinitionBuilders(k), goldenParts(), goldenIDs(), []call{
		by(k.IndexEntry, header(oddEarly)), by(k.IndexEntry, header(oddTime)), by(k.IndexEntry, header(oddLate)),
		by(k.Finished, header(oddEarly)), by(k.Finished, header(oddTime)), by(k.Finished, ended),
		by(record.Place, header(oddTime)), by(PlaceOf, header(oddTime)),
		by(k.Task, &workflow.Bookmark{ID: oddBookmark, Name: oddText, CreatedAt: oddTime}), by(k.Task, &workflow.Bookmark{ID: oddBookmark, CreatedAt: oddEarly}),
		by(k.Task, &workflow.Bookmark{ID: "i~1", Name: strings.Repeat("n", record.MaxTaskName+1), CreatedAt: oddLate}),
		by(k.Owned, &find.Filter{Parent: oddText, CorrelationID: oddText, Labels: map[string]string{oddText: "a"}}),
		by(k.ListOf, k.IndexEntry(header(oddTime))), by(k.ListOf, k.Indexes()), by(k.CronOwner, k.Cron(oddID, oddText, oddTime)),
	})
}

// goldenBuilders are the builders of keys, but for those of definitions.
func goldenBuilders(k record.Keys) []call {
	return []call{
		by(k.Instance, oddTenant), by(k.Journal, oddID, int64(7)), by(k.Journal, oddID, int64(1234567890123)), by(k.JournalOf, oddID), by(k.PartsOf, oddID), by(k.Part, oddTenant, "s145d5hn30d6sjai3jj6bie2jo"),
		by(k.Mailboxes), by(k.Mailbox, oddID), by(k.Mailbox, oddTenant), by(k.Mail, oddTenant, oddText), by(k.Mail, "i1", ""), by(k.Cancels), by(k.Cancel, oddID),
		by(k.Sends), by(k.Send, oddID), by(k.Sent, oddID), by(k.Deads), by(k.Dead, oddID+"@2026-11-22T08:00:00.123456789Z"),
		by(k.Bookmarks, "hash"), by(k.BookmarkSlice, "hash", ""), by(k.BookmarkSlice, "hash", oddText), by(k.Bookmark, "hash", "", oddBookmark), by(k.Bookmark, "hash", oddText, "i1~1"), by(k.Bookmark, "hash", "a", "i1"),
		by(k.Queues), by(k.Queue, "hash"), by(k.QueueSlice, "hash", "-"), by(k.Marks), by(k.MarksOf, k.QueueSlice("hash", "-")), by(k.Mark, k.QueueSlice("hash", "@"+oddTenant), oddID), by(k.Mark, k.QueueSlice("hash", "-"), oddText),
		by(k.GatedQueues), by(k.GatedQueue, store.Gate{}), by(k.GatedQueue, store.Gate{Definition: oddID, Correlation: oddText}), by(k.Gate, oddID, ""), by(k.GateOf, store.Gate{Correlation: oddText}), by(k.GateOf, store.Gate{Definition: oddID}),
		by((&record.Conn{Keys: k}).QueueKey, &store.QueueItem{ID: oddText, Hash: "hash"}),
		by((&record.Conn{Keys: k}).QueueKey, &store.QueueItem{ID: "q1", Hash: "hash", Stimulus: workflow.Stimulus{InstanceID: oddTenant, CorrelationID: oddText}}),
		by((&record.Conn{Keys: k}).QueueKey, &store.QueueItem{ID: oddText, Held: &store.HeldStart{Gate: store.Gate{Correlation: oddText}}, CreatedAt: oddTime}),
		by((&record.Conn{Keys: k}).QueueKey, &store.QueueItem{ID: "q1", Held: &store.HeldStart{Gate: store.Gate{Definition: oddID}}, CreatedAt: oddEarly}),
		by((&record.Conn{Keys: k}).Slot, &workflow.Stimulus{ActivityType: workflow.EventType, Payload: workflow.EventPayload(oddText), CorrelationID: oddText}),
		by(k.Timers, 10), by(k.Timer, oddBookmark, oddEarly), by(k.Timer, oddBookmark, oddTime), by(k.Timer, "i1~1", oddLate), by(k.MisplacedTimer, "i1~1", oddLate), by(k.TimersOf, &workflow.Bookmark{ID: oddBookmark, DueAt: &oddTime}), by(k.TimersOf, &workflow.Bookmark{ID: "i1~1", DueAt: &oddLate}), by(k.Dated, record.Timers, 15), by(k.Dated, record.Schedules, 15), by(k.Dated, record.TaskLeases, 15),
		by(k.CommandRecords), by(k.CommandRecord, oddTenant, oddText), by(k.CommandRecord, "~queue", "q1"), by(k.CommandRecord, oddID, record.DeletedRecord), by(k.CommandRecord, record.DoneRecords, "s1"),
		by(k.KeyRecord, oddText), by(k.Expiries), by(k.Expiry, int64(86400000), k.CommandRecord("~send", oddText)), by(k.KeyExpiries), by(k.KeyExpiry, int64(12345678901234), k.KeyRecord("k1")),
		by(k.Indexes), by(k.Index, workflow.Faulted), by(k.IndexOf, workflow.Faulted, oddID), by(k.IndexOfVersion, workflow.Faulted, oddID, 3), by(k.Running, oddID),
		by(k.Children, oddText), by(k.Labels), by(k.Labelled, oddText, ""), by(k.Labelled, "a", oddText), by(k.Tasks, ""), by(k.Tasks, oddText), by(k.Taken.Tasks, ""), by(k.Taken.Tasks, oddText), by(k.Taken.Task, &workflow.Bookmark{ID: oddBookmark, Name: oddText, CreatedAt: oddTime}), by(k.Taken.Task, &workflow.Bookmark{ID: "i1~1", CreatedAt: oddEarly}), by(k.Taken.Leases, 10), by(k.Taken.Lease, oddBookmark, oddTime), by(k.Taken.Lease, "i1~1", oddEarly), by(k.Taken.Limit, oddBookmark, store.LimitDone, oddTime), by(k.Taken.KeysOf, goldenLimited()), by(k.Task, goldenUrgent()), by(k.Taken.KeysOf, &workflow.Bookmark{ID: "i1~1", ActivityType: workflow.TaskType, CreatedAt: oddTime}), by(k.People.Lists), by(k.People.All), by(k.People.Nobodys), by(k.People.User, oddText), by(k.People.Group, oddText), by(k.People.Entries, goldenAsked(nil)), by(k.People.Entries, goldenAsked([]any{oddText, "anna", "anna"})), by(k.People.Entries, goldenLimited()), by(k.Limits.All), by(k.Limits.Limit, oddText), by(k.Limits.Heads), by(k.Limits.Head, limit.Line{Limit: oddText}), by(k.Limits.Settlements), by(k.Limits.SettlementsOf, limit.Line{Limit: oddText}), by(k.Limits.Settlement, limit.Line{Limit: "a", Key: oddText}, "i1", int64(7)), by(k.Limits.Waits), by(k.Limits.Line, limit.Line{Limit: "a", Key: oddText}), by(k.Limits.Places), by(k.Limits.Taken, limit.Line{Limit: oddText, Key: "b"}), by(k.Limits.Wait, goldenWait, goldenWaiting()), by(k.Limits.Place, goldenWait.Line, oddBookmark), by(k.Limits.KeysOf, goldenWaiting()), by(k.Correlation, ""), by(k.Correlation, oddText), by(k.FinishedIn, 10),
		by(record.ContentKeys{Root: k.Root}.Contents), by(record.ContentKeys{Root: k.Root}.ContentsOf, oddTenant), by(record.ContentKeys{Root: k.Root}.Content, oddID, "b0d1"), by(record.ContentKeys{Root: k.Root}.Piece, oddID, "b0d1", 0), by(record.ContentKeys{Root: k.Root}.Piece, oddTenant, "b0d1", 15),
		by(k.Pause), by(k.Format), by(k.Age), by(k.Balance), by(k.Links), by(k.Aside, k.Mail("i1", oddText), int64(42), 0), by(k.Aside, k.Mail("i1", oddText), int64(42), 2),
		by(k.Shapes, "GET", "any"), by(k.Shape, "POST", "/Orders/{id:int}/é/"), by(k.Shape, "GET", "files/{**rest}"), by(k.Shape, "GET", ""),
		by(k.Jobs), by(k.Job, oddText), by(k.OpenJobs),
		by(k.Webhooks), by(k.Webhook, oddID), by(k.WebhookAt, oddID), by(k.WebhookDues, oddID), by(k.WebhookDue, oddID, oddTime, "l1"), by(k.WebhookDue, oddID, oddEarly, "l1"), by(k.WebhookFails, oddID), by(k.WebhookFailed, oddID, "l1"),
		by(k.Incidents), by(k.IncidentsOf, oddID), by(k.IncidentsIn, oddID, oddTenant), by(k.Incident, oddID, oddTenant, int64(7)), by(k.AllWanted), by(k.WantedOf, record.AnyDefinition), by(k.Wanted, oddID, "crm"),
		by(k.SignOuts), by(k.SignOutsUntil, oddLate), by(k.SignOut, oddTime, oddText, oddText), by(k.SignOut, oddEarly, "", ""), by(k.SignOutOfAll, oddTime, oddText, oddEarly),
	}
}

func goldenDefinitionBuilders(k record.Keys) []call {
	return []call{
		by(k.Triggers, "hash"), by(k.Trigger, "hash", oddID, oddText), by(k.Routes), by(k.Route, "GET", "orders/{}/é"), by(k.Route, "GET", ""),
		by(k.Crons, 10), by(k.Cron, oddID, oddText, oddEarly), by(k.Cron, oddID, "cron1", oddTime), by(k.Cron, oddTenant, "cron1", oddLate),
		by(k.Definitions), by(k.Definition, oddID), by(k.Head, oddID), by(k.AllBodies), by(k.Bodies, oddID), by(k.Body, oddID, 7), by(k.Body, oddID, 1234567890), by(k.Retirements), by(k.Retired, oddID, 7),
		by(k.Uses), by(k.UsesOf, oddID, 7), by(k.Use, oddID, 7, record.UsedVersion{ID: oddTenant, Version: 12}), by(k.Content, oddID, "h-_A"), by(k.Content, oddID, oddText), by(k.VersionIDs, oddText), by(k.VersionID, oddText, oddID), by(k.Indexed, oddID),
	}
}

// goldenParts are parts of keys.
func goldenParts() []call {
	var all []call
	for _, s := range []string{"", "i1", oddID, oddTenant, oddBookmark, oddText} {
		all = append(all, by(record.Encode, s), by(record.Decode, record.Encode(s)), by(record.Slice, s), by(record.ShardOf, s), by(record.TimerShard, s), by(record.Shard, s, uint32(record.FinishedShards)), by(record.Shard, s, uint32(record.SliceMarks)))
	}
	for _, at := range []time.Time{{}, oddEarly, oddTime, oddLate} {
		all = append(all, by(record.Millis, at), by(record.FromMillis, record.Millis(at)), by(record.Newest, at), by(record.FromNewest, record.Newest(at)))
	}
	return append(all, by(record.Decode, "%zz"), by(record.FromMillis, "x"), by(record.FromMillis, "12345678901234"), by(record.Misplaced, "12345678901234"), by(record.Misplaced, "1234567890123"), by(record.MisplacedMillis, oddLate), by(record.MisplacedMillis, oddTime), by(upkeep.PlaceAt, oddTime), by(record.FromNewest, "x"), by(record.AgeKey, int64(0)), by(record.AgeKey, int64(12345678901234)), by(record.Addressed, oddTenant),
		by(record.SegmentsIn, 3), by(workflow.SplitBookmarkID, oddBookmark), by(workflow.SplitBookmarkID, "i1"), by(workflow.BookmarkID, oddTenant, "1"),
		by(workflow.RoutePattern, "/Orders/{id:int}/É/{**rest}"), by(workflow.RouteShape, "orders/{}/é/{**}"))
}

// goldenIDs are what ids and hashes are derived from, and what they are.
func goldenIDs() []call {
	var all []call
	for _, payload := range []any{
		nil, "", oddText, true, map[string]any{}, []any{}, map[string]any{"": nil},
		1, json.Number("1.0"), json.Number("1e0"), json.Number("-0"), 0, 0.1, json.Number("1E+2"), 1e21, 5e-324, int64(9007199254740993), json.Number("18446744073709551616"), json.Number("0.10000000000000000001"), json.Number("1e400"),
		map[string]any{"b": []any{int64(1), "<&>", nil, map[string]any{"é": 1.5, "e": false}}, "B": map[string]any{}, "a\"\\\u2028\x00": "\n"},
		map[string]any{"at": oddTime}, struct{ Name, Other string }{oddText, "a"},
		workflow.EventPayload("approved"), workflow.EventPayload(oddText), workflow.EndpointPayload("post", "/Orders/{id:int}/"), map[string]any{"childInstanceId": oddTenant},
	} {
		all = append(all, by(workflow.Hash, workflow.EventType, payload))
	}
	cmd := &workflow.Command{ID: oddText, CreatedAt: oddTime}
	return append(all, by(workflow.Hash, "", nil), by(workflow.Hash, oddText, "a"), by(workflow.Hash, workflow.TaskType, workflow.EventPayload("approved")),
		by(workflow.EventPayload, oddText), by(workflow.EndpointPayload, "post", "/Orders/{id:int}/"),
		by(workflow.DeriveID), by(workflow.DeriveID, ""), by(workflow.DeriveID, "", ""), by(workflow.DeriveID, "ab", "c"), by(workflow.DeriveID, "a", "bc"), by(workflow.DeriveID, oddText, oddBookmark, strings.Repeat("long", 100)),
		by(record.DeadID, oddTenant, cmd), by(record.StimulusDeadID, oddID, oddTime), by(record.StimulusDeadID, oddID, oddEarly),
		by(store.TargetCommand, oddID, oddBookmark), by(store.TriggeredStart, oddID, oddTenant, oddText), by(store.TriggeredInstance, oddID, oddTenant, oddText), by(store.GatedItem, oddID),
		by(store.ChildEndCommand, oddBookmark, oddID), by(store.CancelCommand, oddTenant, oddID), by(store.TimerCommand, oddBookmark), by(store.PlaceCommand, oddBookmark), by(store.TaskCommand, oddBookmark), by(store.JobCommand, oddID, oddTenant), by(store.Again, oddID, oddBookmark),
		by(store.ScheduledInstance, oddID, oddText, oddTime), by(store.ScheduledInstance, oddID, oddText, oddEarly), by(store.KeyedInstance, oddText), by(store.KeyedJob, oddText),
		by(store.KeyName, oddText, oddText), by(store.KeyName, "", ""), by(store.KeyPrefix, oddText))
}

// String is the line of the file up to what the call gives.
func (c call) String() string {
	name := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(c.fn).Pointer()).Name(), "-fm")
	args := make([]string, len(c.with))
	for i, v := range c.with {
		args[i] = shown(v)
	}
	return inGolden(name[strings.LastIndex(name, "/")+1:]) + "(" + strings.Join(args, ", ") + ")"
}

// inGolden is the name by which the file has a function: what was moved to a room, or below the store, keeps that which it had.
func inGolden(name string) string {
	room, of, _ := strings.Cut(name, ".")
	switch room {
	case "etcdstore", "lists", "definitions", "commits", "stimuli", "upkeep":
		return of
	case "record":
	default:
		return name
	}
	if of == "DeadID" || of == "StimulusDeadID" {
		return of
	}
	parts := strings.Split(strings.Replace(of, "(*Conn).", "(*conn).", 1), ".")
	for i, part := range parts {
		parts[i] = strings.ToLower(part[:1]) + part[1:]
	}
	return strings.Join(parts, ".")
}

// gives calls it.
func (c call) gives() string {
	in := make([]reflect.Value, len(c.with))
	for i, v := range c.with {
		in[i] = reflect.ValueOf(&v).Elem()
		if v != nil {
			in[i] = in[i].Elem()
		}
	}
	var out []string
	for _, v := range reflect.ValueOf(c.fn).Call(in) {
		if text, ok := v.Interface().(string); ok {
			out = append(out, text)
		} else if !v.IsZero() || v.Kind() != reflect.Interface { // no error
			out = append(out, shown(v.Interface()))
		}
	}
	return strings.Join(out, ", ")
}

// shown is a value as JSON; a record without what it does not say, so that a field that is
// added to it changes no line.
func shown(v any) string {
	raw, err := workflow.Marshal(v)
	if err != nil {
		return err.Error()
	}
	is := reflect.Indirect(reflect.ValueOf(v))
	if _, isTime := v.(time.Time); is.Kind() != reflect.Struct || isTime {
		return string(raw)
	}
	var tree any
	if err := workflow.Unmarshal(raw, &tree); err != nil {
		return err.Error()
	}
	raw, _ = workflow.Marshal(spoken(tree)) // it was JSON before
	return string(raw)
}

func spoken(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for key, value := range object {
		if value = spoken(value); value == nil || reflect.ValueOf(value).IsZero() || value == "0001-01-01T00:00:00Z" || fmt.Sprint(value) == "map[]" {
			delete(object, key)
		} else {
			object[key] = value
		}
	}
	return object
}

// Keys and ids are made as any program made them, or what it stored is found no more.
func TestGoldenKeysAreMadeAsTheyWere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(goldenFolder, goldenKeys)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	stored, order := map[string]string{}, strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for _, line := range order {
		made, gave, _ := strings.Cut(line, ") = ")
		stored[made+")"] = gave
	}
	if len(raw) == 0 {
		order, stored = nil, map[string]string{}
	}
	made := map[string]bool{}
	for _, c := range goldenCalls() {
		name, gives := c.String(), c.gives()
		made[name] = true
		was, ok := stored[name]
		switch {
		case !ok && *writeGolden:
			order, stored[name] = append(order, name+" = "+gives), gives
		case !ok:
			t.Errorf("%s is not in %s (go test -run Golden -golden adds it)", name, goldenKeys)
		case was != gives:
			t.Errorf("%s gives\n%s\nand gave\n%s\nWhat is stored under that is found no more: docs/operations/upgrade.md", name, gives, was)
		}
	}
	for name := range stored {
		if !made[name] {
			t.Errorf("%s is in %s and not called any more", name, goldenKeys)
		}
	}
	if *writeGolden {
		if err := os.WriteFile(path, []byte(strings.Join(order, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Each function that builds a key, a part of one, or an id, has a line.
func TestEveryBuilderOfKeysIsGolden(t *testing.T) {
	t.Parallel()
	builders := map[string]bool{"Keys": true}
	for i := range reflect.TypeFor[record.Keys]().NumField() {
		if f := reflect.TypeFor[record.Keys]().Field(i); f.Anonymous {
			builders[f.Name] = true
		}
	}
	has := map[string]bool{}
	for _, c := range goldenCalls() {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.String(), "(*conn)."), "(")
		has[name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	const room = "internal/record/"
	below, err := filepath.Glob(room + "*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range slices.Concat(files, below, []string{filepath.Join("..", "ids.go")}) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Name.Name
			switch {
			case f.Recv != nil:
				of := strings.TrimPrefix(fmt.Sprint(f.Recv.List[0].Type), "&{")
				if name = of + "." + name; !builders[of] {
					continue
				}
			case parsed.Name.Name != "store" && file != room+"keys.go" || name == "KeysBelow":
				continue
			}
			name = inGolden(parsed.Name.Name + "." + name)
			if found++; !has[name] {
				t.Errorf("%s is not in goldenCalls (%s)", name, file)
			}
		}
	}
	if found < 120 {
		t.Errorf("found %d builders", found)
	}
}

var goldenWait = limit.Wait{Line: limit.Line{Limit: oddText, Key: "acme"}, Priority: 7}

// goldenWaiting is a bookmark that waits for a place.
func goldenWaiting() *workflow.Bookmark {
	return &workflow.Bookmark{ID: oddBookmark, ActivityType: limit.Type, Payload: goldenWait.Payload(), CreatedAt: oddTime}
}
