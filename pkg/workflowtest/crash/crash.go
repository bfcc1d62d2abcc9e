package crash

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// MaxRuns is how many runs there are of one case; of more failures than that, as many are taken: of each activity, moment
// and kind, and spread evenly over those.
const MaxRuns = 2_000

// A run of a case with many points takes long, so that there are fewer runs of it: so many that all of them
// together have about pointsEach points for each run that there might be, but not fewer than leastRuns.
const (
	pointsEach = 500
	leastRuns  = 40
)

// Report is what failures of nodes do to a workflow.
type Report struct {
	Calls    int          `json:"calls"`  // to the outside, that the run without a failure makes
	Points   int          `json:"points"` // at which a node may fail
	Runs     int          `json:"runs"`   // each with one failure
	Left     int          `json:"left"`   // failures that were left out, as they are too many
	Repeated []Repeated   `json:"repeated"`
	Differs  []Difference `json:"differs"`
}

// Repeated is a call that may be made more than once.
type Repeated struct {
	Activity string   `json:"activity"`
	Type     string   `json:"type"`
	Runs     int      `json:"runs"`              // in which it is
	Failure  string   `json:"failure"`           // the first that has it made again
	SameKey  bool     `json:"sameKey"`           // each time with the same Idempotency-Key
	NoKey    bool     `json:"noKey"`             // it is a request without one
	Reads    bool     `json:"reads"`             // it is a GET, HEAD or OPTIONS
	SameBody bool     `json:"sameBody"`          // and each time it says the same
	Changes  []string `json:"changes,omitempty"` // what it does not say again, with both texts
	Mend     string   `json:"mend"`
}

// Difference is an end, an output or a wait that is another one than without a failure.
type Difference struct {
	Kind     trial.Kind `json:"kind"`
	Activity string     `json:"activity"`
	Failure  string     `json:"failure"` // the first
	Runs     int        `json:"runs"`    // with this difference
	Changes  []string   `json:"changes"` // each with what was there without the failure, and with it
	Fails    bool       `json:"fails"`   // it is wrong: a way that the definition has for a lost answer is not
	Mend     string     `json:"mend"`
}

// Failures are what is wrong, a text each; none: a node may fail anywhere.
func (r *Report) Failures() (texts []string) {
	for _, c := range r.Repeated {
		switch {
		case c.Reads:
		case c.NoKey:
			texts = append(texts, fmt.Sprintf("%s is called again without an Idempotency-Key (%s; %s): %s", c.Activity, c.Failure, runs(c.Runs), c.Mend))
		case !c.SameKey:
			texts = append(texts, fmt.Sprintf("%s is called again with another Idempotency-Key (%s; %s): %s", c.Activity, c.Failure, runs(c.Runs), c.Mend))
		case !c.SameBody:
			texts = append(texts, fmt.Sprintf("%s is called again with the same Idempotency-Key, and says something else (%s; %s):\n%s\n%s", c.Activity, c.Failure, runs(c.Runs), strings.Join(c.Changes, "\n"), c.Mend))
		}
	}
	for _, d := range r.Differs {
		if d.Fails {
			texts = append(texts, fmt.Sprintf("%s; %s:\n%s\n%s", d.Failure, runs(d.Runs), strings.Join(d.Changes, "\n"), d.Mend))
		}
	}
	return texts
}

// Notes are what is to be known, and not wrong, a text each.
func (r *Report) Notes() (texts []string) {
	for _, c := range r.Repeated {
		switch {
		case c.Reads:
			texts = append(texts, fmt.Sprintf("%s may be called again: %s", c.Activity, c.Mend))
		case c.SameKey && c.SameBody:
			texts = append(texts, fmt.Sprintf("%s may be called again, with the same Idempotency-Key and saying the same: %s", c.Activity, c.Mend))
		}
	}
	for _, d := range r.Differs {
		if !d.Fails {
			texts = append(texts, fmt.Sprintf("%s: %s", d.Failure, d.Mend))
		}
	}
	if r.Left > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d failures were tried, spread evenly", r.Runs, r.Runs+r.Left))
	}
	return texts
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// seen is what a run came to.
type seen struct {
	end      end
	effects  []trial.Effect
	points   []trial.Point
	problems []string // of the test
}

// sends reports whether an activity sends requests.
func (s *seen) sends(activity string) bool {
	return slices.ContainsFunc(s.effects, func(e trial.Effect) bool { return e.Activity == activity && e.Sends })
}

// Play does what a test does with a run, which keeps to within, and gives what is not as the test wants it.
type Play func(r *trial.Run, within *trial.Bounds) (problems []string)

// Try plays a test once without a failure, and then once for each, within bounds (nil: there are none): most
// times, at most [MaxRuns]. It returns an error if the test fails without a failure of a node, or ctx ended.
func Try(ctx context.Context, cfg trial.Config, bounds *trial.Bounds, most int, play Play) (*Report, error) {
	once := func(f *trial.Failure) (*seen, error) {
		within := bounds.Again()
		r, err := trial.New(trial.Failing(trial.Within(cfg, within), f))
		if err != nil {
			return nil, err
		}
		s := &seen{problems: play(r, within)}
		s.end = endOf(r)
		s.points, s.effects = trial.Noted(r)
		return s, nil
	}
	base, err := once(nil)
	switch {
	case err != nil:
		return nil, err
	case len(base.problems) > 0:
		return nil, fmt.Errorf("the test fails without a failure of a node: %s", base.problems[0])
	}
	c := &comparison{base: base, known: byCall(base.effects), report: &Report{Calls: len(base.effects), Points: len(base.points), Repeated: []Repeated{}, Differs: []Difference{}}}
	every := all(base.points)
	most = min(most, MaxRuns)
	failures := spread(base.points, every, min(most, max(leastRuns, most*pointsEach/max(1, len(base.points)))))
	c.report.Left = len(every) - len(failures)
	for _, f := range failures {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		got, err := once(&f)
		if err != nil {
			return nil, err
		}
		c.compare(f, got)
	}
	return c.report, nil
}

// all are the failures that points may have.
func all(points []trial.Point) (out []trial.Failure) {
	for i, p := range points {
		for _, k := range p.Kinds() {
			out = append(out, trial.Failure{Point: i, Kind: k})
		}
	}
	return out
}

// spread takes so many failures, at most: as many as there are of what is rare (an activity, a moment, a kind), and of
// the rest an equal share, evenly from the first to the last.
func spread(points []trial.Point, list []trial.Failure, most int) (out []trial.Failure) {
	if len(list) <= most {
		return list
	}
	type sort struct {
		at       trial.Moment
		activity string
		kind     trial.Kind
	}
	var sorts []sort
	of := map[sort][]trial.Failure{}
	for _, f := range list {
		s := sort{points[f.Point].At, points[f.Point].Activity, f.Kind}
		if of[s] == nil {
			sorts = append(sorts, s)
		}
		of[s] = append(of[s], f)
	}
	slices.SortStableFunc(sorts, func(a, b sort) int { return cmp.Compare(len(of[a]), len(of[b])) })
	sorts = even(sorts, most)
	for i, s := range sorts {
		out = append(out, even(of[s], (most-len(out))/(len(sorts)-i))...)
	}
	slices.SortFunc(out, func(a, b trial.Failure) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// even takes so many of a list, at most, evenly from the first to the last.
func even[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out := make([]T, most)
	for i := range out {
		out[i] = list[i*(len(list)-1)/max(1, most-1)]
	}
	return out
}

// comparison finds what differs, and tells alike findings once.
type comparison struct {
	base   *seen
	known  map[call][]int // its calls
	report *Report
}

func (c *comparison) compare(f trial.Failure, got *seen) {
	c.report.Runs++
	at := c.base.points[f.Point]
	c.calls(f, at, got)
	c.end(f, at, got)
}

// calls finds the calls that were made again.
func (c *comparison) calls(f trial.Failure, at trial.Point, got *seen) {
	made, known := byCall(got.effects), c.known
	again := map[string]int{} // calls of an activity that are made again, in this run
	for _, call := range slices.SortedFunc(maps.Keys(made), func(a, b call) int { return cmp.Compare(made[a][0], made[b][0]) }) {
		times, usual := made[call], known[call]
		first := got.effects[times[0]]
		switch {
		case len(usual) == 0 && isAnother(known, made, call):
			c.repeated(f, at, first, Repeated{}, false)
		case len(times) > len(usual) && len(usual) > 0:
			again[call.activity]++
			changes := changed(c.base.effects, usual, got.effects, times)
			of := Repeated{SameKey: call.key != "", NoKey: call.key == "", SameBody: len(changes) == 0, Changes: changes}
			c.repeated(f, at, first, of, at.Activity != call.activity || again[call.activity] > 1)
		}
	}
}

// call is what is one call to the other side.
type call struct{ instance, activity, key string }

// byCall are the numbers of the effects of each call.
func byCall(effects []trial.Effect) map[call][]int {
	out := map[call][]int{}
	for i, e := range effects {
		k := call{e.Instance, e.Activity, e.Key}
		out[k] = append(out[k], i)
	}
	return out
}

// isAnother reports whether a call with a key that is not known is one more than there are without a failure. If it is
// none, it is a later one whose key follows from another command, or the way went elsewhere, which the end tells.
func isAnother(base, got map[call][]int, k call) bool {
	count := func(calls map[call][]int) (n int) {
		for other := range calls {
			if other.instance == k.instance && other.activity == k.activity {
				n++
			}
		}
		return n
	}
	return count(base) > 0 && count(got) > count(base)
}

// changed tells what a call that is made again says otherwise. One that makes several requests (it follows to another
// place, say) says several things without a failure, too.
func changed(base []trial.Effect, usual []int, got []trial.Effect, times []int) []string {
	distinct := func(effects []trial.Effect, numbers []int) (out []map[string]string) {
		for _, i := range numbers {
			said := effects[i].Said
			if !slices.ContainsFunc(out, func(o map[string]string) bool { return maps.Equal(o, said) }) {
				out = append(out, said)
			}
		}
		return out
	}
	was, is := distinct(base, usual), distinct(got, times)
	if len(is) <= len(was) {
		return nil
	}
	then := is[len(was)] // the first one too many
	var least []string
	for _, first := range is[:len(was)] {
		var differ []string
		for _, name := range slices.Sorted(maps.Keys(union(first, then))) {
			if then[name] != first[name] {
				differ = append(differ, fmt.Sprintf("%s: first %s, then %s", name, cut(first[name]), cut(then[name])))
			}
		}
		if least == nil || len(differ) < len(least) {
			least = differ
		}
	}
	return least
}

func union(a, b map[string]string) map[string]string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

const maxShown = 300 // bytes of a value

func cut(text string) string {
	if short := workflow.CutBytes(text, maxShown); short != text {
		return short + " …"
	}
	return cmp.Or(text, "nothing")
}

// repeated adds a call that is made again, which of tells of. later: the node failed further on than it.
func (c *comparison) repeated(f trial.Failure, at trial.Point, e trial.Effect, of Repeated, later bool) {
	i := slices.IndexFunc(c.report.Repeated, func(r Repeated) bool {
		return r.Activity == e.Activity && r.SameKey == of.SameKey && r.NoKey == of.NoKey && r.SameBody == of.SameBody && r.Reads == e.Reads
	})
	if i < 0 {
		i = len(c.report.Repeated)
		of.Activity, of.Type, of.Failure, of.Reads = e.Activity, e.Type, describe(f, at), e.Reads
		of.Mend = mendCall(&of, e.Sends)
		c.report.Repeated = append(c.report.Repeated, of)
	}
	r := &c.report.Repeated[i]
	r.Runs++
	if r.SameKey && r.SameBody && !r.Reads && later && f.Kind != trial.LostAnswer {
		r.Mend = mendCall(r, e.Sends) + fmt.Sprintf("; it is called again also when a node fails at %s later on: with options: {commit: ActivityExecutedStrict} it is saved by then", at.Activity)
	}
}

// end finds what is not as it is without a failure.
func (c *comparison) end(f trial.Failure, at trial.Point, got *seen) {
	var changes []string
	if got.end.status != c.base.end.status {
		changes = append(changes, fmt.Sprintf("status: %s instead of %s", got.end.status, c.base.end.status))
	}
	for _, name := range slices.Sorted(maps.Keys(got.end.seen)) {
		if is, was := got.end.seen[name], c.base.end.seen[name]; is != was {
			changes = append(changes, fmt.Sprintf("%s: %s instead of %s", name, cut(is), cut(was)))
		}
	}
	if len(changes) == 0 && f.Kind != trial.LostAnswer { // a call more is what a lost answer is for
		changes = got.problems
	}
	if len(changes) == 0 {
		return
	}
	d := Difference{Kind: f.Kind, Activity: at.Activity, Failure: describe(f, at), Changes: changes, Fails: true}
	switch {
	case f.Kind != trial.LostAnswer:
		d.Mend = "what runs again should come to the same: look for what an activity of your own reads from elsewhere (its own clock, random numbers, memory)"
	case got.end.status == c.base.end.status:
		d.Fails, d.Mend = false, fmt.Sprintf("the instance goes another way and is %s as well (%s)", got.end.status, strings.Join(changes, "; "))
	default:
		branch := "onGiveUp"
		if c.base.sends(at.Activity) {
			branch = "failedToConnect, onGiveUp"
		}
		d.Mend = fmt.Sprintf("give %s a retry, as in retry: {attempts: 5, delay: 2s}: it asks again with the same Idempotency-Key; or a branch for it (%s). If it has a retry, that had no attempt left", at.Activity, branch)
	}
	i := slices.IndexFunc(c.report.Differs, func(o Difference) bool {
		return o.Kind == d.Kind && o.Activity == d.Activity && slices.Equal(o.Changes, d.Changes)
	})
	if i < 0 {
		i = len(c.report.Differs)
		c.report.Differs = append(c.report.Differs, d)
	}
	c.report.Differs[i].Runs++
}

// describe tells a failure in a sentence.
func describe(f trial.Failure, at trial.Point) string {
	where := string(at.At)
	if at.Activity != "" {
		where = fmt.Sprintf("%s: %s", at.Activity, at.At)
	}
	switch f.Kind {
	case trial.Pause:
		return where + " the node stands still past its lease, and goes on when another one took over"
	case trial.LostAnswer:
		return where + " the answer is lost"
	}
	return where + " the node dies"
}

// mendCall says what to do about a call that is made again; sends: by an activity that sends requests.
func mendCall(r *Repeated, sends bool) string {
	switch {
	case r.Reads:
		return "it only reads (GET, HEAD or OPTIONS)"
	case r.NoKey:
		return "set the header Idempotency-Key of the request to Execution.IdempotencyKey, or to what the other side takes for one"
	case !r.SameKey:
		return "give the other side one key for the call: keys: same in its retry, or no Idempotency-Key of your own that changes; what a loop or a branch of the definition calls again has another key each time, and a retry in its place has not"
	case !r.SameBody:
		return "what an activity of your own reads from elsewhere (its clock, random numbers, memory) belongs into an activity before it, whose result is saved"
	}
	by := "Execution.IdempotencyKey"
	if sends {
		by = "the header Idempotency-Key"
	}
	return fmt.Sprintf("the other side has to recognise the key (%s passes it on)", by)
}
