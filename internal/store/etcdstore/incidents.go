package etcdstore

import (
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// noteIncidents leaves a note of new incidents, for webhooks.
//
// If: no webhook wants it. Then: nothing. Else: put it. What it compares may change at any time,
// and decides nothing but whether the note is put.
func (s *Instances) noteIncidents(c *store.Commit, o *db.Ops) {
	h := &c.After.Header
	var before *workflow.Instance
	if c.Before != nil {
		before = &c.Before.Header
		if moved := before.DefinitionID != h.DefinitionID || len(h.Incidents) == 0; moved { // an import may do that
			s.conn.ForgetIncidents(before, o)
		}
	}
	n := newIncidents(before, h)
	if n == 0 {
		return
	}
	note := db.NewContent()
	note.Put(s.conn.Keys.Incident(h.DefinitionID, h.ID, c.After.Seq), record.IncidentNote{New: n, At: h.Incidents[len(h.Incidents)-1].Time.UTC(), Made: h.CreatedAt.UTC()})
	o.Nested([]clientv3.Cmp{db.NoneNewer(s.conn.Keys.WantedOf(h.DefinitionID), 0), db.NoneNewer(s.conn.Keys.WantedOf(record.AnyDefinition), 0)}, nil, note)
}

// newIncidents tells how many of an instance's incidents it did not have before (nil: it is
// new). An instance remembers the last ones only: what is left of those before is at the
// beginning.
func newIncidents(before, after *workflow.Instance) int {
	n := len(after.Incidents)
	if before == nil {
		return n
	}
	for kept := min(n, len(before.Incidents)); kept > 0; kept-- {
		if sameIncidents(before.Incidents[len(before.Incidents)-kept:], after.Incidents[:kept]) {
			return n - kept
		}
	}
	return n
}

func sameIncidents(a, b []workflow.Incident) bool {
	for i := range a {
		x, y := a[i], b[i]
		same := x.Time.Equal(y.Time)
		x.Time, y.Time = time.Time{}, time.Time{}
		if !same || x != y {
			return false
		}
	}
	return true
}

// incidents: each note is of an instance that is there, and can be read.
func (f *fsck) incidents() {
	f.values("incident/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id := parts[min(1, len(parts)-1)]
		if f.lostWith(id) {
			return
		}
		if r := f.records[id]; len(parts) != 3 || r == nil || r.Header.DefinitionID != parts[0] {
			f.drop(f.report("incident-without-instance", name, "no instance has it"), name, f.s.conn.Keys.Instance(id))
		} else if n := f.decodeShown(name, kv, &record.IncidentNote{}); n != nil {
			f.setAside(n, kv, f.s.conn.Keys.Instance(id))
		}
	})
}
