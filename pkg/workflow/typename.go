package workflow

import (
	"strings"
	"unicode"
)

// ActivityType is the type that a definition has by its name where it is used as an activity: its words in PascalCase, so that
// Send greeting is SendGreeting.
func ActivityType(name string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(UpperFirst(w))
	}
	return b.String()
}
