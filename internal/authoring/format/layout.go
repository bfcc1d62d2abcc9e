package format

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// step is how far what is inside is indented.
const step = "  "

// layout lays out the lines of one document. Its functions give lines as they are indented
// within their list or mapping.
type layout struct {
	file    string
	lines   [][]rune
	orders  map[workflow.Place][]string
	refused error // the first thing that has no form here
}

func newLayout(lines []string, file string, orders map[workflow.Place][]string) *layout {
	l := &layout{file: file, orders: orders}
	for _, line := range lines {
		l.lines = append(l.lines, []rune(line))
	}
	return l
}

// text is the source.
func (l *layout) text() string {
	var out []string
	for _, line := range l.lines {
		out = append(out, string(line))
	}
	return strings.Join(out, "\n")
}

// refuse says that something has no form here.
func (l *layout) refuse(n *yaml.Node, text string) {
	if l.refused == nil {
		l.refused = problem([]byte(l.text()), l.file, n.Line, n.Column, "%s", text)
	}
}

// document lays out all.
func (l *layout) document(root *yaml.Node) []byte {
	first := l.inside(root)
	end := len(l.lines)
	for i := first.line; i < end; i++ {
		if isMarker(l.lines[i]) {
			end = i
		}
	}
	if strings.HasPrefix(strings.TrimSpace(string(l.lines[first.line][:first.col])), "?") {
		l.refuse(root, noKey)
		return nil
	}
	if !isBlank(l.lines[first.line][:first.col]) {
		l.refuse(root, "the document begins in the line of its ---; begin it in the next one")
		return nil
	}
	begin := 0
	for i := range first.line {
		if !isBlank(l.lines[i]) && !isComment(l.lines[i]) {
			begin = i + 1
		}
	}
	var out []string
	for _, line := range l.lines[:begin] {
		out = append(out, trimmed(line))
	}
	head, above := l.header(begin, first.line)
	out = append(out, head...)
	if isBlock(root) {
		out = append(out, l.parts(root, end, end, above)...)
	} else {
		last := l.last(root, -1, end)
		out = append(out, above...)
		out = append(out, trimmed(l.lines[first.line][first.col:]))
		out = append(out, l.more(root, first.line, last, first.col)...)
		out = append(out, withoutEnd(l.gap(last+1, end))...)
	}
	for _, line := range l.lines[end:] {
		if text := trimmed(line); text != "" {
			out = append(out, text)
		}
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

// header parts the comments above all: those that are about the file stay there, the others go
// with the first key.
func (l *layout) header(from, to int) (head, above []string) {
	cut := from
	for i := from; i < to; i++ {
		text := strings.TrimSpace(string(l.lines[i]))
		if text == "" || i == cut && strings.HasPrefix(text, "# yaml-language-server:") {
			cut = i + 1
		}
	}
	head = l.gap(from, cut)
	for len(head) > 0 && head[0] == "" {
		head = head[1:]
	}
	return head, l.gap(cut, to)
}

// inside is where the first part of a list or mapping begins, or what else it is.
func (l *layout) inside(n *yaml.Node) pos {
	switch {
	case isBlock(n) && n.Kind == yaml.MappingNode:
		return at(n.Content[0])
	case isBlock(n):
		return l.dash(n, 0)
	}
	return at(n)
}

// parts lays out a list or a mapping whose parts are lines. What comes next begins in the line
// limit, and the comments up to the line end belong to it. above are the comments above its first
// part, which go with that.
func (l *layout) parts(n *yaml.Node, limit, end int, above []string) []string {
	if n.Kind == yaml.MappingNode {
		return l.mapping(n, limit, end, above)
	}
	var out []string
	column := l.dash(n, 0).col
	for i, item := range n.Content {
		next, comments := limit, end
		if i+1 < len(n.Content) {
			next = l.dash(n, i+1).line
			comments = next
		}
		dash := l.dash(n, i)
		below := l.below(item, column, next, comments)
		first, rest := l.value(item, pos{dash.line, dash.col + 1}, true, column, next, below)
		out = append(out, above...)
		out = append(out, "-"+first)
		out = append(out, rest...)
		above = l.gap(below, comments)
	}
	return append(out, withoutEnd(above)...)
}

// entry is one of a mapping, laid out.
type entry struct {
	name         string
	above, lines []string
}

func (l *layout) mapping(n *yaml.Node, limit, end int, above []string) []string {
	all := pairs(n)
	column := at(all[0].key).col
	entries := make([]entry, 0, len(all))
	for i, p := range all {
		next, comments := limit, end
		if i+1 < len(all) {
			next = at(all[i+1].key).line
			comments = next
		}
		name, colon, ok := l.key(p)
		if !ok {
			return nil
		}
		below := l.below(p.value, column, next, comments)
		first, rest := l.value(p.value, colon, false, column, next, below)
		entries = append(entries, entry{p.key.Value, above, append([]string{name + ":" + first}, rest...)})
		above = l.gap(below, comments)
	}
	if order := l.orders[place(n, l.file)]; order != nil {
		rank := func(e entry) int {
			if i := slices.Index(order, e.name); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return rank(a) - rank(b) })
	}
	var out []string
	for i, e := range entries {
		if i == 0 {
			e.above = withoutBegin(e.above)
		}
		out = append(out, e.above...)
		out = append(out, e.lines...)
	}
	return append(out, withoutEnd(above)...)
}

const noKey = "a key like this has no form that weft fmt knows; write it as name: value"

// key is the text of a key, and the place behind its colon.
func (l *layout) key(p pair) (text string, behind pos, ok bool) {
	from := at(p.key)
	if p.key.Kind != yaml.ScalarNode || p.key.Style&block != 0 || l.hasProperties(p.key) || isNothing(p.key) || l.char(from) == '?' && isSpace(l.char(pos{from.line, from.col + 1})) {
		l.refuse(p.key, noKey)
		return "", pos{}, false
	}
	line := l.lines[from.line]
	colon := from.col
	if p.key.Style&quoted != 0 {
		to := l.behindQuote(p.key)
		if to.line != from.line {
			l.refuse(p.key, "a key of several lines has no form that weft fmt knows; write it in one")
			return "", pos{}, false
		}
		colon = to.col
	}
	for colon < len(line) && (line[colon] != ':' || colon+1 < len(line) && !isSpace(line[colon+1])) {
		colon++
	}
	if colon == len(line) {
		l.refuse(p.key, noKey)
		return "", pos{}, false
	}
	return strings.TrimRight(string(line[from.col:colon]), " \t"), pos{from.line, colon + 1}, true
}

// below is the line in which the comments end that belong to a value, of those up to the line
// end: they are indented as its parts are. column is where its list or mapping is.
func (l *layout) below(v *yaml.Node, column, limit, end int) int {
	from := l.last(v, column, limit) + 1
	cut, within := from, l.within(v, column)
	for i := from; i < end && within >= 0; i++ {
		if isBlank(l.lines[i]) {
			continue
		}
		if indentOf(l.lines[i]) < within {
			break
		}
		cut = i + 1
	}
	return cut
}

// within is the column of the first list or mapping at the end of a value that is indented
// further than its own; -1 if there is none.
func (l *layout) within(v *yaml.Node, column int) int {
	for isBlock(v) {
		if at := l.inside(v).col; at > column {
			return at
		}
		v = v.Content[len(v.Content)-1]
	}
	return -1
}

// value lays out what stands behind a colon or a dash: what follows it in its line, and the
// lines below. column is where the list or mapping is that it is in.
func (l *layout) value(v *yaml.Node, behind pos, dash bool, column, limit, end int) (first string, rest []string) {
	line := l.lines[behind.line]
	tail := trimmed(line[min(behind.col, len(line)):])
	text := strings.TrimLeft(tail, " \t")
	if strings.HasPrefix(text, "#") && !dash {
		text = tail // the distance of a comment stays
	} else if text != "" {
		text = " " + text
	}
	switch {
	case isNothing(v):
		return text, nil
	case isBlock(v) && l.inside(v).line == behind.line:
		return joined(nil, l.parts(v, limit, end, nil))
	case isBlock(v):
		return l.partsBelow(v, behind.line, text, dash, limit, end)
	}
	own, more := l.single(v, column, limit)
	if at(v).line == behind.line {
		return " " + own, more
	}
	above := withoutBegin(l.gap(behind.line+1, at(v).line))
	if dash && text == "" && len(above) == 0 {
		return " " + own, more
	}
	return text, append(indented(append(above, own)), more...)
}

// single lays out what is no list and no mapping of lines: its first line, and the others.
func (l *layout) single(v *yaml.Node, column, limit int) (own string, more []string) {
	p := at(v)
	last := l.last(v, column, limit)
	own = trimmed(l.lines[p.line][p.col:])
	if last > p.line && v.Style&quoted != 0 {
		own = folded(l.lines[p.line][p.col:])
	}
	return own, l.more(v, p.line, last, column)
}

// partsBelow lays out a list or mapping that begins below the line of its key or dash, behind
// which is a text: a comment, an anchor, a tag, or nothing.
func (l *layout) partsBelow(v *yaml.Node, line int, text string, dash bool, limit, end int) (first string, rest []string) {
	above := l.gap(line+1, l.inside(v).line)
	lines := l.parts(v, limit, end, nil)
	if l.hasProperties(v) && at(v).line != line {
		l.refuse(v, "an anchor or a tag in a line of its own has no form that weft fmt knows; write it behind the key")
		return "", nil
	}
	if !dash || l.hasProperties(v) {
		return text, indented(append(withoutBegin(above), lines...))
	}
	if text != "" {
		above = append([]string{text[1:]}, above...)
	}
	return joined(above, lines)
}

// joined puts lines behind a dash.
func joined(above, lines []string) (first string, rest []string) {
	all := withoutBegin(append(above, lines...))
	if len(all) == 0 { // it was refused
		return "", nil
	}
	return " " + all[0], indented(all[1:])
}

// more lays out the lines of a value behind its first one.
func (l *layout) more(v *yaml.Node, first, last, column int) []string {
	lines := l.lines[first+1 : max(first, last)+1]
	switch {
	case v.Kind == yaml.ScalarNode && v.Style&block != 0:
		return l.moreOfText(v, lines, last, column)
	case isFlow(v) && v.Kind != yaml.ScalarNode:
		return moreOfBrackets(lines, max(column, 0))
	}
	var out []string
	for _, line := range lines {
		if text := folded(line[indentOf(line):]); text != "" {
			out = append(out, step+text)
		} else {
			out = append(out, "")
		}
	}
	return out
}

// moreOfText is more of a text that begins with | or >.
func (l *layout) moreOfText(v *yaml.Node, lines [][]rune, last, column int) []string {
	mark := l.inner(v)
	if mark.line != at(v).line || l.char(mark) != '|' && l.char(mark) != '>' {
		l.refuse(v, "an anchor or a tag in a line of its own has no form that weft fmt knows; write it before the | or >")
		return nil
	}
	_, indent := l.lastOfText(v, column, last+1)
	by := step
	if digit, _ := l.ofMark(mark); digit > 0 {
		by = strings.Repeat(" ", digit)
	}
	var out []string
	for _, line := range lines {
		if len(line) <= indent || indent == 0 { // without a text there is no indentation
			out = append(out, "")
			continue
		}
		out = append(out, by+string(line[indent:]))
	}
	return out
}

// moreOfBrackets is more of a list or mapping in brackets. Its lines keep their distances.
func moreOfBrackets(lines [][]rune, column int) []string {
	shift := 0 // so that all are further in than what they are of
	for _, line := range lines {
		if !isBlank(line) && !closes(line) {
			shift = max(shift, len(step)-(indentOf(line)-column))
		}
	}
	var out []string
	for _, line := range lines {
		lead := indentOf(line)
		deep := lead - column + shift
		if closes(line) {
			deep = max(lead-column, 0)
		}
		if isBlank(line) {
			out = append(out, "")
			continue
		}
		out = append(out, strings.Repeat(" ", deep)+folded(line[lead:]))
	}
	return out
}

// gap gives the comments between two parts, with no two empty lines.
func (l *layout) gap(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		text := strings.TrimSpace(string(l.lines[i]))
		if text == "" && (len(out) > 0 && out[len(out)-1] == "") {
			continue
		}
		if text != "" && text[0] != '#' {
			l.refuse(&yaml.Node{Line: i + 1, Column: indentOf(l.lines[i]) + 1}, "this has no form that weft fmt knows")
		}
		out = append(out, text)
	}
	return out
}

// closes tells whether a line begins with the end of a list or mapping in brackets.
func closes(line []rune) bool {
	i := indentOf(line)
	return i < len(line) && (line[i] == ']' || line[i] == '}')
}

func withoutBegin(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

func withoutEnd(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = step + line
		}
	}
	return out
}

func trimmed(line []rune) string { return strings.TrimRight(string(line), " \t") }

// folded is a line of a text of several: a blank behind a backslash belongs to it.
func folded(line []rune) string {
	if text := trimmed(line); !strings.HasSuffix(text, `\`) {
		return text
	}
	return string(line)
}
