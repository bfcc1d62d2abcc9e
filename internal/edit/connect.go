package edit

import (
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
	*change
	site   *site
	ids    []string // of its activities, as the text calls them
	list   *node    // the connections; nil: there are none
	chains []chain
}

// chartOf is the flowchart that an activity stands in.
func (c *change) chartOf(s *site) (*flowchart, error) {
	owner := c.owner(s.node)
	if owner == nil || owner.activity.Type != flowchartType {
		return nil, refuse(s.node.start, "%q stands in no flowchart, so that nothing is connected there", workflow.Shorten(s.activity.ID))
	}
	return c.openChart(owner)
}

func (c *change) openChart(s *site) (*flowchart, error) {
	f := &flowchart{change: c, site: s}
	for _, a := range s.activity.Activities {
		if inner := c.siteOf(a); inner != nil {
			f.ids = append(f.ids, inner.activity.ID)
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
	m := f.site.node
	if f.site.key >= 0 {
		if body := m.vals[f.site.key]; body.kind == mapping {
			if v := body.val(name); v != nil {
				return v
			}
		}
	}
	return m.val(name)
}

// read reads one of the connections.
func (f *flowchart) read(n *node) (chain, error) {
	k := chain{node: n}
	switch n.kind {
	case scalar:
		k.text = true
		at := n.start + strings.Index(string(f.src[n.start:n.end]), n.text)
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
	best := end{id: text}
	found := false
	for _, id := range f.ids {
		if rest, ok := strings.CutPrefix(text, id); ok && (rest == "" || rest[0] == '.') && (!found || len(id) > len(best.id)) {
			best, found = end{id: id, port: strings.TrimPrefix(rest, ".")}, true
		}
	}
	return best
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

// way connects two activities, or takes what connects them away.
func (c *change) way(s *site, e Edit) error {
	f, err := c.chartOf(s)
	if err != nil {
		return err
	}
	if !slices.Contains(f.ids, e.To) {
		return bad("there is no activity %q in this flowchart%s", workflow.Shorten(e.To), workflow.DidYouMean(e.To, f.ids))
	}
	for i := range f.chains {
		k := &f.chains[i]
		for j := range k.ends {
			if !k.leaves(j, s.activity.ID, e.Port) || k.ends[j+1].id != e.To {
				continue
			}
			if e.Op == Connect {
				return refuse(k.node.start, "%s leads to %q already", workflow.Shorten(spelled(s.activity.ID, e.Port)), workflow.Shorten(e.To))
			}
			return f.cutWay(k, j)
		}
	}
	if e.Op == Disconnect {
		return refuse(f.site.node.start, "nothing leads from %s to %q", workflow.Shorten(spelled(s.activity.ID, e.Port)), workflow.Shorten(e.To))
	}
	return f.add(s.activity.ID, e.Port, e.To)
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
		f.copies[v].replace(listOf(want))
		if v.written() || m.flow {
			f.swap(v.start, v.end, "["+text+"]")
		} else {
			f.put(m.colons[v.at], f.eol+strings.Repeat(" ", f.indent(m.keys[v.at].start)+2)+"- "+text)
		}
		return nil
	}
	copied := f.copies[m]
	copied.insertEntry("connections", listOf(want))
	if m.flow {
		name := "connections: "
		if f.json {
			name = `"connections": `
		}
		f.addFlow(m, len(m.keys), name+"["+text+"]")
		return nil
	}
	pad := strings.Repeat(" ", f.indent(m.keys[0].start))
	_, end, _ := f.extent(m, len(m.keys)-1)
	f.lineAt(end, pad+"connections:"+f.eol+pad+"  - "+text+f.eol)
	return nil
}

// line is a connection as text and as a tree.
func (f *flowchart) line(from, port, to string) (string, *node, error) {
	var text string
	if f.json {
		if port == "" {
			port = usualOut
		}
		raw, err := json.Marshal(map[string]any{"source": map[string]any{"activity": from, "port": port}, "target": map[string]any{"activity": to, "port": usualIn}})
		if err != nil {
			return "", nil, err
		}
		column := 0
		if f.list != nil {
			column = f.flowColumn(f.list)
		}
		if text, err = f.pretty(raw, column); err != nil {
			return "", nil, err
		}
	} else {
		var err error
		if text, err = value(spelled(from, port)+" -> "+to, between(f.list == nil || f.list.flow)); err != nil {
			return "", nil, err
		}
	}
	want, err := f.snippet(text)
	if err == nil {
		want.each(func(n *node) { n.from = nil })
	}
	return text, want, err
}

// append puts a connection behind the others.
func (f *flowchart) append(text string, want *node) {
	l := f.list
	f.copies[l].insertItem(len(f.copies[l].items), want)
	if l.flow {
		f.addFlow(l, len(l.items), text)
		return
	}
	_, to, _ := f.extent(l, len(l.items)-1)
	f.lineAt(to, strings.Repeat(" ", f.indent(l.dashes[0]))+"- "+text+f.eol)
}

// cutWay takes one way out of a chain.
func (f *flowchart) cutWay(k *chain, at int) error {
	if len(k.ends) == 2 {
		return f.dropChain(k)
	}
	switch n := len(k.ends); at {
	case 0:
		f.rewrite(k, k.ends[0].start, k.ends[1].start, "")
	case n - 2:
		f.rewrite(k, k.ends[n-2].end, k.ends[n-1].end, "")
	default:
		return f.split(k, at, k.ends[at+1].id, k.ends[at+1].port)
	}
	return nil
}

// dropChain takes a whole item away; the last one leaves an empty list.
func (f *flowchart) dropChain(k *chain) error {
	l := k.node.parent
	if len(l.items) == 1 && !l.flow {
		f.copies[k.node].parent.removeItem(0)
		from := f.next(l.parent.colons[l.at])
		_, to, _ := f.extent(l, 0)
		f.put(l.parent.colons[l.at], " []")
		f.cutLines(from, to)
		return nil
	}
	return f.removeItem(l, k.node.at, false)
}

// rewrite puts a text in the place of a part of a chain.
func (f *flowchart) rewrite(k *chain, from, to int, text string) {
	copied := f.copies[k.node]
	lead := k.node.start + strings.Index(string(f.src[k.node.start:k.node.end]), k.node.text)
	copied.text = copied.text[:from-lead] + text + copied.text[to-lead:]
	f.swap(from, to, text)
}

// split makes two chains of one: the second begins with other ends than it did.
func (f *flowchart) split(k *chain, at int, id, port string) error {
	head := string(f.src[k.ends[0].start:k.ends[at].end])
	tail := spelled(id, port)
	if rest := at + 2; id == k.ends[at+1].id { // a way is taken out
		if rest < len(k.ends) {
			tail += " -> " + string(f.src[k.ends[rest].start:k.ends[len(k.ends)-1].end])
		}
	} else {
		tail += " -> " + string(f.src[k.ends[at+1].start:k.ends[len(k.ends)-1].end])
	}
	return f.two(k, head, tail)
}

// two writes two chains in the place of one.
func (f *flowchart) two(k *chain, head, tail string) error {
	l := k.node.parent
	if string(f.src[k.node.start:k.node.end]) != k.node.text {
		return refuse(k.node.start, "this connection is in quotes; write it without them, or edit the text")
	}
	copied := f.copies[k.node]
	copied.text = head
	f.copies[l].insertItem(copied.at+1, textNode(tail))
	sep := ", "
	if !l.flow {
		sep = f.eol + strings.Repeat(" ", f.indent(l.dashes[0])) + "- "
	}
	f.swap(k.node.start, k.node.end, head+sep+tail)
	return nil
}

// keyed tells whether the children of the flowchart that gets one stand behind their ids.
func (c *change) keyed(s *site, where string) bool {
	n := s.node
	if where == Into {
		f := &flowchart{change: c, site: s}
		children := f.key("activities")
		return children == nil || children.kind != list
	}
	return n.parent.kind == mapping
}

// insertInChart puts a new activity into a flowchart, and between another one and what that leads to.
func (c *change) insertInChart(s *site, where, port string, fr fresh, p *piece) error {
	owner := s
	if where != Into {
		owner = c.owner(s.node)
	}
	f, err := c.openChart(owner)
	if err != nil {
		return err
	}
	if c.json {
		if err := f.position(s, where, p, fr); err != nil {
			return err
		}
	}
	if err := f.child(s, where, fr.id, p); err != nil {
		return err
	}
	c.focus = p.node
	at := c.focus
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
	c.focus = at
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
			return f.insertItem(g, at, p)
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
		return f.insertItem(children, len(children.items), p)
	case children.kind == mapping:
		return f.keyedChild(children, len(children.keys), id, p)
	}
	return refuse(children.start, "the activities of the flowchart cannot be added to here; edit the text")
}

// keyedChild puts an activity behind its id.
func (f *flowchart) keyedChild(m *node, at int, id string, p *piece) error {
	copied := f.copies[m]
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
		f.addFlow(m, at, name+": "+text)
		return nil
	}
	line := strings.Repeat(" ", f.indent(m.keys[0].start)) + name + ": " + text + f.eol
	if at == 0 {
		from, _, whole := f.extent(m, 0)
		if !whole {
			return refuse(from, "there is no line for a new activity here; edit the text")
		}
		f.put(from, line)
		return nil
	}
	_, to, _ := f.extent(m, at-1)
	f.lineAt(to, line)
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
				f.rewrite(k, k.ends[j].end, k.ends[j].end, " -> "+through)
			case j == 0:
				f.rewrite(k, k.ends[0].start, k.ends[0].end, through)
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
			last := j == len(k.ends)-1
			switch {
			case !led:
				f.rewrite(k, e.start, e.start, through+" -> ")
				led = true
			case last:
				f.rewrite(k, e.start, e.end, through)
			default:
				if err := f.two(k, string(f.src[k.ends[0].start:k.ends[j-1].end])+" -> "+through, string(f.src[e.start:k.ends[len(k.ends)-1].end])); err != nil {
					return err
				}
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
	v := k.node.val(long)
	if v == nil {
		v = k.node.val(short)
	}
	if v == nil {
		return refuse(k.node.start, "this connection cannot be read; write it as from -> to")
	}
	text := func(s string) (string, error) {
		if f.json {
			raw, err := json.Marshal(s)
			return string(raw), err
		}
		return value(s, inFlow)
	}
	replace := func(n *node, s string) error {
		out, err := text(s)
		if err != nil {
			return err
		}
		f.copies[n].text, f.copies[n].tag = s, "!!str"
		f.swap(n.start, n.end, out)
		return nil
	}
	ports := []*node{k.node.val(long + "Port")}
	if short == "from" {
		ports = append(ports, k.node.val("port"))
	}
	if v.kind == mapping {
		ports = append(ports, v.val("port"))
		if v = v.val("activity"); v == nil {
			return refuse(k.node.start, "this connection cannot be read; write it as from -> to")
		}
	}
	for _, p := range ports {
		if p != nil && p.text != usual {
			if err := replace(p, usual); err != nil {
				return err
			}
		}
	}
	return replace(v, id)
}

// unchain takes an activity out of the connections of its flowchart: what led to it in a chain
// leads on to where it led.
func (c *change) unchain(s *site) error {
	f, err := c.chartOf(s)
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
		return f.noChains()
	}
	for i := len(f.chains) - 1; i >= 0; i-- {
		k := &f.chains[i]
		switch {
		case !touches(k):
		case !k.text || len(left(k)) < 2:
			if gone > 1 && f.list.flow { // neighbours share their commas
				return f.without(touches, left)
			}
			if err := f.removeItem(f.list, k.node.at, false); err != nil {
				return err
			}
		default:
			f.shorten(k, id)
		}
	}
	return nil
}

// shorten takes an activity out of a chain that goes on without it.
func (f *flowchart) shorten(k *chain, id string) {
	for j := len(k.ends) - 1; j >= 0; j-- {
		if k.ends[j].id != id {
			continue
		}
		if j == len(k.ends)-1 {
			last := j
			for last > 0 && k.ends[last-1].id == id {
				last--
			}
			f.rewrite(k, k.ends[last-1].end, k.ends[j].end, "")
			j = last
			continue
		}
		f.rewrite(k, k.ends[j].start, k.ends[j+1].start, "")
	}
}

// noChains leaves an empty list of connections.
func (f *flowchart) noChains() error {
	l := f.list
	f.copies[l].items = nil
	if l.flow || !strings.Contains(string(f.src[l.parent.colons[l.at]:l.start]), "\n") {
		f.swap(l.start, l.end, "[]")
		return nil
	}
	from := f.next(l.parent.colons[l.at])
	_, to, _ := f.extent(l.parent, l.at)
	f.put(l.parent.colons[l.at], " []")
	f.cutLines(from, to)
	return nil
}

// without writes a flow list of connections again, without those that are gone.
func (f *flowchart) without(touches func(*chain) bool, left func(*chain) []end) error {
	l := f.list
	copied := f.copies[l]
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
		items, spans = append(items, f.copies[k.node]), append(spans, [2]int{k.node.start, k.node.end})
	}
	copied.items = items
	copied.adopt()
	at := l.items[0].start
	for i, s := range spans {
		if i == 0 {
			f.cut(at, s[0])
			at = s[1]
			continue
		}
		before := l.items[slices.IndexFunc(l.items, func(n *node) bool { return n.start == s[0] })-1].end
		f.cut(at, before)
		at = s[1]
	}
	f.cut(at, l.items[len(l.items)-1].end)
	return nil
}

// position gives a new activity a place on the canvas of Elsa's designer, if its neighbour has one.
func (f *flowchart) position(s *site, where string, p *piece, fr fresh) error {
	designer, _ := s.activity.Metadata["designer"].(map[string]any)
	at, _ := designer["position"].(map[string]any)
	x, okX := coordinate(at["x"])
	y, okY := coordinate(at["y"])
	if !okX || !okY || where == Into {
		return nil
	}
	taken := func(x, y float64) bool {
		for _, a := range f.site.activity.Activities {
			d, _ := a.Metadata["designer"].(map[string]any)
			at, _ := d["position"].(map[string]any)
			ax, _ := coordinate(at["x"])
			ay, _ := coordinate(at["y"])
			if ax < x+260 && x < ax+260 && ay < y+90 && y < ay+90 {
				return true
			}
		}
		return false
	}
	y += 110
	for taken(x, y) {
		x += 280
	}
	fields, err := f.elsa(fr)
	if err != nil {
		return err
	}
	fields["metadata"] = json.RawMessage(fmt.Sprintf(`{"designer":{"position":{"x":%g,"y":%g}}}`, x, y))
	p.text = func(_ bool, column int) (string, error) { return f.jsonText(fields, column) }
	text, err := p.text(true, 0)
	if err != nil {
		return err
	}
	if p.node, err = f.snippet(text); err != nil {
		return err
	}
	p.node.each(func(n *node) { n.from = nil })
	return nil
}

func coordinate(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	}
	return 0, false
}
