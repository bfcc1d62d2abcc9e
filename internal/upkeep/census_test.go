package upkeep_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
)

// counts gives what a registry shows of a family, by definition and sub-status.
func counts(t *testing.T, reg *prometheus.Registry, family string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != family {
			continue
		}
		for _, s := range f.GetMetric() {
			var labels []string
			for _, l := range s.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out[strings.Join(labels, " ")] = s.GetGauge().GetValue() + s.GetCounter().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// One node counts the instances of each definition, and when it leaves, another one.
func TestOneNodeCountsInstances(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	registries, members := map[string]*prometheus.Registry{}, map[string]*member{}
	for _, id := range []string{"a", "b"} {
		reg := prometheus.NewRegistry()
		m, err := metrics.New(reg)
		if err != nil {
			t.Fatal(err)
		}
		registries[id] = reg
		members[id] = newMember(t, name, id, func(c *membertest.Config) { c.CensusEvery, c.Metrics = 20*time.Millisecond, m })
	}
	a, b := members["a"], members["b"]
	eventually(t, "the nodes know each other", func() bool { return len(a.Session.Members()) == 2 && len(b.Session.Members()) == 2 })
	a.Publish(membertest.Waits, strings.Replace(membertest.Waits, "id: waits", "id: unused", 1), "id: faults\nroot:\n  - executeWorkflow: comes-later\n")
	for _, id := range []string{"1", "2", "3"} {
		a.Start("waits", id, id)
	}
	// Of a series that begins with its first fault no alert sees an increase: they are there before, on every node.
	for id, reg := range registries {
		eventually(t, id+" has the series of what never ran", func() bool {
			n, ok := counts(t, reg, "weft_instances_finished_total")["faults Faulted"]
			return ok && n == 0
		})
	}
	a.Start("faults", "f", "f")
	first := a.Session.PreferredNode("census")
	other := map[string]string{"a": "b", "b": "a"}[first]
	shows := func(id, series string, want float64) {
		t.Helper()
		eventually(t, id+" counts "+series, func() bool {
			n, ok := counts(t, registries[id], "weft_instances")[series]
			return ok && n == want
		})
	}
	shows(first, "waits Suspended", 3)
	shows(first, "faults Faulted", 1)
	shows(first, "unused Suspended", 0)
	eventually(t, "the oldest is about as old", func() bool {
		age := counts(t, registries[first], "weft_oldest_suspended_seconds")["waits"]
		return age > 0 && age < 60
	})
	if age, ok := counts(t, registries[first], "weft_oldest_suspended_seconds")["unused"]; !ok || age != 0 {
		t.Errorf("nothing waits, and the oldest is %v old", age)
	}
	if got := counts(t, registries[other], "weft_instances"); len(got) != 0 {
		t.Errorf("the other node shows %v", got)
	}
	b.Event("go", "2", nil)
	shows(first, "waits Suspended", 2)
	members[first].Leave()
	shows(other, "waits Suspended", 2)

	// What each of them committed is counted by itself.
	for family, want := range map[string]map[string]float64{
		"weft_instances_started_total":    {"waits": 3, "faults": 1, "unused": 0, "other": 0},
		"weft_instances_finished_total":   {"waits Finished": 1, "waits Faulted": 0, "faults Faulted": 1},
		"weft_instance_lifetime_seconds":  {"waits": 1, "faults": 1},
		"weft_instance_suspended_seconds": {"waits": 1, "faults": 0},
	} {
		for series, n := range want {
			if got := counts(t, registries["a"], family)[series] + counts(t, registries["b"], family)[series]; got != n {
				t.Errorf("%s of %s is %v, want %v", family, series, got, n)
			}
		}
	}
}
