package js

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestJavaScriptValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		want   any
	}{
		{"1 + 1", int64(2)},
		{"", nil},
		{"undefined", nil},
		{"null", nil},
		{"true", true},
		{"0.5", 0.5},
		{"2 ** 53", int64(1 << 53)},
		{"2 ** 53 * 2", int64(1 << 54)},
		{"0/0", nil},
		{"'x'", "x"},
		{"`Child received: ${getMessage()}`", "Child received: hi"},
		{"\"Child: \" + getInput1();", "Child: one"},
		{"return getInput1();", "one"},
		{"if (inputs.amount > 1) { return 'big' }\nreturn 'small'", "big"},
		{"return", nil},
		{"let f = () => { return 3 }; f()", int64(3)},
		{"({ Message: 'Hello from parent' })", map[string]any{"Message": "Hello from parent"}},
		{"getTotal() + 1", int64(42)},
		{"getTotal() > 1", true},
		{"[1, 'a', [null], {b: undefined}]", []any{int64(1), "a", []any{nil}, map[string]any{}}},
		{"new Date(0)", "1970-01-01T00:00:00Z"},
		{"new Date()", "2026-01-02T03:04:05.006Z"},
		{"Date.now()", int64(1767323045006)},
		{"new Number(3)", int64(3)},
		{"new Error('x')", map[string]any{"name": "Error", "message": "x"}},
		{"(async () => 5)()", int64(5)},
		{"const x = 1; { let x = 2 } x", int64(1)},
		{"function f() { return 7 } f()", int64(7)},
		{"variables", expressiontest.Example().Vars},
		{"({...inputs})", expressiontest.Example().In},
		{"Object.keys(variables.order)", []any{"id", "lines"}},
		{"variables.order === variables.order", true},
		{"variables.missing", nil},
		{"'order' in variables", true},
		{"getVariable('order').lines.length", int64(2)},
		{"getCustomerName()", "Bob"},
		{"getOrder().id", "A-1"},
		{"getInput('orderId')", "A-1"},
		{"getInput('none')", nil},
		{"getAmount()", int64(1500)},
		{"getOutputFrom('ask')", "first"},
		{"getOutputFrom('ask', 'Result')", "answer"},
		{"getOutputFrom('nobody')", nil},
		{"getResultFromAsk()", "Answer"},
		{"getLastResult()", "last"},
		{"getWorkflowInstanceId()", "instance-1"},
		{"getWorkflowDefinitionId()", "definition-1"},
		{"getWorkflowDefinitionVersion()", int64(7)},
		{"getCorrelationId()", "corr"},
		{"getWorkflowInstanceName()", "my instance"},
		{"toJson({a: [1, '<']})", `{"a":[1,"<"]}`},
		{"parseJson('{\"a\": 1}').a", int64(1)},
		{"isNullOrEmpty(null) && isNullOrEmpty('') && !isNullOrEmpty(' ')", true},
		{"isNullOrWhiteSpace(' ')", true},
		{"stringToBase64('hé')", "aMOp"},
		{"stringFromBase64('aMOp')", "hé"},
		{"bytesToString(bytesFromString('hé'))", "hé"},
		{"bytesFromBase64('AQI=')", []any{int64(1), int64(2)}},
		{"bytesToBase64([1, 2])", "AQI="},
		{"getSecret('KEY')", "s3cret"},
		{"resumeUrl('ask', 'yes', '72h')", "https://x/links/ask-yes-72h0m0s"},
		{"`${secrets.KEY} ${secrets['KEY']}`", "s3cret s3cret"},
		{"newGuid() !== newGuid() && newGuidString().length == 36 && newShortGuid().length == 22", true},
		{"[new String('aé😀'), new Number(2), new Boolean(false)]", []any{"aé😀", int64(2), false}},
		{"const s = new String('a'); s.toString = () => 'b'; s", "a"},
		{"TimeSpan.FromMilliseconds(50)", "00:00:00.0500000"},
		{"TimeSpan.FromDays(1.5)", "1.12:00:00"},
		{"TimeSpan.FromHours(-25)", "-1.01:00:00"},
		{"TimeSpan.FromSeconds(90).TotalMinutes + ' ' + TimeSpan.FromMinutes(90).Minutes + ' ' + TimeSpan.FromDays(-2).Days", "1.5 30 -2"},
		{"'in ' + TimeSpan.FromSeconds(5) + `, ${TimeSpan.Zero}`", "in 00:00:05, 00:00:00"},
		{"({wait: TimeSpan.FromTicks(1)})", map[string]any{"wait": "00:00:00.0000001"}},
		{"JSON.stringify({wait: TimeSpan.FromMinutes(1)})", `{"wait":"00:01:00"}`},
		{"Guid.NewGuid() != Guid.NewGuid() && Guid.Empty.length == 36 && getGuidString().length == 36", true},
		{"DateTime.UtcNow.getTime() === new Date().getTime() && DateTimeOffset.Now.toISOString() === new Date().toISOString()", true},
		{"LogPersistenceMode.Include === 'Include' && WorkflowSubStatus.Faulted === 'Faulted'", true},
		{"[typeof TimeSpan, 'Zero' in TimeSpan, 'FromWeeks' in TimeSpan].join()", "object,true,false"},
		{"let TimeSpan = 7; TimeSpan", int64(7)},
		{"typeof nobody", "undefined"},
		{"typeof getNobody", "undefined"},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, c.source, expressiontest.Example())
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %#v, %v; want %#v", c.source, got, err, c.want)
		}
	}
}

func TestJavaScriptChangesTheScope(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	_, err := expressiontest.Eval(t.Context(), Evaluator{}, `
		setTotal(getTotal() + 1);
		setVariable('none', {a: [1]});
		variables.ratio = 0.25;
		variables.order.lines.push('z');
		setCorrelationId('c2');
		setWorkflowInstanceName('n2');
		setOutcomes('A', ['B']);
		setOutput('result', {x: 1});
	`, s)
	if err != nil {
		t.Fatal(err)
	}
	want := expressiontest.Example()
	want.Vars["Total"], want.Vars["none"], want.Vars["ratio"] = int64(42), map[string]any{"a": []any{int64(1)}}, 0.25
	want.Vars["order"].(map[string]any)["lines"] = []any{"x", "y", "z"}
	if !reflect.DeepEqual(s.Vars, want.Vars) || s.Correlation != "c2" || s.Name != "n2" ||
		!reflect.DeepEqual(s.Outcomes, []string{"A", "B"}) || !reflect.DeepEqual(s.Out, map[string]any{"result": map[string]any{"x": int64(1)}}) {
		t.Errorf("%+v", s)
	}
}

func TestJavaScriptNamesThePlaceOfAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source       string
		line, column int
		has          string
	}{
		{"1 +", 1, 4, "Unexpected end"},
		{"let a = 1;\nlet a = 2;", 2, 5, "already been declared"},
		{"return 1 +", 1, 0, "Unexpected"},
		{"nobody + 1", 1, 1, "ReferenceError: nobody is not defined"},
		{"return nobody", 1, 8, "nobody is not defined"},
		{"\n throw new Error('boom')", 2, 0, "boom"},
		{"throw {message: 'm'}", 1, 1, "m"},
		{"throw 'text'", 1, 1, "text"},
		{"throw null", 1, 1, "null"},
		{"setNobody(1)", 1, 0, "not defined"},
		{"setAmount(1)", 1, 10, "input amount cannot be set"},
		{"inputs.amount = 2", 1, 0, "cannot be set"},
		{"setVariable('nobody', 1)", 1, 0, `no variable "nobody"`},
		{"getSecret('nope')", 1, 0, "no secret nope"},
		{"secrets.nope", 1, 0, "no secret nope"},
		{"secrets.KEY = 1; secrets.KEY = 'x'; throw secrets.KEY", 1, 0, "s3cret"},
		{"() => 1", 0, 0, "function"},
		{"Symbol('x')", 0, 0, "symbol"},
		{"let a = []; a.push(a); a", 0, 0, "contains itself"},
		{"new Map()", 0, 0, "Map"},
		{"Promise.reject(new Error('no'))", 0, 0, "rejected"},
		{"new Promise(() => {})", 0, 0, "never resolved"},
		{"let f = () => f(); f()", 1, 0, "too many calls"},
		{"({get a() { throw new Error('got') }})", 1, 0, "got"},
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, c.source, expressiontest.Example())
		var e *evaluation.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v is not an *evaluation.Error", c.source, err)
			continue
		}
		if !strings.Contains(e.Message, c.has) || e.Line != c.line || c.column != 0 && e.Column != c.column || e.Kind != workflow.JavaScript {
			t.Errorf("%s: %+v", c.source, e)
		}
	}
}

// What a script does to globals and builtins is gone with it.
func TestJavaScriptLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	spoil := expressiontest.Compile(t, Evaluator{}, `
		leak = 1; var leak2 = 2; globalThis.leak3 = 3; this.leak4 = 4;
		Array.prototype.map = () => 'spoiled'; Object.prototype.leak5 = 5; String.prototype.trim = null;
		Math.floor = () => 'spoiled'; JSON.stringify = () => 'spoiled'; getTotal = () => 'spoiled';
		Symbol.for('leak').leak = 1; RegExp.prototype.exec = () => null; Date = null;
		variables.order.id = 'changed'; getInput('amount'); inputs`)
	look := expressiontest.Compile(t, Evaluator{}, `[
		typeof leak, typeof leak2, typeof leak3, typeof leak4, typeof leak5, typeof ({}).leak5, [1].map(x => x)[0],
		' a '.trim(), Math.floor(1.5), JSON.stringify([1]), getTotal(), /a/.test('a'), typeof Date ].join()`)
	s := expressiontest.Example()
	if _, err := spoil.Eval(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if s.Vars["order"].(map[string]any)["id"] != "changed" {
		t.Error("a change in place was not written back")
	}
	got, err := look.Eval(t.Context(), expressiontest.Example())
	want := "undefined,undefined,undefined,undefined,undefined,undefined,1,a,1,[1],41,true,function"
	if err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// The value that a script gets is a copy: changing an input, or a variable's
// former value, does not reach the engine's.
func TestJavaScriptWorksOnCopies(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["list"] = []any{"a"}
	before := s.Vars["order"]
	got, err := expressiontest.Eval(t.Context(), Evaluator{}, "inputs.list.push('b'); getOrder().lines.push('z'); throw new Error('x')", s)
	if err == nil {
		t.Fatal(got)
	}
	if !reflect.DeepEqual(s.In["list"], []any{"a"}) || !reflect.DeepEqual(before, expressiontest.Example().Vars["order"]) || !reflect.DeepEqual(s.Vars, expressiontest.Example().Vars) {
		t.Errorf("%+v %+v", s.In, s.Vars)
	}
}

// A script cannot tell two numbers apart that are one float64. Where they stand
// tells, as long as a list is as it came; else it is an error and no guess.
func TestJavaScriptDoesNotGuessANumber(t *testing.T) {
	t.Parallel()
	pair := []any{int64(9007199254740992), int64(9007199254740993)}
	for source, want := range map[string]any{
		"inputs.ids":                              pair,
		"({ids: inputs.ids})":                     map[string]any{"ids": pair},
		"inputs.both":                             map[string]any{"a": pair[0], "b": pair[1]},
		"inputs.both.c = 1, inputs.both":          map[string]any{"a": pair[0], "b": pair[1], "c": int64(1)},
		"inputs.both.a = 1, inputs.both":          map[string]any{"a": int64(1), "b": pair[1]},
		"inputs.ids[0]; inputs.ids.length":        int64(2),
		"inputs.ids.map(x => x)":                  nil,
		"[inputs.ids[1]]":                         nil,
		"inputs.ids[1]":                           nil,
		"inputs.ids.push(1), inputs.ids":          nil,
		"inputs.ids.map(x => x - x)":              []any{int64(0), int64(0)},
		"inputs.both.a + inputs.both.b > 2 ** 53": true,
	} {
		s := expressiontest.Example()
		s.In["ids"], s.In["both"] = pair, map[string]any{"a": pair[0], "b": pair[1]}
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s)
		if want == nil {
			if err == nil || !strings.Contains(err.Error(), "one to JavaScript") {
				t.Errorf("%s: got %#v, %v; want an error", source, got, err)
			}
		} else if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
}

func TestCheckKnowsTheNamesOfAScript(t *testing.T) {
	t.Parallel()
	names := func() *engine.Names {
		return &engine.Names{Inputs: map[string]string{"orderId": "String", "status": "String"}, Variables: map[string]string{"total": "Double", "order_id": ""}, Activities: map[string]*workflow.Descriptor{"pay": nil}}
	}
	for _, right := range []string{
		"inputs.orderId + variables.total + getTotal() + getOrderId() + setTotal(3)",
		"const {a, b: [c, ...d], ...e} = inputs.orderId; a + c + d + e",
		"let f = (x, {y, z = x}, ...rest) => x + y + z + rest.length; f(1)",
		"function g(n) { return n ? g(n - 1) : arguments.length } g(3)",
		"class A extends Array { m() { return new A(this.x) } } new A()",
		"try { JSON.parse(inputs.orderId) } catch (err) { err.message }",
		"for (const k in inputs) { k } for (i of [1]) { i } for (let j = 0; j < 2; j++) { j }",
		"out: for (;;) { break out }",
		"made = 1; made + 1",
		"({a, b} = inputs.orderId); a + b",
		"typeof nothing === 'undefined' ? Math.max(1, 2) : `${toJson(inputs)}`",
		`setVariable("fresh", 1); getVariable("fresh") + variables.fresh + getFresh()`,
		"variables.other = 1; variables.other",
		`getOutputFrom("pay", "x") + getAnyFromPay() + getResultFromPay()`,
		"return inputs.hasOwnProperty('orderId') && secrets.key",
		"var o = {orderId: 1, total() { return undefined }, get a() { return NaN }}; o.orderId",
		"new Date(2026, 1, 1).getTime() + newGuid() + isNullOrEmpty('') + globalThis.x",
		"inputs.ORDERID", // inputs are found whatever their capitals
		"setStatus(o, 'new'); return o; function setStatus(order, s) { order.status = s } var o = {}",
		"getSecret(); getInput(); function getSecret() {} function getInput() {}",
		"getVariable('nope') + getOutputFrom('nope', 'x'); function getVariable(n) {} function getOutputFrom(n, m) {}",
		"[].map(inputs => { inputs.total = 1; inputs.orderId.lenght; return inputs.nope })",
		"[].map(({variables}) => { variables.totl = 1; const {nope} = variables; return 'any' in variables })",
		"Math.rond(1); function Math() {}",
		"setOutcomes('a'); if (inputs.orderId) { setOutcomes() }",
	} {
		if found, _ := (Evaluator{}).Check(workflow.JS(right), names()); found != nil {
			t.Errorf("%s: %+v", right, found)
		}
	}
	for wrong, at := range map[string]int{
		"inputs.orderId + nope": 17, "return nope": 7, "(x => y)(1)": 6, "({a: nope})": 5, "({nope})": 2, "variables.nope": 10, "let a = b; let c = a": 8, "`${nope}`": 3, "nope()": 0,
		"inputs.orderId = 1": 7, "setStatus(1)": 0, "getSecret()": 0, "Math.rond(1)": 5, "variables.totl = 1": 10, "inputs.orderId.lenght": 15,
	} {
		found, _ := (Evaluator{}).Check(workflow.JS(wrong), names())
		if len(found) != 1 || found[0].Offset != at {
			t.Errorf("%s: %+v, not one at %d", wrong, found, at)
		}
	}
}
