package retry

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	keysSame = "same"
	keysNew  = "new"

	retryAgain = "again" // the callback of a pause
	retryLate  = "late"  // of an attempt that would begin too late
	giveUpPort = "onGiveUp"
)

// Policy runs an activity again while it fails.
func Policy() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: workflow.RetryType,
		Description: "Runs its body until an attempt does not fail. The pause before the next attempt is a timer, so that the instance waits for it on no node. " +
			"After the last attempt the branch onGiveUp runs, with the variables Error and Attempts; without it the failure is an incident.",
		Inputs: []workflow.InputDescriptor{
			{Name: "attempts", Type: "Int64", Description: "How many attempts there are at most, the first one included; 3 if neither this nor maxTime is given."},
			{Name: "delay", Type: "TimeSpan", Default: "1s", Positive: true, Description: "The pause before the second attempt."},
			{Name: "factor", Type: "Double", Default: 2.0, Description: "How much longer each pause is than the one before; at least 1."},
			{Name: "maxDelay", Type: "TimeSpan", Default: "1h", Positive: true, Description: "The longest pause; delay, if that is longer and this is not given."},
			{Name: "jitter", Type: "Double", Description: "By which part of itself each pause may be shorter or longer, from 0 to 1, so that many that failed at once do not come back at once: 0.2 is a fifth."},
			{Name: "maxTime", Type: "TimeSpan", Positive: true, Description: "For how long after the beginning of the first attempt others may begin."},
			{Name: "on", Type: "Object", Description: "Which failures are tried again, one or a list: a code, category or type of a fault, an HTTP status such as 503 or 5xx, or a part of the error's text. All, if it is not given."},
			{Name: "notOn", Type: "Object", Description: "Which failures are not tried again; it goes before on."},
			{Name: "keys", Type: "String", Default: keysSame, Options: []string{keysSame, keysNew}, Description: "Whether calls of the next attempt carry the Idempotency-Key that they had in the one before."},
		},
		MainPort: "body",
		Gives: []workflow.OutputDescriptor{
			{Name: "Error", Type: "String", Description: "Why the last attempt failed, in onGiveUp."},
			{Name: "Attempts", Type: "Int64", Description: "How many attempts there were, in onGiveUp."},
		},
		Ports:      []string{"body", giveUpPort},
		AnyOutcome: true,
		Resume:     []string{},
		NoEffect:   true,
	}, retryActivity{}
}

type retryActivity struct{}

// State is the policy, as it was when the first attempt began, and how far it is.
type State struct {
	Attempts int64         `json:"attempts,omitempty"` // 0: as many as there is time for
	Delay    time.Duration `json:"delay"`
	Factor   float64       `json:"factor"`
	MaxDelay time.Duration `json:"maxDelay"`
	MaxTime  time.Duration `json:"maxTime,omitempty"` // 0: no limit
	On       []string      `json:"on,omitempty"`
	NotOn    []string      `json:"notOn,omitempty"`
	NewKeys  bool          `json:"newKeys,omitempty"`
	Jitter   float64       `json:"jitter,omitempty"`
	Seed     string        `json:"seed,omitempty"` // of the jitter: a burst that is repeated makes the same pauses

	Key     string    `json:"key,omitempty"`    // of the attempt that ran: the next one has it too
	Inner   string    `json:"inner,omitempty"`  // the same of what is in it
	Attempt int64     `json:"attempt"`          // which one runs, or ran last
	Began   time.Time `json:"began"`            // the first attempt
	GaveUp  bool      `json:"gaveUp,omitempty"` // onGiveUp runs
	Over    string    `json:"over,omitempty"`   // why no attempt followed the last one, of which something has its incident
	Last    string    `json:"last,omitempty"`   // why the attempt before this one failed
}

func (retryActivity) Prepare(p *engine.Preparation) {
	if v, ok := p.Constant("attempts"); ok && v != nil {
		if err := checkAttempts(v.(int64)); err != nil {
			p.Problem("bad-literal", p.Place("attempts"), "%v", err)
		}
	}
	if v, ok := p.Constant("factor"); ok {
		if err := checkFactor(floatOf(v)); err != nil {
			p.Problem("bad-literal", p.Place("factor"), "%v", err)
		}
	}
	if v, ok := p.Constant("jitter"); ok && v != nil {
		if err := checkJitter(floatOf(v)); err != nil {
			p.Problem("bad-literal", p.Place("jitter"), "%v", err)
		}
	}
	for _, name := range []string{"on", "notOn"} {
		if v, ok := p.Constant(name); ok {
			if _, err := failuresOf(name, v); err != nil {
				p.Problem("bad-literal", p.Place(name), "%v", err)
			}
		}
	}
}

func checkAttempts(n int64) error {
	if n < 1 {
		return fmt.Errorf("attempts: there is at least 1 attempt, not %d", n)
	}
	return nil
}

func checkFactor(f float64) error {
	if !(f >= 1) {
		return fmt.Errorf("factor: pauses do not become shorter; it is at least 1, not %v", f)
	}
	return nil
}

func checkJitter(f float64) error {
	if !(f >= 0 && f <= 1) {
		return fmt.Errorf("jitter: a part of the pause from 0 to 1, not %v", f)
	}
	return nil
}

func floatOf(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return math.Inf(1) // a json.Number: beyond both
}

// failuresOf reads on and notOn: one entry or a list of them.
func failuresOf(name string, v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	var out []string
	for _, e := range list {
		switch e.(type) {
		case string, int64:
		default:
			return nil, fmt.Errorf("%s: %s is neither a text nor an HTTP status", name, engine.Text(e))
		}
		text := strings.TrimSpace(engine.Text(e))
		if text == "" {
			return nil, fmt.Errorf("%s: an empty text is part of every error; leave it out", name)
		}
		out = append(out, text)
	}
	return out, nil
}

func (r retryActivity) Execute(_ context.Context, x *engine.Execution) error {
	s := engine.Scratch[State](x)
	own, _ := x.CallKeys()
	*s = State{
		Attempts: x.Int("attempts"), Delay: x.Duration("delay"), Factor: x.Float("factor"), MaxDelay: x.Duration("maxDelay"), MaxTime: x.Duration("maxTime"),
		NewKeys: x.Text("keys") == keysNew, Key: workflow.DeriveID(own, "attempt"),
	}
	if !x.Given("maxDelay") {
		s.MaxDelay = max(s.MaxDelay, s.Delay)
	}
	if x.Value("attempts") == nil && s.MaxTime == 0 {
		s.Attempts = 3
	}
	if x.Value("attempts") != nil {
		if err := checkAttempts(s.Attempts); err != nil {
			return err
		}
	}
	if err := checkFactor(s.Factor); err != nil {
		return err
	}
	if s.Jitter = x.Float("jitter"); s.Jitter > 0 {
		s.Seed = own
	}
	err := checkJitter(s.Jitter)
	if err != nil {
		return err
	}
	if s.On, err = failuresOf("on", x.Value("on")); err != nil {
		return err
	}
	if s.NotOn, err = failuresOf("notOn", x.Value("notOn")); err != nil {
		return err
	}
	s.Began = x.Clock()
	r.attempt(x, s)
	return nil
}

// attempt begins the next one.
func (retryActivity) attempt(x *engine.Execution, s *State) {
	s.Attempt++
	x.TellAttempt(s.Attempt)
	c := engine.Child{}
	if !s.NewKeys {
		c.Key, c.Inner = s.Key, s.Inner
	}
	x.Schedule(x.Node().Port("body"), c)
}

func (r retryActivity) Resume(_ context.Context, x *engine.Execution, re engine.Resume) error {
	s := engine.Scratch[State](x)
	switch {
	case re.Callback == retryAgain && !s.late(x.Clock()):
		r.attempt(x, s)
	case re.Callback == retryAgain:
		last := "it failed"
		if coming := re.Bookmark.Retry(); coming != nil && coming.Error != "" {
			last = coming.Error
		}
		return r.tooLate(x, s, last)
	case re.Callback == retryLate:
		s.Attempt--
		return r.tooLate(x, s, "it failed")
	}
	return nil
}

// late tells whether an attempt that is not the first would begin after the time for all.
func (s *State) late(now time.Time) bool {
	return s.MaxTime > 0 && !s.Began.IsZero() && now.Sub(s.Began) > s.MaxTime
}

// Admits keeps an attempt from beginning after the time for all, however long it waited for its turn: no node
// may have been there.
func (retryActivity) Admits(x *engine.Execution, child *engine.Node) string {
	s := engine.Scratch[State](x)
	if child == x.Node().Port("body") && s.Attempt > 1 && s.late(x.Clock()) {
		return retryLate
	}
	return ""
}

// tooLate gives up before an attempt that would begin after the time for all; last is why the one before
// failed. Without onGiveUp that is the policy's own incident: an operator who runs it again begins another
// series of attempts.
func (r retryActivity) tooLate(x *engine.Execution, s *State, last string) error {
	failure := fmt.Errorf("attempt %s failed, and the next one would have begun after the time of %s for all: %s", s.count(), s.MaxTime, last)
	if x.Node().Port(giveUpPort) == nil {
		x.Journal("GaveUp", failure.Error(), map[string]any{"attempt": s.Attempt, "attempts": s.Attempts, "error": last, "reason": "maxTime"})
		return engine.BeginAgain(failure)
	}
	_, err := r.giveUp(x, s, errors.New(last), fmt.Sprintf("the next one would have begun after the time of %s for all", s.MaxTime))
	return err
}

func (retryActivity) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	if done.Node == x.Node().Port("body") {
		x.Complete(done.Outcomes...) // it stands for the activity that has the retry
	} else {
		x.Complete()
	}
	return nil
}

// Signal takes an attempt that failed.
func (r retryActivity) Signal(_ context.Context, x *engine.Execution, sig engine.Signal) (bool, error) {
	s := engine.Scratch[State](x)
	if sig.Name != engine.SignalFault || s.GaveUp {
		return false, nil
	}
	if s.Over != "" && slices.ContainsFunc(x.Children(), func(k *engine.Execution) bool { return otherFault(k, sig.Sender) }) {
		return false, &engine.GaveUpError{Err: sig.Err, Note: s.Over} // another attempt would take away what has its incident
	}
	s.Over = ""
	s.Key, s.Inner = sig.Child.CallKeys() // an operator may have run it again, with others
	pause, why := s.next(x.Clock(), sig.Err)
	if why != "" {
		return r.giveUp(x, s, sig.Err, why)
	}
	due := x.Clock().Add(pause).UTC()
	coming := &workflow.Retry{Activity: x.Node().Port("body").ID(), Attempt: s.Attempt + 1, Attempts: s.Attempts, Error: workflow.CutBytes(x.Redact(sig.Err.Error()), 1024)}
	s.Last = coming.Error
	x.Journal("AttemptFailed", fmt.Sprintf("attempt %s failed: %s", s.count(), coming.Error), map[string]any{"attempt": s.Attempt, "attempts": s.Attempts, "error": coming.Error, "nextAt": due})
	if _, err := x.Wait(engine.Wait{Name: coming.Activity, Payload: map[string]any{"dueAt": due}, Local: true, DueAt: &due, Callback: retryAgain, Metadata: coming.Metadata()}); err != nil {
		return false, err
	}
	x.CancelChildren(everyChild)
	return true, nil
}

func everyChild(*engine.Execution) bool { return true }

// otherFault tells whether something beside one that has just failed has faulted in x: that is for an operator.
func otherFault(x, failed *engine.Execution) bool {
	return x != failed && x.Faulted() || slices.ContainsFunc(x.Children(), func(k *engine.Execution) bool { return otherFault(k, failed) })
}

// giveUp runs onGiveUp. Without it, the activity that failed has its incident; if an
// operator runs it again, another series of attempts begins.
func (retryActivity) giveUp(x *engine.Execution, s *State, cause error, why string) (bool, error) {
	text, count := x.Redact(cause.Error()), s.count()
	x.Journal("GaveUp", fmt.Sprintf("attempt %s failed, and no other follows: %s: %s", count, why, text), map[string]any{"attempt": s.Attempt, "attempts": s.Attempts, "error": text, "reason": why})
	if n := x.Node().Port(giveUpPort); n != nil {
		x.Schedule(n, engine.Child{Variables: map[string]any{"Error": text, "Attempts": s.Attempt}})
		x.CancelChildren(everyChild)
		s.GaveUp = true
		return true, nil
	}
	s.Attempt, s.Began, s.Over = 1, time.Time{}, "attempt "+count+"; "+why
	return false, &engine.GaveUpError{Err: cause, Note: s.Over}
}

// count names the attempt that ran: 3 of 5.
func (s *State) count() string {
	if s.Attempts == 0 {
		return strconv.FormatInt(s.Attempt, 10)
	}
	return fmt.Sprintf("%d of %d", s.Attempt, s.Attempts)
}

// next tells how long to pause before the attempt that follows a failure, or why none
// does.
func (s *State) next(now time.Time, failure error) (pause time.Duration, why string) {
	if s.Began.IsZero() {
		s.Began = now
	}
	if why := s.Excludes(failure); why != "" {
		return 0, why
	}
	if s.Attempts > 0 && s.Attempt >= s.Attempts {
		return 0, "it was the last one"
	}
	pause = s.pause(failure)
	if s.MaxTime > 0 && now.Add(pause).Sub(s.Began) > s.MaxTime {
		return 0, fmt.Sprintf("the time of %s for all is over", s.MaxTime)
	}
	return pause, ""
}

// Excludes tells why a failure is not one that is tried again; "": it is one.
func (s *State) Excludes(failure error) string {
	is := func(entry string) bool { return isFailure(entry, failure) }
	var lasting *LastingError
	switch {
	case slices.ContainsFunc(s.NotOn, is):
		return "notOn has it"
	case len(s.On) > 0 && !slices.ContainsFunc(s.On, is):
		return "on does not have it"
	case len(s.On) == 0 && errors.As(failure, &lasting):
		return "another attempt would fail as this one"
	}
	return ""
}

// pause is the time between the attempt that ran and the next one: also as long as the other side asked for, up to
// the longest.
func (s *State) pause(failure error) time.Duration {
	longest := float64(s.MaxDelay)
	d := float64(s.Delay) * math.Pow(s.Factor, float64(s.Attempt-1))
	if !(d < longest) { // infinite, too
		d = longest
	}
	d = min(d*(1+s.Jitter*(2*s.drawn()-1)), longest)
	var status *StatusError
	if errors.As(failure, &status) {
		d = max(d, min(float64(status.RetryAfter), longest))
	}
	return min(time.Duration(d), s.MaxDelay) // which a float64 may not have to the nanosecond
}

// drawn is a number from 0 to 1 for the pause that comes, the same whenever it is asked.
func (s *State) drawn() float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", s.Seed, s.Attempt) // it does not fail
	return float64(h.Sum64()>>11) / (1 << 53)
}

// StatusError is an answer that is a failed attempt.
type StatusError struct {
	URL        string
	Status     int
	RetryAfter time.Duration // that the answer asks for; 0: it does not
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status)))
}

// LastingError is a failure that another attempt would meet again: a policy makes none, unless
// its on names it.
type LastingError struct{ Err error }

func (e *LastingError) Error() string { return e.Err.Error() }

// Unwrap gives the failure.
func (e *LastingError) Unwrap() error { return e.Err }

// StatusEntry is an entry of on or notOn that means a status, or all of a hundred.
var StatusEntry = regexp.MustCompile(`^[1-5](\d\d|[xX][xX])$`)

// isFailure tells whether an entry of on or notOn means this failure.
func isFailure(entry string, failure error) bool {
	var status *StatusError
	if errors.As(failure, &status) && StatusEntry.MatchString(entry) {
		return HasStatus(entry, status.Status)
	}
	var fault *engine.FaultError
	if errors.As(failure, &fault) {
		for _, name := range []string{fault.Code, fault.Category, fault.Type} {
			if strings.EqualFold(entry, name) {
				return true
			}
		}
	}
	return strings.Contains(strings.ToLower(failure.Error()), strings.ToLower(entry))
}

// HasStatus reports whether an entry of on or notOn means a status.
func HasStatus(entry string, status int) bool {
	code := strconv.Itoa(status)
	return entry == code || strings.EqualFold(entry, code[:1]+"xx")
}

// Of is the policy that the activity of x has itself, not one that is further out;
// nil if there is none.
func Of(x *engine.Execution) *State {
	p := x.Parent()
	if n := p.Node(); n.LocalID() == x.Node().LocalID()+workflow.TimeoutSuffix {
		p = p.Parent()
	}
	if p == nil || p.Node().Type() != workflow.RetryType || p.Node().LocalID() != x.Node().LocalID()+workflow.RetrySuffix {
		return nil
	}
	return engine.Scratch[State](p)
}

// Again tells whether the failure is followed by another attempt.
func (s *State) Again(now time.Time, failure error) bool {
	if s == nil {
		return false
	}
	_, why := s.next(now, failure)
	return why == ""
}
