package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// yamlTree is the tree of a text in YAML, which the notation's reader has read before: it is
// valid, and its nesting is bounded.
type yamlTree struct {
	Lines
	slab  slab
	err   error
	nodes map[*yaml.Node]*Node // those with an anchor
}

// ReadYAML makes the tree of a text of what the library made of it.
func ReadYAML(text Lines, y *yaml.Node) (*Node, error) {
	t := &yamlTree{Lines: text, nodes: map[*yaml.Node]*Node{}}
	root := t.node(y, -1)
	return root, t.err
}

// parseYAML reads a text of an edit.
func parseYAML(src []byte) (*Node, error) {
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
	return ReadYAML(NewLines(src), doc.Content[0])
}

// lose says that the text at a place is not what the tree says of it.
func (t *yamlTree) lose(at int, what string) {
	if t.err == nil {
		line, column := t.Place(at)
		t.err = fmt.Errorf("line %d, column %d: %s is written in a way that cannot be edited here; edit the text", line, column, what)
	}
}

// node makes a node; around is the indentation of the block that it stands in.
func (t *yamlTree) node(y *yaml.Node, around int) *Node {
	n := t.slab.make()
	*n = Node{Start: t.Offset(y.Line, y.Column), Tag: y.Tag, Text: y.Value, Flow: y.Style&yaml.FlowStyle != 0}
	n.End = n.Start
	if n.Tag == "!!seq" || n.Tag == "!!map" {
		n.Tag = ""
	}
	if y.Anchor != "" {
		t.nodes[y] = n
	}
	at := t.properties(n.Start)
	switch y.Kind {
	case yaml.AliasNode:
		n.Kind, n.Tag = Alias, ""
		n.End = n.Start + len(t.word(n.Start))
		if n.Target = t.nodes[y.Alias]; n.Target == nil {
			t.lose(n.Start, "this")
		}
	case yaml.ScalarNode:
		n.End = t.scalar(y, at, around)
	case yaml.SequenceNode:
		n.Kind = List
		t.list(n, y, at)
	case yaml.MappingNode:
		n.Kind = Mapping
		t.mapping(n, y, at)
	default:
		t.lose(n.Start, "this")
	}
	if n.End > len(t.Src) || n.End < n.Start {
		t.lose(n.Start, "this")
		n.End = n.Start
	}
	n.Adopt()
	return n
}

func (t *yamlTree) list(n *Node, y *yaml.Node, at int) {
	column := t.Indent(at)
	for i, c := range y.Content {
		if !n.Flow {
			dash := at
			if i > 0 {
				dash = t.dash(n.Items[i-1].End, column)
			}
			if dash >= len(t.Src) || t.Src[dash] != '-' {
				t.lose(dash, "this list")
				return
			}
			n.Dashes = append(n.Dashes, dash)
			n.End = dash + 1
		}
		item := t.node(c, column)
		n.Items = append(n.Items, item)
		n.End = max(n.End, item.End)
	}
	if n.Flow {
		n.End = t.closing(max(at+1, n.End), ']')
	}
}

// dash is where the item behind one that ends begins.
func (t *yamlTree) dash(end, column int) int {
	for at := t.Next(end); at < len(t.Src); at = t.Next(at) {
		indent, rest := t.Lead(at)
		if rest == "" || rest[0] == '#' {
			continue
		}
		if rest[0] == '-' && indent == column {
			return at + indent
		}
		break
	}
	return len(t.Src)
}

func (t *yamlTree) mapping(n *Node, y *yaml.Node, at int) {
	column := t.Indent(at)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := t.node(y.Content[i], column)
		if !n.Flow && t.Indent(key.Start) != column {
			t.lose(key.Start, "this key")
		}
		n.Keys = append(n.Keys, key)
		val := t.node(y.Content[i+1], column)
		colon := t.colon(key.End)
		if colon < 0 && !n.Flow {
			t.lose(key.Start, "this key")
			colon = key.End
		}
		if !val.Written() {
			val.Start = max(colon, key.End)
			val.End = val.Start
		}
		n.Colons = append(n.Colons, colon)
		n.Vals = append(n.Vals, val)
		n.End = max(n.End, key.End, val.End, colon)
	}
	if n.Flow {
		n.End = t.closing(max(at+1, n.End), '}')
	}
}

// colon is behind the colon that follows a key; -1: there is none.
func (t *yamlTree) colon(at int) int {
	for ; at < len(t.Src); at++ {
		switch t.Src[at] {
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
	for at < len(t.Src) {
		switch c := t.Src[at]; c {
		case bracket:
			return at + 1
		case ' ', '\t', '\r', '\n', ',', ':':
			at++
		case '#':
			at = t.Next(at)
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
	if i := bytes.IndexAny(t.Src[at:], " \t\r\n,[]{}"); i >= 0 {
		return t.Src[at : at+i]
	}
	return t.Src[at:]
}

// properties skips anchors and tags.
func (t *yamlTree) properties(at int) int {
	for at < len(t.Src) && (t.Src[at] == '&' || t.Src[at] == '!') {
		at += len(t.word(at))
		for at < len(t.Src) {
			switch t.Src[at] {
			case ' ', '\t', '\r', '\n':
				at++
				continue
			case '#':
				at = t.Next(at)
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
		for i := at + 1; i < len(t.Src); i++ {
			switch t.Src[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	case y.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(t.Src); i++ {
			if t.Src[i] != '\'' {
				continue
			}
			if i+1 < len(t.Src) && t.Src[i+1] == '\'' {
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
		for end < len(t.Src) {
			got, size := utf8.DecodeRune(t.Src[end:])
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
	header, _, _ := strings.Cut(string(t.Src[at:t.stop(at)]), "#")
	header = strings.TrimRight(header, " \t")
	indent := -1
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		indent = max(around, 0) + int(header[i]-'0')
	}
	end := at + len(header)
	for line := t.Next(at); line < len(t.Src); line = t.Next(line) {
		has, rest := t.Lead(line)
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
