package metrics

import "github.com/prometheus/client_golang/prometheus"

// EtcdMembers tells of the members of etcd, each by its endpoint. Like [Metrics] it may
// be nil.
type EtcdMembers struct {
	answers *prometheus.GaugeVec
	leftOut *prometheus.CounterVec
}

// EtcdMembersOf is what m has for them.
func EtcdMembersOf(m *Metrics) *EtcdMembers {
	if m == nil {
		return nil
	}
	return m.etcdMembers
}

func (b *builder) etcdMembers() *EtcdMembers {
	return &EtcdMembers{
		answers: b.gaugeVec("etcd_member_answers",
			"Whether a member of etcd answers this node: 1, or 0. By endpoint; none for an embedded etcd.",
			label{name: "member"}),
		leftOut: b.counterVec("etcd_member_left_out_total",
			"Connections to members of etcd that this node closed, by endpoint and reason: silent, nothing was answered; behind, it has no leader, or not what was committed.",
			label{name: "member"}, label{name: "reason"}),
	}
}

// Answers says whether a member answers.
func (e *EtcdMembers) Answers(member string, answers bool) {
	if e == nil {
		return
	}
	v := 0.0
	if answers {
		v = 1
	}
	e.answers.WithLabelValues(member).Set(v)
}

// Gone says that an endpoint is none any more.
func (e *EtcdMembers) Gone(member string) {
	if e == nil {
		return
	}
	e.answers.DeleteLabelValues(member)
}

// LeftOut counts a connection to a member that was closed.
func (e *EtcdMembers) LeftOut(member string, reason EtcdMemberReason) {
	if e == nil {
		return
	}
	e.leftOut.WithLabelValues(member, string(reason)).Inc()
}
