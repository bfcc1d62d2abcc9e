package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxExpanded bounds the bytes of a pattern once its properties are written out.
const maxExpanded = 64 << 10

// Properties writes out the properties of characters in a pattern with the flag u: \p{Lu} becomes the list of all capitals. The
// machine takes \p for the letter p, silently.
func Properties(pattern string) (string, error) {
	if !strings.Contains(pattern, `\p`) && !strings.Contains(pattern, `\P`) {
		return pattern, nil
	}
	var b strings.Builder
	list := false // within [ ]
	for i := 0; i < len(pattern); i++ {
		if b.Len() > maxExpanded {
			return "", fmt.Errorf(`the properties in a regular expression are more than %d KiB written out: use fewer of them`, maxExpanded>>10)
		}
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == 'p' || pattern[i+1] == 'P'):
			name, after, ok := strings.Cut(pattern[i+2:], "}")
			if !ok || !strings.HasPrefix(name, "{") {
				return "", fmt.Errorf(`\%c wants a property in a regular expression with the flag u, as in \%c{L}`, pattern[i+1], pattern[i+1])
			}
			ranges, err := property(name[1:])
			if err != nil {
				return "", err
			}
			if pattern[i+1] == 'P' {
				ranges = others(ranges)
			}
			writeRanges(&b, ranges, list)
			i = len(pattern) - len(after) - 1
		case c == '\\' && i+1 < len(pattern):
			b.WriteString(pattern[i : i+2])
			i++
		default:
			list = c == '[' || list && c != ']'
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

type runes struct{ from, to rune }

// property are the characters that have a property, in order.
func property(name string) ([]runes, error) {
	if tables := tablesOf(name); tables != nil {
		return rangesOf(tables...), nil
	}
	switch name {
	case "Any":
		return []runes{{0, unicode.MaxRune}}, nil
	case "ASCII":
		return []runes{{0, unicode.MaxASCII}}, nil
	}
	return nil, fmt.Errorf(`the property %q of characters is not known in a regular expression: there are categories such as L, Lu or Letter, `+
		`scripts such as Script=Greek, and Alphabetic, Uppercase, Lowercase, White_Space, ASCII and Any`, name)
}

// tablesOf are the tables that make up a property; nil for one that there is not.
func tablesOf(name string) []*unicode.RangeTable {
	var t *unicode.RangeTable
	switch kind, value, qualified := strings.Cut(name, "="); {
	case qualified && (kind == "Script" || kind == "sc"):
		t = unicode.Scripts[value]
	case qualified && (kind == "General_Category" || kind == "gc"):
		t = category(value)
	case qualified:
	case name == "Alphabetic" || name == "Alpha":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_Alphabetic}
	case name == "Uppercase" || name == "Upper":
		return []*unicode.RangeTable{unicode.Lu, unicode.Other_Uppercase}
	case name == "Lowercase" || name == "Lower":
		return []*unicode.RangeTable{unicode.Ll, unicode.Other_Lowercase}
	default:
		if t = category(name); t == nil && !strings.HasPrefix(name, "Other_") {
			t = unicode.Properties[name]
		}
	}
	if t == nil {
		return nil
	}
	return []*unicode.RangeTable{t}
}

func category(name string) *unicode.RangeTable {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	return unicode.Categories[name]
}

// rangesOf joins tables.
func rangesOf(tables ...*unicode.RangeTable) []runes {
	var all []runes
	add := func(from, to, step rune) {
		if step == 1 {
			all = append(all, runes{from, to})
			return
		}
		for r := from; r <= to; r += step {
			all = append(all, runes{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b runes) int { return int(a.from - b.from) })
	joined := all[:0]
	for _, r := range all {
		if n := len(joined); n > 0 && r.from <= joined[n-1].to+1 {
			joined[n-1].to = max(joined[n-1].to, r.to)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// others are the characters that are not in the list.
func others(ranges []runes) []runes {
	var out []runes
	next := rune(0)
	for _, r := range ranges {
		if r.from > next {
			out = append(out, runes{next, r.from - 1})
		}
		next = r.to + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, runes{next, unicode.MaxRune})
	}
	return out
}

// writeRanges writes a list, or what stands within one. Halves of surrogates are no characters here.
func writeRanges(b *strings.Builder, ranges []runes, within bool) {
	if !within {
		b.WriteByte('[')
		defer b.WriteByte(']')
	}
	write := func(from, to rune) {
		writeRune(b, from)
		if to > from {
			b.WriteByte('-')
			writeRune(b, to)
		}
	}
	for _, r := range ranges {
		if r.from < 0xD800 {
			write(r.from, min(r.to, 0xD7FF))
		}
		if r.to > 0xDFFF {
			write(max(r.from, 0xE000), r.to)
		}
	}
}

func writeRune(b *strings.Builder, r rune) {
	if r < 0x80 || r == 0x2028 || r == 0x2029 {
		fmt.Fprintf(b, `\u%04X`, r)
		return
	}
	b.WriteRune(r)
}
