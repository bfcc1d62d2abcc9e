package elsajson

import (
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

func allActivities(items []cur) bool {
	for _, it := range items {
		if !it.IsActivity() {
			return false
		}
	}
	return true
}

func allCases(items []cur) bool {
	for _, it := range items {
		if it.Kind != jsontree.Object || !it.Has("label") && !it.Has("condition") && !it.Has("activity") {
			return false
		}
	}
	return true
}

func allDeclarations(items []cur) bool {
	for _, it := range items {
		if it.Kind != jsontree.Object || !it.Has("name") && !it.Has("id") {
			return false
		}
	}
	return true
}
