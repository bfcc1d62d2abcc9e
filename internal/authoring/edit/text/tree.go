package text

import (
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// Kind is what sort of value a node is.
type Kind uint8

// What sort of value a node is.
const (
	Scalar Kind = iota
	List
	Mapping
	Alias
)

// Node is one value of a source, with where it stands.
type Node struct {
	Kind       Kind
	Flow       bool   // a list in [ ], a mapping in { }
	Tag, Text  string // of a scalar; an alias has its name
	Start, End int    // bytes; a value that is not written has none
	Keys, Vals []*Node
	Items      []*Node
	Dashes     []int // of a block list: where each item's - is
	Colons     []int // of a mapping: behind each key's colon
	Parent     *Node
	At         int // among the parent's items or vals
	IsKey      bool
	Target     *Node // of an alias: what it repeats

	From *Node // in a tree that was read again: the same value before the edits; nil: it is new
	Twin *Node // while an edit is made: of the tree before it the same value in the tree that it means, and of that one in the tree after it
}

// slab makes nodes many at a time: a text may have half a million.
type slab []Node

func (s *slab) make() *Node {
	if len(*s) == 0 {
		*s = make([]Node, 256)
	}
	n := &(*s)[0]
	*s = (*s)[1:]
	return n
}

// IsNull tells whether it is null, written or not.
func (n *Node) IsNull() bool { return n.Kind == Scalar && n.Tag == "!!null" }

// Written tells whether a value has any text of its own.
func (n *Node) Written() bool { return n.End > n.Start }

// Adopt numbers the children.
func (n *Node) Adopt() {
	for i, c := range n.Items {
		c.Parent, c.At = n, i
	}
	for i, c := range n.Vals {
		c.Parent, c.At = n, i
		n.Keys[i].Parent, n.Keys[i].At, n.Keys[i].IsKey = n, i, true
	}
}

// Entry is the position of a key; -1: it is not there.
func (n *Node) Entry(name string) int {
	for i, k := range n.Keys {
		if k.Text == name {
			return i
		}
	}
	return -1
}

// Val is the value of a key, nil if it is not there.
func (n *Node) Val(name string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	if i := n.Entry(name); i >= 0 {
		return n.Vals[i]
	}
	return nil
}

// spans are the places of what a flow collection holds.
func (n *Node) spans() [][2]int {
	var out [][2]int
	for _, c := range n.Items {
		out = append(out, [2]int{c.Start, c.End})
	}
	for i, k := range n.Keys {
		out = append(out, [2]int{k.Start, max(k.End, n.Vals[i].End)})
	}
	return out
}

// clone copies a tree; each copy knows what it is of.
func (n *Node) clone(from *slab) *Node {
	c := from.make()
	*c = *n
	c.From, c.Twin = n, nil
	all := func(of []*Node) []*Node {
		var out []*Node
		if len(of) > 0 {
			out = make([]*Node, len(of))
		}
		for i, k := range of {
			out[i] = k.clone(from)
		}
		return out
	}
	c.Items, c.Keys, c.Vals = all(n.Items), all(n.Keys), all(n.Vals)
	c.Adopt()
	return c
}

// Same tells whether two trees mean the same, and ties got to want and to its origins.
func Same(want, got *Node) error {
	if want.Kind != got.Kind || want.Tag != got.Tag || want.Text != got.Text || len(want.Items) != len(got.Items) || len(want.Keys) != len(got.Keys) {
		return fmt.Errorf("%s became %s", describe(want), describe(got))
	}
	got.From, want.Twin = want.From, got
	for i := range want.Items {
		if err := Same(want.Items[i], got.Items[i]); err != nil {
			return err
		}
	}
	for i := range want.Keys {
		if err := Same(want.Keys[i], got.Keys[i]); err != nil {
			return err
		}
		if err := Same(want.Vals[i], got.Vals[i]); err != nil {
			return err
		}
	}
	return nil
}

// equal tells whether two trees mean the same, but for what their aliases repeat.
func equal(a, b *Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Keys) != len(b.Keys) {
		return false
	}
	return slices.EqualFunc(a.Items, b.Items, equal) && slices.EqualFunc(a.Keys, b.Keys, equal) && slices.EqualFunc(a.Vals, b.Vals, equal)
}

// Repeated finds an alias that repeats something else than before the edits; nil: none does. An
// alias inside of what another one repeats is one of the tree, and held for itself.
func Repeated(now *Node) (found *Node) {
	held := map[[2]*Node]bool{} // a thousand aliases of one large list cost one walk
	now.Each(func(n *Node) {
		if found != nil || n.Kind != Alias || n.From == nil {
			return
		}
		pair := [2]*Node{n.From.Target, n.Target}
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

func describe(n *Node) string {
	switch n.Kind {
	case List:
		return fmt.Sprintf("a list of %d", len(n.Items))
	case Mapping:
		return fmt.Sprintf("a mapping of %d", len(n.Keys))
	case Alias:
		return "*" + workflow.Shorten(n.Text)
	}
	return fmt.Sprintf("%q", workflow.Shorten(n.Text))
}

// Each visits a tree, parents first.
func (n *Node) Each(visit func(*Node)) {
	visit(n)
	for _, c := range n.Items {
		c.Each(visit)
	}
	for i := range n.Keys {
		n.Keys[i].Each(visit)
		n.Vals[i].Each(visit)
	}
}

// Within tells whether it is outer, or stands in it.
func (n *Node) Within(outer *Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// The functions here change the tree that an edit means.

// InsertItem gives a list one more item.
func (n *Node) InsertItem(at int, c *Node) {
	n.Items = append(n.Items[:at:at], append([]*Node{c}, n.Items[at:]...)...)
	n.Adopt()
}

// RemoveItem takes an item out of a list.
func (n *Node) RemoveItem(at int) {
	n.Items = append(n.Items[:at:at], n.Items[at+1:]...)
	n.Adopt()
}

// InsertEntry gives a mapping one more key, behind the others.
func (n *Node) InsertEntry(key string, v *Node) {
	n.Keys, n.Vals = append(n.Keys, NewString(key)), append(n.Vals, v)
	n.Adopt()
}

func (n *Node) removeEntry(at int) {
	n.Keys = append(n.Keys[:at:at], n.Keys[at+1:]...)
	n.Vals = append(n.Vals[:at:at], n.Vals[at+1:]...)
	n.Adopt()
}

// Replace puts another value in the place of n.
func (n *Node) Replace(with *Node) {
	p := n.Parent
	switch {
	case p == nil:
	case p.Kind == List:
		p.Items[n.At] = with
	default:
		p.Vals[n.At] = with
	}
	if p != nil {
		p.Adopt()
	}
}

// NewString is a text.
func NewString(s string) *Node { return &Node{Kind: Scalar, Tag: "!!str", Text: s} }

// NewNull is null.
func NewNull() *Node { return &Node{Kind: Scalar, Tag: "!!null"} }

// NewList is a list.
func NewList(items ...*Node) *Node {
	n := &Node{Kind: List, Items: items}
	n.Adopt()
	return n
}
