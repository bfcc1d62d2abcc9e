package edit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	node *node
	ends []end // two or more
	text bool  // written with arrows
}

// flowchart is one that is edited.
type flowchart struct {
	*Change
	site    *site
	ids     []string // of its activities, as the text calls them
	known   map[string]bool
	longest int   // of the ids, in bytes
	list    *node // the connections; nil: there are none
	chains  []chain
}

// chartOf is the flowchart that an activity stands in.
func chartOf(c *Change, s *site) (*flowchart, error) {
	owner := c.sites.owner(s.node)
	if owner == nil || owner.activity.Type != flowchartType {
		return nil, refuse(s.node.start, "%q stands in no flowchart, so that nothing is connected there", workflow.Shorten(s.activity.ID))
	}
	return openChart(c, owner)
}

func openChart(c *Change, s *site) (*flowchart, error) {
	f := &flowchart{Change: c, site: s, known: map[string]bool{}}
	for _, a := range s.activity.Activities {
		if inner := c.sites.siteOf(a); inner != nil {
			id := inner.activity.ID
			f.ids, f.known[id], f.longest = append(f.ids, id), true, max(f.longest, len(id))
		}
	}
	f.list = f.key("connections")
	if f.list == nil || f.list.isNull() {
		f.list = nil
		return f, nil
	}
	if f.list.kind != list {
		return nil, refuse(f.list.start, "the connections are written in a way that cannot be edited here; edit the text")
	}
	for _, n := range f.list.items {
		k, err := f.read(n)
		if err != nil {
			return nil, err
		}
		f.chains = append(f.chains, k)
	}
	return f, nil
}

// key is the value of a key of the flowchart, in its body or beside its type.
func (f *flowchart) key(name string) *node {
	return f.site.held(name)
}

// read reads one of the connections.
func (f *flowchart) read(n *node) (chain, error) {
	k := chain{node: n}
	switch n.kind {
	case scalar:
		k.text = true
		at := n.start + strings.Index(string(f.text.src[n.start:n.end]), n.text)
		if at < n.start {
			return k, refuse(n.start, "this connection is written in a way that cannot be edited here; write it as from -> to")
		}
		arrow := "->"
		for i, part := range strings.Split(strings.ReplaceAll(n.text, "→", "->\x00"), arrow) {
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
	case mapping:
		k.ends = []end{f.mapped(n, "from", "source", "port", "sourcePort"), f.mapped(n, "to", "target", "targetPort", "targetPort")}
	}
	if len(k.ends) < 2 {
		return k, refuse(n.start, "this connection cannot be read; write it as from -> to")
	}
	return k, nil
}

// end reads id or id.port: the longest id that is there wins.
func (f *flowchart) end(text string) end {
	for at := len(text); at > 0; at = strings.LastIndexByte(text[:at], '.') {
		if at <= f.longest && f.known[text[:at]] {
			return end{id: text[:at], port: strings.TrimPrefix(text[at:], ".")}
		}
	}
	return end{id: text}
}

// mapped reads one end of a connection that is a mapping.
func (f *flowchart) mapped(n *node, name, long, port, longPort string) end {
	var e end
	v := n.val(name)
	if v == nil {
		v = n.val(long)
	}
	switch {
	case v == nil:
	case v.kind == mapping:
		if id := v.val("activity"); id != nil {
			e.id = id.text
		}
		if p := v.val("port"); p != nil {
			e.port = p.text
		}
	default:
		e = f.end(v.text)
	}
	for _, k := range []string{port, longPort} {
		if p := n.val(k); p != nil {
			e.port = p.text
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

// connect connects two activities, or takes what connects them away.
func connect(c *Change, s *site, port, to string, cut bool) error {
	f, err := chartOf(c, s)
	if err != nil {
		return err
	}
	if !slices.Contains(f.ids, to) {
		return bad("there is no activity %q in this flowchart%s", workflow.Shorten(to), workflow.DidYouMean(to, f.ids))
	}
	for i := range f.chains {
		k := &f.chains[i]
		for j := range k.ends {
			if !k.leaves(j, s.activity.ID, port) || k.ends[j+1].id != to {
				continue
			}
			if !cut {
				return refuse(k.node.start, "%s leads to %q already", workflow.Shorten(spelled(s.activity.ID, port)), workflow.Shorten(to))
			}
			return f.cutWay(k, j)
		}
	}
	if cut {
		return refuse(f.site.node.start, "nothing leads from %s to %q", workflow.Shorten(spelled(s.activity.ID, port)), workflow.Shorten(to))
	}
	return f.add(s.activity.ID, port, to)
}

// add writes one more connection.
func (f *flowchart) add(from, port, to string) error {
	text, want, err := f.line(from, port, to)
	if err != nil {
		return err
	}
	if f.list != nil {
		f.append(text, want)
		return nil
	}
	m := f.site.node
	if f.site.key >= 0 && m.vals[f.site.key].kind == mapping {
		m = m.vals[f.site.key]
	}
	if v := m.val("connections"); v != nil { // it is there, and empty
		v.twin.replace(listOf(want))
		if v.written() || m.flow {
			f.text.swap(v.start, v.end, "["+text+"]")
		} else {
			f.text.put(m.colons[v.at], f.text.eol+strings.Repeat(" ", f.text.indent(m.keys[v.at].start)+2)+"- "+text)
		}
		return nil
	}
	copied := m.twin
	copied.insertEntry("connections", listOf(want))
	if m.flow {
		name := "connections: "
		if f.text.json {
			name = `"connections": `
		}
		f.text.addFlow(m, len(m.keys), name+"["+text+"]")
		return nil
	}
	pad := strings.Repeat(" ", f.text.indent(m.keys[0].start))
	_, end, _ := f.text.extent(m, len(m.keys)-1)
	f.text.lineAt(end, pad+"connections:"+f.text.eol+pad+"  - "+text+f.text.eol)
	return nil
}

// line is a connection as text and as a tree.
func (f *flowchart) line(from, port, to string) (string, *node, error) {
	var text string
	if f.text.json {
		if port == "" {
			port = usualOut
		}
		raw, err := json.Marshal(map[string]any{"source": map[string]any{"activity": from, "port": port}, "target": map[string]any{"activity": to, "port": usualIn}})
		if err != nil {
			return "", nil, err
		}
		column := 0
		if f.list != nil {
			column = f.text.flowColumn(f.list)
		}
		if text, err = f.text.pretty(raw, column); err != nil {
			return "", nil, err
		}
	} else {
		var err error
		if text, err = value(spelled(from, port)+" -> "+to, between(f.list == nil || f.list.flow)); err != nil {
			return "", nil, err
		}
	}
	want, err := f.text.snippet(text)
	return text, want, err
}

// append puts a connection behind the others.
func (f *flowchart) append(text string, want *node) {
	l := f.list
	l.twin.insertItem(len(l.twin.items), want)
	if l.flow {
		f.text.addFlow(l, len(l.items), text)
		return
	}
	_, to, _ := f.text.extent(l, len(l.items)-1)
	f.text.lineAt(to, strings.Repeat(" ", f.text.indent(l.dashes[0]))+"- "+text+f.text.eol)
}

// cutWay takes one way out of a chain.
func (f *flowchart) cutWay(k *chain, at int) error {
	if len(k.ends) == 2 {
		return f.dropChain(k)
	}
	switch n := len(k.ends); at {
	case 0:
		return f.rewrite(k, k.ends[0].start, k.ends[1].start, "")
	case n - 2:
		return f.rewrite(k, k.ends[n-2].end, k.ends[n-1].end, "")
	}
	return f.split(k, at, k.ends[at+1].id, k.ends[at+1].port)
}

// dropChain takes a whole item away; the last one leaves an empty list.
func (f *flowchart) dropChain(k *chain) error {
	l := k.node.parent
	if len(l.items) == 1 && !l.flow {
		k.node.twin.parent.removeItem(0)
		from := f.text.next(l.parent.colons[l.at])
		_, to, _ := f.text.extent(l, 0)
		f.text.put(l.parent.colons[l.at], " []")
		f.text.cutLines(from, to)
		return nil
	}
	return f.text.removeItem(l, k.node.at, false)
}

// rewrite puts a text in the place of a part of a chain.
func (f *flowchart) rewrite(k *chain, from, to int, text string) error {
	return f.rewriteAll(k, []splice{{from, to, text}})
}

// rewriteAll puts texts in the place of parts of a chain, all at once: it may have many.
func (f *flowchart) rewriteAll(k *chain, parts []splice) error {
	lead := k.node.start + strings.Index(string(f.text.src[k.node.start:k.node.end]), k.node.text)
	var own []splice
	for _, p := range parts {
		own = append(own, splice{p.from - lead, p.to - lead, p.text})
	}
	text, err := spliced([]byte(k.node.text), own)
	if err != nil {
		return err
	}
	k.node.twin.text = string(text)
	f.text.splices = append(f.text.splices, parts...)
	return nil
}

// split makes two chains of one: the second begins with other ends than it did.
func (f *flowchart) split(k *chain, at int, id, port string) error {
	head := string(f.text.src[k.ends[0].start:k.ends[at].end])
	tail := spelled(id, port)
	if rest := at + 2; id == k.ends[at+1].id { // a way is taken out
		if rest < len(k.ends) {
			tail += " -> " + string(f.text.src[k.ends[rest].start:k.ends[len(k.ends)-1].end])
		}
	} else {
		tail += " -> " + string(f.text.src[k.ends[at+1].start:k.ends[len(k.ends)-1].end])
	}
	return f.two(k, head, tail)
}

// two writes two chains in the place of one.
func (f *flowchart) two(k *chain, head, tail string) error {
	l := k.node.parent
	if string(f.text.src[k.node.start:k.node.end]) != k.node.text {
		return refuse(k.node.start, "this connection is in quotes; write it without them, or edit the text")
	}
	copied := k.node.twin
	copied.text = head
	l.twin.insertItem(copied.at+1, textNode(tail))
	sep := ", "
	if !l.flow {
		sep = f.text.eol + strings.Repeat(" ", f.text.indent(l.dashes[0])) + "- "
	}
	f.text.swap(k.node.start, k.node.end, head+sep+tail)
	return nil
}

// keyed tells whether the children of the flowchart that gets one stand behind their ids.
func keyed(c *Change, s *site, where string) bool {
	n := s.node
	if where == Into {
		f := &flowchart{Change: c, site: s}
		children := f.key("activities")
		return children == nil || children.kind != list
	}
	return n.parent.kind == mapping
}

// insertInChart puts a new activity into a flowchart, and between another one and what that leads to.
func insertInChart(c *Change, s *site, where, port string, fr fresh, p *piece) error {
	owner := s
	if where != Into {
		owner = c.sites.owner(s.node)
	}
	f, err := openChart(c, owner)
	if err != nil {
		return err
	}
	if c.text.json {
		if err := f.settle(s, where, p, fr); err != nil {
			return err
		}
	}
	if err := f.child(s, where, fr.id, p); err != nil {
		return err
	}
	c.text.focus = p.node
	at := c.text.focus
	switch where {
	case After:
		err = f.between(s.activity.ID, port, fr.id)
	case Before:
		if port != "" {
			return bad("port is of where: after")
		}
		err = f.ahead(s.activity.ID, fr.id)
	case Into:
		if port != "" {
			return bad("port is of where: after")
		}
	default:
		return bad("where is one of before, after and into, not %q", workflow.Shorten(where))
	}
	c.text.focus = at
	return err
}

// child puts the new activity among the others.
func (f *flowchart) child(s *site, where, id string, p *piece) error {
	if where != Into {
		g := s.node.parent
		at := s.node.at
		if where == After {
			at++
		}
		if g.kind == list {
			return f.text.insertItem(g, at, p)
		}
		return f.keyedChild(g, at, id, p)
	}
	children := f.key("activities")
	if children == nil && f.site.key >= 0 && f.site.node.vals[f.site.key].kind == list {
		children = f.site.node.vals[f.site.key]
	}
	switch {
	case children == nil:
		return refuse(f.site.node.start, "the flowchart has no activities yet; write the first one in the text")
	case children.kind == list:
		return f.text.insertItem(children, len(children.items), p)
	case children.kind == mapping:
		return f.keyedChild(children, len(children.keys), id, p)
	}
	return refuse(children.start, "the activities of the flowchart cannot be added to here; edit the text")
}

// keyedChild puts an activity behind its id.
func (f *flowchart) keyedChild(m *node, at int, id string, p *piece) error {
	copied := m.twin
	copied.keys = slices.Insert(slices.Clone(copied.keys), at, textNode(id))
	copied.vals = slices.Insert(slices.Clone(copied.vals), at, p.node)
	copied.adopt()
	name, err := value(id, inFlow)
	if err != nil {
		return err
	}
	text, err := p.text(true, 0)
	if err != nil {
		return err
	}
	if m.flow {
		f.text.addFlow(m, at, name+": "+text)
		return nil
	}
	line := strings.Repeat(" ", f.text.indent(m.keys[0].start)) + name + ": " + text + f.text.eol
	if at == 0 {
		from, _, whole := f.text.extent(m, 0)
		if !whole {
			return refuse(from, "there is no line for a new activity here; edit the text")
		}
		f.text.put(from, line)
		return nil
	}
	_, to, _ := f.text.extent(m, at-1)
	f.text.lineAt(to, line)
	return nil
}

// between leads each way out of id by port through the new activity.
func (f *flowchart) between(id, port, through string) error {
	first := true
	for i := range f.chains {
		k := &f.chains[i]
		for j := range k.ends {
			if !k.leaves(j, id, port) {
				continue
			}
			var err error
			switch {
			case !k.text:
				err = f.point(k, "source", "from", through, usualOut)
			case first:
				err = f.rewrite(k, k.ends[j].end, k.ends[j].end, " -> "+through)
			case j == 0:
				err = f.rewrite(k, k.ends[0].start, k.ends[0].end, through)
			default:
				err = f.split(k, j, through, "")
			}
			if err != nil {
				return err
			}
			first = first && !k.text
			break
		}
	}
	if first {
		return f.add(id, port, through)
	}
	return nil
}

// ahead leads each way to id through the new activity.
func (f *flowchart) ahead(id, through string) error {
	led := false
	for i := range f.chains {
		k := &f.chains[i]
		for j, e := range k.ends {
			if j == 0 || e.id != id {
				continue
			}
			if !k.text {
				if err := f.point(k, "target", "to", through, usualIn); err != nil {
					return err
				}
				continue
			}
			var err error
			switch last := j == len(k.ends)-1; {
			case !led:
				err = f.rewrite(k, e.start, e.start, through+" -> ")
				led = true
			case last:
				err = f.rewrite(k, e.start, e.end, through)
			default:
				err = f.two(k, string(f.text.src[k.ends[0].start:k.ends[j-1].end])+" -> "+through, string(f.text.src[e.start:k.ends[len(k.ends)-1].end]))
			}
			if err != nil {
				return err
			}
			break
		}
	}
	if !led {
		return f.add(through, "", id)
	}
	return nil
}

// point changes one end of a connection that is a mapping.
func (f *flowchart) point(k *chain, long, short, id, usual string) error {
	v := endNode(k.node, long, short)
	if v == nil {
		return refuse(k.node.start, "this connection cannot be read; write it as from -> to")
	}
	ports := []*node{k.node.val(long + "Port")}
	if short == "from" {
		ports = append(ports, k.node.val("port"))
	}
	if v.parent != k.node { // {activity: …, port: …}
		ports = append(ports, v.parent.val("port"))
	}
	for _, p := range ports {
		if p != nil && p.text != usual {
			if err := f.text.retext(p, usual); err != nil {
				return err
			}
		}
	}
	return f.text.retext(v, id)
}

// retext writes another text in the place of one.
func (c *draft) retext(n *node, s string) error {
	out, err := value(s, inFlow)
	if c.json {
		var raw []byte
		raw, err = json.Marshal(s)
		out = string(raw)
	}
	if err != nil {
		return err
	}
	n.twin.text, n.twin.tag = s, "!!str"
	c.swap(n.start, n.end, out)
	return nil
}

// rename gives all connections of an activity, and the start, another id.
func (f *flowchart) rename(id, to string) error {
	for i := range f.chains {
		k := &f.chains[i]
		var parts []splice
		for j, e := range k.ends {
			switch {
			case e.id != id:
			case k.text:
				parts = append(parts, splice{e.start, e.start + len(id), to})
			default:
				at := endNode(k.node, []string{"source", "target"}[j], []string{"from", "to"}[j])
				if at == nil {
					return refuse(k.node.start, "this connection cannot be read; write it as from -> to")
				}
				text := to
				if at.text != id { // from: id.port
					text = to + strings.TrimPrefix(at.text, id)
				}
				if err := f.text.retext(at, text); err != nil {
					return err
				}
			}
		}
		if len(parts) > 0 {
			if err := f.rewriteAll(k, parts); err != nil {
				return err
			}
		}
	}
	if start := f.key("start"); start != nil && start.kind == scalar && start.text == id {
		return f.text.retext(start, to)
	}
	return nil
}

// endNode is where a connection that is a mapping says which activity an end is; nil: nowhere.
func endNode(n *node, long, short string) *node {
	v := n.val(long)
	if v == nil {
		v = n.val(short)
	}
	if v != nil && v.kind == mapping {
		v = v.val("activity")
	}
	return v
}

// unchain takes an activity out of the connections of its flowchart: what led to it in a chain
// leads on to where it led.
func unchain(c *Change, s *site) error {
	f, err := chartOf(c, s)
	if err != nil {
		return err
	}
	id, gone := s.activity.ID, 0
	touches := func(k *chain) bool { return slices.ContainsFunc(k.ends, func(e end) bool { return e.id == id }) }
	left := func(k *chain) (out []end) {
		for _, e := range k.ends {
			if e.id != id {
				out = append(out, e)
			}
		}
		return out
	}
	for i := range f.chains {
		if k := &f.chains[i]; touches(k) && (!k.text || len(left(k)) < 2) {
			gone++
		}
	}
	if gone > 0 && gone == len(f.chains) {
		return f.text.emptied(f.list, false)
	}
	for i := len(f.chains) - 1; i >= 0; i-- {
		k := &f.chains[i]
		switch {
		case !touches(k):
		case !k.text || len(left(k)) < 2:
			if gone > 1 && f.list.flow { // neighbours share their commas
				return f.without(touches, left)
			}
			if err := f.text.removeItem(f.list, k.node.at, false); err != nil {
				return err
			}
		default:
			if err := f.shorten(k, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// shorten takes an activity out of a chain that goes on without it.
func (f *flowchart) shorten(k *chain, id string) error {
	var parts []splice
	for j := len(k.ends) - 1; j >= 0; j-- {
		if k.ends[j].id != id {
			continue
		}
		if j == len(k.ends)-1 {
			last := j
			for last > 0 && k.ends[last-1].id == id {
				last--
			}
			parts = append(parts, splice{k.ends[last-1].end, k.ends[j].end, ""})
			j = last
			continue
		}
		parts = append(parts, splice{k.ends[j].start, k.ends[j+1].start, ""})
	}
	return f.rewriteAll(k, parts)
}

// without writes a flow list of connections again, without those that are gone.
func (f *flowchart) without(touches func(*chain) bool, left func(*chain) []end) error {
	l := f.list
	copied := l.twin
	var items []*node
	var spans [][2]int
	for i := range f.chains {
		k := &f.chains[i]
		if touches(k) {
			if k.text && len(left(k)) >= 2 {
				return refuse(k.node.start, "the connections of %q stand in a way that cannot be taken apart in one step; disconnect it first", workflow.Shorten(f.site.activity.ID))
			}
			continue
		}
		items, spans = append(items, k.node.twin), append(spans, [2]int{k.node.start, k.node.end})
	}
	copied.items = items
	copied.adopt()
	at := l.items[0].start
	for i, s := range spans {
		if i == 0 {
			f.text.cut(at, s[0])
			at = s[1]
			continue
		}
		before := l.items[slices.IndexFunc(l.items, func(n *node) bool { return n.start == s[0] })-1].end
		f.text.cut(at, before)
		at = s[1]
	}
	f.text.cut(at, l.items[len(l.items)-1].end)
	return nil
}

// settle gives a new activity a place on the canvas of Elsa's designer, if its neighbour has one.
func (f *flowchart) settle(s *site, where string, p *piece, fr fresh) error {
	x, y, ok := position(s.activity)
	if !ok || where == Into {
		return nil
	}
	y += 110
	var row []float64 // what stands beside it
	for _, a := range f.site.activity.Activities {
		if ax, ay, _ := position(a); ay < y+90 && y < ay+90 {
			row = append(row, ax)
		}
	}
	slices.Sort(row)
	for _, ax := range row {
		for ax < x+260 && x < ax+260 {
			x += 280
		}
	}
	fields, err := f.sites.elsa(fr)
	if err != nil {
		return err
	}
	fields["metadata"] = designed(x, y)
	p.text = func(_ bool, column int) (string, error) { return f.text.jsonText(fields, column) }
	text, err := p.text(true, 0)
	if err != nil {
		return err
	}
	if p.node, err = f.text.snippet(text); err != nil {
		return err
	}
	return nil
}

// position is where an activity stands on the canvas of Elsa's designer.
func position(a *workflow.Activity) (x, y float64, ok bool) {
	designer, _ := a.Metadata["designer"].(map[string]any)
	at, _ := designer["position"].(map[string]any)
	number := func(v any) (float64, bool) {
		switch n := v.(type) {
		case float64:
			return n, true
		case int64:
			return float64(n), true
		}
		return 0, false
	}
	x, okX := number(at["x"])
	y, okY := number(at["y"])
	return x, y, okX && okY
}

func designed(x, y float64) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"designer":{"position":{"x":%g,"y":%g}}}`, x, y))
}

// Way is where an outcome of an activity leads.
type Way struct{ Port, To string }

// waysOf are the ways that lead on from an activity.
func (f *flowchart) waysOf(id string) []Way {
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

// leadThrough makes the ways of an activity of a flowchart those of one around it, which has
// another id.
func leadThrough(c *Change, s *site, around string) error {
	if c.sites.role(s.node) != chart {
		return nil
	}
	f, err := chartOf(c, s)
	if err != nil {
		return err
	}
	id := s.activity.ID
	for i := range f.chains {
		k := &f.chains[i]
		for j, e := range k.ends[:len(k.ends)-1] {
			if e.id == id && !samePort(e.port, "", usualOut) {
				return refuse(k.node.start, "a way leads on by the outcome %s of %q to %q, and what is around %q has no such outcome; connect that way otherwise first", workflow.Shorten(e.port), workflow.Shorten(id), workflow.Shorten(k.ends[j+1].id), workflow.Shorten(id))
			}
		}
	}
	if s.node.parent.kind == mapping { // the key is the id
		return nil
	}
	return f.rename(id, around)
}
