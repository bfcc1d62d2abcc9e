package workflowtest

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/weft-run/weft/pkg/engine"
)

// Limits of a case of a test that was sent.
const (
	maxSentCommands = 2_000
	maxSentItems    = 20_000  // of its journals
	maxSentBytes    = 4 << 20 // of its instances
	maxSentKept     = 8 << 20 // bytes of what else it keeps: journals, lines, events, the inputs of activities and children
	maxSentFailures = 100
)

var errSentKept = fmt.Errorf("the case keeps more than %d bytes of lines, events, inputs and journals; run it with weft test", maxSentKept)

// guard is what a case of a test that was sent may do; nil: everything.
type guard struct {
	ctx        context.Context                                        //nolint:containedctx // that of the case, which the methods of [Run] do not take
	stop       context.CancelCauseFunc                                // ends it
	kept       int                                                    // bytes, beside the instances
	source     func(ctx context.Context, name string) ([]byte, error) // instead of files
	evaluators []engine.Evaluator
}

func (g *guard) context() context.Context {
	if g == nil {
		return context.Background()
	}
	return g.ctx
}

// read reads a definition: from a file, or from what was sent with the test.
func (g *guard) read(name string) ([]byte, error) {
	if g == nil {
		return readLimited(name, maxFile)
	}
	if g.ctx.Err() != nil {
		return nil, context.Cause(g.ctx)
	}
	return g.source(g.ctx, name)
}

// check stops a run that does more than a test that was sent may do.
func (g *guard) check(r *Run) error {
	if g == nil {
		return nil
	}
	if g.ctx.Err() != nil {
		return context.Cause(g.ctx)
	}
	items, bytes := 0, 0
	for _, in := range r.instances {
		items += len(in.journal)
		bytes += len(in.state) + in.headerBytes
	}
	switch {
	case r.commands > maxSentCommands:
		return fmt.Errorf("the case runs more than %d commands; run it with weft test", maxSentCommands)
	case items > maxSentItems:
		return fmt.Errorf("the case does more than %d things; run it with weft test", maxSentItems)
	case bytes > maxSentBytes:
		return fmt.Errorf("the instances of the case have more than %d bytes; run it with weft test", maxSentBytes)
	}
	return nil
}

// keep counts bytes that stay until the case ends. When they are too many it ends the case, also
// in the midst of a burst: one burst can write lines as long as it likes.
func (g *guard) keep(bytes int) error {
	if g == nil {
		return nil
	}
	if g.kept += bytes; g.kept <= maxSentKept {
		return nil
	}
	g.stop(errSentKept)
	return errSentKept
}

// line is a line as it is kept, and compared: a long one is its beginning, and tells by its hash
// whether the rest is the same.
func (g *guard) line(text string) string {
	cut := engine.CutLine(text)
	if g == nil || len(cut) == len(text) && cut == text {
		return text
	}
	return fmt.Sprintf("%s (SHA-256 %x)", cut, sha256.Sum256([]byte(text)))
}

// enough reports that no more failures are looked for: there is one more than are told.
func (g *guard) enough(found int) bool {
	return g != nil && (found > maxSentFailures || g.ctx.Err() != nil)
}

// keeps tells about how many bytes a commit leaves, without those of its instance and of the
// lines that it wrote, which were counted as they were written.
func keeps(res *engine.Result) int {
	const each = 200 // of what has no size of its own
	bytes := 0
	for i := range res.Journal {
		it := &res.Journal[i]
		bytes += each + engine.Weigh(it.Data)
		if it.Event != engine.EventWriteLine {
			bytes += len(it.Text)
		}
	}
	for i := range res.Events {
		st := &res.Events[i].Stimulus
		bytes += each + engine.Weigh(st.Payload) + engine.Weigh(st.Input) + len(st.CorrelationID)
	}
	for i := range res.Children {
		bytes += each + engine.Weigh(res.Children[i].Start.Input)
	}
	return bytes
}
