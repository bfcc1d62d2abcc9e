package activities

import (
	"maps"

	"github.com/weft-run/weft/pkg/workflow"
)

// inBothStyles gives the fields of a result in camelCase, as all results have them, and
// under the names that Elsa gives them, which its exports read.
func inBothStyles(fields map[string]any) map[string]any {
	both := maps.Clone(fields)
	for name, v := range fields {
		both[workflow.UpperFirst(name)] = v
	}
	return both
}

// bothStyles are the names of such fields.
func bothStyles(names ...string) []string {
	both := names
	for _, name := range names {
		both = append(both, workflow.UpperFirst(name))
	}
	return both
}
