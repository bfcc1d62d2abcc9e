package engine

import (
	"fmt"
	"maps"

	"github.com/weft-run/weft/pkg/workflow"
)

// Instances start instances, by an activity or by an event that they publish. How many there are in a line is
// counted, so that a definition which starts itself comes to an end.

// MaxInstanceDepth is how many instances may have started each other, one the next.
const MaxInstanceDepth = 100

// depthOf is how many instances started each other before the one with these properties. One that was
// started by a program which did not count begins a line.
func depthOf(props map[string]any) int64 {
	n, _ := props[workflow.DepthProperty].(int64)
	return max(n, 0)
}

// deeper gives the properties, or the input, of what the instance starts.
func deeper(b *Burst, given map[string]any) map[string]any {
	out := make(map[string]any, len(given)+1)
	maps.Copy(out, given)
	out[workflow.DepthProperty] = depthOf(b.props) + 1
	return out
}

// takeDepth notes how deep the instance is that an event has started, which the event brought.
func takeDepth(b *Burst) {
	n, ok := b.triggerInput[workflow.DepthProperty].(int64)
	delete(b.triggerInput, workflow.DepthProperty)
	if ok && n > depthOf(b.props) {
		b.props = maps.Clone(b.props)
		if b.props == nil {
			b.props = map[string]any{}
		}
		b.props[workflow.DepthProperty] = n
	}
}

// tooDeep is the error of a start that would be one instance too many in a line.
func tooDeep(definition string) error {
	return fmt.Errorf("%s would be started by the last of %d instances that started each other, and there may be no more; has a definition that starts itself, or publishes what starts it, no end?", definition, MaxInstanceDepth)
}
