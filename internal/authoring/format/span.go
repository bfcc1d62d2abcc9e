package format

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// pos is a character of a source: line and column from 0.
type pos struct{ line, col int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// at is where a node begins, with its anchor and tag.
func at(n *yaml.Node) pos { return pos{n.Line - 1, n.Column - 1} }

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle

const block = yaml.LiteralStyle | yaml.FoldedStyle

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// isBlock tells lists and mappings whose parts are lines.
func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && !isFlow(n) && len(n.Content) > 0
}

// isNothing tells a value of which nothing is written.
func isNothing(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&(quoted|block) == 0
}

func isSpace(c rune) bool { return c == ' ' || c == '\t' }

func isBlank(line []rune) bool { return indentOf(line) == len(line) }

// indentOf counts the blanks in front of a line.
func indentOf(line []rune) int {
	for i, c := range line {
		if !isSpace(c) {
			return i
		}
	}
	return len(line)
}

func isComment(line []rune) bool {
	i := indentOf(line)
	return i < len(line) && line[i] == '#'
}

// isMarker tells the lines that begin and end a document.
func isMarker(line []rune) bool {
	s := string(line)
	return s == "---" || s == "..." || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "... ") || strings.HasPrefix(s, "---\t") || strings.HasPrefix(s, "...\t")
}

// commentIn is where a comment begins in a line, at from or later; -1 without one. It is for
// lines without quotes.
func commentIn(line []rune, from int) int {
	for i := from; i < len(line); i++ {
		if line[i] == '#' && (i == 0 || isSpace(line[i-1])) {
			return i
		}
	}
	return -1
}

func (l *layout) char(p pos) rune {
	if p.line < len(l.lines) && p.col < len(l.lines[p.line]) {
		return l.lines[p.line][p.col]
	}
	return 0
}

// inner is where a node begins behind its anchor and tag. Behind them may be nothing, in their
// line or at all: then it is the end of the line.
func (l *layout) inner(n *yaml.Node) pos {
	p := at(n)
	for n.Kind != yaml.AliasNode && (l.char(p) == '&' || l.char(p) == '!') {
		for c := l.char(p); c != 0 && !isSpace(c) && !(strings.ContainsRune(",[]{}", c)); c = l.char(p) {
			p.col++
		}
		for isSpace(l.char(p)) {
			p.col++
		}
		if l.char(p) == '#' {
			p.col = len(l.lines[p.line])
		}
	}
	return p
}

// hasProperties tells whether a node has an anchor or a tag in its source.
func (l *layout) hasProperties(n *yaml.Node) bool {
	return n.Kind != yaml.AliasNode && (l.char(at(n)) == '&' || l.char(at(n)) == '!')
}

// behindQuote is the place behind a quoted text.
func (l *layout) behindQuote(n *yaml.Node) pos {
	p := l.toText(l.inner(n))
	mark := l.char(p)
	p.col++
	for p.line < len(l.lines) {
		line := l.lines[p.line]
		for ; p.col < len(line); p.col++ {
			switch c := line[p.col]; {
			case c == '\\' && mark == '"':
				p.col++ // also at the end of a line
			case c == mark && mark == '\'' && p.col+1 < len(line) && line[p.col+1] == '\'':
				p.col++
			case c == mark:
				p.col++
				return p
			}
		}
		p = pos{p.line + 1, 0}
	}
	return pos{len(l.lines) - 1, 0}
}

// toText goes to what comes next that is no blank and no comment.
func (l *layout) toText(p pos) pos {
	for p.line < len(l.lines) {
		line := l.lines[p.line]
		for p.col < len(line) && isSpace(line[p.col]) {
			p.col++
		}
		if p.col < len(line) && line[p.col] != '#' {
			return p
		}
		p = pos{p.line + 1, 0}
	}
	return p
}

// behindFlow is the place behind a list or mapping in brackets.
func (l *layout) behindFlow(n *yaml.Node) pos {
	p := l.toText(l.inner(n))
	closer := map[rune]rune{'{': '}', '[': ']'}[l.char(p)]
	if closer != 0 {
		p.col++
	}
	for _, kid := range n.Content {
		switch {
		case kid.Kind == yaml.ScalarNode && kid.Style&quoted != 0:
			p = l.behindQuote(kid)
		case (kid.Kind == yaml.MappingNode || kid.Kind == yaml.SequenceNode) && !at(kid).before(p):
			p = l.behindFlow(kid)
		}
	}
	if closer == 0 { // one pair in a list, without brackets
		return p
	}
	for ; p.line < len(l.lines); p = (pos{p.line + 1, 0}) {
		line := l.lines[p.line]
		for ; p.col < len(line); p.col++ {
			switch {
			case line[p.col] == closer:
				p.col++
				return p
			case line[p.col] == '#' && (p.col == 0 || isSpace(line[p.col-1])):
				p.col = len(line)
			}
		}
	}
	return pos{len(l.lines) - 1, 0}
}

// last is the last line of a node, without the comments below it. column is that of the list
// or mapping that it is in, and limit the line in which what comes next begins.
func (l *layout) last(n *yaml.Node, column, limit int) int {
	switch {
	case isBlock(n) && n.Kind == yaml.MappingNode:
		all := pairs(n)
		end := all[len(all)-1]
		return max(at(end.key).line, l.last(end.value, at(all[0].key).col, limit))
	case isBlock(n):
		end := n.Content[len(n.Content)-1]
		return max(l.dash(n, len(n.Content)-1).line, l.last(end, l.dash(n, 0).col, limit))
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		return l.behindFlow(n).line
	case isNothing(n), n.Kind == yaml.AliasNode:
		return at(n).line
	case n.Style&quoted != 0:
		return l.behindQuote(n).line
	case n.Style&block != 0:
		end, _ := l.lastOfText(n, column, limit)
		return end
	}
	return l.lastOfPlain(n, limit)
}

// lastOfPlain is the last line of a text without quotes.
func (l *layout) lastOfPlain(n *yaml.Node, limit int) int {
	p := l.toText(l.inner(n))
	for commentIn(l.lines[p.line], p.col) < 0 {
		next := p.line + 1
		for next < min(limit, len(l.lines)) && isBlank(l.lines[next]) {
			next++
		}
		if next >= min(limit, len(l.lines)) || isComment(l.lines[next]) || isMarker(l.lines[next]) {
			break
		}
		p = pos{next, 0}
	}
	return p.line
}

// ofMark reads what stands behind | or >: by how much the text is indented, 0 if that is not said,
// and whether the empty lines at its end belong to it.
func (l *layout) ofMark(p pos) (indent int, keep bool) {
	for p.col++; ; p.col++ {
		switch c := l.char(p); {
		case c == '+':
			keep = true
		case c >= '1' && c <= '9':
			indent = int(c - '0')
		case c != '-':
			return indent, keep
		}
	}
}

// lastOfText is the last line of a text that begins with | or >, and how far it is indented.
func (l *layout) lastOfText(n *yaml.Node, column, limit int) (end, indent int) {
	begin := l.inner(n).line
	indent, keep := l.ofMark(l.inner(n))
	if indent > 0 {
		indent += column
	}
	end = begin
	for i := begin + 1; i < min(limit, len(l.lines)); i++ {
		line := l.lines[i]
		spaces := 0
		for spaces < len(line) && line[spaces] == ' ' {
			spaces++
		}
		empty := spaces == len(line) && (indent == 0 || spaces <= indent)
		if !empty && (indent == 0 && spaces <= column || spaces < indent) {
			break
		}
		if !empty && indent == 0 {
			indent = spaces
		}
		if keep || !empty {
			end = i
		}
	}
	if keep && end == len(l.lines)-1 && len(l.lines[end]) == 0 && end > begin {
		end-- // it is no line, it is what is behind the last line break
	}
	return end, indent
}

// dash is where the dash of an item is.
func (l *layout) dash(n *yaml.Node, i int) pos {
	first := at(n)
	if l.hasProperties(n) {
		first = l.toText(pos{first.line + 1, 0})
	}
	if i == 0 {
		return first
	}
	for line := at(n.Content[i]).line; line > first.line; line-- {
		if p := (pos{line, first.col}); l.char(p) == '-' && isBlank(l.lines[line][:first.col]) {
			return p
		}
	}
	return first
}

// comments are all comments of a document, in their order.
func (l *layout) comments(root *yaml.Node) []string {
	hidden := make([][]bool, len(l.lines)) // the characters that are no comment although there may be a #
	hide := func(from, to pos) {
		for line := from.line; line <= to.line; line++ {
			if hidden[line] == nil {
				hidden[line] = make([]bool, len(l.lines[line]))
			}
			begin, end := 0, len(l.lines[line])
			if line == from.line {
				begin = from.col
			}
			if line == to.line {
				end = min(to.col, end)
			}
			for i := begin; i < end; i++ {
				hidden[line][i] = true
			}
		}
	}
	l.texts(root, -1, len(l.lines), func(n *yaml.Node, column, limit int) {
		switch {
		case n.Style&quoted != 0:
			hide(l.toText(l.inner(n)), l.behindQuote(n))
		case n.Style&block != 0:
			if end, _ := l.lastOfText(n, column, limit); end > l.inner(n).line {
				hide(pos{l.inner(n).line + 1, 0}, pos{end, len(l.lines[end])})
			}
		}
	})
	var out []string
	for i, line := range l.lines {
		for from := 0; ; {
			c := commentIn(line, from)
			if c < 0 {
				break
			}
			if from = c + 1; hidden[i] == nil || !hidden[i][c] {
				out = append(out, strings.TrimRight(string(line[c:]), " \t"))
				break
			}
		}
	}
	return out
}

// texts visits all scalars.
func (l *layout) texts(n *yaml.Node, column, limit int, visit func(n *yaml.Node, column, limit int)) {
	switch {
	case n.Kind == yaml.ScalarNode:
		visit(n, column, limit)
	case isBlock(n) && n.Kind == yaml.MappingNode:
		all := pairs(n)
		for i, p := range all {
			end := limit
			if i+1 < len(all) {
				end = at(all[i+1].key).line
			}
			visit(p.key, at(p.key).col, end)
			l.texts(p.value, at(all[0].key).col, end, visit)
		}
	case isBlock(n):
		for i, item := range n.Content {
			end := limit
			if i+1 < len(n.Content) {
				end = l.dash(n, i+1).line
			}
			l.texts(item, l.dash(n, 0).col, end, visit)
		}
	case n.Kind != yaml.AliasNode:
		for _, kid := range n.Content {
			l.texts(kid, column, limit, visit)
		}
	}
}
