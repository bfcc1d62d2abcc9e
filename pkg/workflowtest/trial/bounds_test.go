package trial

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// A burst that writes more than a case may keep does not go on to its end first.
func TestABurstThatKeepsTooMuchEndsAtOnce(t *testing.T) {
	t.Parallel()
	const flow = "id: f\ninputs: {text: string}\nroot:\n  - forEach: ${{ 1..100 }}\n    body:\n      - writeLine: ${{ inputs.text }}\n      - finish: null\n        id: begun\n"
	def, problems := yaml.Read([]byte(flow), "f.yaml", activities.Default())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	begun := 0
	r, err := New(Config{
		Definition: def, Input: map[string]any{"text": strings.Repeat("x", 500_000)}, bounds: &Bounds{Context: ctx, Stop: stop},
		Mocks: Mocks{"begun": Func(func(Call) Reply { begun++; return Reply{} })},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); !errors.Is(err, errKept) || r.Instance().SubStatus == workflow.Finished {
		t.Errorf("it ended with %v, %s", err, r.Instance().SubStatus)
	}
	if begun < 1 || begun > 20 {
		t.Errorf("%d rounds were begun", begun)
	}
}
