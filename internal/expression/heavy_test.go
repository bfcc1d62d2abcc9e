package expression

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

// TestHeavyScriptsAreNoOthersFault starts many scripts of one definition, each
// of which takes all that it may, and some of another, which take a part of it.
func TestHeavyScriptsAreNoOthersFault(t *testing.T) {
	for _, c := range []struct {
		name, kind   string
		many         int
		heavy, light string
		cause        error
	}{
		{"time", workflow.JavaScript, 60, "for (;;) {}", "let n = 0; for (let i = 0; i < 50000; i++) n += i; n", ErrTime},
		{"memory", workflow.JavaScript, 10, "const a = []; for (;;) a.push(new Array(1000).fill('x' + a.length))", "let n = 0; for (let i = 0; i < 50000; i++) n += i; n", nil},
		{"liquid", workflow.Liquid, 30, "{% for i in (1..9999) %}{% for j in (1..9999) %}{% assign x = i %}{% endfor %}{% endfor %}",
			"{% for i in (1..60) %}{% for j in (1..60) %}{% assign x = i %}{% endfor %}{% endfor %}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			heavy, light := compile(t, c.kind, c.heavy), compile(t, c.kind, c.light)
			// Light ones have much more time than they take: where the system counts the time of a
			// thread that waits for a processor as its own, a busy machine makes a short script long.
			limit, much := 100*time.Millisecond, 3*time.Second
			if _, err := light.Eval(t.Context(), expressiontest.OfDefinition("light", time.Minute)); err != nil {
				t.Fatalf("alone: %v", err)
			}
			var all sync.WaitGroup
			for range c.many {
				all.Go(func() {
					if _, err := heavy.Eval(t.Context(), expressiontest.OfDefinition("heavy", limit)); err == nil || c.cause != nil && !errors.Is(err, c.cause) {
						t.Errorf("heavy: %v", err)
					}
				})
			}
			for range c.many / 3 {
				all.Go(func() {
					if _, err := light.Eval(t.Context(), expressiontest.OfDefinition("light", much)); err != nil {
						t.Errorf("light: %v", err)
					}
				})
			}
			all.Wait()
		})
	}
}
