package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ActivityType is the type that a definition has by its name where it is used as an activity: its words in PascalCase, so that
// Send greeting is SendGreeting.
func ActivityType(name string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, size := utf8.DecodeRuneInString(w)
		b.WriteRune(unicode.ToUpper(first))
		b.WriteString(w[size:])
	}
	return b.String()
}
