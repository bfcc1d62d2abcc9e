package metrics_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/metrics"
)

func TestMembersOfEtcdAreTold(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	e := metrics.EtcdMembersOf(m)
	e.Answers("a:2379", true)
	e.Answers("b:2379", false)
	e.LeftOut("b:2379", metrics.EtcdMemberSilent)
	e.LeftOut("b:2379", metrics.EtcdMemberBehind)
	got := values(gather(t, reg))
	for series, want := range map[string]float64{
		"weft_etcd_member_answers{member=a:2379}":                      1,
		"weft_etcd_member_answers{member=b:2379}":                      0,
		"weft_etcd_member_left_out_total{member=b:2379,reason=silent}": 1,
		"weft_etcd_member_left_out_total{member=b:2379,reason=behind}": 1,
	} {
		if v, ok := got[series]; !ok || v != want {
			t.Errorf("%s = %v (there: %t), want %v", series, v, ok, want)
		}
	}
	e.Gone("b:2379")
	if _, ok := values(gather(t, reg))["weft_etcd_member_answers{member=b:2379}"]; ok {
		t.Error("an endpoint that is none any more is still told")
	}
	metrics.EtcdMembersOf(nil).Answers("a:2379", true) // nobody counts
}
