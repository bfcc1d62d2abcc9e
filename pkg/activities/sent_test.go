package activities_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func computed(v any) workflow.Expression {
	return expr(func(engine.Scope) (any, error) { return v, nil })
}

// What nothing can be sent to is not waited for, and what was meant for one is not sent to all.
func TestWhatCannotBeMetIsAnIncident(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   *workflow.Activity
		says string // "": it is no incident
	}{
		"an event without a name":                {act("Event", inputs{"eventName": computed("")}), "event name is empty"},
		"an event of nothing":                    {act("Event", inputs{"eventName": computed(nil)}), "it is required"},
		"an event that is a folder":              {act("Event", inputs{"eventName": computed("..")}), `".."`},
		"a task without a name":                  {act("RunTask", inputs{"taskName": computed("")}), "task name is empty"},
		"a task that is a path":                  {act("RunTask", inputs{"taskName": computed("/")}), `"/"`},
		"a task with a long name":                {act("RunTask", inputs{"taskName": computed(strings.Repeat("x", 300))}), "256"},
		"a published one without":                {act("PublishEvent", inputs{"eventName": computed(".")}), `"."`},
		"an empty correlation":                   {act("PublishEvent", inputs{"eventName": lit("e"), "correlationId": computed("")}), "the instances of every correlation"},
		"a correlation of nothing":               {act("PublishEvent", inputs{"eventName": lit("e"), "correlationId": computed(nil)}), "the instances of every correlation"},
		"a literal one, as a designer writes it": {act("PublishEvent", inputs{"eventName": lit("e"), "correlationId": lit("")}), ""},
		"an empty one of the instance":           {act("Correlate", inputs{"correlationId": computed("")}), "no event would find the instance"},
		"a name with a dot and a slash":          {act("Event", inputs{"eventName": computed("a/./b")}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, root(seq(c.do)))
			in := b.header.Incidents
			if c.says == "" {
				if len(in) > 0 {
					t.Errorf("an incident: %v", in)
				}
				return
			}
			if len(in) != 1 || !strings.Contains(in[0].Message, c.says) || len(b.events) > 0 || len(b.header.Bookmarks) > 0 {
				t.Errorf("%v, sent %d, waits at %d: want an incident with %q", in, len(b.events), len(b.header.Bookmarks), c.says)
			}
		})
	}
}
