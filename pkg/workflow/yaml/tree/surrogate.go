package tree

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v4"
)

// pair is a character beyond U+FFFF as JSON escapes it, by two halves, with all backslashes before it.
var pair = regexp.MustCompile(`\\+u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

const lenPair = len(`\ud83d\ude00`)

// joinPairs stands something in for such pairs, which the library refuses: as many characters, so that all has its place,
// and the same everywhere, since only the library knows whether a text is in double quotes. restore makes of that, in the
// tree, what was meant: the character in double quotes, and what is written elsewhere.
func joinPairs(src []byte) (out []byte, restore func(*yaml.Node)) {
	restore = func(*yaml.Node) {}
	if !pair.Match(src) {
		return src, restore
	}
	sign := unused(src)
	if sign == "" {
		return src, restore
	}
	out = pair.ReplaceAllFunc(src, func(found []byte) []byte {
		before := len(found) - lenPair
		if before%2 != 0 {
			return found // its backslash is escaped itself
		}
		return slices.Concat(found[:before], []byte(sign), found[before+1:before+6], []byte(sign), found[before+7:])
	})
	r := restoring{regexp.MustCompile(sign + `u(....)` + sign + `u(....)`), strings.NewReplacer(sign, `\`)}
	return out, r.node
}

// unused is a character that is nowhere in a text, and that no escape in it is either; "" if there is none.
func unused(src []byte) string {
	const first, last = '\uE000', '\uF8FF' // no character has a meaning there
	used := map[rune]bool{}
	for _, c := range string(src) {
		used[c] = true
	}
	for i := range len(src) - 3 {
		if n, err := strconv.ParseUint(string(src[i:i+4]), 16, 16); err == nil {
			used[rune(n)] = true
		}
	}
	for c := first; c <= last; c++ {
		if !used[c] {
			return string(c)
		}
	}
	return ""
}

type restoring struct {
	joined  *regexp.Regexp
	written *strings.Replacer
}

func (r restoring) node(n *yaml.Node) {
	if n.Style&yaml.DoubleQuotedStyle != 0 {
		n.Value = r.joined.ReplaceAllStringFunc(n.Value, func(found string) string {
			half := r.joined.FindStringSubmatch(found)
			high, _ := strconv.ParseUint(half[1], 16, 16) // joinPairs took hexadecimal digits only
			low, _ := strconv.ParseUint(half[2], 16, 16)
			return string(utf16.DecodeRune(rune(high), rune(low)))
		})
	}
	for _, text := range []*string{&n.Value, &n.Tag, &n.HeadComment, &n.LineComment, &n.FootComment} {
		*text = r.written.Replace(*text)
	}
	for _, kid := range n.Content {
		r.node(kid)
	}
}
