package follow

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// A mistake is told once for as long as it lasts, its end as well, and the mistake again when it comes back.
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
		}, func(_ context.Context, err error) {
			text := "well"
			if err != nil {
				text = err.Error()
			}
			told = append(told, text)
		})
		if err != nil || n != len(looks) || !slices.Equal(told, []string{"a", "b", "a", "well", "a", "well"}) {
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

func TestCutIsWhatLacksAnEnd(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"abc\n", "ab"}: true, {"abc", ""}: true, {"abc\n", "abc"}: false, {"abc \n\n", "abc"}: false, {"abc", "abc"}: false,
		{"abc", "abcd"}: false, {"abc", "x"}: false, {"", ""}: false, {"\n", ""}: false, {"", "a"}: false,
	} {
		if got := Cut([]byte(pair[0]), []byte(pair[1])); got != want {
			t.Errorf("Cut(%q, %q) is %v", pair[0], pair[1], got)
		}
	}
}
