package serve

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/pkg/workflow"
)

// codeHost says that the request names a host that this node does not answer to.
const codeHost workflow.Code = "unknown-host"

// checkHost refuses what asks for a host of a name that this node does not have,
// where no credentials are asked for. The name may be that of a web page which its
// owner points at this node (DNS rebinding): to a browser both are one site. Nobody
// can point an address elsewhere, nor localhost. What anyone may see everywhere is
// there under any name: probes and scrapers use what their platform calls a node.
func (a *API) checkHost(r *http.Request) error {
	if a.Config.Auth != nil || r.Host == "" || isProbe(r.URL.Path) { // no browser leaves it out; HTTP/1.0 may
		return nil
	}
	name := wire.HostName(r.Host)
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || slices.ContainsFunc(a.Config.Hosts, func(known string) bool { return wire.HostName(known) == name }) {
		return nil
	}
	return workflow.Fail(codeHost, fmt.Sprintf("this node asks for no credentials, and so answers only to its address, to localhost and to names that it was told; "+
		"if %s is one of its names, start it with --host %[1]s", Shorten(name)))
}

// isProbe tells whether a path is one of those that ask how the node is.
func isProbe(path string) bool {
	switch path {
	case "/livez", "/readyz", "/metrics":
		return true
	}
	return false
}

// RelayedBy marks a request that one node sends to another, which then must not
// send it on again.
const RelayedBy = "X-Weft-Relayed-By"
