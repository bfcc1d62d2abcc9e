package elsajson

import "strings"

// isActivity tells whether a value looks like an activity rather than an
// expression or data.
func (n *node) isActivity() bool {
	t := n.get("type")
	if t == nil || t.kind != text || n.has("expression") {
		return false
	}
	return n.has("id") || n.has("version") || n.has("nodeId") || n.has("customProperties") || strings.HasPrefix(t.text, "Elsa.")
}

func allActivities(items []cur) bool {
	for _, it := range items {
		if !it.isActivity() {
			return false
		}
	}
	return true
}

func allCases(items []cur) bool {
	for _, it := range items {
		if it.kind != object || !it.has("label") && !it.has("condition") && !it.has("activity") {
			return false
		}
	}
	return true
}

func allDeclarations(items []cur) bool {
	for _, it := range items {
		if it.kind != object || !it.has("name") && !it.has("id") {
			return false
		}
	}
	return true
}
