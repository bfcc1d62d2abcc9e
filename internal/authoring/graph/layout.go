package graph

import (
	"cmp"
	"math"

	"github.com/weft-run/weft/pkg/workflow"
)

// Measures, in units of the picture.
const (
	cellWidth  = 7.3 // of a character of 12 in a font of fixed width
	lineHeight = 16.0
	boxPad     = 10.0
	minBox     = 88.0
	textCells  = 30 // the longest text in a box
	gap        = 28.0
	branchGap  = 36.0
	laneGap    = 24.0
	sideGap    = 20.0
	framePad   = 16.0
	frameTitle = 26.0
	dot        = 5.0 // the radius of joins, starts and ends
	margin     = 12.0
)

// New draws a definition. It always gives a picture; of a definition without
// activities it has a start and an end.
func New(def *workflow.Definition, o Options) *Graph {
	b := &builder{types: o.Types, open: o.Open}
	root := b.build(def.Root, 0)
	if root == nil {
		root = &block{form: list}
	}
	fold(root, cmp.Or(o.Limit, DefaultLimit))
	g := &Graph{Title: plain(cmp.Or(def.Name, def.ID)), root: root}
	measure(root)
	p := &placer{g: g}
	p.whole(root)
	g.shift()
	return g
}

// size sets the size of a node's own box.
func (n *Node) size() {
	switch n.Kind {
	case Join, Start, End:
		n.W, n.H = 2*dot, 2*dot
		return
	}
	longest, lines := 0, 0
	for _, text := range n.lines() {
		longest, lines = max(longest, cells(text)), lines+1
	}
	n.W = math.Ceil(max(minBox, float64(longest)*cellWidth+2*boxPad))
	n.H = float64(lines)*lineHeight + boxPad
}

// lines are the texts in a box, each cut to its width.
func (n *Node) lines() []string {
	if n.Kind == Folded && n.Type == "" {
		return []string{n.hidden()}
	}
	first := n.Type
	if n.Clock != "" {
		first = clip(first, textCells-10) + "  ≤ " + clip(n.Clock, 8)
	}
	if n.Retry != "" {
		first = clip(first, textCells-10) + "  retry " + clip(n.Retry, 4)
	}
	out := []string{clip(first, textCells)}
	if n.Name != "" && n.Name != n.Type {
		out = append(out, clip(n.Name, textCells))
	}
	switch {
	case n.Kind == Folded:
		out = append(out, n.hidden())
	case n.Detail != "":
		out = append(out, clip(n.Detail, textCells))
	}
	return out
}

// measure sets the extent of a block and of all in it.
func measure(k *block) {
	k.node.size()
	half := k.node.W / 2
	switch k.form {
	case single, loop:
		k.left, k.right, k.height = half, half, k.node.H
		if len(k.lanes) > 0 {
			measureLanes(k)
		}
	case list:
		k.left, k.right, k.height = 0, 0, 0
		for i, inside := range k.inner {
			measure(inside)
			k.left, k.right = max(k.left, inside.left), max(k.right, inside.right)
			k.height += inside.height
			if i > 0 {
				k.height += gap
			}
		}
	case frame:
		inside := k.inner[0]
		measure(inside)
		k.left, k.right = max(half, inside.left+framePad), max(half, inside.right+framePad)
		k.height = frameTitle + inside.height + 2*framePad
	case layers:
		measureLayers(k)
	}
}

// measureLanes puts the lanes of a box side by side, or the body of a loop below
// it, with room for the ways around it.
func measureLanes(k *block) {
	total, tallest := laneGap*float64(len(k.lanes)-1), 0.0
	for _, l := range k.lanes {
		left, right, height := l.extent()
		total += left + right
		tallest = max(tallest, height)
	}
	if k.form == loop {
		left, right, _ := k.lanes[0].extent()
		k.left, k.right = max(k.left, left)+sideGap, max(k.right, right)+sideGap
		k.height += branchGap + tallest + gap
		return
	}
	k.left, k.right = max(k.left, total/2), max(k.right, total/2)
	k.height += branchGap + tallest
	if !k.ends {
		k.height += gap + 2*dot
	}
}

// extent is the room of a lane: of its block, and of its label.
func (l *lane) extent() (left, right, height float64) {
	left, right = 8, 8+float64(cells(clip(l.label, textCells)))*cellWidth
	if l.block == nil {
		return left, right, 0
	}
	measure(l.block)
	return max(left, l.block.left), max(right, l.block.right), l.block.height
}

// placer puts measured blocks at their places.
type placer struct{ g *Graph }

// end is a way that leads out of a block and has no target yet.
type end struct {
	from        int
	port, label string
	points      []Point
}

func (p *placer) node(n Node, x, y float64) int {
	n.size()
	n.X, n.Y = x-n.W/2, y
	p.g.Nodes = append(p.g.Nodes, n)
	return len(p.g.Nodes) - 1
}

// join leads an end to a node at a point, straight down, then across, then down.
func (p *placer) join(e *end, to int, at Point) {
	last := e.points[len(e.points)-1]
	points := e.points
	if last.X != at.X {
		turn := at.Y - 12
		if turn < last.Y {
			turn = (last.Y + at.Y) / 2
		}
		points = append(points, Point{last.X, turn}, Point{at.X, turn})
	}
	p.edge(Edge{From: e.from, To: to, Port: e.port, Label: e.label, Points: append(points, at)})
}

func (p *placer) edge(e Edge) {
	e.Label = clip(e.Label, textCells)
	if e.LabelAt == (Point{}) && len(e.Points) > 1 {
		e.LabelAt = labelPoint(e.Points)
	}
	p.g.Edges = append(p.g.Edges, e)
}

// labelPoint is beside the first long enough part of a way that leads down.
func labelPoint(points []Point) Point {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if a.X == b.X && math.Abs(b.Y-a.Y) >= 14 {
			return Point{a.X + 5, min(a.Y, b.Y) + min(math.Abs(b.Y-a.Y)-3, 18)}
		}
	}
	a, b := points[0], points[1]
	return Point{(a.X+b.X)/2 + 5, (a.Y + b.Y) / 2}
}

// whole draws a definition between a start and its end.
func (p *placer) whole(root *block) {
	x := 0.0 // above what comes first
	if root.form == layers && root.plan != nil {
		x = root.plan.Items[root.first].X - root.middle
	}
	start := p.node(Node{Kind: Start}, x, 0)
	e := &end{from: start, points: []Point{{x, 2 * dot}}}
	if root.form == layers {
		p.chart(root, 0, 2*dot+gap, e)
		return
	}
	out := p.block(root, 0, 2*dot+gap, e)
	if out == nil {
		return
	}
	bottom := 2*dot + gap + root.height + gap
	p.join(out, p.node(Node{Kind: End}, 0, bottom), Point{0, bottom})
}

// block draws a block below an end, with its axis at x and its top at y, and
// gives the way out of it: nil if there is none.
func (p *placer) block(k *block, x, y float64, in *end) *end {
	switch k.form {
	case list:
		for i, inside := range k.inner {
			if i > 0 {
				y += gap
			}
			next := p.block(inside, x, y, in)
			y += inside.height
			in = next
		}
		return in
	case frame:
		return p.frame(k, x, y, in)
	case layers:
		return p.nested(k, x, y, in)
	}
	at := p.node(k.node, x, y)
	p.enter(in, at, Point{x, y})
	bottom := Point{x, y + p.g.Nodes[at].H}
	switch {
	case k.form == loop:
		return p.loop(k, at, x, y)
	case len(k.lanes) > 0:
		return p.lanes(k, at, bottom, y)
	case k.ends:
		return nil
	}
	return &end{from: at, points: []Point{bottom}}
}

// enter leads an end to a node; there is none behind what ends.
func (p *placer) enter(in *end, to int, at Point) {
	if in != nil {
		p.join(in, to, at)
	}
}

// lanes draws the branches below a box, and the join below these.
func (p *placer) lanes(k *block, at int, from Point, y float64) *end {
	total := laneGap * float64(len(k.lanes)-1)
	for _, l := range k.lanes {
		left, right := l.room()
		total += left + right
	}
	left := from.X - total/2
	top := from.Y + branchGap
	var outs []*end
	for _, l := range k.lanes {
		before, after := l.room()
		axis := left + before
		left += before + after + laneGap
		e := &end{from: at, port: l.port, label: l.label, points: []Point{from}}
		if axis != from.X {
			turn := from.Y + 10
			e.points = append(e.points, Point{from.X, turn}, Point{axis, turn})
		}
		if l.block == nil {
			outs = append(outs, e)
			continue
		}
		if out := p.block(l.block, axis, top, e); out != nil {
			outs = append(outs, out)
		}
	}
	if k.ends {
		return nil
	}
	bottom := y + k.height
	j := p.node(Node{Kind: Join, Detail: k.joins}, from.X, bottom-2*dot)
	for _, e := range outs {
		p.join(e, j, Point{from.X, bottom - 2*dot})
	}
	return &end{from: j, points: []Point{{from.X, bottom}}}
}

// room is how wide a lane is that is measured.
func (l *lane) room() (left, right float64) {
	left, right = 8, 8+float64(cells(clip(l.label, textCells)))*cellWidth
	if l.block == nil {
		return left, right
	}
	return max(left, l.block.left), max(right, l.block.right)
}

// loop draws the body below its box, the way back on the right and the way out on
// the left.
func (p *placer) loop(k *block, at int, x, y float64) *end {
	n := p.g.Nodes[at]
	body := k.lanes[0]
	in := &end{from: at, port: body.port, label: body.label, points: []Point{{x, y + n.H}}}
	if out := p.block(body.block, x, y+n.H+branchGap, in); out != nil {
		last := out.points[len(out.points)-1]
		turn := y + k.height - gap + 10
		side := x + k.right - sideGap/2
		points := append(out.points, Point{last.X, turn}, Point{side, turn}, Point{side, y + n.H/2}, Point{n.X + n.W, y + n.H/2})
		p.edge(Edge{From: out.from, To: at, Port: out.port, Label: out.label, Points: points, Back: true})
	}
	side := x - k.left + sideGap/2
	bottom := y + k.height
	return &end{from: at, port: donePort, points: []Point{{n.X, y + n.H/2}, {side, y + n.H/2}, {side, bottom - 6}, {x, bottom - 6}, {x, bottom}}}
}

// frame draws a block inside of a box with a title.
func (p *placer) frame(k *block, x, y float64, in *end) *end {
	at := p.node(k.node, x, y)
	n := &p.g.Nodes[at]
	n.X, n.W, n.H = x-k.left, k.left+k.right, k.height
	p.enter(in, at, Point{x, y})
	first := &end{from: at, port: bodyPort, points: []Point{{x, y + frameTitle}}}
	p.block(k.inner[0], x, y+frameTitle+framePad, first)
	if k.ends {
		return nil
	}
	// The frame goes on when what is in it has ended, in any way.
	return &end{from: at, port: donePort, points: []Point{{x, y + k.height}}}
}

// shift moves the picture into its upper left corner.
func (g *Graph) shift() {
	left, right, bottom := math.Inf(1), math.Inf(-1), 0.0
	see := func(x, y float64) { left, right, bottom = min(left, x), max(right, x), max(bottom, y) }
	top := math.Inf(1)
	for _, n := range g.Nodes {
		see(n.X, n.Y)
		see(n.X+n.W, n.Y+n.H)
		top = min(top, n.Y)
	}
	for _, e := range g.Edges {
		for _, pt := range e.Points {
			see(pt.X, pt.Y)
			top = min(top, pt.Y)
		}
		if e.Label != "" {
			see(e.LabelAt.X+float64(cells(e.Label))*cellWidth, e.LabelAt.Y)
		}
	}
	dx, dy := math.Round(margin-left), math.Round(margin-top)
	for i := range g.Nodes {
		g.Nodes[i].X += dx
		g.Nodes[i].Y += dy
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		for j := range e.Points {
			e.Points[j].X += dx
			e.Points[j].Y += dy
		}
		e.LabelAt.X += dx
		e.LabelAt.Y += dy
	}
	g.Width, g.Height = math.Ceil(right+dx+margin), math.Ceil(bottom+dy+margin)
}
