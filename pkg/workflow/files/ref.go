package files

import (
	"encoding/json"
	"strings"
)

// Ref is a file that lies beside an instance. A variable holds [Ref.Value], and not what is in the file.
type Ref struct {
	Instance string `json:"instance"` // beside which it lies, and with which it goes
	Hash     string `json:"sha256"`   // of its content, 64 hexadecimal digits
	Bytes    int64  `json:"bytes"`
	Name     string `json:"name,omitempty"` // of the file, such as report.pdf
	Type     string `json:"type,omitempty"` // MIME type
	Field    string `json:"-"`              // of the form that it came with
}

// scheme is what the member content of a value begins with that is a file, and not what is in one.
const scheme = "weft-file:"

// Value is what a workflow gets of a file: its members by their names, and by those that they have in .NET.
func (r *Ref) Value() map[string]any {
	return map[string]any{
		"name": r.Field, "fileName": r.Name, "contentType": r.Type, "length": r.Bytes,
		"Name": r.Field, "FileName": r.Name, "ContentType": r.Type, "Length": r.Bytes,
		"sha256": r.Hash, "content": scheme + r.Instance + "/" + r.Hash,
	}
}

// RefOf is the file that a value is; false: it is none.
func RefOf(v any) (Ref, bool) {
	m, _ := v.(map[string]any)
	at, _ := m["content"].(string)
	at, is := strings.CutPrefix(at, scheme)
	instance, hash, ok := strings.Cut(at, "/")
	if !is || !ok || instance == "" || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return Ref{}, false
	}
	size, ok := whole(m["length"])
	if !ok || size < 0 {
		return Ref{}, false
	}
	text := func(name string) string { s, _ := m[name].(string); return s }
	return Ref{Instance: instance, Hash: hash, Bytes: size, Name: text("fileName"), Type: text("contentType"), Field: text("name")}, true
}

func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), n == float64(int64(n))
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}
