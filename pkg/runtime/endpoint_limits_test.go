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
		m.Publish(fmt.Sprintf(`
id: %s
variables: {route: object}
root:
  - httpEndpoint: {path: %q, supportedMethods: [POST]}
    trigger: true
    outputs: {routeData: route}
  - writeHttpResponse: {content: "%s ${{ toJSON(variables.route) }}"}
`, id, path, id))
	}
	m.Publish(callback)
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
	if err := m.Endpoints.FindEndpoint(t.Context(), &req, 100); err == nil || asked {
		t.Errorf("%v, asked %t", err, asked)
	}
}

// Of a start and an instance that wait at one pattern the one takes a request whose
// constraints its path fits; which, is asked only where both do.
func TestConstraintsTellWhoOfOnePatternIsMeant(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(`
id: by-number
root:
  - httpEndpoint: {path: "orders/{nr:int}", supportedMethods: [POST]}
    trigger: true
  - writeHttpResponse: {content: started}
`)
	m.Publish(callback)
	for i, c := range []struct{ waits, path, want string }{
		{"orders/{id}", "orders/abc", "orders/{id}"},
		{"orders/{id}", "orders/7", "several-targets"},
		{"", "orders/abc", "orders/{id}"}, // which waits still
		{"orders/{id:alpha}", "orders/7", "started"},
		{"", "orders/7x", "route-not-found"},
		{"orders/{id:length(2)}", "orders/xyz", "orders/{id:alpha}"}, // of two that wait
		{"", "orders/77", "several-targets"},
		{"", "orders/xy", "orders/{id:length(2)}"},
		{"", "orders/xy", "route-not-found"}, // nobody waits any more
		{"", "orders/7", "started"},
	} {
		if c.waits != "" {
			m.waitsAt(fmt.Sprint("w", i), c.waits)
		}
		if got := m.call(c.path); got != c.want {
			t.Errorf("%d: %s: %s, want %s", i, c.path, got, c.want)
		}
	}
}

// What a request costs does not grow with those who wait: of more than a few none is
// asked whether the path fits it.
func TestOfManyAtOnePatternNoneIsAskedForItsPath(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(callback)
	for i := range 9 {
		m.waitsAt(fmt.Sprint("w", i), fmt.Sprintf("orders/{id:length(%d)}", i+1))
		want := map[bool]string{true: "route-not-found", false: "several-targets"}[i < 8]
		if got := m.call("orders/0123456789"); got != want {
			t.Errorf("%d wait: %s, want %s", i+1, got, want)
		}
	}
}
