package native

import (
	"github.com/expr-lang/expr/ast"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// refKind says what a reference reads.
type refKind int

const (
	refInputs     refKind = iota // all inputs
	refInput                     // inputs.X
	refVariables                 // all variables
	refVariable                  // variables.X
	refSecrets                   // only legal as secrets.X
	refSecret                    // secrets.X
	refLastResult                // lastResult
	refInstanceID
	refCorrelationID
	refDefinitionID
	refVersion
	refName
)

// ref is one reference of a program to the scope, resolved when it is reached.
type ref struct {
	kind refKind
	name string
}

var refNames = map[string]refKind{
	"inputs": refInputs, "variables": refVariables, "secrets": refSecrets,
	"lastResult": refLastResult, "instanceId": refInstanceID, "correlationId": refCorrelationID,
	"definitionId": refDefinitionID, "version": refVersion, "name": refName,
}

// Names of the functions that patched programs call. The exclamation mark keeps
// them out of an author's reach.
const (
	fnRef     = "ref!"
	fnAt      = "at!"
	fnTick    = "tick!"
	fnCharge  = "charge!"
	fnWalk    = "walk!"
	fnAdd     = "add!"
	fnEqual   = "equal!"
	fnIn      = "in!"
	fnMatches = "matches!"
	fnRepeat  = "repeat!"
	fnJoin    = "join!"
	fnReplace = "replace!"
	fnUniq    = "uniq!"
	fnString  = "string!"
	fnParse   = "fromJSON!"
	fnDate    = "date!"
)

// replaced are builtins that could make much out of little; bounded versions
// stand in for them. That of fromJSON keeps numbers as they are, that of date knows no
// time zone of the process.
var replaced = map[string]string{
	"repeat": fnRepeat, "join": fnJoin, "replace": fnReplace, "uniq": fnUniq, "string": fnString, "fromJSON": fnParse, "date": fnDate,
}

// small are builtins whose result needs no weighing: it is a number, a truth
// value, or a part of an argument.
var small = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "count": true, "find": true, "findIndex": true,
	"findLast": true, "findLastIndex": true, "len": true, "type": true, "abs": true, "ceil": true, "floor": true,
	"round": true, "int": true, "float": true, "trim": true, "trimPrefix": true, "trimSuffix": true,
	"indexOf": true, "lastIndexOf": true, "hasPrefix": true, "hasSuffix": true, "duration": true,
	"timezone": true, "first": true, "last": true, "get": true,
}

// patcher rewrites a syntax tree: references to the scope are read when they
// are reached, and all that can grow or repeat reports to the run, which knows
// the limits.
type patcher struct {
	code *code
	err  error
}

// Visit implements [ast.Visitor]; children come before their parents.
func (p *patcher) Visit(at *ast.Node) {
	switch n := (*at).(type) {
	case *ast.IdentifierNode:
		p.identifier(at, n)
	case *ast.MemberNode:
		p.member(at, n)
	case *ast.BinaryNode:
		p.binary(at, n)
	case *ast.PredicateNode:
		p.call(&n.Node, fnTick, n.Node)
	case *ast.ArrayNode, *ast.MapNode, *ast.SliceNode:
		p.call(at, fnCharge, n)
	case *ast.BuiltinNode:
		if fn, ok := replaced[n.Name]; ok {
			p.call(at, fn, n.Arguments...)
		} else if !small[n.Name] {
			for i := range n.Arguments {
				if _, ok := n.Arguments[i].(*ast.PredicateNode); !ok {
					p.call(&n.Arguments[i], fnWalk, n.Arguments[i])
				}
			}
			p.call(at, fnCharge, n)
		}
	}
}

func (p *patcher) fail(n ast.Node, message string) {
	if p.err == nil {
		p.err = placed(&evaluation.Error{Path: p.code.path, Message: message}, p.code.text, p.code.offset+byteOffset(p.code.source, n.Location().From))
	}
}

// call replaces the node by a call of one of the run's functions.
func (p *patcher) call(at *ast.Node, fn string, args ...ast.Node) {
	callee := &ast.IdentifierNode{Value: fn}
	callee.SetLocation((*at).Location())
	ast.Patch(at, &ast.CallNode{Callee: callee, Arguments: args})
}

func (p *patcher) ref(at *ast.Node, r ref) {
	p.code.refs = append(p.code.refs, r)
	p.call(at, fnRef, &ast.IntegerNode{Value: len(p.code.refs) - 1})
}

func (p *patcher) identifier(at *ast.Node, n *ast.IdentifierNode) {
	if n.Value == "$env" {
		p.fail(n, "$env is not available; use inputs and variables")
		return
	}
	if kind, ok := refNames[n.Value]; ok {
		p.ref(at, ref{kind: kind})
	}
}

// refOf gives the reference that n was patched to.
func (p *patcher) refOf(n ast.Node) (ref, bool) {
	call, ok := n.(*ast.CallNode)
	if !ok {
		return ref{}, false
	}
	callee, ok := call.Callee.(*ast.IdentifierNode)
	if !ok || callee.Value != fnRef {
		return ref{}, false
	}
	return p.code.refs[call.Arguments[0].(*ast.IntegerNode).Value], true
}

// member narrows inputs.X to the one input, so that the others are not copied.
func (p *patcher) member(at *ast.Node, n *ast.MemberNode) {
	of, ok := p.refOf(n.Node)
	if !ok || of.kind != refInputs && of.kind != refVariables && of.kind != refSecrets {
		return
	}
	if name, ok := n.Property.(*ast.StringNode); ok {
		p.ref(at, ref{of.kind + 1, name.Value})
		return
	}
	if of.kind == refSecrets {
		p.fail(n, "a secret has to be named, as in secrets.NAME")
		return
	}
	p.call(at, fnAt, &ast.IntegerNode{Value: int(of.kind + 1)}, n.Property)
}

func (p *patcher) binary(at *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "+":
		if !isNumber(n.Left) && !isNumber(n.Right) {
			p.call(at, fnAdd, n.Left, n.Right)
		}
	case "==", "!=":
		if isScalar(n.Left) || isScalar(n.Right) {
			return
		}
		p.call(at, fnEqual, n.Left, n.Right, &ast.BoolNode{Value: n.Operator == "=="})
	case "in":
		p.call(at, fnIn, n.Left, n.Right)
	case "matches":
		p.matches(at, n)
	}
}

func (p *patcher) matches(at *ast.Node, n *ast.BinaryNode) {
	text, ok := n.Right.(*ast.StringNode)
	if !ok {
		p.call(at, fnMatches, n.Left, n.Right)
		return
	}
	re, err := evaluation.CompilePattern(text.Value)
	if err != nil {
		p.fail(text, err.Error())
		return
	}
	p.code.patterns = append(p.code.patterns, re)
	p.call(at, fnMatches, n.Left, &ast.IntegerNode{Value: len(p.code.patterns) - 1})
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

func isScalar(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.NilNode:
		return true
	}
	return false
}
