package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MaxExact is 2^53: up to it, a float64 holds every whole number.
const MaxExact = 1 << 53

// Number gives a number as it is written in JSON the one form that it has in
// values everywhere:
//
//   - int64, if it is whole and fits, however it is written (1, 1.0, 1e0, -0);
//   - float64, if it has decimals (the nearest one, as JSON has it), or if it is
//     whole, larger than int64, and float64 writes it with the same digits (1e20);
//   - [json.Number], the text as it is written, if it is any other whole number,
//     or beyond float64's range: nothing computes with it and nothing changes it.
//
// So Number of the JSON of what it gave is what it gave.
func Number(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return json.Number(text)
	}
	d, err := ParseDecimal(text)
	if err != nil || !d.whole() {
		return Float(f) // so small that it is zero, or not whole before it was rounded
	}
	if i, ok := d.int64(); ok {
		return i
	}
	if short, err := ParseDecimal(strconv.FormatFloat(f, 'e', -1, 64)); err == nil && short == d {
		return f
	}
	return json.Number(text)
}

// ParseNumber is [Number] for text that may be none.
func ParseNumber(text string) (v any, ok bool) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	if text == "" || text[0] != '-' && !isDigit(text[0]) || !isDigit(text[len(text)-1]) || !json.Valid([]byte(text)) {
		return nil, false
	}
	return Number(text), true
}

// Float is [Number] of the JSON of f; nil, as in JSON, for NaN and the
// infinities.
func Float(f float64) any {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil
	case f != math.Trunc(f):
		return f
	case math.Abs(f) <= MaxExact:
		return int64(f)
	}
	return Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// DefinedNumber gives a number of [Number] as definitions have it: a whole one is a
// float64 as far as that holds every whole number.
func DefinedNumber(n any) any {
	if i, ok := n.(int64); ok && i <= MaxExact && i >= -MaxExact {
		return float64(i)
	}
	return n
}

// Decimal is a number: its digits, without zeros at either end, times a power of
// ten. Zero has no digits.
type Decimal struct {
	negative bool
	digits   string
	exponent int64
}

var errExponent = errors.New("the exponent is out of range")

// ParseDecimal reads a number as JSON writes it.
func ParseDecimal(text string) (Decimal, error) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, expText := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, expText = rest[:i], rest[i+1:]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return Decimal{}, nil
	}
	exp := int64(0)
	if expText != "" {
		var err error
		if exp, err = strconv.ParseInt(expText, 10, 32); err != nil {
			return Decimal{}, errExponent
		}
	}
	trimmed := strings.TrimRight(digits, "0")
	return Decimal{negative, trimmed, exp - int64(len(frac)) + int64(len(digits)-len(trimmed))}, nil
}

func (d Decimal) whole() bool { return d.exponent >= 0 }

// int64 gives a whole number, if it fits.
func (d Decimal) int64() (int64, bool) {
	const most = 19 // digits of an int64
	if int64(len(d.digits))+d.exponent > most {
		return 0, false
	}
	text := d.digits + strings.Repeat("0", int(d.exponent))
	if text == "" {
		return 0, true
	}
	if d.negative {
		text = "-" + text
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

func (d Decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	out := d.digits + "e" + strconv.FormatInt(d.exponent, 10)
	if d.negative {
		out = "-" + out
	}
	return out
}

// Unmarshal is [json.Unmarshal] with numbers as [Number] has them in what has no
// type (any, and within map[string]any and []any). All code that reads values of
// workflows uses it, so that they mean the same on every path.
func Unmarshal(raw []byte, into any) error { return jsonx.Unmarshal(raw, into, asValues) }

// UnmarshalKnown is [Unmarshal] that refuses fields that a struct does not have.
func UnmarshalKnown(raw []byte, into any) error {
	return jsonx.Unmarshal(raw, into, asValues, jsonx.RejectUnknownMembers(true))
}

// UnmarshalDistinct is [Unmarshal] that refuses an object that has a name twice, with
// [ErrSameName]. Two that are not UTF-8 may be the same one.
func UnmarshalDistinct(raw []byte, into any) error {
	err := jsonx.Unmarshal(raw, into, asValues, jsontext.AllowDuplicateNames(false), jsonv1.ReportErrorsWithLegacySemantics(false))
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("%w: %w", ErrSameName, err)
	}
	return err
}

var asValues = jsonx.JoinOptions(jsonv1.DefaultOptionsV1(), jsonx.WithUnmarshalers(jsonx.JoinUnmarshalers(
	jsonx.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *any) (err error) {
		*into, err = ReadValue(dec, math.MaxInt)
		return err
	}),
	jsonx.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *map[string]any) error {
		if dec.PeekKind() != '{' {
			return errors.ErrUnsupported // null, or the error that the library has for it
		}
		v, err := ReadValue(dec, math.MaxInt)
		if err == nil {
			*into = v.(map[string]any)
		}
		return err
	}),
)))

// ErrTooDeep is the error for a value that is nested deeper than was allowed.
var ErrTooDeep = errors.New("nested too deep")

// ReadValue reads one value of any kind, down to a depth of the decoder's stack,
// which the decoder bounds itself, too.
func ReadValue(dec *jsontext.Decoder, depth int) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if dec.StackDepth() > depth {
		return nil, ErrTooDeep
	}
	switch tok.Kind() {
	case '{':
		m := map[string]any{}
		for {
			name, err := dec.ReadToken()
			if err != nil || name.Kind() == '}' {
				return m, err
			}
			key := name.String() // the token is void after the next
			if m[key], err = ReadValue(dec, depth); err != nil {
				return nil, err
			}
		}
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			v, err := ReadValue(dec, depth)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.ReadToken()
		return list, err
	case '"':
		return tok.String(), nil
	case '0':
		return Number(tok.String()), nil
	case 't', 'f':
		return tok.Bool(), nil
	}
	return nil, nil
}
