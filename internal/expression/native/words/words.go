// Package words says in the words of who writes definitions what expr says in those of Go.
//
// Guaranteed: a message that is not known comes out as it is, and what other languages write in a place is told with how it
// is written here. Not guaranteed: that no word of Go is left; a test of native walks all functions and looks.
package words

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// otherWords are names that other languages have, and what is written here instead.
var otherWords = func() map[string]string {
	out := map[string]string{}
	for _, w := range []struct{ theirs, ours string }{
		{"null Null NULL None undefined Nil", "what is not there is nil"},
		{"True TRUE", "it is written true"},
		{"False FALSE", "it is written false"},
		{"length size Len strlen", "write len(…)"},
		{"str String toString tostring text", "write string(…)"},
		{"parseInt toInt Int integer", "write int(…)"},
		{"number Number parseFloat toNumber toFloat decimal", "write int(…) or float(…)"},
		{"substring substr slice", "a part of a text or a list is written text[from:to]"},
		{"toUpperCase toUpper uppercase ucase upcase", "write upper(…)"},
		{"toLowerCase toLower lowercase lcase downcase", "write lower(…)"},
		{"coalesce ifnull nvl default", "write a ?? b"},
		{"empty isEmpty isempty isNullOrEmpty", "write len(…) == 0, or … == nil"},
		{"iif iff IF", "write condition ? a : b"},
		{"format sprintf printf", "write a text with several ${{ }}, or join texts with + and string(…)"},
		{"JSON json toJson stringify", "write toJSON(…) or fromJSON(…)"},
		{"Math", "abs, ceil, floor, round, max and min are functions of their own"},
		{"Date DateTime today Now utcNow utcnow currentTime", "write now() or date(…)"},
		{"item it CurrentValue currentValue currentItem CurrentIndex currentIndex", "in a loop it is variables.CurrentValue and variables.CurrentIndex; within filter(…), map(…) and their like the item is #"},
		{"env getenv process", "the environment is not read here: what a node gives its workflows is a secret, secrets.NAME"},
		{"workflow context ctx instance", "instanceId, correlationId, definitionId, version and name stand by themselves"},
		{"activities activity steps result previous", "what an activity gave is outputs(\"its id\"), or the variable that its result names"},
		{"vars", "variables are variables.NAME"},
		{"params parameters args arguments", "inputs are inputs.NAME"},
		{"guid uuid newGuid Guid", "write newId()"},
	} {
		for _, name := range strings.Fields(w.theirs) {
			out[name] = w.ours
		}
	}
	return out
}()

// members are what other languages ask a value, in lower case, and what is written here.
var members = func() map[string]string {
	out := map[string]string{}
	for _, w := range []struct{ theirs, ours string }{
		{"length count size len", "write len(…)"},
		{"toupper touppercase upper upcase", "write upper(…)"},
		{"tolower tolowercase lower downcase", "write lower(…)"},
		{"trim strip", "write trim(…)"},
		{"split", "write split(text, \",\")"},
		{"join", "write join(list, \",\")"},
		{"replace replaceall", "write replace(text, \"a\", \"b\")"},
		{"substring substr slice", "a part is written text[from:to]"},
		{"contains includes has indexof", "write text contains \"a\", or item in list"},
		{"startswith", "write text startsWith \"a\""},
		{"endswith", "write text endsWith \"a\""},
		{"matches match test", "write text matches \"^A\""},
		{"map select", "write map(list, #.field)"},
		{"filter where", "write filter(list, #.price > 10)"},
		{"find first", "write find(list, #.price > 10), or first(list)"},
		{"some any", "write any(list, #.price > 10)"},
		{"every all", "write all(list, #.price > 10)"},
		{"reduce aggregate", "write reduce(list, #acc + #, 0)"},
		{"sort orderby sortby", "write sort(list), or sortBy(list, #.field)"},
		{"last", "write last(list)"},
		{"reverse", "write reverse(list)"},
		{"push add append concat", "write concat(list, [item])"},
		{"keys", "write keys(object)"},
		{"tostring", "write string(…)"},
		{"tofixed", "write round(…)"},
		{"addhours addminutes adddays addseconds", "write now() + duration(\"24h\")"},
		{"year month day hour minute second", "it is a function with a capital: now().Year()"},
	} {
		for _, name := range strings.Fields(w.theirs) {
			out[name] = w.ours
		}
	}
	return out
}()

// hint says behind a semicolon what is written instead; "" if nobody knows.
func hint(known map[string]string, word string) string {
	if ours := known[word]; ours != "" {
		return "; " + ours
	}
	return ""
}

// unknownName says what expr says of a name that it does not know.
func unknownName(name string, names []string) string {
	if ours := otherWords[name]; ours != "" {
		return "there is no name " + name + "; " + ours
	}
	if near := workflow.Nearest(name, names); near != "" {
		return fmt.Sprintf("there is no name %s (did you mean %s?)", name, near)
	}
	return fmt.Sprintf("there is no name %s; inputs are inputs.%s, variables are variables.%s", name, name, name)
}

var (
	unexpected = regexp.MustCompile(`(?s)^unexpected token \w+\("(.*)"\)$`)
	unreadable = regexp.MustCompile(`^unrecognized character: U\+[0-9A-F]+ '(.+)'$`)
	noField    = regexp.MustCompile(`^type func\(.*\) .* has no (?:field|method) (\w+)$`)
	argCount   = regexp.MustCompile(`^invalid number of arguments \(expected (\d+), got (\d+)\)$`)
	lastWord   = regexp.MustCompile(`(\w+)\W*$`)
	firstWord  = regexp.MustCompile(`^\w*`)
	dashed     = regexp.MustCompile(`\b(inputs|variables|secrets)\.([\w-]+)-$`)
	beginsIf   = regexp.MustCompile(`^\s*if\b`)
)

// OfSource says what a message of expr's means to an author. at is the byte of source
// that it is about, names are those that an expression may begin with.
func OfSource(message, source string, at int, names func() []string) string {
	before, rest := strings.TrimRight(source[:at], " \t\n"), source[at:]
	if name, ok := strings.CutPrefix(message, "unknown name "); ok {
		if m := dashed.FindStringSubmatch(source[:at]); m != nil {
			return fmt.Sprintf("there is no name %s; a name with - in it stands in brackets: %s[%q]", name, m[1], m[2]+"-"+name)
		}
		return unknownName(name, names())
	}
	if m := noField.FindStringSubmatch(message); m != nil {
		if f := lastWord.FindStringSubmatch(before); f != nil {
			return fmt.Sprintf("%s is a function; write %s(%q)", f[1], f[1], m[1])
		}
	}
	if m := argCount.FindStringSubmatch(message); m != nil {
		fn := firstWord.FindString(rest)
		return strings.TrimSpace(fmt.Sprintf("%s takes %s, and not %s", fn, Values(m[1]), m[2]))
	}
	if m := unreadable.FindStringSubmatch(message); m != nil {
		more := ""
		if strings.Contains("“”„‘’‚«»", m[1]) {
			more = `; texts stand in " or '`
		}
		return m[1] + " means nothing here" + more
	}
	if message == "unexpected token EOF" {
		return "it ends too early: a value or a closing bracket is missing" + strange(before, "", source)
	}
	if m := unexpected.FindStringSubmatch(message); m != nil {
		return m[1] + " is not expected here" + strange(before, rest, source)
	}
	return Of(message, rest)
}

// Values is a number of values, in words.
func Values(n string) string {
	if n == "1" {
		return "one value"
	}
	return n + " values"
}

// sight is the place where a parser did not go on.
type sight struct{ before, rest, word, next, source string } // word ends before, next begins rest

func (s sight) ends(signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.HasSuffix(s.before, sign) })
}

func (s sight) begins(sign string) bool { return strings.HasPrefix(s.rest, sign) }

func (s sight) nextIs(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(s.next, w) })
}

// strangers are what other languages write, and how it is written here.
var strangers = []struct {
	here func(s sight) bool
	ours string
}{
	{func(s sight) bool { return s.ends("++", "--") || s.begins("=") && s.ends("+", "-", "*", "/") }, "an expression changes nothing: setVariable does"},
	{func(s sight) bool { return s.begins("=") && s.ends("==", "!=") }, "write == or !="},
	{func(s sight) bool { return s.begins("=>") }, "within filter(list, …), map(list, …) and their like the item is #, and its fields #.price"},
	{func(s sight) bool { return s.begins("=~") }, `a pattern is looked for by matches: inputs.id matches "^A"`},
	{func(s sight) bool { return s.begins("=") }, "equal is =="},
	{func(s sight) bool { return s.begins("&") }, "write and, or &&"},
	{func(s sight) bool { return s.ends("?:") }, "write a ?? b"},
	{func(s sight) bool { return s.word == "new" }, "a time is now() or date(…), an object {a: 1}"},
	{func(s sight) bool { return s.word == "matches" && s.begins("/") }, `a pattern is a text: matches "^A"`},
	{func(s sight) bool { return s.nextIs("like") }, "write contains, startsWith, endsWith or matches"},
	{func(s sight) bool { return s.nextIs("is") }, "write == nil, or len(…) == 0"},
	{func(s sight) bool { return s.nextIs("between") }, "write 1 <= a and a <= 2"},
	{func(s sight) bool { return s.nextIs("contains", "startsWith", "endsWith", "matches", "in") }, "it stands between two values: a contains b"},
	{func(s sight) bool { return beginsIf.MatchString(s.source) }, "write condition ? a : b, or if condition { a } else { b }"},
	{func(s sight) bool {
		return s.rest == "" && strings.Contains(s.source, "?") && !strings.Contains(s.source, ":")
	}, "behind ? there are two values: condition ? a : b"},
}

// strange tells those who write what another language has how it is written here.
func strange(before, rest, source string) string {
	s := sight{before: before, rest: rest, next: firstWord.FindString(rest), source: source}
	if m := lastWord.FindStringSubmatch(before); m != nil && strings.HasSuffix(before, m[1]) {
		s.word = m[1]
	}
	for _, w := range []string{s.word, s.next} {
		if lower := strings.ToLower(w); lower != w && slices.Contains([]string{"and", "or", "not", "in"}, lower) {
			return "; " + w + " is written " + lower
		}
	}
	for _, known := range strangers {
		if known.here(s) {
			return "; " + known.ours
		}
	}
	return ""
}

// Of says in the words of the definition what expr says in those of Go. at is the
// source from the place on that it is about.
func Of(message, at string) string {
	for _, w := range theirs {
		message = w.theirs.ReplaceAllString(message, w.ours)
	}
	name := firstWord.FindString(strings.TrimLeft(at, ".? "))
	switch {
	case strings.HasPrefix(message, "array elements") && name != "":
		message = "a list has no " + name
	case strings.HasPrefix(message, "array elements"):
		return "items of a list are chosen by a number: [0] is the first, [-1] the last"
	case !strings.Contains(message, " and so no "):
		return message
	}
	return message + hint(members, strings.ToLower(name))
}

var theirs = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`^(?:invalid (?:integer|hex|binary|octal) literal: .*|integer literal is .*)$`), "whole numbers have 64 bits: 9223372036854775807 is the largest; a larger one can be an input, or a text"},
	{regexp.MustCompile(`^(?:invalid float literal: .*|float literal is .*)$`), "the largest number is 1.7e308"},
	{regexp.MustCompile(`^invalid operation: % \(mismatched types (?:float64|int) and (?:float64|int)\)`), "% takes whole numbers; write int(…) around what may be none"},
	{regexp.MustCompile(`^cannot use float64 as argument \(type int\) to call (\w+)`), "$1 takes whole numbers; write int(…) around what may be none"},
	{regexp.MustCompile(`^cannot use (.*) as argument \(type \*time\.Location\) to call In`), `In takes a time zone, as in In(timezone("Europe/Berlin")), and not $1`},
	{regexp.MustCompile(`^invalid operation: int\(string\)$`), "items of a list are chosen by a number: [0] is the first, [-1] the last"},
	{regexp.MustCompile(`^illegal base64 data at input byte \d+$`), "this is no base64"},
	{regexp.MustCompile("^error parsing regexp: .*: `(.*)`$"), "the regular expression cannot be read at $1"},
	{regexp.MustCompile(`map\[(?:\w+|interface \{\})\](\[\])*(interface \{\}|[\w.]+)`), "object"},
	{regexp.MustCompile(`(\[\])+(interface \{\}|[\w.]+)`), "list"},
	{regexp.MustCompile(`\bunknown\b`), "nil"},
	{regexp.MustCompile(`\bjson\.Number\b`), "number"},
	{regexp.MustCompile(`\btime\.(Month|Weekday)\b`), "number"},
	{regexp.MustCompile(`\*?\btime\.Location\b`), "time zone"},
	{regexp.MustCompile(`\bfunc\([^()]*\)( \([^()]*\)| [\w.*]+)?`), "function"},
	{regexp.MustCompile(`\bfloat64\b|\bint64\b|\bint\b`), "number"},
	{regexp.MustCompile(`\bstring\b`), "text"},
	{regexp.MustCompile(`\bbool\b`), "boolean"},
	{regexp.MustCompile(`interface \{\}`), "any"},
	{regexp.MustCompile(`\btime\.Time\b`), "time"},
	{regexp.MustCompile(`\btime\.Duration\b`), "duration"},
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (.*) and (.*)\)`), "$1 takes no $2 and $3"},
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched type (.*)\)`), "$1 takes no $2"},
	{regexp.MustCompile(`^non-boolean expression \(type (.*)\) used as condition`), "a condition is true or false, and not $1"},
	{regexp.MustCompile(`^non-bool expression \(type (.*)\) used as condition`), "a condition is true or false, and not $1"},
	{regexp.MustCompile(`invalid argument for (\w+) \(type (.*)\)`), "$1 takes no $2"},
	{regexp.MustCompile(`cannot use (.*) as argument \(type (.*)\) to call (\w+)\s*$`), "$3 takes $2, and not $1"},
	{regexp.MustCompile(`^builtin (\w+) takes only array \(got (.*)\)`), "$1 takes a list, and not $2"},
	{regexp.MustCompile(`^type (.*) has no field (.*)$`), "$1 has no fields, and so no $2"},
	{regexp.MustCompile(`^type (.*) has no method (.*)$`), "$1 has no functions of its own, and so no $2"},
	{regexp.MustCompile(`^type (.*)\[(.*)\] is undefined$`), "$1 has no items, so nothing is chosen of it by a $2"},
	{regexp.MustCompile(`^interface conversion: any is (.*), not (.*)$`), "it takes $2, and is given $1"},
	{regexp.MustCompile(`<nil>`), "nil"},
	{regexp.MustCompile(`%!s\((\w+)(=[^)]*)?\)`), "$1"},
	{regexp.MustCompile(`^reflect\.Value\.MapIndex: value of type (\S+) is not assignable to type text$`), "the fields of an object have texts as names, and this is $1"},
	{regexp.MustCompile(`^reflect: Call using (.*) as type (.*)$`), "it takes $2, and is given $1"},
	{regexp.MustCompile(`^(?:not|too) \w+ arguments to call (trim\w*)$`), "$1 takes a text, and perhaps another one"},
	{regexp.MustCompile(`\b(no|and|not) any\b`), "$1 value"},
	{regexp.MustCompile(`^invalid operation: (\S+) ([-<>=+*/%]+) (\S+)$`), "$2 takes no $1 and $3"},
	{regexp.MustCompile(`^invalid operation: (\w+)\((.*)\)$`), "$1 takes no $2"},
	{regexp.MustCompile(`^reduce of empty array with no initial value$`), "reduce of an empty list wants a third value, to begin with"},
	{regexp.MustCompile(`\barray length\b`), "length of the list"},
	{regexp.MustCompile(`^cannot concat (.*)$`), "concat takes lists, and not $1; texts are joined with +"},
}
