package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const quick = `
id: quick
root:
  - writeLine: done
`

const faults = `
id: faults
root:
  - fault: {message: no good}
`

const labelled = `
id: labelled
inputs: {customer: string}
labels:
  customer: ${{ inputs.customer }}
root:
  - writeLine: done
`

func signature(key []byte, g told) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", g.id(), g.header.Get("webhook-timestamp"), g.body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestWhatEndsIsTold(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick, faults, labelled, membertest.Waits)
	ends, breaks, acme, letters := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	m.Start("quick", "before", "") // nobody is told of that
	m.put(webhook.Definition{Name: "ends", URL: ends.server.URL + "/?token=of-the-url", On: []webhook.Kind{webhook.Ended}, Secrets: []string{"signs", "next"}})
	m.put(webhook.Definition{Name: "breaks", URL: breaks.server.URL, On: []webhook.Kind{webhook.Faulted}, Definitions: []string{"faults", "quick"}, Secrets: []string{"standard"}})
	m.put(webhook.Definition{Name: "acme", URL: acme.server.URL, On: []webhook.Kind{webhook.Ended, webhook.Faulted}, Labels: map[string]string{"customer": "acme"}})
	m.put(webhook.Definition{Name: "letters", URL: letters.server.URL, On: []webhook.Kind{webhook.DeadLetter}})

	if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "quick", InstanceID: "one", CorrelationID: "c", Name: secretText, Input: map[string]any{"x": "of the input"}}); err != nil {
		t.Fatal(err)
	}
	m.Start("faults", "two", "")
	m.Start("waits", "three", "three")
	if _, err := m.Commands.Cancel(t.Context(), "three", nil); err != nil {
		t.Fatal(err)
	}
	for id, customer := range map[string]string{"four": "acme", "five": "other"} {
		if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "labelled", InstanceID: id, Input: map[string]any{"customer": customer}}); err != nil {
			t.Fatal(err)
		}
	}
	bury(t, clustertest.Shared(t).Client(t), m.Root, "letter@1")

	g := ends.about("one")
	if g.event.Type != "instance.finished" || g.event.Data.Webhook != "ends" || g.event.Data.Cluster != "test" || g.event.Data.Revision == 0 || g.event.Data.Instance == nil ||
		g.event.Data.Instance.DefinitionID != "quick" || g.event.Data.Instance.CorrelationID != "c" || g.event.Data.Instance.Commit != 1 || g.event.Timestamp.IsZero() {
		t.Errorf("%s", g.body)
	}
	if strings.Contains(string(g.body), secretText) || strings.Contains(string(g.body), "of the input") || !strings.Contains(string(g.body), "***signs***") {
		t.Errorf("it tells more than it may: %s", g.body)
	}
	if want := signature([]byte(secretText), g) + " " + signature([]byte(otherText), g); g.header.Get("webhook-signature") != want || g.header.Get("User-Agent") != "weft" {
		t.Errorf("%v, want the signature %s", g.header, want)
	}
	if g := ends.about("three"); g.event.Type != "instance.cancelled" {
		t.Errorf("%s", g.body)
	}
	g = breaks.about("two")
	standard, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil || g.header.Get("webhook-signature") != signature(standard, g) || g.event.Type != "instance.faulted" || g.event.Data.Instance.Incident == "" || g.event.Data.Instance.Incidents != 1 {
		t.Errorf("%v %s", g.header, g.body)
	}
	acme.about("four")
	if g := letters.about("of-letter@1"); g.event.Type != "deadLetter" || g.event.Data.DeadLetter == nil || g.event.Data.DeadLetter.Reason != "expired" || g.event.Data.DeadLetter.ID != "letter@1" {
		t.Errorf("%s", g.body)
	}
	polltest.Eventually(t, "all is told", func() bool { return len(ends.ids()) == 5 })
	for r, want := range map[*receiver][]string{ends: {"five", "four", "one", "three", "two"}, breaks: {"two"}, acme: {"four"}, letters: {"of-letter@1"}} {
		if got := slices.Sorted(maps.Values(r.ids())); !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
	}
	m.kill()
	if text := m.log.String(); strings.Contains(text, secretText) || strings.Contains(text, "of-the-url") {
		t.Errorf("the log says %s", text)
	}
}

// A receiver that takes nothing for a while is told all of it later, with the ids of the
// first attempts, whatever it answered.
func TestAReceiverThatIsAwayIsToldLater(t *testing.T) {
	t.Parallel()
	elsewhere := newReceiver(t)
	for name, broken := range map[string]http.HandlerFunc{
		"it fails": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"it sends elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.server.URL, http.StatusTemporaryRedirect)
		},
		"it is too slow":       func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"it closes":            func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"it answers very much": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway); flood(w) },
		"it answers a huge 404": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 300<<10))
			w.WriteHeader(http.StatusNotFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) { c.Timeout = 200 * time.Millisecond })
			m.Publish(quick)
			r := newReceiver(t)
			r.answers(broken)
			m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
			const n = 120
			for i := range n {
				m.Start("quick", fmt.Sprintf("i%d", i), "")
			}
			polltest.Eventually(t, "what is not taken is put by, and says why", func() bool {
				s := m.status("w")
				return s.Waiting > 0 && s.Next != nil && s.Next.Last != "" && s.Next.Events == nil
			})
			polltest.Eventually(t, "it is tried again", func() bool { return len(r.all()) > 9 })
			before := r.ids()
			r.answers(nil)
			polltest.Eventually(t, "all is taken", func() bool { return len(r.ids()) == n && m.status("w").Waiting == 0 })
			after := r.ids()
			for id, instance := range before {
				if after[id] != instance {
					t.Errorf("the id %s was of %s, and is of %s", id, instance, after[id])
				}
			}
			if s := m.status("w"); s.Failed != 0 || s.Next != nil {
				t.Errorf("%d letters are given up, %+v is next", s.Failed, s.Next)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(elsewhere.all()); n > 0 {
			t.Errorf("a redirect was followed %d times", n)
		}
	})
}

// flood writes until nobody reads any more.
func flood(w http.ResponseWriter) {
	chunk := make([]byte, 64<<10)
	for range 1000 {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// What one event makes a receiver refuse keeps no other from it, and is given up in the end.
func TestWhatIsNeverTakenIsGivenUp(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) { c.GiveUp = 300 * time.Millisecond })
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, req *http.Request) {
		for _, g := range r.all() {
			if g.event.Data.InstanceID == "poison" && g.id() == req.Header.Get("webhook-id") {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
	})
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	m.Start("quick", "poison", "")
	r.about("poison")
	for i := range 20 {
		m.Start("quick", fmt.Sprintf("i%d", i), "")
	}
	polltest.Eventually(t, "the others are taken, and it is given up", func() bool {
		s := m.status("w")
		return len(r.ids()) == 21 && s.Waiting == 0 && s.Failed == 1
	})
	failed, end, err := m.hooks.Failed(t.Context(), "w", "", 10)
	if err != nil || end.Next != "" || len(failed) != 1 || len(failed[0].Events) != 1 || failed[0].Events[0].Subject != "poison" || !strings.Contains(failed[0].Last, "400") {
		t.Fatalf("%+v %+v %v", failed, end, err)
	}
	// It can be tried again, and be forgotten.
	if n, err := m.hooks.Again(t.Context(), "w", false); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	again := len(r.all())
	m.Start("quick", "more", "") // wakes it
	polltest.Eventually(t, "it is tried again and given up", func() bool { return len(r.all()) > again+1 && m.status("w").Failed == 1 })
	if n, err := m.hooks.Again(t.Context(), "w", true); err != nil || n != 1 || m.status("w").Failed != 0 {
		t.Error(n, err, m.status("w"))
	}
}

// What a receiver refuses for good delays no other event, however long it waits before it tries
// that again, and however many it refuses.
func TestWhatIsRefusedDelaysNothing(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) {
		c.Backoff = []time.Duration{200 * time.Millisecond, time.Hour}
		c.MaxLetters = 3
	})
	m.Publish(quick)
	r := newReceiver(t)
	var status atomic.Int64 // of what is refused
	status.Store(http.StatusBadRequest)
	r.answers(func(w http.ResponseWriter, req *http.Request) {
		for _, g := range r.all() {
			if strings.HasPrefix(g.event.Data.InstanceID, "poison") && g.id() == req.Header.Get("webhook-id") {
				w.WriteHeader(int(status.Load()))
				return
			}
		}
	})
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	good := 0
	next := func() {
		t.Helper()
		good++
		id := fmt.Sprintf("good%d", good)
		m.Start("quick", id, "")
		r.about(id)
	}
	// One alone does not make the receiver one that is away.
	m.Start("quick", "poison", "")
	r.about("poison")
	next()
	if text := m.said(); strings.Contains(text, "takes nothing") {
		t.Errorf("one was refused, and: %s", text)
	}
	// Many refusals do not either: it answers. Many failures do, and what comes then is tried all the same.
	for i := range 20 {
		id := fmt.Sprintf("poison%d", i)
		m.Start("quick", id, "")
		r.about(id)
	}
	next()
	if text := m.said(); strings.Contains(text, "takes nothing") {
		t.Errorf("many were refused, and: %s", text)
	}
	status.Store(http.StatusInternalServerError)
	failing := 0
	polltest.Within(t, time.Minute, "it counts as away", func() bool {
		m.Start("quick", fmt.Sprintf("poison-%d", failing), "")
		failing++
		return strings.Contains(m.said(), "takes nothing")
	})
	next()
	status.Store(http.StatusUnprocessableEntity)
	// More than may wait are refused: what is refused again is given up, and the rest goes on.
	for i := range 10 {
		m.Start("quick", fmt.Sprintf("poisons%d", i), "")
		next()
	}
	polltest.Within(t, time.Minute, "some is given up", func() bool { return m.status("w").Failed > 0 })
	next()
}

// A receiver that is away, and of which as much waits as may, is told all when it is back.
func TestAFullWebhookGoesOn(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) {
		c.Backoff = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond}
		c.MaxLetters = 2
	})
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	n := 0
	polltest.Within(t, time.Minute, "as much waits as may", func() bool {
		m.Start("quick", fmt.Sprintf("i%d", n), "")
		n++
		return m.status("w").Waiting >= 2
	})
	for range 30 {
		m.Start("quick", fmt.Sprintf("i%d", n), "")
		n++
	}
	most := m.status("w").Waiting
	r.answers(nil)
	polltest.Within(t, time.Minute, "all is taken", func() bool { return len(r.ids()) == n && m.status("w").Waiting == 0 })
	if most > 20 {
		t.Errorf("%d letters waited", most)
	}
}

// The node that tells a webhook ends in the middle; the other one goes on.
func TestAnotherNodeGoesOn(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	nodes := map[string]*member{"a": newMember(t, name, "a"), "b": newMember(t, name, "b")}
	m := nodes["a"]
	polltest.Eventually(t, "both see both", func() bool {
		return len(m.Session.Members()) == 2 && len(nodes["b"].Session.Members()) == 2
	})
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		if len(r.all())%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	teller := nodes[m.status("w").Node]
	other := nodes["a"]
	if teller == other {
		other = nodes["b"]
	}
	const n = 300
	for i := range n {
		other.Start("quick", fmt.Sprintf("i%d", i), "")
		if i == n/2 {
			polltest.Eventually(t, "some is told", func() bool { return len(r.all()) > 10 })
			teller.kill()
			teller.Leave()
		}
	}
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) == n && other.status("w").Waiting == 0 })
	if s := other.status("w"); s.Node != other.Session.NodeID() {
		t.Errorf("told by %s", s.Node)
	}
}

func TestWhatIsDeletedIsNotTold(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	w := webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}}
	m.put(w)
	for i := range 30 {
		m.Start("quick", fmt.Sprintf("old%d", i), "")
	}
	polltest.Eventually(t, "something waits", func() bool { return m.status("w").Waiting > 0 })
	if err := m.hooks.Delete(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.hooks.Get(t.Context(), "w"); workflow.CodeOf(err) != workflow.CodeWebhookNotFound {
		t.Errorf("got %v", err)
	}
	if err := m.hooks.Delete(t.Context(), "w"); workflow.CodeOf(err) != workflow.CodeWebhookNotFound {
		t.Errorf("got %v", err)
	}
	// Another one of this name hears of nothing that was before it.
	fresh := newReceiver(t)
	w.URL = fresh.server.URL
	m.put(w)
	m.Start("quick", "new", "")
	fresh.about("new")
	polltest.Eventually(t, "nothing waits", func() bool { return m.status("w").Waiting == 0 })
	if got := fresh.ids(); len(got) != 1 {
		t.Errorf("told of %v", got)
	}
	check, err := m.Store.Upkeep.Fsck(t.Context())
	if err != nil || len(check.Bad()) > 0 {
		t.Error(check.Bad(), err)
	}
}

// endMany puts the entries of so many instances that ended, a hundred at once.
func endMany(t *testing.T, m *member, n int) {
	t.Helper()
	etcd := clustertest.Shared(t).Client(t)
	for at := 0; at < n; at += 100 {
		var ops []clientv3.Op
		for i := at; i < at+100; i++ {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("%sindex/Finished/many/1/%013d/i%d", m.Root, i, i), ""))
		}
		if _, err := etcd.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// atOnce is how many end at once: ten thousand, or some pages of them.
func atOnce() int { return testsize.Of(10_000, 2000) }

// Very many that end at once are told some at a time, by one node, and no commit knows of it.
func TestTenThousandThatEndAtOnce(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}, Definitions: []string{"many"}})
	n := atOnce()
	writes := m.writes()
	endMany(t, m, n)
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) == n })
	if r.most > 8 {
		t.Errorf("%d requests at once", r.most)
	}
	if got := len(r.all()); got != n {
		t.Errorf("%d requests for %d events", got, n)
	}
	t.Logf("%d transactions that write", writes.Load())
	if writes.Load() > int64(n*3/100) {
		t.Errorf("%d transactions", writes.Load())
	}
	// The node that commits asks etcd for nothing about webhooks.
	m.Publish(quick)
	var touched atomic.Int64
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Touches(m.Root + "webhook") {
			touched.Add(1)
		}
		return false
	}})
	m.Start("quick", "one", "")
	if touched.Load() > 0 {
		t.Error("a commit touches keys of webhooks")
	}
}

// They end while the receiver is away: all of them are put by, in few transactions.
func TestTenThousandThatNobodyTakes(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	w := webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}, Definitions: []string{"many"}, Paused: true}
	m.put(w)
	n := atOnce()
	endMany(t, m, n)
	writes := m.writes()
	w.Paused = false
	m.put(w)
	polltest.Eventually(t, "all is put by", func() bool { return m.status("w").Waiting >= int64(n/100) })
	if writes.Load() > int64(n/100) {
		t.Errorf("%d transactions", writes.Load())
	}
	r.answers(nil)
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) == n && m.status("w").Waiting == 0 })
}

// etcd has compacted what came while nobody told: what is there is told.
// Not parallel: it compacts the etcd of all tests.
func TestWhatEtcdHasForgottenIsListed(t *testing.T) {
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick)
	r := newReceiver(t)
	w := webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}}
	m.put(w)
	m.Start("quick", "told", "")
	r.about("told")
	w.Paused = true
	m.put(w)
	for i := range 30 {
		m.Start("quick", fmt.Sprintf("i%d", i), "")
	}
	revision, _, err := m.Store.Reader.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clustertest.Shared(t).Client(t).Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	m.Start("quick", "after", "")
	w.Paused = false
	m.put(w)
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) >= 32 })
	m.Start("quick", "last", "")
	r.about("last")
	for _, g := range r.all() {
		if g.event.Data.Instance == nil {
			t.Errorf("without its instance: %s", g.body)
		}
	}
	if got := slices.Sorted(maps.Values(r.ids())); len(slices.Compact(got)) != 33 {
		t.Errorf("told of %v", got)
	}
}

// An instance that faults, is retried and faults again in one burst is told twice.
func TestTheSecondFaultIsTold(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(faults)
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Faulted}})
	m.Start("faults", "one", "")
	r.about("one")
	if _, err := m.Commands.Retry(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it is told again", func() bool { return len(r.ids()) == 2 })
}

// Where etcd is restored from a backup, what came after that is done again, in the same commits of the instances, at
// other revisions. A receiver hears of it under the ids that it knows.
func TestWhatIsDoneAgainAfterARestoreHasItsID(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick, faults)
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "ends", URL: r.server.URL, On: []webhook.Kind{webhook.Ended, webhook.Incident}})
	m.put(webhook.Definition{Name: "letters", URL: r.server.URL, On: []webhook.Kind{webhook.DeadLetter}})
	m.Start("quick", "one", "")
	m.Start("faults", "two", "")
	etcd := clustertest.Shared(t).Client(t)
	bury(t, etcd, m.Root, "lost@1")
	const events = 4 // an end, an end by a fault and its incident, a dead letter
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) == events })
	for _, prefix := range []string{"index/Finished/", "index/Faulted/", "incident/", "dead/"} {
		resp, err := etcd.Get(t.Context(), m.Root+prefix, clientv3.WithPrefix())
		if err != nil || len(resp.Kvs) != 1 {
			t.Fatalf("%s: %v, %v", prefix, resp, err)
		}
		if _, err := etcd.Put(t.Context(), string(resp.Kvs[0].Key), string(resp.Kvs[0].Value)); err != nil {
			t.Fatal(err)
		}
	}
	polltest.Eventually(t, "all is told again", func() bool { return len(r.all()) >= 2*events })
	if ids := r.ids(); len(ids) != events {
		t.Errorf("%d ids of %d events: %v", len(ids), events, ids)
	}
}

// What cannot be read is told as far as its key says, and stops nothing behind it.
func TestWhatIsDamagedStopsNothing(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.DeadLetter}})
	etcd := clustertest.Shared(t).Client(t)
	bury(t, etcd, m.Root, "first@1")
	if _, err := etcd.Put(t.Context(), m.Root+"dead/junk@1", "{junk"); err != nil {
		t.Fatal(err)
	}
	bury(t, etcd, m.Root, "last@1")
	r.about("of-first@1")
	r.about("of-last@1")
	polltest.Eventually(t, "what is damaged is told too", func() bool {
		return slices.ContainsFunc(r.all(), func(g told) bool { return g.event.Data.DeadLetter != nil && g.event.Data.DeadLetter.ID == "junk@1" })
	})
	if n := len(r.ids()); n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestWhoIsGoneIsPaused(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	w := webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}}
	m.put(w)
	m.Start("quick", "one", "")
	polltest.Eventually(t, "it is paused", func() bool { s := m.status("w"); return s.Paused && strings.Contains(s.Because, "410") })
	r.answers(nil)
	m.put(w)
	polltest.Eventually(t, "it is told again", func() bool { return len(r.all()) >= 2 })
}

// Nothing is sent to a private address, by whatever name.
func TestPrivateAddressesAreNotTold(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) { c.Client = outgoing.NewClient(false); c.GiveUp = 200 * time.Millisecond })
	m.Publish(quick)
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "w", URL: strings.Replace(r.server.URL, "127.0.0.1", "localhost", 1), On: []webhook.Kind{webhook.Ended}})
	m.Start("quick", "one", "")
	polltest.Eventually(t, "it is given up", func() bool { return m.status("w").Failed == 1 })
	failed, _, err := m.hooks.Failed(t.Context(), "w", "", 10)
	if err != nil || len(failed) != 1 || !strings.Contains(failed[0].Last, "private") || strings.Contains(failed[0].Last, "127.0.0.1") || len(r.all()) > 0 {
		t.Errorf("%+v %v %d", failed, err, len(r.all()))
	}
}

func TestWhatIsNoWebhookIsRefused(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	good := func() webhook.Definition {
		return webhook.Definition{Name: "w", URL: "https://example.com/hook", On: []webhook.Kind{webhook.Ended}, Secrets: []string{"signs"}}
	}
	for name, change := range map[string]func(*webhook.Definition){
		"/url no":        func(d *webhook.Definition) { d.URL = "" },
		"/url ftp":       func(d *webhook.Definition) { d.URL = "ftp://example.com" },
		"/url file":      func(d *webhook.Definition) { d.URL = "file:///etc/passwd" },
		"/url bare":      func(d *webhook.Definition) { d.URL = "example.com/x" },
		"/url opaque":    func(d *webhook.Definition) { d.URL = "https:example.com" },
		"/url host":      func(d *webhook.Definition) { d.URL = "https:///x" },
		"/url user":      func(d *webhook.Definition) { d.URL = "https://a:b@example.com" },
		"/url fragment":  func(d *webhook.Definition) { d.URL = "https://example.com/#x" },
		"/url lines":     func(d *webhook.Definition) { d.URL = "https://example.com/\r\nX: y" },
		"/url long":      func(d *webhook.Definition) { d.URL = "https://example.com/" + strings.Repeat("x", 2048) },
		"/on none":       func(d *webhook.Definition) { d.On = nil },
		"/on/1":          func(d *webhook.Definition) { d.On = []webhook.Kind{webhook.Ended, "started"} },
		"/on/1 twice":    func(d *webhook.Definition) { d.On = []webhook.Kind{webhook.Ended, webhook.Ended} },
		"/on mixed":      func(d *webhook.Definition) { d.On, d.Definitions = []webhook.Kind{webhook.DeadLetter}, []string{"x"} },
		"/definitions/0": func(d *webhook.Definition) { d.Definitions = []string{"../x"} },
		"/definitions/2": func(d *webhook.Definition) { d.Definitions = []string{"x", "y", "x"} },
		"/definitions":   func(d *webhook.Definition) { d.Definitions = strings.Split("abcdefghijklmnopq", "") },
		"/labels":        func(d *webhook.Definition) { d.Labels = map[string]string{"no/name": "x"} },
		"/secrets none":  func(d *webhook.Definition) { d.Secrets = nil },
		"/secrets/0":     func(d *webhook.Definition) { d.Secrets = []string{"unknown"} },
		"/secrets/1":     func(d *webhook.Definition) { d.Secrets = []string{"signs", "signs"} },
		"/secrets many":  func(d *webhook.Definition) { d.Secrets = []string{"signs", "next", "standard"} },
	} {
		d := good()
		change(&d)
		_, _, err := m.hooks.Put(t.Context(), d)
		var e *workflow.Error
		pointer, _, _ := strings.Cut(name, " ")
		if !errors.As(err, &e) || e.Code != workflow.CodeInvalid || len(e.Problems) != 1 || e.Problems[0].Place.Pointer != pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := m.hooks.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	if s, made, err := m.hooks.Put(t.Context(), good()); err != nil || !made || s.URL != "https://example.com/hook" {
		t.Errorf("%v %t %v", s, made, err)
	}
}

// A node that ended while it deleted a webhook leaves letters: the next one of that name
// drops them.
func TestLettersOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick)
	r := newReceiver(t)
	raw, err := etcdstore.Encode(store.WebhookLetter{ID: "left", Webhook: 1, Events: []store.WebhookEvent{{ID: "old", What: "Finished", Subject: "old"}}, At: time.Now()})
	if err == nil {
		_, err = clustertest.Shared(t).Client(t).Put(t.Context(), m.Root+"webhook-due/w/0000000000001/left", string(raw))
	}
	if err != nil {
		t.Fatal(err)
	}
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	m.Start("quick", "new", "")
	r.about("new")
	polltest.Eventually(t, "nothing waits", func() bool { return m.status("w").Waiting == 0 })
	if got := r.ids(); len(got) != 1 {
		t.Errorf("told of %v", got)
	}
}

// A letter that cannot be read does not hide the ones behind it: what is tried next is told.
func TestNextIsToldBehindWhatIsDamaged(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", func(c *webhook.Config) { c.Backoff = []time.Duration{time.Hour} })
	m.Publish(quick)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	m.Start("quick", "one", "")
	polltest.Eventually(t, "it waits", func() bool { return m.status("w").Next != nil })
	was := m.status("w")
	if _, err := clustertest.Shared(t).Client(t).Put(t.Context(), m.Root+"webhook-due/w/000000000000001/junk", "{junk"); err != nil {
		t.Fatal(err)
	}
	if s := m.status("w"); s.Waiting != was.Waiting+1 || s.Next == nil || s.Next.ID != was.Next.ID {
		t.Errorf("%d wait, the next is %+v; before %d and %+v", s.Waiting, s.Next, was.Waiting, was.Next)
	}
}
