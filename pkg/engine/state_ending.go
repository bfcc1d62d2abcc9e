package engine

import (
	"errors"
	"fmt"
	"io"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// brief is what a burst that was loaded for the end of its instance knows of the places that it did not read.
type brief struct {
	is       bool
	more     map[*Node]int // executions that run, and have no line of their own in the journal
	running  int           // of them
	children []string      // that the instance waits for
}

// ErrAtWork says that an instance cannot be loaded for its end only, as it stopped in the middle of something.
var ErrAtWork = errors.New("the instance stopped in the middle of work")

// LoadEnding is [Load] for a burst whose first command ends the instance: a cancel of one that runs, or a delete of one
// that runs or is faulted. The state is read as it comes, and of the places that the instance stands and waits at so much
// is kept as its end tells of. So one of 100,000 places takes the memory of some thousands. header needs no bookmarks.
func LoadEnding(p *Program, header workflow.Instance, state io.Reader, env Env) (*Burst, error) {
	header.Bookmarks, header.MoreWaits = nil, 0
	if p.root.ports["root"].undoer != nil {
		return nil, ErrAtWork // what was done is undone first
	}
	return load(p, header, env, func(b *Burst) error {
		b.brief = brief{is: true, more: map[*Node]int{}}
		r := &endingReader{reader: reader{b: b}, at: map[int]*Execution{}}
		rest, err := value.Stream(state, map[string]func([]byte) error{"executions": r.execution, "bookmarks": r.mark, "marks": r.mark}, r.other)
		var d stateDoc
		if err == nil {
			err = workflow.UnmarshalKnown(rest, &d)
		}
		if err != nil {
			return fmt.Errorf("the state is not readable: %w", err)
		}
		r.itself(&d)
		return r.err
	})
}

// endingReader reads a state in pieces.
type endingReader struct {
	reader
	wide bool               // executions refer to each other by numbers
	seen int                // executions
	at   map[int]*Execution // those that are kept, by what refers to them
}

func (r *endingReader) other(name string, v []byte) error {
	switch name {
	case "commands":
		return ErrAtWork
	case "v":
		r.wide = string(v) == fmt.Sprint(wideVersion)
		return Readable(fmt.Appendf(nil, `{"v":%s}`, v))
	}
	return nil
}

func (r *endingReader) mark(item []byte) error {
	var d bookmarkDoc
	if err := workflow.UnmarshalKnown(item, &d); err != nil {
		return err
	}
	if d.Child != "" {
		r.b.brief.children = append(r.b.brief.children, d.Child)
	}
	return nil
}

// execution keeps the first ones, each of which has a line in the journal, and counts the others.
func (r *endingReader) execution(item []byte) error {
	var d executionDoc
	if err := workflow.UnmarshalKnown(item, &d); err != nil {
		return err
	}
	i, n := r.seen, r.node(d.Node)
	if r.seen++; n == nil {
		return r.err
	}
	if len(n.vars) > 0 || d.Vars != nil {
		r.b.variables.left = append(r.b.variables.left, d.Number)
	}
	if parent := r.at[d.Parent]; i > 0 && (parent == nil || len(r.at) > mostCanceled) {
		if !d.Faulted {
			r.b.brief.more[n]++
			r.b.brief.running++
		}
		return nil
	}
	x := &Execution{b: r.b, id: d.ID, number: d.Number, node: n, tag: d.Tag, born: d.Born}
	if d.Faulted {
		x.status = faulted
	}
	if x.parent = r.at[d.Parent]; x.parent == nil {
		r.b.root = x
	} else {
		x.parent.kids = append(x.parent.kids, x)
	}
	if r.wide {
		i = int(d.Number)
	}
	r.at[i] = x
	return nil
}

// cancel counts them as canceled, and cancels the children that they wait for. Nothing is left out of the burst then.
func (br *brief) cancel(b *Burst) {
	for n, k := range br.more {
		for range k {
			b.count(&Execution{node: n}, "canceled")
		}
	}
	for _, child := range br.children {
		cancelLater(b, child)
	}
	b.brief = brief{}
}
