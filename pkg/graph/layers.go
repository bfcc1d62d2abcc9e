package graph

import (
	"cmp"
	"math"
	"slices"
)

// maxBends bounds the places at which long ways pass layers; beyond it they are straight.
const maxBends = 40_000

// sweeps is how often the order in layers is improved, up and down.
const sweeps = 6

// item is what stands in a layer: a block, or the place where a way passes.
type item struct {
	block *block // nil where a way passes
	layer int
	x     float64 // of its axis
	left  float64
	right float64
	up    []int // items of the layer above that ways lead from
	down  []int
}

// route is a way through layers: its items from the upper to the lower end.
type route struct {
	way   way
	items []int
	back  bool // it leads upwards, from the last item to the first
}

// layered is a flowchart while it is laid out.
type layered struct {
	items  []item
	layers [][]int
	routes []route
	tops   []float64
	highs  []float64
}

const layerGap = 52.0

// arrange assigns layers, orders them and gives every item its axis.
func arrange(k *block) *layered {
	l := &layered{}
	for _, b := range k.inner {
		l.items = append(l.items, item{block: b, left: b.left, right: b.right})
	}
	l.rank(k)
	l.bend()
	l.order(k.first)
	l.axes()
	return l
}

// rank gives each block the layer below all from which ways lead to it, without
// the ways that lead back.
func (l *layered) rank(k *block) {
	out := make([][]int, len(k.inner))
	for i, w := range k.ways {
		out[w.from] = append(out[w.from], i)
	}
	back := make([]bool, len(k.ways))
	const unseen, onPath, left = 0, 1, 2
	state := make([]int, len(k.inner))
	var finished []int // each before what leads to it
	visit := func(start int) {
		type step struct{ at, next int }
		path := []step{{at: start}}
		state[start] = onPath
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == len(out[top.at]) {
				state[top.at] = left
				finished = append(finished, top.at)
				path = path[:len(path)-1]
				continue
			}
			i := out[top.at][top.next]
			top.next++
			switch to := k.ways[i].to; state[to] {
			case unseen:
				state[to] = onPath
				path = append(path, step{at: to})
			case onPath:
				back[i] = true
			}
		}
	}
	visit(k.first)
	reached := make([]bool, len(k.inner))
	for _, w := range k.ways {
		reached[w.to] = true
	}
	for _, wanted := range []bool{false, true} { // what nothing leads to, and then circles
		for i := range k.inner {
			if state[i] == unseen && reached[i] == wanted {
				visit(i)
			}
		}
	}
	for _, at := range slices.Backward(finished) {
		for _, i := range out[at] {
			if w := k.ways[i]; !back[i] {
				l.items[w.to].layer = max(l.items[w.to].layer, l.items[at].layer+1)
			}
		}
	}
	for i, w := range k.ways {
		l.routes = append(l.routes, route{way: w, back: back[i]})
	}
}

// bend puts an item into each layer that a way passes.
func (l *layered) bend() {
	bends := 0
	for i := range l.routes {
		r := &l.routes[i]
		from, to := r.way.from, r.way.to
		if from == to {
			continue
		}
		if r.back = l.items[from].layer > l.items[to].layer; r.back {
			from, to = to, from
		}
		r.items = []int{from}
		span := l.items[to].layer - l.items[from].layer
		if bends+span <= maxBends {
			for layer := l.items[from].layer + 1; layer < l.items[to].layer; layer++ {
				bends++
				l.items = append(l.items, item{layer: layer, left: 4, right: 4})
				r.items = append(r.items, len(l.items)-1)
			}
		}
		r.items = append(r.items, to)
		for j := 1; j < len(r.items); j++ {
			a, b := r.items[j-1], r.items[j]
			if l.items[b].layer == l.items[a].layer+1 {
				l.items[a].down, l.items[b].up = append(l.items[a].down, b), append(l.items[b].up, a)
			}
		}
	}
	deepest := 0
	for i := range l.items {
		deepest = max(deepest, l.items[i].layer)
	}
	l.layers = make([][]int, deepest+1)
}

// order puts the items of each layer so that few ways cross: first as they are
// found from the beginning, and then by the means of their neighbours.
func (l *layered) order(first int) {
	seen := make([]bool, len(l.items))
	queue := []int{}
	take := func(i int) {
		if !seen[i] {
			seen[i] = true
			queue = append(queue, i)
			l.layers[l.items[i].layer] = append(l.layers[l.items[i].layer], i)
		}
	}
	drain := func() {
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, n := range l.items[at].down {
				take(n)
			}
			for _, n := range l.items[at].up {
				take(n)
			}
		}
	}
	take(first)
	drain()
	for i := range l.items {
		take(i)
		drain()
	}
	best, fewest := l.copyOrder(), l.crossings()
	position := make([]float64, len(l.items))
	for round := range sweeps {
		if fewest == 0 {
			break
		}
		l.sweep(position, round%2 == 0)
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyOrder(), n
		}
	}
	l.layers = best
}

func (l *layered) copyOrder() [][]int {
	out := make([][]int, len(l.layers))
	for i, layer := range l.layers {
		out[i] = slices.Clone(layer)
	}
	return out
}

// sweep orders each layer by the means of the positions above (or below) it.
func (l *layered) sweep(position []float64, down bool) {
	number := func(layer []int) {
		for i, at := range layer {
			position[at] = float64(i)
		}
	}
	for _, layer := range l.layers {
		number(layer)
	}
	one := func(layer []int) {
		want := make(map[int]float64, len(layer))
		for _, at := range layer {
			near := l.items[at].up
			if !down {
				near = l.items[at].down
			}
			want[at] = position[at]
			if len(near) > 0 {
				want[at] = mean(near, func(i int) float64 { return position[i] })
			}
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(want[a], want[b]) })
		number(layer)
	}
	if down {
		for _, layer := range l.layers {
			one(layer)
		}
		return
	}
	for _, layer := range slices.Backward(l.layers) {
		one(layer)
	}
}

func mean(items []int, of func(int) float64) float64 {
	sum := 0.0
	for _, i := range items {
		sum += of(i)
	}
	return sum / float64(len(items))
}

// crossings counts the pairs of ways between neighbouring layers that cross, with a
// tree of sums (Barth, Jünger and Mutzel, "Simple and Efficient Bilayer Cross
// Counting", 2002).
func (l *layered) crossings() int {
	position := make([]int, len(l.items))
	for _, layer := range l.layers {
		for i, at := range layer {
			position[at] = i
		}
	}
	total := 0
	for i := 0; i+1 < len(l.layers); i++ {
		sums := make([]int, len(l.layers[i+1])+1)
		placed := 0
		for _, at := range l.layers[i] {
			targets := make([]int, 0, len(l.items[at].down))
			for _, to := range l.items[at].down {
				targets = append(targets, position[to])
			}
			slices.Sort(targets)
			for _, t := range targets {
				before := 0
				for j := t + 1; j > 0; j -= j & -j {
					before += sums[j]
				}
				total += placed - before
			}
			for _, t := range targets {
				placed++
				for j := t + 1; j < len(sums); j += j & -j {
					sums[j]++
				}
			}
		}
	}
	return total
}

// axes gives every item its x: as near as its neighbours allow, in the order of its
// layer.
func (l *layered) axes() {
	for _, layer := range l.layers {
		l.settle(layer, func(int) (float64, bool) { return 0, false })
	}
	for range 4 {
		for _, layer := range l.layers {
			l.settle(layer, func(i int) (float64, bool) { return l.near(l.items[i].up) })
		}
		for _, layer := range slices.Backward(l.layers) {
			l.settle(layer, func(i int) (float64, bool) { return l.near(l.items[i].down) })
		}
	}
	for _, layer := range l.layers {
		l.settle(layer, func(i int) (float64, bool) {
			return l.near(slices.Concat(l.items[i].up, l.items[i].down))
		})
	}
}

func (l *layered) near(items []int) (float64, bool) {
	if len(items) == 0 {
		return 0, false
	}
	return mean(items, func(i int) float64 { return l.items[i].x }), true
}

// settle moves the items of a layer as near to where they want to be as their
// widths allow, with the least sum of squares: isotonic regression by pooling
// neighbours (Ayer et al., 1955).
func (l *layered) settle(layer []int, want func(int) (float64, bool)) {
	type pool struct {
		sum, n float64
		from   int
	}
	offset := make([]float64, len(layer))
	for i := 1; i < len(layer); i++ {
		a, b := &l.items[layer[i-1]], &l.items[layer[i]]
		offset[i] = offset[i-1] + a.right + laneGap + b.left
	}
	var pools []pool
	for i, at := range layer {
		x, ok := want(at)
		if !ok {
			x = l.items[at].x
		}
		pools = append(pools, pool{x - offset[i], 1, i})
		for n := len(pools); n > 1 && pools[n-2].sum/pools[n-2].n >= pools[n-1].sum/pools[n-1].n; n = len(pools) {
			last := pools[n-1]
			pools = pools[:n-1]
			pools[n-2].sum += last.sum
			pools[n-2].n += last.n
		}
	}
	for p, pl := range pools {
		until := len(layer)
		if p+1 < len(pools) {
			until = pools[p+1].from
		}
		for i := pl.from; i < until; i++ {
			l.items[layer[i]].x = math.Round(pl.sum/pl.n + offset[i])
		}
	}
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
	for _, it := range k.plan.items {
		left, right = min(left, it.x-it.left), max(right, it.x+it.right)
	}
	y := 0.0
	for _, layer := range k.plan.layers {
		high := 0.0
		for _, i := range layer {
			if b := k.plan.items[i].block; b != nil {
				high = max(high, b.height)
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
		outs[i] = p.block(b, l.items[i].x+dx, y+l.tops[l.items[i].layer], nil)
	}
	spread := l.spread(k)
	for i := range l.routes {
		p.route(l, k, i, nodes, outs, spread, dx, y)
	}
	if in != nil {
		first := Point{l.items[k.first].x + dx, y + l.tops[l.items[k.first].layer]}
		if l.items[k.first].layer == 0 {
			p.join(in, nodes[k.first], first)
		}
	}
}

// spread is how far from its axis each way leaves a block, so that ways out of one
// do not lie on each other: by the places they lead to, from left to right.
func (l *layered) spread(k *block) []float64 {
	out := make([]float64, len(l.routes))
	byBlock := make([][]int, len(k.inner))
	for i, r := range l.routes {
		if len(r.items) > 1 && !r.back {
			byBlock[r.way.from] = append(byBlock[r.way.from], i)
		}
	}
	for at, routes := range byBlock {
		slices.SortStableFunc(routes, func(a, b int) int {
			return cmp.Compare(l.items[l.routes[a].items[1]].x, l.items[l.routes[b].items[1]].x)
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
func (p *placer) route(l *layered, k *block, i int, nodes []int, outs []*end, spread []float64, dx, dy float64) {
	r := &l.routes[i]
	from, to := r.way.from, r.way.to
	e := Edge{From: leaves(k.inner[from], nodes[from], outs[from]), To: nodes[to], Port: r.way.port, Label: r.way.label, Back: r.back || from == to}
	a := &l.items[from]
	if from == to {
		e.Points = p.around(k.inner[from], nodes[from], a.x+dx, dy+l.tops[a.layer])
		p.edge(e)
		return
	}
	var points []Point
	for j, at := range r.items {
		it := &l.items[at]
		top := dy + l.tops[it.layer]
		bottom := top + l.highs[it.layer]
		switch {
		case j == 0:
			x := it.x + dx + spread[i]
			points = append(points, Point{x, top + it.block.height})
			if it.block.height < l.highs[it.layer] {
				points = append(points, Point{x, bottom})
			}
		case j == len(r.items)-1:
			points = append(points, Point{it.x + dx, top})
		default:
			points = append(points, Point{it.x + dx, top}, Point{it.x + dx, bottom})
		}
	}
	if r.back {
		slices.Reverse(points)
		points = p.fromBelow(points, nodes[to], l.items[to].x+l.items[to].right+dx)
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
	for _, layer := range k.plan.layers {
		for _, i := range layer {
			if k.plan.items[i].block != nil {
				order = append(order, i)
			}
		}
	}
	return order
}
