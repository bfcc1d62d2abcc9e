package engine

import (
	"fmt"
	"reflect"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// What an instance keeps is bounded while it grows, before memory is spent on it and
// before it is encoded: a list of a thousand items may refer to one large text a
// thousand times, and only the encoded form has it so often. What grows is added up as
// it comes, and the whole is measured when that could have become too much.

// growthSlack is how many bytes may come between two measurements near the limit.
const growthSlack = 1 << 20

// workBytes is about what a piece of scheduled work takes beside its values. What a place where the instance waits
// takes beside them is not counted: there may be as many as there may be ([Limits].Waits).
const workBytes = 150

// growth is how much came to what an instance keeps.
type growth struct {
	added int             // bytes, since it was measured
	room  int             // bytes that were left then
	over  *workflow.Error // it keeps too much: the burst cannot be committed
}

func (g *growth) tooMuch() bool { return g.over != nil }

// add notes that the instance keeps a value.
func (g *growth) add(v any) { g.added += Weigh(v) }

// measureGrown stops the burst if the instance keeps too much; it looks only if
// enough came since it last looked.
func (b *Burst) measureGrown() {
	if b.growth.added > max(growthSlack, b.growth.room) {
		b.measure()
	}
}

// measure adds up about how many bytes the instance keeps, as JSON without escapes.
func (b *Burst) measure() {
	limit := b.limits.Data
	left := limit
	if b.weighKept(&left) {
		b.growth = growth{room: left}
		return
	}
	b.growth.over = workflow.Fail(workflow.CodeTooLarge,
		fmt.Sprintf("the instance would keep more than %d bytes of data (its input, output, variables, what is scheduled and what it waits for; at most %d)", limit-left, limit))
}

// weighKept reports whether what is kept is within the budget.
func (b *Burst) weighKept(left *int) bool {
	ok := weigh(b.header.Input, left) && weigh(b.header.Output, left) && weigh(b.props, left) && weigh(b.triggerInput, left)
	for _, m := range b.marks {
		ok = ok && weigh(m.Payload, left) && weigh(m.Metadata, left)
	}
	for _, w := range b.schedule.left() {
		*left -= workBytes
		ok = ok && weigh(w.vars, left) && (w.resume == nil || weigh(w.resume.Input, left))
	}
	for _, l := range b.late {
		ok = ok && weigh(l.Input, left)
	}
	for x := range tree(b.root) {
		if ok = ok && x.weighKept(left); !ok {
			break
		}
	}
	return ok
}

func (x *Execution) weighKept(left *int) bool {
	*left -= len(x.raw)
	ok := weigh(x.vars, left) && weigh(x.results, left) && value.TakeGo(reflect.ValueOf(x.scratch), left)
	if s := x.scope; s != nil {
		ok = ok && weigh(s.last, left)
		for _, results := range s.results {
			ok = ok && weigh(results, left)
		}
		if x.parent != nil { // the header has those of the workflow
			ok = ok && weigh(s.inputs, left) && weigh(s.outputs, left)
		}
	}
	if x.broken != nil && x.broken.Resume != nil {
		ok = ok && weigh(x.broken.Resume.Input, left)
	}
	return ok
}
