package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// bench runs one instance and keeps what its bursts gave. Between any two
// commands the instance is encoded and loaded again.
type bench struct {
	t        *testing.T
	prog     *engine.Program
	env      engine.Env
	now      time.Time
	lines    []string
	header   workflow.Instance
	state    []byte
	last     engine.Result
	journal  []workflow.JournalItem
	children []engine.ChildStart
	events   []engine.Sent
	canceled []string
	response *workflow.Response
	commits  int
	joined   int // saves
	most     int // commits before the end that one command makes; it goes on with the next one. 0: any number
	n        int
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type option func(*bench, *engine.Options, *workflow.Start)

func withInput(in map[string]any) option {
	return func(_ *bench, _ *engine.Options, s *workflow.Start) { s.Input = in }
}

func withProperty(k string, v any) option {
	return func(_ *bench, _ *engine.Options, s *workflow.Start) { s.Properties = map[string]any{k: v} }
}

func withTrigger(id string, in map[string]any) option {
	return func(_ *bench, _ *engine.Options, s *workflow.Start) { s.Trigger, s.TriggerInput = id, in }
}

func withDefinitions(defs ...*workflow.Definition) option {
	return func(_ *bench, o *engine.Options, _ *workflow.Start) {
		o.Resolve = func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
			for _, d := range defs {
				if d.ID == ref.ID || ref.VersionID != "" && d.VersionID == ref.VersionID {
					return d, true
				}
			}
			return nil, false
		}
	}
}

func withEnv(f func(*engine.Env)) option {
	return func(b *bench, _ *engine.Options, _ *workflow.Start) { f(&b.env) }
}

func upTo(commits int) option {
	return func(b *bench, _ *engine.Options, _ *workflow.Start) { b.most = commits }
}

// start compiles def and runs its first burst.
func start(t *testing.T, def *workflow.Definition, opts ...option) *bench {
	t.Helper()
	b := &bench{t: t, now: t0}
	b.env = engine.Env{
		Now:   func() time.Time { return b.now },
		Lines: func(s string) { b.lines = append(b.lines, s) },
		Head:  func(id string) (int, bool) { return 7, id != "missing" },
	}
	if def.ID == "" {
		def.ID = "def"
	}
	o := engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}}
	s := &workflow.Start{DefinitionID: def.ID}
	for _, opt := range opts {
		opt(b, &o, s)
	}
	prog, problems := engine.Compile(def, o)
	if err := problems.Err(); err != nil {
		t.Fatalf("compile: %v", err)
	}
	b.prog = prog
	burst, err := engine.New(prog, "i1", s, t0, b.env)
	if err != nil {
		t.Fatal(err)
	}
	b.keep(burst)
	b.run(workflow.Command{ID: "start-1", Kind: workflow.CommandStart, Start: s})
	return b
}

// root makes a definition around an activity.
func root(a *workflow.Activity) *workflow.Definition { return &workflow.Definition{Root: a} }

func (b *bench) keep(burst *engine.Burst) {
	b.t.Helper()
	res, err := burst.Result()
	if err != nil {
		b.t.Fatal(err)
	}
	b.last, b.header, b.state = res, res.Instance, res.State
	b.journal = append(b.journal, res.Journal...)
	b.children = append(b.children, res.Children...)
	b.events = append(b.events, res.Events...)
	b.canceled = append(b.canceled, res.Cancel...)
	b.joined += res.Joined
	if res.Response != nil {
		b.response = res.Response
	}
	burst.Committed()
}

// run loads the instance, runs the command to its end, committing when asked
// to, and checks that loading what was saved gives the same again.
func (b *bench) run(cmd workflow.Command) engine.Outcome {
	b.t.Helper()
	burst := b.load()
	out, err := burst.Run(context.Background(), cmd)
	for n := 1; err == nil && out == engine.CommitFirst && n != b.most; n++ {
		b.commits++
		b.keep(burst)
		burst = b.load()
		out, err = burst.Run(context.Background(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.keep(burst)
	b.load()
	return out
}

// load takes up the instance from what a store would have.
func (b *bench) load() *engine.Burst {
	b.t.Helper()
	raw, err := json.Marshal(b.header)
	if err != nil {
		b.t.Fatal(err)
	}
	var h workflow.Instance
	if err := json.Unmarshal(raw, &h); err != nil {
		b.t.Fatal(err)
	}
	burst, err := engine.Load(b.prog, h, b.state, b.env)
	if err != nil {
		b.t.Fatalf("load: %v\n%s", err, b.state)
	}
	res, err := burst.Result()
	if err != nil {
		b.t.Fatal(err)
	}
	if string(res.State) != string(b.state) {
		b.t.Fatalf("state changed by loading:\n was %s\n  is %s", b.state, res.State)
	}
	return burst
}

func (b *bench) id(kind string) string { b.n++; return fmt.Sprintf("%s-%d", kind, b.n+1) }

// resume resumes the first bookmark of that name.
func (b *bench) resume(name string, input map[string]any) engine.Outcome {
	b.t.Helper()
	for _, bm := range b.header.Bookmarks {
		if bm.Name == name || bm.ActivityID == name {
			return b.run(workflow.Command{ID: b.id("resume"), Kind: workflow.CommandResume, Bookmark: bm.ID, Input: input})
		}
	}
	b.t.Fatalf("no bookmark %q in %v", name, b.bookmarks())
	return ""
}

// untilEnd resumes bookmarks as they come.
func (b *bench) untilEnd() {
	b.t.Helper()
	for range 1000 {
		if len(b.header.Bookmarks) == 0 {
			return
		}
		b.run(workflow.Command{ID: b.id("resume"), Kind: workflow.CommandResume, Bookmark: b.header.Bookmarks[0].ID})
	}
	b.t.Fatal("the instance does not end")
}

// goOn goes on with what a command left that was not run to its end.
func (b *bench) goOn(commits int) {
	b.t.Helper()
	b.most = commits
	b.run(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue})
}

func (b *bench) command(kind workflow.CommandKind) engine.Outcome {
	b.t.Helper()
	return b.run(workflow.Command{ID: b.id(string(kind)), Kind: kind})
}

func (b *bench) bookmarks() []string {
	var out []string
	for _, bm := range b.header.Bookmarks {
		out = append(out, bm.Name)
	}
	return out
}

func (b *bench) wantLines(want ...string) *bench {
	b.t.Helper()
	if !slices.Equal(b.lines, want) {
		b.t.Errorf("lines:\n got %q\nwant %q\nincidents %v", b.lines, want, b.header.Incidents)
	}
	return b
}

func (b *bench) wantStatus(want workflow.SubStatus) *bench {
	b.t.Helper()
	if b.header.SubStatus != want || b.header.Status != want.Status() {
		b.t.Errorf("status %s/%s, want %s; incidents %v; bookmarks %v", b.header.Status, b.header.SubStatus, want, b.header.Incidents, b.bookmarks())
	}
	return b
}

// outcomes gives what the activity completed with, the last time.
func (b *bench) outcomes(activity string) []string {
	b.t.Helper()
	for _, it := range slices.Backward(b.journal) {
		if it.ActivityID == activity && it.Event == engine.EventCompleted {
			data, _ := it.Data.(map[string]any)
			list, ok := data["outcomes"].([]any)
			if !ok {
				return []string{engine.DoneOutcome}
			}
			var out []string
			for _, o := range list {
				out = append(out, o.(string))
			}
			return out
		}
	}
	return nil
}
