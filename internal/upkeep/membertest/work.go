package membertest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Waits is a definition that waits for an event of its correlation.
const Waits = `
id: waits
root:
  - event: go
  - writeLine: went
`

// Single runs one instance at a time, which ends at an event of its correlation.
const Single = `
id: single
options:
  activation: Singleton
root:
  - event: begin
    trigger: true
  - writeLine: began
  - event: end
`

// Publish publishes definitions in YAML.
func (m *Member) Publish(sources ...string) {
	m.T.Helper()
	for _, src := range sources {
		if _, err := m.Catalog.Publish(m.T.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true}); err != nil {
			m.T.Fatal(err)
		}
	}
}

// Start starts an instance and gives it after its first burst.
func (m *Member) Start(def, id, correlation string) workflow.Instance {
	m.T.Helper()
	res, err := m.Starts.Execute(m.T.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, CorrelationID: correlation})
	if err != nil {
		m.T.Fatal(err)
	}
	return res.Instance
}

// Event sends an event.
func (m *Member) Event(name, correlation string, key *runtime.Key) runtime.SendResult {
	m.T.Helper()
	st := workflow.EventStimulus(name, nil)
	st.CorrelationID = correlation
	res, err := m.Events.Send(m.T.Context(), st, key)
	if err != nil {
		m.T.Fatal(err)
	}
	return res
}

// Finished waits until an instance is.
func (m *Member) Finished(id string) workflow.Instance {
	m.T.Helper()
	in, err := m.Inspector.WaitInstance(m.T.Context(), id, time.Minute)
	if err != nil {
		m.T.Fatal(err)
	}
	if in.Status != workflow.StatusFinished {
		m.T.Fatalf("instance %s is still %s", id, in.SubStatus)
	}
	return in
}

// Lines are what an instance wrote.
func (m *Member) Lines(id string) []string {
	m.T.Helper()
	page, err := m.Inspector.Journal(m.T.Context(), id, "", 500)
	if err != nil {
		m.T.Fatal(err)
	}
	var out []string
	for _, e := range page.Items {
		for _, it := range e.Items {
			if it.Event == "WriteLine" {
				out = append(out, it.Text)
			}
		}
	}
	return out
}

// InstancesOf gives all instances of a definition, oldest first.
func (m *Member) InstancesOf(def string) []workflow.Instance {
	m.T.Helper()
	page, err := m.Inspector.Instances(m.T.Context(), runtime.InstanceFilter{DefinitionID: def}, runtime.Paging{Limit: 500})
	if err != nil {
		m.T.Fatal(err)
	}
	return page.Items
}

// Queued is what waits in the bookmark queue.
func (m *Member) Queued() []runtime.QueueItem {
	m.T.Helper()
	page, err := m.Inspector.Queue(m.T.Context(), runtime.QueueFilter{}, "", 500)
	if err != nil {
		m.T.Fatal(err)
	}
	return page.Items
}

// Dead are the dead letters.
func (m *Member) Dead() []runtime.DeadLetter {
	m.T.Helper()
	page, err := m.Inspector.DeadLetters(m.T.Context(), runtime.DeadLetterFilter{}, "", 500)
	if err != nil {
		m.T.Fatal(err)
	}
	return page.Items
}

// NothingDead holds that nothing was given up.
func (m *Member) NothingDead() {
	m.T.Helper()
	for _, d := range m.Dead() {
		m.T.Errorf("dead letter %s: %s", d.Reason, d.Detail)
	}
}

// Running is the one instance of a definition that is suspended, once there is one.
func (m *Member) Running(def string) string {
	m.T.Helper()
	id := ""
	polltest.Eventually(m.T, "one instance of "+def+" waits for its end", func() bool {
		id = ""
		n := 0
		for _, in := range m.InstancesOf(def) {
			if in.SubStatus == workflow.Suspended {
				id = in.ID
				n++
			}
		}
		return n == 1
	})
	return id
}

// EndOf sends the event that ends an instance of [Single].
func (m *Member) EndOf(id string) {
	m.T.Helper()
	st := workflow.EventStimulus("end", nil)
	st.InstanceID = id
	if _, err := m.Events.Send(m.T.Context(), st, nil); err != nil {
		m.T.Fatal(err)
	}
}

// GatedBy waits until n events wait behind gates.
func (m *Member) GatedBy(n int) {
	m.T.Helper()
	polltest.Eventually(m.T, fmt.Sprint(n, " events wait behind the gate"), func() bool {
		waiting := 0
		for _, i := range m.Queued() {
			if i.Gated != "" {
				waiting++
			}
		}
		return waiting == n
	})
}

// Sound holds that all keys of the cluster fit each other.
func (m *Member) Sound() {
	m.T.Helper()
	check, err := m.Store.Upkeep.WithSchedules(catalog.SchedulesOf(m.Catalog).Lasting).Fsck(m.T.Context())
	if err != nil {
		m.T.Fatal(err)
	}
	for _, f := range check.Bad() {
		m.T.Errorf("fsck: %+v", f)
	}
}

// AcceptList accepts an event for what look found, as a call with more targets than
// one transaction takes does, and as late as it may.
func (m *Member) AcceptList(id string, st workflow.Stimulus, look *etcdstore.Match) {
	m.T.Helper()
	send := store.Send{ID: id, Stimulus: st, CreatedAt: time.Now().UTC()}
	for i := range look.Bookmarks {
		send.Targets = append(send.Targets, store.Target{Bookmark: &look.Bookmarks[i]})
	}
	for i := range look.Triggers {
		send.Targets = append(send.Targets, store.Target{Trigger: &look.Triggers[i]})
	}
	if err := m.Store.Stimuli.PutSend(m.T.Context(), send, nil); err != nil {
		m.T.Fatal(err)
	}
}

// LookFor looks whom a stimulus is for.
func (m *Member) LookFor(st workflow.Stimulus) *etcdstore.Match {
	m.T.Helper()
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		m.T.Fatal(err)
	}
	look, err := m.Store.Stimuli.Match(m.T.Context(), st, hash, "")
	if err != nil {
		m.T.Fatal(err)
	}
	return look
}

// Junk are values that nobody reads again: no JSON, JSON of another shape, half a
// frame, and a frame that grows to more than is read.
func Junk() map[string]string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	bomb := w.EncodeAll(bytes.Repeat([]byte{'x'}, 65<<20), nil)
	return map[string]string{"text": "junk\x00", "shape": `["junk"]`, "half": string(bomb[:len(bomb)/2]), "bomb": string(bomb)}
}
