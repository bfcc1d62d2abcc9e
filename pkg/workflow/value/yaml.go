package value

import (
	"regexp"
	"strconv"
	"strings"
)

// yamlNumber is what YAML 1.2 has for numbers, of any size.
var yamlNumber = regexp.MustCompile(`^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+|0o[0-7]+)$`)

// IsYAMLNumber reports whether a plain scalar is a number in YAML 1.2, however large.
func IsYAMLNumber(s string) bool { return yamlNumber.MatchString(s) }

// TwoVersions gives what to write for a number that YAML 1.1 and 1.2 read as two different ones, or only one of them as a number; "" for others.
func TwoVersions(s string) string {
	digits := strings.TrimLeft(s, "+-")
	sign := strings.TrimPrefix(s[:len(s)-len(digits)], "+")
	plain := strings.ReplaceAll(digits, "_", "")
	switch {
	case len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0123456789") == "":
		plain = strings.TrimLeft(plain[:len(plain)-1], "0") + plain[len(plain)-1:]
		if len(plain) > 1 && strings.Trim(plain, "01234567") == "" {
			return sign + plain + " (" + "0o" + plain + " if it is octal)"
		}
		return sign + plain
	case len(plain) > 1 && strings.ContainsAny(plain[1:2], "bBOX"), plain != digits, digits != s && len(plain) > 1 && strings.ContainsAny(plain[1:2], "ox"):
		if v, err := strconv.ParseInt(plain, 0, 64); err == nil {
			return sign + strconv.FormatInt(v, 10)
		}
		return sign + plain
	}
	return ""
}
