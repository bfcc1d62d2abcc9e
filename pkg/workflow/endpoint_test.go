package workflow_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// What a bookmark keeps of its endpoint is a stored format: its bytes stay.
func TestEndpointIsKeptInItsBookmark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e                 workflow.Endpoint
		payload, metadata string
	}{
		{
			workflow.Endpoint{Method: "GET"}, `{"method":"GET","path":""}`,
			`{"authorize":false,"maxBody":0,"policy":"","template":"","timeout":"0s","tooLarge":false}`,
		},
		{
			workflow.Endpoint{Method: "POST", Template: "Orders/{id}/{*rest}", EndpointLimits: workflow.EndpointLimits{
				Authorize: true, Policy: "clerk", Timeout: 90 * time.Second, MaxBody: 1 << 40, TooLarge: true}},
			`{"method":"POST","path":"orders/{}/{*}"}`,
			`{"authorize":true,"maxBody":1099511627776,"policy":"clerk","template":"Orders/{id}/{*rest}","timeout":"1m30s","tooLarge":true}`,
		},
		{
			workflow.Endpoint{Method: "POST", Template: "a", EndpointLimits: workflow.EndpointLimits{Files: &files.Rules{
				MaxSize: 1 << 40, Allowed: []string{".pdf"}, Blocked: []string{".exe"}, Types: []string{"application/pdf"}, SizeGoesOn: true, ExtensionGoesOn: true, TypeGoesOn: true}}},
			`{"method":"POST","path":"a"}`,
			`{"authorize":false,"files":{"allowed":[".pdf"],"blocked":[".exe"],"extensionGoesOn":true,"maxSize":1099511627776,"sizeGoesOn":true,"typeGoesOn":true,"types":["application/pdf"]},"maxBody":0,"policy":"","template":"a","timeout":"0s","tooLarge":false}`,
		},
		{
			workflow.Endpoint{Method: "POST", Template: "a", EndpointLimits: workflow.EndpointLimits{Files: &files.Rules{MaxSize: math.MaxInt64}}}, `{"method":"POST","path":"a"}`,
			`{"authorize":false,"files":{"maxSize":9223372036854775807},"maxBody":0,"policy":"","template":"a","timeout":"0s","tooLarge":false}`,
		},
		{
			workflow.Endpoint{Method: "POST", Template: "a", EndpointLimits: workflow.EndpointLimits{Files: &files.Rules{}}}, `{"method":"POST","path":"a"}`,
			`{"authorize":false,"files":{},"maxBody":0,"policy":"","template":"a","timeout":"0s","tooLarge":false}`,
		},
	} {
		payload, err := json.Marshal(c.e.Payload())
		if err != nil || string(payload) != c.payload {
			t.Errorf("payload %s, %v", payload, err)
		}
		metadata, err := json.Marshal(c.e.Metadata())
		if err != nil || string(metadata) != c.metadata {
			t.Errorf("metadata %s, %v", metadata, err)
		}
		written := workflow.Bookmark{ActivityType: workflow.EndpointType, Payload: c.e.Payload(), Metadata: c.e.Metadata()}
		if got := workflow.EndpointOf(&written); got == nil || !reflect.DeepEqual(*got, c.e) {
			t.Errorf("%+v became %+v", c.e, got)
		}
		data, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		var read workflow.Bookmark
		if err := value.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		if got := workflow.EndpointOf(&read); got == nil || !reflect.DeepEqual(*got, c.e) {
			t.Errorf("%+v was read as %+v", c.e, got)
		}
	}
}

func TestEndpointOfOtherBookmarks(t *testing.T) {
	t.Parallel()
	e := workflow.Endpoint{Method: "GET", Template: "a"}
	for name, b := range map[string]workflow.Bookmark{
		"nothing":            {},
		"another activity":   {ActivityType: "Elsa.Event", Payload: e.Payload(), Metadata: e.Metadata()},
		"without a method":   {ActivityType: workflow.EndpointType, Payload: map[string]any{"path": "a"}, Metadata: e.Metadata()},
		"without a template": {ActivityType: workflow.EndpointType, Payload: e.Payload(), Metadata: map[string]any{"authorize": true}},
		"of other shapes":    {ActivityType: workflow.EndpointType, Payload: "GET", Metadata: []any{"a"}},
	} {
		if got := workflow.EndpointOf(&b); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	bare := workflow.Bookmark{ActivityType: workflow.EndpointType, Payload: e.Payload(), Metadata: map[string]any{"template": "a", "maxBody": 5.0, "timeout": "soon"}}
	if got := workflow.EndpointOf(&bare); got == nil || !got.Authorize || got.MaxBody != 5 || got.Timeout != 0 {
		t.Errorf("one that does not say who may call: %+v", got)
	}
	for _, kept := range []any{"all", map[string]any{"maxSize": 9223372036854775807.0}, map[string]any{"maxSize": json.Number("9223372036854775808")}} {
		bare.Metadata = map[string]any{"template": "a", "files": kept}
		if got := workflow.EndpointOf(&bare); got == nil || !reflect.DeepEqual(got.Files, &files.Rules{Unreadable: true}) {
			t.Errorf("rules that cannot be read, %v: %+v", kept, got)
		}
	}
	for _, template := range []string{"/Orders/{id}/", " orders/{ID} ", workflow.RoutePattern("orders/{x}")} {
		if got := workflow.EndpointPayload("post", template); got["path"] != "orders/{}" || got["method"] != "POST" {
			t.Errorf("%q: %v", template, got)
		}
	}
}
