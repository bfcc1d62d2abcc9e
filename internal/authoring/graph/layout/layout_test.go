package layout_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/graph/layout"
)

// Boxes of a layer stand beside each other with a gap, each way has its route, and the same is laid out the same.
func TestBoxesOfALayerDoNotOverlap(t *testing.T) {
	t.Parallel()
	const gap = 20.0
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.Float64Range(4, 200)
		boxes := make([]layout.Box, rapid.IntRange(1, 30).Draw(t, "boxes"))
		for i := range boxes {
			boxes[i] = layout.Box{Left: side.Draw(t, "left"), Right: side.Draw(t, "right")}
		}
		one := rapid.IntRange(0, len(boxes)-1)
		ways := make([]layout.Way, rapid.IntRange(0, 60).Draw(t, "ways"))
		for i := range ways {
			ways[i] = layout.Way{From: one.Draw(t, "from"), To: one.Draw(t, "to")}
		}
		l := layout.Arrange(boxes, ways, 0, gap)
		placed := 0
		for _, layer := range l.Layers {
			for i, at := range layer {
				placed++
				if i == 0 {
					continue
				}
				// Axes are rounded to whole numbers.
				a, b := l.Items[layer[i-1]], l.Items[at]
				if b.X-b.Left < a.X+a.Right+gap-1 {
					t.Fatalf("%+v and %+v are too near", a, b)
				}
			}
		}
		if placed != len(l.Items) || placed < len(boxes) {
			t.Fatalf("%d of %d items stand in layers", placed, len(l.Items))
		}
		if len(l.Routes) != len(ways) {
			t.Fatalf("%d routes for %d ways", len(l.Routes), len(ways))
		}
		if !reflect.DeepEqual(l, layout.Arrange(boxes, ways, 0, gap)) {
			t.Fatal("the same is laid out in another way")
		}
	})
}
