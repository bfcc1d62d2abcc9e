package read

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// rememberChildren notes what the text calls the children. One that became the
// inner part of another because it has a timeout or a retry is called by its own id.
func (b *activityBuilder) rememberChildren() {
	b.childIDs = map[string]string{}
	for _, a := range b.a.Activities {
		b.childIDs[a.ID] = a.ID
		b.longest = max(b.longest, len(a.ID))
	}
	for _, a := range b.a.Activities {
		if inner := wrap.CoreOf(b.r.types, a); inner != a {
			b.childIDs[inner.ID] = a.ID
		}
	}
}

// connect reads start and connections once the children are known.
func (b *activityBuilder) connect() {
	if b.start != nil {
		b.a.Start = b.known(b.start.Value, b.r.Text(b.start.Value, "start"))
	}
	if b.connections == nil {
		return
	}
	n := b.connections.Value
	b.a.Connections = []workflow.Connection{}
	if tree.IsNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		b.r.Shape(n, "connections", "a list, such as [a -> b, b.True -> c]")
		return
	}
	for _, c := range n.Content {
		switch c.Kind {
		case yaml.ScalarNode:
			b.arrows(c)
		case yaml.MappingNode:
			b.connection(c)
		default:
			b.r.Shape(c, "a connection", "a text such as a.True -> b")
		}
	}
}

func (b *activityBuilder) missing(n *yaml.Node, text, id string) {
	if !b.r.Report.Full() { // a suggestion takes time to find
		b.r.Problem("unknown-activity", n, "there is no activity %q in this flowchart%s", workflow.Shorten(text), workflow.DidYouMean(id, slices.Collect(maps.Keys(b.childIDs))))
	}
}

// known resolves an id and reports an unknown one.
func (b *activityBuilder) known(n *yaml.Node, id string) string {
	if id == "" {
		return ""
	}
	found := b.childIDs[id]
	if found == "" {
		b.missing(n, id, id)
	}
	return found
}

// arrows reads a.Port -> b, or a longer chain of them.
func (b *activityBuilder) arrows(n *yaml.Node) {
	ends := strings.Split(strings.ReplaceAll(n.Value, "→", "->"), "->")
	if len(ends) < 2 {
		b.r.Shape(n, "a connection", "written as from -> to")
		return
	}
	for i := 0; i+1 < len(ends); i++ {
		con := workflow.Connection{Place: b.r.Place(n)}
		var ok, ok2 bool
		con.Source, con.SourcePort, ok = b.endpoint(n, ends[i])
		con.Target, con.TargetPort, ok2 = b.endpoint(n, ends[i+1])
		if i+2 < len(ends) && ok2 && con.TargetPort != "" {
			// In a chain the port belongs to the connection that leaves.
			con.TargetPort = ""
		}
		if ok && ok2 {
			b.addConnection(con)
		}
	}
}

// endpoint reads id or id.port; ids and ports may have dots themselves, so the
// longest id that exists wins.
func (b *activityBuilder) endpoint(n *yaml.Node, text string) (id, port string, ok bool) {
	text = strings.TrimSpace(text)
	for at := len(text); at > 0; at = strings.LastIndexByte(text[:at], '.') {
		if at > b.longest {
			continue
		}
		if found := b.childIDs[text[:at]]; found != "" {
			return found, strings.TrimSpace(strings.TrimPrefix(text[at:], ".")), true
		}
	}
	name, _, _ := strings.Cut(text, ".")
	b.missing(n, text, name)
	return "", "", false
}

// connection reads {from, port, to}, or the names that Elsa's JSON has.
func (b *activityBuilder) connection(n *yaml.Node) {
	con := workflow.Connection{Place: b.r.Place(n)}
	var from, to *tree.Pair
	for _, p := range b.r.Pairs(n) {
		switch p.Name {
		case "from", "source":
			from = &p
		case "to", "target":
			to = &p
		case "port", "sourcePort":
			con.SourcePort = b.r.Text(p.Value, p.Name)
		case "targetPort":
			con.TargetPort = b.r.Text(p.Value, p.Name)
		default:
			b.r.Unknown(p, "a connection", []string{"from", "port", "to", "targetPort"})
		}
	}
	if from == nil || to == nil {
		b.r.Problem("wrong-shape", n, "a connection needs from and to")
		return
	}
	var ok, ok2 bool
	end := func(p *tree.Pair, port *string) (string, bool) {
		text := b.r.Text(p.Value, p.Name)
		if *port != "" {
			id := b.known(p.Value, text)
			return id, id != ""
		}
		id, given, ok := b.endpoint(p.Value, text)
		*port = given
		return id, ok
	}
	con.Source, ok = end(from, &con.SourcePort)
	con.Target, ok2 = end(to, &con.TargetPort)
	if ok && ok2 {
		b.addConnection(con)
	}
}

func (b *activityBuilder) addConnection(con workflow.Connection) {
	if con.SourcePort == "Done" {
		con.SourcePort = ""
	}
	if con.TargetPort == "In" {
		con.TargetPort = ""
	}
	b.a.Connections = append(b.a.Connections, con)
}
