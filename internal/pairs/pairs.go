// Package pairs reads the name=value pairs of queries and forms: all of them, or none.
//
// It guarantees that a pair which cannot be read is an error that says which one and why.
// Package net/url leaves such a pair out and gives the others beside its error, so that a
// caller who takes r.URL.Query() does what was asked without it: a dry run for real. It
// does not say which names there may be.
package pairs

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// shown is how much of a pair an error tells, in bytes.
const shown = 40

// Read gives the values by name, in their order. The text is what stands behind the "?" of a
// URL, or a body of the type application/x-www-form-urlencoded:
// https://url.spec.whatwg.org/#application/x-www-form-urlencoded. Pairs that are
// empty, as behind the last "&", are none. The error names the pair by its number and its
// name, not by its value, which may be a secret.
func Read(text string) (url.Values, error) {
	out, n := url.Values{}, 0
	for pair := range strings.SplitSeq(text, "&") {
		if n++; pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if strings.Contains(pair, ";") {
			return nil, fmt.Errorf(`pair %d (%s) has a ";": write "&" between pairs, or %%3B for the character`, n, short(name))
		}
		key, err := url.QueryUnescape(name)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, fmt.Errorf(`pair %d (%s) has a "%%" that two hexadecimal digits do not follow: write %%25 for the character`, n, short(name))
		}
		out[key] = append(out[key], value)
	}
	return out, nil
}

func short(name string) string {
	if len(name) > shown {
		name = name[:shown]
		for !utf8.ValidString(name) && len(name) > shown-utf8.UTFMax {
			name = name[:len(name)-1]
		}
		name += "…"
	}
	return fmt.Sprintf("%q", name)
}
