package csharp

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// declaredTypes are those of the variables that the scripts of the tests read.
var declaredTypes = map[string]string{
	"Name": "String", "Age": "Int32", "Price": "Double", "Total": "Decimal", "Flag": "Boolean", "Big": "Int64", "Tags": "String[]", "Numbers": "List<Int32>", "Order": "IDictionary<String, Object>",
	"Due": "DateTime", "Wait": "TimeSpan", "Empty": "String", "Nothing": "Int32", "J": "ExpandoObject", "Any": "Object", "Id": "Guid", "small": "String", "Single": "Single", "Texts": "Int32[]", "Wide": "Int32", "Days": "List<DateTime>", "Gaps": "Object", "Rows": "Object",
}

// someone has the values of them.
func someone() *expressiontest.Scope {
	s := expressiontest.Example()
	s.Vars = map[string]any{
		"Name": "Ann", "Age": int64(41), "Price": 12.5, "Total": 19.99, "Flag": true, "Big": int64(5_000_000_000), "Tags": []any{"a", "b"}, "Numbers": []any{int64(1), int64(2), int64(3)},
		"Order": map[string]any{"id": "A-1", "n": int64(2)}, "Due": "2026-03-31T10:20:30Z", "Wait": "01:30:00", "Empty": nil, "Nothing": nil, "Any": int64(7), "small": "s", "Single": 1.5, "Texts": []any{"1"}, "Wide": int64(5_000_000_000),
		"Days": []any{"2024-05-06T00:00:00Z", "2026-05-06T00:00:00Z"}, "Gaps": []any{int64(1), nil}, "Rows": []any{[]any{int64(1)}, []any{int64(2)}},
		"Id": "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
		"J":  map[string]any{"a": int64(1), "b": 2.5, "name": "x", "list": []any{int64(1), int64(2), int64(3)}, "no": nil, "inner": map[string]any{"k": "v"}},
	}
	return s
}

func typesOf(in map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { alias, ok := in[name]; return alias, ok }
}

// run evaluates a script with the declared types.
func run(t *testing.T, s engine.Scope, source string) (any, error) {
	t.Helper()
	c, err := Evaluator{}.CompileTyped(workflow.Expression{Kind: workflow.CSharp, Value: source}, typesOf(declaredTypes), typesOf(map[string]string{"orderId": "String", "amount": "Int32"}))
	if err != nil {
		return nil, err
	}
	return c.Eval(t.Context(), s)
}

// values are scripts with what they give by the specification of C# and the documentation of .NET (9, invariant culture).
var values = []struct {
	source string
	want   any
}{
	// whole numbers
	{"7 / 2", int64(3)},
	{"-7 / 2", int64(-3)},
	{"7 % 3", int64(1)},
	{"-7 % 3", int64(-1)},
	{"-4 % 2", int64(0)},
	{"7 / 2.0", 3.5},
	{"1 / 2 * 2", int64(0)},
	{"2 + 3 * 4", int64(14)},
	{"(2 + 3) * 4", int64(20)},
	{"5 - 3 - 1", int64(1)},
	{"10 - (4 - 1)", int64(7)},
	{"var x = int.MaxValue; return x + 1;", int64(-2147483648)},
	{"var x = int.MaxValue; return x * 2;", int64(-2)},
	{"var x = 65536; return x * x;", int64(0)},
	{"var a = 2147483647; var b = a + a + a; return b;", int64(2147483645)},
	{"var x = int.MinValue; return -x;", int64(-2147483648)},
	{"long x = int.MaxValue; return x + 1;", int64(2147483648)},
	{"var i = 5; i /= 2; return i;", int64(2)},
	{"var i = 7; i += 3; i -= 1; i *= 2; i %= 5; return i;", int64(3)},
	{"var i = 10; i *= 1; double d = i; d /= 4; return d;", 2.5},
	{"int i = 5; i += 2; i++; --i; return i;", int64(7)},
	{"(int)3.9", int64(3)},
	{"(int)-3.9", int64(-3)},
	{"(double)7 / 2", 3.5},
	{"(long)3 + 4", int64(7)},
	{"(int)'A'", int64(65)},
	{"(char)66", "B"},
	{"-(-5)", int64(5)},
	{"0x1F", int64(31)},
	{"0b101", int64(5)},
	{"1_000", int64(1000)},
	{"007", int64(7)},
	{"var z = 0; return -z;", int64(0)},
	{"Math.Abs(-5)", int64(5)},
	{"Variables.Age / 2", int64(20)},
	{"Variables.Nothing + 1", int64(1)},
	{"Variables.Big * 2", int64(10_000_000_000)},
	{"Variables.Big / 3", int64(1_666_666_666)},
	{"Variables.Big", int64(5_000_000_000)},
	// numbers with fractions
	{"0.1 + 0.2", 0.30000000000000004},
	{"0.1m + 0.2m", 0.3},
	{"0.1m + 0.2m == 0.3m", true},
	{"1.1m * 3", 3.3},
	{"10m / 4", 2.5},
	{"7m % 3", int64(1)},
	{"-7.5m % 2", -1.5},
	{"Variables.Total * 3", 59.97},
	{"Variables.Price * 2", int64(25)},
	{"(decimal)0.1 + 0.2m", 0.3},
	{"Math.Round(2.5)", int64(2)},
	{"Math.Round(3.5)", int64(4)},
	{"Math.Round(-2.5)", int64(-2)},
	{"Math.Round(2.345m, 2)", 2.34},
	{"Math.Round(2.355m, 2)", 2.36},
	{"Math.Round(2.5, MidpointRounding.AwayFromZero)", int64(3)},
	{"Math.Round(2.345m, 2, MidpointRounding.AwayFromZero)", 2.35},
	{"Math.Max(3, 7)", int64(7)},
	{"Math.Min(1, 2.5)", int64(1)},
	{"Math.Floor(2.7)", int64(2)},
	{"Math.Ceiling(2.1)", int64(3)},
	{"Math.Truncate(-2.7)", int64(-2)},
	// texts that are joined
	{`"a" + 1`, "a1"},
	{`1 + 2 + "a"`, "3a"},
	{`"a" + 1 + 2`, "a12"},
	{`"a" + (1 + 2)`, "a3"},
	{`"x" + true`, "xTrue"},
	{`"x" + null`, "x"},
	{`"x" + 'c'`, "xc"},
	{`"v" + 1.0`, "v1"},
	{`"v" + 1.5`, "v1.5"},
	{`"v" + 1e20`, "v1E+20"},
	{`"v" + 1e15`, "v1E+15"},
	{`"v" + 1e14`, "v100000000000000"},
	{`"v" + 0.0001`, "v0.0001"},
	{`"v" + 0.00001`, "v1E-05"},
	{`"v" + 1.0 / 3`, "v0.3333333333333333"},
	{`"v" + 0.1m`, "v0.1"},
	{`Variables.Empty + "x"`, "x"},
	{`"n" + Variables.Nothing`, "n0"},
	{`"f" + Variables.Flag`, "fTrue"},
	{`"b" + Variables.Big`, "b5000000000"},
	{`"g" + Guid.Empty`, "g00000000-0000-0000-0000-000000000000"},
	{`"s" + TimeSpan.FromSeconds(90)`, "s00:01:30"},
	{`var s = "a"; s += 1; s += 'b'; return s;`, "a1b"},
	{`"a" + "b".ToUpper()`, "aB"},
	// comparisons
	{`"a" == "a"`, true},
	{`"a" != null`, true},
	{"1 == 1.0", true},
	{"Variables.Empty == null", true},
	{"null != Variables.Name", true},
	{"Variables.Age == 41", true},
	{`Variables.Name == "ann"`, false},
	{"'a' == 'a'", true},
	{"'a' < 'b'", true},
	{"true && !false || false", true},
	{`Variables.Flag ? "y" : "n"`, "y"},
	{"Variables.Age > 18 && Variables.Name.Length == 3", true},
	{"Variables.Age is > 40 and < 50", true},
	{"Variables.Empty is null", true},
	{"Variables.Name is not null", true},
	{"Variables.Age is 1 or 41", true},
	{"(1 > 2) == false", true},
	// texts with holes
	{`$"{Variables.Name} is {Variables.Age}"`, "Ann is 41"},
	{`$"{12.5:F2}"`, "12.50"},
	{`$"{1234567.891:N2}"`, "1,234,567.89"},
	{`$"{-1234.5:N0}"`, "-1,235"},
	{`$"{5,4}|{5,-4}|"`, "   5|5   |"},
	{`$"{1.5,8:F1}|"`, "     1.5|"},
	{`$"{42:D5}"`, "00042"},
	{`$"{-42:D5}"`, "-00042"},
	{`$"{255:X}{255:x4}"`, "FF00ff"},
	{`$"{-1:X}"`, "FFFFFFFF"},
	{`$"{Variables.Flag}"`, "True"},
	{`$"{{x}}"`, "{x}"},
	{`$"${1}"`, "$1"},
	{`$"a${{b}}"`, "a${b}"},
	{"$\"`{1}\\\\\"", "`1\\"},
	{`$"{Variables.Due:yyyy-MM-dd}"`, "2026-03-31"},
	{`$"{(true ? "a" : "b")}"`, "a"},
	{`$"{Variables.Empty}x"`, "x"},
	{`$"{0.125:F2}"`, "0.13"},
	{`$"{2.5:F0}"`, "3"},
	{`$"{1.005:F2}"`, "1.00"},
	{`$"{1.005:0.00}"`, "1.01"},
	{`$"{1.005m:F2}"`, "1.01"},
	{`$"{-0.001:F2}"`, "-0.00"},
	{`$"{-0.001m:F2}"`, "0.00"},
	{`$"{1234.5:#,##0.00}"`, "1,234.50"},
	{`$"{0.5:#.##}"`, ".5"},
	{`$"{7:000}"`, "007"},
	{`$"{0:#,##0}"`, "0"},
	{`$@"a\{1}""b"`, `a\1"b`},
	{"$\"\"\"\n  {\"a\"}: {1}\n    x\n  \"\"\"", "a: 1\n  x"},
	{`$$"""{ "n": {{1 + 1}} }"""`, `{ "n": 2 }`},
	{`@"a\b"`, `a\b`},
	{`"tab\tA😀"`, "tab\tA😀"},
	{`$"{$"{1}"}"`, "1"},
	{`string.Format("{0}-{1:N1}", "a", 1234.56)`, "a-1,234.6"},
	{`string.Format("{1}{0}{{}}", 1, "b")`, "b1{}"},
	// members of texts
	{`"Hello".Substring(1, 3)`, "ell"},
	{`"Hello".Substring(2)`, "llo"},
	{`"a-b-a".Replace("a", "x")`, "x-b-x"},
	{`"a$b".Replace("b", "$&")`, "a$$&"},
	{`"a,b,,c".Split(',').Length`, int64(4)},
	{`"a,b,,c".Split(',', StringSplitOptions.RemoveEmptyEntries).Length`, int64(3)},
	{`" a , b ".Split(",", StringSplitOptions.TrimEntries)[1]`, "b"},
	{`"a b;c".Split(new[] { ' ', ';' }).Length`, int64(3)},
	{`string.Join("-", "a b".Split(' '))`, "a-b"},
	{`string.Join(", ", new List<object> { 1, true, null, "x" })`, "1, True, , x"},
	{`"abc".PadLeft(5, '.') + "abc".PadRight(5) + "|"`, "..abcabc  |"},
	{`"  x ".Trim() + "xxaxx".Trim('x')`, "xa"},
	{`"straße".ToUpper()`, "STRAßE"},
	{`"ABC".ToLower()`, "abc"},
	{`"Hello".Contains("ell")`, true},
	{`"Hello".Contains("ELL")`, false},
	{`"Hello".Contains("ELL", StringComparison.OrdinalIgnoreCase)`, true},
	{`"Hello".StartsWith("He") && "Hello".EndsWith('o')`, true},
	{`"hello".IndexOf('l')`, int64(2)},
	{`"hello".LastIndexOf('l')`, int64(3)},
	{`string.IsNullOrEmpty("") && string.IsNullOrWhiteSpace(" \t")`, true},
	{`"abc"[1]`, "b"},
	{`"abc".Length`, int64(3)},
	{`"😀".Length`, int64(2)},
	{`"a".Equals("A", StringComparison.OrdinalIgnoreCase)`, true},
	{`string.Equals("a", null)`, false},
	{"5.ToString() + 5.ToString(\"D3\")", "5005"},
	{"true.ToString()", "True"},
	{`12.55.ToString("F1")`, "12.6"},
	{"string.Empty", ""},
	{`char.IsDigit("a1"[1])`, true},
	// conversions
	{`int.Parse("42") + 1`, int64(43)},
	{`int.Parse(" -42 ")`, int64(-42)},
	{`double.Parse("1.5") * 2`, int64(3)},
	{`decimal.Parse("1,234.5")`, 1234.5},
	{`bool.Parse("TRUE")`, true},
	{`Convert.ToInt32("7") + Convert.ToInt32(true)`, int64(8)},
	{"Convert.ToInt32(2.5)", int64(2)},
	{"Convert.ToInt32(3.5)", int64(4)},
	{"Convert.ToString(true)", "True"},
	{`int.TryParse("12", out var n) ? n : -1`, int64(12)},
	{`if (int.TryParse("x", out int n)) { return n; } return n;`, int64(0)},
	{`double d; var ok = double.TryParse("1.5", out d); return ok ? d + 1 : 0;`, 2.5},
	// null
	{"Variables.Empty?.Length ?? -1", int64(-1)},
	{"Variables.Name?.Length", int64(3)},
	{`Variables.Empty ?? "d"`, "d"},
	{"Variables.Name?.ToUpper()", "ANN"},
	{"Variables.Empty?.ToUpper().Trim()", nil},
	{"int? x = null; return x ?? 5;", int64(5)},
	{"int? x = 3; return x.HasValue ? x.Value + 1 : 0;", int64(4)},
	{"string s = null; s ??= \"z\"; return s;", "z"},
	{"Variables.Tags?[0]", "a"},
	// times
	{`new DateTime(2024, 2, 28).AddDays(2).ToString("yyyy-MM-dd")`, "2024-03-01"},
	{"new DateTime(2024, 1, 31).AddMonths(1).Day", int64(29)},
	{"new DateTime(2024, 2, 29).AddYears(1).Day", int64(28)},
	{"(new DateTime(2024, 1, 3) - new DateTime(2024, 1, 1)).TotalHours", int64(48)},
	{"new DateTime(2024, 1, 1).DayOfWeek.ToString()", "Monday"},
	{"new DateTime(2024, 1, 1).DayOfWeek == DayOfWeek.Monday", true},
	{"new DateTime(2024, 12, 31).DayOfYear", int64(366)},
	{"DateTime.UtcNow.Year", int64(2026)},
	{`DateTime.UtcNow.AddDays(1).ToString("dd.MM.yyyy HH:mm")`, "03.01.2026 03:04"},
	{"new DateTime(2024, 5, 6) < new DateTime(2024, 5, 7)", true},
	{"new DateTime(2024, 5, 6) == new DateTime(2024, 5, 6)", true},
	{"Variables.Due.Month", int64(3)},
	{"Variables.Due.AddMonths(-1).Day", int64(28)},
	{`DateTime.Parse("2024-05-06").Day`, int64(6)},
	{`new DateTime(2024, 5, 6, 13, 4, 5).ToString("hh:mm tt, ddd d MMM")`, "01:04 PM, Mon 6 May"},
	{"Variables.Due.Date", "2026-03-31T00:00:00Z"},
	{"TimeSpan.FromMinutes(90)", "01:30:00"},
	{"TimeSpan.FromMinutes(90).TotalHours", 1.5},
	{"TimeSpan.FromMinutes(90).Minutes", int64(30)},
	{"Variables.Wait + TimeSpan.FromHours(1)", "02:30:00"},
	{"Variables.Wait > TimeSpan.FromHours(1)", true},
	{"-TimeSpan.FromHours(1)", "-01:00:00"},
	{"new TimeSpan(1, 2, 3).ToString()", "01:02:03"},
	{`new TimeSpan(1, 2, 3).ToString(@"hh\:mm")`, "01:02"},
	{`$"{new TimeSpan(1, 2, 3):hh\\:mm}"`, "01:02"},
	{"Variables.Due + TimeSpan.FromDays(1)", "2026-04-01T10:20:30Z"},
	{`Variables.Id.ToString("N")`, "6f9619ff8b86d011b42d00cf4fc964ff"},
	{`Variables.Id == Guid.Parse("6F9619FF-8B86-D011-B42D-00CF4FC964FF")`, true},
	// statements
	{"var s = 0; for (int i = 0; i < 5; i++) { s += i; } return s;", int64(10)},
	{"var s = 0; for (int i = 0, j = 5; i < j; i++, j--) s += j; return s;", int64(12)},
	{"var i = 0; while (true) { i++; if (i == 3) continue; if (i > 5) break; } return i;", int64(6)},
	{"var i = 0; do { i++; } while (i < 3); return i;", int64(3)},
	{"var s = \"\"; foreach (var c in \"abc\") { s = c + s; } return s;", "cba"},
	{"var s = 0; foreach (int n in Variables.Numbers) s += n; return s;", int64(6)},
	{"if (Variables.Age > 50) { return 1; } else if (Variables.Age > 40) { return 2; } else { return 3; }", int64(2)},
	{"switch (Variables.Name) { case \"Bob\": return 1; case \"Ann\": case \"Eve\": return 2; default: return 3; }", int64(2)},
	{"var r = 0; switch (Variables.Age) { case 41: r = 1; break; default: r = 2; break; } return r;", int64(1)},
	{`Variables.Age switch { 41 => "x", _ => "y" }`, "x"},
	{`5 switch { < 3 => "s", >= 3 and < 10 => "m", _ => "l" }`, "m"},
	{"var a = 1; { var b = 2; a += b; } a + 1", int64(4)},
	{"var let = 1; var arguments = 2; return let + arguments;", int64(3)},
	{"const int Most = 3; return Most;", int64(3)},
	{"using System;\nreturn 1;", int64(1)},
	{"// a comment\n/* another */ return 1", int64(1)},
	{"var x = 5;", nil},
	{"", nil},
	// lists, dictionaries, objects
	{"var l = new List<int> { 1, 2 }; l.Add(3); return l.Count;", int64(3)},
	{"var l = new List<int>(); l.Add(3); l.Insert(0, 1); l.RemoveAt(1); return l;", []any{int64(1)}},
	{"new[] { 1, 2, 3 }[1]", int64(2)},
	{"new string[] { \"a\" }.Length", int64(1)},
	{"List<string> l = [\"a\", \"b\"]; l[0] = \"z\"; return l;", []any{"z", "b"}},
	{"Variables.Tags.Contains(\"b\")", true},
	{"new Dictionary<string, object> { [\"k\"] = new { a = 1, B = \"x\" } }", map[string]any{"k": map[string]any{"a": int64(1), "B": "x"}}},
	{"var d = new Dictionary<string, int> { { \"a\", 1 } }; d[\"b\"] = 2; d[\"a\"] += 5; return d[\"a\"] + d.Count;", int64(8)},
	{"var s = \"\"; foreach (var kv in new Dictionary<string, int> { [\"a\"] = 1 }) s += kv.Key + kv.Value; return s;", "a1"},
	{"var d = new Dictionary<string, int>(); return d.ContainsKey(\"x\");", false},
	{"var o = new { Name = Variables.Name, Variables.Age }; return o.Name + o.Age;", "Ann41"},
	{"Variables.Order[\"id\"]", "A-1"},
	{"(int)Variables.Order[\"n\"] + 1", int64(3)},
	// dynamic and object
	{"dynamic x = Variables.J; return x.a;", int64(1)},
	{"Variables.J.a + 1", int64(2)},
	{`Variables.J.name + "!"`, "x!"},
	{"Variables.J.b * 2", int64(5)},
	{`Variables.J.name == "x"`, true},
	{"Variables.J.no == null", true},
	{"var s = 0; foreach (var i in Variables.J.list) { s += (int)i; } return s;", int64(6)},
	{"((string)Variables.J.name).ToUpper()", "X"},
	{"Variables.J.inner.k", "v"},
	{`$"{Variables.J.b}{Variables.J.no}{Variables.Any}"`, "2.57"},
	{"(int)Variables.Any / 2", int64(3)},
	{"int n = Variables.J.a; return n / 2;", int64(0)},
	{"dynamic o = new ExpandoObject(); o.x = 1; return o;", map[string]any{"x": int64(1)}},
	// what Elsa gives
	{`Variable.Get<int>("Age") + 1`, int64(42)},
	{`Variables.Get<string>("Age")`, "41"},
	{`Variables.Get("Name")`, "Ann"},
	{`Variables.Get<int>("None")`, int64(0)},
	{"Variables.Small", "s"},
	{`Variable.Set("Name", "Bob"); return Variable.Name;`, "Bob"},
	{"Variables.Age++; return Variables.Age;", int64(42)},
	{"Variables.Age += 2; Variables.Age", int64(43)},
	{`Input.Get<string>("orderId")`, "A-1"},
	{"Input.orderId", "A-1"},
	{"Inputs.amount / 7", int64(214)},
	{`ExecutionContext.GetVariable<string>("Name")`, "Ann"},
	{"WorkflowInstanceId == null", false},
	// what a reviewer found
	{"var x = 20; return x is 20 or > 5 and < 10;", true},
	{"var x = 20; return x is > 5 and < 10 or 20;", true},
	{"20 switch { 20 or > 5 and < 10 => 1, _ => 2 }", int64(1)},
	{"Convert.ToString(5) + 1", "51"},
	{"string.Concat(1, 2)", "12"},
	{"string.Concat('a', 'b') + 1", "ab1"},
	{"Convert.ToString('c') + Convert.ToString(Guid.Empty).Length", "c36"},
	{"var n = 0; foreach (DateTime d in (List<object>)Variables.Days) if (d > new DateTime(2026, 1, 1)) n++; return n;", int64(1)},
	{"var l = (List<int?>)Variables.Gaps; return l[1] ?? 7;", int64(7)},
	{"var l = (List<List<object>>)Variables.Rows; return (int)l[1][0];", int64(2)},
	{"var a = (List<object>)Variables.J.list; List<dynamic> b = a; return b.Count;", int64(3)},
	{`var s = ""; for (var t = $"{1},\n{2}\t"; s == ""; s = t) { } return s;`, "1,\n2\t"},
	{"var s = \"\"; for (var t = @$\"a;\nlet {1}\"; s == \"\"; s = t) { } return s;", "a;\nlet 1"},
	{`(string)null + "a"`, "a"},
	{`(string)null + (string)null`, ""},
	{`string s = "x"; switch (s) { case null: return 1; default: return 2; }`, int64(2)},
	{"long x = 3000000000; return x + 1;", int64(3000000001)},
	{"3000000000L * 2", int64(6000000000)},
	{"double d = 4000000000; return d / 2;", int64(2000000000)},
	{"new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.Zero).Hour", int64(3)},
	{`$"{-0.0}"`, "-0"},
	{`$"{-0}{-0m}"`, "00"},
	{`"hello".LastIndexOf("l") + "abc".LastIndexOf("") + "abc".LastIndexOf("x")`, int64(5)},
	{`int n; int.TryParse("12", out n); return n;`, int64(12)},
	{`int.TryParse("12", out var n); return n;`, int64(12)},
	{"var x = 0; switch (1) { case 1: { x = 2; break; } default: { return 9; } } return x;", int64(2)},
	{"var @if = 1; @if += 1; return @if;", int64(2)},
	{`double.TryParse("2024-01-02", out var d) || double.TryParse("", out d) || double.TryParse("x", out d)`, false},
	{`DateTime.TryParse("no", out var d) || DateTime.TryParse("2024-02-30", out d) || DateTime.TryParse("12x", out d) || DateTime.TryParse("20240101", out d)`, false},
	{`long.TryParse("99999999999999999999", out var n) || long.TryParse("1.5", out n) || TimeSpan.TryParse("x", out var t)`, false},
	{`Guid.TryParse("x", out var g) || decimal.TryParse("1e5", out var d)`, false},
	{`CorrelationId = "c-" + 1; return CorrelationId;`, "c-1"},
}

func TestValues(t *testing.T) {
	t.Parallel()
	if len(values) < 100 {
		t.Fatalf("%d scripts", len(values))
	}
	for _, c := range values {
		got, err := run(t, someone(), c.source)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			js, _, _ := translate(c.source, names{typesOf(declaredTypes), typesOf(map[string]string{"orderId": "String", "amount": "Int32"})})
			t.Errorf("%s\ngives %#v, %v; in C# it is %#v\n%s", c.source, got, err, c.want, js)
		}
	}
}

// Refusals, with the place and a part of what is said.
var refusals = []struct {
	source       string
	line, column int
	says         string
}{
	{"Variables.Tags.Select(x => x)", 1, 23, "=>"},
	{"Variables.Tags.First()", 1, 16, "no LINQ"},
	{"var x = 1;\nreturn Variables.Tags.Any();", 2, 23, "no LINQ"},
	{"await Foo()", 1, 1, "await"},
	{"try { } catch { }", 1, 1, "try"},
	{"class A { }", 1, 1, "class"},
	{"int F() { return 1; }", 1, 5, "function"},
	{"var x = 1.5f;", 1, 9, "1.5f"},
	{"float f = 1;", 1, 1, "float"},
	{"Variables.Any + 1", 1, 15, "object + int"},
	{"Variables.Any == \"a\"", 1, 15, "(string)x"},
	{"Variables.Any.Length", 1, 15, "of an object"},
	{"Variables.J.a / 2", 1, 15, "dynamic"},
	{"Variables.Single + 1", 1, 11, "Single"},
	{"\"\" + Variables.Due", 1, 6, "format"},
	{"Variables.Due.ToString(\"d\")", 1, 15, "format d"},
	{"Variables.Price.ToString(\"C\")", 1, 17, "format C"},
	{"1.5m + 1.5", 1, 6, "decimal + double"},
	{"'a' + 1", 1, 5, "number in C#"},
	{"new JsonObject()", 1, 5, "JsonObject"},
	{"new HttpClient()", 1, 5, "SendHttpRequest"},
	{"Console.WriteLine(1)", 1, 1, "WriteLine"},
	{"JsonSerializer.Serialize(1)", 1, 1, "parseJson"},
	{"Variables.Name.Foo()", 1, 16, "Foo"},
	{"Variables.Name.length", 1, 16, "did you mean Length"},
	{"nobody", 1, 1, "nobody"},
	{"1 & 2", 1, 3, "operator &"},
	{"1 +", 1, 4, "end of the script"},
	{"\"abc", 1, 5, "does not end"},
	{"int x = \"a\";", 1, 9, "string where int"},
	{"int x = 1.5;", 1, 9, "double where int"},
	{"if (1) { }", 1, 5, "condition of type int"},
	{"int? x = 1; return x + 1;", 1, 22, "x ?? 0"},
	{"x = 5;", 1, 1, "the name x"},
	{"var i = 1; var j = i++;", 1, 21, "; is expected"},
	{"return new int[3];", 1, 15, "length"},
	{"switch (1) { case 1: Variables.Age = 2; case 2: return 1; }", 1, 22, "break"},
	{"Variables.Get<MyType>(\"x\")", 1, 15, "MyType"},
	{"#r \"x.dll\"", 1, 1, "directive"},
	{"List<string> l = new List<string>(); foreach (var x in l) { x = \"a\"; }", 1, 61, "giving a value"},
	{"typeof(int)", 1, 1, "typeof"},
	{"byte b = 3;", 1, 1, "type byte"},
	{"return (short)70000;", 1, 9, "type short"},
	{"string.Format(\"{0} {0}\", Guid.NewGuid())", 1, 15, "takes twice"},
	{"new List<DateTime> { DateTime.Now }.Contains(1)", 1, 46, "int where DateTime"},
	{"var a = new[] { 1, \"x\" };", 1, 9, "object[]"},
	{"Variables.Order == Variables.Order", 1, 17, "dictionary == dictionary"},
	{"$\"{Variables.Due:o}\"", 1, 4, "format o"},
	{"$\"{Variables.Age:N}\"", 1, 4, "format N"},
	{"Variables.Age.CompareTo(1)", 1, 15, "CompareTo"},
	{"var x = (1, 2);", 1, 9, "tuple"},
	{"Variables.Tags[^1]", 1, 16, "from the end"},
	{"Variables.Tags[0..1]", 1, 17, "range"},
	{"if (Variables.Name is string s) { }", 1, 23, "pattern"},
	{"static int x = 1;", 1, 1, "static"},
	{"var x = 9007199254740993;", 1, 9, "2^53"},
	{"Args.Get<string>(\"x\")", 1, 1, "JavaScript"},
	{"\n\n   goto x;", 3, 4, "goto"},
	{"var l = (List<DateTime>)Variables.Days;", 1, 9, "foreach (DateTime x in"},
	{"Variables.Get<List<Guid>>(\"Days\")", 1, 11, "list of Guid"},
	{"var d = (Dictionary<string, TimeSpan>)Variables.J;", 1, 9, "dictionary of TimeSpan"},
	{"var l = (List<List<int>>)Variables.Rows;", 1, 9, "list of list of int"},
	{"var o = new List<object> { 1 }; return ((List<int>)o)[0];", 1, 41, "list of object to a list of int"},
	{"var o = new List<int?> { 1 }; List<int> l = o;", 1, 45, "list of int? where list of int"},
	{"var o = new Dictionary<string, object>(); var d = (Dictionary<string, int>)o;", 1, 51, "dictionary of int"},
	{"foreach (int x in new List<int?> { 1 }) { }", 1, 14, "int? as int"},
	{"var a = new[] { 1, 2 }; a.Reverse();", 1, 27, "Reverse"},
	{"var a = new[] { 1, 2 }; a.Add(3);", 1, 27, "fixed"},
	{"dynamic d = 'c';", 1, 13, "write var"},
	{"object o = 1.5m;", 1, 12, "write var"},
	{"dynamic d = 1; d = 2.5m;", 1, 20, "write var"},
	{"return (object)'c' + \"\";", 1, 16, "forgets"},
	{"$\"{Variables.Any:X}\"", 1, 4, "format X"},
	{"var x = 3000000000;", 1, 9, "write it with L"},
	{"var x = 9007199254740992;", 1, 9, "below 2^53"},
	{"0x20000000000000L", 1, 1, "below 2^53"},
	{"var c = true ? 'a' : 1;", 1, 22, "(int)c"},
	{"1 switch { 1 => 2, _ => 'c' }", 1, 25, "(int)c"},
	{"new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.FromHours(2))", 1, 41, "offset"},
	{"DateTimeOffset.Parse(\"2026-01-02T03:04:05+02:00\")", 1, 16, "DateTime.Parse"},
	{"DateTimeOffset.TryParse(\"2026-01-02\", out var d)", 1, 16, "DateTime.TryParse"},
	{"new Dictionary<string, int> { [\"a\"] = 1, [\"a\"] = 2 }", 1, 43, "second key a"},
	{"new Dictionary<string, int> { { \"a\", 1 }, { \"a\", 2 } }", 1, 45, "second key a"},
	{"1.0.Equals(1)", 1, 5, "Equals of a double"},
	{"Variables.Due.ToString(\"HHH:mm\")", 1, 15, "format HHH:mm"},
	{"Variables.Due.ToString(\"ddddd\")", 1, 15, "format ddddd"},
	{"string[] a = { \"x\" };", 1, 14, "new[] { … }"},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		_, err := run(t, someone(), c.source)
		var bad *evaluation.Error
		if !errors.As(err, &bad) || bad.Kind != workflow.CSharp || bad.Line != c.line || bad.Column != c.column || !contains(bad.Message, c.says) {
			t.Errorf("%s\nis refused with %v; expected %d:%d … %s", c.source, err, c.line, c.column, c.says)
		}
	}
}

// Errors as it runs: what C# throws at is no value here.
var thrown = []string{
	"var z = 0; return 1 / z;", "var z = 0; return 1 % z;", "1m / (decimal)Variables.Nothing", "var x = int.MinValue; var y = -1; return x / y;", `"abc".Substring(2, 5)`, `int.Parse("x")`, `int.Parse("1.5")`, `int.Parse("3000000000")`,
	"var n = 0; foreach (var x in Variables.Texts) n += x; return n;", "Variables.Get<List<int>>(\"Tags\")", "Variables.Wide + 1",
	"Variables.Empty.Length", "Variables.Empty.Trim()", "Variables.Order[\"none\"]", "Variables.Tags[5]", "Variables.J.A", "Variables.J.name + 1 == 2", "(string)Variables.Any", "(int)Variables.J.b", "int n = Variables.J.name; return n;",
	"new DateTime(2024, 2, 30)", "5 switch { 1 => 2 }", "Variables.Big * Variables.Big", `throw new Exception("no");`, `var d = new Dictionary<string, int>(); d.Add("a", 1); d.Add("a", 2);`, `"a".Replace("", "b")`,
	`long.TryParse("9007199254740993", out var n)`, `DateTime.TryParse("March 5, 2026", out var d)`, `DateTime.TryParse("1/2/2026", out var d)`, `TimeSpan.TryParse("5", out var t)`, `double.TryParse("NaN", out var d)`, `double.TryParse("1e999", out var d)`,
	`decimal.TryParse("79100000000000000000000000000", out var d)`, `decimal.TryParse("5-", out var d)`, "long x = 9007199254740991; return x + 1;", "var l = (List<int>)Variables.Gaps;", "var l = (List<Dictionary<string, object>>)Variables.Rows;",
	"Variables.J.a == \"1\"", "dynamic x = 2147483647; return x + x;", "while (true) { }", `var s = "a"; while (true) { s += s; }`, `"a".PadLeft(2000000000)`, "(bool)Variables.J.a ? 1 : 2", "int? x = null; return x.Value;",
}

func TestWhatFails(t *testing.T) {
	t.Parallel()
	for _, source := range thrown {
		s := someone()
		s.Most = engine.Limits{Script: 100 * time.Millisecond, Output: 64 << 10}
		if got, err := run(t, s, source); err == nil {
			t.Errorf("%s gives %v", source, got)
		} else if bad := (*evaluation.Error)(nil); errors.As(err, &bad) && bad.Kind == workflow.CSharp {
			t.Errorf("%s is refused: %v", source, err)
		}
	}
}
