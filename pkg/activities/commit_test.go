package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestCommitStrategies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workflow, activity string
		commits            int
	}{
		{"", "", 0},
		{"WorkflowExecuted", "", 0},
		{"WorkflowExecuting", "", 1},
		{"ActivityExecutingStrict", "", 4}, // the sequence and its three
		{"ActivityExecutedStrict", "", 2},  // not the sequence; the last one is the end of the burst
		{"ActivityExecutingStrict", "Never", 3},
		{"ActivityExecuting", "", 2}, // the one in the middle may have an effect outside
		{"ActivityExecuted", "", 2},
		{"ActivityExecuted", "Executed", 2},
		{"", "Executing", 1},
		{"", "Executed", 1},
		{"", "Always", 2},
		{"Periodic", "", 1},
		{"Elsa.Workflows.CommitStates.Strategies.ActivityExecutedWorkflowStrategy, Elsa.Workflows.Core", "", 2},
	} {
		t.Run(c.workflow+"/"+c.activity, func(t *testing.T) {
			t.Parallel()
			var b *bench
			second := activities.Inline(func(context.Context, *engine.Execution) error { b.now = b.now.Add(time.Minute); return nil })
			second.CommitStrategy = c.activity
			def := root(seq(line("a"), second, line("c")))
			def.Options.CommitStrategy, def.Options.CommitInterval = c.workflow, "30s"
			got := start(t, def, func(own *bench, _ *engine.Options, _ *workflow.Start) { b = own })
			got.wantStatus(workflow.Finished).wantLines("a", "c")
			if got.commits != c.commits {
				t.Errorf("%d commits before the end, want %d", got.commits, c.commits)
			}
			for i, it := range got.journal {
				if it.Sequence != int64(i+1) {
					t.Errorf("journal item %d has sequence %d", i, it.Sequence)
				}
			}
		})
	}
}

func TestIDsDoNotDependOnCommits(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, strategy := range []string{"", "ActivityExecuted", "ActivityExecuting", "ActivityExecutedStrict"} {
		def := root(body(act("For", inputs{"start": lit(1), "end": lit(3)}), act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("c")})))
		def.Options.CommitStrategy = strategy
		b := start(t, def)
		var list []string
		for _, c := range b.children {
			list = append(list, c.InstanceID)
		}
		ids[strings.Join(list, " ")] = true
	}
	if len(ids) != 1 {
		t.Errorf("ids %v", ids)
	}
}

func TestOptionProblems(t *testing.T) {
	t.Parallel()
	a := line("x")
	a.CommitStrategy, a.LogPersistence = "Sometimes", "Maybe"
	def := root(a)
	def.Options = workflow.Options{IncidentStrategy: "Ignore", CommitStrategy: "ActivityExecute", CommitInterval: "-1s"}
	p := compileProblems(t, def)
	for _, text := range []string{"Sometimes", "Maybe", "Ignore", "did you mean ActivityExecuted?"} {
		wantProblem(t, p, "bad-option", text)
	}
	wantProblem(t, p, "bad-literal", "commit interval")
}

// An activation strategy that is not known would run as if there was none: as
// many at once as are started.
func TestUnknownActivationStrategiesAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"singelton": "did you mean Singleton?", "singleton": `"singleton"`, "Acme.NightlyStrategy, Acme": `"Acme.NightlyStrategy, Acme"`,
		"Elsa.Workflows.Runtime.ActivationValidators.SingletonStrategy, Elsa.Workflows.Runtime": "Always, Singleton", // as a definition built in Go may have it
	} {
		def := root(line("x"))
		def.Options.ActivationStrategy = name
		wantProblem(t, compileProblems(t, def), "bad-option", text)
	}
	for _, name := range []string{"", "Always", "Singleton", "CorrelatedSingleton", "Correlation"} {
		def := root(line("x"))
		def.Options.ActivationStrategy = name
		start(t, def)
	}
}

func TestWhatReachesTheJournal(t *testing.T) {
	t.Parallel()
	shown := named("shown", act("SetVariable", inputs{"variable": lit("v"), "value": lit("visible")}))
	hidden := named("hidden", act("SetVariable", inputs{"variable": lit("v"), "value": lit("s3cret")}))
	hidden.LogPersistence = "Exclude"
	partly := named("partly", act("PublishEvent", inputs{"eventName": lit("ev"), "payload": lit("s3cret")}))
	partly.CustomProperties = map[string]any{"logPersistenceMode": map[string]any{"inputs": map[string]any{"payload": "Exclude"}}}
	inner := named("inner", act("SetVariable", inputs{"variable": lit("v"), "value": lit("s3cret")}))
	container := named("container", act("Sequence", nil, inner))
	container.LogPersistence = "Exclude"
	fromSecret := named("line", lineOf(expr(func(s engine.Scope) (any, error) { v, _ := s.Secret("key"); return "key is " + v, nil })))
	big := named("big", lineOf(expr(func(engine.Scope) (any, error) { return strings.Repeat("x", 1<<20), nil })))
	def := root(seq(shown, hidden, partly, container, fromSecret, big))
	def.Variables = []workflow.Variable{{Name: "v"}}
	b := start(t, def, withEnv(func(e *engine.Env) {
		var err error
		if e.Secrets, err = secrets.New(map[string]string{"key": "other-s3cret"}); err != nil {
			t.Fatal(err)
		}
	})).wantStatus(workflow.Finished)
	text := fmt.Sprint(b.journal)
	if strings.Contains(text, "s3cret") {
		t.Errorf("the secret is in the journal: %s", text)
	}
	if !strings.Contains(text, "visible") || !strings.Contains(text, "eventName:ev") {
		t.Errorf("too much is hidden: %s", text)
	}
	if len(text) > 50_000 {
		t.Errorf("the journal has %d bytes", len(text))
	}
	if b.lines[0] != "key is ***key***" {
		t.Errorf("line %q", b.lines[0])
	}
	def.Options.LogPersistence = "Exclude"
	if b = start(t, def); strings.Contains(fmt.Sprint(b.journal), "visible") {
		t.Error("the workflow's mode is not inherited")
	}
}

func TestJournalTellsTheStory(t *testing.T) {
	t.Parallel()
	b := start(t, root(named("s", seq(say("a"), named("ev", wait("go")), named("bad", act("Fault", nil))))))
	b.resume("go", nil)
	var got []string
	for _, it := range b.journal {
		got = append(got, it.ActivityID+" "+it.Event)
	}
	want := "s Started, a Started, a WriteLine, a Completed, ev Started, ev Suspended, ev Resumed, ev Completed, bad Started, bad Faulted"
	if strings.Join(got, ", ") != want {
		t.Errorf("journal\n got %s\nwant %s", strings.Join(got, ", "), want)
	}
	for i, it := range b.journal {
		if it.Sequence != int64(i+1) {
			t.Errorf("item %d has sequence %d", i, it.Sequence)
		}
	}
	if b.journal[0].Burst != "start-1" || b.journal[9].Burst != "resume-2" {
		t.Errorf("bursts %s, %s", b.journal[0].Burst, b.journal[9].Burst)
	}
	b = start(t, root(named("p", act("Parallel", nil, named("ev", wait("go"))))))
	b.command(workflow.CommandCancel)
	if last := b.last.Journal; len(last) != 2 || last[0].ActivityID != "ev" || last[0].Event != engine.EventCanceled || last[1].ActivityID != "p" {
		t.Errorf("journal %v", last)
	}
}
