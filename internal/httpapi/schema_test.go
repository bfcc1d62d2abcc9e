package httpapi

import (
	"reflect"
	"testing"
)

// Two types with the name of one component would be described as one.
func TestTwoTypesAreNoComponent(t *testing.T) {
	t.Parallel()
	type pairView struct{ A string }
	type pair struct{ B int }
	types := &schemas{components: map[string]schema{}, types: map[string]reflect.Type{}}
	types.of(pairView{}, false)
	types.of(pairView{}, false)
	types.of(pairView{}, true)
	defer func() {
		if recover() == nil {
			t.Error("it takes both")
		}
	}()
	types.of(pair{}, false)
}
