package edit

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// splice puts a text in the place of a part of the source.
type splice struct {
	from, to int
	text     string
}

// spliced makes the text after splices.
func spliced(src []byte, all []splice) ([]byte, error) {
	if len(all) == 0 {
		return nil, bad("the edit changes nothing")
	}
	slices.SortStableFunc(all, func(a, b splice) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return min(a.to-a.from, 1) - min(b.to-b.from, 1) // what is only put in goes before what is replaced
	})
	var out bytes.Buffer
	at := 0
	for _, s := range all {
		if s.from < at || s.to < s.from || s.to > len(src) {
			return nil, errors.New("the text around here cannot be edited in one step; edit the text")
		}
		out.Write(src[at:s.from])
		out.WriteString(s.text)
		at = s.to
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

func (c *draft) put(at int, text string) { c.splices = append(c.splices, splice{at, at, text}) }

func (c *draft) cut(from, to int) {
	if from < to {
		c.splices = append(c.splices, splice{from, to, ""})
	}
}

func (c *draft) swap(from, to int, text string) {
	c.splices = append(c.splices, splice{from, to, text})
}

// shift moves the lines that begin behind from, and before to, by some columns.
func (c *draft) shift(from, to, by int) {
	for at := c.next(from); at < to && at < len(c.src); at = c.next(at) {
		has, rest := c.lead(at)
		switch {
		case rest == "" && has == 0:
		case by > 0:
			c.put(at, strings.Repeat(" ", by))
		default:
			c.cut(at, at+min(has, -by))
		}
	}
}

// comment is one of a source.
type comment struct {
	at   int
	text string
}

// comments finds what is no value and no sign of YAML's.
func (d *doc) comments() []comment {
	if d.json || bytes.IndexByte(d.src, '#') < 0 {
		return nil
	}
	var texts [][2]int
	d.root.each(func(n *node) {
		if (n.kind == scalar || n.kind == alias) && n.written() {
			texts = append(texts, [2]int{n.start, n.end})
		}
	})
	slices.SortFunc(texts, func(a, b [2]int) int { return a[0] - b[0] })
	var found []comment
	next := 0
	for at := 0; at < len(d.src); at++ {
		for next < len(texts) && texts[next][1] <= at {
			next++
		}
		if next < len(texts) && at >= texts[next][0] {
			at = texts[next][1] - 1
			continue
		}
		if d.src[at] == '#' && (at == 0 || bytes.IndexByte([]byte(" \t\r\n"), d.src[at-1]) >= 0) {
			end := d.stop(at)
			found = append(found, comment{at, strings.TrimRight(string(d.src[at:end]), " \t")})
			at = max(at, end-1)
		}
	}
	return found
}

// dropped finds a comment that the text after the change does not have; -1: it has all, but for
// those that go with what is taken.
func (c *draft) dropped(next *doc) (int, string) {
	has := map[string]int{}
	for _, k := range next.comments() {
		has[k.text]++
	}
	for _, k := range c.comments() {
		if k.at >= c.taken[0] && k.at < c.taken[1] {
			continue
		}
		if has[k.text]--; has[k.text] < 0 {
			return k.at, k.text
		}
	}
	return -1, ""
}

// The extent of what stands in a block: whole lines, with the comments that belong to it.

// tail is where the line begins behind a block that ends at an offset: comments that are
// indented deeper than its column belong to it.
func (d *doc) tail(end, column int) int {
	to := d.next(end)
	for at := to; at < len(d.src); at = d.next(at) {
		indent, rest := d.lead(at)
		if strings.TrimSpace(rest) == "" {
			continue
		}
		if rest[0] != '#' || indent <= column {
			break
		}
		to = d.next(at)
	}
	return to
}

// above is where the comments begin that stand right above a line, at its column.
func (d *doc) above(start, column, floor int) int {
	for start > floor {
		line := d.start(start - 1)
		indent, rest := d.lead(line)
		if line < floor || rest == "" || rest[0] != '#' || indent != column {
			break
		}
		start = line
	}
	return start
}

// extent is the part of the source that an item of a block list, or an entry of a block mapping,
// takes: from is the beginning of a line unless something stands before it there.
func (d *doc) extent(in *node, at int) (from, to int, whole bool) {
	var begin, end, floor int
	if in.kind == list {
		begin, end = in.dashes[at], max(in.items[at].end, in.dashes[at]+1)
		if at > 0 {
			floor = d.next(max(in.items[at-1].end, in.dashes[at-1]+1))
		}
	} else {
		begin, end = in.keys[at].start, max(in.vals[at].end, in.colons[at])
		if at > 0 {
			floor = d.next(max(in.vals[at-1].end, in.colons[at-1]))
		}
	}
	column := d.indent(begin)
	to = d.tail(end, column)
	if !d.alone(begin) {
		return begin, to, false
	}
	return d.above(d.start(begin), column, floor), to, true
}

// lineAt puts lines at the beginning of a line, also behind a last line without an end.
func (c *draft) lineAt(at int, text string) {
	if at == len(c.src) && at > 0 && c.src[at-1] != '\n' {
		c.put(at, c.eol+strings.TrimSuffix(text, c.eol))
		return
	}
	c.put(at, text)
}

// cutLines takes whole lines away, also the last one without an end: then the one before has
// none, unless it is the end of what a text says.
func (c *draft) cutLines(from, to int) {
	if to == len(c.src) && to > 0 && c.src[to-1] != '\n' && from > 0 {
		stop, says := c.stop(c.start(from-1)), false
		c.root.each(func(n *node) {
			says = says || n.kind == scalar && n.end == stop && strings.HasSuffix(n.text, "\n")
		})
		if !says {
			from = stop
		}
	}
	c.cut(from, to)
}

// indented puts a text of several lines behind a column: each but the first gets as many spaces.
func (d *doc) indented(text string, column int) string {
	return strings.ReplaceAll(text, "\n", d.eol+strings.Repeat(" ", column))
}
