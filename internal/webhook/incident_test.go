package webhook_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// goesOn has an incident and waits on.
const goesOn = `
id: goes-on
options: {incidents: ContinueWithIncidents}
inputs: {why: string}
root:
  - parallel:
      - - fault: {message: "${{ inputs.why }}"}
      - - event: go
`

// marks is goesOn under another name.
const marks = `
id: marks
labels:
  customer: acme
options: {incidents: ContinueWithIncidents}
root:
  - parallel:
      - - fault: {message: all before it was looked at}
      - - event: go
`

// everyItem has an incident for each of many items, many in one commit.
const everyItem = `
id: every-item
options: {incidents: ContinueWithIncidents}
inputs: {items: array}
root:
  - parallelForEach: ${{ inputs.items }}
    body:
      - fault: {message: again}
`

// of is how often a receiver got events of one instance, each id once.
func (r *receiver) of(instance string) int {
	n := 0
	for _, about := range r.ids() {
		if about == instance {
			n++
		}
	}
	return n
}

// notes tells how many commits left a note of their incidents.
func (m *member) notes() int64 {
	m.T.Helper()
	resp, err := clustertest.Shared(m.T).Client(m.T).Get(m.T.Context(), m.Root+"incident/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		m.T.Fatal(err)
	}
	return resp.Count
}

func (m *member) breaks(definition, id, why string) {
	m.T.Helper()
	if _, err := m.Starts.Execute(m.T.Context(), runtime.StartRequest{DefinitionID: definition, InstanceID: id, Input: map[string]any{"why": why}}); err != nil {
		m.T.Fatal(err)
	}
}

// An incident is told where it is wanted, also of an instance that goes on, with what it says
// but for what is secret.
func TestIncidentsAreTold(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(goesOn, faults, quick, marks)
	m.breaks("goes-on", "before", "early") // nobody is told of that
	if n := m.notes(); n != 0 {
		t.Errorf("%d notes that nobody wants", n)
	}
	all, one, none, labels := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	on := []webhook.Kind{webhook.Incident}
	m.put(webhook.Definition{Name: "all", URL: all.server.URL, On: on})
	m.put(webhook.Definition{Name: "one", URL: one.server.URL, On: []webhook.Kind{webhook.Incident, webhook.Faulted}, Definitions: []string{"faults"}})
	m.put(webhook.Definition{Name: "none", URL: none.server.URL, On: on, Definitions: []string{"quick", "marks"}})
	m.put(webhook.Definition{Name: "labels", URL: labels.server.URL, On: on, Labels: map[string]string{"customer": "acme"}})
	m.breaks("goes-on", "one", "it costs "+secretText)
	m.Start("faults", "two", "")
	m.Start("quick", "three", "")
	g := all.about("one")
	e := g.event
	if e.Type != "instance.incident" || e.Data.Incident == nil || e.Data.Incident.New != 1 || e.Data.Incident.Commit != 1 || len(e.Data.Incident.Last) != 1 ||
		!strings.Contains(e.Data.Incident.Last[0].Message, "it costs") || e.Data.Incident.Last[0].ActivityType != "Elsa.Fault" || !e.Timestamp.Equal(e.Data.Incident.Last[0].Time) ||
		e.Data.Instance == nil || e.Data.Instance.Status != workflow.StatusRunning || e.Data.Instance.Incidents != 1 || e.Data.Instance.DefinitionID != "goes-on" || e.Data.Revision == 0 {
		t.Errorf("%s", g.body)
	}
	if strings.Contains(string(g.body), secretText) || !strings.Contains(string(g.body), "***signs***") {
		t.Errorf("it tells a secret: %s", g.body)
	}
	if g.header.Get("webhook-signature") != signature([]byte(secretText), g) {
		t.Errorf("%v", g.header)
	}
	all.about("two")
	polltest.Eventually(t, "both events of the fault come", func() bool { return one.of("two") == 2 })
	var types []string
	for _, g := range one.all() {
		types = append(types, g.event.Type)
	}
	if slices.Sort(types); !slices.Equal(types, []string{"instance.faulted", "instance.incident"}) {
		t.Errorf("told %v", types)
	}
	// It goes on, and a commit without a new incident tells nothing.
	if _, err := m.Events.Send(t.Context(), workflow.EventStimulus("go", nil), nil); err != nil {
		t.Fatal(err)
	}
	m.breaks("goes-on", "last", "late")
	// Each tells in the order of the commits: who was told of this one has looked at all others.
	if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "marks", InstanceID: "mark"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		r    *receiver
		want []string
	}{
		{"all", all, []string{"last", "mark", "one", "two"}},
		{"none", none, []string{"mark"}},
		{"labels", labels, []string{"mark"}},
	} {
		c.r.about("mark")
		polltest.Eventually(t, c.name+" has told all", func() bool { return len(c.r.ids()) >= len(c.want) })
		if got := slices.Sorted(maps.Values(c.r.ids())); !slices.Equal(got, c.want) {
			t.Errorf("%s was told of %v, want %v", c.name, got, c.want)
		}
	}
	m.kill()
	etcd := clustertest.Shared(t).Client(t)
	for _, prefix := range []string{"incident", "webhook"} {
		resp, err := etcd.Get(t.Context(), m.Root+prefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			if strings.Contains(string(kv.Value), secretText) || strings.Contains(string(kv.Value), "it costs") {
				t.Errorf("%s holds %s", kv.Key, kv.Value)
			}
		}
	}
	check, err := m.Store.Upkeep.Fsck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Bad() {
		if f.Rule != "instance-without-cause" { // of the branch that has its incident
			t.Errorf("%+v", f)
		}
	}
}

// Where no webhook wants incidents, one costs no request and no key; where one does, no request
// either.
func TestIncidentsCostNoRequests(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(faults)
	var requests atomic.Int64
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Touches(m.Root + "instance/i") {
			requests.Add(1)
		}
		return false
	}})
	n := 0
	cost := func() int64 {
		t.Helper()
		n++
		before := requests.Load()
		m.Start("faults", fmt.Sprintf("i%d", n), "")
		return requests.Load() - before
	}
	without := cost()
	if without == 0 {
		t.Fatal("nothing is counted")
	}
	r := newReceiver(t)
	m.put(webhook.Definition{Name: "other", URL: r.server.URL, On: []webhook.Kind{webhook.Incident}, Definitions: []string{"quick"}})
	if got := cost(); got != without || m.notes() != 0 {
		t.Errorf("%d requests and %d notes, without webhooks %d", got, m.notes(), without)
	}
	m.put(webhook.Definition{Name: "all", URL: r.server.URL, On: []webhook.Kind{webhook.Incident}})
	if got := cost(); got != without || m.notes() != 1 {
		t.Errorf("%d requests and %d notes, without webhooks %d", got, m.notes(), without)
	}
	r.about("i3")
}

// The node that tells a webhook ends between a commit and its request: the other one tells.
func TestAnIncidentIsToldByAnotherNode(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	nodes := map[string]*member{"a": newMember(t, name, "a"), "b": newMember(t, name, "b")}
	polltest.Eventually(t, "both see both", func() bool {
		return len(nodes["a"].Session.Members()) == 2 && len(nodes["b"].Session.Members()) == 2
	})
	nodes["a"].Publish(goesOn)
	r := newReceiver(t)
	nodes["a"].put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Incident}, Definitions: []string{"goes-on"}})
	teller := nodes[nodes["a"].status("w").Node]
	other := nodes["a"]
	if teller == other {
		other = nodes["b"]
	}
	other.breaks("goes-on", "told", "first")
	r.about("told")
	teller.kill() // what tells ends, and the node commits on
	const n = 50
	for i := range n {
		teller.breaks("goes-on", fmt.Sprintf("i%d", i), "then")
	}
	teller.Leave()
	polltest.Eventually(t, "all is told", func() bool { return len(r.ids()) == n+1 })
	for _, g := range r.all() {
		if in := g.event.Data.Incident; in == nil || in.New != 1 || len(in.Last) != 1 {
			t.Errorf("%s", g.body)
		}
	}
}

// Each retry that fails again is told once, though the instance remembers the last incidents
// only, and the receiver was away; so are those of one commit, together.
func TestAThousandIncidents(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(faults, everyItem)
	r := newReceiver(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	m.put(webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Incident}})
	m.Start("faults", "one", "")
	n := testsize.Of(1000, 150)
	for range n - 1 {
		if _, err := m.Commands.Retry(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "every-item", InstanceID: "items", Input: map[string]any{"items": make([]any, n)}}); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it is away", func() bool { return m.status("w").Waiting > 0 })
	r.answers(nil)
	polltest.Eventually(t, "all is told", func() bool { return r.of("one") == n && r.of("items") > 0 && m.status("w").Waiting == 0 })
	commits, most := map[int64]bool{}, 0
	for _, g := range r.all() {
		in := g.event.Data.Incident
		switch {
		case in == nil:
			t.Fatalf("%s", g.body)
		case g.event.Data.InstanceID == "one":
			if commits[in.Commit] = true; in.New != 1 || len(in.Last) != 1 || g.event.Data.Instance.Commit != in.Commit {
				t.Fatalf("%s", g.body)
			}
		case in.New < 1 || in.New > 50 || len(in.Last) != min(in.New, 10) || len(g.body) > 16<<10:
			t.Fatalf("%s", g.body)
		default: // so many activities may take more than one commit
			most = max(most, in.New)
		}
	}
	if len(commits) != n || most != 50 {
		t.Errorf("of %d commits, and at most %d at once", len(commits), most)
	}
}

// etcd has compacted the commits while nobody told: the notes are there, and what the
// instance still knows of each.
// Not parallel: it compacts the etcd of all tests.
func TestIncidentsThatEtcdHasForgotten(t *testing.T) {
	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(faults)
	r := newReceiver(t)
	w := webhook.Definition{Name: "w", URL: r.server.URL, On: []webhook.Kind{webhook.Incident}, Paused: true}
	m.put(w)
	m.Start("faults", "one", "")
	const n = 60
	for range n - 1 {
		if _, err := m.Commands.Retry(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	revision, _, err := m.Store.Reader.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clustertest.Shared(t).Client(t).Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	w.Paused = false
	m.put(w)
	polltest.Eventually(t, "all is told", func() bool { return r.of("one") == n })
	told := map[string]bool{}
	for _, g := range r.all() {
		in := g.event.Data.Incident
		if in == nil || in.New != 1 || in.Commit == 0 || len(in.Last) > 1 {
			t.Fatalf("%s", g.body)
		}
		for _, i := range in.Last {
			told[i.Time.String()] = true
		}
	}
	if len(told) != 50 { // as many as the instance remembers
		t.Errorf("%d different incidents", len(told))
	}
}
