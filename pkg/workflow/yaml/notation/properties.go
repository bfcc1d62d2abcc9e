package notation

import "strings"

// WrittenProperties gives the custom properties that YAML shows: all but what
// the designer writes for every activity and means nothing.
func WrittenProperties(m map[string]any) map[string]any {
	return without(m, func(key string, v any) bool {
		switch strings.ToLower(key) {
		case "source":
			return true
		case "canstartworkflow", "runasynchronously":
			return v == false || v == nil
		case "notfoundconnections", "notfoundconnectionskey":
			list, ok := v.([]any)
			return ok && len(list) == 0
		}
		return false
	})
}

// WrittenMetadata gives the metadata that YAML shows: not the place of an
// activity on the designer's canvas.
func WrittenMetadata(m map[string]any) map[string]any {
	return without(m, func(key string, _ any) bool { return key == "designer" })
}

func without(m map[string]any, drop func(string, any) bool) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if !drop(k, v) {
			out[k] = v
		}
	}
	return out
}
