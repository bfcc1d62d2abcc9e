package wire

import "strings"

// FormType is what curl says when it is told nothing.
const FormType = "application/x-www-form-urlencoded"

// IsJSON reports whether a media type is JSON.
func IsJSON(typ string) bool {
	return typ == "application/json" || typ == "text/json" || strings.HasPrefix(typ, "application/") && strings.HasSuffix(typ, "+json")
}

// IsYAML reports whether a media type is YAML.
func IsYAML(typ string) bool {
	switch typ {
	case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml":
		return true
	}
	return false
}

// CountValues counts the values of a JSON text without reading it.
func CountValues(body []byte) int64 {
	n, inside, opened := int64(0), false, true
	for i := 0; i < len(body); i++ {
		b := body[i]
		switch {
		case inside:
			if b == '\\' {
				i++
			}
			inside = b != '"'
			continue
		case b <= ' ':
			continue
		case opened && b != ']' && b != '}':
			n++
		}
		inside, opened = b == '"', b == '[' || b == '{' || b == ','
	}
	return n
}

// HostName is the name or address in a Host header, as names compare.
func HostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") && (strings.HasPrefix(host, "[") || strings.Count(host, ":") == 1) {
		host = host[:i]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// MostKey is how many characters an Idempotency-Key may have.
const MostKey = 255

// IsKey reports whether a text can be an Idempotency-Key.
func IsKey(value string) bool {
	return value != "" && len(value) <= MostKey && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
}
