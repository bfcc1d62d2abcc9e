package check

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var (
	// plainCode is a text that is an expression and nothing else: inputs.amount, variables.total + 1.
	plainCode = regexp.MustCompile(`^\s*(inputs|variables)\.([A-Za-z_]\w*)((?:[.?\[]\S*)?(?:\s*[-+*/<>=!?&|%].*)?)\s*$`)
	oneBrace  = regexp.MustCompile(`\$\{\s*(?:inputs|variables|outputs|secrets|lastResult|correlationId)\b`)
	twoBraces = regexp.MustCompile(`(?:^|[^$])\{\{\s*(?:inputs?|Inputs?|variables|Variables|secrets|correlationId)\b[^}]*\}\}`)
	// plainSecret is the name of a secret, and not that of a host such as secrets.example.com: it is in
	// capitals, or is all that stands behind a scheme.
	plainSecret = regexp.MustCompile(`\bsecrets\.[A-Z_][A-Z0-9_]*\b|^\s*(?:\w+\s+)?secrets\.[A-Za-z_]\w*\s*$`)
	urlName     = regexp.MustCompile(`(?:^|[^$])\{([A-Za-z_]\w*)\}`)
)

// written looks for texts that were meant as expressions, and are used as they are written.
// name is that of the input, what names it in the problem.
func (c *checker) written(p place, e workflow.Expression, name, what string) {
	if p.desc != nil {
		if in, _ := p.desc.Input(name); in.Raw && in.Type == "String" {
			return // of a statement, in which what stands in braces is a parameter
		}
	}
	switch e.Kind {
	case workflow.Literal, workflow.Object, workflow.Expr:
		c.writtenIn(p, e, e.Value, name, what, 0)
	}
}

func (c *checker) writtenIn(p place, e workflow.Expression, v any, name, what string, depth int) {
	switch v := v.(type) {
	case string:
		c.writtenText(p, e, v, name, what)
	case []any:
		for _, kid := range v {
			if depth < mostDepth {
				c.writtenIn(p, e, kid, name, what, depth+1)
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if depth < mostDepth {
				c.writtenIn(p, e, v[key], name, what, depth+1)
			}
		}
	}
}

// mostDepth bounds how deep values are looked into.
const mostDepth = 100

func (c *checker) writtenText(p place, e workflow.Expression, text, name, what string) {
	report := func(at int, format string, args ...any) {
		q := warning("literal-template", format, args...)
		q.Within = workflow.Within{Text: text, Offset: at}
		c.report(p, e.Place, q)
	}
	if e.Kind == workflow.Expr && strings.Contains(text, "${{") {
		return // its author knows how one is written
	}
	if m := plainCode.FindStringSubmatch(text); m != nil && c.declares(p, m[1], m[2]) {
		report(0, "%s is the text %s as it is written; an expression is ${{ %s }}", what, workflow.Shorten(strings.TrimSpace(text)), workflow.Shorten(strings.TrimSpace(text)))
		return
	}
	if at := oneBrace.FindStringIndex(text); at != nil {
		report(at[0], "%s has ${ } and is written as it is; an expression is ${{ }}", what)
		return
	}
	if at := twoBraces.FindStringIndex(text); at != nil {
		report(at[0]+strings.Index(text[at[0]:], "{{"), "%s has {{ }} and is written as it is; an expression is ${{ }}, or {liquid: \"…\"}", what)
		return
	}
	if at := plainSecret.FindStringIndex(text); at != nil && (name == "authorization" || strings.HasSuffix(strings.ToLower(name), "headers")) {
		begin := at[0] + strings.Index(text[at[0]:at[1]], "secrets.")
		secret := strings.TrimSpace(text[begin:at[1]])
		report(begin, "%s has %s as it is written; the secret is ${{ %s }}", what, secret, secret)
		return
	}
	if name != "url" {
		return
	}
	for _, m := range urlName.FindAllStringSubmatchIndex(text, -1) {
		word := text[m[2]:m[3]]
		for _, of := range []string{"inputs", "variables"} {
			if c.declares(p, of, word) {
				report(m[2], "%s has {%s} as it is written; the value is ${{ %s.%s }}", what, word, of, word)
				return
			}
		}
	}
}

// declares tells whether there is an input or a variable of that name.
func (c *checker) declares(p place, of, name string) bool {
	if of == "variables" {
		_, ok := p.variables[name]
		return ok
	}
	return c.inputNames[strings.ToLower(name)]
}

// fixed looks at values that are never evaluated, and look as if they were.
func (c *checker) fixed(v any, what string, at workflow.Place) {
	text, ok := v.(string)
	if !ok {
		return
	}
	if m := plainCode.FindStringSubmatch(text); !strings.Contains(text, "${{") { // inputs.csv may be the name of a file
		of := func(v workflow.Variable) bool { return m[1] == "variables" && v.Name == m[2] }
		if m == nil || !slices.ContainsFunc(c.def.Variables, of) && (m[1] == "variables" || !c.declares(place{}, m[1], m[2])) {
			return
		}
	}
	q := warning("literal-template", "%s is the text %s as it is written, since it is not evaluated; give it a value in a step", what, workflow.Shorten(strings.TrimSpace(text)))
	q.Within = workflow.Within{Text: text}
	c.report(place{}, at, q)
}

// knownTypes are the aliases of types that values are converted to, and others that people use.
var knownTypes = []string{
	"String", "Char", "Uri", "Guid", "Boolean", "Int16", "Int32", "Int64", "UInt16", "UInt32", "UInt64", "Byte", "SByte", "Single", "Double", "Decimal", "TimeSpan", "DateTime", "DateTimeOffset", "DateOnly", "TimeOnly",
	"Object", "HttpStatusCode", "JsonElement", "JsonObject", "ExpandoObject", "Dictionary", "IDictionary", "Stream", "ICollection", "IList", "List", "Array", "Any", "Variable",
	"JSON", "JsonNode", "JsonArray", "ObjectDictionary", "ObjectMap", "StringDictionary", "StringMap", "ByteArray",
}

// declaredType looks at the type that something is declared with: one that is not known is any,
// and was probably meant to be the one that it is called like. The same of where it is kept: under any
// other name than one with Memory in it that is with the instance.
func (c *checker) declaredType(typ, storage, what string, at workflow.Place) {
	if near := workflow.Nearest(storage, []string{"instance", "memory"}); near != "" && !strings.EqualFold(storage, near) && !strings.Contains(storage, "Memory") {
		q := warning("bad-value", "%s is kept with the instance: storage is %s, which is neither instance nor memory (did you mean %s?)", what, workflow.Shorten(storage), near)
		q.Meant, q.Within = near, workflow.Within{Text: storage}
		c.report(place{}, at, q)
	}
	base := strings.TrimSuffix(typ, "[]")
	if base == "" || strings.ContainsAny(base, ".,<[ ") || slices.ContainsFunc(knownTypes, func(k string) bool { return strings.EqualFold(k, base) }) {
		return
	}
	if near := workflow.Nearest(base, knownTypes); near != "" {
		q := warning("unknown-type", "%s has the type %s, which is not known, so it takes any value (did you mean %s?)", what, workflow.Shorten(base), near)
		q.Meant, q.Within = near, workflow.Within{Text: base}
		c.report(place{}, at, q)
	}
}

// results reports declared outputs that nothing gives a value, once all was looked at. In
// Elsa's JSON they are declared for the designer, too.
func (c *checker) results() {
	if c.elsa() || c.moreGiven || c.spent > mostWork || c.derivedOutputs() {
		return
	}
	for _, o := range c.def.Outputs {
		if o.Value != nil || o.Name == "" || c.given[o.Name] {
			continue
		}
		near := workflow.Nearest(o.Name, slices.Collect(maps.Keys(c.given)))
		if near != "" { // that is told where it is set
			continue
		}
		q := warning("output-without-value", "nothing gives the output %s a value; write %s: ${{ … }}, or set it by setOutput or a result", o.Name, o.Name)
		q.Within = workflow.Within{Text: o.Name}
		c.report(place{}, c.def.Place, q)
	}
}

// derivedOutputs tells whether there may be activities that set outputs and do not say which.
func (c *checker) derivedOutputs() bool {
	found := false
	workflow.Walk(c.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		d := c.describe(a)
		found = found || d == nil || a.Ref == nil && !strings.HasPrefix(d.Type, "Elsa.")
		return !found
	})
	return found
}

// sets looks at what an activity sets: which output of the workflow, which label.
func (c *checker) sets(p place) {
	for _, to := range p.a.Outputs {
		if to != "" {
			c.given[to] = true
		}
	}
	switch {
	case is(p.a, "Elsa.SetOutput"):
		e := p.a.Inputs["outputName"]
		name, ok := e.Value.(string)
		if e.Kind != workflow.Literal || !ok {
			c.moreGiven = true
			return
		}
		c.given[name] = true
		c.setsOutput(p, e, name)
	case is(p.a, "Elsa.SetLabel"):
		if e := p.a.Inputs["name"]; e.Kind == workflow.Literal && e.Value != nil {
			if err := workflow.CheckLabelName(strings.TrimSpace(engine.Text(e.Value))); err != nil {
				c.report(p, e.Place, problem("bad-label", "name of %s: %v", p.title(), err))
			}
		}
	}
}

func (c *checker) setsOutput(p place, e workflow.Expression, name string) {
	names := &engine.Names{Outputs: c.outputs}
	if m := names.Result(name); m != nil {
		c.report(p, e.Place, workflow.Problem{Code: m.Code, Detail: p.title() + ": " + m.Detail, Warning: m.Warning, Meant: m.Meant, Within: workflow.Within{Text: name}})
	}
	value := p.a.Inputs["outputValue"]
	if value.IsZero() {
		c.report(p, workflow.Place{}, warning("no-value", "%s has no value, so it clears the output %s", p.title(), name))
		return
	}
	i := slices.IndexFunc(c.def.Outputs, func(o workflow.Output) bool { return o.Name == name })
	if i < 0 {
		return
	}
	typ := alias(c.def.Outputs[i].Type, c.def.Outputs[i].IsArray)
	switch {
	case typ == "":
	case value.Kind == workflow.Literal:
		if _, err := engine.Convert(value.Value, listAlias(typ)); err != nil {
			c.report(p, value.Place, warning("type-mismatch", "the output %s: %v", name, err))
		}
	case value.Kind == workflow.Expr || value.Kind == workflow.Object:
		if gives := c.typeOf(p, value); takes(strings.ToLower(listAlias(typ)), gives) == wrong {
			c.report(p, value.Place, warning("type-mismatch", "the output %s is %s, and %s is wanted", name, kindOf(gives), wanted(typ)))
		}
	}
}
