package js

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Checker = Evaluator{}

// Check implements [engine.Checker]. Types are not known.
func (Evaluator) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, ""
	}
	return check(source, names), ""
}

func check(source string, names *engine.Names) (found []engine.Mistake) {
	defer func() {
		if recover() != nil { // a bug of the library; Compile says so
			found = nil
		}
	}()
	if _, deep := evaluation.TooDeep(source); deep {
		return nil
	}
	if _, err := reread(source); err != nil {
		return nil
	}
	skip := 0
	tree, err := parse(source)
	if err != nil && isReturn(err) {
		skip = len(wrapHead)
		tree, err = parse(wrapHead + source + wrapTail)
	}
	if err != nil {
		return nil
	}
	if names.Made == nil {
		names.Made = map[string]bool{}
	}
	c := &checking{names: names, declared: map[string]bool{}, seen: map[any]bool{}}
	c.walk(reflect.ValueOf(tree), false, 0)
	for _, r := range c.references {
		if m := c.global(r); m != nil {
			c.report(r.at, m)
		}
	}
	for _, m := range c.found {
		found = append(found, m.At(source, max(m.Offset-skip, 0)))
	}
	slices.SortStableFunc(found, func(a, b engine.Mistake) int { return a.Offset - b.Offset })
	return found
}

// checking looks over the syntax tree of one script.
type checking struct {
	names      *engine.Names
	declared   map[string]bool // by the script itself, at any place of it
	references []reference
	seen       map[any]bool
	found      []engine.Mistake
}

type reference struct {
	name string
	at   file.Idx
}

func (c *checking) report(at file.Idx, m *engine.Mistake) {
	m.Offset = int(at) - 1
	c.found = append(c.found, *m)
}

var typeTarget = reflect.TypeFor[ast.BindingTarget]()

// walk goes through all fields. binds tells that names below are given a value here.
func (c *checking) walk(v reflect.Value, binds bool, depth int) {
	if depth > 20*maxLevels {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.walk(v.Elem(), binds || v.Type() == typeTarget, depth+1)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == typeFile || c.seen[v.Interface()] {
			return
		}
		c.seen[v.Interface()] = true
		c.node(v, binds, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" && f.Type != typeIdentifier {
				c.walk(v.Field(i), binds, depth+1)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.walk(v.Index(i), binds, depth+1)
		}
	default:
	}
}

func (c *checking) node(v reflect.Value, binds bool, depth int) {
	switch n := v.Interface().(type) {
	case *ast.Identifier:
		if binds {
			c.declared[n.Name.String()] = true
		} else {
			c.references = append(c.references, reference{n.Name.String(), n.Idx})
		}
		return
	case *ast.MetaProperty:
		return
	case *ast.PropertyShort:
		if binds {
			c.declared[n.Name.Name.String()] = true
		} else {
			c.references = append(c.references, reference{n.Name.Name.String(), n.Name.Idx})
		}
	case *ast.PropertyKeyed:
		if n.Computed {
			c.walk(reflect.ValueOf(&n.Key).Elem(), false, depth+1)
		}
		c.walk(reflect.ValueOf(&n.Value).Elem(), binds, depth+1)
		return
	case *ast.AssignExpression:
		c.assigned(n)
		_, name := n.Left.(*ast.Identifier)
		_, pattern := n.Left.(ast.Pattern)
		c.walk(reflect.ValueOf(&n.Left).Elem(), name || pattern, depth+1)
		c.walk(reflect.ValueOf(&n.Right).Elem(), false, depth+1)
		return
	case *ast.ParameterList:
		c.walk(reflect.ValueOf(&n.Rest).Elem(), true, depth+1)
	case *ast.Binding:
		c.walk(reflect.ValueOf(&n.Target).Elem(), true, depth+1)
		c.walk(reflect.ValueOf(&n.Initializer).Elem(), false, depth+1)
		return
	case *ast.UnaryExpression:
		if _, name := n.Operand.(*ast.Identifier); name && n.Operator == token.TYPEOF {
			return // it asks whether there is such a name
		}
	}
	c.look(v.Interface())
	c.walk(v.Elem(), binds, depth+1)
}

// look notes what one node says of names.
func (c *checking) look(n any) {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		c.declare(n.Name)
		c.seen[n.Name] = true
	case *ast.ClassLiteral:
		c.declare(n.Name)
		c.seen[n.Name] = true
	case *ast.LabelledStatement:
		c.seen[n.Label] = true
	case *ast.BranchStatement:
		c.seen[n.Label] = true
	case *ast.ForInStatement:
		c.into(n.Into)
	case *ast.ForOfStatement:
		c.into(n.Into)
	case *ast.DotExpression:
		c.member(n.Left, n.Identifier.Name.String(), n.Identifier.Idx)
	case *ast.BracketExpression:
		if s, ok := n.Member.(*ast.StringLiteral); ok {
			c.member(n.Left, s.Value.String(), s.Idx)
		}
	case *ast.CallExpression:
		c.call(n)
	}
}

func (c *checking) declare(name *ast.Identifier) {
	if name != nil {
		c.declared[name.Name.String()] = true
	}
}

// into notes the name that a loop gives its values to, if it is not declared there.
func (c *checking) into(n ast.ForInto) {
	if e, ok := n.(*ast.ForIntoExpression); ok {
		if name, ok := e.Expression.(*ast.Identifier); ok {
			c.declare(name)
		}
	}
}

// assigned notes variables that are made by an assignment.
func (c *checking) assigned(n *ast.AssignExpression) {
	switch left := n.Left.(type) {
	case *ast.DotExpression:
		if isName(left.Left, "variables") {
			c.names.Made[left.Identifier.Name.String()] = true
		}
	case *ast.BracketExpression:
		if !isName(left.Left, "variables") {
			return
		}
		if s, ok := left.Member.(*ast.StringLiteral); ok {
			c.names.Made[s.Value.String()] = true
		} else {
			c.names.MoreVariables = true
		}
	}
}

func isName(e ast.Expression, name string) bool {
	id, ok := e.(*ast.Identifier)
	return ok && id.Name.String() == name
}

func (c *checking) member(of ast.Expression, name string, at file.Idx) {
	var m *engine.Mistake
	switch {
	case isName(of, "inputs"):
		m = c.names.Input(name, false)
	case isName(of, "variables"):
		m = c.names.Variable(name)
	}
	if m != nil && !isProperty(name) {
		c.report(at, m)
	}
}

// isProperty tells names that every object has.
func isProperty(name string) bool {
	return slices.Contains([]string{"hasOwnProperty", "toString", "valueOf", "constructor", "propertyIsEnumerable", "isPrototypeOf", "toLocaleString"}, name)
}

// call looks at the functions that take names.
func (c *checking) call(n *ast.CallExpression) {
	callee, ok := n.Callee.(*ast.Identifier)
	if !ok || len(n.ArgumentList) == 0 {
		return
	}
	fn := callee.Name.String()
	first, literal := n.ArgumentList[0].(*ast.StringLiteral)
	if !literal {
		c.names.MoreVariables = c.names.MoreVariables || fn == "setVariable"
		return
	}
	var m *engine.Mistake
	at := first.Idx
	switch name := first.Value.String(); fn {
	case "setVariable":
		c.names.Made[name] = true
	case "getVariable":
		m = c.names.Variable(name)
	case "getInput":
		m = c.names.Input(name, false)
	case "getOutputFrom":
		output := ""
		if len(n.ArgumentList) > 1 {
			s, ok := n.ArgumentList[1].(*ast.StringLiteral)
			if !ok {
				return
			}
			if output = s.Value.String(); c.names.Activities[name] != nil {
				at = s.Idx
			}
		}
		m = c.names.Output(name, output)
	case "resumeUrl":
		if m = c.names.Output(name, ""); m != nil && m.Code != "unknown-activity" {
			m = nil
		}
	}
	if m != nil {
		c.report(at, m)
	}
}

// global says what is wrong with a name that the script does not declare.
func (c *checking) global(r reference) *engine.Mistake {
	name := r.name
	if c.declared[name] || globalNames()[name] || hostFunctions[name] != nil {
		return nil
	}
	switch name {
	case "variables", "inputs", "secrets", "arguments", "undefined":
		return nil
	}
	accessors := c.accessors()
	if slices.Contains(accessors, name) {
		return nil
	}
	if strings.HasPrefix(name, "get") && len(name) > 3 {
		if m, known := c.outputOf(name[3:]); known {
			return m
		}
		if c.names.MoreVariables || c.names.MoreInputs {
			return nil
		}
	}
	if strings.HasPrefix(name, "set") && len(name) > 3 && c.names.MoreVariables {
		return nil
	}
	m := &engine.Mistake{Code: "unknown-name", Detail: "there is no name " + workflow.Shorten(name)}
	known := accessors
	for n := range globalNames() {
		known = append(known, n)
	}
	for n := range hostFunctions {
		known = append(known, n)
	}
	for n := range c.declared {
		known = append(known, n)
	}
	if m.Meant = workflow.Nearest(name, append(known, "variables", "inputs", "secrets")); m.Meant != "" {
		m.Detail += " (did you mean " + m.Meant + "?)"
	} else if _, ok := c.names.Variables[name]; ok {
		m.Detail += "; a variable is variables." + name
	} else if _, ok := c.names.Inputs[name]; ok {
		m.Detail += "; an input is inputs." + name
	}
	return m
}

// accessors are the functions getX and setX that there are.
func (c *checking) accessors() []string {
	var out []string
	add := func(name string, set bool) {
		for _, n := range []string{name, workflow.UpperFirst(name), pascal(name)} {
			if n != "" {
				out = append(out, "get"+n)
				if set {
					out = append(out, "set"+n)
				}
			}
		}
	}
	for name := range c.names.Variables {
		add(name, true)
	}
	for name := range c.names.Made {
		add(name, true)
	}
	for name := range c.names.Inputs {
		add(name, true) // which says that it cannot be set
	}
	return out
}

// outputOf looks at a name such as ResultFromFetch, behind get.
func (c *checking) outputOf(name string) (m *engine.Mistake, known bool) {
	for i := 1; i < len(name); i++ {
		activity, ok := strings.CutPrefix(name[i:], "From")
		if !ok || activity == "" {
			continue
		}
		for _, a := range []string{activity, lowerFirst(activity)} {
			if _, ok := c.names.Activities[a]; ok {
				return c.names.Output(a, name[:i]), true
			}
		}
		if m == nil {
			m = c.names.Output(activity, name[:i])
		}
	}
	return m, m != nil
}

// Functions lists what a script may call beside what the language has, sorted.
func Functions() []string {
	var out []string
	for name := range hostFunctions {
		if name[0] >= 'a' && name[0] <= 'z' { // others are for what scripts are rewritten to
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// globalNames are those of a machine before a script runs.
var globalNames = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	vm := goja.New()
	v, err := vm.RunString("Object.getOwnPropertyNames(globalThis)")
	if err != nil {
		panic(err) // the library contradicts itself; no test would pass
	}
	var names []string
	if err := vm.ExportTo(v, &names); err != nil {
		panic(err)
	}
	for _, n := range names {
		out[n] = true
	}
	for _, n := range gone {
		delete(out, n)
	}
	return out
})
