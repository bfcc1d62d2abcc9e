package here

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look at what is in the way between here and the cluster, a line each, and say what to do first; exit code 1 if something is", Args: cobra.NoArgs,
		Long: "Look at what is in the way between here and the cluster, a line each: the program, the server, its certificate, the credentials;\n" +
			"etcd (a round trip, leader, alarms, version, each member); whether each node is ready, its clock and its files, and whether the balancer reaches it;\n" +
			"versions, how full etcd is, work that no live node can run, late timers, refused requests, whether a commit was refused under its lock, and whether\n" +
			"something that was accepted has vanished. It changes nothing.\n" +
			"The last line is \"do this now: …\", about the worst of it, or \"nothing to do\". The exit code is 0 if nothing is wrong, 1 if something is,\n" +
			"and 2 for wrong usage. A node of another version, as in an upgrade, is nothing wrong: what it does not tell is not looked at.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor{commands: a}
			d.look(cmd.Context())
			return d.tell()
		},
	}
}

// doctorWait is how long one answer is waited for: a node tells within 2 s what does not answer it.
const doctorWait = 10 * time.Second

// weight is how bad something is: the worst is to be done first.
type weight int

const (
	blocks weight = iota // nothing behind it can be looked at
	stands               // nothing is committed, or accepted work is missing
	hurts                // work is refused, late or on fewer nodes than there are
	comes                // it works, and will not for ever
)

// finding is a line.
type finding struct {
	what, text string
	ok         bool
	do         string // what to do about it
	weight     weight
}

// doctor is what was found, in the order in which it was looked at.
type doctor struct {
	commands commands

	found []finding
}

func (d *doctor) fine(what, text string, args ...any) {
	d.found = append(d.found, finding{what: what, ok: true, text: ask.Printable(fmt.Sprintf(text, args...))})
}

func (d *doctor) bad(w weight, what, text, do string) {
	d.found = append(d.found, finding{what: what, text: ask.Printable(text), do: ask.Printable(do), weight: w})
}

// first is what is to be done first; nil: nothing.
func (d *doctor) first() *finding {
	var worst *finding
	for i := range d.found {
		if f := &d.found[i]; !f.ok && (worst == nil || f.weight < worst.weight) {
			worst = f
		}
	}
	return worst
}

// tell shows what was found.
func (d *doctor) tell() error {
	worst := d.first()
	last := "nothing to do"
	if worst != nil {
		last = "do this now: " + worst.do
	}
	if d.commands.ask.AsData() {
		items := []any{}
		for _, f := range d.found {
			items = append(items, map[string]any{"what": f.what, "ok": f.ok, "text": f.text, "do": f.do})
		}
		if err := d.commands.ask.Data(map[string]any{"ok": worst == nil, "items": items, "do": last}); err != nil {
			return err
		}
	} else {
		for _, f := range d.found {
			mark := map[bool]string{true: "ok ", false: "bad"}[f.ok]
			if _, err := fmt.Fprintf(d.commands.ask.Out, "%s  %-12s %s\n", mark, f.what, f.text); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(d.commands.ask.Out, last); err != nil {
			return err
		}
	}
	if worst != nil {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// look looks at one thing after the other, as far as the one before lets it.
func (d *doctor) look(ctx context.Context) {
	d.fine("program", "%s, %s, %s/%s", d.commands.ask.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c, err := d.commands.ask.Once(doctorWait)
	if err != nil {
		d.bad(blocks, "context", d.commands.ask.Explained(err), "name a server: weft login --server URL, or --server")
		return
	}
	name, err := d.commands.ask.ContextName()
	if err != nil {
		d.bad(blocks, "context", d.commands.ask.Explained(err), "weft context list has the contexts")
		return
	}
	d.fine("context", "%s, server %s, token %v", cmp.Or(name, "none"), d.commands.ask.Server(), d.commands.ask.HasToken())
	began := time.Now()
	live, err := c.Live(ctx)
	if err != nil {
		d.bad(blocks, "server", d.commands.ask.Explained(err), "start a node, or name one with --server: "+d.commands.ask.Explained(err))
		return
	}
	d.fine("server", "%s answers in %v", live.Body.NodeID, time.Since(began).Round(time.Millisecond))
	d.wire()
	etcd, etcdErr := c.GetEtcd(ctx)
	nodes, nodesErr := c.ListNodes(ctx)
	if err := cmp.Or(refusedAs(etcdErr), refusedAs(nodesErr)); err != nil {
		d.bad(blocks, "credentials", d.commands.ask.Explained(err), "sign in with weft login, or give WEFT_TOKEN or --token-file, with the role viewer or more")
		d.ready(ctx, c, true)
		return
	}
	if etcdErr == nil || nodesErr == nil {
		d.fine("credentials", "they count")
	}
	answers := d.etcd(etcd, etcdErr)
	d.ready(ctx, c, answers)
	if nodesErr != nil {
		d.bad(stands, "nodes", "which nodes there are is not known: "+d.commands.ask.Explained(nodesErr), "look at the log of "+live.Body.NodeID+", and at etcd: docs/runbooks/session-lost.md")
		return
	}
	d.nodes(ctx, c, nodes.Body.Items)
	if answers {
		d.timers(ctx, c, etcd)
		d.balance(ctx, c)
	}
}

// refusedAs is the error if it is about the credentials.
func refusedAs(err error) error {
	var p *apiclient.ProblemError
	if errors.As(err, &p) && (p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden) {
		return err
	}
	return nil
}

// unknownRoute tells whether the node that answered is of a version that does not have a route.
func unknownRoute(err error) bool {
	var p *apiclient.ProblemError
	return errors.As(err, &p) && p.Status == http.StatusNotFound && p.Code != ""
}

// expiresSoon is how long before its end a certificate is told.
const expiresSoon = 14 * 24 * time.Hour

// wire looks at how the credentials and all else travel.
func (d *doctor) wire() {
	at, err := url.Parse(d.commands.ask.Server())
	if err != nil {
		return // the client has refused it
	}
	state := d.commands.ask.TLS()
	switch {
	case state != nil && len(state.PeerCertificates) > 0:
		cert := state.PeerCertificates[0]
		if left := cert.NotAfter.Sub(d.commands.ask.Now()); left < expiresSoon {
			d.bad(comes, "TLS", fmt.Sprintf("the server's certificate ends in %s", ask.Short(max(0, left))), "renew the server's certificate: docs/runbooks/certificate-expires.md")
			return
		}
		d.fine("TLS", "%s, the certificate is of %s, until %s", tls.VersionName(state.Version), strings.Join(cert.DNSNames, " "), cert.NotAfter.Format(time.DateOnly))
	case d.commands.ask.HasToken() && !loopback(at.Hostname()):
		d.bad(comes, "TLS", "there is none: whoever is on the way reads the token", "give the server a certificate, and use https://: docs/security.md")
	default:
		d.fine("TLS", "none, and none is needed")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// etcd tells how etcd answers the node that was asked; whether it does.
func (d *doctor) etcd(told *apiclient.Answer[apiclient.Etcd], err error) (answers bool) {
	switch {
	case unknownRoute(err):
		d.fine("etcd", "not looked at: the node is of a version that does not tell")
		return true
	case err != nil:
		d.bad(stands, "etcd", "the node does not say how etcd answers it: "+d.commands.ask.Explained(err), "look at the node's log, and at etcd: docs/runbooks/session-lost.md")
		return false
	}
	e := &told.Body
	for _, t := range e.Troubles {
		w := comes
		if t.State == "down" {
			w = stands
		}
		d.bad(w, "etcd", t.Text, t.Do)
	}
	if e.Seconds == nil {
		return false
	}
	var leader string
	var versions []string
	up := 0
	for _, m := range e.Members {
		if m.Answers {
			up++
			versions = append(versions, m.Version)
		}
		if m.Leader {
			leader = ", the leader is " + m.Name
		}
	}
	slices.Sort(versions)
	d.fine("etcd", "answers in %.1f ms, %d of %d members answer%s, version %s", *e.Seconds*1000, up, len(e.Members), leader, strings.Join(slices.Compact(versions), ", "))
	return true
}

// ready tells whether the node that was asked takes work, and can do it.
func (d *doctor) ready(ctx context.Context, c *apiclient.Client, etcd bool) {
	ready, err := c.Ready(ctx, apiclient.ReadyQuery{})
	switch {
	case err != nil:
		d.bad(hurts, "ready", d.commands.ask.Explained(err), "look at the node's log, and at etcd: docs/runbooks/not-ready.md")
	case !etcd:
		d.bad(stands, "ready", "it still says that it is ready, and etcd does not answer it: it commits nothing", "bring back etcd: docs/runbooks/etcd-member-missing.md")
	case ready.Body.Shedding:
		d.bad(hurts, "ready", "it refused requests in the last 10 seconds for want of places, memory or connections", "see what refuses, and for whom: docs/runbooks/work-refused.md")
	default:
		d.fine("ready", "it takes work")
	}
}

// skewed is how far clocks may be apart: a node fires no timers beyond.
const skewed = 2 * time.Second

// nodes looks at each: whether it is heard of, its clock, whether it stands still, what it says of itself, versions.
func (d *doctor) nodes(ctx context.Context, c *apiclient.Client, nodes []apiclient.Node) {
	told := map[string]apiclient.Meters{}
	meters, err := c.ListMeters(ctx)
	if err == nil {
		for _, m := range meters.Body.Items {
			told[m.NodeID] = m
		}
	}
	self := ""
	for _, n := range nodes {
		if n.Self {
			self = n.Version
		}
	}
	var versions []string
	for _, n := range nodes {
		versions = append(versions, n.Version)
		m, known := told[n.NodeID]
		// One of another version may not have the route that is asked.
		d.node(&n, m, known, err == nil && n.Version == self)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	text := strings.Join(versions, ", ")
	if len(versions) > 1 {
		text += ": an upgrade that goes on, or one that was left"
	}
	d.fine("versions", "%s", text)
	d.balancer(ctx, nodes)
	switch {
	case unknownRoute(err):
		d.fine("store", "not looked at: the node is of a version that does not tell")
	case err != nil:
		d.bad(hurts, "store", d.commands.ask.Explained(err), "look at the node's log")
	default:
		d.store(meters.Body.Items)
		d.breaches(meters.Body.Items)
		d.runnable(meters.Body)
	}
}

// breaches looks for commits that were refused although their lock held: what the lock promises was not so.
func (d *doctor) breaches(meters []apiclient.Meters) {
	var nodes []string
	for _, m := range meters {
		for _, c := range m.Commits {
			if c.Name == "breach" && c.Total > 0 {
				nodes = append(nodes, fmt.Sprintf("%s (%d)", m.NodeID, c.Total))
			}
		}
	}
	if len(nodes) > 0 {
		d.bad(hurts, "promises", "commits were refused although their lock held, since the start of "+strings.Join(nodes, ", ")+": this must not happen", "follow docs/runbooks/breach.md")
		return
	}
	d.fine("promises", "no commit was refused under its lock")
}

// runnable looks for work that each live node leaves to others.
func (d *doctor) runnable(all apiclient.AllMeters) {
	if len(all.Items) == 0 || len(all.Unasked) > 0 {
		d.fine("work", "not looked at: not all nodes told what they can run")
		return
	}
	least := slices.MinFunc(all.Items, func(a, b apiclient.Meters) int { return cmp.Compare(a.NotRunnable, b.NotRunnable) }).NotRunnable
	if least > 0 {
		d.bad(hurts, "work", fmt.Sprintf("each live node leaves %d or more instances to others: no live node has the program for them", least), "start a node that has their activities, or their version: docs/runbooks/not-runnable.md")
		return
	}
	d.fine("work", "there is none that no live node can run")
}

// node looks at one. tells: it should say what it does.
func (d *doctor) node(n *apiclient.Node, m apiclient.Meters, known, tells bool) {
	problems := len(d.found)
	switch {
	case n.LateSeconds != nil:
		d.bad(hurts, n.NodeID, fmt.Sprintf("nothing was heard of it for %.0f s: it hangs, or etcd takes no writes", *n.LateSeconds), "see whether "+n.NodeID+" hangs, and end it if it does: docs/runbooks/node-missing.md")
	case !known && tells && !n.Draining:
		d.bad(hurts, n.NodeID, "it could not be asked what it does, at "+n.Address, "see whether "+n.NodeID+" hangs, and whether other nodes reach it at "+n.Address+": docs/runbooks/node-missing.md")
	case m.NotReady != "" && !n.Draining:
		d.bad(hurts, n.NodeID, "it is not ready: "+m.NotReady, "look at the log of "+n.NodeID+": docs/runbooks/not-ready.md")
	}
	if n.Paused {
		d.bad(hurts, n.NodeID, "the cluster is paused", "weft cluster unpause, if nobody needs the pause any more")
	}
	switch {
	case n.ClockSkewSeconds != nil && time.Duration(*n.ClockSkewSeconds*float64(time.Second)).Abs() > skewed:
		d.bad(hurts, n.NodeID, fmt.Sprintf("its clock and those of the others are %.1f s apart: it fires no timers", *n.ClockSkewSeconds), "set the clock of "+n.NodeID+": docs/runbooks/late-timers.md")
	case n.Self && n.LateSeconds == nil && n.SeenAt != nil && d.commands.ask.Now().Sub(*n.SeenAt).Abs() > 30*time.Second:
		d.bad(comes, n.NodeID, fmt.Sprintf("its clock and the one here are %v apart, or it has not been heard of for so long", d.commands.ask.Now().Sub(*n.SeenAt).Round(time.Second)), "compare the clock here with the one of "+n.NodeID)
	}
	for _, file := range m.UnreadFiles {
		d.bad(comes, n.NodeID, "it cannot take the file of "+file+" as it is, and goes on with what it read before", "repair the file of "+file+" on "+n.NodeID+": docs/runbooks/unread-files.md")
	}
	if len(d.found) > problems {
		return
	}
	switch {
	case n.Draining:
		d.fine(n.NodeID, "drains")
	case !known:
		d.fine(n.NodeID, "works; its version, %s, does not tell more", n.Version)
	default:
		d.fine(n.NodeID, "works")
	}
}

// tries is how often a balancer is asked for each node: so often none is left out by chance.
const tries, mostTries = 8, 64

// balancer asks the server again and again, each time over a new connection, and sees who answers.
func (d *doctor) balancer(ctx context.Context, nodes []apiclient.Node) {
	missing := map[string]bool{}
	for _, n := range nodes {
		if !n.Draining && n.LateSeconds == nil {
			missing[n.NodeID] = true
		}
	}
	if len(missing) < 2 {
		return
	}
	c, err := d.commands.ask.Once(2 * time.Second)
	if err != nil {
		return // it was made before
	}
	seen, asked, failed := map[string]bool{}, 0, 0
	var last error
	for ; asked < min(tries*len(nodes), mostTries) && len(missing) > 0 && ctx.Err() == nil && failed < 3; asked++ {
		live, err := c.Live(ctx)
		if err != nil {
			failed, last = failed+1, err
			continue
		}
		seen[live.Body.NodeID] = true
		delete(missing, live.Body.NodeID)
	}
	var lost []string
	for id := range missing {
		lost = append(lost, id)
	}
	slices.Sort(lost)
	switch {
	case failed > 0:
		d.bad(hurts, "balancer", fmt.Sprintf("%d of %d requests got no answer: %s", failed, asked, d.commands.ask.Explained(last)), "see that the balancer asks /readyz and leaves out who does not answer: docs/operations/install.md")
	case len(seen) == 1 && len(lost) > 0:
		d.fine("balancer", "%d requests were all answered by one node: there is none, or it keeps a caller at a node", asked)
	case len(lost) > 0:
		d.bad(hurts, "balancer", fmt.Sprintf("of %d requests none was answered by %s", asked, strings.Join(lost, ", ")), "see why the balancer leaves out "+strings.Join(lost, ", ")+": docs/runbooks/not-ready.md")
	default:
		d.fine("balancer", "it reaches all %d nodes", len(seen))
	}
}

// store tells how full etcd is, as the nodes see it.
func (d *doctor) store(meters []apiclient.Meters) {
	var fullest apiclient.StoreMeter
	for _, m := range meters {
		if m.Store.Level > fullest.Level || m.Store.Level == fullest.Level && m.Store.InUse > fullest.InUse {
			fullest = m.Store
		}
	}
	text := fmt.Sprintf("%d MiB in use", fullest.InUse>>20)
	if fullest.Quota > 0 {
		text += fmt.Sprintf(" of %d MiB", fullest.Quota>>20)
	}
	if fullest.DiskSize > 0 {
		text += fmt.Sprintf(", its disk has %d MiB free", fullest.DiskFree>>20)
	}
	switch {
	case fullest.Text != "":
		d.bad(stands, "store", fullest.Text, fullest.Advice)
	case fullest.Level > 0: // of a node that does not tell in words yet
		d.bad(stands, "store", text+": it is nearly full, and starts are refused", "make room in etcd: docs/runbooks/etcd-near-quota.md")
	default:
		d.fine("store", "%s", text)
	}
}

// late is from when on a timer is told.
const late = 30 * time.Second

// timers looks at the one that is due first.
func (d *doctor) timers(ctx context.Context, c *apiclient.Client, etcd *apiclient.Answer[apiclient.Etcd]) {
	now := d.commands.ask.Now()
	if etcd != nil && !etcd.Body.At.IsZero() {
		now = etcd.Body.At // the clock by which they fire
	}
	next, err := c.ListTimers(ctx, apiclient.ListTimersQuery{Limit: 1})
	if err != nil {
		d.bad(hurts, "timers", d.commands.ask.Explained(err), "look at the node's log")
		return
	}
	for _, t := range next.Body.Items {
		if behind := now.Sub(t.DueAt); behind > late {
			d.bad(hurts, "timers", fmt.Sprintf("one that was due %s has not fired for %s: %s%s", t.DueAt.Format(time.RFC3339), ask.Short(behind), t.InstanceID, t.DefinitionID), "find out why timers are late: docs/runbooks/late-timers.md")
			return
		}
	}
	d.fine("timers", "none is late")
}

// newborn is how long it may take until somebody counts in a cluster that was just started for the first time.
const newborn = 10 * time.Second

func notCounted(err error) bool {
	var problem *apiclient.ProblemError
	return errors.As(err, &problem) && strings.HasPrefix(problem.Detail, "no node has counted the balance yet") // and not because etcd does not answer
}

func (d *doctor) balance(ctx context.Context, c *apiclient.Client) {
	balance, err := c.GetBalance(ctx)
	for until := time.Now().Add(newborn); notCounted(err) && time.Now().Before(until) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
			balance, err = c.GetBalance(ctx)
		}
	}
	switch {
	case err != nil:
		d.bad(comes, "balance", d.commands.ask.Explained(err), "ask again in a minute; if it stays so, look at the node's log")
	case balance.Body.Difference != 0:
		d.bad(stands, "balance", fmt.Sprintf("%d accepted commands have vanished", balance.Body.Difference), "follow docs/runbooks/balance-difference.md")
	default:
		d.fine("balance", "nothing that was accepted has vanished")
	}
}
