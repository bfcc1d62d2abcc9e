package dotnet

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

// Bounds of what one call gives.
const (
	mostText  = 1 << 20
	mostItems = 100_000
)

// textOf is the text of a value where texts are joined, in the invariant culture; kind is its type in C#, if it is known.
func (h Host) textOf(v goja.Value, kind string) string {
	if isNull(v) {
		return ""
	}
	switch x := v.Export().(type) {
	case bool:
		if x {
			return "True"
		}
		return "False"
	case int64:
		if kind == "double" {
			return doubleText(float64(x))
		}
		return strconv.FormatInt(x, 10)
	case float64:
		if kind == "decimal" {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		if math.IsInf(x, 0) {
			h.fail("the text of an infinite number is another one in each culture")
		}
		return doubleText(x)
	case time.Time:
		h.fail("a time has no text without a format: write x.ToString(\"yyyy-MM-dd HH:mm:ss\")")
	case string:
		return v.String()
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "String" {
		return o.String()
	}
	h.fail("the text of a list or an object is the name of its type in C#; name the member that is meant")
	return ""
}

// doubleText is the shortest text of a double, as .NET writes it: 1E+15, 1E-05.
func doubleText(x float64) string {
	if x == 0 {
		if math.Signbit(x) {
			return "-0"
		}
		return "0"
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'E', -1, 64), "E")
	n, err := strconv.Atoi(exponent)
	if err != nil || n >= -5+1 && n < 15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return digits + "E" + exponent
}

// text is an argument that has to be a text.
func (h Host) text(v goja.Value) string {
	if isNull(v) {
		h.fail("a text is wanted where there is null")
	}
	return v.String()
}

var texts = map[string]func(h Host, c goja.FunctionCall) goja.Value{
	"text": func(h Host, c goja.FunctionCall) goja.Value {
		kind := ""
		if !isNull(c.Argument(1)) {
			kind = c.Argument(1).String()
		}
		if v := c.Argument(0); kind == "long" && !isNull(v) {
			h.whole(kind, h.number(v))
		}
		return h.VM.ToValue(h.textOf(c.Argument(0), kind))
	},
	"format": func(h Host, c goja.FunctionCall) goja.Value {
		kind := ""
		if !isNull(c.Argument(2)) {
			kind = c.Argument(2).String()
		}
		return h.VM.ToValue(h.formatted(c.Argument(0), c.Argument(1).String(), kind))
	},
	"pad": func(h Host, c goja.FunctionCall) goja.Value {
		n := h.number(c.Argument(1))
		return h.padded(c.Argument(0), math.Abs(n), " ", n < 0)
	},
	"padLeft": func(h Host, c goja.FunctionCall) goja.Value {
		return h.padded(c.Argument(0), h.number(c.Argument(1)), letterOr(c.Argument(2)), false)
	},
	"padRight": func(h Host, c goja.FunctionCall) goja.Value {
		return h.padded(c.Argument(0), h.number(c.Argument(1)), letterOr(c.Argument(2)), true)
	},
	"substring": func(h Host, c goja.FunctionCall) goja.Value {
		s, ok := c.Argument(0).(goja.String)
		if !ok {
			h.fail("a text is wanted where there is %s", h.excerpt(c.Argument(0)))
		}
		from, n := h.number(c.Argument(1)), float64(s.Length())-h.number(c.Argument(1))
		if !isNull(c.Argument(2)) {
			n = h.number(c.Argument(2))
		}
		if from < 0 || n < 0 || from+n > float64(s.Length()) {
			h.fail("Substring(%v, %v) of a text of %d letters is outside it", from, n, s.Length())
		}
		return s.Substring(int(from), int(from+n))
	},
	"upper": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(cased(h.text(c.Argument(0)), unicode.ToUpper))
	},
	"lower": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(cased(h.text(c.Argument(0)), unicode.ToLower))
	},
	"trim":      func(h Host, c goja.FunctionCall) goja.Value { return h.trimmed(c, true, true) },
	"trimStart": func(h Host, c goja.FunctionCall) goja.Value { return h.trimmed(c, true, false) },
	"trimEnd":   func(h Host, c goja.FunctionCall) goja.Value { return h.trimmed(c, false, true) },
	"sought": func(h Host, c goja.FunctionCall) goja.Value {
		if h.text(c.Argument(0)) == "" {
			h.fail("an empty text cannot be replaced")
		}
		return c.Argument(0)
	},
	"equals": func(h Host, c goja.FunctionCall) goja.Value {
		a, b := c.Argument(0), c.Argument(1)
		if isNull(a) || isNull(b) {
			return h.VM.ToValue(isNull(a) && isNull(b))
		}
		return h.VM.ToValue(folded(a.String(), c.Argument(2)) == folded(b.String(), c.Argument(2)))
	},
	"find": func(h Host, c goja.FunctionCall) goja.Value {
		s, x := folded(h.text(c.Argument(1)), c.Argument(3)), folded(h.text(c.Argument(2)), c.Argument(3))
		return h.VM.ToValue(map[string]func(s, x string) bool{"in": strings.Contains, "start": strings.HasPrefix, "end": strings.HasSuffix}[c.Argument(0).String()](s, x))
	},
	"split": func(h Host, c goja.FunctionCall) goja.Value {
		if isNull(c.Argument(1)) || c.Argument(1).String() == "" {
			return h.pieces([]string{h.text(c.Argument(0))}, c.Argument(2))
		}
		return h.pieces(strings.SplitN(h.text(c.Argument(0)), c.Argument(1).String(), mostItems+1), c.Argument(2))
	},
	"splitAny": func(h Host, c goja.FunctionCall) goja.Value {
		seps := ""
		for _, s := range h.list(c.Argument(1)) {
			seps += s.String()
		}
		is := func(r rune) bool { return strings.ContainsRune(seps, r) }
		if seps == "" {
			is = unicode.IsSpace
		}
		var parts []string
		s := h.text(c.Argument(0))
		for len(parts) <= mostItems {
			i := strings.IndexFunc(s, is)
			if i < 0 {
				break
			}
			parts = append(parts, s[:i])
			_, rest, _ := strings.Cut(s[i:], string([]rune(s[i : i+min(4, len(s)-i)])[0]))
			s = rest
		}
		return h.pieces(append(parts, s), c.Argument(2))
	},
	"join": func(h Host, c goja.FunctionCall) goja.Value {
		kind := ""
		if !isNull(c.Argument(2)) {
			kind = c.Argument(2).String()
		}
		var b strings.Builder
		for i, v := range h.list(c.Argument(1)) {
			if i > 0 {
				b.WriteString(c.Argument(0).String())
			}
			if b.WriteString(h.textOf(v, kind)); b.Len() > mostText {
				h.fail("a text may have 1 MiB")
			}
		}
		return h.VM.ToValue(b.String())
	},
	"is": func(h Host, c goja.FunctionCall) goja.Value {
		r := []rune(h.text(c.Argument(1)))
		is := map[string]func(rune) bool{"digit": unicode.IsDigit, "letter": unicode.IsLetter, "space": unicode.IsSpace, "upper": unicode.IsUpper, "lower": unicode.IsLower,
			"letterOrDigit": func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }}[c.Argument(0).String()]
		return h.VM.ToValue(len(r) == 1 && is(r[0]))
	},
	"char": func(h Host, c goja.FunctionCall) goja.Value {
		n := h.number(c.Argument(0))
		if n < 0 || n > math.MaxUint16 {
			h.fail("%v is beyond a char", n)
		}
		return goja.StringFromUTF16([]uint16{uint16(n)})
	},
}

func letterOr(v goja.Value) string {
	if isNull(v) {
		return " "
	}
	return v.String()
}

func (h Host) padded(v goja.Value, width float64, with string, right bool) goja.Value {
	s := h.text(v)
	short := int(width) - len(utf16.Encode([]rune(s)))
	switch {
	case width < 0 || width > mostText:
		h.fail("a text may be made 0 to 1,048,576 letters long, not %v", width)
	case short <= 0:
		return h.VM.ToValue(s)
	case right:
		return h.VM.ToValue(s + strings.Repeat(with, short))
	}
	return h.VM.ToValue(strings.Repeat(with, short) + s)
}

// cased changes letters one by one, as the invariant culture does: ß stays, and so do the letters of Turkish.
func cased(s string, to func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if r == 'ı' || r == 'İ' {
			return r
		}
		return to(r)
	}, s)
}

// folded is a text without capitals, where a comparison ignores them.
func folded(s string, comparison goja.Value) string {
	if !isNull(comparison) && strings.HasSuffix(comparison.String(), "IgnoreCase") {
		return cased(s, unicode.ToUpper)
	}
	return s
}

func (h Host) trimmed(c goja.FunctionCall, start, end bool) goja.Value {
	s, is := h.text(c.Argument(0)), unicode.IsSpace
	if !isNull(c.Argument(1)) {
		is = func(r rune) bool { return string(r) == c.Argument(1).String() }
	}
	if start {
		s = strings.TrimLeftFunc(s, is)
	}
	if end {
		s = strings.TrimRightFunc(s, is)
	}
	return h.VM.ToValue(s)
}

func (h Host) pieces(parts []string, options goja.Value) goja.Value {
	if len(parts) > mostItems {
		h.fail("a text may be split into %d parts", mostItems)
	}
	option := ""
	if !isNull(options) {
		option = options.String()
	}
	out := make([]any, 0, len(parts))
	for _, s := range parts {
		if option == "TrimEntries" {
			s = strings.TrimSpace(s)
		}
		if option != "RemoveEmptyEntries" || s != "" {
			out = append(out, s)
		}
	}
	return h.VM.NewArray(out...)
}

var (
	standardNumber = regexp.MustCompile(`^([DdFfNnXx])(\d{0,2})$`)
	customNumber   = regexp.MustCompile(`^([#0]*|#,##0|#,#|#,0|0,0|#,#0|#,#00|#,000)(\.[0#]+)?$`)
	customSpan     = regexp.MustCompile(`^(\\.|'[^']*'|d{1,8}|hh?|mm?|ss?|f{1,7})+$`)
	customDate     = regexp.MustCompile(`^(\\.|'[^']*'|"[^"]*"|yyyy|yy|MMMM|MMM|MM?|dddd|ddd|dd?|HH?|hh?|mm?|ss?|f{1,7}|tt|[^\\'"yMdHhmsftgFKz%])+$`)
)

// formatError is what is wrong with a format.
type formatError string

func (e formatError) Error() string { return string(e) }

const otherFormats = "; others are other texts in each culture, or not there"

// formats are those of a type, and what they are for people.
type formats struct {
	is   func(format string) bool
	says string
}

var formatsOf = map[string]formats{
	"int":      {isNumberFormat, "whole numbers have D5, X2, F2, N2 with digits, and forms of # and 0 such as #,##0.00" + otherFormats},
	"long":     {isNumberFormat, "whole numbers have D5, X2, F2, N2 with digits, and forms of # and 0 such as #,##0.00" + otherFormats},
	"double":   {isFractionFormat, "numbers have F2 and N2 with digits, and forms of # and 0 such as #,##0.00" + otherFormats},
	"decimal":  {isFractionFormat, "numbers have F2 and N2 with digits, and forms of # and 0 such as #,##0.00" + otherFormats},
	"DateTime": {isDateFormat, "times have s, u, R, and forms of yyyy MM dd HH hh mm ss fff tt ddd MMM such as yyyy-MM-dd HH:mm:ss" + otherFormats},
	"TimeSpan": {isSpanFormat, `time spans have c, and forms of d hh mm ss fff with \ before what is between them, such as hh\:mm\:ss` + otherFormats},
	"Guid":     {func(f string) bool { return len(f) == 1 && strings.Contains("DNBPdnbp", f) }, "Guids have D, N, B and P"},
	"": {func(f string) bool {
		return isNumberFormat(f) && !strings.ContainsAny(f, "Xx") || isDateFormat(f) || isSpanFormat(f)
	},
		"numbers have F2, N2, 0.00, times yyyy-MM-dd" + otherFormats},
}

func isNumberFormat(f string) bool {
	m := standardNumber.FindStringSubmatch(f)
	if m == nil {
		return f != "" && customNumber.MatchString(f)
	}
	digits, _ := strconv.Atoi(m[2])
	return digits <= 30 && (m[2] != "" || strings.Contains("DdXx", m[1]))
}

func isFractionFormat(f string) bool { return isNumberFormat(f) && !strings.ContainsAny(f, "DdXx") }

var (
	quotedPart = regexp.MustCompile(`\\.|'[^']*'|"[^"]*"`)
	longRuns   = regexp.MustCompile(`y{5}|M{5}|d{9}|H{3}|h{3}|m{3}|s{3}|t{3}|f{8}`)
)

// longRun tells a format with more of one letter than there are here.
func longRun(f string) bool { return longRuns.MatchString(quotedPart.ReplaceAllString(f, " ")) }

func isDateFormat(f string) bool {
	return f == "s" || f == "u" || f == "r" || f == "R" || len(f) > 1 && len(f) <= 200 && !longRun(f) && !strings.Contains(f, "ddddd") && customDate.MatchString(f)
}

func isSpanFormat(f string) bool {
	return f == "c" || len(f) > 1 && len(f) <= 200 && !longRun(f) && customSpan.MatchString(f)
}

// CheckFormat tells whether values of a type are written in a format here; kind "" is any.
func CheckFormat(kind, format string) error {
	if of := formatsOf[kind]; !of.is(format) {
		return formatError(of.says)
	}
	return nil
}

// formatted is a value in a format that was checked.
func (h Host) formatted(v goja.Value, format, kind string) string {
	if isNull(v) {
		return ""
	}
	if kind == "" {
		switch x := v.Export().(type) {
		case int64:
			kind = "long"
		case float64:
			kind = "double"
		case time.Time:
			kind = "DateTime"
		case bool:
			return h.textOf(v, "")
		case string:
			if _, object := v.(*goja.Object); !object {
				return x
			}
			kind = "TimeSpan"
		}
	}
	kind = strings.TrimSuffix(kind, "?")
	if err := CheckFormat(kind, format); err != nil {
		h.fail("the format %s: %s", format, err.Error())
	}
	switch kind {
	case "DateTime":
		return formatTime(h.time(v), format)
	case "TimeSpan":
		return h.formatSpan(v, format)
	case "Guid":
		return formatGUID(v.String(), format)
	}
	return h.formatNumber(v, format, kind)
}

func formatGUID(s, format string) string {
	switch strings.ToUpper(format) {
	case "N":
		return strings.ReplaceAll(s, "-", "")
	case "B":
		return "{" + s + "}"
	case "P":
		return "(" + s + ")"
	}
	return s
}

// guid is a Guid in one of .NET's usual forms.
func guid(s string) (string, bool) {
	inner := s
	if len(s) == 38 && (s[0] == '{' && s[37] == '}' || s[0] == '(' && s[37] == ')') {
		inner = s[1:37]
	}
	id, err := uuid.Parse(inner)
	return id.String(), err == nil && (len(inner) == 36 || len(inner) == 32)
}

func (h Host) formatNumber(v goja.Value, format, kind string) string {
	f := h.number(v)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		h.fail("the text of a number that is none is another one in each culture")
	}
	if m := standardNumber.FindStringSubmatch(format); m != nil {
		digits, _ := strconv.Atoi(m[2])
		switch m[1] {
		case "D", "d", "X", "x":
			return h.formatWhole(h.whole(kind, f).ToInteger(), m[1], digits, kind)
		}
		r := h.exactly(v)
		if kind == "double" && r.SetFloat64(f) == nil {
			h.fail("this is not a number")
		}
		s := r.FloatString(digits)
		if kind != "double" && strings.Trim(s, "-0.") == "" {
			s = strings.TrimPrefix(s, "-")
		} else if math.Signbit(f) && s[0] != '-' {
			s = "-" + s
		}
		if m[1] == "N" || m[1] == "n" {
			s = grouped(s)
		}
		return s
	}
	return h.formatCustom(v, f, format, kind)
}

func (h Host) formatWhole(n int64, how string, digits int, kind string) string {
	if how == "D" || how == "d" {
		s := strconv.FormatInt(n, 10)
		sign := ""
		if n < 0 {
			sign, s = "-", s[1:]
		}
		return sign + strings.Repeat("0", max(digits-len(s), 0)) + s
	}
	bits := uint64(n)
	if kind == "int" {
		bits = uint64(uint32(n))
	}
	s := strconv.FormatUint(bits, 16)
	if how == "X" {
		s = strings.ToUpper(s)
	}
	return strings.Repeat("0", max(digits-len(s), 0)) + s
}

// formatCustom writes a number as # and 0 say. Of a double, .NET takes 15 digits.
func (h Host) formatCustom(v goja.Value, f float64, format, kind string) string {
	if kind == "double" {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'e', 14, 64), 64)
		v = h.VM.ToValue(f)
	}
	_, part, _ := strings.Cut(format, ".")
	s := h.exactly(v).FloatString(len(part))
	if strings.HasPrefix(s, "-") && strings.Trim(s, "-0.") == "" {
		h.fail("a number below zero that is rounded to zero has no format of # and 0 here; write F%d", len(part))
	}
	return shaped(s, format)
}

// shaped writes a number, which has as many digits behind its point as the format, as # and 0 say.
func shaped(s, format string) string {
	whole, part, _ := strings.Cut(format, ".")
	group := strings.Contains(whole, ",")
	whole = strings.ReplaceAll(whole, ",", "")
	least := 0
	if i := strings.IndexByte(whole, '0'); i >= 0 {
		least = len(whole) - i
	}
	negative := strings.HasPrefix(s, "-")
	front, back, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	front = strings.TrimLeft(front, "0")
	front = strings.Repeat("0", max(least-len(front), 0)) + front
	if group {
		front = grouped(front)
	}
	for keep := strings.LastIndexByte(part, '0') + 1; len(back) > keep && back[len(back)-1] == '0'; {
		back = back[:len(back)-1]
	}
	if back != "" {
		front += "." + back
	}
	if negative {
		front = "-" + front
	}
	return front
}

// grouped puts commas between thousands.
func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, part, has := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if has {
		whole += "." + part
	}
	return sign + whole
}
