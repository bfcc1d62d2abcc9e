package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
)

type doubleIn struct {
	N int `json:"n" required:"true"`
}

type doubleOut struct {
	Twice int `json:"twice"`
}

func withDouble(r *engine.Registry) error {
	return engine.RegisterFunc(r, workflow.Descriptor{Type: "acme.Double", Main: "n"}, func(_ context.Context, _ *engine.Execution, in doubleIn) (doubleOut, error) {
		return doubleOut{in.N * 2}, nil
	})
}

// usesChild comes before the definition that it uses.
func built() []*workflow.Definition {
	return []*workflow.Definition{
		{ID: "built", Variables: []workflow.Variable{{Name: "r", Type: "Int32"}}, Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
			{Type: "Double it", Ref: &workflow.DefinitionRef{ID: "double-it"}, Inputs: map[string]workflow.Expression{"n": workflow.Lit(21)}, Outputs: map[string]string{"twice": "r"}},
			{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("go")}},
			{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Tmpl("got ${{ variables.r }}")}},
		}}},
		{ID: "double-it", Options: workflow.Options{UsableAsActivity: true}, Inputs: []workflow.Input{{Name: "n", Type: "Int32"}}, Outputs: []workflow.Output{{Name: "twice", Type: "Int32"}},
			Root: &workflow.Activity{Type: "acme.Double", Inputs: map[string]workflow.Expression{"n": workflow.Tmpl("${{ inputs.n }}")}, Outputs: map[string]string{"twice": "twice"}}},
	}
}

func TestWorkflowsBuiltInGo(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	dir := t.TempDir()
	cfg := node.Config{Activities: withDouble, Workflows: built(), Lines: &lines, DataDir: dir}
	n := start(t, cfg)
	in, err := n.Execute(t.Context(), workflow.Start{DefinitionID: "built"}, 0)
	if err != nil || in.SubStatus != workflow.Suspended {
		t.Fatalf("got %+v, %v", in, err)
	}
	st := workflow.EventStimulus("go", nil)
	st.InstanceID = in.ID
	if err := n.Send(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	if in, err = n.Instance(t.Context(), in.ID, 20*time.Second); err != nil || in.SubStatus != workflow.Finished {
		t.Fatalf("got %+v, %v", in, err)
	}
	for _, def := range built() {
		if err := n.Publish(t.Context(), def); err != nil {
			t.Error(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+"/api/v1/definitions/built", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if source, err := io.ReadAll(resp.Body); err != nil || !strings.HasPrefix(string(source), "id: built\n") {
		t.Errorf("the source is %s, %v", source, err)
	}
	if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if lines.String() != "got 42\n" {
		t.Errorf("lines: %q", lines.String())
	}

	// The same program again publishes nothing new.
	n = start(t, cfg)
	if in, err = n.Execute(t.Context(), workflow.Start{DefinitionID: "built"}, 0); err != nil || in.Version != 1 {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestMistakesOfTheProgramEndTheStart(t *testing.T) {
	t.Parallel()
	code := func(context.Context, *engine.Execution) error { return nil }
	for _, tt := range []struct {
		name string
		def  workflow.Definition
		want string
	}{
		{"Go code", workflow.Definition{ID: "a", Root: activities.Inline(code)}, "an activity type of your own"},
		{"no id", workflow.Definition{Root: &workflow.Activity{Type: "Elsa.WriteLine"}}, "the id of a definition"},
		{"an unknown type", workflow.Definition{ID: "a", Root: &workflow.Activity{Type: "Elsa.WriteLin"}}, "WriteLin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := build(t, node.Config{Workflows: []*workflow.Definition{&tt.def}})
			if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	broken := errors.New("broken")
	_, err := full.New(t.Context(), node.Config{HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir(), Activities: func(*engine.Registry) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A node whose files of activity types have a mistake does not start, and says where.
func TestTypesWithAMistakeEndTheStart(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"type: acme.Ship\ninptus: {}\n": "ship.yaml: line 2, column 1: a declaration of an activity type has no key inptus (did you mean inputs?)",
		"type: Elsa.Event\n":            "ship.yaml: line 1, column 7: the type is \"Elsa.Event\": names that begin with Elsa. are the built-in activities",
		"type: own.Work\n":              "ship.yaml: line 1, column 7: register activity own.Work: the type is registered already: take another name",
	} {
		cfg := node.Config{HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir(), ActivityTypes: t.TempDir(), Activities: func(r *engine.Registry) error {
			return engine.RegisterFunc(r, workflow.Descriptor{Type: "own.Work"}, func(context.Context, *engine.Execution, struct{}) (struct{}, error) { return struct{}{}, nil })
		}}
		if err := os.WriteFile(filepath.Join(cfg.ActivityTypes, "ship.yaml"), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := full.New(t.Context(), cfg)
		if err == nil {
			err = errors.Join(n.Start(t.Context()), n.Stop(t.Context()))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}
