package explain

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/activities/undo"
	"github.com/weft-run/weft/pkg/workflow"
)

// mostSteps is how many steps are named in a reason.
const mostSteps = 20

// takeUndoing says what is being undone, and what is next.
func (x *Explanation) takeUndoing(f *facts) {
	for _, s := range undo.InState(f.Record.State) {
		why := "by hand"
		switch {
		case s.Cancelled:
			why = "as it is to be cancelled"
		case s.Failed != nil:
			why = fmt.Sprintf("since %s failed: %s", plain(s.Failed.Activity), oneLine(s.Failed.Message))
		}
		text := "what it did is undone, " + why
		if len(s.Undone) > 0 {
			text += "; undone: " + named(s.Undone)
		}
		r := Reason{Kind: "undoing", Key: f.Keys.Instance}
		var left []string
		for _, step := range s.Left() {
			left = append(left, plain(step.Activity))
		}
		if len(left) > 0 {
			text += "; now: " + left[0]
			r.Object = left[0]
		}
		if len(left) > 1 {
			text += "; then: " + named(left[1:])
		}
		r.Text = text
		x.aside = append(x.aside, r)
		if x.Instance.SubStatus == workflow.Faulted {
			x.advise("a retry goes on with the undo that failed; if a person has undone it, skip what failed: the rest is undone then")
		}
	}
}

func named(ids []string) string {
	if len(ids) > mostSteps {
		return strings.Join(ids[:mostSteps], ", ") + fmt.Sprintf(" and %d more", len(ids)-mostSteps)
	}
	return strings.Join(ids, ", ")
}
