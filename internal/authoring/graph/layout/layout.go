// Package layout puts boxes into layers, so that most ways lead down and few cross, and gives each its place from left to right.
//
// Guaranteed: the same boxes and ways give the same layers, no two boxes of a layer overlap, and it ends soon also
// for thousands of them. It knows nothing of what is drawn.
package layout

import (
	"cmp"
	"math"
	"slices"
)

// maxBends bounds the places at which long ways pass layers; beyond it they are straight.
const maxBends = 40_000

// sweeps is how often the order in layers is improved, up and down.
const sweeps = 6

// Box is what is laid out: how far it reaches to both sides of its axis.
type Box struct{ Left, Right float64 }

// Way leads from one box to another, by their numbers.
type Way struct{ From, To int }

// Item is what stands in a layer. The first ones are the boxes, in their order; behind them are the places where
// a way passes a layer.
type Item struct {
	Layer int
	X     float64 // of its axis
	Left  float64
	Right float64
	up    []int // items of the layer above that ways lead from
	down  []int
}

// Route is a way through layers: its items from the upper to the lower end.
type Route struct {
	Way

	Items []int
	Back  bool // it leads upwards, from the last item to the first
}

// Layers are boxes that were laid out. The routes are in the order of the ways.
type Layers struct {
	Items  []Item
	Layers [][]int // the items of each, from left to right
	Routes []Route

	gap float64
}

// Arrange assigns layers, orders them and gives every item its axis. All begins at the box first, and
// gap stays between two items of a layer.
func Arrange(boxes []Box, ways []Way, first int, gap float64) *Layers {
	l := &Layers{gap: gap}
	for _, b := range boxes {
		l.Items = append(l.Items, Item{Left: b.Left, Right: b.Right})
	}
	l.rank(len(boxes), ways, first)
	l.bend()
	l.order(first)
	l.axes()
	return l
}

// rank gives each box the layer below all from which ways lead to it, without
// the ways that lead back.
func (l *Layers) rank(boxes int, ways []Way, first int) {
	out := make([][]int, boxes)
	for i, w := range ways {
		out[w.From] = append(out[w.From], i)
	}
	back := make([]bool, len(ways))
	const unseen, onPath, left = 0, 1, 2
	state := make([]int, boxes)
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
			switch to := ways[i].To; state[to] {
			case unseen:
				state[to] = onPath
				path = append(path, step{at: to})
			case onPath:
				back[i] = true
			}
		}
	}
	visit(first)
	reached := make([]bool, boxes)
	for _, w := range ways {
		reached[w.To] = true
	}
	for _, wanted := range []bool{false, true} { // what nothing leads to, and then circles
		for i := range boxes {
			if state[i] == unseen && reached[i] == wanted {
				visit(i)
			}
		}
	}
	for _, at := range slices.Backward(finished) {
		for _, i := range out[at] {
			if w := ways[i]; !back[i] {
				l.Items[w.To].Layer = max(l.Items[w.To].Layer, l.Items[at].Layer+1)
			}
		}
	}
	for i, w := range ways {
		l.Routes = append(l.Routes, Route{Way: w, Back: back[i]})
	}
}

// bend puts an item into each layer that a way passes.
func (l *Layers) bend() {
	bends := 0
	for i := range l.Routes {
		r := &l.Routes[i]
		from, to := r.From, r.To
		if from == to {
			continue
		}
		if r.Back = l.Items[from].Layer > l.Items[to].Layer; r.Back {
			from, to = to, from
		}
		r.Items = []int{from}
		span := l.Items[to].Layer - l.Items[from].Layer
		if bends+span <= maxBends {
			for layer := l.Items[from].Layer + 1; layer < l.Items[to].Layer; layer++ {
				bends++
				l.Items = append(l.Items, Item{Layer: layer, Left: 4, Right: 4})
				r.Items = append(r.Items, len(l.Items)-1)
			}
		}
		r.Items = append(r.Items, to)
		for j := 1; j < len(r.Items); j++ {
			a, b := r.Items[j-1], r.Items[j]
			if l.Items[b].Layer == l.Items[a].Layer+1 {
				l.Items[a].down, l.Items[b].up = append(l.Items[a].down, b), append(l.Items[b].up, a)
			}
		}
	}
	deepest := 0
	for i := range l.Items {
		deepest = max(deepest, l.Items[i].Layer)
	}
	l.Layers = make([][]int, deepest+1)
}

// order puts the items of each layer so that few ways cross: first as they are
// found from the beginning, and then by the means of their neighbours.
func (l *Layers) order(first int) {
	seen := make([]bool, len(l.Items))
	queue := []int{}
	take := func(i int) {
		if !seen[i] {
			seen[i] = true
			queue = append(queue, i)
			l.Layers[l.Items[i].Layer] = append(l.Layers[l.Items[i].Layer], i)
		}
	}
	drain := func() {
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, n := range l.Items[at].down {
				take(n)
			}
			for _, n := range l.Items[at].up {
				take(n)
			}
		}
	}
	take(first)
	drain()
	for i := range l.Items {
		take(i)
		drain()
	}
	best, fewest := l.copyOrder(), l.crossings()
	position := make([]float64, len(l.Items))
	for round := range sweeps {
		if fewest == 0 {
			break
		}
		l.sweep(position, round%2 == 0)
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyOrder(), n
		}
	}
	l.Layers = best
}

func (l *Layers) copyOrder() [][]int {
	out := make([][]int, len(l.Layers))
	for i, layer := range l.Layers {
		out[i] = slices.Clone(layer)
	}
	return out
}

// sweep orders each layer by the means of the positions above (or below) it.
func (l *Layers) sweep(position []float64, down bool) {
	number := func(layer []int) {
		for i, at := range layer {
			position[at] = float64(i)
		}
	}
	for _, layer := range l.Layers {
		number(layer)
	}
	one := func(layer []int) {
		want := make(map[int]float64, len(layer))
		for _, at := range layer {
			near := l.Items[at].up
			if !down {
				near = l.Items[at].down
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
		for _, layer := range l.Layers {
			one(layer)
		}
		return
	}
	for _, layer := range slices.Backward(l.Layers) {
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
func (l *Layers) crossings() int {
	position := make([]int, len(l.Items))
	for _, layer := range l.Layers {
		for i, at := range layer {
			position[at] = i
		}
	}
	total := 0
	for i := 0; i+1 < len(l.Layers); i++ {
		sums := make([]int, len(l.Layers[i+1])+1)
		placed := 0
		for _, at := range l.Layers[i] {
			targets := make([]int, 0, len(l.Items[at].down))
			for _, to := range l.Items[at].down {
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
func (l *Layers) axes() {
	for _, layer := range l.Layers {
		l.settle(layer, func(int) (float64, bool) { return 0, false })
	}
	for range 4 {
		for _, layer := range l.Layers {
			l.settle(layer, func(i int) (float64, bool) { return l.near(l.Items[i].up) })
		}
		for _, layer := range slices.Backward(l.Layers) {
			l.settle(layer, func(i int) (float64, bool) { return l.near(l.Items[i].down) })
		}
	}
	for _, layer := range l.Layers {
		l.settle(layer, func(i int) (float64, bool) {
			return l.near(slices.Concat(l.Items[i].up, l.Items[i].down))
		})
	}
}

func (l *Layers) near(items []int) (float64, bool) {
	if len(items) == 0 {
		return 0, false
	}
	return mean(items, func(i int) float64 { return l.Items[i].X }), true
}

// settle moves the items of a layer as near to where they want to be as their
// widths allow, with the least sum of squares: isotonic regression by pooling
// neighbours (Ayer et al., 1955).
func (l *Layers) settle(layer []int, want func(int) (float64, bool)) {
	type pool struct {
		sum, n float64
		from   int
	}
	offset := make([]float64, len(layer))
	for i := 1; i < len(layer); i++ {
		a, b := &l.Items[layer[i-1]], &l.Items[layer[i]]
		offset[i] = offset[i-1] + a.Right + l.gap + b.Left
	}
	var pools []pool
	for i, at := range layer {
		x, ok := want(at)
		if !ok {
			x = l.Items[at].X
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
			l.Items[layer[i]].X = math.Round(pl.sum/pl.n + offset[i])
		}
	}
}
