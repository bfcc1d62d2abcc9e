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
	"github.com/weft-run/weft/pkg/workflow"
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

func goldenCalls() []call {
	k := keysBelow("/weft/c/")
	header := func(at time.Time) *workflow.Instance {
		return &workflow.Instance{ID: oddTenant, DefinitionID: oddID, Version: 12, SubStatus: workflow.Suspended, CreatedAt: at, UpdatedAt: at}
	}
	ended := header(oddTime)
	ended.FinishedAt = new(oddLate)
	return slices.Concat(goldenBuilders(k), goldenDefinitionBuilders(k), goldenParts(), goldenIDs(), []call{
		by(k.indexEntry, header(oddEarly)), by(k.indexEntry, header(oddTime)), by(k.indexEntry, header(oddLate)),
		by(k.finished, header(oddEarly)), by(k.finished, header(oddTime)), by(k.finished, ended),
		by(place, header(oddTime)), by(PlaceOf, header(oddTime)),
		by(k.task, &workflow.Bookmark{ID: oddBookmark, Name: oddText, CreatedAt: oddTime}), by(k.task, &workflow.Bookmark{ID: oddBookmark, CreatedAt: oddEarly}),
		by(k.task, &workflow.Bookmark{ID: "i~1", Name: strings.Repeat("n", maxTaskName+1), CreatedAt: oddLate}),
		by(k.owned, &find.Filter{Parent: oddText, CorrelationID: oddText, Labels: map[string]string{oddText: "a"}}),
		by(k.listOf, k.indexEntry(header(oddTime))), by(k.listOf, k.indexes()), by(k.cronOwner, k.cron(oddID, oddText, oddTime)),
	})
}

// goldenBuilders are the builders of keys, but for those of definitions.
func goldenBuilders(k keys) []call {
	return []call{
		by(k.instance, oddTenant), by(k.journal, oddID, int64(7)), by(k.journal, oddID, int64(1234567890123)), by(k.journalOf, oddID), by(k.partsOf, oddID), by(k.part, oddTenant, "s145d5hn30d6sjai3jj6bie2jo"),
		by(k.mailboxes), by(k.mailbox, oddID), by(k.mailbox, oddTenant), by(k.mail, oddTenant, oddText), by(k.mail, "i1", ""), by(k.cancels), by(k.cancel, oddID),
		by(k.sends), by(k.send, oddID), by(k.sent, oddID), by(k.deads), by(k.dead, oddID+"@2026-11-22T08:00:00.123456789Z"),
		by(k.bookmarks, "hash"), by(k.bookmarkSlice, "hash", ""), by(k.bookmarkSlice, "hash", oddText), by(k.bookmark, "hash", "", oddBookmark), by(k.bookmark, "hash", oddText, "i1~1"), by(k.bookmark, "hash", "a", "i1"),
		by(k.queues), by(k.queue, "hash"), by(k.queueSlice, "hash", "-"), by(k.marks), by(k.marksOf, k.queueSlice("hash", "-")), by(k.mark, k.queueSlice("hash", "@"+oddTenant), oddID), by(k.mark, k.queueSlice("hash", "-"), oddText),
		by(k.gatedQueues), by(k.gatedQueue, store.Gate{}), by(k.gatedQueue, store.Gate{Definition: oddID, Correlation: oddText}), by(k.gate, oddID, ""), by(k.gateOf, store.Gate{Correlation: oddText}), by(k.gateOf, store.Gate{Definition: oddID}),
		by((&base{keys: k}).queueKey, &store.QueueItem{ID: oddText, Hash: "hash"}),
		by((&base{keys: k}).queueKey, &store.QueueItem{ID: "q1", Hash: "hash", Stimulus: workflow.Stimulus{InstanceID: oddTenant, CorrelationID: oddText}}),
		by((&base{keys: k}).queueKey, &store.QueueItem{ID: oddText, Held: &store.HeldStart{Gate: store.Gate{Correlation: oddText}}, CreatedAt: oddTime}),
		by((&base{keys: k}).queueKey, &store.QueueItem{ID: "q1", Held: &store.HeldStart{Gate: store.Gate{Definition: oddID}}, CreatedAt: oddEarly}),
		by((&base{keys: k}).slot, &workflow.Stimulus{ActivityType: workflow.EventType, Payload: workflow.EventPayload(oddText), CorrelationID: oddText}),
		by(k.timers, 10), by(k.timer, oddBookmark, oddEarly), by(k.timer, oddBookmark, oddTime), by(k.timer, "i1~1", oddLate), by(k.misplacedTimer, "i1~1", oddLate), by(k.timersOf, &workflow.Bookmark{ID: oddBookmark, DueAt: &oddTime}), by(k.timersOf, &workflow.Bookmark{ID: "i1~1", DueAt: &oddLate}), by(k.dated, Timers, 15), by(k.dated, Schedules, 15),
		by(k.commandRecords), by(k.commandRecord, oddTenant, oddText), by(k.commandRecord, "~queue", "q1"), by(k.commandRecord, oddID, deletedRecord), by(k.commandRecord, doneRecords, "s1"),
		by(k.keyRecord, oddText), by(k.expiries), by(k.expiry, int64(86400000), k.commandRecord("~send", oddText)), by(k.keyExpiries), by(k.keyExpiry, int64(12345678901234), k.keyRecord("k1")),
		by(k.indexes), by(k.index, workflow.Faulted), by(k.indexOf, workflow.Faulted, oddID), by(k.indexOfVersion, workflow.Faulted, oddID, 3), by(k.running, oddID),
		by(k.children, oddText), by(k.labels), by(k.labelled, oddText, ""), by(k.labelled, "a", oddText), by(k.tasks, ""), by(k.tasks, oddText), by(k.correlation, ""), by(k.correlation, oddText), by(k.finishedIn, 10),
		by(k.pause), by(k.format), by(k.age), by(k.balance), by(k.links), by(k.aside, k.mail("i1", oddText), int64(42), 0), by(k.aside, k.mail("i1", oddText), int64(42), 2),
		by(k.shapes, "GET", "any"), by(k.shape, "POST", "/Orders/{id:int}/é/"), by(k.shape, "GET", "files/{**rest}"), by(k.shape, "GET", ""),
		by(k.jobs), by(k.job, oddText), by(k.openJobs),
		by(k.webhooks), by(k.webhook, oddID), by(k.webhookAt, oddID), by(k.webhookDues, oddID), by(k.webhookDue, oddID, oddTime, "l1"), by(k.webhookDue, oddID, oddEarly, "l1"), by(k.webhookFails, oddID), by(k.webhookFailed, oddID, "l1"),
		by(k.incidents), by(k.incidentsOf, oddID), by(k.incidentsIn, oddID, oddTenant), by(k.incident, oddID, oddTenant, int64(7)), by(k.allWanted), by(k.wantedOf, anyDefinition), by(k.wanted, oddID, "crm"),
		by(k.signOuts), by(k.signOutsUntil, oddLate), by(k.signOut, oddTime, oddText, oddText), by(k.signOut, oddEarly, "", ""), by(k.signOutOfAll, oddTime, oddText, oddEarly),
	}
}

func goldenDefinitionBuilders(k keys) []call {
	return []call{
		by(k.triggers, "hash"), by(k.trigger, "hash", oddID, oddText), by(k.routes), by(k.route, "GET", "orders/{}/é"), by(k.route, "GET", ""),
		by(k.crons, 10), by(k.cron, oddID, oddText, oddEarly), by(k.cron, oddID, "cron1", oddTime), by(k.cron, oddTenant, "cron1", oddLate),
		by(k.definitions), by(k.definition, oddID), by(k.head, oddID), by(k.allBodies), by(k.bodies, oddID), by(k.body, oddID, 7), by(k.body, oddID, 1234567890), by(k.retirements), by(k.retired, oddID, 7),
		by(k.uses), by(k.usesOf, oddID, 7), by(k.use, oddID, 7, usedVersion{ID: oddTenant, Version: 12}), by(k.content, oddID, "h-_A"), by(k.content, oddID, oddText), by(k.versionIDs, oddText), by(k.versionID, oddText, oddID), by(k.indexed, oddID),
	}
}

// goldenParts are parts of keys.
func goldenParts() []call {
	var all []call
	for _, s := range []string{"", "i1", oddID, oddTenant, oddBookmark, oddText} {
		all = append(all, by(encode, s), by(decode, encode(s)), by(slice, s), by(shardOf, s), by(timerShard, s), by(shard, s, uint32(FinishedShards)), by(shard, s, uint32(sliceMarks)))
	}
	for _, at := range []time.Time{{}, oddEarly, oddTime, oddLate} {
		all = append(all, by(millis, at), by(fromMillis, millis(at)), by(newest, at), by(fromNewest, newest(at)))
	}
	return append(all, by(decode, "%zz"), by(fromMillis, "x"), by(fromMillis, "12345678901234"), by(misplaced, "12345678901234"), by(misplaced, "1234567890123"), by(misplacedMillis, oddLate), by(misplacedMillis, oddTime), by(PlaceAt, oddTime), by(fromNewest, "x"), by(ageKey, int64(0)), by(ageKey, int64(12345678901234)), by(addressed, oddTenant),
		by(segmentsIn, 3), by(workflow.SplitBookmarkID, oddBookmark), by(workflow.SplitBookmarkID, "i1"), by(workflow.BookmarkID, oddTenant, "1"),
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
		by(DeadID, oddTenant, cmd), by(StimulusDeadID, oddID, oddTime), by(StimulusDeadID, oddID, oddEarly),
		by(store.TargetCommand, oddID, oddBookmark), by(store.TriggeredStart, oddID, oddTenant, oddText), by(store.TriggeredInstance, oddID, oddTenant, oddText), by(store.GatedItem, oddID),
		by(store.ChildEndCommand, oddBookmark, oddID), by(store.CancelCommand, oddTenant, oddID), by(store.TimerCommand, oddBookmark), by(store.JobCommand, oddID, oddTenant), by(store.Again, oddID, oddBookmark),
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
	return strings.Replace(strings.TrimPrefix(name[strings.LastIndex(name, "/")+1:], "etcdstore."), "(*base).", "(*conn).", 1) + "(" + strings.Join(args, ", ") + ")"
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
	builders := map[string]bool{"keys": true}
	for i := range reflect.TypeFor[keys]().NumField() {
		if f := reflect.TypeFor[keys]().Field(i); f.Anonymous {
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
	found := 0
	for _, file := range append(files, filepath.Join("..", "ids.go")) {
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
			case parsed.Name.Name == "store":
				name = "store." + name
			case file != "keys.go" || name == "keysBelow":
				continue
			}
			if found++; !has[name] {
				t.Errorf("%s is not in goldenCalls (%s)", name, file)
			}
		}
	}
	if found < 120 {
		t.Errorf("found %d builders", found)
	}
}
