package value

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidText is s with U+FFFD for each byte that is not UTF-8, as JSON has it. All texts
// and names within an instance are valid: then they are the same after they were saved.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Shorten cuts what an author wrote to the 40 characters that a problem quotes.
func Shorten(s string) string { return CutChars(s, 40) }

// CutChars cuts s after that many characters. What is cut ends with "…".
func CutChars(s string, chars int) string {
	if utf8.RuneCountInString(s) > chars {
		return string([]rune(s)[:chars]) + "…"
	}
	return s
}

// CutBytes cuts s to at most that many bytes, between two characters. What is cut
// ends with "…", which is not counted.
func CutBytes(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	for bytes > 0 && !utf8.RuneStart(s[bytes]) {
		bytes--
	}
	return s[:bytes] + "…"
}

// maxLine bounds a line where the node sends it, in bytes: a workflow may write large values in
// a loop, and disks and collectors of logs are not the workflow's.
const maxLine = 8 << 10

// CutLine is a line as it is sent, with its size if it was longer.
func CutLine(text string) string {
	if n := len(text); n > maxLine {
		return fmt.Sprintf("%s … (%d bytes in all)", strings.ToValidUTF8(text[:maxLine], ""), n)
	}
	return text
}
