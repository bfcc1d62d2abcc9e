package edit

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// lines knows where the lines of a text begin, and its characters: a text may be one line of a
// megabyte, and each of its values asks for its column.
type lines struct {
	src    []byte
	ascii  bool // each character is a byte
	starts []int
	before []int // by line: how many characters the text has before it
	marks  []int // where each [apart]th character begins
}

const apart = 64

func newLines(src []byte) lines {
	l := lines{src: src, ascii: true, starts: []int{0}}
	for at, c := range src {
		if c >= utf8.RuneSelf {
			l.ascii = false
			break
		}
		if c == '\n' {
			l.starts = append(l.starts, at+1)
		}
	}
	if l.ascii {
		return l
	}
	l.starts, l.before = []int{0}, []int{0}
	n := 0
	for at := 0; at < len(src); n++ {
		if n%apart == 0 {
			l.marks = append(l.marks, at)
		}
		c, size := utf8.DecodeRune(src[at:])
		if at += size; c == '\n' {
			l.starts, l.before = append(l.starts, at), append(l.before, n+1)
		}
	}
	return l
}

// offset of a line and a column, both from 1; columns count characters.
func (l *lines) offset(line, column int) int {
	if line < 1 || line > len(l.starts) {
		return len(l.src)
	}
	if l.ascii {
		return min(l.starts[line-1]+max(column, 1)-1, len(l.src))
	}
	n := l.before[line-1] + max(column, 1) - 1
	if n/apart >= len(l.marks) {
		return len(l.src)
	}
	at := l.marks[n/apart]
	for n %= apart; n > 0 && at < len(l.src); n-- {
		_, size := utf8.DecodeRune(l.src[at:])
		at += size
	}
	return at
}

// place is the line and the column of an offset.
func (l *lines) place(at int) (line, column int) {
	at = min(max(at, 0), len(l.src))
	line = sort.SearchInts(l.starts, at+1)
	if l.ascii {
		return line, at - l.starts[line-1] + 1
	}
	n := 0
	if i := sort.SearchInts(l.marks, at+1) - 1; i >= 0 {
		n = i*apart + utf8.RuneCount(l.src[l.marks[i]:at])
	}
	return line, n - l.before[line-1] + 1
}

// start of the line that has an offset.
func (l *lines) start(at int) int {
	line := sort.SearchInts(l.starts, at+1)
	return l.starts[line-1]
}

// next is where the line behind that of an offset begins.
func (l *lines) next(at int) int {
	if i := bytes.IndexByte(l.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(l.src)
}

// stop is where the line of an offset ends, before its break.
func (l *lines) stop(at int) int {
	end := l.next(at)
	if end > at && l.src[end-1] == '\n' {
		if end--; end > at && l.src[end-1] == '\r' {
			end--
		}
	}
	return end
}

// indent counts the spaces before an offset's column, as characters.
func (l *lines) indent(at int) int {
	_, column := l.place(at)
	return column - 1
}

// lead is the indentation of the line that begins at an offset, and what it has behind it.
func (l *lines) lead(start int) (indent int, rest string) {
	text := string(l.src[start:l.stop(start)])
	rest = strings.TrimLeft(text, " ")
	return len(text) - len(rest), rest
}

// alone tells whether nothing stands before an offset in its line.
func (l *lines) alone(at int) bool {
	return len(bytes.TrimLeft(l.src[l.start(at):at], " ")) == 0
}

// yamlTree is the tree of a text in YAML, which the notation's reader has read before: it is
// valid, and its nesting is bounded.
type yamlTree struct {
	lines
	slab  slab
	err   error
	nodes map[*yaml.Node]*node // those with an anchor
}

// readYAML makes the tree of a text of what the library made of it.
func readYAML(text lines, y *yaml.Node) (*node, error) {
	t := &yamlTree{lines: text, nodes: map[*yaml.Node]*node{}}
	root := t.node(y, -1)
	return root, t.err
}

// parseYAML reads a text of an edit.
func parseYAML(src []byte) (*node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, fmt.Errorf("there is nothing here")
	}
	return readYAML(newLines(src), doc.Content[0])
}

// lose says that the text at a place is not what the tree says of it.
func (t *yamlTree) lose(at int, what string) {
	if t.err == nil {
		line, column := t.place(at)
		t.err = fmt.Errorf("line %d, column %d: %s is written in a way that cannot be edited here; edit the text", line, column, what)
	}
}

// node makes a node; around is the indentation of the block that it stands in.
func (t *yamlTree) node(y *yaml.Node, around int) *node {
	n := t.slab.make()
	*n = node{start: t.offset(y.Line, y.Column), tag: y.Tag, text: y.Value, flow: y.Style&yaml.FlowStyle != 0}
	n.end = n.start
	if n.tag == "!!seq" || n.tag == "!!map" {
		n.tag = ""
	}
	if y.Anchor != "" {
		t.nodes[y] = n
	}
	at := t.properties(n.start)
	switch y.Kind {
	case yaml.AliasNode:
		n.kind, n.tag = alias, ""
		n.end = n.start + len(t.word(n.start))
		if n.target = t.nodes[y.Alias]; n.target == nil {
			t.lose(n.start, "this")
		}
	case yaml.ScalarNode:
		n.end = t.scalar(y, at, around)
	case yaml.SequenceNode:
		n.kind = list
		t.list(n, y, at)
	case yaml.MappingNode:
		n.kind = mapping
		t.mapping(n, y, at)
	default:
		t.lose(n.start, "this")
	}
	if n.end > len(t.src) || n.end < n.start {
		t.lose(n.start, "this")
		n.end = n.start
	}
	n.adopt()
	return n
}

func (t *yamlTree) list(n *node, y *yaml.Node, at int) {
	column := t.indent(at)
	for i, c := range y.Content {
		if !n.flow {
			dash := at
			if i > 0 {
				dash = t.dash(n.items[i-1].end, column)
			}
			if dash >= len(t.src) || t.src[dash] != '-' {
				t.lose(dash, "this list")
				return
			}
			n.dashes = append(n.dashes, dash)
			n.end = dash + 1
		}
		item := t.node(c, column)
		n.items = append(n.items, item)
		n.end = max(n.end, item.end)
	}
	if n.flow {
		n.end = t.closing(max(at+1, n.end), ']')
	}
}

// dash is where the item behind one that ends begins.
func (t *yamlTree) dash(end, column int) int {
	for at := t.next(end); at < len(t.src); at = t.next(at) {
		indent, rest := t.lead(at)
		if rest == "" || rest[0] == '#' {
			continue
		}
		if rest[0] == '-' && indent == column {
			return at + indent
		}
		break
	}
	return len(t.src)
}

func (t *yamlTree) mapping(n *node, y *yaml.Node, at int) {
	column := t.indent(at)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := t.node(y.Content[i], column)
		if !n.flow && t.indent(key.start) != column {
			t.lose(key.start, "this key")
		}
		n.keys = append(n.keys, key)
		val := t.node(y.Content[i+1], column)
		colon := t.colon(key.end)
		if colon < 0 && !n.flow {
			t.lose(key.start, "this key")
			colon = key.end
		}
		if !val.written() {
			val.start = max(colon, key.end)
			val.end = val.start
		}
		n.colons = append(n.colons, colon)
		n.vals = append(n.vals, val)
		n.end = max(n.end, key.end, val.end, colon)
	}
	if n.flow {
		n.end = t.closing(max(at+1, n.end), '}')
	}
}

// colon is behind the colon that follows a key; -1: there is none.
func (t *yamlTree) colon(at int) int {
	for ; at < len(t.src); at++ {
		switch t.src[at] {
		case ' ', '\t':
		case ':':
			return at + 1
		default:
			return -1
		}
	}
	return -1
}

// closing is behind the bracket that ends a flow collection.
func (t *yamlTree) closing(at int, bracket byte) int {
	for at < len(t.src) {
		switch c := t.src[at]; c {
		case bracket:
			return at + 1
		case ' ', '\t', '\r', '\n', ',', ':':
			at++
		case '#':
			at = t.next(at)
		default:
			t.lose(at, "this")
			return at
		}
	}
	t.lose(at, "this")
	return at
}

// word is what stands together at an offset.
func (t *yamlTree) word(at int) []byte {
	if i := bytes.IndexAny(t.src[at:], " \t\r\n,[]{}"); i >= 0 {
		return t.src[at : at+i]
	}
	return t.src[at:]
}

// properties skips anchors and tags.
func (t *yamlTree) properties(at int) int {
	for at < len(t.src) && (t.src[at] == '&' || t.src[at] == '!') {
		at += len(t.word(at))
		for at < len(t.src) {
			switch t.src[at] {
			case ' ', '\t', '\r', '\n':
				at++
				continue
			case '#':
				at = t.next(at)
				continue
			}
			break
		}
	}
	return at
}

// scalar finds the end of a scalar.
func (t *yamlTree) scalar(y *yaml.Node, at, around int) int {
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		for i := at + 1; i < len(t.src); i++ {
			switch t.src[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	case y.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(t.src); i++ {
			if t.src[i] != '\'' {
				continue
			}
			if i+1 < len(t.src) && t.src[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.block(at, around)
	default:
		if y.Value == "" {
			return at
		}
		return t.plain(y.Value, at)
	}
	t.lose(at, "this text")
	return at
}

// plain finds the end of a text without quotes: only its white space may be written otherwise.
func (t *yamlTree) plain(value string, at int) int {
	end := at
	for _, want := range value {
		if unicode.IsSpace(want) {
			continue
		}
		for end < len(t.src) {
			got, size := utf8.DecodeRune(t.src[end:])
			end += size
			if got == want {
				break
			}
			if !unicode.IsSpace(got) {
				t.lose(at, "this text")
				return at
			}
		}
	}
	return end
}

// block finds the end of a text behind | or >.
func (t *yamlTree) block(at, around int) int {
	header, _, _ := strings.Cut(string(t.src[at:t.stop(at)]), "#")
	header = strings.TrimRight(header, " \t")
	indent := -1
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		indent = max(around, 0) + int(header[i]-'0')
	}
	end := at + len(header)
	for line := t.next(at); line < len(t.src); line = t.next(line) {
		has, rest := t.lead(line)
		switch {
		case rest == "" && (indent < 0 || has <= indent):
			if strings.Contains(header, "+") {
				end = t.stop(line)
			}
			continue
		case indent < 0:
			if has <= around {
				return end
			}
			indent = has
		case has < indent:
			return end
		}
		end = t.stop(line)
	}
	return end
}
