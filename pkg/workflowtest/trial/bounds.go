package trial

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// Limits of a case of a test that was sent.
const (
	maxCommands = 2_000
	maxItems    = 20_000  // of its journals
	maxBytes    = 4 << 20 // of its instances
	maxKept     = 8 << 20 // bytes of what else it keeps: journals, lines, events, the inputs of activities and children
)

// MaxFailures is how many failures of a case that was sent are told.
const MaxFailures = 100

var errKept = fmt.Errorf("the case keeps more than %d bytes of lines, events, inputs and journals; run it with weft test", maxKept)

// Bounds are what a case of a test that was sent may do; nil: everything.
type Bounds struct {
	Context    context.Context                                        //nolint:containedctx // that of the case, which the methods of [Run] do not take
	Stop       context.CancelCauseFunc                                // ends it
	Source     func(ctx context.Context, name string) ([]byte, error) // of a definition, instead of files
	Evaluators []engine.Evaluator                                     // of the languages that may be used; nil: all

	kept int // bytes, beside the instances
}

// Again are the same bounds for another run of the case.
func (b *Bounds) Again() *Bounds {
	if b == nil {
		return nil
	}
	again := *b
	again.kept = 0
	return &again
}

func (b *Bounds) context() context.Context {
	if b == nil {
		return context.Background()
	}
	return b.Context
}

// read reads a definition: from a file, or from what was sent with the test.
func (b *Bounds) read(name string) ([]byte, error) {
	if b == nil {
		return ReadLimited(name, maxFile)
	}
	if b.Context.Err() != nil {
		return nil, context.Cause(b.Context)
	}
	return b.Source(b.Context, name)
}

// Check stops a run that does more than a test that was sent may do.
func (b *Bounds) Check(r *Run) error {
	if b == nil {
		return nil
	}
	if b.Context.Err() != nil {
		return context.Cause(b.Context)
	}
	items, bytes := 0, 0
	for _, in := range r.instances {
		items += len(in.journal)
		bytes += len(in.state) + in.headerBytes
	}
	switch {
	case r.commands > maxCommands:
		return fmt.Errorf("the case runs more than %d commands; run it with weft test", maxCommands)
	case items > maxItems:
		return fmt.Errorf("the case does more than %d things; run it with weft test", maxItems)
	case bytes > maxBytes:
		return fmt.Errorf("the instances of the case have more than %d bytes; run it with weft test", maxBytes)
	}
	return nil
}

// keep counts bytes that stay until the case ends. When they are too many it ends the case, also
// in the midst of a burst: one burst can write lines as long as it likes.
func (b *Bounds) keep(bytes int) error {
	if b == nil {
		return nil
	}
	if b.kept += bytes; b.kept <= maxKept {
		return nil
	}
	b.Stop(errKept)
	return errKept
}

// line is a line as it is kept, and compared: a long one is its beginning, and tells by its hash
// whether the rest is the same.
func (b *Bounds) line(text string) string {
	cut := value.CutLine(text)
	if b == nil || len(cut) == len(text) && cut == text {
		return text
	}
	return fmt.Sprintf("%s (SHA-256 %x)", cut, sha256.Sum256([]byte(text)))
}

// Enough reports that no more failures are looked for: there is one more than are told.
func (b *Bounds) Enough(found int) bool {
	return b != nil && (found > MaxFailures || b.Context.Err() != nil)
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
