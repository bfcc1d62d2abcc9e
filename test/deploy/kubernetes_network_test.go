package deploy_test

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// peer is a pod by its labels and those of its namespace (nil: that of the
// policy), or an address outside the cluster.
type peer struct {
	namespace, pod labels.Set
	addr           netip.Addr
}

// rule is what rules for traffic in and out have in common.
type rule interface {
	networkingv1.NetworkPolicyIngressRule | networkingv1.NetworkPolicyEgressRule
}

// allows says whether one of the rules lets traffic with p through, as the
// documentation of NetworkPolicy has it. The named port is that of the nodes.
func allows[R rule](t *testing.T, rules []R, p peer, protocol corev1.Protocol, port int) bool {
	t.Helper()
	for _, r := range rules {
		var peers []networkingv1.NetworkPolicyPeer
		var ports []networkingv1.NetworkPolicyPort
		switch r := any(r).(type) {
		case networkingv1.NetworkPolicyIngressRule:
			peers, ports = r.From, r.Ports
		case networkingv1.NetworkPolicyEgressRule:
			peers, ports = r.To, r.Ports
		}
		if len(peers) == 0 || len(ports) == 0 {
			t.Fatal("a rule without peers or ports lets everything through")
		}
		for _, to := range peers {
			for _, at := range ports {
				if p.is(t, to) && isPort(at, protocol, port) {
					return true
				}
			}
		}
	}
	return false
}

func isPort(p networkingv1.NetworkPolicyPort, protocol corev1.Protocol, port int) bool {
	want := corev1.ProtocolTCP
	if p.Protocol != nil {
		want = *p.Protocol
	}
	return want == protocol && (*p.Port == intstr.FromInt(port) || *p.Port == intstr.FromString("http") && port == 8080)
}

func (p peer) is(t *testing.T, want networkingv1.NetworkPolicyPeer) bool {
	t.Helper()
	if b := want.IPBlock; b != nil {
		in := p.addr.IsValid() && netip.MustParsePrefix(b.CIDR).Contains(p.addr)
		for _, not := range b.Except {
			in = in && !netip.MustParsePrefix(not).Contains(p.addr)
		}
		return in
	}
	if p.addr.IsValid() || want.NamespaceSelector == nil && p.namespace != nil {
		return false
	}
	return chosen(t, want.NamespaceSelector, p.namespace) && chosen(t, want.PodSelector, p.pod)
}

func chosen(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	if selector == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(set)
}

func TestKubernetesPolicyLetsThroughWhatNodesNeed(t *testing.T) {
	t.Parallel()
	for name, in := range installations(t) {
		if len(in.policy.Spec.PolicyTypes) != 2 {
			t.Errorf("%s: the policy is for %v", name, in.policy.Spec.PolicyTypes)
		}
		in.letsThroughWhatNodesNeed(t, name)
	}
}

func (in *installation) letsThroughWhatNodesNeed(t *testing.T, installation string) {
	t.Helper()
	node := peer{pod: in.deployment.Spec.Template.Labels}
	named := func(name string) labels.Set { return labels.Set{corev1.LabelMetadataName: name} }
	dns := peer{namespace: named("kube-system"), pod: labels.Set{"k8s-app": "kube-dns"}}
	for _, c := range []struct {
		name     string
		p        peer
		protocol corev1.Protocol
		port     int
		in, out  bool
	}{
		{name: "another node", p: node, protocol: corev1.ProtocolTCP, port: 8080, in: true, out: true},
		{name: "names", p: dns, protocol: corev1.ProtocolUDP, port: 53, out: true},
		{name: "long names", p: dns, protocol: corev1.ProtocolTCP, port: 53, out: true},
		{name: "NodeLocal DNSCache", p: peer{addr: netip.MustParseAddr("169.254.20.10")}, protocol: corev1.ProtocolUDP, port: 53, out: true},
		{name: "what else is there", p: peer{addr: netip.MustParseAddr("169.254.20.10")}, protocol: corev1.ProtocolTCP, port: 443},
		{name: "etcd", p: peer{namespace: named("etcd")}, protocol: corev1.ProtocolTCP, port: 2379, out: true},
		{name: "etcd's peers", p: peer{namespace: named("etcd")}, protocol: corev1.ProtocolTCP, port: 2380},
		{name: "a namespace with the label", p: peer{namespace: labels.Set{"weft-run/api": "allowed"}}, protocol: corev1.ProtocolTCP, port: 8080, in: true},
		{name: "a namespace without", p: peer{namespace: named("shop")}, protocol: corev1.ProtocolTCP, port: 8080},
		{name: "a pod of this namespace that is no node", p: peer{pod: labels.Set{"app": "shell"}}, protocol: corev1.ProtocolTCP, port: 8080},
		{name: "Prometheus", p: peer{namespace: named("monitoring"), pod: labels.Set{"app.kubernetes.io/name": "prometheus"}}, protocol: corev1.ProtocolTCP, port: 8080, in: true},
		{name: "what else monitors", p: peer{namespace: named("monitoring")}, protocol: corev1.ProtocolTCP, port: 8080},
		{name: "the internet", p: peer{addr: netip.MustParseAddr("203.0.113.7")}, protocol: corev1.ProtocolTCP, port: 443, out: true},
		{name: "the cloud's metadata", p: peer{addr: netip.MustParseAddr("169.254.169.254")}, protocol: corev1.ProtocolTCP, port: 443},
		{name: "private networks", p: peer{addr: netip.MustParseAddr("10.96.0.1")}, protocol: corev1.ProtocolTCP, port: 443},
	} {
		if got := allows(t, in.policy.Spec.Ingress, c.p, c.protocol, c.port); got != c.in {
			t.Errorf("%s: %s may come in: %v, want %v", installation, c.name, got, c.in)
		}
		if got := allows(t, in.policy.Spec.Egress, c.p, c.protocol, c.port); got != c.out {
			t.Errorf("%s: %s may be asked: %v, want %v", installation, c.name, got, c.out)
		}
	}
}
