package httpapi

import (
	"reflect"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/pkg/runtime"
)

// A struct of another package in an answer would tie the contract to a type that
// is free to change. Words, such as an outcome, may be the domain's. That handlers
// answer with what the table says is held by every test that asks over HTTP.
func TestShapesAreThisPackagesOwn(t *testing.T) {
	t.Parallel()
	a := &API{cfg: Config{Gatherer: prometheus.NewRegistry()}}
	for _, rt := range a.table() {
		shapes := []any{rt.body, problemView{}}
		for _, body := range rt.answers {
			shapes = append(shapes, body)
		}
		for _, data := range rt.events {
			shapes = append(shapes, data)
		}
		for _, s := range shapes {
			for _, of := range othersStructs(s) {
				t.Errorf("%s %s: %s is not a shape of this package; give it a view", rt.method, rt.fullPath(), of)
			}
		}
	}
	if got := othersStructs(oneOf{sentView{}, listView[runtime.QueueItem]{}}); !slices.Contains(got, "inspect.QueueItem") {
		t.Errorf("in a list of queue items of the runtime %v belongs to others", got)
	}
}

// othersStructs names the structs of other packages that v's type is made of.
func othersStructs(v any) []string {
	if several, ok := v.(oneOf); ok {
		var found []string
		for _, one := range several {
			found = append(found, othersStructs(one)...)
		}
		return found
	}
	if v == nil {
		return nil
	}
	return othersIn(reflect.TypeOf(v), map[reflect.Type]bool{timeType: true, rawType: true})
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
		if t.PkgPath() != reflect.TypeFor[API]().PkgPath() {
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
