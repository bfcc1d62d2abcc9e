package endpoint_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/endpoint"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a request gives and its activity does not name would be refused where a definition reads it.
func TestTheActivityNamesWhatARequestGives(t *testing.T) {
	t.Parallel()
	r := endpoint.Request{Method: "POST", Path: "orders/5"}
	in, err := r.Input(&workflow.Endpoint{Method: "POST", Template: "orders/{id}"})
	if err != nil {
		t.Fatal(err)
	}
	named := slices.Sorted(slices.Values(activities.Default().ByType(workflow.EndpointType).Outputs[0].Fields))
	if given := slices.Sorted(maps.Keys(in)); !slices.Equal(given, named) {
		t.Errorf("a request gives %v, and the activity names %v", given, named)
	}
}
