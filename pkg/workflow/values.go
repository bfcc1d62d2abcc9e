package workflow

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/pkg/workflow/value"
)

// Values are read and written by the package value; these are its names for those who have
// workflows to do with.

// MaxExact is 2^53: up to it, a float64 holds every whole number.
const MaxExact = value.MaxExact

var (
	// ErrTooDeep is the error for a value that is nested deeper than was allowed.
	ErrTooDeep = value.ErrTooDeep
	// ErrSameName is the error for an object with two names that are the same in JSON.
	ErrSameName = value.ErrSameName
)

// Marshal writes a value as JSON, equal values as equal bytes: [value.Marshal].
func Marshal(v any) ([]byte, error) { return value.Marshal(v) }

// Unmarshal reads JSON with numbers as [Number] has them: [value.Unmarshal].
func Unmarshal(raw []byte, into any) error { return value.Unmarshal(raw, into) }

// UnmarshalKnown is [Unmarshal] that refuses fields that a struct does not have.
func UnmarshalKnown(raw []byte, into any) error { return value.UnmarshalKnown(raw, into) }

// UnmarshalDistinct is [Unmarshal] that refuses an object that has a name twice, with
// [ErrSameName].
func UnmarshalDistinct(raw []byte, into any) error { return value.UnmarshalDistinct(raw, into) }

// ReadValue reads one value of any kind, down to a depth: [value.ReadValue].
func ReadValue(dec *jsontext.Decoder, depth int) (any, error) { return value.ReadValue(dec, depth) }

// Number gives a number as it is written in JSON the one form that it has in values
// everywhere: [value.Number].
func Number(text string) any { return value.Number(text) }

// IsYAMLNumber reports whether a plain scalar is a number in YAML 1.2, however large.
func IsYAMLNumber(text string) bool { return value.IsYAMLNumber(text) }

// TwoVersions gives what to write for a number that YAML 1.1 and 1.2 read as two different ones, or only one of them as a number;
// "" for others.
func TwoVersions(text string) string { return value.TwoVersions(text) }

// ParseNumber is [Number] for text that may be none.
func ParseNumber(text string) (v any, ok bool) { return value.ParseNumber(text) }

// Float is [Number] of the JSON of f; nil, as in JSON, for NaN and the infinities.
func Float(f float64) any { return value.Float(f) }

// DefinedNumber gives a number of [Number] as definitions have it: [value.DefinedNumber].
func DefinedNumber(n any) any { return value.DefinedNumber(n) }

// ValidText is s with U+FFFD for each byte that is not UTF-8, as JSON has it.
func ValidText(s string) string { return value.ValidText(s) }

// Shorten cuts what an author wrote to the 40 characters that a problem quotes.
func Shorten(s string) string { return value.Shorten(s) }

// CutChars cuts s after that many characters. What is cut ends with "…".
func CutChars(s string, chars int) string { return value.CutChars(s, chars) }

// CutBytes cuts s to at most that many bytes, between two characters. What is cut
// ends with "…", which is not counted.
func CutBytes(s string, bytes int) string { return value.CutBytes(s, bytes) }

// GUID gives the one text of a Guid: [value.GUID].
func GUID(v any) (any, error) { return value.GUID(v) }

// HoldsJSON tells whether the values of a type are objects or lists: [value.HoldsJSON].
func HoldsJSON(alias string) bool { return value.HoldsJSON(alias) }
