package elsajson

import (
	"bytes"
	"encoding/json"

	"github.com/weft-run/weft/pkg/workflow"
)

// compact gives the source of a value without white space.
func compact(src []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, src); err != nil {
		return json.RawMessage("null")
	}
	return b.Bytes()
}

// marshal gives v as JSON; null if it has no such form.
func marshal(v any) json.RawMessage {
	raw, err := workflow.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
