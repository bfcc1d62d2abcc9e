package csharp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestWhatAScriptChanges(t *testing.T) {
	t.Parallel()
	s := someone()
	s.Vars["Made"] = nil
	if _, err := run(t, s, `Outcome.Set("Left", "Right"); WorkflowInstanceName = $"n{1}"; Variable.Set("Made", 1 / 2); Variables.Due = new DateTime(2024, 1, 2);`); err != nil {
		t.Fatal(err)
	}
	if s.Vars["Made"] != int64(0) || s.Vars["Due"] != "2024-01-02T00:00:00Z" || s.InstanceName() != "n1" || strings.Join(s.Outcomes, " ") != "Left Right" {
		t.Errorf("%v %v %q %v", s.Vars["Made"], s.Vars["Due"], s.InstanceName(), s.Outcomes)
	}
}

func TestTheReportHasTheTranslation(t *testing.T) {
	t.Parallel()
	e := workflow.Expression{Kind: workflow.CSharp, Value: `$"{Variable.Total}" + Variables.Nobody`}
	found, _ := Evaluator{}.Check(e, &engine.Names{Variables: map[string]string{"Total": "Decimal"}, Made: map[string]bool{}})
	codes := map[string]engine.Mistake{}
	for _, m := range found {
		codes[m.Code] = m
		if !m.Warning {
			t.Errorf("%+v is an error", m)
		}
	}
	if m := codes["translated"]; !contains(m.Detail, `CSharp.text((getVariable("Total") ?? 0), "decimal")`) {
		t.Errorf("%+v", found)
	}
	if m := codes["decimal-text"]; m.Offset != 3 || !contains(m.Detail, "0.00") {
		t.Errorf("%+v", m)
	}
	if m := codes["unknown-variable"]; m.Offset != 32 {
		t.Errorf("%+v", m)
	}
}

// Scripts of any length and depth are translated or refused, and what comes of them is bounded.
func TestBounds(t *testing.T) {
	t.Parallel()
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, source := range map[string]string{
		"brackets": many("(", 30_000) + "1", "closed": many("(", 200) + "1" + many(")", 200), "negations": many("!", 100_000) + "true", "minus": many("- ", 60_000) + "1",
		"sums": "1" + many("+1", 60_000), "texts": `"a"` + many(`+"b"`, 20_000), "types": many("List<", 25_000), "comparisons": many("a<", 60_000), "holes": many(`$"{`, 40_000), "blocks": many("{", 100_000),
		"ifs": many("if (true) ", 10_000) + ";", "else ifs": "if (true) {}" + many(" else if (true) {}", 3000), "conditions": many("true ? 1 : ", 10_000) + "2", "members": "Variables.Name" + many(".Trim()", 10_000),
		"coalesces": many("null ?? ", 15_000) + "1", "lists": many("new[] {", 18_000), "arms": many("1 switch { _ => ", 8000), "statements": many("Variables.Age = 1;\n", 6000), "switches": many("switch (1) { case 1: break; }", 4000),
		"fors": many("for (;;) ", 14_000), "casts": many("(int)", 25_000) + "1", "nots": "1 is " + many("not ", 30_000) + "1", "ors": "1 is 1" + many(" or 1", 20_000), "conditionals": "Variables.Name" + many("?.Trim()", 10_000),
		"dollars": many("$", 130_000) + `"`, "quotes": many(`"`, 130_000), "comments": many("/*", 60_000), "escapes": `"` + many(`\u`, 60_000), "numbers": many("1", 130_000), "names": many("a", 130_000), "nested": "new { a = " + many("new { a = ", 10_000),
	} {
		js, _, err := translate(source, names{})
		if len(js) > 2*mostText {
			t.Errorf("%s: %d bytes of JavaScript", name, len(js))
		}
		if err != nil && contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
		if refused := err != nil; name == "else ifs" && !refused {
			t.Errorf("%s are taken", name)
		}
	}
}

var pieces = []string{"Variables.Name", "Variables.Age", "Variables.J.a", "Variables.Any", "1", "2.5", "3m", `"a"`, "'c'", "null", "true", "x", "var x = ", "int ", "string s = ", "if (", "for (", "foreach (var y in ", "switch", "{", "}", "(", ")", "[", "]", ";", ",",
	".", "?.", "??", "?", ":", "=>", "=", "+=", "==", "<", ">", "+", "-", "*", "/", "%", "&&", "||", "!", "++", `$"{`, `}"`, `"""`, `@"`, "new ", "return ", "List<int>", "Trim()", "ToString()", "Length", " ", "\n", "out var n", "int.TryParse", "is ", "not ", "_", "case ", "default", "break;", `\`, "ß", "\x00"}

// Any text is translated or refused, without a panic, and what is translated can be compiled.
func TestAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(r, "pieces"), "")
		js, _, err := translate(source, names{typesOf(declaredTypes), typesOf(nil)})
		if err != nil && contains(err.Error(), "cannot be read") {
			r.Fatalf("%q: %v", source, err)
		}
		if len(js) > 4096+100*len(source) {
			r.Fatalf("%q becomes %d bytes", source, len(js))
		}
		if err == nil {
			if _, err := (Evaluator{}).CompileTyped(workflow.Expression{Kind: workflow.CSharp, Value: source}, typesOf(declaredTypes), typesOf(nil)); err != nil {
				r.Fatalf("%q: %v\n%s", source, err, js)
			}
		}
	})
}

func FuzzCSharp(f *testing.F) {
	for _, c := range values {
		f.Add(c.source)
	}
	for _, c := range refusals {
		f.Add(c.source)
	}
	f.Fuzz(func(t *testing.T, source string) { expressiontest.CheckSound(t, Evaluator{}, source) })
}
