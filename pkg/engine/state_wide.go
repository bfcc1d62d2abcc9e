package engine

// An instance that waits at many places has its state in a form of its own, which differs from the other one in two
// things. Executions refer to each other by their numbers and not by their positions, so that one that ends changes
// nothing of the others' texts. And what a halted instance waits for is listed as its header lists it when it runs. So
// a store that keeps a state in pieces writes few of them with each commit, also when an instance faults and when
// it comes back.

// wideVersion is the number of that form.
const wideVersion = 2

// isWide reports whether the state is written in that form: executions of before there were numbers have none.
func isWide(b *Burst) bool {
	if len(b.marks) <= b.limits.Wide {
		return false
	}
	seen := make(map[int64]bool, len(b.marks))
	for x := range tree(b.root) {
		if x != b.root && x.number == 0 || seen[x.number] {
			return false
		}
		seen[x.number] = true
	}
	return true
}

// refer gives how a state refers to an execution, by its position in one form and by its number in the other.
func refer(d *stateDoc, index map[*Execution]int, x *Execution) int {
	if d.V == wideVersion {
		return int(x.number)
	}
	return index[x]
}

// narrow turns what was read of the wide form into the other one.
func (d *stateDoc) narrow(r *reader) {
	at := make(map[int]int, len(d.Executions))
	for i := range d.Executions {
		n := int(d.Executions[i].Number)
		if _, double := at[n]; double {
			r.fail("there are two executions %d", n)
		}
		at[n] = i
	}
	position := func(of *int) {
		if *of < 0 {
			return
		}
		i, known := at[*of]
		if !known {
			r.fail("there is no execution %d", *of)
		}
		*of = i
	}
	for i := range d.Executions {
		position(&d.Executions[i].Parent)
	}
	for i := range d.Work {
		position(&d.Work[i].On)
	}
	for i := range d.Bookmarks {
		position(&d.Bookmarks[i].On)
		if d.Bookmarks[i].Bookmark == nil && i < len(d.Marks) {
			d.Bookmarks[i].Bookmark = &d.Marks[i]
		}
	}
	d.Marks = nil
}

// listMarks adds what the instance waits for to its state.
func listMarks(b *Burst, d *stateDoc, index map[*Execution]int) {
	for _, m := range b.marks {
		doc := bookmarkDoc{On: refer(d, index, m.x), Child: m.child}
		switch {
		case !b.halted: // the header has it
		case d.V == wideVersion:
			d.Marks = append(d.Marks, m.Bookmark)
		default:
			doc.Bookmark = &m.Bookmark
		}
		d.Bookmarks = append(d.Bookmarks, doc)
	}
}
