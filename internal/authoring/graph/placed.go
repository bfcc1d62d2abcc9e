package graph

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// position takes the places that Elsa's designer gave the activities of a
// flowchart, if it gave one to each, and no two blocks lie on each other there.
func (b *builder) position(a *workflow.Activity, chart *block) {
	var at []Point
	for _, c := range a.Activities {
		if c == nil {
			continue
		}
		if body := c.Ports[bodyPort]; c.Type == workflow.RetryType && body != nil {
			c = body
		}
		if t, ok := timed(c); ok {
			c = t.activity
		}
		pt, ok := designed(c)
		if !ok {
			return
		}
		at = append(at, pt)
	}
	if len(at) == len(chart.inner) {
		chart.placed = at
	}
}

// designed is metadata.designer.position.
func designed(a *workflow.Activity) (Point, bool) {
	designer, _ := a.Metadata["designer"].(map[string]any)
	position, _ := designer["position"].(map[string]any)
	x, okX := coordinate(position["x"])
	y, okY := coordinate(position["y"])
	return Point{x, y}, okX && okY
}

// coordinate reads a number of the designer: -100,000 to 100,000.
func coordinate(v any) (float64, bool) {
	n, ok := number(v)
	return n, ok && math.Abs(n) <= 100_000
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, !math.IsNaN(n)
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case interface{ Float64() (float64, error) }:
		f, err := n.Float64()
		return f, err == nil && !math.IsNaN(f)
	}
	return 0, false
}

// measurePlaced sets the extent of a flowchart with places, or lays it out in
// layers if blocks would lie on each other.
func measurePlaced(k *block) {
	left, right, top, bottom := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, b := range k.inner {
		x := k.placed[i].X + b.left
		left, right = min(left, x-b.left), max(right, x+b.right)
		top, bottom = min(top, k.placed[i].Y), max(bottom, k.placed[i].Y+b.height)
	}
	if overlap(k) {
		k.placed = nil
		measureLayers(k)
		return
	}
	for i := range k.placed {
		k.placed[i].Y -= top
	}
	k.extent(left, right+sideGap, bottom-top)
}

// overlap tells whether two blocks lie on each other. Blocks are looked at from left
// to right, each against those that begin before it ends.
func overlap(k *block) bool {
	order := byLeft(k)
	for i, a := range order {
		for _, b := range order[i+1:] {
			if k.placed[b].X >= k.placed[a].X+k.inner[a].left+k.inner[a].right+4 {
				break
			}
			ya, yb := k.placed[a].Y, k.placed[b].Y
			if yb < ya+k.inner[a].height+4 && ya < yb+k.inner[b].height+4 {
				return true
			}
		}
	}
	return false
}

// byLeft gives the positions of the blocks from left to right.
func byLeft(k *block) []int {
	order := make([]int, len(k.inner))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.placed[a].X, k.placed[b].X) })
	return order
}

// placedChart draws a flowchart with the places it has, and straight ways.
func (p *placer) placedChart(k *block, x, y float64) {
	dx := x - k.middle
	nodes := make([]int, len(k.inner))
	outs := make([]*end, len(k.inner))
	for i, b := range k.inner {
		nodes[i] = len(p.g.Nodes)
		outs[i] = p.block(b, k.placed[i].X+b.left+dx, y+k.placed[i].Y, nil)
	}
	corners := func(i int) (Point, Point) {
		n := &p.g.Nodes[i]
		return Point{n.X, n.Y}, Point{n.X + n.W, n.Y + n.H}
	}
	for _, w := range k.ways {
		e := Edge{From: leaves(k.inner[w.from], nodes[w.from], outs[w.from]), To: nodes[w.to], Port: w.port, Label: w.label, Back: w.from == w.to}
		a0, a1 := corners(e.From)
		b0, b1 := corners(e.To)
		if w.from == w.to {
			b := k.inner[w.from]
			e.Points = p.around(b, nodes[w.from], k.placed[w.from].X+b.left+dx, y+k.placed[w.from].Y)
		} else {
			from, to := middle(a0, a1), middle(b0, b1)
			e.Points = []Point{border(from, to, a0, a1), border(to, from, b0, b1)}
			s, t := e.Points[0], e.Points[1]
			e.LabelAt = Point{s.X + (t.X-s.X)*0.4 + 4, s.Y + (t.Y-s.Y)*0.4 - 3}
		}
		p.edge(e)
	}
}

func middle(a, b Point) Point { return Point{(a.X + b.X) / 2, (a.Y + b.Y) / 2} }

// border is where the line from the middle of a rectangle to a point leaves it.
func border(from, to, a, b Point) Point {
	dx, dy := to.X-from.X, to.Y-from.Y
	t := 1.0
	if dx != 0 {
		t = min(t, (b.X-a.X)/2/math.Abs(dx))
	}
	if dy != 0 {
		t = min(t, (b.Y-a.Y)/2/math.Abs(dy))
	}
	return Point{from.X + dx*t, from.Y + dy*t}
}
