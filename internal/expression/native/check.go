package native

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/words"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

var _ engine.Checker = Evaluator{}

// Check implements [engine.Checker].
func (Evaluator) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	c := checking{names: names}
	result := c.value(e.Value, 0)
	return c.found, result
}

// checking looks over the texts of one tree.
type checking struct {
	names   *engine.Names
	texts   int
	found   []engine.Mistake
	configs map[types.Type]*conf.Config // by what a number is
}

func (c *checking) value(v any, depth int) string {
	if c.texts++; c.texts > maxTree || depth > maxDepth {
		return ""
	}
	switch v := v.(type) {
	case string:
		return c.text(v)
	case []any:
		for _, kid := range v {
			c.value(kid, depth+1)
		}
		return "Object[]"
	case map[string]any:
		for _, kid := range v {
			c.value(kid, depth+1)
		}
		return objectType
	}
	return ""
}

const (
	maxDepth = 200

	// objectType is what an object is: no alias that a value could be converted to.
	objectType = "Map"
)

// text gives the type of a text with ${{ }}. What does not compile is left to those who
// compile it.
func (c *checking) text(text string) string {
	parts, _, err := splitTemplate(text)
	if err != nil {
		return ""
	}
	result := ""
	for _, p := range parts {
		if p.code {
			result = c.code(text, p)
		}
	}
	if len(parts) != 1 {
		return "String"
	}
	return result
}

func (c *checking) code(text string, p part) string {
	if _, deep := evaluation.TooDeep(p.text); deep || len(p.text) > evaluation.MaxSource {
		return ""
	}
	before := len(c.found)
	tree, err := c.parse(p.text)
	if err != nil {
		return ""
	}
	ast.Walk(&tree.Node, nameVisitor{func(at ast.Node, m *engine.Mistake) {
		c.found = append(c.found, m.At(text, p.offset+byteOffset(p.text, at.Location().From)))
	}, c.names})
	if len(c.found) > before {
		return "" // types say nothing new
	}
	// A number that is declared as number may be whole or not: what is wrong has to be
	// wrong for both.
	result, err := c.typed(p.text, types.Float64)
	if err != nil {
		var wholeErr error
		if result, wholeErr = c.typed(p.text, types.Int); wholeErr != nil {
			c.mismatch(text, p, err)
			return ""
		}
	}
	return aliasOf(result)
}

func (c *checking) mismatch(text string, p part, err error) {
	var f *file.Error
	if !errors.As(err, &f) || strings.HasPrefix(f.Message, "unknown name") || works.MatchString(f.Message) {
		return
	}
	f.From = min(f.From, utf8.RuneCountInString(p.text))
	m := engine.Mistake{Code: "type-mismatch", Detail: words.Of(f.Message, p.text[byteOffset(p.text, f.From):])}
	// A comparison of two kinds is no error as it runs: it is never equal.
	if op := operator.FindStringSubmatch(f.Message); op != nil {
		m.Warning = true
		m.Detail += ": they are never equal"
	}
	c.found = append(c.found, m.At(text, p.offset+byteOffset(p.text, f.From)))
}

// works is what the library's checker refuses, and what works here.
var works = regexp.MustCompile(`^type string\[int\] is undefined|^invalid operation: - \(mismatched type time\.Duration\)|^invalid operation: / \(mismatched types time\.Duration and (time\.Duration|int|float64)\)`)

var operator = regexp.MustCompile(`^invalid operation: (==|!=) |in array$`)

func (c *checking) parse(source string) (*parser.Tree, error) {
	return parser.ParseWithConfig(source, c.config(types.Any))
}

// typed gives the type of a source where a number is what number says; nil if it is
// not known.
func (c *checking) typed(source string, number types.Type) (reflect.Type, error) {
	config := c.config(number)
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, err
	}
	ast.Walk(&tree.Node, plainVisitor{})
	return checker.Check(tree, config)
}

// fnPlain has the type of what a function of a time gives here, where Go has a type of its own for it.
const fnPlain = "plain!"

// plainVisitor tells that months and days of the week are numbers.
type plainVisitor struct{}

// Visit implements [ast.Visitor].
func (plainVisitor) Visit(at *ast.Node) {
	call, ok := (*at).(*ast.CallNode)
	if !ok || len(call.Arguments) > 0 {
		return
	}
	member, ok := call.Callee.(*ast.MemberNode)
	if !ok || member.Optional {
		return
	}
	name, _ := member.Property.(*ast.StringNode)
	inner, _ := member.Node.(*ast.CallNode)
	switch {
	case name == nil:
	case name.Value == "Month" || name.Value == "Weekday":
		callee := &ast.IdentifierNode{Value: fnPlain}
		callee.SetLocation(call.Location())
		ast.Patch(at, &ast.CallNode{Callee: callee, Arguments: []ast.Node{call}})
	case name.Value == "String" && inner != nil && isCallOf(inner, fnPlain):
		member.Node = inner.Arguments[0]
	}
}

// signatures are the functions of Weft, and those of expr that it replaces.
var signatures = types.Map{
	"outputs":   types.TypeOf(func(string, ...string) any { return nil }),
	"now":       types.TypeOf(func() time.Time { return time.Time{} }),
	"newId":     types.TypeOf(func() string { return "" }),
	"resumeUrl": types.TypeOf(func(string, ...string) string { return "" }),
	"repeat":    types.TypeOf(func(string, any) string { return "" }),
	"join":      types.TypeOf(func(any, ...string) string { return "" }),
	"replace":   types.TypeOf(func(string, string, string, ...any) string { return "" }),
	"uniq":      types.TypeOf(func(any) []any { return nil }),
	"string":    types.TypeOf(func(any) string { return "" }),
	"date":      types.TypeOf(func(string, ...string) time.Time { return time.Time{} }),
	"fromJSON":  types.TypeOf(func(string) any { return nil }),
}

// config is made once for all of a tree: it has each name that there is.
func (c *checking) config(number types.Type) *conf.Config {
	if config := c.configs[number]; config != nil {
		return config
	}
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	env := types.Map{}
	for name, kind := range refNames {
		switch kind {
		case refInputs, refVariables, refSecrets, refLastResult:
			env[name] = types.Any
		case refVersion:
			env[name] = types.Int
		default:
			env[name] = types.String
		}
	}
	for name, signature := range signatures {
		env[name] = signature
		delete(config.Builtins, name)
		config.Disabled[name] = true
	}
	env[fnPlain] = types.TypeOf(func(any) int { return 0 })
	env["inputs"] = typeMap(c.names.Inputs, number)
	env["variables"] = typeMap(c.names.Variables, number)
	config.WithEnv(env)
	if c.configs == nil {
		c.configs = map[types.Type]*conf.Config{}
	}
	c.configs[number] = config
	return config
}

func typeMap(names map[string]string, number types.Type) types.Map {
	out := types.Map{types.Extra: types.Any}
	for name, alias := range names {
		out[name] = typeOf(alias, number)
	}
	return out
}

// typeOf is what expr gets to see of a value that was declared with an alias. Times and
// durations stay the text that they were given as, or a number.
func typeOf(alias string, number types.Type) types.Type {
	switch lower := strings.ToLower(alias); lower {
	case "string":
		return types.String
	case "boolean", "bool":
		return types.Bool
	case "int16", "int32", "int64", "byte", "integer", "int", "long":
		return types.Int
	case "single", "double", "decimal", "number":
		return number
	default:
		if of, ok := strings.CutSuffix(lower, "[]"); ok {
			if of == "object" {
				return types.Array(types.Any)
			}
			return types.Array(typeOf(of, number))
		}
	}
	return types.Any
}

func isNumeric(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// aliasOf is the alias of what an expression gives, "" if that is not known.
func aliasOf(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t == reflect.TypeFor[time.Duration]():
		return "String" // it is kept as one, such as 1h0m0s
	case isNumeric(t):
		return "Double"
	case t == reflect.TypeFor[time.Time]():
		return "DateTimeOffset"
	}
	switch t.Kind() {
	case reflect.String:
		return "String"
	case reflect.Bool:
		return "Boolean"
	case reflect.Slice:
		return "Object[]"
	case reflect.Map:
		return objectType
	}
	return ""
}

// layout finds layouts of other languages, of which Go writes the letters.
func (v nameVisitor) layout(n *ast.CallNode) {
	member, ok := n.Callee.(*ast.MemberNode)
	if !ok || len(n.Arguments) != 1 {
		return
	}
	name, ok := member.Property.(*ast.StringNode)
	text, ok2 := n.Arguments[0].(*ast.StringNode)
	if ok && ok2 && name.Value == "Format" && otherLayout.MatchString(text.Value) && !ourLayout.MatchString(text.Value) {
		v.report(n.Arguments[0], &engine.Mistake{Code: "bad-layout", Detail: "a layout says how 2006-01-02 15:04:05 would be written, and " + strconv.Quote(workflow.Shorten(text.Value)) + " would be written as it is; for yyyy-MM-dd HH:mm write 2006-01-02 15:04"})
	}
}

var (
	otherLayout = regexp.MustCompile(`(?i)yy|dd|hh|mm|ss|%[a-z]`)
	ourLayout   = regexp.MustCompile(`\d|Jan|Mon|MST|PM|pm`)
)

// nameVisitor looks at the names in a syntax tree.
type nameVisitor struct {
	report func(at ast.Node, m *engine.Mistake)
	names  *engine.Names
}

// Visit implements [ast.Visitor].
func (v nameVisitor) Visit(at *ast.Node) {
	switch n := (*at).(type) {
	case *ast.MemberNode:
		v.named(n.Node, n.Property)
		v.field(n)
	case *ast.BinaryNode:
		switch {
		case n.Operator == "in":
			v.named(n.Right, n.Left)
		case v.kept(n.Operator, n.Left, n.Right) || v.kept(n.Operator, n.Right, n.Left):
		case (n.Operator == "/" || n.Operator == "%") && isZero(n.Right):
			v.report(n.Right, &engine.Mistake{Code: "division-by-zero", Detail: n.Operator + " by 0 is an incident"})
		}
	case *ast.BuiltinNode:
		if n.Name == "get" && len(n.Arguments) == 2 {
			v.named(n.Arguments[0], n.Arguments[1])
		}
		v.constant(n.Name, n.Arguments)
	case *ast.StringNode:
		if at := writtenCode.FindStringIndex(n.Value); at != nil {
			v.report(n, &engine.Mistake{Code: "literal-template", Warning: true, Detail: fmt.Sprintf("%s within an expression is a text as it is; texts are joined with +", workflow.Shorten(n.Value[at[0]:]))})
		}
	case *ast.CallNode:
		v.layout(n)
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok || len(n.Arguments) == 0 {
			return
		}
		switch callee.Value {
		case "outputs":
			v.activity(n.Arguments, true)
		case "resumeUrl":
			v.activity(n.Arguments, false)
		}
		v.constant(callee.Value, n.Arguments)
	}
}

// writtenCode is what somebody writes who takes a text within an expression for a template.
var writtenCode = regexp.MustCompile(`\$\{+\s*(inputs|variables|secrets|outputs|lastResult)\b`)

func isZero(n ast.Node) bool {
	i, ok := n.(*ast.IntegerNode)
	return ok && i.Value == 0
}

// kept reports an input or a variable that is a time or a duration, which is kept as it was given,
// mostly as a text, beside what is none: a time, a duration, a number. Beside a number it may be right:
// what was given may be one, and a time is one in milliseconds.
func (v nameVisitor) kept(operator string, at, other ast.Node) bool {
	if !slices.Contains([]string{"<", "<=", ">", ">=", "+", "-"}, operator) {
		return false
	}
	member, ok := at.(*ast.MemberNode)
	if !ok || !computed(other) {
		return false
	}
	root, ok1 := member.Node.(*ast.IdentifierNode)
	name, ok2 := member.Property.(*ast.StringNode)
	if !ok1 || !ok2 {
		return false
	}
	typ := map[string]map[string]string{"inputs": v.names.Inputs, "variables": v.names.Variables}[root.Value][name.Value]
	reader := map[string]string{"datetime": "date", "datetimeoffset": "date", "dateonly": "date", "timespan": "duration"}[strings.ToLower(typ)]
	if reader == "" {
		return false
	}
	number := isNumber(other)
	if number && reader == "date" {
		return false
	}
	path := root.Value + "." + name.Value
	v.report(member.Property, &engine.Mistake{Code: "type-mismatch", Warning: number, Detail: fmt.Sprintf("%s is kept as a text; write %s(%s)", path, reader, path)})
	return true
}

// computed tells what is surely a time, a duration or a number.
func computed(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		return ok && (callee.Value == "now" || callee.Value == "date")
	case *ast.BuiltinNode:
		return n.Name == "duration"
	}
	return isNumber(n)
}

// named looks at a name of an input or a variable.
func (v nameVisitor) named(of, property ast.Node) {
	root, ok := of.(*ast.IdentifierNode)
	name, named := property.(*ast.StringNode)
	if !ok || !named {
		return
	}
	var m *engine.Mistake
	switch root.Value {
	case "inputs":
		m = v.names.Input(name.Value, false)
	case "variables":
		m = v.names.Variable(name.Value)
	}
	if m != nil {
		v.report(property, m)
	}
}

// field looks at a field of what an activity gave.
func (v nameVisitor) field(n *ast.MemberNode) {
	call, ok := n.Node.(*ast.CallNode)
	name, named := n.Property.(*ast.StringNode)
	if !ok || !named {
		return
	}
	args := []string{}
	for _, a := range call.Arguments {
		text, ok := a.(*ast.StringNode)
		if !ok {
			return
		}
		args = append(args, text.Value)
	}
	if callee, ok := call.Callee.(*ast.IdentifierNode); !ok || callee.Value != "outputs" || len(args) == 0 {
		return
	}
	if m := v.names.Field(args[0], strings.Join(args[1:], ""), name.Value); m != nil {
		v.report(n.Property, m)
	}
}

// constant looks at a text that is given to a function which reads it: whether it can.
func (v nameVisitor) constant(fn string, args []ast.Node) {
	texts := make([]string, len(args))
	for i, a := range args {
		text, ok := a.(*ast.StringNode)
		if !ok {
			return
		}
		texts[i] = text.Value
	}
	if len(args) == 0 {
		return
	}
	at, err := args[0], readable(fn, texts[0], len(texts))
	if fn == "resumeUrl" && len(texts) == 3 {
		at, err = args[2], life(texts[2])
	}
	if err != nil {
		v.report(at, &engine.Mistake{Code: "bad-literal", Detail: fn + ": " + err.Error()})
	}
}

// readable tells whether a function that is given a text, and perhaps others, can read it.
func readable(fn, text string, given int) (err error) {
	short := workflow.Shorten(text)
	switch fn {
	case "int":
		if _, failed := strconv.Atoi(strings.TrimSpace(text)); failed != nil {
			err = fmt.Errorf("%q is not a whole number", short)
		}
	case "float":
		if _, failed := strconv.ParseFloat(strings.TrimSpace(text), 64); failed != nil {
			err = fmt.Errorf("%q is not a number", short)
		}
	case "duration":
		_, err = parseDuration(text)
	case "timezone":
		_, err = evaluation.Zone(text)
	case "fromJSON":
		_, _, err = evaluation.ParseJSON(text)
	case "date":
		if given == 1 && !slices.ContainsFunc(dateLayouts, func(l string) bool { _, err := time.Parse(l, text); return err == nil }) {
			err = fmt.Errorf("%q is not a date such as 2026-01-31; another layout stands behind it: date(\"31.01.2026\", \"02.01.2006\")", short)
		}
	}
	return err
}

// life tells whether a link may be good for that long.
func life(text string) error {
	d, err := value.ParseDuration(text)
	if err == nil && (d < 0 || d > engine.MaxLinkLife) {
		return fmt.Errorf("a link is good for up to %d days; it was asked for %v", engine.MaxLinkLife/(24*time.Hour), text)
	}
	return err
}

// activity looks at the arguments that name an activity and one of its outputs.
func (v nameVisitor) activity(args []ast.Node, outputs bool) {
	id, ok := args[0].(*ast.StringNode)
	if !ok {
		return
	}
	if _, known := v.names.Activities[id.Value]; !known || len(args) == 1 {
		if m := v.names.Output(id.Value, ""); m != nil && (outputs || m.Code == "unknown-activity") {
			v.report(id, m)
		}
		return
	}
	if output, ok := args[1].(*ast.StringNode); ok && outputs {
		if m := v.names.Output(id.Value, output.Value); m != nil {
			v.report(output, m)
		}
	}
}

// globalNames are the names and functions that an expression may begin with.
func globalNames() []string {
	return append(slices.Collect(maps.Keys(refNames)), Functions()...)
}

// Functions lists what an expression may call, sorted.
func Functions() []string {
	out := append(slices.Collect(maps.Keys(signatures)), slices.Collect(maps.Keys(conf.CreateNew().Builtins))...)
	slices.Sort(out)
	return slices.Compact(out)
}
