package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
)

// often waits for an event again and again, each time with a commit.
const often = `
id: often
root:
  - while: ${{ true }}
    body: [{event: again}]
`

func TestWhatChangesIsTold(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	d := member(t, name, "a", options{})
	d.Publish(membertest.Waits)
	l := d.listen("instance:one,definitions,cluster", "")
	if e := <-l.events; e.name != "retry: 1000" {
		t.Errorf("it begins with %v", e)
	}
	if e := l.want("instance"); e.field("instance") != nil || e.field("topic") != "instance:one" {
		t.Errorf("before it is: %v", e)
	}
	if e := l.want("definitions"); len(e.field("definitions").([]any)) != 0 || e.field("more") != false {
		t.Errorf("the definitions at first: %v", e)
	}
	if e := l.want("cluster"); len(e.field("nodes").([]any)) != 1 || strings.Count(e.id, ".") != 2 {
		t.Errorf("the nodes at first: %v", e)
	}

	if _, err := d.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", InstanceID: "one", CorrelationID: "c", Input: map[string]any{"secret": "of the body"}}); err != nil {
		t.Fatal(err)
	}
	e := l.until("Suspended")
	if e.field("instance", "correlationId") != "c" || len(e.field("instance", "bookmarks").([]any)) != 1 || e.field("instance", "commit") != 1.0 || e.field("instance", "input") != nil {
		t.Errorf("while it waits: %v", e)
	}
	if revision := strconv.FormatInt(int64(e.field("revision").(float64)), 10); !strings.HasPrefix(e.id, revision+".") {
		t.Errorf("revision %s is not in the id %s", revision, e.id)
	}
	d.Event("go", "c", nil)
	l.until("Finished")
	if _, err := d.Commands.Delete(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if e := l.want("instance"); e.field("instance") != nil {
		t.Errorf("when it is gone: %v", e)
	}

	d.Publish(often)
	if e := l.want("definitions"); len(e.field("definitions").([]any)) != 1 || !strings.Contains(e.String(), "id:often") {
		t.Errorf("a definition: %v", e)
	}
	if err := d.Catalog.Delete(t.Context(), "often", false); err != nil {
		t.Fatal(err)
	}
	if e := l.want("definitions"); !strings.Contains(e.String(), "deleted:true") {
		t.Errorf("a definition that is deleted: %v", e)
	}
	b := membertest.New(t, name, "b")
	for len(l.want("cluster").field("nodes").([]any)) != 2 { // the first node's own record may come before
	}
	b.Leave()
	for len(l.want("cluster").field("nodes").([]any)) != 1 { // it drains before it goes
	}
}

// Who comes back, to any node, is told what was missed, and nothing twice.
func TestAStreamGoesOnOnAnotherNode(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	doors := []*door{member(t, name, "a", options{}), member(t, name, "b", options{})}
	a := doors[0]
	a.Publish(often, membertest.Waits)
	polltest.Eventually(t, "both nodes know both definitions", func() bool {
		return len(doors[0].Catalog.Since(0).Changes) == 2 && len(doors[1].Catalog.Since(0).Changes) == 2
	})
	a.Start("often", "one", "one")
	const topics = "instance:one,definitions"
	l := a.listen(topics, "")
	l.want("instance")
	l.want("definitions")
	last, commit := l.last, 1.0
	for i := range 30 {
		l.Close()
		a.Event("again", "one", nil) // while nobody listens
		l = doors[(i+1)%2].listen(topics, last)
		e := l.want("instance")
		if got := e.field("instance", "commit").(float64); got != commit+1 {
			t.Fatalf("round %d: commit %v after %v: %v", i, got, commit, e)
		}
		last, commit = l.last, commit+1
	}
	// Nothing happened: nothing is told, and what comes later is the first.
	l.Close()
	a.Publish(strings.Replace(membertest.Waits, "went", "has gone", 1))
	l = doors[1].listen(topics, last)
	if e := l.want("definitions"); len(e.field("definitions").([]any)) != 1 {
		t.Errorf("what was published: %v", e)
	}
	last = l.last
	l.Close()
	l = a.listen(topics, last)
	a.Event("again", "one", nil)
	if e := l.want("instance"); e.field("instance", "commit").(float64) != commit+1 {
		t.Errorf("the next change: %v", e)
	}

	// That it is gone is told once, by any node.
	last = l.last
	l.Close()
	if _, err := a.Commands.Delete(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	l = doors[1].listen(topics, last)
	if e := l.want("instance"); e.field("instance") != nil {
		t.Errorf("it is gone: %v", e)
	}
	last = l.last
	l.Close()
	a.Start("often", "two", "two") // etcd goes on
	l = a.listen(topics, last)
	a.Start("often", "one", "one")
	if e := l.want("instance"); e.field("instance") == nil {
		t.Errorf("it was told twice that it is gone: %v", e)
	}
}

// While an instance commits and listeners lose their connections, none of them misses the
// last state, and none is told an older one.
func TestListenersComeAndGoWhileItCommits(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	doors := []*door{member(t, name, "a", options{}), member(t, name, "b", options{})}
	doors[0].Publish(often)
	doors[0].Start("often", "one", "one")
	const rounds = 60
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			last, commit := "", 0.0
			for i := 0; commit < rounds+1; i++ {
				l := doors[(n+i)%2].listen("instance:one,cluster", last)
				for range 1 + (n+i)%3 {
					e := l.want("instance", "cluster")
					if e.name == "instance" {
						got := e.field("instance", "commit").(float64)
						if got <= commit {
							t.Errorf("commit %v after %v", got, commit)
						}
						commit = got
					}
					if commit == rounds+1 {
						break
					}
				}
				last = l.last
				l.Close()
			}
		})
	}
	for i := range rounds {
		doors[i%2].Event("again", "one", nil)
	}
	all.Wait()
}

// Not parallel: it compacts the etcd of all tests.
func TestWhatCannotBeKnownIsAReset(t *testing.T) {
	d := member(t, clustertest.Namespace(t), "a", options{})
	d.Publish(membertest.Waits)
	d.Start("waits", "gone", "gone")
	d.Start("waits", "there", "there")
	l := d.listen("instance:gone,instance:there", "")
	l.want("instance")
	l.want("instance")
	before := l.last
	l.Close()
	if _, err := d.Commands.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	d.Event("go", "there", nil)
	revision, etcd, err := d.Store.Reader.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clustertest.Shared(t).Client(t).Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	l = d.listen("instance:gone,instance:there", before)
	if e := l.want("reset"); e.field("topic") != "instance:gone" || e.id != "" {
		t.Errorf("the one that is gone: %v", e)
	}
	if e := l.want("instance"); e.field("instance") != nil || e.field("topic") != "instance:gone" {
		t.Errorf("then: %v", e)
	}
	if e := l.want("instance"); e.field("instance", "subStatus") != "Finished" {
		t.Errorf("the one that is there: %v", e)
	}
	l.Close()

	// An id of another etcd, of one that was restored, and of one that was restored as the
	// manual says, so that its revisions lie far ahead.
	at := strconv.FormatInt(revision, 10)
	for after, own := range map[string]bool{
		strconv.FormatInt(revision+1_000_000, 10): false, "5@0badcafe": false, at + "@0badcafe": false,
		at + "." + at + "." + at + "@": true, at: true,
	} {
		l = d.listen("instance:there,definitions,cluster", after)
		for _, topic := range []string{"instance", "definitions", "cluster"} {
			if own {
				continue
			}
			l.want("reset")
			if e := l.want(topic); e.id == "" || !strings.HasSuffix(e.id, fmt.Sprintf("@%08x", uint32(etcd^etcd>>32))) {
				t.Errorf("after a reset: %v", e)
			}
		}
		if own {
			l.want("cluster") // which is told in any case, and nothing else
		}
		l.Close()
	}
}

func TestAStreamEndsWithItsCredentials(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	write := func(entries ...auth.KeyEntry) {
		t.Helper()
		raw, err := yaml.Marshal(entries)
		if err == nil {
			err = os.WriteFile(path, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	demoted, operator, err0 := auth.NewKey("demoted", auth.Operator, nil)
	revoked, first, err1 := auth.NewKey("revoked", auth.Viewer, nil)
	expires, second, err2 := auth.NewKey("expires", auth.Viewer, nil) // it gets its end when somebody listens with it
	stays, third, err3 := auth.NewKey("stays", auth.Viewer, nil)
	if err := errors.Join(err0, err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	write(operator, first, second, third)
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- keys.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	d := member(t, clustertest.Namespace(t), "a", options{api: func(c *httpapi.Config) { c.Auth = &auth.Authenticator{Keys: keys} }})
	if resp, err := d.ask(t.Context(), "cluster", ""); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatal("without a key:", resp, err)
	} else {
		resp.Body.Close()
	}
	d.Publish(membertest.Waits)
	listen := func(key string) *listener {
		l := d.listen("instance:one", "", "Authorization: Bearer "+key)
		l.want("instance")
		return l
	}
	zero, one, two, three := listen(demoted), listen(revoked), listen(expires), listen(stays)
	soon := time.Now().Add(2 * time.Second)
	operator.Role, second.Expires = auth.Viewer.String(), &soon
	write(operator, second, third)
	for _, l := range []*listener{zero, one, two} {
		if e := l.want("bye"); e.field("reason") != "credentials" {
			t.Errorf("got %v", e)
		}
		if _, more := <-l.events; more {
			t.Error("it goes on")
		}
	}
	d.Start("waits", "one", "c")
	three.until("Suspended")
	if n := d.counts("weft_streams_ended_total", "credentials"); n != 3 {
		t.Errorf("%v streams ended with their credentials", n)
	}
}

func TestADrainSaysGoodbye(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{})
	l := d.listen("instance:one,cluster", "")
	l.want("instance")
	l.want("cluster")
	d.api.Drain()
	if e := l.want("bye"); e.field("reason") != "draining" {
		t.Errorf("got %v", e)
	}
	if _, more := <-l.events; more {
		t.Error("it goes on")
	}
	polltest.Eventually(t, "nothing is followed", func() bool { return d.hub.Followed() == 0 && d.counts("weft_streams", "") == 0 })
	resp, err := d.ask(t.Context(), "cluster", "")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), `"draining"`) {
		t.Errorf("after the drain: %s %s", resp.Status, body)
	}
}

// Two hundred look at one instance: one watch, and all are told. Streams have limits of
// their own, and take no place of a request.
func TestTwoHundredListeners(t *testing.T) {
	t.Parallel()
	const most = 256 // of one caller
	d := member(t, clustertest.Namespace(t), "a", options{api: func(c *httpapi.Config) { c.MaxInFlight = 4 * most }})
	d.Publish(membertest.Waits)
	d.Start("waits", "one", "c")
	listeners := make([]*listener, most)
	for i := range listeners {
		listeners[i] = d.listen("instance:one", "")
		listeners[i].want("instance")
	}
	if n := d.hub.Followed(); n != 1 {
		t.Errorf("%d instances are followed", n)
	}
	if n := d.counts("weft_streams", ""); n != most {
		t.Errorf("%v streams", n)
	}
	resp, err := d.ask(t.Context(), "cluster", "")
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("one too many: %s", resp.Status)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(body), `"busy"`) {
		t.Errorf("one too many: %s", body)
	}
	d.Event("go", "c", nil)
	for _, l := range listeners {
		l.until("Finished")
	}
	for _, l := range listeners {
		l.Close()
	}
	polltest.Eventually(t, "nothing is followed", func() bool { return d.hub.Followed() == 0 && d.counts("weft_streams", "") == 0 })
	if n := d.counts("weft_streams_ended_total", "client"); n != most {
		t.Errorf("%v ended by the client", n)
	}
}

// Each instance that is looked at is a watch in etcd and reads: there are as many as may
// be, and one caller does not get all of them.
func TestAsManyInstancesAreFollowedAsMayBe(t *testing.T) {
	t.Parallel()
	key := func(name string) (string, auth.KeyEntry) {
		text, entry, err := auth.NewKey(name, auth.Viewer, nil)
		if err != nil {
			t.Fatal(err)
		}
		return "Authorization: Bearer " + text, entry
	}
	a, first := key("a")
	b, second := key("b")
	c, third := key("c")
	path := filepath.Join(t.TempDir(), "keys")
	raw, err := yaml.Marshal([]auth.KeyEntry{first, second, third})
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d := member(t, clustertest.Namespace(t), "n", options{hub: func(c *live.Config) { c.MaxInstances = 8 },
		api: func(c *httpapi.Config) { c.Auth = &auth.Authenticator{Keys: keys} }})
	some := func(from, to int) string {
		var topics []string
		for i := from; i < to; i++ {
			topics = append(topics, fmt.Sprintf("instance:i%d", i))
		}
		return strings.Join(topics, ",")
	}
	refused := func(topics, who, what string) {
		t.Helper()
		resp, err := d.ask(t.Context(), topics, "", who)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%s: %s", what, resp.Status) // its body is a stream, which does not end
		}
		if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "8 in all, 4 of one caller") {
			t.Errorf("%s: %s", what, body)
		}
	}
	refused("instances:def:a", c, "a list, which counts as 16, of a caller who has none")
	l := d.listen(some(0, 4), "", a)
	refused(some(4, 5), a, "a fifth of one caller")
	other := d.listen(some(0, 6), "", b) // four of them are followed already
	if n := d.hub.Followed(); n != 6 {
		t.Errorf("%d are followed", n)
	}
	refused(some(6, 10), b, "more than are left")
	if n := d.hub.Followed(); n != 6 {
		t.Errorf("%d are followed after a refusal", n)
	}
	l.Close()
	other.Close()
	polltest.Eventually(t, "nothing is followed", func() bool { return d.hub.Followed() == 0 })
	d.listen(some(4, 8), "", a)
	d.listen(some(0, 4), "", b)
	refused(some(8, 9), c, "a ninth, of a caller who has none")
	if n := d.hub.Followed(); n != 8 {
		t.Errorf("%d are followed", n)
	}
}

// With as many streams as may be, requests find their places.
func TestStreamsTakeNoPlaceOfRequests(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{api: func(c *httpapi.Config) { c.MaxInFlight = 1 }})
	l := d.listen("cluster", "")
	l.want("cluster")
	for range 3 {
		resp, err := d.http.Get(d.base + "/api/v1/nodes")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("beside a stream: %s", resp.Status)
		}
	}
}

// Who does not read is cut off, and keeps nobody else waiting.
func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{api: func(c *httpapi.Config) { c.BodyTimeout = time.Second }})
	for i := range 90 {
		d.Publish(fmt.Sprintf("id: large-%d\ndescription: %q\nroot:\n  - writeLine: x\n", i, strings.Repeat("x", 4000)))
	}
	quick := d.listen("definitions", "")
	quick.want("definitions")
	address := strings.TrimPrefix(d.base, "http://")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	// 90 definitions that changed since revision 1 are some 400 kB.
	if _, err := fmt.Fprintf(conn, "GET /api/v1/stream?topics=definitions&after=1 HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it listens", func() bool { return d.counts("weft_streams", "") == 2 })
	d.Publish(membertest.Waits)
	quick.want("definitions")
	polltest.Eventually(t, "it is cut off", func() bool { return d.counts("weft_streams_ended_total", "slow") == 1 })
	if n := d.counts("weft_streams", ""); n != 1 {
		t.Errorf("%v streams are left", n)
	}
}

// With TLS a stream is one of HTTP/2, where the time for a write ends a stream also while
// nothing is written.
func TestAStreamOfHTTP2Lasts(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{tls: true, api: func(c *httpapi.Config) {
		c.BodyTimeout, c.RequestTimeout = time.Second, time.Second
	}})
	d.Publish(membertest.Waits)
	l := d.listen("instance:one,cluster", "")
	if l.resp.ProtoMajor != 2 {
		t.Fatalf("it is %s", l.resp.Proto)
	}
	l.want("instance")
	l.want("cluster")
	idle := time.NewTimer(3 * time.Second)
	defer idle.Stop()
	for quiet := false; !quiet; {
		select {
		case e, ok := <-l.events:
			if !ok || e.name != "cluster" { // the node writes its own record again when it gets to it
				t.Fatalf("while nothing happens: %v, %t", e, ok)
			}
		case <-idle.C:
			quiet = true
		}
	}
	d.Start("waits", "one", "c")
	l.until("Suspended")
}

// deaf is a client of etcd whose watches of instances never begin, or break at once.
type deaf struct {
	clientv3.Watcher
	breaks bool
}

func (w deaf) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if !strings.Contains(key, "/instance/") {
		return w.Watcher.Watch(ctx, key, opts...)
	}
	never := make(chan clientv3.WatchResponse)
	if w.breaks {
		close(never)
	}
	return never
}

func TestASweepStandsBehindTheWatch(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]bool{"it tells nothing": false, "it breaks": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := member(t, clustertest.Namespace(t), "a", options{hub: func(c *live.Config) { c.Sweep = 200 * time.Millisecond }},
				func(c *membertest.Config) {
					c.Session = func(c *cluster.Config) { c.Client.Watcher = deaf{c.Client.Watcher, breaks} }
				})
			d.Publish(membertest.Waits)
			l := d.listen("instance:one", "")
			l.want("instance")
			d.Start("waits", "one", "c")
			l.until("Suspended")
			d.Event("go", "c", nil)
			l.until("Finished")
		})
	}
}

// Who comes later is told what is there then, and not what was seen for those who were
// there before.
func TestWhoComesLaterIsToldWhatIsThere(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{hub: func(c *live.Config) { c.Sweep = time.Hour }},
		func(c *membertest.Config) {
			c.Session = func(c *cluster.Config) { c.Client.Watcher = deaf{c.Client.Watcher, false} }
		})
	d.Publish(membertest.Waits)
	first := d.listen("instance:one", "")
	first.want("instance")
	d.Start("waits", "one", "c")
	for _, after := range []string{"", first.last} {
		if e := d.listen("instance:one", after).want("instance"); e.field("instance", "subStatus") != "Suspended" {
			t.Errorf("after %q: %v", after, e)
		}
	}
	first.until("Suspended")
}

// An instance may be large: what is told of it is not, and has no secret.
func TestWhatIsToldIsBoundedAndRedacted(t *testing.T) {
	t.Parallel()
	kept, err := secrets.New(map[string]string{"password": "hunter2-hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	d := member(t, clustertest.Namespace(t), "a", options{api: func(c *httpapi.Config) { c.Secrets = func() *secrets.Set { return kept } }})
	var many strings.Builder
	many.WriteString("id: many\nroot:\n  - parallel:\n")
	for i := range 50 {
		fmt.Fprintf(&many, "      - event: e%d\n", i)
	}
	d.Publish(many.String())
	if _, err := d.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "many", InstanceID: "one", CorrelationID: "hunter2-hunter2",
		Name: "<script>\nevent: bye\n\ndata: {}", Input: map[string]any{"large": strings.Repeat("x", 500_000)}}); err != nil {
		t.Fatal(err)
	}
	l := d.listen("instance:one", "")
	e := l.want("instance")
	raw, err := json.Marshal(e.data)
	if err != nil || len(raw) > 16<<10 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if e.field("instance", "bookmarksLeft") != 30.0 || strings.Contains(string(raw), "hunter2") || !strings.Contains(fmt.Sprint(e.field("instance", "name")), "event: bye") {
		t.Errorf("%s", raw)
	}
}

func TestWhatIsNoStreamIsRefused(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", options{})
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("instance:i%d", i)
	}
	for _, c := range []struct{ topics, after, says string }{
		{"", "", "topics says what"},
		{"cluster,", "", "topics says what"},
		{"clusters", "", "there is no topic"},
		{"instance", "", "there is no topic"},
		{"instance:a%20b", "", "instance id"},
		{"cluster:x", "", "there is no topic"},
		{"instances:state:faulted", "", "there is no word"},
		{"instances", "", "there is no topic"},
		{"instances:status:faulty,cluster", "", "faulty,cluster"}, // it goes on to the end
		{"instances:def:a&topics=instances:def:a", "", "twice"},
		{"cluster,definitions,cluster", "", "twice"},
		{strings.Join(many, ","), "", "more than 100"},
		{"cluster&limit=3", "", "no query parameter"},
		{"cluster,definitions", "1.2.3", "no position"},
		{"cluster", "-1", "no position"},
		{"cluster", "x", "no position"},
		{"cluster", strings.Repeat("9", 40), "no position"},
		{"cluster,definitions", "1.", "no position"},
	} {
		resp, err := d.ask(t.Context(), c.topics, c.after)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(body), c.says) {
			t.Errorf("%s after %q: %s %s", c.topics, c.after, resp.Status, body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, d.base+"/api/v1/stream?topics=cluster", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := d.http.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v %v", resp, err)
	}
	resp.Body.Close()
}
