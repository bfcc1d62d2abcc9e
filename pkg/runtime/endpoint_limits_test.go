package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
)

// A parameter's constraint keeps paths away that it refuses: a start leaves them to
// the next endpoint that they match, who waits does not get them.
func TestEndpointsHoldTheirConstraints(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	for id, path := range map[string]string{"by-number": "orders/{nr:int:min(1)}", "by-rest": "orders/{*rest}", "only": "only/{id:guid}"} {
		m.publish(fmt.Sprintf(`
id: %s
variables: {route: object}
root:
  - httpEndpoint: {path: %q, supportedMethods: [POST]}
    trigger: true
    outputs: {routeData: route}
  - writeHttpResponse: {content: "%s ${{ toJSON(variables.route) }}"}
`, id, path, id))
	}
	m.publish(callback)
	m.waitsAt("w1", "callback/{code:alpha:length(2)}")
	for _, c := range []struct{ path, want string }{
		{"orders/7", `by-number { "nr": "7" }`},
		{"orders/0", `by-rest { "rest": "0" }`},
		{"orders/x", `by-rest { "rest": "x" }`},
		{"orders/7/8", `by-rest { "rest": "7/8" }`},
		{"only/x", "route-not-found"},
		{"only/01a205a2-a695-74fa-a837-39bd91905a94", `only { "id": "01a205a2-a695-74fa-a837-39bd91905a94" }`},
		{"callback/a1", "route-not-found"},
		{"callback/abc", "route-not-found"},
		{"callback/ab", "callback/{code:alpha:length(2)}"},
		{"callback/ab", "route-not-found"}, // nobody waits any more
	} {
		if got := strings.Join(strings.Fields(m.call(c.path)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	// What is refused by its path is so before there is a body, or who calls is asked.
	asked := false
	req := runtime.EndpointRequest{Method: "POST", Path: "only/x", Allow: func(context.Context, string) error { asked = true; return errors.New("no") }}
	if err := m.FindEndpoint(t.Context(), &req, 100); err == nil || asked {
		t.Errorf("%v, asked %t", err, asked)
	}
}
