package tree

import (
	"bytes"
	"regexp"

	"go.yaml.in/yaml/v4"
)

// version12 is the directive of YAML 1.2, which may stand behind blank lines and comments only.
var version12 = regexp.MustCompile(`\A\x{FEFF}?(?:[ \t]*(?:#[^\n]*)?\r?\n)*%YAML[ \t]+1\.(2)`)

// Readable gives the text as the library takes it, each character at its place, and what restores the tree that it makes of it:
// go.yaml.in/yaml v4.0.0 reads YAML 1.2, and refuses a document that says so; and it refuses pairs of surrogates, which YAML
// takes from JSON.
func Readable(src []byte) (out []byte, restore func(*yaml.Node)) {
	out, restore = joinPairs(src)
	at := version12.FindSubmatchIndex(out)
	if at == nil {
		return out, restore
	}
	out = bytes.Clone(out)
	out[at[2]] = '1'
	return out, restore
}
