package filter

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
	"github.com/weft-run/weft/pkg/workflow"
)

// textFilters take a text and give one.
var textFilters = map[string]Filter{
	"append":         {1, 1, joinedTo(func(s, other string) string { return s + other })},
	"prepend":        {1, 1, joinedTo(func(s, other string) string { return other + s })},
	"capitalize":     {0, 0, onText(capitalize)},
	"downcase":       {0, 0, onText(strings.ToLower)},
	"upcase":         {0, 0, onText(strings.ToUpper)},
	"strip":          {0, 0, onText(strings.TrimSpace)},
	"lstrip":         {0, 0, onText(func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) })},
	"rstrip":         {0, 0, onText(func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) })},
	"strip_newlines": {0, 0, onText(strings.NewReplacer("\r\n", "", "\n", "").Replace)},
	"newline_to_br":  {0, 0, onText(strings.NewReplacer("\r\n", "<br />\n", "\n", "<br />\n").Replace)},
	"strip_html":     {0, 0, onText(stripHTML)},
	"escape":         {0, 0, onText(escape)},
	"escape_once":    {0, 0, onText(func(s string) string { return ampersand.ReplaceAllString(escape(s), "&$1;") })},
	"url_encode":     {0, 0, onText(url.QueryEscape)},
	"url_decode":     {0, 0, decoded(url.QueryUnescape, "percent signs")},

	"base64_encode":          {0, 0, onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })},
	"base64_decode":          {0, 0, decoded(base64Text(base64.StdEncoding), "base64")},
	"base64_url_safe_encode": {0, 0, onText(func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) })},
	"base64_url_safe_decode": {0, 0, decoded(base64Text(base64.URLEncoding), "base64 for URLs")},

	"remove":        {1, 1, replaced(-1, false)},
	"remove_first":  {1, 1, replaced(1, false)},
	"remove_last":   {1, 1, replaced(1, true)},
	"replace":       {1, 2, replaced(-1, false)},
	"replace_first": {1, 2, replaced(1, false)},
	"replace_last":  {1, 2, replaced(1, true)},

	"truncate":      {0, 2, truncate},
	"truncatewords": {0, 2, truncateWords},
	"split":         {1, 1, split},
	"json":          {0, 0, toJSON},
	"inspect":       {0, 0, toJSON},
	"type":          {0, 0, func(c *Call) (any, error) { return typeOf(c.Of), nil }},
}

// toJSON refuses what is too large before it is written: a list may hold the same text thousands of times.
func toJSON(c *Call) (any, error) {
	v, err := plain(c.Of)
	if err == nil {
		v, err = evaluation.Clean(v, 8*value.MaxText)
	}
	if errors.Is(err, evaluation.ErrOutput) {
		err = evaluation.ErrMemory
	}
	if err != nil {
		return nil, err
	}
	raw, err := workflow.Marshal(v)
	return string(raw), err
}

// plain is a value as JSON has it.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case value.Span:
		return v.List()
	case value.Empty, value.Blank:
		return "", nil
	}
	return v, nil
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case string, value.Empty, value.Blank:
		return "string"
	case []any, value.Span:
		return "list"
	case map[string]any:
		return "object"
	}
	if evaluation.IsNumber(v) {
		return "number"
	}
	return "time"
}

func onText(f func(string) string) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		s, err := c.text()
		if err == nil {
			err = value.BoundText(len(s))
		}
		if err != nil {
			return nil, err
		}
		return f(s), nil
	}
}

func joinedTo(f func(s, other string) string) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		s, err := c.text()
		if err != nil {
			return nil, err
		}
		other, err := c.argText(0)
		if err == nil {
			err = value.BoundText(len(s) + len(other))
		}
		if err != nil {
			return nil, err
		}
		return f(s, other), nil
	}
}

func decoded(f func(string) (string, error), what string) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		s, err := c.text()
		if err != nil {
			return nil, err
		}
		out, err := f(s)
		if err != nil || !utf8.ValidString(out) {
			return nil, fmt.Errorf("%s is no text in %s", value.Shown(s), what)
		}
		return out, nil
	}
}

func base64Text(e *base64.Encoding) func(string) (string, error) {
	return func(s string) (string, error) {
		b, err := e.DecodeString(s)
		return string(b), err
	}
}

// capitalize makes the first letter large, and all others small.
func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + strings.ToLower(s[size:])
}

var (
	ampersand = regexp.MustCompile(`&amp;([A-Za-z]+|#\d+);`)
	escape    = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace
)

// markup are the signs that begin and end what stripHTML takes out, the last one any tag.
var markup = [...]struct{ open, shut string }{{"<script", "</script>"}, {"<!--", "-->"}, {"<style", "</style>"}, {"<", ">"}}

// stripHTML takes as long as the text is: what nothing ends any more is not looked for again.
func stripHTML(s string) string {
	low := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
	var out strings.Builder
	var never [len(markup)]bool
next:
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			out.WriteString(s[at:])
			break
		}
		out.WriteString(s[at : at+i])
		at += i
		for k, m := range markup {
			if never[k] || !strings.HasPrefix(low[at:], m.open) {
				continue
			}
			if end := strings.Index(low[at+len(m.open):], m.shut); end >= 0 {
				at += len(m.open) + end + len(m.shut)
				continue next
			}
			never[k] = true
		}
		out.WriteByte('<')
		at++
	}
	return out.String()
}

// replaced replaces a text by another, or by nothing: n times from the left, always if n is negative, or the last one.
func replaced(n int, last bool) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		s, err := c.text()
		if err != nil {
			return nil, err
		}
		old, err := c.argText(0)
		if err != nil {
			return nil, err
		}
		with, err := c.argText(1)
		if err != nil {
			return nil, err
		}
		if last {
			i := strings.LastIndex(s, old)
			if i < 0 {
				return s, nil
			}
			return s[:i] + with + s[i+len(old):], nil
		}
		times := strings.Count(s, old)
		if n >= 0 {
			times = min(times, n)
		}
		if err := value.BoundText(len(s) + times*len(with)); err != nil {
			return nil, err
		}
		return strings.Replace(s, old, with, n), nil
	}
}

// cut is a text that is to be cut, how much may stay of it, and what is put at its end.
func (c *Call) cut(otherwise int64) (s string, most int64, end string, err error) {
	if s, err = c.text(); err != nil {
		return "", 0, "", err
	}
	if most = otherwise; len(c.Args) > 0 {
		most = value.Int(c.Args[0])
	}
	end, err = c.argTextOr(1, "...")
	return s, most, end, err
}

// truncate cuts a text to a number of characters, of which its end is a part.
func truncate(c *Call) (any, error) {
	s, most, end, err := c.cut(50)
	if err != nil {
		return nil, err
	}
	text := []rune(s)
	if int64(len(text)) <= most {
		return s, nil
	}
	keep := max(0, max(0, most)-int64(utf8.RuneCountInString(end)))
	return string(text[:keep]) + end, nil
}

func truncateWords(c *Call) (any, error) {
	s, most, end, err := c.cut(15)
	if err != nil {
		return nil, err
	}
	// What stands behind the last word that may stay, be it a space, is cut.
	words, rest := []string(nil), strings.TrimLeftFunc(s, unicode.IsSpace)
	for n := max(1, most); n > 0; n-- {
		i := strings.IndexFunc(rest, unicode.IsSpace)
		if i < 0 {
			return s, nil
		}
		words, rest = append(words, rest[:i]), strings.TrimLeftFunc(rest[i:], unicode.IsSpace)
	}
	return strings.Join(words, " ") + end, nil
}

var errParts = errors.New("a text is split into too many parts")

// split parts a text: at a sign, at any space for " ", into characters for "". Empty parts at its end are left out.
func split(c *Call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	sep, err := c.argText(0)
	if err != nil {
		return nil, err
	}
	if sep != " " && strings.Count(s, sep) > value.MaxList {
		return nil, errParts
	}
	var parts []string
	if sep == " " {
		parts = strings.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsSpace(r) })
	} else if s != "" {
		parts = strings.Split(s, sep)
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = strings.Clone(p) // one part does not keep all of the text
	}
	return out, nil
}
