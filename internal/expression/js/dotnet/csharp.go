package dotnet

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// csharp are the functions that translated C# calls, as members of CSharp: what C# does otherwise than JavaScript.
func csharp() map[string]member {
	out := map[string]member{}
	for _, of := range []map[string]func(h Host, c goja.FunctionCall) goja.Value{numbers, values, texts, times} {
		for name, fn := range of {
			out[name] = function(fn)
		}
	}
	return out
}

func (h Host) fail(format string, args ...any) goja.Value {
	panic(h.VM.NewTypeError(append([]any{format}, args...)...))
}

func isNull(v goja.Value) bool { return v == nil || goja.IsNull(v) || goja.IsUndefined(v) }

// number is a value that has to be a number.
func (h Host) number(v goja.Value) float64 {
	switch n := v.Export().(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	h.fail("this is not a number: %s", h.excerpt(v))
	return 0
}

func isNumber(v goja.Value) bool {
	switch v.Export().(type) {
	case int64, float64:
		return true
	}
	return false
}

func (h Host) excerpt(v goja.Value) string {
	if isNull(v) {
		return "null"
	}
	if _, object := v.(*goja.Object); object {
		return "an object"
	}
	s := []rune(v.String())
	return string(s[:min(len(s), 40)])
}

const most, mostInt = 1 << 53, math.MaxInt32

func (h Host) whole(kind string, f float64) goja.Value {
	switch {
	case kind == "int" && (f < math.MinInt32 || f > mostInt):
		h.fail("%v is beyond an int", f)
	case f != math.Trunc(f):
		h.fail("%v is no whole number", f)
	case math.Abs(f) >= most: // it may have been rounded to it
		h.fail("a long beyond 2^53 is not exact here")
	}
	return h.VM.ToValue(f + 0)
}

// exactly is a number as a decimal has it: 0.1 is a tenth.
func (h Host) exactly(v goja.Value) *big.Rat {
	f := h.number(v)
	if math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) > 7.9e28 {
		h.fail("this is beyond a decimal")
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	return r
}

func (h Host) fromRat(r *big.Rat) goja.Value {
	f, _ := r.Float64()
	if math.Abs(f) > 7.9e28 {
		h.fail("the result is beyond a decimal")
	}
	return h.VM.ToValue(f + 0)
}

// truncated is the whole part.
func truncated(r *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
}

var numbers = map[string]func(h Host, c goja.FunctionCall) goja.Value{
	"int": func(h Host, c goja.FunctionCall) goja.Value { // of a variable: without a value it is 0
		if isNull(c.Argument(0)) {
			return h.VM.ToValue(0)
		}
		return h.whole("int", h.number(c.Argument(0)))
	},
	"long": func(h Host, c goja.FunctionCall) goja.Value { return h.whole("long", h.number(c.Argument(0))) },
	"zero": func(h Host, c goja.FunctionCall) goja.Value { return h.VM.ToValue(h.number(c.Argument(0)) + 0) },
	"divide": func(h Host, c goja.FunctionCall) goja.Value {
		a, b := h.number(c.Argument(1)), h.number(c.Argument(2))
		if b == 0 {
			h.fail("a whole number is divided by zero")
		}
		return h.whole(c.Argument(0).String(), math.Trunc(a/b))
	},
	"remainder": func(h Host, c goja.FunctionCall) goja.Value {
		a, b := h.number(c.Argument(0)), h.number(c.Argument(1))
		if b == 0 {
			h.fail("a whole number is divided by zero")
		}
		return h.whole("long", math.Mod(a, b))
	},
	"decimal": func(h Host, c goja.FunctionCall) goja.Value {
		a, b, r := h.exactly(c.Argument(1)), h.exactly(c.Argument(2)), new(big.Rat)
		switch op := c.Argument(0).String(); op {
		case "+":
			return h.fromRat(r.Add(a, b))
		case "-":
			return h.fromRat(r.Sub(a, b))
		case "*":
			return h.fromRat(r.Mul(a, b))
		default:
			if b.Sign() == 0 {
				h.fail("a decimal is divided by zero")
			}
			if r.Quo(a, b); op == "/" {
				return h.fromRat(r)
			}
			return h.fromRat(a.Sub(a, b.Mul(b, truncated(r))))
		}
	},
	"toDecimal": func(h Host, c goja.FunctionCall) goja.Value { // of 15 digits
		f, _ := strconv.ParseFloat(strconv.FormatFloat(h.number(c.Argument(0)), 'e', 14, 64), 64)
		return h.fromRat(h.exactly(h.VM.ToValue(f)))
	},
	"truncate": func(h Host, c goja.FunctionCall) goja.Value {
		return h.whole(c.Argument(0).String(), math.Trunc(h.number(c.Argument(1))))
	},
	"narrow": func(h Host, c goja.FunctionCall) goja.Value {
		return h.whole(c.Argument(0).String(), math.RoundToEven(h.number(c.Argument(1))))
	},
	"abs": func(h Host, c goja.FunctionCall) goja.Value {
		return h.whole(c.Argument(0).String(), math.Abs(h.number(c.Argument(1))))
	},
	"round":    round,
	"dynamic":  dynamic,
	"compared": compared,
	"parse": func(h Host, c goja.FunctionCall) goja.Value {
		kind, v := c.Argument(0).String(), c.Argument(1)
		if isNull(v) {
			h.fail("there is nothing to read a %s from", kind)
		}
		out := h.parsed(kind, v.String())
		if out == nil {
			h.fail("this is no %s: %s", kind, h.excerpt(v))
		}
		return out
	},
	"tryParse": func(h Host, c goja.FunctionCall) goja.Value {
		if isNull(c.Argument(1)) {
			return goja.Null()
		}
		kind, s := c.Argument(0).String(), strings.Trim(c.Argument(1).String(), " \t\n\v\f\r")
		if out := h.parsed(kind, s); out != nil {
			return out
		}
		if readable(kind, s) {
			h.fail("whether this is a %s is not known here, as .NET reads more: %s", kind, h.excerpt(c.Argument(1)))
		}
		return goja.Null()
	},
}

// round is Math.Round of a double, which computes with the double, and of a decimal.
func round(h Host, c goja.FunctionCall) goja.Value {
	digits, mode := h.number(c.Argument(2)), "ToEven"
	if !isNull(c.Argument(3)) {
		mode = c.Argument(3).String()
	}
	to := map[string]func(float64) float64{"ToEven": math.RoundToEven, "AwayFromZero": math.Round, "ToZero": math.Trunc}[mode]
	if c.Argument(0).String() == "double" {
		if digits < 0 || digits > 15 {
			h.fail("a double is rounded to 0 to 15 digits")
		}
		f := h.number(c.Argument(1))
		if math.Abs(f) >= 1e16 {
			return c.Argument(1)
		}
		power := math.Pow(10, digits)
		return h.VM.ToValue(to(f*power) / power)
	}
	if digits < 0 || digits > 28 {
		h.fail("a decimal is rounded to 0 to 28 digits")
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	r := h.exactly(c.Argument(1))
	r.Mul(r, scale)
	whole := truncated(r)
	part := new(big.Rat).Sub(r, whole)
	half := new(big.Rat).Abs(part).Cmp(big.NewRat(1, 2))
	if mode != "ToZero" && (half > 0 || half == 0 && (mode == "AwayFromZero" || whole.Num().Bit(0) == 1)) {
		whole.Add(whole, big.NewRat(int64(part.Sign()), 1))
	}
	return h.fromRat(whole.Quo(whole, scale))
}

// dynamic is a + b, a - b and a * b of values whose types are known only now.
func dynamic(h Host, c goja.FunctionCall) goja.Value {
	op, a, b := c.Argument(0).String(), c.Argument(1), c.Argument(2)
	_, left := a.(goja.String)
	_, right := b.(goja.String)
	if op == "+" && (left || right) {
		s := h.textOf(a, "") + h.textOf(b, "")
		if len(s) > mostText {
			h.fail("a text may have 1 MiB")
		}
		return h.VM.ToValue(s)
	}
	x, y := h.number(a), h.number(b)
	sum := map[string]float64{"+": x + y, "-": x - y, "*": x * y}[op]
	if x == math.Trunc(x) && y == math.Trunc(y) {
		kind := "int"
		if math.Abs(x) > mostInt || math.Abs(y) > mostInt {
			kind = "long"
		}
		if math.Abs(sum) > mostInt && kind == "int" {
			h.fail("%v %s %v is beyond an int; cast the values, as in (long)x", x, op, y)
		}
		return h.whole(kind, sum)
	}
	return h.VM.ToValue(sum)
}

func compared(h Host, c goja.FunctionCall) goja.Value {
	x, y := h.number(c.Argument(1)), h.number(c.Argument(2))
	return h.VM.ToValue(map[string]bool{"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[c.Argument(0).String()])
}

// parsed reads a text as .NET's Parse of a type does, in the invariant culture; nil if it is none.
func (h Host) parsed(kind, s string) goja.Value {
	s = strings.Trim(s, " \t\n\v\f\r")
	switch kind {
	case "int", "long":
		bits := 32
		if kind == "long" {
			bits = 64
		}
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil || n >= most || n <= -most {
			return nil
		}
		return h.VM.ToValue(n)
	case "double", "decimal":
		return h.parsedFraction(kind, s)
	case "bool":
		if strings.EqualFold(s, "true") || strings.EqualFold(s, "false") {
			return h.VM.ToValue(strings.EqualFold(s, "true"))
		}
	case "Guid":
		if id, ok := guid(s); ok {
			return h.VM.ToValue(id)
		}
	case "DateTime":
		if t, ok := instant(s); ok {
			return h.dateOf(t)
		}
	case "TimeSpan":
		if dotnetSpan.MatchString(s) {
			return h.spanText(s)
		}
	}
	return nil
}

var (
	fraction    = regexp.MustCompile(`^[+-]?[0-9,]*\.?[0-9]*([eE][+-]?[0-9]+)?[+-]?$`)
	notNumber   = regexp.MustCompile(`(?i)^[+-]?(nan|infinity|∞)$`)
	spanLike    = regexp.MustCompile(`^-?\d+([.:]\d+)*$`)
	dateDigits  = regexp.MustCompile(`^\d+$`)
	dateLetters = regexp.MustCompile(`(?i)[a-z]+`)
	dateWords   = regexp.MustCompile(`(?i)^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(tember)?|oct(ober)?|nov(ember)?|dec(ember)?|mon(day)?|tue(sday)?|wed(nesday)?|thu(rsday)?|fri(day)?|sat(urday)?|sun(day)?|am?|pm?|ad|gmt|z|t)$`)
)

// readable tells whether .NET may read a text as a kind that is not read so here.
func readable(kind, s string) bool {
	digits := strings.ContainsAny(s, "0123456789")
	switch kind {
	case "long":
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	case "double":
		return notNumber.MatchString(s) || digits && fraction.MatchString(s)
	case "decimal":
		return digits && fraction.MatchString(s) && !strings.ContainsAny(s, "eE")
	case "Guid":
		return strings.HasPrefix(strings.ToLower(s), "{0x")
	case "TimeSpan":
		return spanLike.MatchString(s) && !dotnetSpan.MatchString(s)
	case "DateTime":
		if len(s) >= 10 && isoDate.MatchString(s[:10]) {
			if _, ok := instant(s[:10]); !ok { // it is no day
				return false
			}
		}
		for _, word := range dateLetters.FindAllString(s, -1) {
			if !dateWords.MatchString(word) {
				return false
			}
		}
		return digits && !dateDigits.MatchString(s)
	}
	return false
}

var isoDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func (h Host) parsedFraction(kind, s string) goja.Value {
	whole, _, _ := strings.Cut(s, ".")
	if strings.Contains(whole, ",") && !strings.HasPrefix(whole, ",") { // between thousands
		s = strings.ReplaceAll(whole, ",", "") + s[len(whole):]
	}
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789.eE+-") != "" || kind == "decimal" && strings.ContainsAny(digits, "eE") || digits[0] == 'e' || digits[0] == 'E' {
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || kind == "decimal" && math.Abs(f) > 7.9e28 {
		return nil
	}
	return h.VM.ToValue(f)
}

var values = map[string]func(h Host, c goja.FunctionCall) goja.Value{
	"unbox": func(h Host, c goja.FunctionCall) goja.Value { return h.unboxed(c.Argument(0).String(), c.Argument(1)) },
	"convert": func(h Host, c goja.FunctionCall) goja.Value {
		return h.converted(c.Argument(0).String(), c.Argument(1))
	},
	"converted": func(h Host, c goja.FunctionCall) goja.Value {
		return h.converted(c.Argument(0).String(), c.Argument(1))
	},
	"unmatched": func(h Host, c goja.FunctionCall) goja.Value {
		return h.fail("no arm of the switch is for %s", h.excerpt(c.Argument(0)))
	},
	"given": func(h Host, c goja.FunctionCall) goja.Value {
		if isNull(c.Argument(0)) {
			h.fail("a value is wanted where there is null")
		}
		return c.Argument(0)
	},
	"key": func(h Host, c goja.FunctionCall) goja.Value { return h.VM.ToValue(h.key(c.Argument(0))) },
	"same": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(h.same(c.Argument(0).String(), c.Argument(1), c.Argument(2)))
	},
	"equal": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(h.equal(c.Argument(0), c.Argument(1)))
	},
	"contains": func(h Host, c goja.FunctionCall) goja.Value {
		for _, v := range h.list(c.Argument(1)) {
			kind := c.Argument(0).String()
			if kind == "object" || kind == "dynamic" {
				if isNull(v) != isNull(c.Argument(2)) || !isNull(v) && (v.ExportType() != c.Argument(2).ExportType() && !(isNumber(v) && isNumber(c.Argument(2)))) {
					continue
				}
				if h.equal(v, c.Argument(2)) {
					return h.VM.ToValue(true)
				}
			} else if h.same(kind, v, c.Argument(2)) {
				return h.VM.ToValue(true)
			}
		}
		return h.VM.ToValue(false)
	},
	"at": func(h Host, c goja.FunctionCall) goja.Value {
		if s, ok := c.Argument(0).(goja.String); ok {
			i := h.place(c.Argument(1), s.Length())
			return s.Substring(i, i+1)
		}
		o := h.object(c.Argument(0))
		if o.ClassName() == "Array" {
			return o.Get(strconv.Itoa(h.place(c.Argument(1), h.length(o))))
		}
		if v := o.Get(h.key(c.Argument(1))); h.has(o, c.Argument(1)) {
			return v
		}
		return h.fail("there is no key %s", h.excerpt(c.Argument(1)))
	},
	"put": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		key := ""
		if o.ClassName() == "Array" {
			key = strconv.Itoa(h.place(c.Argument(1), h.length(o)))
		} else {
			key = h.key(c.Argument(1))
		}
		if err := o.Set(key, c.Argument(2)); err != nil {
			panic(h.VM.NewGoError(err))
		}
		return c.Argument(2)
	},
	"member": func(h Host, c goja.FunctionCall) goja.Value {
		of, name := c.Argument(0), c.Argument(1).String()
		if s, ok := of.(goja.String); ok && name == "Length" {
			return h.VM.ToValue(s.Length())
		}
		o := h.object(of)
		if o.ClassName() == "Array" && (name == "Length" || name == "Count") {
			return h.VM.ToValue(h.length(o))
		}
		if o.ClassName() != "Array" && h.has(o, c.Argument(1)) {
			return o.Get(name)
		}
		return h.fail("there is no member %s; capitals matter in C#", h.excerpt(c.Argument(1)))
	},
	"items": func(h Host, c goja.FunctionCall) goja.Value {
		if s, ok := c.Argument(0).(goja.String); ok {
			var out []any
			for i := range s.Length() {
				out = append(out, s.Substring(i, i+1))
			}
			return h.VM.NewArray(out...)
		}
		h.list(c.Argument(0))
		return c.Argument(0)
	},
	"elements": func(h Host, c goja.FunctionCall) goja.Value {
		if isNull(c.Argument(1)) {
			return goja.Null()
		}
		o := h.object(c.Argument(1))
		for _, k := range o.Keys() {
			h.unboxed(c.Argument(0).String(), o.Get(k))
		}
		return o
	},
	"has": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(h.has(h.object(c.Argument(0)), c.Argument(1)))
	},
	"add": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		if h.has(o, c.Argument(1)) {
			h.fail("the key %s is there already", h.excerpt(c.Argument(1)))
		}
		if err := o.Set(h.key(c.Argument(1)), c.Argument(2)); err != nil {
			panic(h.VM.NewGoError(err))
		}
		return goja.Undefined()
	},
	"remove": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		had := h.has(o, c.Argument(1))
		if had {
			_ = o.Delete(h.key(c.Argument(1))) // it is a field like others
		}
		return h.VM.ToValue(had)
	},
	"clear": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		for _, k := range o.Keys() {
			_ = o.Delete(k) // it is a field like others
		}
		return goja.Undefined()
	},
	"removeAt": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		return h.splice(o, h.place(c.Argument(1), h.length(o)), 1)
	},
	"insert": func(h Host, c goja.FunctionCall) goja.Value {
		o := h.object(c.Argument(0))
		return h.splice(o, h.place(c.Argument(1), h.length(o)+1), 0, c.Argument(2))
	},
}

func (h Host) splice(o *goja.Object, at, drop int, more ...goja.Value) goja.Value {
	fn, ok := goja.AssertFunction(o.Get("splice"))
	if !ok {
		h.fail("this is no list")
	}
	if _, err := fn(o, append([]goja.Value{h.VM.ToValue(at), h.VM.ToValue(drop)}, more...)...); err != nil {
		panic(err)
	}
	return goja.Undefined()
}

func (h Host) object(v goja.Value) *goja.Object {
	o, ok := v.(*goja.Object)
	if !ok {
		h.fail("a list or an object is wanted where there is %s", h.excerpt(v))
	}
	return o
}

func (h Host) length(o *goja.Object) int { return int(o.Get("length").ToInteger()) }

func (h Host) list(v goja.Value) []goja.Value {
	o := h.object(v)
	if o.ClassName() != "Array" || h.length(o) > mostItems {
		h.fail("a list of at most %d items is wanted", mostItems)
	}
	out := make([]goja.Value, h.length(o))
	for i := range out {
		out[i] = o.Get(strconv.Itoa(i))
	}
	return out
}

// place is an index that has to be below n.
func (h Host) place(v goja.Value, n int) int {
	f := h.number(v)
	if f != math.Trunc(f) || f < 0 || f >= float64(n) {
		h.fail("the index %v is outside: there are %d", f, n)
	}
	return int(f)
}

func (h Host) key(v goja.Value) string {
	s, ok := v.(goja.String)
	if !ok || s.String() == "__proto__" {
		h.fail("this cannot be a key: %s", h.excerpt(v))
	}
	return s.String()
}

func (h Host) has(o *goja.Object, key goja.Value) bool {
	return slices.Contains(o.GetOwnPropertyNames(), h.key(key))
}

func (h Host) same(kind string, a, b goja.Value) bool {
	if isNull(a) || isNull(b) {
		return isNull(a) && isNull(b)
	}
	switch kind {
	case "DateTime":
		return h.time(a).Equal(h.time(b))
	case "TimeSpan":
		return h.ticks(a) == h.ticks(b)
	case "Guid":
		return strings.EqualFold(a.String(), b.String())
	}
	return a.StrictEquals(b)
}

// equal is == where a type is known only now. C# does not compare a text with a number.
func (h Host) equal(a, b goja.Value) bool {
	if isNull(a) || isNull(b) {
		return isNull(a) && isNull(b)
	}
	x, isTime := a.Export().(time.Time)
	y, both := b.Export().(time.Time)
	switch {
	case isTime && both:
		return x.Equal(y)
	case a.ExportType() == b.ExportType() || isNumber(a) && isNumber(b):
		if _, object := a.(*goja.Object); !object {
			return a.StrictEquals(b)
		}
	}
	h.fail("%s and %s are not compared in C#; cast them", h.excerpt(a), h.excerpt(b))
	return false
}

// unboxed is a value that has to be of a type. A name with ? lets null be.
func (h Host) unboxed(kind string, v goja.Value) goja.Value {
	base, nullable := strings.CutSuffix(kind, "?")
	if isNull(v) {
		if nullable || base == "string" || base == "list" || base == "dictionary" {
			return goja.Null()
		}
		h.fail("null is no %s", kind)
	}
	o, isObject := v.(*goja.Object)
	_, isText := v.(goja.String)
	_, isBool := v.Export().(bool)
	is := map[string]bool{"double": isNumber(v), "decimal": isNumber(v), "bool": isBool, "string": isText, "char": isText && v.(goja.String).Length() == 1,
		"list": isObject && o.ClassName() == "Array", "dictionary": isObject && o.ClassName() == "Object"}
	switch ok, known := is[base]; {
	case base == "int" || base == "long":
		return h.whole(base, h.number(v))
	case !known: // DateTime, TimeSpan and Guid are texts where they are kept
		return h.converted(base, v)
	case !ok:
		h.fail("%s is no %s; convert it", h.excerpt(v), base)
	}
	return v
}

// converted is a value as a type, as Elsa's Get<T> gives it: null is the type's default.
func (h Host) converted(kind string, v goja.Value) goja.Value {
	base, nullable := strings.CutSuffix(kind, "?")
	if isNull(v) {
		return h.withoutOne(base, nullable)
	}
	_, isText := v.(goja.String)
	_, isBool := v.Export().(bool)
	switch base {
	case "int", "long":
		if isNumber(v) {
			return h.whole(base, math.RoundToEven(h.number(v)))
		}
	case "string":
		if isNumber(v) || isBool || isText {
			return h.VM.ToValue(h.textOf(v, ""))
		}
	case "DateTime":
		return h.dateOf(h.time(v))
	case "TimeSpan":
		return h.span(h.ticks(v))
	case "double", "decimal", "bool", "Guid":
	default:
		return h.unboxed(kind, v)
	}
	if isText {
		if out := h.parsed(base, v.String()); out != nil {
			return out
		}
		h.fail("this is no %s: %s", base, h.excerpt(v))
	}
	return h.unboxed(base, v)
}

// withoutOne is the value that a type has without one.
func (h Host) withoutOne(base string, nullable bool) goja.Value {
	switch {
	case nullable || base == "string" || base == "list" || base == "dictionary":
		return goja.Null()
	case base == "bool":
		return h.VM.ToValue(false)
	case base == "Guid":
		return h.VM.ToValue("00000000-0000-0000-0000-000000000000")
	case base == "TimeSpan":
		return h.span(0)
	case base == "DateTime":
		return h.dateOf(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	return h.VM.ToValue(0)
}
