package native

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Evaluator = Evaluator{}

// Evaluator evaluates templates with ${{ }} in the expr language.
type Evaluator struct{}

// Kinds implements [engine.Evaluator].
func (Evaluator) Kinds() []string { return []string{workflow.Expr} }

// Compile gives a tree: a string with ${{ }} is a template, maps and lists hold
// such trees, every other value is constant.
func (Evaluator) Compile(e workflow.Expression) (engine.Compiled, error) {
	c := treeCompiler{}
	n, err := c.node(e.Value, "", 0)
	if err != nil {
		return nil, err
	}
	if n.op == opConstant {
		return evaluation.Constant{Value: n.value}, nil
	}
	return n, nil
}

type treeOp int

const (
	opConstant treeOp = iota
	opCode            // one ${{ }} that keeps its type
	opText            // text with ${{ }} in it
	opList
	opObject
)

// node is one value of a template tree. It is immutable.
type node struct {
	op    treeOp
	value any    // opConstant
	code  *code  // opCode
	kids  []node // opText, opList, opObject
	keys  []string
}

type treeCompiler struct{ nodes int }

// maxTree bounds the number of values in one template tree.
const maxTree = 20000

func (c *treeCompiler) node(v any, path string, depth int) (node, error) {
	c.nodes++
	if depth > evaluation.MaxDepth || c.nodes > maxTree {
		return node{}, &evaluation.Error{Kind: workflow.Expr, Path: path, Message: "the value is too deep or too large", Err: evaluation.ErrDepth}
	}
	switch v := v.(type) {
	case string:
		return c.text(v, path)
	case []any:
		kids := make([]node, len(v))
		for i, e := range v {
			n, err := c.node(e, path+"/"+strconv.Itoa(i), depth+1)
			if err != nil {
				return node{}, err
			}
			kids[i] = n
		}
		return fold(node{op: opList, kids: kids})
	case map[string]any:
		n := node{op: opObject, keys: make([]string, 0, len(v)), kids: make([]node, 0, len(v))}
		for k := range v {
			n.keys = append(n.keys, k)
		}
		slices.Sort(n.keys) // so that evaluation has one order
		for _, k := range n.keys {
			kid, err := c.node(v[k], string(jsontext.Pointer(path).AppendToken(k)), depth+1)
			if err != nil {
				return node{}, err
			}
			n.kids = append(n.kids, kid)
		}
		return fold(n)
	}
	out, err := evaluation.Clean(v, evaluation.MaxConstant)
	if err != nil {
		return node{}, &evaluation.Error{Kind: workflow.Expr, Path: path, Message: err.Error(), Err: err}
	}
	return node{value: out}, nil
}

// fold makes a constant of lists and objects that hold only constants.
func fold(n node) (node, error) {
	for i := range n.kids {
		if n.kids[i].op != opConstant {
			return n, nil
		}
	}
	if n.op == opList {
		out := make([]any, len(n.kids))
		for i := range n.kids {
			out[i] = n.kids[i].value
		}
		return node{value: out}, nil
	}
	out := make(map[string]any, len(n.kids))
	for i := range n.kids {
		out[n.keys[i]] = n.kids[i].value
	}
	return node{value: out}, nil
}

func (c *treeCompiler) text(text, path string) (node, error) {
	if len(text) > evaluation.MaxConstant {
		return node{}, &evaluation.Error{Kind: workflow.Expr, Path: path, Source: evaluation.Excerpt(text), Message: "the text is longer than 8 MiB"}
	}
	parts, at, err := splitTemplate(text)
	if err != nil {
		return node{}, placed(&evaluation.Error{Path: path, Message: err.Error(), Err: err}, text, at)
	}
	n := node{op: opText, kids: make([]node, 0, len(parts))}
	for _, p := range parts {
		if !p.code {
			n.kids = append(n.kids, node{value: p.text})
			continue
		}
		k := &code{path: path, text: text, offset: p.offset, source: p.text}
		if err := k.compile(); err != nil {
			return node{}, err
		}
		n.kids = append(n.kids, node{op: opCode, code: k})
	}
	switch {
	case len(parts) == 0:
		return node{value: ""}, nil
	case len(parts) == 1:
		return n.kids[0], nil
	}
	return n, nil
}

// Eval implements [engine.Compiled].
func (n node) Eval(ctx context.Context, s engine.Scope) (any, error) {
	r := runs.Get().(*run)
	defer r.done()
	r.begin(ctx, s)
	v, err := n.eval(r)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// eval gives a value that is already clean.
func (n *node) eval(r *run) (any, error) {
	switch n.op {
	case opConstant:
		return n.value, nil
	case opCode:
		v, err := r.run(n.code)
		if err == nil {
			v, err = r.gauge.Keep(v)
		}
		if err != nil {
			return nil, n.code.problem(err)
		}
		return v, nil
	case opText:
		return n.evalText(r)
	case opList:
		out := make([]any, len(n.kids))
		for i := range n.kids {
			v, err := n.kids[i].eval(r)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
	out := make(map[string]any, len(n.kids))
	for i := range n.kids {
		v, err := n.kids[i].eval(r)
		if err != nil {
			return nil, err
		}
		out[n.keys[i]] = v
	}
	return out, nil
}

func (n *node) evalText(r *run) (any, error) {
	b := make([]byte, 0, 64)
	for i := range n.kids {
		kid := &n.kids[i]
		if kid.op == opConstant {
			b = append(b, kid.value.(string)...)
			continue
		}
		v, err := kid.eval(r)
		if err == nil {
			b, err = evaluation.AppendText(b, v)
		}
		if err != nil {
			return nil, kid.code.problem(err)
		}
	}
	if err := r.gauge.Take(len(b)); err != nil {
		return nil, &evaluation.Error{Kind: workflow.Expr, Message: err.Error(), Err: err}
	}
	return string(b), nil
}
