package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// route is one node's way to the three members of etcd: a proxy for each, which
// can delay, drop and reset.
type route struct{ proxies []*toxiproxy.Proxy }

// newRoute starts the proxies on addresses of host.
func newRoute(tb testing.TB, host string, targets []string) *route {
	tb.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	r := &route{}
	for i, target := range targets {
		p := toxiproxy.NewProxy(server, fmt.Sprintf("%s-%d", host, i), host+":0", target)
		if err := p.Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(p.Stop)
		r.proxies = append(r.proxies, p)
	}
	return r
}

func (r *route) endpoints() []string {
	var all []string
	for _, p := range r.proxies {
		all = append(all, "http://"+p.Listen)
	}
	return all
}

var toxics atomic.Int64

// The directions of a fault, as toxiproxy names them: to etcd, and from it.
var (
	bothWays = []string{"upstream", "downstream"}
	upOnly   = bothWays[:1]
	downOnly = bothWays[1:]
)

// spoil adds a toxic on all proxies; undo takes it away.
func (r *route) spoil(kind, attributes string, directions []string) (undo func(), err error) {
	var errs []error
	name := fmt.Sprintf("%s-%d", kind, toxics.Add(1)) // several of a kind may overlap
	for _, p := range r.proxies {
		for _, dir := range directions {
			_, err := p.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": %s}`, name+dir, kind, dir, attributes)))
			errs = append(errs, err)
		}
	}
	return func() {
		for _, p := range r.proxies {
			for _, dir := range directions {
				_ = p.Toxics.RemoveToxic(context.Background(), name+dir)
			}
		}
	}, errors.Join(errs...)
}

// namespace is a network of its own with one address, at the end of a cable to
// this one.
type namespace struct{ name, host, inside string }

// newNamespace makes one, if that is permitted. It goes with the test.
func newNamespace(tb testing.TB) (*namespace, error) {
	tb.Helper()
	for _, tool := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	sweepNamespaces()
	pid := os.Getpid()
	net := fmt.Sprintf("10.%d.%d", 192+pid>>8&63, pid&255)
	n := &namespace{name: fmt.Sprintf("weft-chaos-%d", pid), host: net + ".1", inside: net + ".2"}
	cable, plug := fmt.Sprintf("wch%d", pid), fmt.Sprintf("wcn%d", pid)
	tb.Cleanup(func() { _ = run("ip", "netns", "del", n.name) }) // with the cable
	for _, args := range [][]string{
		{"netns", "add", n.name},
		{"link", "add", cable, "type", "veth", "peer", "name", plug},
		{"link", "set", plug, "netns", n.name},
		{"addr", "add", n.host + "/30", "dev", cable},
		{"link", "set", cable, "up"},
		{"-n", n.name, "addr", "add", n.inside + "/30", "dev", plug},
		{"-n", n.name, "link", "set", plug, "up"},
		{"-n", n.name, "link", "set", "lo", "up"},
	} {
		if err := run("ip", args...); err != nil {
			return nil, err
		}
	}
	// A rule that changes nothing shows whether rules are permitted.
	if err := n.rule("-A", "INPUT", "ACCEPT"); err != nil {
		return nil, err
	}
	return n, n.rule("-D", "INPUT", "ACCEPT")
}

// sweepNamespaces removes what a run left that was killed.
func sweepNamespaces() {
	out, _ := exec.Command("ip", "netns", "list").Output() // none, if it fails
	for name := range strings.FieldsSeq(string(out)) {
		if pid, ours := strings.CutPrefix(name, "weft-chaos-"); ours {
			if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
				_ = run("ip", "netns", "del", name) // another run may have been faster
			}
		}
	}
}

// rule adds or deletes what happens to all packets of a chain.
func (n *namespace) rule(how, chain, target string) error {
	return run("ip", "netns", "exec", n.name, "iptables", "-w", how, chain, "-j", target)
}

// cut drops all packets into the namespace, out of it, or both ways; bytes that
// were under way are sent again by TCP after the undo.
func (n *namespace) cut(chains ...string) (undo func(), err error) {
	for _, chain := range chains {
		err = errors.Join(err, n.rule("-A", chain, "DROP"))
	}
	return func() {
		for _, chain := range chains {
			_ = n.rule("-D", chain, "DROP")
		}
	}, err
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
