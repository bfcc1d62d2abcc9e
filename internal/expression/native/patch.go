package native

import (
	"fmt"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/words"
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
	fnList    = "list!"
	fnGroup   = "group!"
	fnSlice   = "slice!"
	fnDivide  = "divide!"
	fnWeek    = "week!"
	fnIndex   = "index!"
	fnOnly    = "only!"
)

// replaced are builtins that others stand in for: since they could make much out of little, have the members of objects in an
// order that changes, cut characters, lose digits, know a time zone of the process, or say what is wrong in words of Go.
var replaced = map[string]string{
	"repeat": fnRepeat, "join": fnJoin, "replace": fnReplace, "uniq": fnUniq, "string": fnString, "fromJSON": fnParse, "date": fnDate,
	"keys": "keys!", "values": "values!", "toPairs": "toPairs!", "indexOf": "indexOf!", "lastIndexOf": "lastIndexOf!", "int": "int!", "float": "float!",
	"round": "round!", "floor": "floor!", "ceil": "ceil!", "toJSON": "toJSON!", "duration": "duration!", "timezone": "timezone!",
	"fromPairs": "fromPairs!", "get": "get!", "take": "take!",
}

// takes is how many values those of them take that take as many in any case.
var takes = map[string]int{
	"keys": 1, "values": 1, "toPairs": 1, "fromPairs": 1, "indexOf": 2, "lastIndexOf": 2, "int": 1, "float": 1, "round": 1, "floor": 1, "ceil": 1,
	"toJSON": 1, "duration": 1, "timezone": 1, "get": 2, "take": 2,
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
	case *ast.ArrayNode, *ast.MapNode:
		p.call(at, fnCharge, n)
	case *ast.SliceNode:
		p.call(at, fnSlice, n.Node, orNil(n.From), orNil(n.To))
	case *ast.CallNode:
		p.method(at, n)
	case *ast.BuiltinNode:
		p.builtin(at, n)
	}
}

func (p *patcher) builtin(at *ast.Node, n *ast.BuiltinNode) {
	if lists[n.Name] && len(n.Arguments) > 0 {
		p.call(&n.Arguments[0], fnList, &ast.StringNode{Value: n.Name}, n.Arguments[0])
		for i := 1; n.Name == "concat" && i < len(n.Arguments); i++ {
			p.call(&n.Arguments[i], fnList, &ast.StringNode{Value: n.Name}, n.Arguments[i])
		}
	}
	if n.Name == "groupBy" && len(n.Arguments) == 2 {
		p.group(at, n)
	} else if fn, ok := replaced[n.Name]; ok {
		if want := takes[n.Name]; want > 0 && len(n.Arguments) != want {
			p.fail(n, fmt.Sprintf("%s takes %s, and not %d", n.Name, words.Values(strconv.Itoa(want)), len(n.Arguments)))
		}
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

// group makes of groupBy(list, key) the groups of map(list, [#, key]).
func (p *patcher) group(at *ast.Node, n *ast.BuiltinNode) {
	predicate, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return
	}
	item := &ast.PointerNode{}
	item.SetLocation(n.Location())
	pair := &ast.ArrayNode{Nodes: []ast.Node{item, predicate.Node}}
	pair.SetLocation(n.Location())
	of := &ast.PredicateNode{Node: pair}
	of.SetLocation(n.Location())
	pairs := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{n.Arguments[0], of}}
	pairs.SetLocation(n.Location())
	p.call(at, fnGroup, pairs)
}

// method looks at functions of times that have several results, of which expr gives the first.
func (p *patcher) method(at *ast.Node, n *ast.CallNode) {
	member, ok := n.Callee.(*ast.MemberNode)
	if !ok || len(n.Arguments) > 0 {
		return
	}
	name, ok := member.Property.(*ast.StringNode)
	if !ok {
		return
	}
	switch name.Value {
	case "ISOWeek":
		p.call(at, fnWeek, member.Node)
	case "Date":
		p.fail(n, "Date() gives three values; write Year(), Month() and Day()")
	case "Clock":
		p.fail(n, "Clock() gives three values; write Hour(), Minute() and Second()")
	}
}

func orNil(n ast.Node) ast.Node {
	if n == nil {
		return &ast.NilNode{}
	}
	return n
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
	if _, name := n.Property.(*ast.StringNode); !ok && !name && !isScalar(n.Node) {
		if optional(n) {
			p.call(&n.Node, fnOnly, n.Node, n.Property)
			return
		}
		p.call(at, fnIndex, n.Node, n.Property)
		return
	}
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

// optional reports whether a path has a ?. in it, which ends what is behind it too: it has to stay a path, and no call.
func optional(n ast.Node) bool {
	for {
		switch v := n.(type) {
		case *ast.MemberNode:
			if v.Optional {
				return true
			}
			n = v.Node
		case *ast.CallNode:
			n = v.Callee
		default:
			return false
		}
	}
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
	case "/", "%":
		p.call(at, fnDivide, n.Left, n.Right, &ast.BoolNode{Value: n.Operator == "%"})
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
	p.call(at, fnMatches, n.Left, &ast.ConstantNode{Value: compiled(len(p.code.patterns) - 1)})
}

// compiled is the number of a pattern that was compiled with the expression; no value of an author is one.
type compiled int

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
