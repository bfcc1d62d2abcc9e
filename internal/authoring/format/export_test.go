package format

import "go.yaml.in/yaml/v4"

// What the tests beside this package need of it.
var (
	Same      = same
	SameTexts = sameTexts
)

func Parse(src []byte) (*yaml.Node, error) { return parse(src, "x.yaml") }
