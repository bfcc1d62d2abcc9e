package graph

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-run/weft/internal/authoring/graph/layout"
)

const layerGap = 52.0

// plan is a flowchart that was laid out, with the top and the height of each layer. Its items are first the blocks, and
// its routes are the ways, both in their order.
type plan struct {
	*layout.Layers

	tops  []float64
	highs []float64
}

// arrange lays the blocks of a flowchart out.
func arrange(k *block) *plan {
	boxes, ways := make([]layout.Box, len(k.inner)), make([]layout.Way, len(k.ways))
	for i, b := range k.inner {
		boxes[i] = layout.Box{Left: b.left, Right: b.right}
	}
	for i, w := range k.ways {
		ways[i] = layout.Way{From: w.from, To: w.to}
	}
	return &plan{Layers: layout.Arrange(boxes, ways, k.first, laneGap)}
}

// measureLayers lays a flowchart out and sets its extent.
func measureLayers(k *block) {
	for _, b := range k.inner {
		measure(b)
	}
	if k.placed != nil {
		measurePlaced(k)
		return
	}
	k.plan = arrange(k)
	left, right := math.Inf(1), math.Inf(-1)
	for _, it := range k.plan.Items {
		left, right = min(left, it.X-it.Left), max(right, it.X+it.Right)
	}
	y := 0.0
	for _, layer := range k.plan.Layers.Layers {
		high := 0.0
		for _, i := range layer {
			if i < len(k.inner) {
				high = max(high, k.inner[i].height)
			}
		}
		k.plan.tops, k.plan.highs = append(k.plan.tops, y), append(k.plan.highs, high)
		y += high + layerGap
	}
	// Ways to themselves go around on the right.
	k.extent(left, right+sideGap, y-layerGap)
}

// extent sets the size of layers from what they take around the axis of the first
// block, with a frame around them.
func (k *block) extent(left, right, height float64) {
	k.middle = (left + right) / 2
	half := max((right-left)/2+framePad, k.node.W/2)
	k.left, k.right = half, half
	k.height = frameTitle + height + 2*framePad
}

// nested draws a flowchart inside of a frame.
func (p *placer) nested(k *block, x, y float64, in *end) *end {
	at := p.node(k.node, x, y)
	n := &p.g.Nodes[at]
	n.X, n.W, n.H = x-k.left, k.left+k.right, k.height
	p.enter(in, at, Point{x, y})
	p.chart(k, x, y+frameTitle+framePad, &end{from: at, port: bodyPort, points: []Point{{x, y + frameTitle}}})
	return &end{from: at, port: donePort, points: []Point{{x, y + k.height}}}
}

// chart draws the blocks of a flowchart and the ways between them.
func (p *placer) chart(k *block, x, y float64, in *end) {
	if k.placed != nil {
		p.placedChart(k, x, y) // no way to the first one: it would cross others
		return
	}
	l := k.plan
	dx := x - k.middle
	nodes := make([]int, len(k.inner)) // the first node of each block
	outs := make([]*end, len(k.inner))
	for i, b := range k.inner {
		nodes[i] = len(p.g.Nodes)
		outs[i] = p.block(b, l.Items[i].X+dx, y+l.tops[l.Items[i].Layer], nil)
	}
	spread := l.spread(k)
	for i := range l.Routes {
		p.route(l, k, i, nodes, outs, spread, dx, y)
	}
	if in != nil {
		first := Point{l.Items[k.first].X + dx, y + l.tops[l.Items[k.first].Layer]}
		if l.Items[k.first].Layer == 0 {
			p.join(in, nodes[k.first], first)
		}
	}
}

// spread is how far from its axis each way leaves a block, so that ways out of one
// do not lie on each other: by the places they lead to, from left to right.
func (l *plan) spread(k *block) []float64 {
	out := make([]float64, len(l.Routes))
	byBlock := make([][]int, len(k.inner))
	for i, r := range l.Routes {
		if len(r.Items) > 1 && !r.Back {
			byBlock[r.From] = append(byBlock[r.From], i)
		}
	}
	for at, routes := range byBlock {
		slices.SortStableFunc(routes, func(a, b int) int {
			return cmp.Compare(l.Items[l.Routes[a].Items[1]].X, l.Items[l.Routes[b].Items[1]].X)
		})
		room := 2 * min(k.inner[at].left, k.inner[at].right, 60) * 0.6
		for i, r := range routes {
			if n := len(routes); n > 1 {
				out[r] = room * (float64(i)/float64(n-1) - 0.5)
			}
		}
	}
	return out
}

// route draws one way: down from its block to the end of its layer, then from layer
// to layer, where it passes between the items of each.
func (p *placer) route(l *plan, k *block, i int, nodes []int, outs []*end, spread []float64, dx, dy float64) {
	r := &l.Routes[i]
	from, to := r.From, r.To
	e := Edge{From: leaves(k.inner[from], nodes[from], outs[from]), To: nodes[to], Port: k.ways[i].port, Label: k.ways[i].label, Back: r.Back || from == to}
	a := &l.Items[from]
	if from == to {
		e.Points = p.around(k.inner[from], nodes[from], a.X+dx, dy+l.tops[a.Layer])
		p.edge(e)
		return
	}
	var points []Point
	for j, at := range r.Items {
		it := &l.Items[at]
		top := dy + l.tops[it.Layer]
		bottom := top + l.highs[it.Layer]
		switch {
		case j == 0:
			x := it.X + dx + spread[i]
			points = append(points, Point{x, top + k.inner[at].height})
			if k.inner[at].height < l.highs[it.Layer] {
				points = append(points, Point{x, bottom})
			}
		case j == len(r.Items)-1:
			points = append(points, Point{it.X + dx, top})
		default:
			points = append(points, Point{it.X + dx, top}, Point{it.X + dx, bottom})
		}
	}
	if r.Back {
		slices.Reverse(points)
		points = p.fromBelow(points, nodes[to], l.Items[to].X+l.Items[to].Right+dx)
	}
	e.Points = points
	first, second := points[0], points[1]
	e.LabelAt = Point{first.X + (second.X-first.X)*0.45 + 5, first.Y + (second.Y-first.Y)*0.45}
	p.edge(e)
}

// around is the way from below a block to its first node, on the right; x is the
// block's axis, y its top.
func (p *placer) around(b *block, first int, x, y float64) []Point {
	n := &p.g.Nodes[first]
	bottom, side := y+b.height, x+b.right+sideGap-6
	return []Point{{x, bottom}, {x, bottom + 8}, {side, bottom + 8}, {side, n.Y + n.H/2}, {n.X + n.W, n.Y + n.H/2}}
}

// fromBelow ends a way that comes to a block from below at its first node: directly if
// that is all there is, else around on the right, where the block ends.
func (p *placer) fromBelow(points []Point, first int, right float64) []Point {
	n := &p.g.Nodes[first]
	last := points[len(points)-1]
	if last.Y <= n.Y+n.H+1 {
		return points
	}
	side, below := right+8, last.Y+8
	return append(points[:len(points)-1], Point{side, below}, Point{side, n.Y + n.H/2}, Point{n.X + n.W, n.Y + n.H/2})
}

// leaves is the node from which ways of a flowchart lead out of a block: its box, or
// the last node of one that holds others.
func leaves(k *block, first int, out *end) int {
	if out == nil || k.form == single && len(k.lanes) == 0 {
		return first
	}
	return out.from
}

// byLayer gives the positions of the blocks from the first layer to the last, or in
// the order of the definition where a designer placed them.
func byLayer(k *block) []int {
	var order []int
	if k.plan == nil {
		for i := range k.inner {
			order = append(order, i)
		}
		return order
	}
	for _, layer := range k.plan.Layers.Layers {
		for _, i := range layer {
			if i < len(k.inner) {
				order = append(order, i)
			}
		}
	}
	return order
}
