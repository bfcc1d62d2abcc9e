package upkeep_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// Versions are those of a definition whose bodies are there.
func (m *member) versions(def string) (out []int) {
	m.T.Helper()
	resp, err := clustertest.Shared(m.T).Client(m.T).Get(m.T.Context(), m.Root+"definition-version/"+def+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		m.T.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		n, err := strconv.Atoi(string(kv.Key[strings.LastIndexByte(string(kv.Key), '/')+1:]))
		if err != nil {
			m.T.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func (m *member) wantVersions(when, def string, want ...int) {
	m.T.Helper()
	if got := m.versions(def); !slices.Equal(got, want) {
		m.T.Errorf("%s there are the versions %v of %s, want %v", when, got, def, want)
	}
}

// round is one round of the retention of versions, by a node that knows nothing yet.
func (m *member) round() {
	m.T.Helper()
	if err := m.Upkeep.PurgeVersionsOnce(m.T.Context(), new(catalog.VersionUsers)); err != nil {
		m.T.Fatal(err)
	}
}

// rounds lets whatever may go go.
func (m *member) rounds(all []*member) {
	m.T.Helper()
	m.round()
	grow(m.T, all, time.Hour)
	m.round()
}

// start starts a version.
func (m *member) start(def, id string, version int) (workflow.Instance, error) {
	res, err := m.Starts.Execute(m.T.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, Version: version})
	return res.Instance, err
}

// manyOf is a version of a definition; some wait, some end, some fault.
func manyOf(id string, n int) string {
	rest := "  - event: go\n  - writeLine: went\n"
	switch {
	case n%5 == 0:
		rest = "  - executeWorkflow: comes-later\n"
	case n%7 == 0:
		rest = ""
	}
	return fmt.Sprintf("id: %s\nroot:\n  - writeLine: v%d\n%s", id, n, rest)
}

// Of hundreds of versions the newest stay and those that an instance needs, whatever
// the wall clocks say; the others go an hour after they were retired.
func TestVersionsThatNothingNeedsGo(t *testing.T) {
	t.Parallel()
	const keep = 20
	last := testsize.Of(230, 60)
	years := new(atomic.Int64)
	c := newCluster(t, 2, retain(retention.Limits{Versions: keep}), func(c *membertest.Config) {
		c.Now = func() time.Time { return time.Now().AddDate(int(years.Load()), 0, 0) }
	})
	m := c[0]
	used := testsize.Of([]int{3, 5, 14, 100, 202}, []int{3, 5, 14, 25, 32}) // waits, faulted, ended, faulted, waits
	for n := 1; n <= last; n++ {
		years.Store(int64(n%3-1) * 10)
		m.Publish(manyOf("many", n))
		if slices.Contains(used, n) {
			m.Start("many", fmt.Sprint("i", n), "")
		}
	}
	all := m.versions("many")
	if len(all) != last {
		t.Fatalf("%d versions", len(all))
	}
	m.round()
	if _, err := c[1].start("many", "late", 4); workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
		t.Errorf("a retired version was started: %v", err)
	}
	if _, err := c[1].Catalog.Source(t.Context(), "many", 4, ""); workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
		t.Errorf("a retired version is shown: %v", err)
	}
	if _, err := c[1].Catalog.PublishVersion(t.Context(), "many", 4); workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
		t.Errorf("a retired version was published: %v", err)
	}
	if _, err := c[1].start("many", "more", 3); err != nil {
		t.Errorf("a version in use cannot be started: %v", err)
	}
	years.Store(20)
	m.round()
	m.wantVersions("before its time", "many", all...)
	grow(t, c, 40*time.Minute)
	m.round()
	m.wantVersions("40 minutes later", "many", all...)
	grow(t, c, 20*time.Minute)
	m.round()
	want := slices.DeleteFunc(all, func(n int) bool { return n <= last-keep && !slices.Contains(used, n) })
	m.wantVersions("an hour later", "many", want...)
	m.Sound()

	// What stayed works, on a node that has never seen the version.
	fresh := newMember(t, strings.TrimSuffix(strings.TrimPrefix(m.Root, "/weft/"), "/"), "fresh")
	m.Publish("id: comes-later\nroot:\n  - writeLine: here\n")
	for _, n := range []int{5, used[3]} {
		if _, err := fresh.Commands.Retry(t.Context(), fmt.Sprint("i", n)); err != nil {
			t.Fatal(err)
		}
	}
	fresh.Event("go", "", nil)
	for _, id := range []string{"i3", "i5", "i14", fmt.Sprint("i", used[3]), fmt.Sprint("i", used[4]), "more"} {
		if in := fresh.Finished(id); in.SubStatus != workflow.Finished {
			t.Errorf("%s is %s: %+v", id, in.SubStatus, in.Incidents)
		}
	}
	// Once their instances are gone, so are they.
	for _, id := range []string{"i3", "i5", "more"} {
		if _, err := m.Commands.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		eventually(t, id+" is gone", func() bool {
			_, err := m.Inspector.Instance(t.Context(), id)
			return workflow.CodeOf(err) == workflow.CodeInstanceNotFound
		})
	}
	m.rounds(c)
	m.wantVersions("without their instances", "many", want[2:]...)
	m.Sound()
}

// A start that was planned when its version was there, and comes when it is retired,
// is refused; of those that were acknowledged each runs.
func TestAStartRacesWithTheEndOfItsVersion(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, retain(retention.Limits{Versions: 1}))
	m := c[0]
	for _, id := range []string{"", "chosen"} {
		def := "planned" + id
		m.Publish(manyOf(def, 1), manyOf(def, 2))
		var once sync.Once
		rule := c[1].Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(call clustertest.Call) bool {
			if id != "" && call.Mutating && call.Touches(m.Root+"lock/") || id == "" && call.Mutating && call.Touches(m.Root+"instance/") {
				once.Do(func() {
					if err := m.Catalog.DeleteVersion(t.Context(), def, 1); err != nil {
						t.Error(err)
					}
				})
			}
			return false
		}})
		in, err := c[1].start(def, id, 1)
		if workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
			t.Errorf("a start that met the end of its version: %+v, %v", in, err)
		}
		rule.Disarm()
		if got := m.InstancesOf(def); len(got) > 0 {
			t.Errorf("it left %+v", got)
		}
	}

	const races = 12
	started := make([][]string, races)
	var deleted atomic.Int64
	for i := range races {
		def := fmt.Sprint("race", i)
		m.Publish(manyOf(def, 1), manyOf(def, 2))
		var mu sync.Mutex
		var group sync.WaitGroup
		for j := range 6 {
			group.Go(func() {
				req := runtime.StartRequest{DefinitionID: def, Version: 1}
				if j%2 == 1 {
					req.InstanceID = fmt.Sprint(def, "-", j)
				}
				var id string
				var err error
				if j%3 == 0 {
					id, err = c[j%3].Starts.Dispatch(t.Context(), req)
				} else {
					var res runtime.StartResult
					res, err = c[j%3].Starts.Execute(t.Context(), req)
					id = res.Instance.ID
				}
				switch workflow.CodeOf(err) {
				case workflow.CodeDefinitionNotFound, workflow.CodeDefinitionMoved:
				default:
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					started[i] = append(started[i], id)
				}
			})
		}
		group.Go(func() {
			switch err := c[i%3].Catalog.DeleteVersion(t.Context(), def, 1); workflow.CodeOf(err) {
			case workflow.CodeDefinitionInUse:
			default:
				if err != nil {
					t.Error(err)
				}
				deleted.Add(1)
			}
		})
		group.Wait()
	}
	m.rounds(c)
	fresh := newMember(t, strings.TrimSuffix(strings.TrimPrefix(m.Root, "/weft/"), "/"), "fresh")
	fresh.Event("go", "", nil)
	ran := 0
	for i, ids := range started {
		for _, id := range ids {
			ran++
			if in := fresh.Finished(id); in.SubStatus != workflow.Finished || in.Version != 1 {
				t.Errorf("%s of race %d is %s: %+v", id, i, in.SubStatus, in.Incidents)
			}
		}
		if there := slices.Contains(m.versions(fmt.Sprint("race", i)), 1); there != (len(ids) > 0) {
			t.Errorf("race %d: %d instances, and the version is there: %v", i, len(ids), there)
		}
	}
	t.Logf("%d starts were acknowledged, %d deletes", ran, deleted.Load())
	m.Sound()
}

// Each publication of what is marked autoUpdate makes a version of each consumer. They
// go like others, and with them what they ran as activities; what an instance runs
// stays with all that it uses.
func TestVersionsOfConsumersGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, retain(retention.Limits{Versions: 3}))
	m := c[0]
	part := func(n int) string {
		return fmt.Sprintf("id: part\noptions: {usableAsActivity: true, autoUpdate: true}\nroot:\n  - writeLine: part %d\n", n)
	}
	m.Publish(part(1), "id: whole\nroot:\n  - event: go\n  - workflow: part\n")
	for n := 2; n <= 12; n++ {
		m.Publish(part(n))
		if n == 4 {
			m.Start("whole", "old", "")
		}
	}
	m.rounds(c)
	m.rounds(c) // what only retired versions used
	m.wantVersions("of the consumer", "whole", 4, 10, 11, 12)
	m.wantVersions("of the part", "part", 4, 10, 11, 12)
	m.Sound()
	fresh := newMember(t, strings.TrimSuffix(strings.TrimPrefix(m.Root, "/weft/"), "/"), "fresh")
	fresh.Event("go", "", nil)
	if in := fresh.Finished("old"); in.SubStatus != workflow.Finished || !slices.Equal(fresh.Lines("old"), []string{"part 4"}) {
		t.Errorf("it is %s, and wrote %v: %+v", in.SubStatus, fresh.Lines("old"), in.Incidents)
	}
}

// A start that waits behind a gate needs its version, also as a dead letter, until it
// is replayed and over.
func TestAGatedStartNeedsItsVersion(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, retain(retention.Limits{Versions: 1}), func(c *membertest.Config) { c.QueueTTL = time.Minute })
	m := c[0]
	m.Publish(membertest.Single)
	m.Event("begin", "", nil)
	holder := m.Running("single")
	version := func(n int) string { return strings.Replace(membertest.Single, "began", fmt.Sprint("began ", n), 1) }
	m.Event("late", "", nil) // nobody waits for it yet
	m.Publish(strings.Replace(version(2), "event: begin", "event: late", 1))
	m.GatedBy(1)
	m.Publish(version(3), version(4))
	refused := func(by string) {
		t.Helper()
		m.rounds(c)
		m.wantVersions("beside "+by, "single", 1, 2, 4)
		if err := c[1].Catalog.DeleteVersion(t.Context(), "single", 2); workflow.CodeOf(err) != workflow.CodeDefinitionInUse || !strings.Contains(err.Error(), by) {
			t.Errorf("error %v, want %s", err, by)
		}
	}
	if err := c[1].Catalog.DeleteVersion(t.Context(), "single", 2); workflow.CodeOf(err) != workflow.CodeDefinitionInUse || !strings.Contains(err.Error(), "behind a gate") {
		t.Errorf("error %v", err)
	}
	grow(t, c, 2*time.Minute)
	eventually(t, "it is dead", func() bool { return len(m.Dead()) == 1 })
	refused("dead letter " + m.Dead()[0].ID)
	m.EndOf(holder)
	m.Finished(holder)
	if _, err := m.Letters.ReplayDeadLetter(t.Context(), m.Dead()[0].ID, repair.Edit{}, nil); err != nil {
		t.Fatal(err)
	}
	next := m.Running("single")
	refused("instance " + next)
	m.EndOf(next)
	if in := m.Finished(next); in.Version != 2 || !slices.Equal(m.Lines(next), []string{"began 2"}) {
		t.Errorf("%+v wrote %v", in, m.Lines(next))
	}
	m.Sound()
}

// A sender that had met a trigger before its version was retired, and whose list is
// accepted after that, gets its starts; the version goes after them.
func TestAFixedListNeedsItsVersions(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, retain(retention.Limits{Versions: 1}))
	m := c[0]
	version := func(n int) string {
		return fmt.Sprintf("id: listens\nroot:\n  - event: begin\n    trigger: true\n  - writeLine: v%d\n  - event: end\n", n)
	}
	m.Publish(version(1))
	st := workflow.EventStimulus("begin", nil)
	look := m.LookFor(st)
	m.Publish(version(2))
	m.round() // version 1 is retired
	if err := m.Catalog.DeleteVersion(t.Context(), "listens", 1); workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
		t.Fatal(err)
	}
	m.AcceptList("list", st, look)
	id := m.Running("listens")
	grow(t, c, time.Hour)
	m.round()
	m.wantVersions("beside the start", "listens", 1, 2)
	fresh := newMember(t, strings.TrimSuffix(strings.TrimPrefix(m.Root, "/weft/"), "/"), "fresh")
	fresh.EndOf(id)
	if in := fresh.Finished(id); in.Version != 1 || in.SubStatus != workflow.Finished {
		t.Errorf("%+v", in)
	}
	m.round()
	m.wantVersions("beside the finished instance", "listens", 1, 2)
	if _, err := m.Commands.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func() bool { return len(m.InstancesOf("listens")) == 0 })
	m.round()
	m.wantVersions("when nothing is left", "listens", 2)
	m.Sound()
}
