package node

import (
	"net/http"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/console"
)

// Whether a node serves the console.
const (
	ConsoleOn  = "on"
	ConsoleOff = "off"
)

// signsIn tells whether people sign in at this node's console.
func (n *Node) signsIn() bool { return n.cfg.Console != ConsoleOff && n.cfg.authenticated() }

// withConsole puts the console beside the API, if it is wanted. Browsers that ask for
// nothing in particular get there.
func (n *Node) withConsole(guard *auth.Authenticator) (http.Handler, error) {
	if n.cfg.Console == ConsoleOff {
		return n.api, nil
	}
	cfg := console.Config{API: n.api, Open: guard == nil, Secrets: n.linkKeys, Cluster: n.cfg.Cluster, NodeID: n.cfg.NodeID, Now: n.cfg.Now, Log: n.log}
	if guard != nil {
		cfg.Keys, cfg.OIDC, cfg.URL, cfg.SignOuts = guard.Keys, guard.OIDC, n.cfg.PublicURL, n.signOuts
	}
	pages, err := console.New(cfg)
	if err != nil {
		return nil, err
	}
	if guard != nil {
		guard.Passed = pages.Passed
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, console.Path):
			pages.ServeHTTP(w, r)
		case r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(console.Path, "/")) && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, console.Path, http.StatusSeeOther)
		default:
			n.api.ServeHTTP(w, r)
		}
	}), nil
}
