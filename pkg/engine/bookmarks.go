package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// mark is a bookmark of a live execution.
type mark struct {
	workflow.Bookmark
	x       *Execution
	child   string // the instance id of a waited-for child
	durable bool   // the last commit has it
	call    int    // the call that made it
}

// Wait describes a bookmark.
type Wait struct {
	Name     string     // for people
	Payload  any        // the stimulus that resumes it, hashed with the activity's type
	Type     string     // the stimulus's activity type; "" means the activity's own. One that is not registered is met only by what is sent after the wait
	Local    bool       // only this very wait can be met: its execution id is hashed too
	Callback string     // handed to Resume
	Keep     bool       // a resume does not burn it
	DueAt    *time.Time // a timer resumes it then
	Metadata any

	child string
}

// Wait creates a bookmark; the execution does not complete while it has one. It
// returns an error when the payload or the metadata have no JSON form or hold the
// value of a secret, and when the instance waits at too many places already, or would be due after [workflow.LastYear].
func (x *Execution) Wait(w Wait) (workflow.Bookmark, error) {
	b := x.b
	// One that waited at more places before there was this limit keeps as many.
	if most := max(b.limits.Waits, b.had); len(b.marks) >= most {
		return workflow.Bookmark{}, fmt.Errorf("the instance waits at %d places; at most %d are possible at once: take fewer at a time, or give them to child instances (max-waits)", len(b.marks), most)
	}
	if w.DueAt != nil && w.DueAt.UTC().Year() > workflow.LastYear { // one before 1970 is due at once
		return workflow.Bookmark{}, fmt.Errorf("it would wait until the year %d, and the last one that a timer can be of is %d", w.DueAt.UTC().Year(), workflow.LastYear)
	}
	w.Name, w.Type, w.Callback = workflow.ValidText(w.Name), workflow.ValidText(w.Type), workflow.ValidText(w.Callback)
	payload, err := normalize(w.Payload, 0)
	if err != nil {
		return workflow.Bookmark{}, fmt.Errorf("bookmark %s: %w", w.Name, err)
	}
	metadata, err := normalize(w.Metadata, 0)
	if err != nil {
		return workflow.Bookmark{}, fmt.Errorf("bookmark %s: metadata: %w", w.Name, err)
	}
	if err := b.env.refuseSecret("bookmark "+w.Name, w.Name, payload, metadata); err != nil {
		return workflow.Bookmark{}, err
	}
	typ := cmp.Or(w.Type, x.node.desc.Type)
	id := workflow.BookmarkID(b.header.ID, b.deriveID(x.node, "bookmark"))
	hashed := payload
	if w.Local {
		hashed = workflow.LocalPayload(id, payload)
	}
	hash, err := workflow.Hash(typ, hashed)
	if err != nil {
		return workflow.Bookmark{}, err
	}
	m := &mark{x: x, call: b.call, child: w.child, Bookmark: workflow.Bookmark{
		ID: id, ActivityID: x.node.id, ActivityType: typ,
		Name: w.Name, Hash: hash, Payload: payload, ContextID: x.id, Callback: w.Callback,
		KeepOnResume: w.Keep, CreatedAt: b.env.Now(), Metadata: metadata,
	}}
	if w.DueAt != nil {
		due := w.DueAt.UTC()
		m.DueAt = &due
	}
	x.waits++
	b.marks = append(b.marks, m)
	b.growth.added += Weigh(payload) + Weigh(metadata)
	return m.Bookmark, nil
}

// Waiting lists the bookmarks of x, oldest first.
func (x *Execution) Waiting() []workflow.Bookmark {
	var out []workflow.Bookmark
	for _, m := range x.b.marks {
		if m.x == x {
			out = append(out, m.Bookmark)
		}
	}
	return out
}

// Unwait removes the bookmarks of x that drop chooses.
func (x *Execution) Unwait(drop func(workflow.Bookmark) bool) {
	x.b.unmark(func(m *mark) bool { return m.x == x && drop(m.Bookmark) })
}

// Yield lets the execution go on later: the engine calls Resume with the
// callback when the rest of the schedule has run, and if commit is set not before
// a commit. Activities cut long work into slices with it.
func (x *Execution) Yield(callback string, commit bool) {
	x.pending++
	x.b.schedule.push(work{kind: workResume, x: x, resume: &Resume{Callback: workflow.ValidText(callback)}, cmd: x.b.cmd, commit: commit})
}

// unmark removes bookmarks; children that they wait for are cancelled.
func (b *Burst) unmark(drop func(m *mark) bool) {
	b.marks = slices.DeleteFunc(b.marks, func(m *mark) bool {
		if !drop(m) {
			return false
		}
		m.x.waits--
		b.burn(m)
		if m.child != "" {
			// A child of this very burst was not started yet.
			if i := slices.IndexFunc(b.children, func(c ChildStart) bool { return c.InstanceID == m.child }); i >= 0 {
				b.children = slices.Delete(b.children, i, i+1)
			} else {
				cancelLater(b, m.child)
			}
		}
		return true
	})
}

// cancelLater cancels a child with one of the next commits, each of which cancels a slice.
func cancelLater(b *Burst, child string) {
	if len(b.cancels) < childSlice && len(b.cancelling) == 0 {
		b.cancels = append(b.cancels, child)
		return
	}
	b.cancelling = append(b.cancelling, child)
}

// burn notes that a bookmark which the index has must leave it.
func (b *Burst) burn(m *mark) {
	if m.durable {
		b.burned = append(b.burned, m.Bookmark)
		m.durable = false
	}
}

// takeResume applies a resume or a child's end; "" means there is work now.
func (b *Burst) takeResume(cmd workflow.Command, finished bool) Outcome {
	input, err := normalizeMap(cmd.Input)
	if err != nil {
		input = map[string]any{}
	}
	delete(input, workflow.DepthProperty)
	if finished {
		if b.halted && cmd.Kind == workflow.CommandChildEnd && findMark(b.marks, cmd.Bookmark) != nil {
			b.late = append(b.late, lateEnd{cmd.Bookmark, input}) // a retry needs it
			return Applied
		}
		return NotRunning
	}
	if !b.resumeMark(cmd.Bookmark, input) {
		return NoBookmark
	}
	return ""
}

func findMark(marks []*mark, id string) *mark {
	for _, m := range marks {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// resumeMark burns the bookmark and schedules its execution; false if there is
// no such bookmark.
func (b *Burst) resumeMark(id string, input map[string]any) bool {
	m := findMark(b.marks, id)
	if m == nil || m.x.status != running {
		return false
	}
	if !m.KeepOnResume {
		m.child = "" // it ended by itself
		b.unmark(func(o *mark) bool { return o == m })
	}
	m.x.pending++
	b.schedule.push(work{kind: workResume, x: m.x, resume: &Resume{Bookmark: m.Bookmark, Callback: m.Callback, Input: input}, cmd: b.cmd})
	return true
}
