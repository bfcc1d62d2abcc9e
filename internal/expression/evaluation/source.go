package evaluation

import (
	"context"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// MaxSource bounds the text of one expression, in bytes: a longer one is
// refused when it is compiled.
const MaxSource = 128 << 10

// Source gives the text of an expression that has to be text.
func Source(e workflow.Expression) (string, error) {
	var text string
	switch v := e.Value.(type) {
	case string:
		text = v
	case nil:
	default:
		return "", &Error{Kind: e.Kind, Message: "the value of this expression has to be text"}
	}
	if len(text) > MaxSource {
		return "", &Error{Kind: e.Kind, Source: Excerpt(text), Message: "the expression is longer than 128 KiB"}
	}
	return text, nil
}

// Constant is a value that is known when the expression is compiled. Those who
// get it must not change it.
type Constant struct{ Value any }

// Eval implements [engine.Compiled].
func (c Constant) Eval(context.Context, engine.Scope) (any, error) { return c.Value, nil }

// MaxConstant bounds a value that is written in a definition, in bytes.
const MaxConstant = 8 << 20

// Comment is the number of bytes to skip at the start of text beyond its first,
// 0 if there is no comment.
func Comment(text string) int {
	switch {
	case strings.HasPrefix(text, "/*"):
		if i := strings.Index(text[2:], "*/"); i >= 0 {
			return i + 3
		}
		return len(text)
	case strings.HasPrefix(text, "//"):
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			return i
		}
		return len(text)
	}
	return 0
}
