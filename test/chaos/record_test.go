package chaos

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// outcome is what the caller knows of a call.
type outcome string

const (
	ok      outcome = "ok"
	refused outcome = "refused" // definitely without effect
	unknown outcome = "unknown"
)

// call is one call as its caller saw it.
type call struct {
	kind      string // event, door, link, start, cancel, delete
	token     string // of events, and of starts that carry one
	key       string // Idempotency-Key, ""
	instance  string // started, cancelled, deleted, or the only target that there can be
	outcome   outcome
	instances []string // that it had an effect on, or will have
	queued    bool
	accepted  bool
	node      string
	err       string
	from, to  time.Duration // since the recorder began
}

// recorder keeps every call, and what was found to be wrong.
type recorder struct {
	mu         sync.Mutex
	began      time.Time      // guarded by mu
	calls      []call         // guarded by mu
	violations []string       // guarded by mu
	kinds      map[string]int // by rule; guarded by mu
	reads      []read         // guarded by mu
}

// read is what an instance had written at one time.
type read struct {
	instance string
	lines    []string
	from, to time.Duration
}

func (r *recorder) now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = time.Now()
	}
	return time.Since(r.began)
}

func (r *recorder) add(c call) {
	c.to = r.now()
	if strings.HasPrefix(c.err, string(workflow.CodeTooLarge)) && !fitsNowhere(c.token) {
		r.violate("refused-for-size", "%s %s %s, which fits alone: %s", c.kind, c.instance, c.token, c.err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *recorder) addRead(rd read) {
	rd.to = r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads = append(r.reads, rd)
}

// violate notes that a rule was broken; the first of each rule in full.
func (r *recorder) violate(rule, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = map[string]int{}
	}
	if r.kinds[rule]++; r.kinds[rule] <= 5 {
		r.violations = append(r.violations, rule+": "+fmt.Sprintf(format, args...))
	}
}

// outcomeOf tells what an error says about the effect.
func outcomeOf(err error) outcome {
	if err == nil {
		return ok
	}
	switch workflow.CodeOf(err) {
	case workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceExists, workflow.CodeInstanceGated,
		workflow.CodeBookmarkNotFound, workflow.CodeDraining, workflow.CodePaused, workflow.CodeTooLarge, workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable:
		return refused
	}
	return unknown
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	var e *workflow.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %v", e.Code, err)
	}
	return err.Error()
}

// sent notes the answer to an event.
func (r *recorder) sent(c call, res runtime.SendResult, err error) {
	c.kind, c.outcome, c.err = "event", outcomeOf(err), errText(err)
	for _, o := range res.Outcomes {
		if o.Outcome != workflow.OutcomeRefused {
			c.instances = append(c.instances, o.InstanceID)
		}
		c.accepted = c.accepted || o.Outcome == workflow.OutcomeAccepted
	}
	c.queued = res.Queued != ""
	if err == nil && len(c.instances) == 0 && !c.queued {
		c.outcome = refused
	}
	r.add(c)
}
