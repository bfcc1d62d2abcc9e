package differ

import (
	"slices"
)

// Line is a line of two texts beside each other.
type Line struct {
	Old, New int    // the line's number in each text; 0: it is not there
	Mark     string // "+", "-" or " "
	Text     string
	Gap      int // lines that are equal and not shown stand before it
}

const (
	// mostEdits bounds how far two texts are compared: those that are farther apart are shown
	// one after the other.
	mostEdits = 600
	// around is how many equal lines are shown before and after others.
	around = 3
)

// Lines compares two texts by lines, and gives what differs with some lines around it.
func Lines(old, now []string) []Line {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var all []Line
	a, b := 0, 0
	same := func() {
		a, b = a+1, b+1
		all = append(all, Line{Old: a, New: b, Mark: " ", Text: old[a-1]})
	}
	for range head {
		same()
	}
	for _, op := range Script(old[head:len(old)-tail], now[head:len(now)-tail]) {
		switch op {
		case '-':
			a++
			all = append(all, Line{Old: a, Mark: "-", Text: old[a-1]})
		case '+':
			b++
			all = append(all, Line{New: b, Mark: "+", Text: now[b-1]})
		default:
			same()
		}
	}
	for range tail {
		same()
	}
	return folded(all)
}

// Script gives the shortest way from one text to the other (Myers, An O(ND) Difference
// Algorithm, 1986): -, + and = for each line.
func Script(old, now []string) []byte {
	n, m := len(old), len(now)
	limit := min(n+m, mostEdits)
	mid := limit + 1
	reached := make([]int, 2*limit+3) // by diagonal: how far the old text is reached
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(reached[mid-d-1:mid+d+2]))
		for k := -d; k <= d; k += 2 {
			x := reached[mid+k-1] + 1
			if k == -d || k != d && reached[mid+k-1] < reached[mid+k+1] {
				x = reached[mid+k+1]
			}
			for x < n && x-k < m && old[x] == now[x-k] {
				x++
			}
			reached[mid+k] = x
			if x >= n && x-k >= m {
				return walked(trace, n, m)
			}
		}
	}
	out := make([]byte, 0, n+m)
	for range n {
		out = append(out, '-')
	}
	for range m {
		out = append(out, '+')
	}
	return out
}

// walked goes the way back that script found.
func walked(trace [][]int, x, y int) []byte {
	var back []byte
	for d := len(trace) - 1; d > 0; d-- {
		reached, k := func(k int) int { return trace[d][k+d+1] }, x-y
		from := k - 1
		if k == -d || k != d && reached(k-1) < reached(k+1) {
			from = k + 1
		}
		px := reached(from)
		py := px - from
		for x > px && y > py {
			back = append(back, '=')
			x, y = x-1, y-1
		}
		if from > k {
			back = append(back, '+')
		} else {
			back = append(back, '-')
		}
		x, y = px, py
	}
	for range x {
		back = append(back, '=')
	}
	slices.Reverse(back)
	return back
}

// folded leaves out equal lines that are far from others.
func folded(all []Line) []Line {
	near := make([]bool, len(all))
	for i := range all {
		if all[i].Mark == " " {
			continue
		}
		for j := max(0, i-around); j <= min(len(all)-1, i+around); j++ {
			near[j] = true
		}
	}
	var out []Line
	gap := 0
	for i := range all {
		if !near[i] {
			gap++
			continue
		}
		all[i].Gap, gap = gap, 0
		out = append(out, all[i])
	}
	return out
}
