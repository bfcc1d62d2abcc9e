package elsajson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/pkg/workflow"
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

// parser turns bytes into nodes. It reads token by token, since a value of
// encoding/json has neither places nor doubled names.
type parser struct {
	src  []byte
	dec  *jsontext.Decoder
	dups []duplicate
}

// parse reads one JSON value that fills src, up to white space.
func parse(src []byte) (*node, []duplicate, *syntaxError) {
	if !utf8.Valid(src) {
		return nil, nil, &syntaxError{off: invalidUTF8(src), code: "bad-json", msg: "the text is not valid UTF-8 here"}
	}
	// Halves of pairs of \u escapes that stand alone become U+FFFD, as everywhere.
	p := &parser{src: src, dec: jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	root, err := p.value()
	if err != nil {
		return nil, nil, p.failed(err)
	}
	if more := bytes.TrimLeft(src[root.end:], " \t\r\n"); len(more) > 0 {
		return nil, nil, &syntaxError{off: len(src) - len(more), code: "bad-json", msg: "the definition ends before this; there may be one JSON value"}
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

// failed says where and why the source cannot be read.
func (p *parser) failed(err error) *syntaxError {
	if errors.Is(err, workflow.ErrTooDeep) {
		return &syntaxError{off: p.next(), code: "too-deep", msg: fmt.Sprintf("values may be nested up to %d deep", maxDepth)}
	}
	out := &syntaxError{off: len(p.src), code: "bad-json", msg: "it ends too early"}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		out.ptr = bounded(syntax.JSONPointer)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			out.off, out.msg = int(syntax.ByteOffset), syntax.Err.Error()
		}
	}
	if in, before := p.dec.StackIndex(p.dec.StackDepth()); in == '{' && before%2 == 0 { // names and values so far
		out.msg = strings.Replace(out.msg, "at start of value", "where a field name in double quotes should be", 1)
	}
	out.msg = "this is not JSON: " + out.msg
	return out
}

// next gives the offset of the next token.
func (p *parser) next() int {
	rest := p.src[p.dec.InputOffset():]
	return len(p.src) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (p *parser) value() (*node, error) {
	if p.dec.StackDepth() > maxDepth {
		return nil, workflow.ErrTooDeep
	}
	n := &node{off: p.next()}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		n.kind = object
		err = p.object(n)
	case '[':
		n.kind = array
		err = p.array(n)
	case '"':
		n.kind, n.text = text, tok.String()
	case '0':
		n.kind, n.text = number, tok.String()
	case 't', 'f':
		n.kind, n.yes = boolean, tok.Bool()
	}
	n.end = int(p.dec.InputOffset())
	return n, err
}

func (p *parser) object(n *node) error {
	seen := map[string]bool{}
	for {
		m := member{off: p.next()}
		tok, err := p.dec.ReadToken()
		if err != nil || tok.Kind() == '}' {
			return err
		}
		m.name = tok.String()
		if m.val, err = p.value(); err != nil {
			return err
		}
		if seen[m.name] {
			if len(p.dups) < workflow.MaxProblems {
				p.dups = append(p.dups, duplicate{m.name, bounded(p.dec.StackPointer()), m.off})
			}
			continue
		}
		seen[m.name] = true
		n.members = append(n.members, m)
	}
}

func (p *parser) array(n *node) error {
	for p.dec.PeekKind() != ']' {
		item, err := p.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := p.dec.ReadToken()
	return err
}
