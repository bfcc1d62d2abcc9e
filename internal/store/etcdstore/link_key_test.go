package etcdstore

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// The first key stays: with another one, links that were given out would not open.
func TestTheKeyOfLinksNeverChanges(t *testing.T) {
	t.Parallel()
	s := newWorld(t).Store
	first, second := strings.Repeat("1", resumelink.MinKey), strings.Repeat("2", resumelink.MinKey)
	for _, proposed := range []string{first, second, first} {
		if key, err := s.LinkKey(t.Context(), []byte(proposed)); err != nil || string(key) != first {
			t.Errorf("%s was proposed after %s: %q, %v", proposed, first, key, err)
		}
	}
}
