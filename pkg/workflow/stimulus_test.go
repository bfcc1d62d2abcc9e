package workflow_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// A payload of texts, which is hashed as it stands, hashes like one that is
// encoded and decoded first: also with texts that this changes. If it makes two names the
// same, neither has a hash.
func TestAHashDoesNotDependOnTheGoType(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "go", "<&>", "\u2028", "\ufffd", "\xff", "a\xc3"}))
	rapid.Check(t, func(t *rapid.T) {
		typed := rapid.MapOfN(text, text, 0, 4).Draw(t, "payload")
		untyped := map[string]any{}
		for k, v := range typed {
			untyped[k] = v
		}
		want, wrong := workflow.Hash("Test", typed)
		if wrong != nil && !errors.Is(wrong, value.ErrSameName) {
			t.Fatal(wrong)
		}
		if got, err := workflow.Hash("Test", untyped); errors.Is(err, value.ErrSameName) != (wrong != nil) || got != want {
			t.Fatalf("%q: %s, %v; want %s, %v", typed, got, err, want, wrong)
		}
	})
}
