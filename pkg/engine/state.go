package engine

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/weft-run/weft/pkg/workflow"
)

// stateVersion is the format of the encoded state, but for [wideVersion]. A reader refuses newer ones.
const stateVersion = 1

// stateDoc is the encoded form of a burst between commits. Executions are
// listed parents first and refer to each other by position, or by number ([wideVersion]).
type stateDoc struct {
	V            int                 `json:"v"`
	Seq          int64               `json:"seq,omitempty"`
	Started      bool                `json:"started,omitempty"`
	Halted       bool                `json:"halted,omitempty"`
	Done         bool                `json:"done,omitempty"`
	Ending       workflow.SubStatus  `json:"ending,omitempty"`
	Unwinding    bool                `json:"unwinding,omitempty"` // it is to be cancelled, and what was done is undone first
	Props        map[string]any      `json:"props,omitempty"`
	Trigger      string              `json:"trigger,omitempty"`
	TriggerUsed  bool                `json:"triggerUsed,omitempty"`
	TriggerInput map[string]any      `json:"triggerInput,omitempty"`
	Commands     []commandDoc        `json:"commands,omitempty"`
	Executions   []executionDoc      `json:"executions,omitempty"`
	Work         []workDoc           `json:"work,omitempty"`
	Bookmarks    []bookmarkDoc       `json:"bookmarks,omitempty"`
	Late         []lateEnd           `json:"late,omitempty"`
	Cancel       []string            `json:"cancel,omitempty"`
	Clock        int64               `json:"clock,omitempty"`
	Marks        []workflow.Bookmark `json:"marks,omitempty"` // of a halted instance, in the wide form
}

type commandDoc struct {
	ID     string         `json:"id"`
	Count  int            `json:"count,omitempty"`
	Ords   map[string]int `json:"ords,omitempty"`
	Before int64          `json:"before,omitempty"`
	At     int64          `json:"at,omitempty"`
}

type executionDoc struct {
	ID       string             `json:"id"`
	Keyed    map[string]int     `json:"keyed,omitempty"`
	Inner    string             `json:"inner,omitempty"`
	Number   int64              `json:"n,omitempty"`
	Parent   int                `json:"parent"` // -1: none
	Node     string             `json:"node"`
	Faulted  bool               `json:"faulted,omitempty"`
	Tag      string             `json:"tag,omitempty"`
	Born     string             `json:"born,omitempty"`
	Vars     map[string]any     `json:"vars,omitempty"`
	Hidden   map[string]bool    `json:"hidden,omitempty"`
	Scope    *scopeDoc          `json:"scope,omitempty"`
	Scratch  json.RawMessage    `json:"scratch,omitempty"`
	Outcomes []string           `json:"outcomes,omitempty"`
	Results  map[string]any     `json:"results,omitempty"`
	Key      string             `json:"key,omitempty"`
	Led      *led               `json:"led,omitempty"`
	Broken   *callDoc           `json:"broken,omitempty"`
	Deferred []completedDoc     `json:"deferred,omitempty"`
	Times    map[string][]int64 `json:"times,omitempty"`
	Seen     *seen              `json:"seen,omitempty"`
	Drawn    int                `json:"drawn,omitempty"`
	Told     int64              `json:"told,omitempty"`
}

// FaultedIn tells which executions are faulted in a state as it is stored, by the ids that incidents have
// ([workflow.Incident.ContextID]). Of a state that cannot be read none is known.
func FaultedIn(state json.RawMessage) map[string]bool {
	var doc struct {
		Executions []struct {
			ID      string `json:"id"`
			Faulted bool   `json:"faulted"`
		} `json:"executions"`
	}
	if len(state) == 0 || json.Unmarshal(state, &doc) != nil {
		return nil
	}
	out := map[string]bool{}
	for _, x := range doc.Executions {
		if x.Faulted {
			out[x.ID] = true
		}
	}
	return out
}

type scopeDoc struct {
	Inputs  map[string]any            `json:"inputs,omitempty"`
	Outputs map[string]any            `json:"outputs,omitempty"`
	Results map[string]map[string]any `json:"results,omitempty"`
	Last    any                       `json:"last,omitempty"`
}

type callDoc struct {
	Kind   workKind      `json:"kind"`
	Resume *resumeDoc    `json:"resume,omitempty"`
	Done   *completedDoc `json:"done,omitempty"`
	As     string        `json:"as,omitempty"`
	At     int64         `json:"at,omitempty"`
	Final  bool          `json:"final,omitempty"`
	Raised bool          `json:"raised,omitempty"`
}

type resumeDoc struct {
	Bookmark *workflow.Bookmark `json:"bookmark,omitempty"`
	Callback string             `json:"callback,omitempty"`
	Input    map[string]any     `json:"input,omitempty"`
}

type completedDoc struct {
	Node     string   `json:"node"`
	ID       string   `json:"id"`
	Tag      string   `json:"tag,omitempty"`
	Outcomes []string `json:"outcomes,omitempty"`
	Key      string   `json:"key,omitempty"`
	Told     int64    `json:"told,omitempty"`
	Led      *led     `json:"led,omitempty"`
}

type workDoc struct {
	Kind   workKind           `json:"kind"`
	Node   string             `json:"node,omitempty"`
	On     int                `json:"on"` // the execution: owner or x; -1: none
	Tag    string             `json:"tag,omitempty"`
	Vars   map[string]any     `json:"vars,omitempty"`
	Hidden map[string]bool    `json:"hidden,omitempty"`
	Resume *resumeDoc         `json:"resume,omitempty"`
	Done   *completedDoc      `json:"done,omitempty"`
	Key    string             `json:"key,omitempty"`
	Inner  string             `json:"inner,omitempty"`
	Led    *led               `json:"led,omitempty"`
	As     string             `json:"as,omitempty"`
	Told   int64              `json:"told,omitempty"`
	Times  map[string][]int64 `json:"times,omitempty"`
	Cmd    int                `json:"cmd"`
	Commit bool               `json:"commit,omitempty"`
	Rest   bool               `json:"rest,omitempty"` // see [Execution.ScheduleRest]
}

// bookmarkDoc is what the header does not say of a bookmark; of a halted
// instance, whose header lists none, all of it.
type bookmarkDoc struct {
	*workflow.Bookmark
	On    int    `json:"on"`
	Child string `json:"child,omitempty"`
}

// encode gives the state as compact JSON. It keeps live executions only; of a finished
// instance it keeps the workflow's variables.
func (b *Burst) encode() ([]byte, error) {
	d := stateDoc{
		V: stateVersion, Seq: b.seq, Started: b.started, Halted: b.halted, Done: b.rootDone, Ending: b.ending, Unwinding: b.unwinding,
		Late: b.late, Cancel: b.cancelling, Clock: b.clock,
	}
	if b.root != nil || !b.started || len(b.schedule.left()) > 0 {
		d.Props, d.Trigger, d.TriggerUsed, d.TriggerInput = b.callers.Keep(b.props), b.trigger, b.triggerUsed, b.triggerInput
	}
	if isWide(b) {
		d.V = wideVersion
	}
	index := map[*Execution]int{}
	if err := b.encodeExecutions(&d, index); err != nil {
		return nil, err
	}
	commands := map[*command]int{}
	for i := range b.schedule.left() {
		w := &b.schedule.left()[i]
		if !w.alive() {
			continue
		}
		ci, ok := commands[w.cmd]
		if !ok {
			ci = len(d.Commands)
			commands[w.cmd] = ci
			d.Commands = append(d.Commands, commandDoc(*w.cmd))
		}
		doc := workDoc{Kind: w.kind, Tag: w.tag, Vars: w.vars, Hidden: w.hidden, Resume: docOfResume(w.resume), Done: docOfCompleted(w.done), Key: w.key, Inner: w.inner, Led: w.led, As: w.as, Told: w.told, Times: w.times, Cmd: ci, Commit: w.commit, Rest: w.rest, On: -1}
		if w.kind == workExecute {
			doc.Node = w.node.id
			if w.owner != nil {
				doc.On = refer(&d, index, w.owner)
			}
		} else {
			doc.On = refer(&d, index, w.x)
		}
		d.Work = append(d.Work, doc)
	}
	listMarks(b, &d, index)
	return workflow.Marshal(&d)
}

func (b *Burst) encodeExecutions(d *stateDoc, index map[*Execution]int) error {
	if b.root == nil {
		return nil
	}
	for stack := []*Execution{b.root}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := len(x.kids) - 1; i >= 0; i-- {
			stack = append(stack, x.kids[i])
		}
		doc := executionDoc{ID: x.id, Number: x.number, Parent: -1, Node: x.node.id, Faulted: x.status == faulted, Tag: x.tag, Born: x.born, Outcomes: x.outcomes, Results: x.results, Scratch: x.raw, Key: x.key, Keyed: x.keyed, Inner: x.inner, Led: x.led, Times: x.times, Drawn: x.drawn}
		if !x.node.desc.NoEffect {
			doc.Told = x.first
		}
		if x.seen.N > 0 {
			doc.Seen = &x.seen
		}
		if x.parent != nil {
			doc.Parent = refer(d, index, x.parent)
		}
		doc.Vars, doc.Hidden = keptVariables(x), x.hidden
		if x.scope != nil {
			doc.Scope = &scopeDoc{Inputs: x.scope.inputs, Outputs: x.scope.outputs, Results: x.scope.results, Last: x.scope.last}
			if x.parent == nil { // the header has them
				doc.Scope.Inputs, doc.Scope.Outputs = nil, nil
				if doc.Scope.Results == nil && doc.Scope.Last == nil {
					doc.Scope = nil
				}
			}
		}
		if x.scratch != nil {
			raw, err := encodeScratch(x.scratch)
			if err != nil {
				return fmt.Errorf("activity %s: %w", x.node.id, err)
			}
			if doc.Scratch, err = b.env.Secrets.RedactJSON(raw); err != nil {
				return fmt.Errorf("activity %s: %w", x.node.id, err)
			}
			if b.secrets == 0 && mended(raw) {
				x.scratch, x.raw = nil, doc.Scratch // it goes on with what a loaded burst has
			}
		}
		if x.broken != nil {
			doc.Broken = &callDoc{Kind: x.broken.Kind, Resume: docOfResume(x.broken.Resume), Done: docOfCompleted(x.broken.Done), As: x.broken.As, At: x.broken.At, Final: x.broken.Final, Raised: x.broken.Raised}
		}
		for i := range x.deferred {
			doc.Deferred = append(doc.Deferred, *docOfCompleted(&x.deferred[i].done))
		}
		index[x] = len(d.Executions)
		d.Executions = append(d.Executions, doc)
	}
	return nil
}

// encodeScratch encodes what an activity keeps; its own MarshalJSON may panic.
func encodeScratch(v any) (raw []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("encode its memory: panic: %v", r)
		}
	}()
	return workflow.Marshal(v)
}

// mended tells whether texts that were not UTF-8 may have become others in raw.
func mended(raw []byte) bool {
	return bytes.Contains(raw, []byte("\ufffd")) || bytes.Contains(raw, []byte(`\ufffd`))
}

// keptVariables leaves out those that are lost at the end of a burst.
func keptVariables(x *Execution) map[string]any {
	out := x.vars
	for _, v := range x.node.vars {
		if _, ok := x.vars[v.name]; !ok || !v.memory {
			continue
		}
		if len(out) == len(x.vars) {
			out = make(map[string]any, len(x.vars))
			for k, e := range x.vars {
				out[k] = e
			}
		}
		delete(out, v.name)
	}
	return out
}

func docOfResume(r *Resume) *resumeDoc {
	if r == nil {
		return nil
	}
	d := &resumeDoc{Callback: r.Callback, Input: r.Input}
	if r.Bookmark.ID != "" {
		d.Bookmark = &r.Bookmark
	}
	return d
}

func docOfCompleted(c *Completed) *completedDoc {
	if c == nil {
		return nil
	}
	return &completedDoc{Node: c.Node.id, ID: c.ID, Tag: c.Tag, Outcomes: c.Outcomes, Key: c.savedKey(), Told: c.told, Led: c.led}
}
