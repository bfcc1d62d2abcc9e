package tree

import (
	"bytes"
	"regexp"
)

// version12 is the directive of YAML 1.2, which may stand behind blank lines and comments only.
var version12 = regexp.MustCompile(`\A\x{FEFF}?(?:[ \t]*(?:#[^\n]*)?\r?\n)*%YAML[ \t]+1\.(2)`)

// Readable gives the text as the library takes it, each byte at its place: go.yaml.in/yaml v4.0.0 reads YAML 1.2, and
// refuses a document that says so.
func Readable(src []byte) []byte {
	at := version12.FindSubmatchIndex(src)
	if at == nil {
		return src
	}
	out := bytes.Clone(src)
	out[at[2]] = '1'
	return out
}
