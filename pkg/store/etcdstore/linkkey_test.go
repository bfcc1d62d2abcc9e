package etcdstore

import "testing"

// The first key stays: with another one, links that were given out would not open.
func TestTheKeyOfLinksNeverChanges(t *testing.T) {
	t.Parallel()
	s := newWorld(t).Store
	for _, proposed := range []string{"first", "second", "first"} {
		if key, err := s.LinkKey(t.Context(), []byte(proposed)); err != nil || string(key) != "first" {
			t.Errorf("%s was proposed after first: %q, %v", proposed, key, err)
		}
	}
}
