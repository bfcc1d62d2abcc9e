package remote_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// played is a cluster that answers what a test wants, by the end of the path.
func played(t *testing.T, answers map[string]string, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, text := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, text)
				return
			}
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code": "not-found", "status": 404, "detail": "nothing"}`)
	}))
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// doctorWants runs it, wants the lines, and wants it to end with what is to be done.
func (u *user) doctorWants(code int, do string, lines []string, args ...string) {
	u.t.Helper()
	got := u.wants(code, "*", append([]string{"doctor"}, args...)...)
	for _, line := range lines {
		if !strings.Contains(got.out, line) {
			u.t.Errorf("no line %q in\n%s", line, got.out)
		}
	}
	told := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if last := told[len(told)-1]; !strings.HasPrefix(last, do) || strings.Count(got.out, "do this now") > 1 || (code == 0) != (last == "nothing to do") {
		u.t.Errorf("it does not end with %q:\n%s", do, got.out)
	}
	if code == 0 && strings.Contains(got.out, "bad ") {
		u.t.Errorf("something is bad, and it ends with 0:\n%s", got.out)
	}
}

const wellEtcd = `{"at": "2026-11-29T07:00:00Z", "state": "ok", "seconds": 0.0012, "members": [{"name": "e1", "answers": true, "version": "3.7.3", "leader": true}], "troubles": []}`

func TestDoctor(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/livez": `{"nodeId": "n1", "status": "ok"}`, "/readyz": `{"nodeId": "n1", "status": "ready"}`, "/cluster/etcd": wellEtcd, "/timers": `{"items": [{"dueAt": "2026-11-29T06:59:50Z"}]}`,
		"/nodes":   `{"items": [{"nodeId": "n1", "self": true, "version": "v1", "clockSkewSeconds": 0.01}, {"nodeId": "n2", "version": "v2", "clockSkewSeconds": -7.5}]}`,
		"/meters":  `{"items": [{"nodeId": "n1", "store": {"inUse": 1048576, "quota": 4294967296}}, {"nodeId": "n2", "store": {"inUse": 3221225472, "quota": 4294967296, "level": 1, "text": "etcd is nearly full: x", "advice": "y"}}], "unasked": []}`,
		"/balance": `{"difference": 0}`,
	}
	s := played(t, answers, true)
	u := newUser(t)
	ca := u.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	u.doctorWants(1, "do this now: y", []string{
		"ok   server       n1 answers in ", "ok   TLS          TLS 1.3, the certificate is of example.com", "ok   ready ", "ok   credentials ", "ok   n1           works\n",
		"bad  n2           its clock and those of the others are -7.5 s apart: it fires no timers\n", "ok   versions     v1, v2: an upgrade that goes on, or one that was left\n",
		"ok   etcd         answers in 1.2 ms, 1 of 1 members answer, the leader is e1, version 3.7.3\n", "ok   balancer     16 requests were all answered by one node",
		"bad  store        etcd is nearly full: x\n", "ok   promises ", "ok   work         there is none", "ok   timers       none is late\n", "ok   balance ",
	}, "--server", s.URL, "--cacert", ca)
	u.wants(1, "false n2,store do this now: y\n", "doctor", "--server", s.URL, "--cacert", ca, "--jq", `"\(.ok) \([.items[] | select(.ok | not) | .what] | join(",")) \(.do)"`)
	u.doctorWants(1, "do this now: start a node, or name one with --server", []string{"bad  server ", "--cacert names the authorities"}, "--server", s.URL)

	answers = map[string]string{
		"/livez": answers["/livez"], "/readyz": `{"nodeId": "n1", "status": "ready", "shedding": true}`, "/cluster/etcd": wellEtcd, "/balance": `{"difference": 2}`,
		"/nodes":  `{"items": [{"nodeId": "n1", "self": true, "version": "v1"}, {"nodeId": "n3", "version": "v1", "address": "10.0.0.3:8080"}, {"nodeId": "n4", "version": "v1", "lateSeconds": 11}, {"nodeId": "n5", "version": "v1", "draining": true}]}`,
		"/meters": `{"items": [{"nodeId": "n1", "unreadFiles": ["auth-keys-file"], "notRunnable": 3, "commits": [{"name": "breach", "total": 2}]}], "unasked": ["n3", "n4", "n5"]}`,
		"/timers": `{"items": [{"dueAt": "2026-11-29T06:50:00Z", "instanceId": "i-1"}]}`,
	}
	plain := played(t, answers, false)
	u.doctorWants(1, "do this now: follow docs/runbooks/balance-difference.md", []string{
		"ok   TLS          none, and none is needed\n", "bad  ready        it refused requests", "bad  n3           it could not be asked what it does, at 10.0.0.3:8080\n",
		"bad  n1           it cannot take the file of auth-keys-file as it is", "bad  n4           nothing was heard of it for 11 s", "bad  timers       one that was due 2026-11-29T06:50:00Z has not fired for 10m00s: i-1",
		"bad  balance      2 accepted commands have vanished", "bad  promises     commits were refused although their lock held, since the start of n1 (2): this must not happen\n",
		"ok   work         not looked at: not all nodes told",
	}, "--server", plain.URL)
	for meters, line := range map[string]string{
		`{"items": [{"nodeId": "n1", "notRunnable": 3}, {"nodeId": "n2", "notRunnable": 2}], "unasked": []}`: "bad  work         each live node leaves 2 or more instances to others",
		`{"items": [{"nodeId": "n1", "notRunnable": 3}, {"nodeId": "n2", "notRunnable": 0}], "unasked": []}`: "ok   work         there is none that no live node can run\n",
	} {
		answers := maps.Clone(answers)
		answers["/meters"], answers["/balance"] = meters, `{"difference": 2}`
		u.doctorWants(1, "do this now: follow docs/runbooks/balance-difference.md", []string{line, "ok   promises     no commit"}, "--server", played(t, answers, false).URL)
	}
}

// In an upgrade some nodes do not know what is asked of them, and that is nothing wrong; neither is a server of before.
func TestDoctorTakesNodesOfOtherVersions(t *testing.T) {
	t.Parallel()
	old := map[string]string{
		"/livez": `{"nodeId": "n1", "status": "ok"}`, "/readyz": `{"nodeId": "n1", "status": "ready"}`, "/balance": `{}`, "/timers": `{"items": []}`,
		"/nodes": `{"items": [{"nodeId": "n1", "self": true, "version": "v1"}, {"nodeId": "n2", "version": "v2"}]}`,
	}
	u := newUser(t)
	u.doctorWants(0, "nothing to do", []string{"ok   etcd         not looked at", "ok   store        not looked at", "ok   n1 ", "ok   n2 "}, "--server", played(t, old, false).URL)
	mixed := maps.Clone(old)
	mixed["/cluster/etcd"], mixed["/meters"] = wellEtcd, `{"items": [{"nodeId": "n1"}], "unasked": ["n2"]}`
	u.doctorWants(0, "nothing to do", []string{"ok   n2           works; its version, v2, does not tell more\n", "ok   versions     v1, v2"}, "--server", played(t, mixed, false).URL)
}

// A cluster that was just started for the first time is well: somebody counts soon.
func TestDoctorWaitsForTheFirstBalance(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for path, answer := range map[string]string{
			"/livez": `{"nodeId": "n1", "status": "ok"}`, "/readyz": `{"nodeId": "n1", "status": "ready"}`, "/cluster/etcd": wellEtcd, "/timers": `{"items": []}`, "/nodes": `{"items": []}`,
		} {
			if strings.HasSuffix(r.URL.Path, path) {
				_, _ = io.WriteString(w, answer)
				return
			}
		}
		if !strings.HasSuffix(r.URL.Path, "/balance") {
			_, _ = io.WriteString(w, `{}`)
			return
		}
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"status": 503, "code": "unavailable", "title": "Service Unavailable", "requestId": "r", "detail": "no node has counted the balance yet; one does so a second or two after"}`)
			return
		}
		_, _ = io.WriteString(w, `{"difference": 0}`)
	}))
	t.Cleanup(server.Close)
	got := newUser(t, "WEFT_SERVER="+server.URL).weft("doctor")
	if !strings.Contains(got.out, "ok   balance ") || asked.Load() < 2 {
		t.Errorf("asked %d times: %s%s", asked.Load(), got.out, got.err)
	}
}

// Behind a balancer each node has to be reached, and all requests have to be answered.
func TestDoctorAsksBehindTheBalancer(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/readyz": `{"nodeId": "n1", "status": "ready"}`, "/cluster/etcd": wellEtcd, "/timers": `{"items": []}`, "/balance": `{}`,
		"/nodes":  `{"items": [{"nodeId": "n1", "self": true, "version": "v1"}, {"nodeId": "n2", "version": "v1"}, {"nodeId": "n3", "version": "v1"}]}`,
		"/meters": `{"items": [{"nodeId": "n1"}, {"nodeId": "n2"}, {"nodeId": "n3"}], "unasked": []}`,
	}
	for name, c := range map[string]struct {
		behind []string // who answers, in turn; "": nobody
		code   int
		do     string
		line   string
	}{
		"all":    {[]string{"n1", "n2", "n3"}, 0, "nothing to do", "ok   balancer     it reaches all 3 nodes\n"},
		"one":    {[]string{"n2"}, 0, "nothing to do", "ok   balancer     24 requests were all answered by one node"},
		"two":    {[]string{"n1", "n3"}, 1, "do this now: see why the balancer leaves out n2", "bad  balancer     of 24 requests none was answered by n2\n"},
		"broken": {[]string{"n1", ""}, 1, "do this now: see that the balancer asks /readyz", "requests got no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turn atomic.Int64
			nodes := played(t, answers, false)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/livez" {
					resp, err := http.Get(nodes.URL + r.URL.Path)
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					w.WriteHeader(resp.StatusCode)
					_, _ = io.Copy(w, resp.Body)
					return
				}
				id := c.behind[int(turn.Add(1)-1)%len(c.behind)]
				if id == "" {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				_, _ = fmt.Fprintf(w, `{"nodeId": %q, "status": "live"}`, id)
			}))
			t.Cleanup(s.Close)
			newUser(t).doctorWants(c.code, c.do, []string{c.line}, "--server", s.URL)
		})
	}
}

// Credentials are bad only if a node says so.
func TestDoctorKnowsBadCredentials(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{401: "bad  credentials ", 403: "bad  credentials ", 503: "bad  nodes        which nodes there are is not known: this node has no session", 500: "bad  nodes "} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/livez" || r.URL.Path == "/readyz" {
				_, _ = io.WriteString(w, `{"nodeId": "n1", "status": "ready"}`)
				return
			}
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"code": "x", "status": %d, "detail": "this node has no session with etcd"}`, status)
		}))
		got := newUser(t).wants(1, "*", "doctor", "--server", s.URL)
		s.Close()
		if !strings.Contains(got.out, want) || strings.Contains(got.out, "credentials") != (status < 500) {
			t.Errorf("%d:\n%s", status, got.out)
		}
	}
}

// Each state of a real etcd under a real node is told, and what it says can be done.
func TestDoctorOfARealEtcd(t *testing.T) {
	t.Parallel()
	// watched is a node over etcd, behind a proxy, and more members that it is told.
	watched := func(t *testing.T, more ...string) (*user, *clustertest.Etcd, *clustertest.Proxy) {
		etcd := clustertest.Start(t)
		proxy := etcd.Proxy(t)
		n := nodetest.Start(t, node.Config{NodeID: "n1", EtcdEndpoints: append([]string{proxy.Endpoint()}, more...)})
		return newUser(t, "WEFT_SERVER="+nodetest.Address(n)), etcd, proxy
	}
	t.Run("well, then hung, then well", func(t *testing.T) {
		t.Parallel()
		u, _, proxy := watched(t)
		well := func() bool { return u.weft("doctor").code == 0 }
		polltest.Eventually(t, "all is well", well)
		u.doctorWants(0, "nothing to do", []string{"ok   etcd         answers in ", " ms, 1 of 1 members answer, the leader is 127.0.0.1:", "version 3.7", "ok   n1           works\n", "ok   timers ", "ok   balance "})
		proxy.BlackHole()
		u.doctorWants(1, "do this now: bring back most members of etcd", []string{"bad  etcd         etcd does not answer a read", "ok   credentials ", "bad  ready "})
		polltest.Eventually(t, "the session is lost, and the node is not ready", func() bool { return strings.Contains(u.weft("doctor").out, "bad  ready        not ready: ") })
		u.doctorWants(1, "do this now: bring back most members of etcd", []string{"ok   credentials ", "bad  nodes "})
		if got := u.weft("cluster", "status"); got.code != 1 || !strings.Contains(got.out+got.err, "etcd does not answer") {
			t.Errorf("status: %+v", got)
		}
		proxy.Heal()
		polltest.Eventually(t, "all is well again", well)
	})
	t.Run("an alarm", func(t *testing.T) {
		t.Parallel()
		u, etcd, _ := watched(t)
		client := etcd.Client(t)
		told, err := client.Status(t.Context(), etcd.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		raise := &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: told.Header.MemberId, Alarm: etcdserverpb.AlarmType_NOSPACE}
		if _, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Alarm(t.Context(), raise); err != nil {
			t.Fatal(err)
		}
		u.doctorWants(1, "do this now: run weft store repair", []string{"bad  etcd         etcd has raised the alarm NOSPACE"})
	})
	t.Run("a member is gone", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone := l.Addr().String()
		l.Close()
		u, _, _ := watched(t, "http://"+gone)
		u.doctorWants(1, "do this now: bring them back, or replace them", []string{"bad  etcd         1 of 2 members of etcd do not answer: " + gone + "\n", "ok   etcd         answers in ", "1 of 2 members answer", "ok   ready        it takes work\n"})
		if got := u.weft("cluster", "status"); got.code != 0 || !strings.Contains(got.out, "etcd is degraded: 1 of 2 members of etcd do not answer: "+gone) {
			t.Errorf("status: %+v", got)
		}
		if got := u.weft("cluster", "status", "-o", "json"); got.code != 0 || !strings.Contains(got.err, "etcd is degraded: ") || strings.Contains(got.out, "degraded") {
			t.Errorf("status as JSON: %+v", got)
		}
	})
	t.Run("no leader", func(t *testing.T) {
		t.Parallel()
		u, etcd, _ := watched(t)
		// A member that never comes: one of two is no majority.
		if _, err := etcd.Client(t).MemberAdd(t.Context(), []string{"http://127.0.0.1:1"}); err != nil {
			t.Fatal(err)
		}
		polltest.Eventually(t, "it has no leader", func() bool {
			return strings.Contains(u.weft("doctor").out, "members of etcd that know no leader: 127.0.0.1:")
		})
		u.doctorWants(1, "do this now: bring back most members of etcd", []string{"bad  etcd         etcd does not answer a read", "bad  etcd         members of etcd that know no leader"})
	})
}

// The commits of all nodes are added, and the hottest instances of all come first.
func TestTopAddsUpWhatNodesDo(t *testing.T) {
	t.Parallel()
	s := played(t, map[string]string{
		"/balance": `{"at": "2026-11-24T01:00:00Z"}`, "/stats": `{"items": []}`, "/tasks": `{"items": []}`, "/timers": `{"items": []}`, "/queue": `{"items": []}`, "/locks": `{"items": []}`,
		"/nodes": `{"items": [{"nodeId": "n1"}, {"nodeId": "n2"}, {"nodeId": "n3", "lateSeconds": 9.5, "draining": true}]}`,
		"/meters": `{"items": [
			{"nodeId": "n1", "commits": [{"name": "committed", "perSecond": 30}, {"name": "fenced", "perSecond": 9}], "commitCommands": {"mean": 2}, "commitSeconds": {"mean": 0.004}, "hot": [{"instanceId": "a", "perSecond": 3}], "working": 4, "locks": 5, "inFlight": 6},
			{"nodeId": "n2", "commits": [{"name": "committed", "perSecond": 10}], "commitCommands": {"mean": 6}, "commitSeconds": {"mean": 0.008}, "hot": [{"instanceId": "b", "perSecond": 7}, {"instanceId": "c", "perSecond": 2}, {"instanceId": "d", "perSecond": 1}]}],
			"unasked": ["n3"]}`,
	}, false)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out shown
	ended := make(chan said, 1)
	u := newUser(t)
	go func() {
		ended <- u.until(ctx, &out, &bytes.Buffer{}, "top", "--server", s.URL)
	}()
	for _, text := range []string{"\ncommits    40.0/s, 3.0 commands each, in 5.0 ms\n", "\nhot        b 7.0/s on n2, a 3.0/s on n1, c 2.0/s on n2\n", "n1    working  0    30.0/s   4      5      6 ", "n3    late 9s  0    -        -      -      - "} {
		polltest.Eventually(t, text, func() bool { return out.has(text) })
	}
	interrupt()
	if got := <-ended; got.code != 0 {
		t.Errorf("%d %s", got.code, got.err)
	}
}
