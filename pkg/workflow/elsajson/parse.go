package elsajson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON values; an activity takes three levels.
const maxDepth = 2000

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a text", "an array", "an object"}[k]
}

// node is one JSON value with its place in the source.
type node struct {
	kind     kind
	yes      bool     // boolean
	text     string   // text; the spelling of a number
	items    []*node  // array
	members  []member // object, in source order
	off, end int
}

type member struct {
	name string
	off  int // of the name
	val  *node
}

// duplicate is a field that repeats a name of its object.
type duplicate struct {
	name, ptr string
	off       int
}

// syntaxError is a place where the source is not JSON.
type syntaxError struct {
	off  int
	ptr  string
	code string
	msg  string
}

// parser turns bytes into nodes. It exists beside encoding/json because that
// keeps neither places nor duplicate names.
type parser struct {
	src  []byte
	pos  int
	path []string // names and indices from the root to here
	dups []duplicate
}

// parse reads one JSON value that fills src, up to white space.
func parse(src []byte) (root *node, dups []duplicate, err *syntaxError) {
	p := &parser{src: src}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntaxError:
			root, err = nil, e
		default:
			panic(e)
		}
	}()
	if !utf8.Valid(src) {
		p.pos = invalidUTF8(src)
		p.fail("the text is not valid UTF-8 here")
	}
	p.space()
	root = p.value()
	p.space()
	if p.pos < len(src) {
		p.fail("the definition ends before this; there may be one JSON value")
	}
	return root, p.dups, nil
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

func (p *parser) fail(format string, args ...any) {
	panic(&syntaxError{off: p.pos, ptr: p.pointer(), code: "bad-json", msg: fmt.Sprintf(format, args...)})
}

func (p *parser) pointer() string {
	var b strings.Builder
	for _, part := range p.path {
		b.WriteString("/" + escapePointer(part))
	}
	return b.String()
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// peek gives the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

func (p *parser) found() string {
	if p.pos >= len(p.src) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) value() *node {
	if len(p.path) > maxDepth {
		panic(&syntaxError{off: p.pos, code: "too-deep", msg: fmt.Sprintf("values may be nested up to %d deep", maxDepth)})
	}
	c := p.peek()
	n := &node{off: p.pos}
	switch {
	case c == '{':
		p.object(n)
	case c == '[':
		p.array(n)
	case c == '"':
		n.kind, n.text = text, p.string()
	case c == '-' || c >= '0' && c <= '9':
		p.number(n)
	case p.word("true"):
		n.kind, n.yes = boolean, true
	case p.word("false"):
		n.kind = boolean
	case p.word("null"):
		n.kind = null
	default:
		p.fail("expected a JSON value, found %s", p.found())
	}
	n.end = p.pos
	return n
}

func (p *parser) word(w string) bool {
	if !bytes.HasPrefix(p.src[p.pos:], []byte(w)) {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) object(n *node) {
	n.kind = object
	p.pos++
	var seen map[string]bool
	for first := true; ; first = false {
		c := p.peek()
		if c == '}' && first {
			break
		}
		if c != '"' {
			p.fail("expected a field name in double quotes, found %s", p.found())
		}
		m := member{off: p.pos}
		m.name = p.string()
		if p.peek() != ':' {
			p.fail("expected : after the field name, found %s", p.found())
		}
		p.pos++
		p.path = append(p.path, m.name)
		m.val = p.value()
		if seen[m.name] {
			p.dups = append(p.dups, duplicate{m.name, p.pointer(), m.off})
		}
		p.path = p.path[:len(p.path)-1]
		if seen == nil {
			seen = map[string]bool{}
		}
		if !seen[m.name] {
			seen[m.name] = true
			n.members = append(n.members, m)
		}
		if c = p.peek(); c == '}' {
			break
		} else if c != ',' {
			p.fail("expected , or } after a field, found %s", p.found())
		}
		p.pos++
	}
	p.pos++
}

func (p *parser) array(n *node) {
	n.kind = array
	p.pos++
	for first := true; ; first = false {
		if p.peek() == ']' && first {
			break
		}
		p.path = append(p.path, strconv.Itoa(len(n.items)))
		n.items = append(n.items, p.value())
		p.path = p.path[:len(p.path)-1]
		if c := p.peek(); c == ']' {
			break
		} else if c != ',' {
			p.fail("expected , or ] after an item, found %s", p.found())
		}
		p.pos++
	}
	p.pos++
}

func (p *parser) string() string {
	start := p.pos
	plain := true
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			if plain {
				return string(p.src[start+1 : p.pos-1])
			}
			var s string
			if err := json.Unmarshal(p.src[start:p.pos], &s); err != nil {
				p.pos = start
				p.fail("this text has a bad escape: %v", err)
			}
			return s
		case c == '\\':
			plain = false
			p.pos++
		case c < ' ':
			p.fail("a text may not contain the control character %#02x; write it as an escape", c)
		}
	}
	p.pos = min(p.pos, len(p.src))
	p.fail("the text that begins at byte %d does not end", start)
	return ""
}

func (p *parser) number(n *node) {
	start := p.pos
	for p.pos < len(p.src) && bytes.IndexByte([]byte("+-.eE0123456789"), p.src[p.pos]) >= 0 {
		p.pos++
	}
	n.kind, n.text = number, string(p.src[start:p.pos])
	if !json.Valid(p.src[start:p.pos]) {
		p.pos = start
		p.fail("%s is not a JSON number", n.text)
	}
}
