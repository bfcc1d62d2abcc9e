package filter

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // what templates ask for, and no secret of ours
	"crypto/sha1" //nolint:gosec // the same
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/expression/liquid/value"
)

// elsaFilters are those of Elsa, and of its library, that Liquid's reference has not.
var elsaFilters = map[string]Filter{
	"base64":        {0, 0, base64Of},
	"keys":          {0, 0, keys},
	"handle":        {0, 0, onText(handle)},
	"handleize":     {0, 0, onText(handle)},
	"raw":           {0, 0, func(c *Call) (any, error) { return c.Of, nil }}, // nothing is escaped here
	"md5":           {0, 0, digest(md5.New)},
	"sha1":          {0, 0, digest(sha1.New)},
	"sha256":        {0, 0, digest(sha256.New)},
	"hmac_sha1":     {1, 1, keyed(sha1.New)},
	"hmac_sha256":   {1, 1, keyed(sha256.New)},
	"format_string": {0, 20, formatString},
}

// base64Of is the base64 of a text, and of the JSON of an object or a list; nothing of nothing.
func base64Of(c *Call) (any, error) {
	var v any
	var err error
	switch c.Of.(type) {
	case nil:
		return nil, nil
	case map[string]any, []any, value.Span:
		v, err = toJSON(c)
	default:
		v, err = c.text()
	}
	if err != nil {
		return nil, err
	}
	text, _ := v.(string)
	if err := value.BoundText(len(text)); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func keys(c *Call) (any, error) {
	of, ok := c.Of.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("keys are those of an object, and %s is none", value.Shown(c.Of))
	}
	out := make([]any, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, name)
	}
	return out, nil
}

var notInHandle = regexp.MustCompile(`[^\p{L}\p{N}]+`)

// handle is a text as a part of an address.
func handle(s string) string {
	return strings.Trim(notInHandle.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

func digest(of func() hash.Hash) func(c *Call) (any, error) {
	return onText(func(s string) string {
		h := of()
		h.Write([]byte(s))
		return hex.EncodeToString(h.Sum(nil))
	})
}

func keyed(of func() hash.Hash) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		key, err := c.argText(0)
		if err != nil {
			return nil, err
		}
		return onText(func(s string) string {
			h := hmac.New(of, []byte(key))
			h.Write([]byte(s))
			return hex.EncodeToString(h.Sum(nil))
		})(c)
	}
}

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}?|\}`)

// formatString puts values in the places {0}, {1} and so on of a text; {{ and }} are braces.
func formatString(c *Call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	places := fmt.Sprintf("none of the places {0} to {%d} for its values, which take no format here", len(c.Args)-1)
	if len(c.Args) == 0 {
		places = "a place for a value, and it is given none: write them behind the filter, such as format_string: 1, or {{ and }} for braces"
	}
	size := len(s)
	out := placeholder.ReplaceAllStringFunc(s, func(found string) string {
		switch found {
		case "{{":
			return "{"
		case "}}":
			return "}"
		}
		var n int
		if _, wrong := fmt.Sscanf(found, "{%d}", &n); wrong != nil || found != fmt.Sprintf("{%d}", n) || n < 0 || n >= len(c.Args) {
			err = fmt.Errorf("%s in %s is %s", found, value.Shown(s), places)
			return ""
		}
		text, wrong := c.argText(n)
		if size += len(text); wrong == nil {
			wrong = value.BoundText(size)
		}
		if wrong != nil {
			err = wrong
			return ""
		}
		return text
	})
	return out, err
}
