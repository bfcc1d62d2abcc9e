package graph

// fold takes boxes away until there are at most limit: what the deepest blocks
// hold, and then the middle of long lists. What is open stays, and what holds it.
func fold(root *block, limit int) {
	if root.boxes <= limit {
		return
	}
	var perDepth []int
	tally(root, 0, &perDepth)
	deepest, sum := 0, 0
	for d, n := range perDepth {
		if sum += n; sum > limit {
			break
		}
		deepest = d
	}
	foldBelow(root, 0, deepest)
	if root.boxes > limit {
		shorten(root, limit)
	}
}

// tally counts the boxes of each depth.
func tally(k *block, depth int, per *[]int) {
	for len(*per) <= depth {
		*per = append(*per, 0)
	}
	if k.form != list {
		(*per)[depth]++
	}
	for _, l := range k.lanes {
		if l.block != nil {
			tally(l.block, depth+1, per)
		}
	}
	below := depth
	if k.form == frame || k.form == layers && depth > 0 {
		below++
	}
	for _, inside := range k.inner {
		tally(inside, below, per)
	}
}

// foldBelow folds what lies below a depth, and counts again.
func foldBelow(k *block, depth, deepest int) {
	own := 0
	if k.form != list {
		own = 1
	}
	boxes := own
	for i := range k.lanes {
		l := &k.lanes[i]
		if l.block == nil {
			continue
		}
		if depth >= deepest && !l.block.open {
			l.block = foldedBlock("", l.block)
		} else {
			foldBelow(l.block, depth+1, deepest)
		}
		boxes += l.block.boxes
	}
	below := depth
	if k.form == frame || k.form == layers && depth > 0 {
		below++
	}
	if below > deepest && !k.open && len(k.inner) > 0 {
		k.node.Hidden, k.node.Kind = k.count-1, Folded
		k.form, k.inner, k.ways = single, nil, nil
		k.boxes = 1
		return
	}
	for _, inside := range k.inner {
		foldBelow(inside, below, deepest)
		boxes += inside.boxes
	}
	k.boxes = boxes
}

// foldedBlock stands for a block that is not drawn; nothing that ends goes on behind it.
func foldedBlock(id string, of *block) *block {
	return &block{node: Node{Kind: Folded, ID: id, Hidden: of.count}, count: of.count, boxes: 1, ends: of.ends}
}

// shorten leaves the middle of the longest lists out, but for what is open.
func shorten(k *block, limit int) {
	for i := range k.lanes {
		if k.lanes[i].block != nil {
			shorten(k.lanes[i].block, limit)
		}
	}
	for _, inside := range k.inner {
		shorten(inside, limit)
	}
	if k.form == list && len(k.inner) > max(limit/2, 8) {
		k.inner = middleOut(k.inner, max(limit/2, 8))
	}
	k.boxes = 0
	if k.form != list {
		k.boxes = 1
	}
	for _, l := range k.lanes {
		if l.block != nil {
			k.boxes += l.block.boxes
		}
	}
	for _, inside := range k.inner {
		k.boxes += inside.boxes
	}
}

// middleOut keeps both ends of a list and what is open, with one box for each gap.
func middleOut(blocks []*block, keep int) []*block {
	var out []*block
	var gap *block
	for i, k := range blocks {
		if i < keep/2 || i >= len(blocks)-keep/2 || k.open {
			out, gap = append(out, k), nil
			continue
		}
		if gap == nil {
			gap = &block{node: Node{Kind: Folded}, boxes: 1}
			out = append(out, gap)
		}
		gap.count += k.count
		gap.node.Hidden += k.count
	}
	return out
}
