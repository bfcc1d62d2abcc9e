// Package check finds what is surely wrong in a script before it runs: names that nothing has, and functions that are
// called with what they do not take.
//
// Not guaranteed: that a script without a mistake does not fail. It runs nothing.
package check

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/near"
)

// Script finds what is surely wrong in a script. host reports whether a name is a function that every script may
// call, and functions lists those that people call.
func Script(source string, names *engine.Names, host func(name string) bool, functions func() []string) (found []engine.Mistake) {
	if _, deep := evaluation.TooDeep(source); deep {
		return nil
	}
	if _, err := rewrite.Reread(source); err != nil {
		return nil
	}
	skip := 0
	tree, err := rewrite.Parse(source)
	if err != nil && rewrite.IsReturn(err) {
		skip = len(rewrite.WrapHead)
		tree, err = rewrite.Parse(rewrite.WrapHead + source + rewrite.WrapTail)
	}
	if err != nil {
		return nil
	}
	if names.Made == nil {
		names.Made = map[string]bool{}
	}
	c := &checking{names: names, host: host, functions: functions, declared: map[string]bool{}, seen: map[any]bool{}}
	c.walk(reflect.ValueOf(tree), false, 0)
	c.globals()
	for _, f := range c.found {
		if !c.declared[f.of] { // known only now: a function may be used above its declaration
			found = append(found, f.At(source, max(f.Offset-skip, 0)))
		}
	}
	slices.SortStableFunc(found, func(a, b engine.Mistake) int { return a.Offset - b.Offset })
	return found
}

// checking looks over the syntax tree of one script.
type checking struct {
	names      *engine.Names
	host       func(name string) bool
	functions  func() []string
	declared   map[string]bool // by the script itself, at any place of it
	references []reference
	setters    []reference // calls of functions called setX
	seen       map[any]bool
	found      []finding
	pascal     map[string]string // see spelled
}

// finding is a mistake in the use of a name, and none if the script declares that name itself.
type finding struct {
	engine.Mistake
	of string
}

type reference struct {
	name string
	at   file.Idx
}

func (c *checking) report(at file.Idx, m *engine.Mistake) { c.reportOf("", at, m) }

// reportOf reports a mistake that is one as long as a name is not the script's own.
func (c *checking) reportOf(name string, at file.Idx, m *engine.Mistake) {
	m.Offset = int(at) - 1
	c.found = append(c.found, finding{Mistake: *m, of: name})
}

var typeTarget = reflect.TypeFor[ast.BindingTarget]()

// walk goes through all fields. binds tells that names below are given a value here.
func (c *checking) walk(v reflect.Value, binds bool, depth int) {
	if depth > 20*rewrite.MaxLevels {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.walk(v.Elem(), binds || v.Type() == typeTarget, depth+1)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == rewrite.TypeFile || c.seen[v.Interface()] {
			return
		}
		c.seen[v.Interface()] = true
		c.node(v, binds, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" && f.Type != rewrite.TypeIdentifier {
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
		c.taken(n)
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
		c.property(n.Left, n.Identifier.Name.String(), n.Identifier.Idx)
	case *ast.BracketExpression:
		if s, ok := n.Member.(*ast.StringLiteral); ok {
			c.member(n.Left, s.Value.String(), s.Idx)
		}
	case *ast.CallExpression:
		c.call(n)
	case *ast.BinaryExpression:
		if s, ok := n.Left.(*ast.StringLiteral); ok && n.Operator == token.IN {
			c.member(n.Right, s.Value.String(), s.Idx)
		}
	case *ast.StringLiteral:
		if text := n.Value.String(); writtenCode.MatchString(text) {
			c.report(n.Idx, &engine.Mistake{Code: "literal-template", Warning: true, Detail: "${…} is filled in only in a text in backquotes, `…`; in this one it is written as it is"})
		}
	case *ast.IfStatement:
		c.condition(n.Test)
	case *ast.WhileStatement:
		c.condition(n.Test)
	case *ast.ConditionalExpression:
		c.condition(n.Test)
	}
}

// writtenCode is what somebody writes who takes a text for a template.
var writtenCode = regexp.MustCompile(`\$\{\s*(inputs|variables|get[A-Z]\w*\()`)

// condition looks for a = where == is meant.
func (c *checking) condition(test ast.Expression) {
	if n, ok := test.(*ast.AssignExpression); ok && n.Operator == token.ASSIGN {
		c.report(n.Left.Idx0(), &engine.Mistake{Code: "assignment-in-condition", Warning: true, Detail: "= gives a value, and the condition is what was given; equal is ==="})
	}
}

// taken looks at names that are taken out of inputs or variables: const {amount} = inputs.
func (c *checking) taken(n *ast.Binding) {
	pattern, ok := n.Target.(*ast.ObjectPattern)
	if !ok || n.Initializer == nil {
		return
	}
	for _, p := range pattern.Properties {
		switch p := p.(type) {
		case *ast.PropertyShort:
			c.member(n.Initializer, p.Name.Name.String(), p.Name.Idx)
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok && !p.Computed {
				c.member(n.Initializer, key.Value.String(), key.Idx)
			}
		}
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

// assigned notes variables that are made by an assignment. Inputs do not change.
func (c *checking) assigned(n *ast.AssignExpression) {
	switch left := n.Left.(type) {
	case *ast.DotExpression:
		c.sets(left.Left, left.Identifier.Name.String(), left.Identifier.Idx)
	case *ast.BracketExpression:
		if s, ok := left.Member.(*ast.StringLiteral); ok {
			c.sets(left.Left, s.Value.String(), s.Idx)
		} else if isName(left.Left, "variables") {
			c.names.MoreVariables = true
		}
	}
}

func (c *checking) sets(of ast.Expression, name string, at file.Idx) {
	switch {
	case isName(of, "inputs"):
		c.reportOf("inputs", at, readOnly(name))
	case isName(of, "variables"):
		c.makes(name, "variables", at)
	}
}

func readOnly(input string) *engine.Mistake {
	return &engine.Mistake{Code: "read-only", Detail: "the input " + workflow.Shorten(input) + " cannot be set; give a variable what the script makes of it"}
}

// makes notes a variable that is set. One that is not declared, and is called nearly as one
// that is, was probably meant to be that. by is the name by which it is set.
func (c *checking) makes(name, by string, at file.Idx) {
	c.names.Made[name] = true
	if _, declared := c.names.Variables[name]; declared || len(c.names.Variables) > mostNames {
		return
	}
	if near := workflow.Nearest(name, slices.Collect(maps.Keys(c.names.Variables))); near != "" {
		c.reportOf(by, at, &engine.Mistake{Code: "new-variable", Warning: true, Meant: near,
			Detail: "there is no variable " + workflow.Shorten(name) + " here, so this makes one (did you mean " + near + "?)"})
	}
}

// mostNames bounds among how many names one that was meant is looked for.
const mostNames = 500

func isName(e ast.Expression, name string) bool {
	if o, ok := e.(*ast.Optional); ok {
		e = o.Expression
	}
	id, ok := e.(*ast.Identifier)
	return ok && id.Name.String() == name
}

func (c *checking) member(of ast.Expression, name string, at file.Idx) {
	var m *engine.Mistake
	root := "inputs"
	switch {
	case isName(of, "inputs"):
		m = c.names.Input(name, false)
	case isName(of, "variables"):
		root, m = "variables", c.names.Variable(name)
	}
	if m != nil && !isProperty(name) {
		c.reportOf(root, at, m)
	}
}

// property looks at what is asked of a value whose kind is known: an object of the language, or
// what is declared to be a text or a list.
func (c *checking) property(of ast.Expression, name string, at file.Idx) {
	kind, title, root := c.kindOf(of)
	known := propertyNames()[kind]
	if known == nil || slices.Contains(known, name) {
		return
	}
	near := workflow.Nearest(name, known)
	if near == "" {
		return // it may be asked whether it is there
	}
	c.reportOf(root, at, &engine.Mistake{Code: "unknown-name", Meant: near, Detail: title + " has no " + workflow.Shorten(name) + " (did you mean " + near + "?)"})
}

// kindOf gives the kind of a value, what it is called in a text, and the name that it is reached by.
func (c *checking) kindOf(of ast.Expression) (kind, title, root string) {
	if id, ok := of.(*ast.Identifier); ok {
		name := id.Name.String()
		return name, name, name
	}
	dot, ok := of.(*ast.DotExpression)
	if !ok {
		return "", "", ""
	}
	name := dot.Identifier.Name.String()
	typ := ""
	switch {
	case isName(dot.Left, "inputs"):
		typ, root = c.names.Inputs[name], "inputs"
	case isName(dot.Left, "variables"):
		typ, root = c.names.Variables[name], "variables"
	}
	switch {
	case strings.HasSuffix(typ, "[]"):
		return "Array.prototype", "a list", root
	case strings.EqualFold(typ, "String"):
		return "String.prototype", "a text", root
	}
	return "", "", ""
}

// propertyNames are what objects of the language have.
var propertyNames = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	vm := goja.New()
	for _, name := range []string{"Math", "JSON", "Object", "Array", "Number", "Date", "Array.prototype", "String.prototype"} {
		v, err := vm.RunString("Object.getOwnPropertyNames(" + name + ").concat(Object.getOwnPropertyNames(Object.prototype))")
		if err != nil {
			panic(err) // the library contradicts itself; no test would pass
		}
		var names []string
		if err := vm.ExportTo(v, &names); err != nil {
			panic(err)
		}
		out[name] = names
	}
	return out
})

// isProperty tells names that every object has.
func isProperty(name string) bool {
	return slices.Contains([]string{"hasOwnProperty", "toString", "valueOf", "constructor", "propertyIsEnumerable", "isPrototypeOf", "toLocaleString"}, name)
}

// call looks at the functions that take names.
func (c *checking) call(n *ast.CallExpression) {
	callee, ok := n.Callee.(*ast.Identifier)
	if !ok {
		return
	}
	fn := callee.Name.String()
	if !c.called(n, fn, callee.Idx) {
		return
	}
	first, literal := n.ArgumentList[0].(*ast.StringLiteral)
	if !literal {
		c.names.MoreVariables = c.names.MoreVariables || fn == "setVariable"
		c.names.MoreGiven = c.names.MoreGiven || fn == "setOutput"
		return
	}
	var m *engine.Mistake
	at := first.Idx
	switch name := first.Value.String(); fn {
	case "setVariable":
		c.makes(name, fn, at)
	case "setOutput":
		if c.names.Given != nil {
			c.names.Given[name] = true
		}
		m = c.names.Result(name)
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
		c.reportOf(fn, at, m)
	}
}

// called looks at a call by itself; false if it has nothing that could be looked at further.
func (c *checking) called(n *ast.CallExpression, fn string, at file.Idx) bool {
	if len(n.ArgumentList) == 0 {
		if what := wants[fn]; what != "" {
			c.reportOf(fn, at, &engine.Mistake{Code: "missing-argument", Detail: fn + " takes " + what + ", and is given nothing"})
		}
		return false
	}
	if strings.HasPrefix(fn, "set") && len(fn) > 3 && !c.host(fn) {
		c.setters = append(c.setters, reference{fn, at})
	}
	return true
}

// wants are what functions take that do nothing without it. setOutcomes() takes back what was set before.
var wants = func() map[string]string {
	out := map[string]string{}
	for what, functions := range map[string]string{
		"the name of a variable": "getVariable", "the name of a variable, and a value": "setVariable", "the name of an input": "getInput", "the id or name of an activity": "getOutputFrom",
		"the name of an output, and a value": "setOutput", "a name": "getSecret", "the id or name of the activity that waits": "resumeUrl",
	} {
		for _, fn := range strings.Fields(functions) {
			out[fn] = what
		}
	}
	return out
}()

// elsewhere are names that scripts have in other places, and what there is here.
var elsewhere = map[string]string{
	"console": "what a script gives is its result; writeLine writes lines", "fetch": "a script reaches nothing outside: sendHttpRequest does",
	"XMLHttpRequest": "a script reaches nothing outside: sendHttpRequest does", "axios": "a script reaches nothing outside: sendHttpRequest does",
	"require": "there are no modules", "process": "the environment is not read here; a secret is secrets.NAME", "window": "there is no page", "document": "there is no page",
	"setTimeout": "a script does not wait: delay does", "setInterval": "a script does not wait: timer does", "eval": "a script is what is written",
	"Buffer": "stringToBase64, bytesFromBase64 and their like are functions of their own", "outputs": "write getOutputFrom(\"its id\"), or getResultFromNAME()",
	"moment": "write new Date()", "_": "lists have map, filter, find and reduce", "lodashFp": "lists have map, filter, find and reduce",
	"getConfig": "no configuration is read here; a secret is getSecret(\"its name\")", "createEventTriggerUrl": "a link that resumes what waits is resumeUrl(\"the activity that waits\")",
	"getGuid": "write newGuid()",
}

// accessors are the functions getX and setX that there are.
type accessors struct {
	all       map[string]bool
	variables map[string]bool   // that set a variable
	inputs    map[string]string // by what would set it
}

func (c *checking) accessors() accessors {
	a := accessors{all: map[string]bool{}, variables: map[string]bool{}, inputs: map[string]string{}}
	add := func(name string, sets func(fn string)) {
		for _, n := range []string{name, workflow.UpperFirst(name), workflow.Pascal(name)} {
			if n != "" {
				a.all["get"+n], a.all["set"+n] = true, true
				sets("set" + n)
			}
		}
	}
	variable := func(fn string) { a.variables[fn] = true }
	for name := range c.names.Variables {
		add(name, variable)
	}
	for name := range c.names.Made {
		add(name, variable)
	}
	for _, name := range slices.Sorted(maps.Keys(c.names.Inputs)) {
		add(name, func(fn string) { // which says that it cannot be set
			if _, has := a.inputs[fn]; !has {
				a.inputs[fn] = name
			}
		})
	}
	return a
}

// mostMeant bounds for how many names of one script another one that was meant is looked for.
const mostMeant = 50

// globals looks at the names that the script does not declare, and at functions that would set an input. What
// there is to name is put together once: a script may have thousands of names.
func (c *checking) globals() {
	others := slices.DeleteFunc(c.references, func(r reference) bool { return c.declared[r.name] || c.isGlobal(r.name) })
	if len(others)+len(c.setters) == 0 {
		return
	}
	has := c.accessors()
	for _, r := range c.setters {
		if input := has.inputs[r.name]; input != "" && !has.variables[r.name] {
			c.reportOf(r.name, r.at, readOnly(input))
		}
	}
	var known *near.Names
	asked, said := 0, map[string]*engine.Mistake{} // nil: nothing is wrong with it
	for _, r := range others {
		m, again := said[r.name]
		if !again {
			if m = c.global(r.name, &has); m != nil && m.Code == "unknown-name" && elsewhere[r.name] == "" {
				near := ""
				if asked++; asked <= mostMeant {
					if known == nil {
						known = c.known(&has)
					}
					near = known.Nearest(r.name)
				}
				c.means(m, r.name, near)
			}
			said[r.name] = m
		}
		if m != nil {
			copied := *m
			c.report(r.at, &copied)
		}
	}
}

// known are all names that a script may use where it stands.
func (c *checking) known(has *accessors) *near.Names {
	names := append(c.functions(), "variables", "inputs", "secrets")
	for _, of := range []map[string]bool{has.all, globalNames(), c.declared} {
		names = slices.AppendSeq(names, maps.Keys(of))
	}
	return near.NewNames(names)
}

// means adds to an unknown name what was probably meant.
func (c *checking) means(m *engine.Mistake, name, near string) {
	if m.Meant = near; near != "" {
		m.Detail += " (did you mean " + near + "?)"
	} else if _, ok := c.names.Variables[name]; ok {
		m.Detail += "; a variable is variables." + name
	} else if _, ok := c.names.Inputs[name]; ok {
		m.Detail += "; an input is inputs." + name
	}
}

// isGlobal reports whether every script has a name.
func (c *checking) isGlobal(name string) bool {
	switch name {
	case "variables", "inputs", "secrets", "arguments", "undefined":
		return true
	}
	return globalNames()[name] || c.host(name)
}

// global says what is wrong with a name that neither the script declares nor every one has; nil if nothing is.
func (c *checking) global(name string, has *accessors) *engine.Mistake {
	if has.all[name] {
		return nil
	}
	if strings.HasPrefix(name, "get") && len(name) > 3 {
		if m, known := c.outputOf(name[3:]); known {
			return m
		}
		switch {
		case elsewhere[name] != "":
		case c.names.MoreVariables || c.names.MoreInputs && !c.names.Undeclared:
			return nil
		case c.names.MoreInputs:
			return &engine.Mistake{Code: "unknown-name", Warning: true, Detail: "there is no name " + workflow.Shorten(name) + ", unless a start brings an input of that name: the definition declares none"}
		}
	}
	if strings.HasPrefix(name, "set") && len(name) > 3 && c.names.MoreVariables {
		return nil
	}
	m := &engine.Mistake{Code: "unknown-name", Detail: "there is no name " + workflow.Shorten(name)}
	if ours := elsewhere[name]; ours != "" {
		m.Detail += "; " + ours
	}
	return m
}

// outputOf looks at a name such as ResultFromFetch, behind get.
func (c *checking) outputOf(name string) (m *engine.Mistake, known bool) {
	for i := 1; i < len(name); i++ {
		activity, ok := strings.CutPrefix(name[i:], "From")
		if !ok || activity == "" {
			continue
		}
		for _, a := range []string{activity, rewrite.LowerFirst(activity)} {
			if _, ok := c.names.Activities[a]; ok {
				return c.names.Output(a, name[:i]), true
			}
		}
		if a, ok := c.spelled()[activity]; ok {
			return c.names.Output(a, name[:i]), true
		}
		if m == nil {
			m = c.names.Output(activity, name[:i])
		}
	}
	return m, m != nil
}

// spelled are the activities by their names within the names of functions.
func (c *checking) spelled() map[string]string {
	if c.pascal == nil {
		c.pascal = map[string]string{}
		for _, a := range slices.Sorted(maps.Keys(c.names.Activities)) {
			c.pascal[workflow.Pascal(a)] = a
		}
	}
	return c.pascal
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
	for _, n := range rewrite.Gone {
		delete(out, n)
	}
	return out
})
