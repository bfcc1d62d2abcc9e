package check

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// inputs looks at the values that an activity gets.
func (c *checker) inputs(p place) {
	for _, name := range sortedKeys(p.a.Inputs) {
		e := p.a.Inputs[name]
		in := workflow.InputDescriptor{Name: name}
		if p.desc != nil {
			if d, ok := p.desc.Input(name); ok {
				in = d
			}
		}
		if in.Type == "Variable" {
			continue
		}
		if script := in.Name == "script" && e.Kind == workflow.Literal; script && is(p.a, "Elsa.RunJavaScript") {
			e.Kind = workflow.JavaScript
		} else if script && is(p.a, "Elsa.RunCSharp") {
			e.Kind = workflow.CSharp
		}
		c.written(p, e, in.Name, in.Name+" of "+p.title())
		if in.Name != "content" { // which is sent as it is
			envelope(c, p, e.Place, e, in.Name+" of "+p.title())
		}
		if e.Kind == workflow.Literal {
			c.literal(p, e, in)
			continue
		}
		if e.Kind == workflow.Object {
			c.rules(p, e, in)
		}
		what := "input " + in.Name + " of " + p.title()
		q := p
		if in.Raw && p.desc != nil { // it is evaluated with them
			q.variables = c.gives(p)
		}
		c.expression(q, e, what, in)
	}
	c.variable(p)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func is(a *workflow.Activity, typ string) bool { return a.Ref == nil && strings.EqualFold(a.Type, typ) }

// literal looks at a value that is written as it is. The compiler converts it.
func (c *checker) literal(p place, e workflow.Expression, in workflow.InputDescriptor) {
	if e.Value == nil {
		return
	}
	texts := []any{e.Value}
	if list, ok := e.Value.([]any); ok {
		texts = list
	} else if v, err := engine.Convert(e.Value, in.Type); err == nil { // Elsa also writes a list as a text of JSON
		if list, ok := v.([]any); ok {
			texts = list
		}
	}
	for _, v := range texts {
		text := strings.TrimSpace(engine.Text(v))
		if len(in.Usual) > 0 && text != "" && !slices.ContainsFunc(in.Usual, func(u string) bool { return strings.EqualFold(u, text) }) {
			c.report(p, e.Place, meant(warning("unusual-value", "%s %q of %s is none that is usual", in.Name, workflow.Shorten(text), p.title()), strings.ToUpper(text), in.Usual))
		}
		if in.Type == "TimeSpan" && !in.Positive {
			if d, err := value.ParseDuration(text); err == nil && d < 0 {
				c.report(p, e.Place, problem("negative-time", "%s of %s is below zero: %s", in.Name, p.title(), text))
			}
		}
	}
	text, isText := e.Value.(string)
	if isText && in.Type == "String" && !in.Raw && strings.Contains(text, "{{") && strings.Contains(text, "}}") && !twoBraces.MatchString(text) {
		c.report(p, e.Place, warning("literal-template", "%s of %s has {{ }} and is written as it is; an expression is ${{ }}, or {liquid: \"…\"}", in.Name, p.title()))
	}
	c.rules(p, e, in)
}

// rules are what one input must or should be, beyond its type.
func (c *checker) rules(p place, e workflow.Expression, in workflow.InputDescriptor) {
	text := strings.TrimSpace(engine.Text(e.Value))
	c.forms(p, e, in, text)
	c.sent(p, e, in, text)
	switch {
	case is(p.a, "Elsa.For") && in.Name == "step" && text == "0":
		c.report(p, e.Place, problem("endless-loop", "step of %s is 0, so it would never end", p.title()))
	case in.Name == "retries" && (is(p.a, "Elsa.SendHttpRequest") || is(p.a, "Elsa.FlowSendHttpRequest")):
		if n, err := engine.Convert(e.Value, "Int64"); err == nil {
			if i, _ := n.(int64); i < 0 || i > 10 {
				c.report(p, e.Place, warning("unusual-value", "retries of %s is %s; it is between 0 and 10", p.title(), text))
			}
		}
	case in.Name == "requestTimeout" && is(p.a, workflow.EndpointType):
		if d, err := value.ParseDuration(text); err == nil && d > workflow.MaxEndpointWait {
			c.report(p, e.Place, warning("unusual-value", "requestTimeout of %s is %s; a caller is kept waiting for 5m at most", p.title(), text))
		}
	case is(p.a, workflow.RetryType):
		policy(c, p, e, in.Name, text)
	case in.Name == "workflowDefinitionId" && c.opts.Defined != nil && text != "" && text != c.def.ID && !c.opts.Defined(text):
		c.report(p, e.Place, warning("unknown-definition", "there is no published definition %s yet, which %s runs%s", workflow.Shorten(text), p.title(), meantID(c.opts.IDs, text)))
	}
}

// meantID says which definition was probably meant.
func meantID(ids func() []string, id string) string {
	if ids == nil {
		return ""
	}
	return workflow.DidYouMean(id, ids())
}

// forms looks at values that have to have a form beyond their type.
func (c *checker) forms(p place, e workflow.Expression, in workflow.InputDescriptor, text string) {
	switch {
	case (in.Name == "input" || in.Name == "labels") && (is(p.a, "Elsa.ExecuteWorkflow") || is(p.a, "Elsa.DispatchWorkflow") || is(p.a, "Elsa.BulkDispatchWorkflows")):
		if _, ok := e.Value.(map[string]any); !ok && text != "" && !strings.HasPrefix(text, "{") {
			c.report(p, e.Place, problem("bad-literal", "%s of %s is an object, such as {orderId: o-1}", in.Name, p.title()))
		}
	case is(p.a, "Elsa.HttpEndpoint") && in.Name == "path":
		if m := colonName.FindStringSubmatch(text); m != nil {
			c.report(p, e.Place, warning("unusual-value", "path of %s has :%s as it is written; a parameter is {%s}", p.title(), m[1], m[1]))
		}
	case strings.HasSuffix(strings.ToLower(in.Name), "headers") && takesHeaders(p.a):
		if _, ok := e.Value.(map[string]any); !ok && !strings.HasPrefix(text, "{") && !slices.Contains([]string{"", "[]"}, text) {
			c.report(p, e.Place, problem("bad-literal", "%s of %s is an object of texts, such as {Accept: text/plain}", in.Name, p.title()))
		}
	case in.Name == "contentType" && text != "" && !strings.Contains(text, "/"):
		c.report(p, e.Place, warning("unusual-value", "contentType %q of %s is no media type, such as application/json", workflow.Shorten(text), p.title()))
	}
}

// sent looks at what events and tasks are sent by.
func (c *checker) sent(p place, e workflow.Expression, in workflow.InputDescriptor, text string) {
	switch in.Name {
	case "eventName", "taskName":
		if err := workflow.CheckSendable(in.Name+" of "+p.title(), engine.Text(e.Value)); err != nil && text != "" {
			c.report(p, e.Place, problem("bad-literal", "%v", err))
		}
	case "correlationId":
		if text == "" && e.Value != nil && is(p.a, "Elsa.PublishEvent") {
			c.report(p, e.Place, warning("no-effect", "correlationId of %s is empty, as if it were not there: the instances of every correlation get the event", p.title()))
		}
	}
}

// takesHeaders tells the activities whose inputs called headers are those of HTTP. Others may mean a list.
func takesHeaders(a *workflow.Activity) bool {
	return is(a, "Elsa.SendHttpRequest") || is(a, "Elsa.FlowSendHttpRequest") || is(a, "Elsa.WriteHttpResponse")
}

var (
	colonName = regexp.MustCompile(`(?:^|/):([A-Za-z_]\w*)`)
	statuses  = regexp.MustCompile(`(?i)^\d[\dx]{2}$`)
)

// policy looks at one value of a retry.
func policy(c *checker, p place, e workflow.Expression, name, text string) {
	of := strings.TrimSuffix(p.a.ID, workflow.RetrySuffix)
	switch name {
	case "attempts":
		if text == "1" && p.a.Ports["onGiveUp"] == nil {
			c.report(p, e.Place, warning("no-effect", "one attempt at %s is what there is without retry: the first one counts", of))
		}
	case "maxDelay", "maxTime":
		first, known := pause(p.a.Inputs["delay"])
		if most, err := value.ParseDuration(text); !known || err != nil || most >= first {
			return
		}
		if name == "maxDelay" {
			c.report(p, e.Place, warning("no-effect", "maxDelay of the retry of %s is shorter than its delay, so each pause is %s", of, text))
		} else {
			c.report(p, e.Place, warning("no-effect", "maxTime of the retry of %s ends before the second attempt, which comes after %s", of, first))
		}
	case "on", "notOn":
		list, ok := e.Value.([]any)
		if !ok {
			list = []any{e.Value}
		}
		if len(list) == 0 && name == "on" {
			c.report(p, e.Place, warning("empty-list", "on of the retry of %s is an empty list, which is as if it were not there: all failures are tried again; leave it out, or say which", of))
		}
		for _, v := range list {
			s := engine.Text(v)
			if statuses.MatchString(s) && (s[0] < '1' || s[0] > '5') {
				q := warning("unusual-value", "%s of the retry of %s has %s, which is no status, such as 503 or 5xx", name, of, s)
				q.Within = workflow.Within{Text: s}
				c.report(p, e.Place, q)
			}
		}
	}
}

// pause is the pause before the second attempt, if it is known.
func pause(delay workflow.Expression) (time.Duration, bool) {
	if delay.IsZero() {
		return time.Second, true
	}
	d, err := value.ParseDuration(engine.Text(delay.Value))
	return d, err == nil && delay.Kind == workflow.Literal
}

// variable looks at what a setVariable gives its variable.
func (c *checker) variable(p place) {
	if !is(p.a, "Elsa.SetVariable") || c.spent > mostWork {
		return
	}
	e := p.a.Inputs["value"]
	name, _ := p.a.Inputs["variable"].Value.(string)
	if e.IsZero() {
		if name != "" {
			c.report(p, workflow.Place{}, warning("no-value", "%s has no value, so it clears the variable %s", p.title(), name))
		}
		return
	}
	typ, ok := p.variables[name]
	switch {
	case !ok || typ == "":
	case e.Kind == workflow.Literal:
		c.converts(p, e, typ, "the variable "+name)
	case e.Kind == workflow.Expr || e.Kind == workflow.Object:
		c.fits(p, e, c.typeOf(p, e), workflow.InputDescriptor{Type: typ}, "the variable "+name)
	}
}

// converts reports a literal that does not become what is declared.
func (c *checker) converts(p place, e workflow.Expression, typ, what string) {
	if _, err := engine.Convert(e.Value, listAlias(typ)); err != nil {
		c.report(p, e.Place, problem("type-mismatch", "%s: %v", what, err))
	}
}

// listAlias is an alias that values are converted to, for that of any list.
func listAlias(typ string) string {
	if strings.HasSuffix(typ, "[]") && !strings.EqualFold(typ, "String[]") {
		return "Object[]"
	}
	return typ
}

// expression looks at one that is not a literal.
func (c *checker) expression(p place, e workflow.Expression, what string, in workflow.InputDescriptor) {
	if e.IsZero() || e.Kind == workflow.Literal {
		return
	}
	mistakes, result := c.look(p, e)
	for _, m := range mistakes {
		at := e.Place
		if at == (workflow.Place{}) && p.a != nil {
			at = p.a.Place
		}
		c.report(p, at, workflow.Problem{
			Code: m.Code, Detail: what + ": " + m.Detail, Warning: m.Warning, Meant: m.Meant,
			Within: workflow.Within{Text: m.Text, Offset: m.Offset},
		})
	}
	if len(mistakes) == 0 {
		c.fits(p, e, result, in, what)
	}
}

// elsa tells whether the definition is Elsa's JSON, in which inputs need no declaration.
func (c *checker) elsa() bool { return c.def.Root.Place.Pointer != "" }

func (c *checker) typeOf(p place, e workflow.Expression) string {
	_, result := c.look(p, e)
	return result
}

// look asks the language of an expression.
func (c *checker) look(p place, e workflow.Expression) ([]engine.Mistake, string) {
	ch := c.evals[e.Kind]
	if ch == nil || c.mute && e.Kind != workflow.JavaScript && e.Kind != workflow.CSharp {
		return nil, ""
	}
	if c.spent += (1 + len(p.variables) + len(c.def.Inputs) + len(c.made)) * weight(e.Value, 0); c.spent > mostWork {
		return nil, ""
	}
	names := &engine.Names{
		Inputs: map[string]string{}, MoreInputs: c.def.Options.AdditionalInputs || c.elsa() && len(c.def.Inputs) == 0, Undeclared: !c.def.Options.AdditionalInputs, Variables: p.variables,
		Made: c.made, MoreVariables: c.more, Activities: c.activities, MoreActivities: c.derived, Outputs: c.outputs, Given: c.given, MoreGiven: c.moreGiven,
	}
	for _, in := range c.def.Inputs {
		names.Inputs[in.Name] = alias(in.Type, in.IsArray)
	}
	mistakes, result := ask(ch, e, names)
	c.more, c.moreGiven = c.more || names.MoreVariables, c.moreGiven || names.MoreGiven
	return mistakes, result
}

// ask asks the language. A bug of the library that reads it finds nothing: the compiler says so.
func ask(ch engine.Checker, e workflow.Expression, names *engine.Names) (mistakes []engine.Mistake, result string) {
	defer func() {
		if recover() != nil {
			mistakes, result = nil, ""
		}
	}()
	return ch.Check(e, names)
}

// weight is what a look at a value costs for each name: one for every value in it and every few bytes.
func weight(v any, depth int) int {
	const least = 8 // what is made for each look has each name
	sum := least
	switch v := v.(type) {
	case string:
		return sum + len(v)/4
	case []any:
		for _, kid := range v {
			if depth < mostDepth {
				sum += weight(kid, depth+1)
			}
		}
	case map[string]any:
		for _, kid := range v {
			if depth < mostDepth {
				sum += weight(kid, depth+1)
			}
		}
	}
	return sum
}

// fits reports a result that its place cannot take.
func (c *checker) fits(p place, e workflow.Expression, result string, in workflow.InputDescriptor, what string) {
	verdict := takes(strings.ToLower(listAlias(in.Type)), result)
	if verdict == fine {
		if in.Type == "String" && (result == "Object[]" || result == "Map") && slices.Contains(words, in.Name) {
			c.report(p, e.Place, warning("type-mismatch", "%s is %s, whose JSON is the text then", what, kindOf(result)))
		}
		return
	}
	q := problem("type-mismatch", "%s is %s, and %s is wanted", what, kindOf(result), wanted(in.Type))
	if q.Warning = verdict == doubtful; q.Warning {
		q.Detail += "; a text is one only if it is written like one"
	}
	c.report(p, e.Place, q)
}

// words are inputs that are a name or an address: a list or an object is hardly meant.
var words = []string{"correlationId", "eventName", "taskName", "url", "path", "workflowDefinitionId", "outputName", "contentType", "authorization", "method"}

type verdict int

const (
	fine verdict = iota
	doubtful
	wrong
)

// takes tells whether a value of what an expression gives becomes what is wanted, as
// [engine.Convert] has it.
func takes(want, result string) verdict {
	switch want {
	case "boolean", "bool":
		return among(result, "Object[]", "Map", "DateTimeOffset").or(result == "String")
	case "int16", "int32", "int64", "byte", "short", "int", "integer", "long", "httpstatuscode":
		return among(result, "Object[]", "Map", "DateTimeOffset").or(result == "String")
	case "single", "double", "decimal", "float", "number":
		return among(result, "Object[]", "Map", "DateTimeOffset", "Boolean").or(result == "String")
	case "timespan", "duration":
		return among(result, "Object[]", "Map", "DateTimeOffset", "Boolean", "Double")
	case "datetime", "datetimeoffset", "dateonly":
		return among(result, "Object[]", "Map", "Boolean")
	case "object[]":
		return among(result, "Map", "Boolean", "Double", "DateTimeOffset").or(result == "String")
	case "string[]":
		return among(result, "Map", "Boolean", "Double")
	}
	return fine
}

func among(result string, bad ...string) verdict {
	if slices.Contains(bad, result) {
		return wrong
	}
	return fine
}

func (v verdict) or(doubt bool) verdict {
	if v == fine && doubt {
		return doubtful
	}
	return v
}

func kindOf(result string) string {
	switch result {
	case "Boolean":
		return "true or false"
	case "Double":
		return "a number"
	case "Object[]":
		return "a list"
	case "Map":
		return "an object"
	case "DateTimeOffset":
		return "a time"
	}
	return "a text"
}

func wanted(typ string) string {
	switch strings.ToLower(listAlias(typ)) {
	case "boolean", "bool":
		return "true or false"
	case "timespan", "duration":
		return "a duration"
	case "datetime", "datetimeoffset", "dateonly":
		return "a time"
	case "object[]", "string[]":
		return "a list"
	case "httpstatuscode":
		return "an HTTP status"
	}
	return "a number"
}

// declarations looks at what the definition declares.
func (c *checker) declarations() {
	variables := func(vars []workflow.Variable) {
		for _, v := range vars {
			c.initial(v.Value, alias(v.Type, v.IsArray), "the initial value of variable "+v.Name, v.Place)
			c.declaredType(v.Type, v.StorageDriver, "variable "+v.Name, v.Place)
		}
	}
	variables(c.def.Variables)
	for _, in := range c.def.Inputs {
		c.initial(in.Default, alias(in.Type, in.IsArray), "the default of input "+in.Name, in.Place)
		c.declaredType(in.Type, in.StorageDriver, "input "+in.Name, in.Place)
	}
	for _, o := range c.def.Outputs {
		c.declaredType(o.Type, "", "output "+o.Name, c.def.Place)
	}
	workflow.Walk(c.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		variables(a.Variables)
		if a.CanStart {
			c.trigger(a)
		}
		return true
	})
}

// initial reports a declared value of a list that is none. The compiler looks at others.
func (c *checker) initial(v any, typ, what string, at workflow.Place) {
	c.fixed(v, what, at)
	envelope(c, place{}, at, workflow.Expression{Kind: workflow.Literal, Value: v}, what)
	fits(c, v, typ, what, at)
	if v == nil || !strings.HasSuffix(typ, "[]") {
		return
	}
	if s, ok := v.(string); ok && strings.TrimSpace(s) == "" {
		return
	}
	want := "Object[]"
	if c.elsa() { // one text is a list of one there
		want = listAlias(typ)
	}
	items, err := engine.Convert(v, want)
	if err != nil {
		c.report(place{}, at, problem("bad-literal", "%s: %v", what, err))
		return
	}
	list, _ := items.([]any)
	for _, it := range list {
		fits(c, it, strings.TrimSuffix(typ, "[]"), "an item of "+what, at)
		if _, err := engine.Convert(it, strings.TrimSuffix(typ, "[]")); err != nil {
			c.report(place{}, at, warning("type-mismatch", "an item of %s: %v", what, err))
			return
		}
	}
}

// trigger reports inputs that a trigger has none to give for.
func (c *checker) trigger(a *workflow.Activity) {
	if d := c.describe(a); d == nil || !d.Trigger {
		return
	}
	for _, in := range c.def.Inputs {
		if in.Required && in.Default == nil {
			c.report(place{a: a}, a.Place, warning("trigger-without-input", "the input %s is required, and a start by this trigger brings none: it would fault; give the input a default", in.Name))
			return
		}
	}
}
