package flow

import (
	"cmp"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	usualOut = "Done"
	usualIn  = "In"
)

// end is one end of a connection, as the text has it.
type end struct {
	id, port   string
	start, end int // of a chain: where it stands
}

// chain is one item of the connections: from -> to -> …, or a mapping.
type chain struct {
	node *text.Node
	ends []end // two or more
	text bool  // written with arrows
}

// Chart is one that is edited.
type Chart struct {
	*activity.Change
	site    *activity.Site
	IDs     []string // of its activities, as the text calls them
	known   map[string]bool
	longest int        // of the ids, in bytes
	list    *text.Node // the connections; nil: there are none
	chains  []chain
}

// ChartOf is the flowchart that an activity stands in.
func ChartOf(c *activity.Change, s *activity.Site) (*Chart, error) {
	owner := c.Sites.Owner(s.Node)
	if owner == nil || owner.Activity.Type != activity.FlowchartType {
		return nil, text.Refuse(s.Node.Start, "%q stands in no flowchart, so that nothing is connected there", workflow.Shorten(s.Activity.ID))
	}
	return openChart(c, owner)
}

func openChart(c *activity.Change, s *activity.Site) (*Chart, error) {
	f := &Chart{Change: c, site: s, known: map[string]bool{}}
	for _, a := range s.Activity.Activities {
		if inner := c.Sites.SiteOf(a); inner != nil {
			id := inner.Activity.ID
			f.IDs, f.known[id], f.longest = append(f.IDs, id), true, max(f.longest, len(id))
		}
	}
	f.list = f.key("connections")
	if f.list == nil || f.list.IsNull() {
		f.list = nil
		return f, nil
	}
	if f.list.Kind != text.List {
		return nil, text.Refuse(f.list.Start, "the connections are written in a way that cannot be edited here; edit the text")
	}
	for _, n := range f.list.Items {
		k, err := f.read(n)
		if err != nil {
			return nil, err
		}
		f.chains = append(f.chains, k)
	}
	return f, nil
}

// key is the value of a key of the flowchart, in its body or beside its type.
func (f *Chart) key(name string) *text.Node {
	return f.site.Held(name)
}

// read reads one of the connections.
func (f *Chart) read(n *text.Node) (chain, error) {
	k := chain{node: n}
	switch n.Kind {
	case text.Scalar:
		k.text = true
		at := n.Start + strings.Index(string(f.Text.Src[n.Start:n.End]), n.Text)
		if at < n.Start {
			return k, text.Refuse(n.Start, "this connection is written in a way that cannot be edited here; write it as from -> to")
		}
		arrow := "->"
		for i, part := range strings.Split(strings.ReplaceAll(n.Text, "→", "->\x00"), arrow) {
			if i > 0 {
				at += len(arrow)
			}
			whole := part
			if strings.HasPrefix(part, "\x00") { // the arrow has three bytes
				at++
				whole = part[1:]
			}
			lead := len(whole) - len(strings.TrimLeft(whole, " \t"))
			e := f.end(strings.TrimSpace(whole))
			e.start = at + lead
			e.end = e.start + len(strings.TrimSpace(whole))
			k.ends = append(k.ends, e)
			at += len(whole)
		}
	case text.Mapping:
		k.ends = []end{f.mapped(n, "from", "source", "port", "sourcePort"), f.mapped(n, "to", "target", "targetPort", "targetPort")}
	}
	if len(k.ends) < 2 {
		return k, text.Refuse(n.Start, "this connection cannot be read; write it as from -> to")
	}
	return k, nil
}

// end reads id or id.port: the longest id that is there wins.
func (f *Chart) end(text string) end {
	for at := len(text); at > 0; at = strings.LastIndexByte(text[:at], '.') {
		if at <= f.longest && f.known[text[:at]] {
			return end{id: text[:at], port: strings.TrimPrefix(text[at:], ".")}
		}
	}
	return end{id: text}
}

// mapped reads one end of a connection that is a mapping.
func (f *Chart) mapped(n *text.Node, name, long, port, longPort string) end {
	var e end
	v := n.Val(name)
	if v == nil {
		v = n.Val(long)
	}
	switch {
	case v == nil:
	case v.Kind == text.Mapping:
		if id := v.Val("activity"); id != nil {
			e.id = id.Text
		}
		if p := v.Val("port"); p != nil {
			e.port = p.Text
		}
	default:
		e = f.end(v.Text)
	}
	for _, k := range []string{port, longPort} {
		if p := n.Val(k); p != nil {
			e.port = p.Text
		}
	}
	return e
}

func samePort(a, b, usual string) bool {
	if a == usual {
		a = ""
	}
	if b == usual {
		b = ""
	}
	return a == b
}

// leaves tells whether a way from one end of a chain to the next is the one from id by port.
func (k *chain) leaves(i int, id, port string) bool {
	return i+1 < len(k.ends) && k.ends[i].id == id && samePort(k.ends[i].port, port, usualOut)
}

// spelled is an end as a chain has it.
func spelled(id, port string) string {
	if port == "" || port == usualOut {
		return id
	}
	return id + "." + port
}

// endNode is where a connection that is a mapping says which activity an end is; nil: nowhere.
func endNode(n *text.Node, long, short string) *text.Node {
	v := n.Val(long)
	if v == nil {
		v = n.Val(short)
	}
	if v != nil && v.Kind == text.Mapping {
		v = v.Val("activity")
	}
	return v
}

// Way is where an outcome of an activity leads.
type Way struct{ Port, To string }

// Ways are the ways that lead on from an activity.
func (f *Chart) Ways(id string) []Way {
	var ways []Way
	for _, k := range f.chains {
		for j, e := range k.ends[:len(k.ends)-1] {
			if e.id == id {
				ways = append(ways, Way{Port: cmp.Or(e.port, usualOut), To: k.ends[j+1].id})
			}
		}
	}
	return ways
}
