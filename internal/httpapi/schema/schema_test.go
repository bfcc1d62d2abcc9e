package schema

import (
	"testing"
)

// Two types with the name of one component would be described as one.
func TestTwoTypesAreNoComponent(t *testing.T) {
	t.Parallel()
	type pairView struct{ A string }
	type pair struct{ B int }
	types := New()
	types.Of(pairView{}, false)
	types.Of(pairView{}, false)
	types.Of(pairView{}, true)
	defer func() {
		if recover() == nil {
			t.Error("it takes both")
		}
	}()
	types.Of(pair{}, false)
}
