package jsontree

import (
	"strings"
)

// Value gives n as Go's JSON types: nil, bool, string, []any, map[string]any,
// float64; whole numbers that float64 cannot hold as [workflow.Number] has them.
func (n *Node) Value() any {
	switch n.Kind {
	case Boolean:
		return n.Yes
	case String:
		return n.Text
	case Number:
		return ParseNumber(n.Text)
	case Array:
		list := make([]any, len(n.Items))
		for i, it := range n.Items {
			list[i] = it.Value()
		}
		return list
	case Object:
		m := make(map[string]any, len(n.Members))
		for _, f := range n.Members {
			m[f.Name] = f.Val.Value()
		}
		return m
	}
	return nil
}

// Same reports whether two values mean the same: the order of fields and the
// spelling of numbers and texts do not count.
func (n *Node) Same(o *Node) bool {
	if n.Kind != o.Kind {
		return false
	}
	switch n.Kind {
	case Boolean:
		return n.Yes == o.Yes
	case String:
		return n.Text == o.Text
	case Number:
		return ParseNumber(n.Text) == ParseNumber(o.Text)
	case Array:
		if len(n.Items) != len(o.Items) {
			return false
		}
		for i := range n.Items {
			if !n.Items[i].Same(o.Items[i]) {
				return false
			}
		}
	case Object:
		if len(n.Members) != len(o.Members) {
			return false
		}
		byName := make(map[string]*Node, len(o.Members))
		for _, m := range o.Members {
			byName[m.Name] = m.Val
		}
		for _, m := range n.Members {
			if v := byName[m.Name]; v == nil || !m.Val.Same(v) {
				return false
			}
		}
	}
	return true
}

// Get gives the value of the first field with this name, compared without
// regard to case, or nil. An explicit null counts as absent.
func (n *Node) Get(name string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, m := range n.Members {
		if strings.EqualFold(m.Name, name) && m.Val.Kind != Null {
			return m.Val
		}
	}
	return nil
}
