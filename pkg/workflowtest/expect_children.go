package workflowtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
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

func (c *checker) response(want *Response) {
	got := c.run.response
	if want == nil {
		return
	}
	if got == nil {
		c.differ("response", "nothing was written")
		return
	}
	if want.Status != 0 && want.Status != got.Status {
		c.differ("response.status", "got %d, want %d", got.Status, want.Status)
	}
	if want.ContentType != "" && want.ContentType != got.ContentType {
		c.differ("response.contentType", "got %q, want %q", got.ContentType, want.ContentType)
	}
	for _, name := range slices.Sorted(maps.Keys(want.Headers)) {
		if got.Headers[name] != want.Headers[name] {
			c.differ("response.headers."+name, "got %q, want %q", got.Headers[name], want.Headers[name])
		}
	}
	if want.Body == nil || want.Body == string(got.Body) {
		return
	}
	var body any = string(got.Body)
	if _, isText := want.Body.(string); !isText {
		if err := workflow.Unmarshal(got.Body, &body); err != nil {
			c.differ("response.body", "got %s, which is no JSON, want %s", show(string(got.Body)), show(want.Body))
			return
		}
	}
	if !equal(body, want.Body) {
		c.differ("response.body", "got %s, want %s", show(body), show(want.Body))
	}
}
