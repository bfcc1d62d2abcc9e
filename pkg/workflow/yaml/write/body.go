package write

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// body writes the value of the key that names the type. Inputs and branches that have no
// room in it get keys of their own beside it.
func (w *writer) body(a *workflow.Activity, d *workflow.Descriptor, prefix string, beside *yaml.Node) *yaml.Node {
	inputs, ports := w.namedInputs(a, d), w.ports(a, d, prefix)
	add := func(m *yaml.Node) { beside.Content = append(beside.Content, m.Content...) }
	switch {
	case d.Type == notation.FlowchartType:
		add(inputs)
		add(ports)
		return w.flowchart(a, prefix)
	case d.Type == notation.StateMachineType:
		add(inputs)
		add(ports)
		return w.machine(a, prefix)
	case d.List != "":
		add(inputs)
		add(ports)
		if a.Activities == nil {
			return empty()
		}
		return w.children(a.Activities, prefix)
	case d.Cases != "" && d.Main == "":
		add(inputs)
		add(ports)
		if a.Cases == nil {
			return empty()
		}
		return w.caseList(a.Cases, d, prefix)
	case d.MainPort != "" && d.Main == "" && len(inputs.Content) == 0 && len(ports.Content) == 2 && ports.Content[0].Value == d.MainPort && ports.Content[1].Kind == yaml.SequenceNode:
		return ports.Content[1]
	}
	add(ports)
	if d.Cases != "" && a.Cases != nil {
		put(beside, d.Cases, w.casesBeside(a.Cases, d, prefix))
	}
	return w.inputs(inputs, d)
}

func (w *writer) namedInputs(a *workflow.Activity, d *workflow.Descriptor) *yaml.Node {
	var names []string
	for _, in := range d.Inputs {
		names = append(names, in.Name)
	}
	m := mapping()
	for _, name := range sortedNames(a.Inputs, names, false) {
		in, _ := d.Input(name)
		e := a.Inputs[name]
		n := w.expression(e, in)
		if slices.Contains(d.Ports, name) && n.Kind != yaml.ScalarNode && !notation.IsKind(n) {
			n = small(notation.KindKeys[e.Kind], data(e.Value)) // a list or a mapping by itself would be the branch of that name
		}
		if !tree.IsNull(n) {
			put(m, name, n)
		}
	}
	return m
}

func (w *writer) ports(a *workflow.Activity, d *workflow.Descriptor, prefix string) *yaml.Node {
	m := mapping()
	for _, name := range sortedNames(a.Ports, d.Ports, true) {
		if a.Ports[name] != nil {
			put(m, name, w.activity(a.Ports[name], notation.Branch(prefix, name)))
		}
	}
	return m
}

// inputs writes the inputs: the main one alone as the value itself.
func (w *writer) inputs(m *yaml.Node, d *workflow.Descriptor) *yaml.Node {
	if len(m.Content) == 0 {
		return empty()
	}
	if len(m.Content) == 2 && m.Content[0].Value == d.Main {
		n := m.Content[1]
		switch {
		case n.Kind == yaml.ScalarNode,
			n.Kind == yaml.SequenceNode && d.MainPort == "",
			notation.IsKind(n) && !notation.Owns(d, n.Content[0].Value):
			return n
		}
	}
	if isSmall(m) {
		flow(m)
	}
	return m
}

func (w *writer) flowchart(a *workflow.Activity, prefix string) *yaml.Node {
	m := mapping()
	names := map[string]string{} // id → what the text calls it
	keyed := true
	seen := map[string]bool{}
	for _, c := range a.Activities {
		name := wrap.CoreOf(w.types, c).ID
		keyed = keyed && name != "" && !seen[name]
		seen[name] = true
		names[c.ID] = name
	}
	called := func(id string) string {
		if n := names[id]; n != "" {
			return n
		}
		return id
	}
	if a.Start != "" {
		put(m, "start", text(called(a.Start)))
	}
	custom := map[string]any{notation.ModeProperty: a.CustomProperties[notation.ModeProperty]}
	putText(m, "mode", takeMode(custom))
	switch {
	case a.Activities == nil:
	case keyed:
		n := mapping()
		for _, c := range a.Activities {
			put(n, names[c.ID], w.activity(c, notation.Scope{ID: names[c.ID], Key: true}))
		}
		put(m, "activities", n)
	default:
		put(m, "activities", w.children(a.Activities, prefix))
	}
	if a.Connections != nil {
		known := map[string]bool{}
		for id, name := range names {
			known[id], known[name] = true, true
		}
		n := list()
		for _, con := range a.Connections {
			n.Content = append(n.Content, w.connection(con, called, known))
		}
		if len(n.Content) == 0 {
			flow(n)
		}
		put(m, "connections", n)
	}
	if len(m.Content) == 0 {
		return empty()
	}
	return m
}

// connection writes a.Port -> b, or a mapping where that would be read as
// something else.
func (w *writer) connection(con workflow.Connection, called func(string) string, known map[string]bool) *yaml.Node {
	end := func(id, port string) (string, bool) {
		s := called(id)
		if port != "" {
			s += "." + port
		}
		return s, splits(s, known) == len(called(id)) && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "→\n") && !strings.Contains(s, "->") &&
			strings.TrimSpace(port) == port && strings.TrimSpace(called(id)) == called(id)
	}
	from, ok := end(con.Source, con.SourcePort)
	to, ok2 := end(con.Target, con.TargetPort)
	if ok && ok2 && !strings.HasSuffix(from, "-") && !strings.HasPrefix(to, ">") {
		return text(from + " -> " + to)
	}
	m := mapping()
	put(m, "from", text(called(con.Source)))
	putText(m, "port", con.SourcePort)
	put(m, "to", text(called(con.Target)))
	putText(m, "targetPort", con.TargetPort)
	return flow(m)
}

// splits tells where the reader would end the id in id.port.
func splits(s string, known map[string]bool) int {
	for at := len(s); at > 0; at = strings.LastIndexByte(s[:at], '.') {
		if at <= 4*workflow.MaxIDLength && known[s[:at]] {
			return at
		}
	}
	return -1
}
