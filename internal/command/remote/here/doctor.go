package here

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look at what is in the way between here and the cluster, a line each; exit code 1 if something is", Args: cobra.NoArgs,
		Long: "Look at what is in the way between here and the cluster, a line each: the program, the server, its certificate, the credentials, clocks,\n" +
			"versions, how full etcd is, whether nodes refuse requests for want of room, and whether something that was accepted has vanished.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor{commands: a}
			d.look(cmd.Context())
			return d.tell()
		},
	}
}

// doctor is what was found, in the order in which it was looked at.
type doctor struct {
	commands

	found []any
	bad   bool
}

// line notes something that is fine, or its error.
func (d *doctor) line(name string, err error, fine string) {
	if err != nil {
		d.bad, fine = true, d.Explained(err)
	}
	d.found = append(d.found, map[string]any{"what": name, "ok": err == nil, "text": ask.Printable(fine)})
}

// tell shows what was found.
func (d *doctor) tell() error {
	if d.AsData() {
		if err := d.Data(map[string]any{"ok": !d.bad, "items": d.found}); err != nil {
			return err
		}
	} else {
		for _, f := range d.found {
			mark := map[bool]string{true: "ok ", false: "bad"}[ask.At(f, "ok") == true]
			if _, err := fmt.Fprintf(d.Out, "%s  %-12s %s\n", mark, ask.At(f, "what"), ask.At(f, "text")); err != nil {
				return err
			}
		}
	}
	if d.bad {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// look looks at one thing after the other, as far as the one before lets it.
func (d *doctor) look(ctx context.Context) {
	d.line("program", nil, fmt.Sprintf("%s, %s, %s/%s", d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH))
	c, err := d.Client()
	if err != nil {
		d.line("context", err, "")
		return
	}
	name, err := d.ContextName()
	text := "none"
	if name != "" {
		text = name
	}
	d.line("context", err, fmt.Sprintf("%s, server %s, token %v", text, d.Server(), d.HasToken()))
	began := time.Now()
	live, err := c.Live(ctx)
	if err != nil {
		d.line("server", err, "")
		return
	}
	d.line("server", nil, fmt.Sprintf("%s answers in %v", live.Body.NodeID, time.Since(began).Round(time.Millisecond)))
	d.wire()
	ready, err := c.Ready(ctx)
	if err == nil && ready.Body.Shedding {
		err = errors.New("it refused requests in the last 10 seconds for want of places, memory or connections: docs/operations/limits.md")
	}
	d.line("ready", err, "it takes work")
	nodes, err := c.ListNodes(ctx)
	d.line("credentials", err, "they count")
	if err != nil {
		return
	}
	d.nodes(nodes.Body.Items)
	d.store(ctx, c)
	balance, err := c.GetBalance(ctx)
	if err == nil && balance.Body.Difference != 0 {
		err = fmt.Errorf("%d accepted commands have vanished: docs/runbooks/balance-difference.md", balance.Body.Difference)
	}
	d.line("balance", err, "nothing that was accepted has vanished")
}

// expiresSoon is how long before its end a certificate is told.
const expiresSoon = 14 * 24 * time.Hour

// wire looks at how the credentials and all else travel.
func (d *doctor) wire() {
	at, err := url.Parse(d.Server())
	if err != nil {
		return // the client has refused it
	}
	state := d.TLS()
	switch {
	case state != nil && len(state.PeerCertificates) > 0:
		cert := state.PeerCertificates[0]
		left := cert.NotAfter.Sub(d.Now())
		if left < expiresSoon {
			err = fmt.Errorf("the server's certificate ends in %s: docs/runbooks/certificate-expires.md", ask.Short(max(0, left)))
		}
		d.line("TLS", err, fmt.Sprintf("%s, the certificate is of %s, until %s", tls.VersionName(state.Version), strings.Join(cert.DNSNames, " "), cert.NotAfter.Format(time.DateOnly)))
	case d.HasToken() && !loopback(at.Hostname()):
		d.line("TLS", errors.New("there is none: whoever is on the way reads the token"), "")
	default:
		d.line("TLS", nil, "none, and none is needed")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// skewed is how far clocks may be apart: a node fires no timers beyond.
const skewed = 2 * time.Second

// nodes looks at each: its clock, whether it stands still, versions.
func (d *doctor) nodes(nodes []apiclient.Node) {
	var versions []string
	for _, n := range nodes {
		versions = append(versions, n.Version)
		var err error
		text := "works"
		switch {
		case n.Draining:
			text = "drains"
		case n.Paused:
			err = errors.New("the cluster is paused; weft cluster unpause goes on")
		case n.ClockSkewSeconds != nil && time.Duration(*n.ClockSkewSeconds*float64(time.Second)).Abs() > skewed:
			err = fmt.Errorf("its clock and those of the others are %.1f s apart: set it", *n.ClockSkewSeconds)
		case n.Self && n.SeenAt != nil && d.Now().Sub(*n.SeenAt).Abs() > 30*time.Second:
			err = fmt.Errorf("its clock and the one here are %v apart, or it has not been heard of for so long", d.Now().Sub(*n.SeenAt).Round(time.Second))
		}
		d.line(n.NodeID, err, text)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	text := strings.Join(versions, ", ")
	if len(versions) > 1 {
		text += ": an upgrade that goes on, or one that was left"
	}
	d.line("versions", nil, text)
}

// store looks at how full etcd is, as the nodes see it.
func (d *doctor) store(ctx context.Context, c *apiclient.Client) {
	meters, err := c.ListMeters(ctx)
	if err != nil {
		d.line("etcd", err, "")
		return
	}
	var fullest apiclient.StoreMeter
	for _, m := range meters.Body.Items {
		if m.Store.Level > fullest.Level || m.Store.Level == fullest.Level && m.Store.InUse > fullest.InUse {
			fullest = m.Store
		}
	}
	text := fmt.Sprintf("%d MiB in use", fullest.InUse>>20)
	if fullest.Quota > 0 {
		text += fmt.Sprintf(" of %d MiB", fullest.Quota>>20)
	}
	switch {
	case fullest.Text != "":
		err = errors.New(fullest.Text + "; do this: " + fullest.Advice)
	case fullest.Level > 0: // of a node that does not tell in words yet
		err = fmt.Errorf("%s: it is nearly full, and starts are refused: docs/runbooks/etcd-near-quota.md", text)
	case len(meters.Body.Unasked) > 0:
		err = fmt.Errorf("these nodes could not be asked: %s", strings.Join(meters.Body.Unasked, ", "))
	}
	d.line("etcd", err, text)
}
