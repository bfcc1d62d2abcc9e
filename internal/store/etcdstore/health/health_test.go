package health

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// The worst comes first, and each says which members and what to do.
func TestTroublesOfEtcd(t *testing.T) {
	t.Parallel()
	well := Member{Endpoint: "https://e1:2379", Version: "3.7.3", ID: 1, Leader: 1}
	with := func(change func(*Member)) Member {
		m := well
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		h     Health
		state string
		texts []string
	}{
		"well":            {Health{Members: []Member{well, well}}, OK, nil},
		"in this process": {Health{Members: []Member{with(func(m *Member) { m.Endpoint = "" })}}, OK, nil},
		"newer":           {Health{Members: []Member{with(func(m *Member) { m.Version = "3.8.0-rc.1" }), with(func(m *Member) { m.Version = "4.0.0" })}}, OK, nil},
		"not known":       {Health{Members: []Member{with(func(m *Member) { m.Version = "" })}}, OK, nil},
		"3.4": {Health{Members: []Member{with(func(m *Member) { m.Version = "3.4.32" }), well, with(func(m *Member) { m.Endpoint, m.Version = "e3:2379", "3.6.16" })}}, Degraded,
			[]string{"etcd 3.7 is wanted: e1:2379 has 3.4.32, e3:2379 has 3.6.16"}},
		"gone": {Health{Members: []Member{well, {Endpoint: "https://e2:2379", Err: errors.New("x")}}}, Degraded, []string{"1 of 2 members of etcd do not answer: e2:2379"}},
		"without a user": {Health{Err: rpctypes.ErrUserEmpty, Members: []Member{{Endpoint: "e1:2379", Err: rpctypes.ErrUserEmpty}, {Endpoint: "e2:2379", Err: errors.New("x")}}}, Down,
			[]string{"refuses the user of this node: etcdserver: user name is empty", "1 of 2 members of etcd do not answer: e2:2379"}},
		"without the keys": {Health{Err: rpctypes.ErrGRPCPermissionDenied, Members: []Member{well}}, Down, []string{"refuses the user of this node"}},
		"full": {Health{Members: []Member{with(func(m *Member) { m.Alarms = []string{"NOSPACE"} }), with(func(m *Member) { m.Alarms = []string{"NOSPACE", "CORRUPT"} })}}, Down,
			[]string{"the alarm CORRUPT", "the alarm NOSPACE"}},
		"no leader": {Health{Err: errors.New("deadline"), Members: []Member{with(func(m *Member) { m.Leader = 0 }), {Endpoint: "http://e2:1", Err: errors.New("x")}}}, Down,
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
