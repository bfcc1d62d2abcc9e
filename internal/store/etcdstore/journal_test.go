package etcdstore

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// drawItems are items as a burst makes them, or any others.
func drawItems(t *rapid.T, began time.Time) []workflow.JournalItem {
	hostile := []string{"", "line", "greet/line", "\x00\"<b>\u2028", strings.Repeat("n", 300)}
	word := rapid.SampledFrom(hostile)
	number := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, 1<<60))
	var items []workflow.JournalItem
	seq := rapid.Int64Range(0, 1<<60).Draw(t, "first")
	for range rapid.IntRange(0, 8).Draw(t, "items") {
		it := workflow.JournalItem{
			Sequence: seq, Time: began.Add(time.Duration(rapid.Int64Range(-1e12, 1e15).Draw(t, "µs")) * time.Microsecond),
			Burst: rapid.SampledFrom([]string{"c0", "c1", "before", ""}).Draw(t, "burst"), Execution: number.Draw(t, "execution"), Parent: number.Draw(t, "parent"),
			ActivityID: word.Draw(t, "id"), ActivityType: word.Draw(t, "type"), Event: word.Draw(t, "event"), Text: word.Draw(t, "text"),
			Data: rapid.SampledFrom([]any{nil, int64(1), "x", map[string]any{"inputs": map[string]any{"n": json.Number("123456789012345678901234567890")}}}).Draw(t, "data"),
		}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			it.Execution = it.Sequence
		case 1:
			if len(items) > 0 { // one more about the same
				last := items[len(items)-1]
				it.Execution, it.Parent, it.ActivityID, it.ActivityType = last.Execution, last.Parent, last.ActivityID, last.ActivityType
			}
		}
		items = append(items, it)
		if seq++; rapid.IntRange(0, 9).Draw(t, "jump") == 0 {
			seq = number.Draw(t, "sequence")
		}
	}
	return items
}

// What a commit says of itself is read as it was said, whatever its items have in
// common.
func TestJournalEntriesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		began := time.Date(2026, 11, 23, 6, 42, 0, 123456000, time.UTC)
		c := &store.Commit{ID: "commit", Node: "node-1", At: began.Add(1500 * time.Microsecond), After: store.Record{Seq: 7}}
		if rapid.Bool().Draw(t, "fenced") {
			c.Fence = &store.Fence{Revision: 1 << 40}
		}
		var commands []string
		for _, id := range []string{"c0", "c1"} {
			if rapid.Bool().Draw(t, "consumed") {
				c.Consumed = append(c.Consumed, store.Consumed{Command: workflow.Command{ID: id}})
				commands = append(commands, id)
			}
		}
		c.Takeover = rapid.Bool().Draw(t, "takeover")
		c.Journal = drawItems(t, began)
		c.Variables = workflow.VariableChanges{Left: rapid.IntRange(0, 2).Draw(t, "left"), Reset: rapid.Bool().Draw(t, "reset")}
		c.Variables.Gone = rapid.SampledFrom([][]int64{nil, {0}, {3, 1 << 60}}).Draw(t, "gone")
		for range rapid.IntRange(0, 3).Draw(t, "variables") {
			c.Variables.Set = append(c.Variables.Set, workflow.VariableChange{
				Execution: rapid.Int64Range(0, 9).Draw(t, "scope"), Name: rapid.SampledFrom([]string{"", "v", "\x00<\u2028"}).Draw(t, "name"),
				Value: rapid.SampledFrom([]any{nil, false, int64(0), "", 1.5, []any{nil}, map[string]any{}}).Draw(t, "value"), By: rapid.Int64Range(0, 9).Draw(t, "by"),
				Clipped: rapid.Bool().Draw(t, "clipped"), Hidden: rapid.Bool().Draw(t, "hidden"),
			})
		}
		want := workflow.JournalEntry{Sequence: 7, Commit: "commit", Node: "node-1", Takeover: c.Takeover, Commands: commands, Began: c.At, Ended: c.At, Items: c.Journal, Variables: c.Variables}
		if c.Fence != nil {
			want.Fence = c.Fence.Revision
		}
		if len(c.Journal) > 0 {
			want.Began = c.Journal[0].Time
		}
		raw, err := db.Encode(record.NewJournalEntry(c))
		if err != nil {
			t.Fatal(err)
		}
		var e record.JournalEntry
		if err := db.DecodeWhole(raw, &e); err != nil {
			t.Fatal(err)
		}
		got := e.Entry()
		if len(got.Items) == 0 {
			got.Items = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v\nfrom %s", got, want, raw)
		}
		want.Items, want.Variables.Set = []workflow.JournalItem{}, nil
		if head := record.ReadHead(7, raw); !reflect.DeepEqual(head, want) {
			t.Fatalf("head %+v\nwant %+v\nfrom %s", head, want, raw)
		}
	})
}

// Entries of other versions of the program, and hostile ones, give something to show.
func TestJournalEntriesOfOthers(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{}`, `{"seq":3,"items":[{}]}`,
		`{"commit":"c","seq":3,"fence":9,"commands":["a"],"burst":"a","items":[{"sequence":1,"time":"2026-11-22T10:00:00Z","activityId":"l","event":"Started"}]}`,
		`{"seq":3,"first":9223372036854775807,"items":[{"e":"x","a":99,"b":-1,"x":-7,"s":9223372036854775807,"t":9223372036854775807},{"e":"y","a":-1,"b":9},{"e":"z","a":2},{"e":"z","a":3}],"activities":[["one","two"],["three"],[]],"took":-9223372036854775808,"more":{"a":[1]}}`,
	} {
		var e record.JournalEntry
		if err := db.Decode([]byte(raw), &e); err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := e.Entry(); len(got.Items) != len(e.Items) || got.Sequence != e.Seq {
			t.Errorf("%s: %+v", raw, got)
		}
		if head := record.ReadHead(9, []byte(raw)); head.Sequence != e.Seq || head.Commit != e.Commit || len(head.Items) > 0 {
			t.Errorf("%s: its head is %+v", raw, head)
		}
	}
	// What is passed over may be anything; what cannot be read is said.
	if head := record.ReadHead(9, []byte(`{"seq":3,"commit":"c","items":"none","activities":7,"set":{"n":[]}}`)); head.Sequence != 3 || head.Commit != "c" {
		t.Errorf("%+v", head)
	}
	for _, raw := range []string{``, `{`, `{"seq":3,"items":[{]}`, `{"seq":"x"}`, "\x28\xb5\x2f\xfdno"} {
		if head := record.ReadHead(9, []byte(raw)); head.Sequence != 9 || len(head.Items) != 1 || head.Items[0].Event != workflow.DamagedEvent {
			t.Errorf("%s: %+v", raw, head)
		}
	}
}
