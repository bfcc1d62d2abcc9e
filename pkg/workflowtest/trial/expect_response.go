package trial

import (
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
)

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
	raw := kept{run: c.run}.body(got)
	if want.Body == nil || want.Body == string(raw) {
		return
	}
	var body any = string(raw)
	if _, isText := want.Body.(string); !isText {
		if err := workflow.Unmarshal(raw, &body); err != nil {
			c.differ("response.body", "got %s, which is no JSON, want %s", compare.Show(string(raw)), compare.Show(want.Body))
			return
		}
	}
	if !compare.Equal(body, want.Body) {
		c.differ("response.body", "got %s, want %s", compare.Show(body), compare.Show(want.Body))
	}
}
