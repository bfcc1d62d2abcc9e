package edit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// insert puts a new activity beside or into another one.
func (c change) insert(s *site, e Edit) error {
	where := cmp.Or(e.Where, After)
	f := fresh{typ: e.Type, id: e.ID, inputs: e.Inputs}
	if e.Type == "" {
		return bad("the edit does not say which type of activity it inserts")
	}
	inChart := where == Into && s.activity.Type == flowchartType && e.Branch == "" || where != Into && c.sites.role(s.node) == chart
	if f.id == "" && (inChart || c.text.json) {
		f.id = c.freeID(e.Type)
	}
	c.given = append(c.given, f.id)
	keyed := inChart && !c.text.json && keyed(c.Change, s, where)
	own := f
	if keyed {
		own.id = "" // the key is the id
	}
	p, err := c.piece(own)
	if err != nil {
		return err
	}
	if keyed {
		if _, err := c.sites.check(f); err != nil {
			return err
		}
	}
	if inChart {
		return insertInChart(c.Change, s, where, e.Port, f, p)
	}
	if e.Port != "" {
		return bad("port is for flowcharts, and %q stands in none", workflow.Shorten(e.Activity))
	}
	return c.place(s, where, e.Branch, p)
}

// freeID makes up an id that no activity has.
func (c *Change) freeID(typ string) string {
	base := workflow.LowerFirst(typ[strings.LastIndexByte(typ, '.')+1:])
	base = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, base)
	taken := map[string]bool{}
	for _, s := range c.sites.order {
		taken[s.activity.ID] = true
	}
	for _, id := range c.given {
		taken[id] = true
	}
	for n := 1; ; n++ {
		if id := fmt.Sprintf("%s%d", base, n); !taken[id] {
			return id
		}
	}
}

// place puts a piece before, behind or into an activity that stands in no flowchart.
func (c change) place(s *site, where, branch string, p *piece) error {
	n := s.node
	switch where {
	case Into:
		return c.into(s, branch, p)
	case Before, After:
	default:
		return bad("where is one of %s, not %q", strings.Join(Wheres, ", "), workflow.Shorten(where))
	}
	if branch != "" {
		return bad("a branch is only of where: into")
	}
	switch c.sites.role(n) {
	case step:
		at := n.at
		if where == After {
			at++
		}
		return c.text.insertItem(n.parent, at, p)
	case chart:
		return refuse(n.start, "in a flowchart the connections tell the order; insert and connect there")
	}
	if l := c.several(s); l != nil {
		at := 0
		if where == After {
			at = len(l.items)
		}
		return c.text.insertItem(l, at, p)
	}
	return c.listed(s, where == Before, p)
}

// several is the list of a branch that holds several activities already; nil: it is another one.
func (c change) several(s *site) *node {
	n := s.node
	if c.text.json && s.activity.Type == sequenceType {
		n = n.val("activities")
	}
	if n != nil && n.kind == list {
		return n
	}
	return nil
}

// into puts a piece into an activity, as the last of a branch or of its children.
func (c change) into(s *site, branch string, p *piece) error {
	a, n := s.activity, s.node
	if n.kind == list {
		if branch != "" {
			return bad("a list has no branches")
		}
		return c.text.insertItem(n, len(n.items), p)
	}
	t := c.sites.types.ByType(a.Type)
	branch = usualBranch(t, branch)
	if at := caseOf(t, branch); at > 0 {
		inner, err := intoCase(c.Change, s, at, p)
		if err != nil || inner == nil {
			return err
		}
		return c.place(inner, After, "", p)
	}
	late := branch == "onTimeout" && n.entry("timeout") >= 0 || branch == "onGiveUp" && n.entry("retry") >= 0
	if !late && !hasBranch(t, branch) {
		name := a.Type
		var known []string
		if t != nil {
			name, known = t.ShortName(), t.Ports
		}
		return refuse(n.start, "%s has no branch %q%s", name, workflow.Shorten(branch), workflow.DidYouMean(branch, known))
	}
	if !late && t.List == branch {
		return c.intoList(s, branch, p)
	}
	if child := a.Ports[branch]; child != nil && !late {
		if inner := c.sites.siteOf(child); inner != nil {
			return c.place(inner, After, "", p)
		}
	}
	if v := n.val(branch); v != nil {
		if v.kind == list {
			return c.text.insertItem(v, len(v.items), p)
		}
		if v.written() {
			if inner := c.sites.at[v]; inner != nil {
				return c.listed(inner, false, p)
			}
			return refuse(v.start, "what stands in %s cannot be added to here; edit the text", workflow.Shorten(branch))
		}
		return c.text.fill(n, v.at, p)
	}
	return c.newBranch(s, branch, p)
}

// caseOf is the number of the case that a branch such as case1 means; 0: it means none.
func caseOf(t *workflow.Descriptor, branch string) int {
	number, ok := strings.CutPrefix(branch, CasePart)
	at, err := strconv.Atoi(number)
	if !ok || err != nil || t == nil || !t.CaseBodies {
		return 0
	}
	return at
}

// usualBranch is the branch that is meant where none is named.
func usualBranch(t *workflow.Descriptor, branch string) string {
	if branch != "" || t == nil {
		return branch
	}
	if branch = cmp.Or(t.List, t.MainPort); branch == "" && len(t.Ports) > 0 {
		branch = t.Ports[0]
	}
	return branch
}

func hasBranch(t *workflow.Descriptor, branch string) bool {
	return t != nil && branch != "" && (branch == t.List || slices.Contains(t.Ports, branch))
}

// siteOf finds where an activity is written: itself, or what it was written for.
func (d *sites) siteOf(a *workflow.Activity) *site {
	for a != nil {
		if s := d.of[a]; s != nil {
			return s
		}
		switch {
		case written(a) && a.Ports["body"] != nil:
			a = a.Ports["body"]
		case written(a) && len(a.Activities) > 0:
			a = a.Activities[0]
		default:
			return nil
		}
	}
	return nil
}

// intoList puts a piece behind the children of a container.
func (c change) intoList(s *site, name string, p *piece) error {
	n := s.node
	v := n.val(name)
	if v == nil && s.key >= 0 {
		if v = n.vals[s.key]; v.kind == mapping {
			v = v.val(name)
		}
	}
	switch {
	case v == nil:
		return c.newBranch(s, name, p)
	case v.kind == list:
		return c.text.insertItem(v, len(v.items), p)
	case v.isNull() && !v.written() && v.parent.kind == mapping && !v.parent.flow:
		return c.text.fill(v.parent, v.at, p)
	}
	return refuse(v.start, "the activities stand here in a way that cannot be added to; edit the text")
}

// fill puts a list with a piece behind a key that has nothing.
func (c *draft) fill(in *node, at int, p *piece) error {
	in.twin.vals[at].replace(listOf(p.node))
	c.focus = p.node
	if in.flow {
		text, err := p.text(true, c.flowColumn(in))
		if err != nil {
			return err
		}
		c.put(in.colons[at], " ["+text+"]")
		return nil
	}
	column := c.indent(in.keys[at].start) + 2
	item, err := c.item(p, column)
	if err != nil {
		return err
	}
	c.lineAt(c.next(in.colons[at]), item)
	return nil
}

// item is the lines of a piece as an item of a list whose dashes stand at column, with what leads it.
func (c *draft) item(p *piece, column int) (string, error) {
	pad := strings.Repeat(" ", column)
	text, err := p.text(false, column+2)
	if err != nil {
		return "", err
	}
	own := ""
	for _, l := range p.lead {
		own += pad + l + c.eol
	}
	return own + pad + "- " + text + c.eol, nil
}

// newBranch gives an activity a branch with a piece in it.
func (c change) newBranch(s *site, branch string, p *piece) error {
	n := s.node
	if n.kind != mapping {
		return refuse(n.start, "%q is written as a bare name; write a mapping to give it a branch", workflow.Shorten(n.text))
	}
	return c.text.newKey(n, branch, p, c.text.json && branch != c.sites.types.ByType(s.activity.Type).List)
}

// newKey gives a mapping one more key, with a list of a piece, or with nothing but the piece.
func (c *draft) newKey(n *node, key string, p *piece, single bool) error {
	v := listOf(p.node)
	if single {
		v = p.node
	}
	n.twin.insertEntry(key, v)
	c.focus = p.node
	if !n.flow {
		column := c.indent(n.keys[0].start)
		pad := strings.Repeat(" ", column)
		item, err := c.item(p, column+2)
		if err != nil {
			return err
		}
		_, to, _ := c.extent(n, len(n.keys)-1)
		c.lineAt(to, pad+key+":"+c.eol+item)
		return nil
	}
	text, err := p.text(true, c.flowColumn(n))
	if err != nil {
		return err
	}
	switch {
	case !c.json:
		text = key + ": [" + text + "]"
	default:
		if v.kind == list {
			text = "[" + text + "]"
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text = string(name) + ": " + text
	}
	c.addFlow(n, len(n.keys), text)
	return nil
}

// delete takes an activity away, with all that is in it.
func (c change) delete(s *site) error {
	n := s.node
	if c.sites.role(n) == chart {
		if err := unchain(c.Change, s); err != nil {
			return err
		}
	}
	c.text.focus = n.parent.twin
	if o := c.sites.owner(n); o != nil {
		c.text.focus = o.node.twin
	}
	return c.remove(n, true)
}

// branchKeys are keys that may go with what stands behind them.
var branchKeys = []string{"onTimeout", "onGiveUp", "then", "do", "entry", "exit", "on", "activity", "action", "trigger"}

// remove takes a value of the place where an activity stands away. drop tells that the comments in it go too.
func (c change) remove(n *node, drop bool) error {
	g := n.parent
	if g == nil {
		return refuse(n.start, "this cannot be deleted")
	}
	if g.kind == list {
		if len(g.items) > 1 || c.text.json {
			return c.text.removeItem(g, n.at, drop)
		}
		return c.removeLast(g, drop)
	}
	owner := c.sites.at[g]
	key := g.keys[n.at].text
	port := slices.Contains(branchKeys, key)
	if owner != nil {
		if t := c.sites.types.ByType(owner.activity.Type); t != nil && slices.Contains(t.Ports, key) {
			port = true
		}
	}
	if o := c.sites.owner(n); o != nil && o.activity.Type == flowchartType && g != o.node {
		port = true // a child by its id
	}
	if port && !(owner != nil && n.at == owner.key) {
		return c.text.removeEntry(g, n.at, drop)
	}
	if c.text.json {
		return refuse(n.start, "this place has to hold an activity; put another one in its place in the text")
	}
	return c.text.emptied(n, drop)
}

// removeLast takes away a list with its only item: with its key, if that is a branch.
func (c change) removeLast(l *node, drop bool) error {
	g := l.parent
	if g == nil {
		return refuse(l.start, "this cannot be deleted")
	}
	if g.kind == list {
		return c.remove(l, drop)
	}
	key := g.keys[l.at].text
	owner := c.sites.at[g]
	if owner != nil && l.at != owner.key {
		if t := c.sites.types.ByType(owner.activity.Type); slices.Contains(branchKeys, key) || t != nil && slices.Contains(t.Ports, key) {
			return c.text.removeEntry(g, l.at, drop)
		}
	}
	return c.text.emptied(l, drop)
}

// emptied leaves an empty list.
func (c *draft) emptied(n *node, drop bool) error {
	g := n.parent
	empty := &node{kind: list, from: n.twin.from}
	n.twin.replace(empty)
	if c.focus == n.twin {
		c.focus = empty
	}
	if g.flow || n.flow || !strings.Contains(string(c.src[g.colons[n.at]:n.start]), "\n") {
		if drop {
			c.taken = [2]int{n.start, n.end}
		}
		c.swap(n.start, n.end, "[]")
		return nil
	}
	from := c.next(g.colons[n.at])
	_, to, _ := c.extent(g, n.at)
	if drop {
		c.taken = [2]int{from, to}
	}
	c.put(g.colons[n.at], " []")
	c.cutLines(from, to)
	return nil
}

// removeItem takes an item of several out of a list.
func (c *draft) removeItem(l *node, at int, drop bool) error {
	defer func() { l.twin.removeItem(l.items[at].twin.at) }()
	if l.flow {
		if drop {
			c.taken = [2]int{l.items[at].start, l.items[at].end}
		}
		c.cutFlow(l, at)
		return nil
	}
	from, to, whole := c.extent(l, at)
	if !whole {
		to = l.dashes[at+1]
	}
	if drop {
		c.taken = [2]int{from, to}
	}
	if whole {
		c.cutLines(from, to)
	} else {
		c.cut(from, to)
	}
	return nil
}

// removeEntry takes a key with its value out of a mapping.
func (c *draft) removeEntry(m *node, at int, drop bool) error {
	defer func() { m.twin.removeEntry(m.vals[at].twin.at) }()
	if m.flow {
		if drop {
			c.taken = [2]int{m.keys[at].start, max(m.keys[at].end, m.vals[at].end)}
		}
		c.cutFlow(m, at)
		return nil
	}
	from, to, whole := c.extent(m, at)
	switch {
	case whole && len(m.keys) == 1 && m.parent != nil:
		defer m.twin.replace(nullNode())
		fallthrough
	case whole:
		if drop {
			c.taken = [2]int{from, to}
		}
		c.cutLines(from, to)
	case len(m.keys) > 1:
		if drop {
			c.taken = [2]int{from, m.vals[at].end}
		}
		c.cut(from, m.keys[at+1].start)
	default:
		return refuse(from, "nothing would be left here; edit the text")
	}
	return nil
}
