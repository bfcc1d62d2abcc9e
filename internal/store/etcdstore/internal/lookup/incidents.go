package lookup

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// NoteIncidents leaves a note of new incidents, for webhooks.
//
// If: no webhook wants it. Then: nothing. Else: put it. What it compares may change at any time,
// and decides nothing but whether the note is put.
func (s Index) NoteIncidents(c *store.Commit, o *db.Ops) {
	h := &c.After.Header
	var before *workflow.Instance
	if c.Before != nil {
		before = &c.Before.Header
		if moved := before.DefinitionID != h.DefinitionID || len(h.Incidents) == 0; moved { // an import may do that
			s.Conn.ForgetIncidents(before, o)
		}
	}
	n := record.NewIncidents(before, h)
	if n == 0 {
		return
	}
	note := db.NewContent()
	note.Put(s.Conn.Keys.Incident(h.DefinitionID, h.ID, c.After.Seq), record.IncidentNote{New: n, At: h.Incidents[len(h.Incidents)-1].Time.UTC(), Made: h.CreatedAt.UTC()})
	o.Nested([]clientv3.Cmp{db.NoneNewer(s.Conn.Keys.WantedOf(h.DefinitionID), 0), db.NoneNewer(s.Conn.Keys.WantedOf(record.AnyDefinition), 0)}, nil, note)
}
