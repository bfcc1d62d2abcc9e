package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime"
)

// A struct of another package in an answer would tie the contract to a type that
// is free to change. Words, such as an outcome, may be the domain's. That handlers
// answer with what the table says is held by every test that asks over HTTP.
func TestShapesAreThisPackagesOwn(t *testing.T) {
	t.Parallel()
	for _, rt := range everyRoute(t) {
		shapes := []any{rt.Body, serve.Problem{}}
		for _, body := range rt.Answers {
			shapes = append(shapes, body)
		}
		for _, data := range rt.Events {
			shapes = append(shapes, data)
		}
		for _, s := range shapes {
			for _, of := range othersStructs(s) {
				t.Errorf("%s %s: %s is not a shape of the API; give it a view", rt.Method, rt.FullPath(), of)
			}
		}
	}
	if got := othersStructs(schema.OneOf{shape.Sent{}, shape.List[runtime.QueueItem]{}}); !slices.Contains(got, "inspect.QueueItem") {
		t.Errorf("in a list of queue items of the runtime %v belongs to others", got)
	}
}

// ours is what the packages of the API are, or are below.
var ours = []string{"github.com/weft-run/weft/internal/httpapi/", "github.com/weft-run/weft/internal/authoring/api/"}

// othersStructs names the structs of other packages that v's type is made of.
func othersStructs(v any) []string {
	if several, ok := v.(schema.OneOf); ok {
		var found []string
		for _, one := range several {
			found = append(found, othersStructs(one)...)
		}
		return found
	}
	if v == nil {
		return nil
	}
	return othersIn(reflect.TypeOf(v), map[reflect.Type]bool{reflect.TypeFor[time.Time](): true, reflect.TypeFor[json.RawMessage](): true})
}

func othersIn(t reflect.Type, seen map[reflect.Type]bool) []string {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return othersIn(t.Elem(), seen)
	case reflect.Struct:
		if !slices.ContainsFunc(ours, func(pkg string) bool { return strings.HasPrefix(t.PkgPath()+"/", pkg) }) {
			return []string{t.String()}
		}
		var found []string
		for i := range t.NumField() {
			found = append(found, othersIn(t.Field(i).Type, seen)...)
		}
		return found
	}
	return nil
}
