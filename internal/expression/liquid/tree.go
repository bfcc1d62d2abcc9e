package liquid

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/osteele/liquid/expressions"
	"github.com/osteele/liquid/parser"
	"github.com/osteele/liquid/render"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// liquidCompiler rebuilds the library's tree so that every block and every
// value reports to its rendering: the library has no limits of its own.
type liquidCompiler struct {
	config render.Config
	values []expressions.Expression // of the {{ }}, and the texts of raw
}

const (
	tagTick  = "weft_tick"
	tagValue = "weft_value"
	cellText = 64 // bytes that a tablerow adds to a cell, roughly
)

func (c *liquidCompiler) add() {
	c.config.AddTag("include", func(string) (func(io.Writer, render.Context) error, error) {
		return nil, errors.New("include is not available: templates read no files")
	})
	cycle, _ := c.config.FindTagDefinition("cycle")
	c.config.AddTag("cycle", func(args string) (func(io.Writer, render.Context) error, error) {
		writes, err := cycle(args)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer, ctx render.Context) error { return writes(counted{w, renderingOf(ctx)}, ctx) }, nil
	})
	c.config.AddTag(tagTick, func(args string) (func(io.Writer, render.Context) error, error) {
		n, err := strconv.Atoi(strings.TrimSpace(args))
		if err != nil {
			return nil, fmt.Errorf("undefined tag %q", tagTick)
		}
		return func(_ io.Writer, ctx render.Context) error { return renderingOf(ctx).spend(n) }, nil
	})
	c.config.AddTag(tagValue, func(args string) (func(io.Writer, render.Context) error, error) {
		i, err := strconv.Atoi(strings.TrimSpace(args))
		if err != nil || i < 0 || i >= len(c.values) {
			return nil, fmt.Errorf("undefined tag %q", tagValue)
		}
		value := c.values[i]
		return func(w io.Writer, ctx render.Context) error {
			v, err := ctx.Evaluate(value)
			if err != nil {
				return err
			}
			return writeValue(w, renderingOf(ctx), v, 0)
		}, nil
	})
}

func renderingOf(ctx render.Context) *rendering { return ctx.Get(keyRendering).(*rendering) }

// writeValue writes a value as text; lists are written one after the other, as
// Liquid does, and objects as JSON.
func writeValue(w io.Writer, r *rendering, v any, depth int) error {
	if depth > evaluation.MaxDepth {
		return evaluation.ErrDepth
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := writeValue(w, r, e, depth+1); err != nil {
				return err
			}
		}
		return r.spend(0)
	case []byte:
		return writeText(w, r, v)
	}
	c, err := evaluation.Clean(v, r.left)
	if err != nil {
		return err
	}
	b, err := evaluation.AppendText(nil, c)
	if err != nil {
		return err
	}
	return writeText(w, r, b)
}

func writeText(w io.Writer, r *rendering, b []byte) error {
	if err := r.spend(len(b)); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// counted is a writer that reports what is written to its rendering.
type counted struct {
	w io.Writer
	r *rendering
}

// Write implements [io.Writer].
func (c counted) Write(b []byte) (int, error) { return len(b), writeText(c.w, c.r, b) }

// tag makes a tag node that stands in for another token.
func (c *liquidCompiler) tag(text string, token parser.Token) (render.Node, error) {
	root, err := c.config.Compile("{% "+text+" %}", parser.SourceLoc{LineNo: 1})
	if err != nil {
		return nil, err
	}
	seq, ok := root.(*render.SeqNode)
	if !ok || len(seq.Children) != 1 {
		return nil, errors.New("a tag did not become a tag")
	}
	if t, ok := seq.Children[0].(*render.TagNode); ok {
		t.Token = token
	}
	return seq.Children[0], nil
}

func (c *liquidCompiler) rebuild(n render.Node, depth int) (render.Node, error) {
	if depth > evaluation.MaxDepth {
		return nil, evaluation.ErrDepth
	}
	switch n := n.(type) {
	case *render.SeqNode:
		list, err := c.rebuildAll(n.Children, depth)
		n.Children = list
		return n, err
	case *render.BlockNode:
		return n, c.block(n, depth)
	case *render.TagNode:
		if n.Name == tagTick || n.Name == tagValue {
			return nil, parser.Errorf(n, "undefined tag %q", n.Name)
		}
		return n, ranges(n, n.Args, false)
	case *render.ObjectNode:
		if err := ranges(n, n.Args, false); err != nil {
			return nil, err
		}
		value, err := expressions.Parse(n.Args)
		if err != nil {
			return nil, parser.WrapError(err, n)
		}
		return c.value(value, n.Token)
	case *render.RawNode: // it gives its text to none but a rendering
		var text strings.Builder
		if err := render.Render(n, &text, nil, c.config); err != nil {
			return nil, err
		}
		return c.value(expressions.Constant(text.String()), parser.Token{})
	}
	return n, nil
}

func (c *liquidCompiler) value(e expressions.Expression, token parser.Token) (render.Node, error) {
	c.values = append(c.values, e)
	return c.tag(tagValue+" "+strconv.Itoa(len(c.values)-1), token)
}

func (c *liquidCompiler) rebuildAll(list []render.Node, depth int) ([]render.Node, error) {
	for i := range list {
		n, err := c.rebuild(list[i], depth+1)
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}

// block rebuilds a block and puts a tick in front of its content, which counts
// the content's plain text.
func (c *liquidCompiler) block(n *render.BlockNode, depth int) error {
	if n.Name == "comment" {
		return nil
	}
	if err := ranges(n, n.Args, n.Name == "for" || n.Name == "tablerow"); err != nil {
		return err
	}
	body, err := c.rebuildAll(n.Body, depth)
	if err != nil {
		return err
	}
	for _, clause := range n.Clauses {
		if err := c.block(clause, depth+1); err != nil {
			return err
		}
	}
	if n.Name == "case" { // what precedes the first when is not rendered
		return nil
	}
	text := 0
	if n.Name == "tablerow" {
		text = cellText
	}
	for _, b := range body {
		if t, ok := b.(*render.TextNode); ok {
			text += len(t.Source)
		}
	}
	tick, err := c.tag(tagTick+" "+strconv.Itoa(text), n.Token)
	if err != nil {
		return err
	}
	n.Body = append([]render.Node{tick}, body...)
	return nil
}

// ranges refuses a range where it could become a list: nothing would bound it. It
// refuses the signs, too, by which the library tells its own statements from
// expressions: a statement has no value, and it would look for one.
func ranges(n parser.Locatable, args string, loop bool) error {
	bare := strings.Builder{}
	quote := byte(0)
	for i := range len(args) {
		switch ch := args[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' || ch == '\'':
			quote = ch
		default:
			bare.WriteByte(ch)
		}
	}
	s := bare.String()
	if i := strings.IndexAny(s, "{%"); i >= 0 {
		return parser.Errorf(n, "syntax error: %q has no meaning here", s[i])
	}
	if strings.Contains(s, "..") && (!loop || strings.Contains(s, "|")) {
		return parser.Errorf(n, "a range can only be what a for loop runs over")
	}
	return nil
}
