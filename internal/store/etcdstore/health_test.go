package etcdstore

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// The worst comes first, and each says which members and what to do.
func TestTroublesOfEtcd(t *testing.T) {
	t.Parallel()
	well := MemberHealth{Endpoint: "https://e1:2379", Version: "3.7.3", ID: 1, Leader: 1}
	with := func(change func(*MemberHealth)) MemberHealth {
		m := well
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		h     Health
		state string
		texts []string
	}{
		"well":            {Health{Members: []MemberHealth{well, well}}, HealthOK, nil},
		"in this process": {Health{Members: []MemberHealth{with(func(m *MemberHealth) { m.Endpoint = "" })}}, HealthOK, nil},
		"newer":           {Health{Members: []MemberHealth{with(func(m *MemberHealth) { m.Version = "3.8.0-rc.1" }), with(func(m *MemberHealth) { m.Version = "4.0.0" })}}, HealthOK, nil},
		"not known":       {Health{Members: []MemberHealth{with(func(m *MemberHealth) { m.Version = "" })}}, HealthOK, nil},
		"3.4": {Health{Members: []MemberHealth{with(func(m *MemberHealth) { m.Version = "3.4.32" }), well, with(func(m *MemberHealth) { m.Endpoint, m.Version = "e3:2379", "3.6.16" })}}, HealthDegraded,
			[]string{"etcd 3.7 is wanted: e1:2379 has 3.4.32, e3:2379 has 3.6.16"}},
		"gone": {Health{Members: []MemberHealth{well, {Endpoint: "https://e2:2379", Err: errors.New("x")}}}, HealthDegraded, []string{"1 of 2 members of etcd do not answer: e2:2379"}},
		"without a user": {Health{Err: rpctypes.ErrUserEmpty, Members: []MemberHealth{{Endpoint: "e1:2379", Err: rpctypes.ErrUserEmpty}, {Endpoint: "e2:2379", Err: errors.New("x")}}}, HealthDown,
			[]string{"refuses the user of this node: etcdserver: user name is empty", "1 of 2 members of etcd do not answer: e2:2379"}},
		"without the keys": {Health{Err: rpctypes.ErrGRPCPermissionDenied, Members: []MemberHealth{well}}, HealthDown, []string{"refuses the user of this node"}},
		"full": {Health{Members: []MemberHealth{with(func(m *MemberHealth) { m.Alarms = []string{"NOSPACE"} }), with(func(m *MemberHealth) { m.Alarms = []string{"NOSPACE", "CORRUPT"} })}}, HealthDown,
			[]string{"the alarm CORRUPT", "the alarm NOSPACE"}},
		"no leader": {Health{Err: errors.New("deadline"), Members: []MemberHealth{with(func(m *MemberHealth) { m.Leader = 0 }), {Endpoint: "http://e2:1", Err: errors.New("x")}}}, HealthDown,
			[]string{"does not answer a read that most members have to confirm: deadline", "1 of 2 members of etcd do not answer", "know no leader: e1:2379"}},
	} {
		troubles := c.h.Troubles()
		if c.h.State() != c.state || len(troubles) != len(c.texts) {
			t.Errorf("%s: %s, %+v", name, c.h.State(), troubles)
			continue
		}
		for i, text := range c.texts {
			if !strings.Contains(troubles[i].Text, text) || troubles[i].Do == "" {
				t.Errorf("%s: %+v, want %q", name, troubles[i], text)
			}
		}
	}
	for text, want := range map[string]string{"memberID:1 alarm:NOSPACE ": "NOSPACE", "etcdserver: no leader": "", "alarm:CORRUPT": "CORRUPT"} {
		if got, _ := alarmIn(text); got != want {
			t.Errorf("%q is the alarm %q", text, got)
		}
	}
}
