package elsajson

import (
	"encoding/json"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// notFound is the custom property in which the designer keeps connections whose
// activities are gone.
const notFound = "notFoundConnections"

// graph reads connections and transitions once activities and states are known.
func (ar *activityReader) graph(fs []field) {
	for _, f := range fs {
		switch {
		case f.name == "connections" && ar.isContainer() && !f.IsWrapper():
			ar.connections(f)
		case f.name == "transitions" && ar.isMachine():
			ar.transitions(f)
		}
	}
	if !ar.shallow {
		ar.restoreFound()
	}
}

// known gives the ids of the children.
func (ar *activityReader) known() map[string]bool {
	ids := make(map[string]bool, len(ar.a.Activities))
	for _, a := range ar.a.Activities {
		ids[a.ID] = true
	}
	return ids
}

// connections reads the connections; those to unknown activities are put aside
// as the designer does.
func (ar *activityReader) connections(f field) {
	if f.Kind == jsontree.Null {
		return
	}
	known := ar.known()
	ar.a.Connections = []workflow.Connection{}
	var lost []any
	for _, c := range ar.list(f.cur) {
		con, ok := ar.connection(c)
		switch {
		case !ok:
		case ar.shallow || known[con.Source] && known[con.Target]:
			ar.a.Connections = append(ar.a.Connections, con)
		default:
			v := c.Value()
			lost = append(lost, v)
		}
	}
	if len(lost) == 0 {
		return
	}
	if ar.a.CustomProperties == nil {
		ar.a.CustomProperties = map[string]any{}
	}
	old, _ := ar.a.CustomProperties[notFound].([]any)
	ar.a.CustomProperties[notFound] = append(old, lost...)
	ar.holds[f.name] = true // the source must not come back
	ar.holds["customProperties"] = true
}

// restoreFound takes connections back that were put aside and whose activities
// are there again.
func (ar *activityReader) restoreFound() {
	list, ok := ar.a.CustomProperties[notFound].([]any)
	if !ok || len(list) == 0 {
		return
	}
	known := ar.known()
	type ends struct{ source, port, target string }
	there := map[ends]bool{}
	for _, con := range ar.a.Connections {
		there[ends{con.Source, con.SourcePort, con.Target}] = true
	}
	rest := []any{}
	for _, v := range list {
		raw := marshal(v)
		root, _, err := jsontree.Parse(raw)
		if err != nil {
			continue
		}
		probe := newReader(raw, "", nil)
		con, ok := probe.connection(cur{root, ""})
		if !ok || !known[con.Source] || !known[con.Target] {
			rest = append(rest, v)
			continue
		}
		con.Place = ar.a.Place
		if e := (ends{con.Source, con.SourcePort, con.Target}); !there[e] {
			there[e] = true
			ar.a.Connections = append(ar.a.Connections, con)
		}
	}
	ar.a.CustomProperties[notFound] = rest
}

// connection reads a connection: nested {source: {activity, port}, target: …}
// or flat {source, sourcePort, target, targetPort}.
func (r *reader) connection(c cur) (workflow.Connection, bool) {
	con := workflow.Connection{Place: r.place(c)}
	if c.Kind != jsontree.Object {
		r.shape(c, "a connection", "an object")
		return con, false
	}
	fs := r.fields(c)
	for _, f := range fs {
		switch f.name {
		case "source":
			con.Source, con.SourcePort = r.endpoint(f, con.SourcePort)
		case "target":
			con.Target, con.TargetPort = r.endpoint(f, con.TargetPort)
		case "sourcePort":
			con.SourcePort = r.str(f)
		case "targetPort":
			con.TargetPort = r.str(f)
		}
	}
	if con.SourcePort == "Done" {
		con.SourcePort = ""
	}
	if con.TargetPort == "In" {
		con.TargetPort = ""
	}
	con.Extra = r.keep(fs, connectionFields(con), nil)
	return con, true
}

// endpoint reads one end; port is what a flat field may have said before.
func (r *reader) endpoint(f field, port string) (string, string) {
	if f.Kind != jsontree.Object || !f.Has("activity") {
		return r.idOf(f.cur), port
	}
	var id string
	for _, g := range r.fields(f.cur) {
		switch g.name {
		case "activity":
			id = r.idOf(g.cur)
		case "port":
			port = r.str(g)
		}
	}
	return id, port
}

func connectionFields(con workflow.Connection) fields {
	end := func(id, port, usual string) fields {
		var fs fields
		fs.set("activity", id)
		if port == "" {
			port = usual
		}
		fs.set("port", port)
		return fs
	}
	var fs fields
	fs.set("source", end(con.Source, con.SourcePort, "Done"))
	fs.set("target", end(con.Target, con.TargetPort, "In"))
	return fs
}

// writeConnection writes a connection in the form it came in. A flat one keeps
// all its ends or none, since they are read together.
func writeConnection(con workflow.Connection) fields {
	return connectionFields(con).restore(con.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields {
			got, _ := r.connection(c)
			return connectionFields(got)
		})
	})
}
