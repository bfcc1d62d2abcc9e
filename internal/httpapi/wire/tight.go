package wire

import (
	"encoding/json"
	"strings"
)

// Tight is an object or a list in JSON without the white space between its tokens; any other text is given as it is.
func Tight(text string) string {
	if t := strings.TrimLeft(text, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' {
		return text
	}
	var out []byte // nil: nothing was left out yet
	inside := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case inside && b == '\\':
			if out != nil {
				out = append(out, text[i:min(i+2, len(text))]...)
			}
			i++
			continue
		case b == '"':
			inside = !inside
		case !inside && (b == ' ' || b == '\n' || b == '\t' || b == '\r'):
			if out == nil {
				out = append(make([]byte, 0, len(text)), text[:i]...)
			}
			continue
		}
		if out != nil {
			out = append(out, text[i])
		}
	}
	if out == nil || !json.Valid([]byte(text)) {
		return text
	}
	return string(out)
}
