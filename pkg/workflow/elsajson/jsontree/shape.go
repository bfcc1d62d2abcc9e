package jsontree

import "strings"

// IsWrapper reports whether a value is an input's wrapper.
func (n *Node) IsWrapper() bool {
	return n.Kind == Object && (n.Has("expression") || n.Has("typeName") || n.Has("memoryReference"))
}

// IsExpression reports whether a value is {type, value} of a known kind.
func (n *Node) IsExpression() bool {
	t := n.Get("type")
	if t == nil || t.Kind != String || len(n.Members) > 2 || len(n.Members) == 2 && !n.Has("value") {
		return false
	}
	return Kinds[strings.ToLower(t.Text)] != ""
}

// Has reports whether a field has this name, compared without regard to case.
func (n *Node) Has(name string) bool {
	for _, m := range n.Members {
		if strings.EqualFold(m.Name, name) {
			return true
		}
	}
	return false
}

// IsRequest reports whether a value is what the designer saves: a definition with whether it is published.
func (n *Node) IsRequest() bool {
	m := n.Get("model")
	return m != nil && m.Kind == Object && n.Get("root") == nil
}

// IsActivity reports whether a value looks like an activity rather than an
// expression or data.
func (n *Node) IsActivity() bool {
	t := n.Get("type")
	if t == nil || t.Kind != String || n.Has("expression") {
		return false
	}
	return n.Has("id") || n.Has("version") || n.Has("nodeId") || n.Has("customProperties") || strings.HasPrefix(t.Text, "Elsa.")
}
