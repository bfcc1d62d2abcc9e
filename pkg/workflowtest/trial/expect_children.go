package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (c *checker) children(want []Started) {
	if want == nil {
		return
	}
	got := c.run.MockedChildren()
	if len(got) != len(want) {
		var ids []string
		for _, s := range got {
			ids = append(ids, s.DefinitionID)
		}
		c.differ("children", "%d mocked children were started (%s), want %d", len(got), strings.Join(ids, ", "), len(want))
		return
	}
	for i, w := range want {
		field := fmt.Sprintf("children.%d", i)
		if w.DefinitionID != "" && w.DefinitionID != got[i].DefinitionID {
			c.differ(field+".definition", "got %q, want %q", got[i].DefinitionID, w.DefinitionID)
		}
		if w.CorrelationID != "" && w.CorrelationID != got[i].CorrelationID {
			c.differ(field+".correlationId", "got %q, want %q", got[i].CorrelationID, w.CorrelationID)
		}
		for _, name := range slices.Sorted(maps.Keys(w.Input)) {
			c.field(field+".input."+name, got[i].Input, name, w.Input[name])
		}
	}
}
