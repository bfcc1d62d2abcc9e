package jsontree

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

// Kinds are the expression types by their lower-case names, obsolete ones
// included.
var Kinds = map[string]string{
	"literal": workflow.Literal, "object": workflow.Object, "json": workflow.Object, "variable": workflow.VariableOf,
	"input": workflow.InputOf, "javascript": workflow.JavaScript, "liquid": workflow.Liquid, "expr": workflow.Expr,
	"csharp": workflow.CSharp, "c#": workflow.CSharp, "python": workflow.Python,
}

// maxDepth bounds the nesting of JSON values; an activity takes three levels.
const maxDepth = 2000

// Kind is what a value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
)

// String is the kind with its article.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a text", "an array", "an object"}[k]
}

// Node is one JSON value with its place in the source.
type Node struct {
	Kind     Kind
	Yes      bool     // boolean
	Text     string   // text; the spelling of a number
	Items    []*Node  // array
	Members  []Member // object, in source order
	Off, End int
}

// Member is a field of an object.
type Member struct {
	Name string
	Off  int // of the name
	Val  *Node
}

// Duplicate is a field that repeats a name of its object.
type Duplicate struct {
	Name, Ptr string
	Off       int
}

// SyntaxError is a place where the source is not JSON.
type SyntaxError struct {
	Off  int
	Ptr  string
	Code string
	Msg  string
}

// parser turns bytes into nodes. It reads token by token, since a value of
// encoding/json has neither places nor doubled names.
type parser struct {
	src  []byte
	dec  *jsontext.Decoder
	dups []Duplicate
}

// Parse reads one JSON value that fills src, up to white space.
func Parse(src []byte) (*Node, []Duplicate, *SyntaxError) {
	if !utf8.Valid(src) {
		return nil, nil, &SyntaxError{Off: invalidUTF8(src), Code: "bad-json", Msg: "the text is not valid UTF-8 here"}
	}
	// Halves of pairs of \u escapes that stand alone become U+FFFD, as everywhere.
	p := &parser{src: src, dec: jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	root, err := p.value()
	if err != nil {
		return nil, nil, p.failed(err)
	}
	if more := bytes.TrimLeft(src[root.End:], " \t\r\n"); len(more) > 0 {
		return nil, nil, &SyntaxError{Off: len(src) - len(more), Code: "bad-json", Msg: "the definition ends before this; there may be one JSON value"}
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
func (p *parser) failed(err error) *SyntaxError {
	if errors.Is(err, workflow.ErrTooDeep) {
		return &SyntaxError{Off: p.next(), Code: "too-deep", Msg: fmt.Sprintf("values may be nested up to %d deep", maxDepth)}
	}
	out := &SyntaxError{Off: len(p.src), Code: "bad-json", Msg: "it ends too early"}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		out.Ptr = bounded(syntax.JSONPointer)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			out.Off, out.Msg = int(syntax.ByteOffset), syntax.Err.Error()
		}
	}
	if in, before := p.dec.StackIndex(p.dec.StackDepth()); in == '{' && before%2 == 0 { // names and values so far
		out.Msg = strings.Replace(out.Msg, "at start of value", "where a field name in double quotes should be", 1)
	}
	out.Msg = "this is not JSON: " + out.Msg
	return out
}

// next gives the offset of the next token.
func (p *parser) next() int {
	rest := p.src[p.dec.InputOffset():]
	return len(p.src) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (p *parser) value() (*Node, error) {
	if p.dec.StackDepth() > maxDepth {
		return nil, workflow.ErrTooDeep
	}
	n := &Node{Off: p.next()}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		n.Kind = Object
		err = p.object(n)
	case '[':
		n.Kind = Array
		err = p.array(n)
	case '"':
		n.Kind, n.Text = String, tok.String()
	case '0':
		n.Kind, n.Text = Number, tok.String()
	case 't', 'f':
		n.Kind, n.Yes = Boolean, tok.Bool()
	}
	n.End = int(p.dec.InputOffset())
	return n, err
}

func (p *parser) object(n *Node) error {
	seen := map[string]bool{}
	for {
		m := Member{Off: p.next()}
		tok, err := p.dec.ReadToken()
		if err != nil || tok.Kind() == '}' {
			return err
		}
		m.Name = tok.String()
		if m.Val, err = p.value(); err != nil {
			return err
		}
		if seen[m.Name] {
			if len(p.dups) < workflow.MaxProblems {
				p.dups = append(p.dups, Duplicate{m.Name, bounded(p.dec.StackPointer()), m.Off})
			}
			continue
		}
		seen[m.Name] = true
		n.Members = append(n.Members, m)
	}
}

func (p *parser) array(n *Node) error {
	for p.dec.PeekKind() != ']' {
		item, err := p.value()
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	_, err := p.dec.ReadToken()
	return err
}

// MaxPointer bounds a pointer. Every activity keeps its own, and the names in it
// are the author's: one of half a megabyte would be kept ten thousand times.
const MaxPointer = 1000

// Below gives the pointer of what has this name below another; what would make it
// too long stays away.
func Below(ptr, name string) string {
	const cut = "/…"
	switch {
	case strings.HasSuffix(ptr, cut):
		return ptr
	case len(ptr)+len(name) > MaxPointer:
		return ptr + cut
	}
	return string(jsontext.Pointer(ptr).AppendToken(name))
}

func bounded(p jsontext.Pointer) string {
	ptr := ""
	for name := range p.Tokens() {
		ptr = Below(ptr, name)
	}
	return ptr
}

// ParseNumber gives a number as [Node.Value] does.
func ParseNumber(s string) any { return workflow.DefinedNumber(workflow.Number(s)) }
