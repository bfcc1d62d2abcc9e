package liquid

import (
	"context"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
	"github.com/weft-run/weft/internal/expression/turns"
)

// rendering is one evaluation: it takes the output, holds the names and watches the limits. Its maps are made when they
// are needed first; a nil map can be read.
type rendering struct {
	ctx   context.Context // it lives as long as the call that it is an argument of
	out   strings.Builder
	into  *strings.Builder // out, or that of the capture that is rendered
	most  int              // bytes of output
	left  int              // bytes that may still be made, in the output or in variables
	pace  turns.Pace
	ticks uint
	now   func() time.Time
	held  int // bytes that variables and the names of cycles hold

	bindings map[string]any   // what the scope has
	assigned map[string]any   // by assign and capture
	counters map[string]int64 // of increment and decrement
	cycles   map[string]int   // how often each cycle was rendered
	reached  map[string]int64 // where each loop ended, for offset:continue
	frames   []frame          // of the loops that run, from the outside
}

// frame is what a loop adds to the names.
type frame struct {
	name  string // of its item
	item  any
	kind  string // forloop or tablerowloop
	state map[string]any
}

// enter begins a loop; it gives how to end it.
func (r *rendering) enter(name, kind string, state map[string]any) (leave func()) {
	r.frames = append(r.frames, frame{name: name, kind: kind, state: state})
	return func() { r.frames = r.frames[:len(r.frames)-1] }
}

// frame is that of the innermost loop.
func (r *rendering) frame() *frame { return &r.frames[len(r.frames)-1] }

// loop is the state of the innermost loop of a kind; nil without one.
func (r *rendering) loop(kind string) any {
	for i := len(r.frames) - 1; i >= 0; i-- {
		if r.frames[i].kind == kind {
			return r.frames[i].state
		}
	}
	return nil
}

// lookup is the value of a name; nil if there is none.
func (r *rendering) lookup(name string) any {
	for i := len(r.frames) - 1; i >= 0; i-- {
		switch f := &r.frames[i]; name {
		case f.name:
			return f.item
		case f.kind:
			return f.state
		}
	}
	if v, ok := r.assigned[name]; ok {
		return v
	}
	if v, ok := r.counters[name]; ok {
		return v
	}
	return r.bindings[name]
}

// spend counts bytes that were rendered, and looks now and then whether time is left.
func (r *rendering) spend(n int) error {
	if r.left -= n; r.left < 0 {
		return evaluation.ErrOutput
	}
	if r.ticks++; r.ticks%16 == 0 {
		if r.ctx.Err() != nil {
			return evaluation.Ended(r.ctx)
		}
		return r.pace.Check(r.ctx)
	}
	return nil
}

// mostHeld bounds what an evaluation holds in variables and in names of cycles, in bytes: filters give up to 1 MiB each.
const mostHeld = 64 << 20

// hold counts bytes that stay, or that do not any more if n is negative.
func (r *rendering) hold(n int) error {
	if r.held += n; r.held > mostHeld {
		return evaluation.ErrMemory
	}
	return r.spend(0)
}

// assign sets a variable. A text is copied: it may be a small part of a large one, which would stay as long.
func (r *rendering) assign(name string, v any) error {
	if s, ok := v.(string); ok {
		v = strings.Clone(s)
	}
	before := heldBy(r.assigned[name])
	put(&r.assigned, name, v)
	return r.hold(heldBy(v) - before)
}

// heldBy is how many bytes a variable holds, without what the values of a list hold, which mostly are those of the scope.
func heldBy(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return 16 * cap(v)
	}
	return 0
}

// write writes text: into the output, or what a capture takes.
func (r *rendering) write(text string) error {
	if err := r.spend(len(text)); err != nil {
		return err
	}
	if r.into == &r.out && r.out.Len()+len(text) > r.most {
		return evaluation.ErrOutput
	}
	r.into.WriteString(text)
	return nil
}

// writeValue writes a value as text; the elements of a list one after the other, as Liquid does, and objects as JSON.
func (r *rendering) writeValue(v any, depth int) error {
	if depth > evaluation.MaxDepth {
		return evaluation.ErrDepth
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := r.writeValue(e, depth+1); err != nil {
				return err
			}
		}
		return r.spend(0)
	case []byte:
		return r.write(string(v))
	case string:
		return r.write(v)
	case nil, value.Empty, value.Blank, value.Span:
		text, err := value.TextOf(v)
		if err != nil {
			return err
		}
		return r.write(text)
	}
	c, err := evaluation.Clean(v, r.left)
	if err != nil {
		return err
	}
	b, err := evaluation.AppendText(nil, c)
	if err != nil {
		return err
	}
	return r.write(string(b))
}

// put sets an entry of a map that may not have been made yet.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}
