// Package dotnet says of a number that its author declares with a type of .NET whether it is one of that type, and all of it is kept.
//
// Guaranteed: a value of a type that is named here, also with its assembly or as one that may be null, is measured by what is written,
// with all digits. Not guaranteed: that a value is one of its type; of texts that are no number, and of other types, nothing is said.
//
// Concurrency: the functions keep no state.
package dotnet

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// widths are the smallest and the largest value of .NET's types of numbers that are narrower than numbers here, or other.
var widths = map[string][2]string{
	"byte": {"0", "255"}, "sbyte": {"-128", "127"}, "int16": {"-32768", "32767"}, "uint16": {"0", "65535"}, "int32": {"-2147483648", "2147483647"},
	"uint32": {"0", "4294967295"}, "uint64": {"0", "18446744073709551615"},
	"decimal": {"-79228162514264337593543950335", "79228162514264337593543950335"}, "single": {"-3.4028235e38", "3.4028235e38"}, "double": {"-1.7976931348623157e308", "1.7976931348623157e308"},
}

// dotNetType is the name of a type of .NET, also a qualified one, or one that may be null.
var dotNetType = regexp.MustCompile("^(?:System\\.Nullable`1\\[\\[)?(?:System\\.)?(\\w+)\\??(?:$|[,\\]])")

// Misfit is the code of a warning of what a value of a declared type is, and what to say of it behind "it is"; "" if it fits. elsa
// says that a number is none where the text of a time is wanted, as in Elsa's JSON.
func Misfit(v any, typ string, elsa bool) (code, detail string) {
	m := dotNetType.FindStringSubmatch(typ)
	n := numeral(v)
	if m == nil || n == "" {
		return "", ""
	}
	_, isText := v.(string)
	switch typ = m[1]; strings.ToLower(typ) {
	case "datetime", "datetimeoffset", "dateonly", "timeonly":
		if elsa && !isText {
			return "type-mismatch", fmt.Sprintf("the number %s, and stays one; %s is the text of a time such as \"2026-01-31T08:00:00Z\"", workflow.Shorten(n), typ)
		}
		return "", ""
	case "decimal":
		if short := kept(n); isText && short != "" {
			return "lost-digits", fmt.Sprintf("%s, of which %s is kept: numbers with decimals are of 53 bits; keep it as a text", workflow.Shorten(n), short)
		}
	}
	ends, ok := widths[strings.ToLower(typ)]
	if !ok {
		return "", ""
	}
	if is := float(n); is != nil && (is.Cmp(float(ends[0])) < 0 || is.Cmp(float(ends[1])) > 0) {
		return "beyond-type", fmt.Sprintf("%s, and %s of .NET is %s to %s: it is kept as it is", workflow.Shorten(n), typ, ends[0], ends[1])
	}
	return "", ""
}

// decimal is a number as people write one, of a length that is no burden.
var decimal = regexp.MustCompile(`^-?[0-9]{1,200}(\.[0-9]{1,200})?$`)

// kept is what becomes of a Decimal with more digits than a number has here; "" if it has not. One that is written as a number of JSON
// has lost them before.
func kept(text string) string {
	if !decimal.MatchString(text) {
		return ""
	}
	n, _ := workflow.ParseNumber(text)
	short := fmt.Sprint(n)
	if f, ok := n.(float64); ok {
		short = strconv.FormatFloat(f, 'f', -1, 64)
	}
	is, _ := new(big.Rat).SetString(text)
	if becomes, ok := new(big.Rat).SetString(short); ok && is.Cmp(becomes) != 0 {
		return short
	}
	return ""
}

// float has more digits than any number with an end of a type needs.
func float(text string) *big.Float {
	f, _, _ := big.ParseFloat(text, 10, 512, big.ToNearestEven) // nil for what is none
	return f
}

// numeral is a number as it is written, also in a text; "" for what is none.
func numeral(v any) string {
	switch v := v.(type) {
	case string:
		text := strings.TrimPrefix(strings.TrimSpace(v), "+")
		if _, ok := workflow.ParseNumber(text); ok {
			return text
		}
	case float64: // definitions have whole numbers so, too
		return engine.Text(workflow.Float(v))
	case int64, json.Number:
		return engine.Text(v)
	}
	return ""
}
