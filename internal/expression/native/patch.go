package native

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	fnOperate = "operate!"
	fnMinus   = "minus!"
	fnMethod  = "method!"
	fnCall    = "call!"
	fnWhole   = "whole!"
	fnText    = "text!"
	fnBits    = "bits!"
	fnSum     = "sum!"
	fnSortBy  = "sortBy!"
	fnIndex   = "index!"
	fnOnly    = "only!"
)

// replaced are builtins that others stand in for: since they could make much out of little, have the members of objects in an
// order that changes, cut characters, lose digits, know a time zone of the process, or say what is wrong in words of Go.
var replaced = map[string]string{
	"repeat": fnRepeat, "join": fnJoin, "replace": fnReplace, "uniq": fnUniq, "string": fnString, "fromJSON": fnParse, "date": fnDate,
	"keys": "keys!", "values": "values!", "toPairs": "toPairs!", "indexOf": "indexOf!", "lastIndexOf": "lastIndexOf!", "int": "int!", "float": "float!",
	"round": "round!", "floor": "floor!", "ceil": "ceil!", "toJSON": "toJSON!", "duration": "duration!", "timezone": "timezone!",
	"fromPairs": "fromPairs!", "get": "get!", "take": "take!", "sort": "sort!", "max": "max!", "min": "min!", "mean": "mean!", "median": "median!",
	"abs": "abs!", "type": "type!",
}

// takes is how many values those of them take that take as many in any case.
var takes = map[string]int{
	"keys": 1, "values": 1, "toPairs": 1, "fromPairs": 1, "indexOf": 2, "lastIndexOf": 2, "int": 1, "float": 1, "round": 1, "floor": 1, "ceil": 1,
	"toJSON": 1, "duration": 1, "timezone": 1, "get": 2, "take": 2, "abs": 1, "type": 1,
	"bitand": 2, "bitor": 2, "bitxor": 2, "bitnand": 2, "bitnot": 1, "bitshl": 2, "bitshr": 2, "bitushr": 2,
}

// texts are the builtins whose arguments are texts; a third one is a number.
var texts = map[string]bool{
	"lower": true, "upper": true, "trim": true, "trimPrefix": true, "trimSuffix": true, "split": true, "splitAfter": true,
	"hasPrefix": true, "hasSuffix": true, "toBase64": true, "fromBase64": true,
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
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			p.call(at, fnMinus, n.Node, &ast.BoolNode{Value: n.Operator == "-"})
		}
	case *ast.ArrayNode:
		p.call(at, fnCharge, n)
	case *ast.MapNode:
		lastWins(n)
		p.call(at, fnCharge, n)
	case *ast.SliceNode:
		p.call(at, fnSlice, n.Node, orNil(n.From), orNil(n.To))
	case *ast.CallNode:
		p.called(at, n)
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
	for i := range n.Arguments {
		if texts[n.Name] {
			fn := fnText
			if i == 2 {
				fn = fnWhole
			}
			p.call(&n.Arguments[i], fn, &ast.StringNode{Value: n.Name}, n.Arguments[i])
		}
	}
	if _, ok := replaced[n.Name]; ok && len(n.Arguments) == 0 {
		p.fail(n, n.Name+" takes a value, and is given none")
	}
	if want := takes[n.Name]; want > 0 && len(n.Arguments) != want {
		p.fail(n, fmt.Sprintf("%s takes %s, and not %d", n.Name, words.Values(strconv.Itoa(want)), len(n.Arguments)))
	}
	if fn := paired[n.Name]; fn != "" && len(n.Arguments) > 1 {
		p.pairs(at, fn, n)
	} else if n.Name == "sum" {
		p.call(at, fnSum, n.Arguments...)
	} else if strings.HasPrefix(n.Name, "bit") {
		p.call(at, fnBits, append([]ast.Node{&ast.StringNode{Value: n.Name}}, n.Arguments...)...)
	} else if fn, ok := replaced[n.Name]; ok {
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

// paired are builtins that are given pairs of an element and what a predicate makes of it.
var paired = map[string]string{"groupBy": fnGroup, "sortBy": fnSortBy, "sum": fnSum}

// pairs makes of fn(list, predicate, more) a call with map(list, [#, predicate]).
func (p *patcher) pairs(at *ast.Node, fn string, n *ast.BuiltinNode) {
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
	p.call(at, fn, append([]ast.Node{pairs, &ast.BoolNode{Value: true}}, n.Arguments[2:]...)...)
}

// lastWins turns an object around where a name may stand in it twice: the machine keeps the first.
func lastWins(n *ast.MapNode) {
	seen := map[string]bool{}
	for _, e := range n.Pairs {
		name, ok := e.(*ast.PairNode).Key.(*ast.StringNode)
		if !ok || seen[name.Value] {
			slices.Reverse(n.Pairs)
			return
		}
		seen[name.Value] = true
	}
}

// called looks at what is called: a function by its name, or one of a time.
func (p *patcher) called(at *ast.Node, n *ast.CallNode) {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		if _, ours := declared[callee.Value]; !ours {
			p.call(at, fnCall, append([]ast.Node{callee}, n.Arguments...)...)
		}
	case *ast.MemberNode:
		if name, ok := callee.Property.(*ast.StringNode); ok {
			p.method(at, callee, name.Value, n)
			return
		}
		p.call(at, fnCall, callee)
	default:
		p.call(at, fnCall, callee)
	}
}

func (p *patcher) method(at *ast.Node, of *ast.MemberNode, name string, n *ast.CallNode) {
	switch {
	case name == "Date" && len(n.Arguments) == 0:
		p.fail(n, "Date() gives three values; write Year(), Month() and Day()")
	case name == "Clock" && len(n.Arguments) == 0:
		p.fail(n, "Clock() gives three values; write Hour(), Minute() and Second()")
	}
	receiver, optional := of.Node, of.Optional
	if inner, ok := receiver.(*ast.CallNode); ok && isCallOf(inner, fnMethod) {
		named := inner.Arguments[1].(*ast.StringNode)
		if name == "String" && len(n.Arguments) == 0 && (named.Value == "Month" || named.Value == "Weekday") {
			named.Value += "Name"
			ast.Patch(at, inner)
			return
		}
		optional = optional || inner.Arguments[2].(*ast.BoolNode).Value
	}
	p.call(at, fnMethod, append([]ast.Node{receiver, &ast.StringNode{Value: name}, &ast.BoolNode{Value: optional}}, n.Arguments...)...)
}

func isCallOf(n *ast.CallNode, fn string) bool {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == fn
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
	all := ok && (of.kind == refInputs || of.kind == refVariables || of.kind == refSecrets)
	if _, name := n.Property.(*ast.StringNode); !all && !name {
		if optional(n) {
			p.call(&n.Node, fnOnly, n.Node, n.Property)
			return
		}
		p.call(at, fnIndex, n.Node, n.Property)
		return
	}
	if !all {
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
		p.call(at, fnAdd, n.Left, n.Right)
	case "==", "!=":
		p.call(at, fnEqual, n.Left, n.Right, &ast.BoolNode{Value: n.Operator == "=="})
	case "^":
		p.call(at, fnOperate, &ast.StringNode{Value: "**"}, n.Left, n.Right)
	case "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith":
		p.call(at, fnOperate, &ast.StringNode{Value: n.Operator}, n.Left, n.Right)
	case "..":
		p.call(&n.Left, fnWhole, &ast.StringNode{Value: ".."}, n.Left)
		p.call(&n.Right, fnWhole, &ast.StringNode{Value: ".."}, n.Right)
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
