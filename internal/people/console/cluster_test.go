package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answering is a console over an API that answers so, by path below /api/v1; what it has no
// answer for is 404, and an answer that begins with a number has this status.
func answering(t *testing.T, now time.Time, answers map[string]string) *Console {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answers[strings.TrimPrefix(r.URL.Path, "/api/v1")]
		status := http.StatusNotFound
		switch {
		case r.URL.Path == "/openapi.json":
			status, text = http.StatusOK, `{"paths": {"/api/v1/definitions/refresh": {"post": {"operationId": "refreshDefinitions"}}}}`
		case strings.HasPrefix(text, "503 "):
			status, text = http.StatusServiceUnavailable, text[4:]
		case text != "":
			status = http.StatusOK
		default:
			text = `{"title": "Not Found"}`
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	})
	c, err := New(Config{API: api, Open: true, NodeID: "one", Secrets: [][]byte{make([]byte, 32)}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Console) look(t *testing.T, path string) (status int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

const (
	twoNodes = `{"items": [
		{"nodeId": "one", "address": "10.0.0.1:1", "version": "2", "epoch": 3, "startedAt": "2026-11-23T08:00:00Z", "seenAt": "2026-11-23T09:59:58Z", "self": true, "clockSkewSeconds": 0.004},
		{"nodeId": "two", "address": "10.0.0.2:1", "version": "2", "epoch": 1, "startedAt": "2026-11-23T08:00:00Z", "seenAt": "2026-11-23T09:59:58Z", "draining": true, "clockSkewSeconds": -3.5},
		{"nodeId": "old", "address": "10.0.0.3:1", "version": "1", "epoch": 1, "startedAt": "2026-11-23T08:00:00Z", "seenAt": "2026-11-23T09:59:48Z", "lateSeconds": 12}]}`
	twoMeters = `{"items": [
		{"nodeId": "one", "at": "2026-11-23T10:00:00Z", "seconds": 5, "commits": [{"name": "committed", "total": 100, "perSecond": 12.5}, {"name": "breach", "total": 1, "perSecond": 0.2}],
			"commitSeconds": {"count": 50, "mean": 0.004}, "commitCommands": {"count": 30, "mean": 1}, "writeBatch": {"count": 10, "mean": 4},
			"working": 7, "locks": 5, "inFlight": 11, "takeovers": 2, "sessionSince": "2026-11-23T09:00:00Z", "hot": [{"instanceId": "busy", "perSecond": 9.5}],
			"store": {"inUse": 1048576, "allocated": 12582912, "quota": 2147483648, "level": 1, "text": "etcd is nearly full: x", "advice": "y"}},
		{"nodeId": "two", "at": "2026-11-23T10:00:00Z", "seconds": 0, "commits": [{"name": "committed", "total": 20, "perSecond": 0}], "commitCommands": {"count": 10, "mean": 5},
			"working": 3, "locks": 2, "drainsUntil": "2026-11-23T10:00:28Z", "sessionSince": "2026-11-23T09:00:00Z", "hot": [{"instanceId": "busier", "perSecond": 20}]}],
		"unasked": ["old"]}`
	someLocks = `{"items": [{"name": "order-1", "scope": "instance", "holder": "one", "fence": 42, "since": "2026-11-23T09:59:55.8Z",
		"waiters": [{"nodeId": "two", "since": "2026-11-23T09:59:56.1Z"}, {"nodeId": "old", "since": null}]}], "revision": 77}`
	someBalance = `{"accepted": 110, "applied": 100, "mailboxes": 4, "queue": 3, "deadLetters": 1, "difference": 2, "missing": [{"key": "queue/<b>x", "revision": 70}],
		"revision": 75, "at": "2026-11-23T09:59:50Z", "since": "2026-11-20T00:00:00Z", "because": "the cluster began then", "nodeId": "two"}`
)

var atTen = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

// What nodes tell is on the page of the cluster, what they do not tell is said to be unknown and
// never 0, and what is wrong is marked.
func TestTheClusterPageShowsWhatNodesTell(t *testing.T) {
	t.Parallel()
	c := answering(t, atTen, map[string]string{"/nodes": twoNodes, "/cluster/meters": twoMeters, "/locks": someLocks, "/cluster/balance": someBalance,
		"/cluster/etcd": `{"state": "degraded", "troubles": [{"state": "degraded", "text": "1 of 3 members of etcd do not answer: <e3>", "do": "bring it back"}]}`})
	status, text := c.look(t, "/console/cluster")
	if status != http.StatusOK {
		t.Fatalf("%d\n%s", status, text)
	}
	for _, want := range []string{
		"<dt>Commits a second</dt><dd>12.7</dd>", "<dt>Commands a commit</dt><dd>2.0</dd>", "<dt>A commit takes</dt><dd>4 ms</dd>", "<dt>Writes that share a proposal to etcd</dt><dd>4.0</dd>",
		`<dt>Reads that share one</dt><dd><span class="quiet">–</span></dd>`, `value="12582912"`, "12.0 MiB of 2.0 GiB, 0.6 %", "etcd is nearly full: x. Do this: y.", "etcd is degraded: 1 of 3 members of etcd do not answer: &lt;e3&gt;. What to do: bring it back", `<span class="status faulted">late</span>`, "It has not renewed its record for 12.0 s",
		`<td class="number">120</td>`, `<b class="bad">breach</b>`, "this must never happen", "of 2 nodes 1 have rates yet",
		"Did not tell what they do: old.", "It still works 3 instances and holds 2 locks; it ends within 28.0 s.", "Its clock is 3.5 s slow", "<dt>Clock is off by</dt><dd>none</dd>",
		`<dt>Clock is off by</dt><dd><span class="quiet">not known</span></dd>`, `<dt>What it does</dt><dd class="quiet">not known</dd>`,
		"<dt>Requests in flight</dt><dd>11</dd>", "<dt>Locks held</dt><dd>5</dd>", "<dt>Instances at work</dt><dd>7</dd>", "1 h 0 min ago</time>",
		"<td>two</td><td class=\"number\">20.0</td>", "<td>one</td><td class=\"number\">9.5</td>",
		`<b class="bad">2 vanished</b>`, "queue/&lt;b&gt;x", "It goes no further back because the cluster began then",
		`<li>two, for <time datetime="2026-11-23T09:59:56.1Z" title="2026-11-23 09:59:56Z">3.9 s</time></li><li>old</li>`, "4.2 s ago</time>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Index(text, "busier") > strings.Index(text, "busy<") {
		t.Error("the hottest instance is not the first")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The page is there also when nothing was counted yet, no node has rates, and there is no lock.
func TestTheClusterPageOfAClusterThatHasJustBegun(t *testing.T) {
	t.Parallel()
	c := answering(t, atTen, map[string]string{
		"/nodes": `{"items": [{"nodeId": "one", "self": true}]}`, "/cluster/meters": `{"items": [{"nodeId": "one", "at": "2026-11-23T10:00:00Z"}], "unasked": []}`,
		"/locks": `{"items": []}`, "/cluster/balance": `503 {"title": "Service Unavailable", "detail": "no node has counted the balance yet"}`,
	})
	status, text := c.look(t, "/console/cluster")
	if status != http.StatusOK {
		t.Fatalf("%d\n%s", status, text)
	}
	for _, want := range []string{"not known yet", "No commit was made", "No instance commits once a second", "no node has counted the balance yet", "No lock is held."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(text, "<meter") {
		t.Error("it shows a size of etcd that nobody knows")
	}
}

// Many hot instances are counted, and not all shown.
func TestTheHottestAreShown(t *testing.T) {
	t.Parallel()
	const most = 10 // that are shown, and that a node names
	var hot []string
	for i := range 3 * most {
		hot = append(hot, fmt.Sprintf(`{"instanceId": "i-%02d", "perSecond": %d}`, i, i+1))
	}
	c := answering(t, atTen, map[string]string{
		"/nodes": `{"items": []}`, "/cluster/meters": `{"items": [{"nodeId": "one", "hot": [` + strings.Join(hot, ",") + `]}]}`, "/locks": `{"items": []}`, "/cluster/balance": someBalance,
	})
	_, text := c.look(t, "/console/cluster")
	if n := strings.Count(text, ">i-"); n != most || !strings.Contains(text, ">i-29<") || !strings.Contains(text, "At least 20 more commit once a second") {
		t.Errorf("%d are shown\n%s", n, text)
	}
	for named, want := range map[int]string{most - 1: "", most: "Others may commit once a second or more: a node names 10 at most."} {
		c := answering(t, atTen, map[string]string{
			"/nodes": `{"items": []}`, "/cluster/meters": `{"items": [{"nodeId": "one", "hot": [` + strings.Join(hot[:named], ",") + `]}]}`, "/locks": `{"items": []}`, "/cluster/balance": someBalance,
		})
		if _, text := c.look(t, "/console/cluster"); !strings.Contains(text, want) || want == "" && (strings.Contains(text, "Others may") || strings.Contains(text, "more commit")) {
			t.Errorf("a node names %d, and the page does not say %q\n%s", named, want, text)
		}
	}
}

// A refresh that another node does already says so in plain words, and one that found bad
// definitions names them.
func TestWhatBecameOfARefresh(t *testing.T) {
	t.Parallel()
	for answer, wants := range map[string][]string{
		`{"status": "AlreadyInProgress", "holder": "two", "refreshed": [], "notRefreshed": [], "revision": 0}`: {"Nothing was done here: node two does the same at the moment.", `href="/console/cluster">Back`},
		`{"status": "AlreadyInProgress", "refreshed": [], "notRefreshed": [{"id": "a", "reason": "x"}]}`:       {"Nothing was done here: another node does the same"},
		`{"status": "Completed", "refreshed": ["a", "b"], "notRefreshed": [{"id": "<i>", "reason": "it has <b>no</b> root"}], "revision": 41}`: {
			"The triggers of 2 definitions were indexed again, 1 could not be.", "<b>&lt;i&gt;</b>", "it has &lt;b&gt;no&lt;/b&gt; root", `href="/console/served?revision=41"`, "1 of 2 nodes does not serve it yet."},
		`{"status": "Completed", "refreshed": [], "notRefreshed": []}`: {"The triggers of 0 definitions were indexed again."},
	} {
		c := answering(t, atTen, map[string]string{"/definitions/refresh": answer, "/nodes": `{"items": [{"nodeId": "one", "catalogRevision": 40}, {"nodeId": "two", "catalogRevision": 41}]}`})
		r := httptest.NewRequest(http.MethodPost, "/console/do/refreshDefinitions", strings.NewReader("back=/console/cluster"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		for _, want := range wants {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d, no %q in\n%s", answer, w.Code, want, w.Body)
			}
		}
	}
}

// Which nodes serve definitions is told by the revision of the address, and an address without
// one is refused.
func TestWhoServesDefinitions(t *testing.T) {
	t.Parallel()
	c := answering(t, atTen, map[string]string{"/nodes": `{"items": [{"nodeId": "one", "catalogRevision": 40}, {"nodeId": "two", "catalogRevision": 41}]}`})
	if _, text := c.look(t, "/console/served?revision=41"); !strings.Contains(text, "1 of 2 nodes does not serve it yet.") || !strings.Contains(text, `<td>one</td><td><b class="status executing">not yet</b>`) || !strings.Contains(text, `data-every="1"`) {
		t.Errorf("one is behind:\n%s", text)
	}
	if _, text := c.look(t, "/console/served?revision=40"); !strings.Contains(text, "Every node serves it.") || strings.Contains(text, "data-every") {
		t.Errorf("nobody is behind, and nothing more comes:\n%s", text)
	}
	for revision, every := range map[string]bool{"40": false, "41": true} {
		if _, text := c.look(t, "/console/definitions/d/flip?after=2&revision="+revision); strings.Contains(text, `data-every="1"`) != every {
			t.Errorf("a publication at revision %s:\n%s", revision, text)
		}
	}
	for _, query := range []string{"", "?revision=", "?revision=x", "?revision=-1", "?revision=99999999999999999999"} {
		if status, text := c.look(t, "/console/served"+query); status != http.StatusBadRequest || !strings.Contains(text, "names no revision") {
			t.Errorf("%q: %d", query, status)
		}
	}
}
