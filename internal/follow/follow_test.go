package follow

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// A mistake is told once for as long as it lasts, and again when it comes back.
func TestAMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := []string{"", "a", "a", "b", "b", "a", "", "a", "a", ""}
		var told []string
		n := 0
		ctx, cancel := context.WithTimeout(t.Context(), Every*10+Every/2)
		defer cancel()
		err := Run(ctx, func(context.Context) error {
			n++
			if text := looks[n-1]; text != "" {
				return errors.New(text)
			}
			return nil
		}, func(_ context.Context, err error) { told = append(told, err.Error()) })
		if err != nil || n != len(looks) || !slices.Equal(told, []string{"a", "b", "a", "a"}) {
			t.Errorf("%v; %d looks, told %q", err, n, told)
		}
	})
}

func TestNoLookAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Run(ctx, func(context.Context) error { t.Error("it looked"); return nil }, nil); err != nil {
			t.Error(err)
		}
	})
}
