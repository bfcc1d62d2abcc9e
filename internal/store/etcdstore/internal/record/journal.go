package record

import (
	"cmp"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// DeletedRecord proves that a delete was applied, as the journal goes with the
// instance.
const DeletedRecord = "~deleted"

// JournalFrom is the number of the oldest journal entry that is kept.
func JournalFrom(r *store.Record) int64 { return max(1, r.JournalFrom) }

// DeletedEntry is the value of the record that an instance was deleted.
type DeletedEntry struct {
	Commit string `json:"commit"`
	From   int64  `json:"from,omitempty"` // the mod revision of what was deleted: a commit made from it was not applied
}

// CommitIn is the commit id in a journal entry, or in the record of a delete.
func CommitIn(value []byte) (string, error) {
	var put struct {
		Commit string `json:"commit"`
	}
	err := db.Decode(value, &put)
	return put.Commit, err
}

// DeletedFrom is the mod revision of the instance of an id that was deleted last; 0: it is not known. kv is nil or that
// of its [DeletedRecord].
func DeletedFrom(kv *mvccpb.KeyValue) (int64, error) {
	if kv == nil {
		return 0, nil
	}
	var was DeletedEntry
	err := db.Decode(kv.Value, &was)
	return was.From, err
}

// JournalEntry is the value of journal/<id>/<seq>: what the commit did, and the
// proof that it was applied. It is written with every commit, so what many items
// have in common stands in it once.
type JournalEntry struct {
	Commit     string        `json:"commit"`
	Seq        int64         `json:"seq"`
	Node       string        `json:"node,omitempty"`
	Fence      int64         `json:"fence,omitempty"`
	Takeover   bool          `json:"takeover,omitempty"`
	Commands   []string      `json:"commands,omitempty"`
	Others     []string      `json:"others,omitempty"`     // commands that items belong to, consumed by commits before
	At         time.Time     `json:"at,omitzero"`          // the time of the first item
	Took       int64         `json:"took,omitempty"`       // microseconds from At to the commit
	First      int64         `json:"first,omitempty"`      // the number of the first item
	Activities [][]string    `json:"activities,omitempty"` // id and type of those that items are about
	Items      []JournalItem `json:"items,omitempty"`
	Reset      bool          `json:"reset,omitempty"`
	Gone       []int64       `json:"gone,omitempty"`
	Set        []JournalSet  `json:"set,omitempty"`
	Left       int           `json:"left,omitempty"`
}

// StoredAs is what errors call it.
func (JournalEntry) StoredAs() string { return "etcdstore.journalEntry" }

// JournalItem says what it does not share with other items of its entry. Where
// nothing is said, its number is one more than that of the item before it, it belongs
// to the first command, it is the first of its execution, and parent and activity are
// those of the item before it that is about the same execution.
type JournalItem struct {
	Skip      int64  `json:"s,omitempty"` // its number is so much more than its place says
	Time      int64  `json:"t,omitempty"` // microseconds after At
	Command   int    `json:"b,omitempty"` // place in the commands, and behind them in the others
	Execution int64  `json:"x,omitempty"` // noExecution: it is about none
	Parent    int64  `json:"p,omitempty"`
	Activity  int    `json:"a,omitempty"` // place in the activities, from 1
	Event     string `json:"e"`
	Text      string `json:"text,omitempty"`
	Data      any    `json:"data,omitempty"`
}

// NoExecution says of an item that it is about no execution.
const NoExecution = -1

// EntryHead reads of an entry what it says of its commit. The fields here stand before those
// of the same names within.
type EntryHead struct {
	JournalEntry

	Activities passedOver `json:"activities"`
	Items      passedOver `json:"items"`
	Set        passedOver `json:"set"`
}

// StoredAs is what errors call it.
func (EntryHead) StoredAs() string { return "etcdstore.entryHead" }

// passedOver takes any value and keeps nothing of it.
type passedOver struct{}

// UnmarshalJSON does nothing.
func (*passedOver) UnmarshalJSON([]byte) error { return nil }

// JournalSet is a variable that was set.
type JournalSet struct {
	Execution int64  `json:"x,omitempty"`
	Name      string `json:"n"`
	Value     any    `json:"v,omitempty"`
	By        int64  `json:"by,omitempty"`
	Clipped   bool   `json:"cut,omitempty"`
	Hidden    bool   `json:"hidden,omitempty"`
}

// doer is what items about the same execution have in common.
type doer struct {
	parent  int64
	id, typ string // of the activity
}

// NewJournalEntry is the entry of a commit.
func NewJournalEntry(c *store.Commit) *JournalEntry {
	e := &JournalEntry{Commit: c.ID, Seq: c.After.Seq, Node: c.Node, Takeover: c.Takeover, At: micros(c.At)}
	if c.Fence != nil {
		e.Fence = c.Fence.Revision
	}
	for i := range c.Consumed {
		e.Commands = append(e.Commands, c.Consumed[i].Command.ID)
	}
	e.setItems(c.Journal)
	if !c.At.IsZero() {
		e.Took = c.At.Sub(e.At).Microseconds()
	}
	v := &c.Variables
	e.Reset, e.Gone, e.Left = v.Reset, v.Gone, v.Left
	for _, s := range v.Set {
		e.Set = append(e.Set, JournalSet(s))
	}
	return e
}

func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func (e *JournalEntry) setItems(items []workflow.JournalItem) {
	if len(items) == 0 {
		return
	}
	e.First = items[0].Sequence
	if !items[0].Time.IsZero() {
		e.At = micros(items[0].Time)
	}
	e.Items = make([]JournalItem, len(items))
	known := make(map[int64]doer, len(items)/2+1)
	for i := range items {
		from, to := &items[i], &e.Items[i]
		*to = JournalItem{Skip: from.Sequence - e.First - int64(i), Command: e.placeOf(from.Burst), Event: from.Event, Text: from.Text, Data: from.Data}
		if !from.Time.IsZero() {
			to.Time = micros(from.Time).Sub(e.At).Microseconds()
		}
		switch from.Execution {
		case 0:
			to.Execution = NoExecution
		case from.Sequence:
		default:
			to.Execution = from.Execution
		}
		is := doer{from.Parent, from.ActivityID, from.ActivityType}
		if known[from.Execution] == is {
			continue
		}
		known[from.Execution] = is
		if to.Activity = slices.IndexFunc(e.Activities, func(a []string) bool { return a[0] == is.id && a[1] == is.typ }) + 1; to.Activity == 0 {
			e.Activities = append(e.Activities, []string{is.id, is.typ})
			to.Activity = len(e.Activities)
		}
		to.Parent = is.parent
	}
}

// placeOf finds a command among those of the entry, or adds it.
func (e *JournalEntry) placeOf(command string) int {
	if i := slices.Index(e.Commands, command); i >= 0 {
		return i
	}
	i := slices.Index(e.Others, command)
	if i < 0 {
		i = len(e.Others)
		e.Others = append(e.Others, command)
	}
	return len(e.Commands) + i
}

// Ended is when the commit was made; zero: not known.
func (e *JournalEntry) Ended() time.Time { return e.At.Add(time.Duration(e.Took) * time.Microsecond) }

// Entry gives what was committed.
func (e *JournalEntry) Entry() workflow.JournalEntry {
	out := workflow.JournalEntry{
		Sequence: e.Seq, Commit: e.Commit, Node: e.Node, Fence: e.Fence, Takeover: e.Takeover, Commands: e.Commands,
		Began: e.At, Ended: e.Ended(),
		Items:     make([]workflow.JournalItem, len(e.Items)),
		Variables: workflow.VariableChanges{Reset: e.Reset, Gone: e.Gone, Left: e.Left},
	}
	for _, s := range e.Set {
		out.Variables.Set = append(out.Variables.Set, workflow.VariableChange(s))
	}
	commands := slices.Concat(e.Commands, e.Others)
	known := make(map[int64]doer, len(e.Items)/2+1)
	for i := range e.Items {
		from := &e.Items[i]
		seq := e.First + int64(i) + from.Skip
		to := workflow.JournalItem{
			Sequence: seq, Time: e.At.Add(time.Duration(from.Time) * time.Microsecond), Execution: cmp.Or(from.Execution, seq),
			Event: from.Event, Text: from.Text, Data: from.Data,
		}
		if from.Execution == NoExecution {
			to.Execution = 0
		}
		if from.Command >= 0 && from.Command < len(commands) {
			to.Burst = commands[from.Command]
		}
		is := known[to.Execution]
		if from.Activity > 0 && from.Activity <= len(e.Activities) {
			if a := e.Activities[from.Activity-1]; len(a) == 2 {
				is = doer{from.Parent, a[0], a[1]}
				known[to.Execution] = is
			}
		}
		to.Parent, to.ActivityID, to.ActivityType = is.parent, is.id, is.typ
		out.Items[i] = to
	}
	return out
}

// BrokenEntry stands for one that cannot be read.
func BrokenEntry(seq int64, why string) workflow.JournalEntry {
	return workflow.JournalEntry{Sequence: seq, Items: []workflow.JournalItem{{Event: workflow.DamagedEvent, Text: why}}}
}
