package secrets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// What a secret may be.
const (
	MinLength = 6        // bytes
	MaxLength = 64 << 10 // bytes
	maxTotal  = 1 << 20  // bytes of all values
	maxCount  = 1000
)

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,253}$`)

// Set is some secrets at one moment.
type Set struct {
	values  map[string]string
	former  []formerValue // newest first
	numbers map[string]string
	matcher matcher
}

// formerValue is one that a secret had before.
type formerValue struct{ name, value string }

// maxFormer bounds the former values that are still recognised.
const maxFormer = 64

// New makes a set. It returns an error for a name or a value that cannot be one;
// see [MinLength] and [MaxLength].
func New(values map[string]string) (*Set, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := check(name, values[name]); err != nil {
			return nil, err
		}
	}
	return build(maps.Clone(values), nil), nil
}

func check(name, value string) error {
	switch {
	case !validName.MatchString(name):
		return fmt.Errorf("%q is no name of a secret; it has letters, digits and . _ -", name)
	case len(value) < MinLength:
		return fmt.Errorf("secret %s has fewer than %d bytes, so it could not be told from ordinary text; make it longer", name, MinLength)
	case len(value) > MaxLength:
		return fmt.Errorf("secret %s has more than %d bytes", name, MaxLength)
	case !utf8.ValidString(value): // JSON changes such bytes, so they would not be found again
		return fmt.Errorf("secret %s is not UTF-8 text; write bytes as base64 or hexadecimal", name)
	}
	return nil
}

func build(values map[string]string, former []formerValue) *Set {
	s := &Set{values: values, former: former, numbers: map[string]string{}}
	for _, f := range former {
		s.add(f.name, f.value)
	}
	for name, value := range values { // the present name of a value wins
		s.add(name, value)
	}
	s.matcher.finish()
	return s
}

func (s *Set) add(name, value string) {
	for _, form := range forms(value) {
		s.matcher.add(form, name)
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		s.numbers[value] = name
	}
}

// Get is the value of a secret; false if there is none.
func (s *Set) Get(name string) (string, bool) {
	if s == nil {
		return "", false
	}
	v, ok := s.values[name]
	return v, ok
}

// Names are the names of all secrets, sorted.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.values))
}

// none reports whether nothing can be found.
func (s *Set) none() bool { return s == nil || len(s.values)+len(s.former) == 0 }

// Redact replaces every value of a secret in text.
func (s *Set) Redact(text string) string {
	if s.none() {
		return text
	}
	text = s.matcher.replace(text, text, nil)
	if plain, at := unescape(text); plain != "" {
		text = s.matcher.replace(text, plain, at)
	}
	for {
		plain, places := unescape(text)
		at, end, p := s.matcher.behind(text, plain, places)
		if p == nil {
			return text
		}
		text = text[:at] + markOf(p.name) + text[end:]
	}
}

// Find names a secret whose value is in text; "" if there is none.
func (s *Set) Find(text string) string {
	if s.none() {
		return ""
	}
	if _, _, p := s.matcher.find(text, 0); p != nil {
		return p.name
	}
	if plain, places := unescape(text); plain != "" {
		if _, _, p := s.matcher.find(plain, 0); p != nil {
			return p.name
		}
		if _, _, p := s.matcher.behind(text, plain, places); p != nil {
			return p.name
		}
	}
	return ""
}

// RedactBytes is [Set.Redact] for bytes; it gives b itself if nothing is found.
func (s *Set) RedactBytes(b []byte) []byte {
	if s.none() {
		return b
	}
	if text := string(b); s.Find(text) != "" {
		return []byte(s.Redact(text))
	}
	return b
}

// RedactValue replaces the values of secrets in a JSON-like value, keys of objects
// included, and names one that it found; "" if it found none. What holds none is
// given back as it is; v is not changed.
func (s *Set) RedactValue(v any) (out any, found string) {
	if s.none() {
		return v, ""
	}
	return walk{s, true}.value(v)
}

// RedactObject is [Set.RedactValue] for an object.
func (s *Set) RedactObject(v map[string]any) (out map[string]any, found string) {
	if s.none() {
		return v, ""
	}
	return walk{s, true}.object(v)
}

// RedactJSON replaces the values of secrets in the values, not in the keys, of a
// JSON document. It gives doc itself if it holds none, and an error if it is no
// JSON.
func (s *Set) RedactJSON(doc []byte) ([]byte, error) {
	if s.none() || s.Find(string(doc)) == "" {
		return doc, nil
	}
	v, err := decode(doc)
	if err != nil {
		return nil, err
	}
	v, _ = walk{s, false}.value(v)
	return encode(v)
}

// walk goes through a value.
type walk struct {
	set  *Set
	keys bool // look at the keys of objects too
}

func (w walk) text(text string) (string, string) {
	name := w.set.Find(text)
	if name == "" {
		return text, ""
	}
	return w.set.Redact(text), name
}

func (w walk) number(v any, text string) (any, string) {
	if name, ok := w.set.number(text); ok {
		return markOf(name), name
	}
	return v, ""
}

func (w walk) value(v any) (any, string) {
	switch v := v.(type) {
	case string:
		return w.text(v)
	case json.Number:
		return w.number(v, v.String())
	case int64:
		if len(w.set.numbers) > 0 {
			return w.number(v, strconv.FormatInt(v, 10))
		}
	case float64:
		if len(w.set.numbers) > 0 {
			return w.number(v, strconv.FormatFloat(v, 'f', -1, 64))
		}
	case []any:
		return w.list(v)
	case map[string]any:
		return w.object(v)
	case nil, bool, int:
	default:
		return w.other(v)
	}
	return v, ""
}

// other looks at what is no JSON-like value by its JSON.
func (w walk) other(v any) (any, string) {
	raw, err := json.Marshal(v)
	if err != nil || w.set.Find(string(raw)) == "" {
		return v, ""
	}
	tree, err := decode(raw)
	if err != nil {
		return v, ""
	}
	return w.value(tree)
}

func (w walk) list(v []any) (any, string) {
	out, found := v, ""
	for i, e := range v {
		c, name := w.value(e)
		if name == "" {
			continue
		}
		if found == "" {
			out, found = slices.Clone(v), name
		}
		out[i] = c
	}
	return out, found
}

func (w walk) object(v map[string]any) (map[string]any, string) {
	out, found := v, ""
	for k, e := range v {
		c, name := w.value(e)
		key := k
		if w.keys {
			var inKey string
			key, inKey = w.text(k)
			name = cmp.Or(name, inKey)
		}
		if name == "" {
			continue
		}
		if found == "" {
			out, found = maps.Clone(v), name
		}
		delete(out, k)
		out[key] = c
	}
	return out, found
}

func (s *Set) number(text string) (name string, ok bool) {
	if s.none() {
		return "", false
	}
	name, ok = s.numbers[text]
	return name, ok
}

func markOf(name string) string { return "***" + name + "***" }
