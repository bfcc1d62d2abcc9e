package serve

import (
	"net/http/httptest"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// A web page can have its own name point here. What it cannot have is an address,
// localhost, or a name of this node.
func TestANodeWithoutCredentialsAnswersToItsNames(t *testing.T) {
	t.Parallel()
	names := []string{"weft.example.com", "0.0.0.0:8080", "node-1:8080", "[::]:80", ":8080"}
	for host, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.8.9.10": true, "10.1.2.3:80": true, "[::1]:8080": true, "[::1]": true, "[fe80::1]": true, "localhost:1": true, "LOCALHOST": true, "localhost.": true,
		"weft.example.com": true, "weft.example.com:443": true, "Weft.Example.COM.:443": true, "node-1": true, "": true,
		"evil.example": false, "evil.example:8080": false, "weft.example.com.evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"127.0.0.1.": true, "127.1": false, "0x7f000001": false, "2130706433": false, "xweft.example.com": false, "a.localhost": false, "[::1].evil.example": false,
		"evil.example:localhost": false, "localhost:80:80": false, "[localhost": true, "user@localhost": false, "localhost/": false,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/instances", nil)
		r.Host = host
		open, asks := &API{Config: Config{Hosts: names}}, &API{Config: Config{Hosts: names, Auth: &auth.Authenticator{}}}
		err := open.checkHost(r)
		if (err == nil) != want || err != nil && workflow.CodeOf(err) != codeHost {
			t.Errorf("Host %q: %v", host, err)
		}
		if err := asks.checkHost(r); err != nil {
			t.Errorf("with credentials, Host %q: %v", host, err)
		}
	}
}
