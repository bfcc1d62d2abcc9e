package edit

import (
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

type kind uint8

const (
	scalar kind = iota
	list
	mapping
	alias
)

// node is one value of a source, with where it stands.
type node struct {
	kind       kind
	flow       bool   // a list in [ ], a mapping in { }
	tag, text  string // of a scalar; an alias has its name
	start, end int    // bytes; a value that is not written has none
	keys, vals []*node
	items      []*node
	dashes     []int // of a block list: where each item's - is
	colons     []int // of a mapping: behind each key's colon
	parent     *node
	at         int // among the parent's items or vals
	isKey      bool
	target     *node // of an alias: what it repeats

	from *node // in a tree that was read again: the same value before the edits; nil: it is new
	twin *node // while an edit is made: of the tree before it the same value in the tree that it means, and of that one in the tree after it
}

// slab makes nodes many at a time: a text may have half a million.
type slab []node

func (s *slab) make() *node {
	if len(*s) == 0 {
		*s = make([]node, 256)
	}
	n := &(*s)[0]
	*s = (*s)[1:]
	return n
}

func (n *node) isNull() bool { return n.kind == scalar && n.tag == "!!null" }

// written tells whether a value has any text of its own.
func (n *node) written() bool { return n.end > n.start }

// adopt numbers the children.
func (n *node) adopt() {
	for i, c := range n.items {
		c.parent, c.at = n, i
	}
	for i, c := range n.vals {
		c.parent, c.at = n, i
		n.keys[i].parent, n.keys[i].at, n.keys[i].isKey = n, i, true
	}
}

// entry is the position of a key; -1: it is not there.
func (n *node) entry(name string) int {
	for i, k := range n.keys {
		if k.text == name {
			return i
		}
	}
	return -1
}

// val is the value of a key, nil if it is not there.
func (n *node) val(name string) *node {
	if n == nil || n.kind != mapping {
		return nil
	}
	if i := n.entry(name); i >= 0 {
		return n.vals[i]
	}
	return nil
}

// spans are the places of what a flow collection holds.
func (n *node) spans() [][2]int {
	var out [][2]int
	for _, c := range n.items {
		out = append(out, [2]int{c.start, c.end})
	}
	for i, k := range n.keys {
		out = append(out, [2]int{k.start, max(k.end, n.vals[i].end)})
	}
	return out
}

// clone copies a tree; each copy knows what it is of.
func (n *node) clone(from *slab) *node {
	c := from.make()
	*c = *n
	c.from, c.twin = n, nil
	all := func(of []*node) []*node {
		var out []*node
		if len(of) > 0 {
			out = make([]*node, len(of))
		}
		for i, k := range of {
			out[i] = k.clone(from)
		}
		return out
	}
	c.items, c.keys, c.vals = all(n.items), all(n.keys), all(n.vals)
	c.adopt()
	return c
}

// same tells whether two trees mean the same, and ties got to want and to its origins.
func same(want, got *node) error {
	if want.kind != got.kind || want.tag != got.tag || want.text != got.text || len(want.items) != len(got.items) || len(want.keys) != len(got.keys) {
		return fmt.Errorf("%s became %s", describe(want), describe(got))
	}
	got.from, want.twin = want.from, got
	for i := range want.items {
		if err := same(want.items[i], got.items[i]); err != nil {
			return err
		}
	}
	for i := range want.keys {
		if err := same(want.keys[i], got.keys[i]); err != nil {
			return err
		}
		if err := same(want.vals[i], got.vals[i]); err != nil {
			return err
		}
	}
	return nil
}

// equal tells whether two trees mean the same, but for what their aliases repeat.
func equal(a, b *node) bool {
	if a.kind != b.kind || a.tag != b.tag || a.text != b.text || len(a.items) != len(b.items) || len(a.keys) != len(b.keys) {
		return false
	}
	return slices.EqualFunc(a.items, b.items, equal) && slices.EqualFunc(a.keys, b.keys, equal) && slices.EqualFunc(a.vals, b.vals, equal)
}

// repeated finds an alias that repeats something else than before the edits; nil: none does. An
// alias inside of what another one repeats is one of the tree, and held for itself.
func repeated(now *node) (found *node) {
	held := map[[2]*node]bool{} // a thousand aliases of one large list cost one walk
	now.each(func(n *node) {
		if found != nil || n.kind != alias || n.from == nil {
			return
		}
		pair := [2]*node{n.from.target, n.target}
		ok, known := held[pair]
		if !known {
			ok = equal(pair[0], pair[1])
			held[pair] = ok
		}
		if !ok {
			found = n
		}
	})
	return found
}

func describe(n *node) string {
	switch n.kind {
	case list:
		return fmt.Sprintf("a list of %d", len(n.items))
	case mapping:
		return fmt.Sprintf("a mapping of %d", len(n.keys))
	case alias:
		return "*" + workflow.Shorten(n.text)
	}
	return fmt.Sprintf("%q", workflow.Shorten(n.text))
}

// each visits a tree, parents first.
func (n *node) each(visit func(*node)) {
	visit(n)
	for _, c := range n.items {
		c.each(visit)
	}
	for i := range n.keys {
		n.keys[i].each(visit)
		n.vals[i].each(visit)
	}
}

func (n *node) within(outer *node) bool {
	for ; n != nil; n = n.parent {
		if n == outer {
			return true
		}
	}
	return false
}

// The functions here change the tree that an edit means.

func (n *node) insertItem(at int, c *node) {
	n.items = append(n.items[:at:at], append([]*node{c}, n.items[at:]...)...)
	n.adopt()
}

func (n *node) removeItem(at int) {
	n.items = append(n.items[:at:at], n.items[at+1:]...)
	n.adopt()
}

func (n *node) insertEntry(key string, v *node) {
	n.keys, n.vals = append(n.keys, textNode(key)), append(n.vals, v)
	n.adopt()
}

func (n *node) removeEntry(at int) {
	n.keys = append(n.keys[:at:at], n.keys[at+1:]...)
	n.vals = append(n.vals[:at:at], n.vals[at+1:]...)
	n.adopt()
}

// replace puts another value in the place of n.
func (n *node) replace(with *node) {
	p := n.parent
	switch {
	case p == nil:
	case p.kind == list:
		p.items[n.at] = with
	default:
		p.vals[n.at] = with
	}
	if p != nil {
		p.adopt()
	}
}

func textNode(s string) *node { return &node{kind: scalar, tag: "!!str", text: s} }

func nullNode() *node { return &node{kind: scalar, tag: "!!null"} }

func listOf(items ...*node) *node {
	n := &node{kind: list, items: items}
	n.adopt()
	return n
}
