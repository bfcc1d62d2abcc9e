package ask

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
)

// How often something is looked at: where nothing tells of changes, where the stream does and only ages grow, and
// at most.
const (
	lookEvery  = 2 * time.Second
	lookAnyway = 15 * time.Second
	lookPause  = 200 * time.Millisecond
)

// Repeated shows something once, or with --watch again when the stream tells of a change of one of the topics, and every two
// seconds without topics or a stream. It goes on until it is interrupted; once something was shown, also
// over a time in which nobody answers.
func (a *Asker) Repeated(ctx context.Context, once func() error, topics ...string) error {
	if !a.watch {
		return once()
	}
	out, screen := a.Out, ""
	if IsTerminal(out) {
		screen = "\x1b[H\x1b[2J"
	}
	defer func() { a.Out = out }()
	var heard *changes
	defer func() { heard.end() }()
	shown, said := "", ""
	for looked := false; ; looked = true {
		var b bytes.Buffer
		a.Out = &b
		err := once()
		switch code, _ := codeOf(err); {
		case ctx.Err() != nil:
			return nil
		case err != nil && (!looked || code != ExitUnknown):
			return err
		case err != nil:
			if text := a.Explained(err) + "; looking again"; text != said {
				a.Note("weft: " + text)
				said = text
			}
		case b.String() != shown:
			shown, said = b.String(), ""
			if _, err := io.WriteString(out, screen+shown); err != nil {
				return err
			}
		}
		if heard == nil {
			heard = hear(ctx, a.cfg, topics)
		}
		if !heard.wait(ctx) {
			return nil
		}
	}
}

// changes hears that something has changed.
type changes struct {
	tell  chan struct{}
	hears atomic.Bool // a stream is there
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// hear listens to topics until it is ended. Without topics, or where the server has no stream, it hears nothing.
func hear(ctx context.Context, cfg apiclient.Config, topics []string) *changes {
	ctx, stop := context.WithCancel(ctx)
	h := &changes{tell: make(chan struct{}, 1), stop: stop}
	cfg.OnRepeat = nil // the look tells that nobody answers
	c, err := apiclient.New(cfg)
	if err != nil || len(topics) == 0 {
		return h
	}
	h.ended.Go(func() {
		defer h.hears.Store(false)
		for _, err := range c.Stream(ctx, topics, "") {
			if err != nil {
				return
			}
			h.hears.Store(true)
			select {
			case h.tell <- struct{}{}:
			default:
			}
		}
	})
	return h
}

// wait waits for the next look; ok is false when it is over.
func (h *changes) wait(ctx context.Context) (ok bool) {
	every := lookEvery
	if h.hears.Load() {
		every = lookAnyway
	}
	select {
	case <-time.After(every):
		return true
	case <-ctx.Done():
		return false
	case <-h.tell:
	}
	select { // what changes at the same time is shown at once
	case <-time.After(lookPause):
		return true
	case <-ctx.Done():
		return false
	}
}

func (h *changes) end() {
	if h != nil {
		h.stop()
		h.ended.Wait()
	}
}
