package elsajson

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// value gives n as Go's JSON types: nil, bool, string, []any, map[string]any,
// float64; whole numbers that float64 cannot hold as [workflow.Number] has them.
func (n *node) value() any {
	switch n.kind {
	case boolean:
		return n.yes
	case text:
		return n.text
	case number:
		return parseNumber(n.text)
	case array:
		list := make([]any, len(n.items))
		for i, it := range n.items {
			list[i] = it.value()
		}
		return list
	case object:
		m := make(map[string]any, len(n.members))
		for _, f := range n.members {
			m[f.name] = f.val.value()
		}
		return m
	}
	return nil
}

func parseNumber(s string) any { return workflow.DefinedNumber(workflow.Number(s)) }

// same tells whether two values mean the same: the order of fields and the
// spelling of numbers and texts do not count.
func (n *node) same(o *node) bool {
	if n.kind != o.kind {
		return false
	}
	switch n.kind {
	case boolean:
		return n.yes == o.yes
	case text:
		return n.text == o.text
	case number:
		return parseNumber(n.text) == parseNumber(o.text)
	case array:
		if len(n.items) != len(o.items) {
			return false
		}
		for i := range n.items {
			if !n.items[i].same(o.items[i]) {
				return false
			}
		}
	case object:
		if len(n.members) != len(o.members) {
			return false
		}
		byName := make(map[string]*node, len(o.members))
		for _, m := range o.members {
			byName[m.name] = m.val
		}
		for _, m := range n.members {
			if v := byName[m.name]; v == nil || !m.val.same(v) {
				return false
			}
		}
	}
	return true
}

// get gives the value of the first field with this name, compared without
// regard to case, or nil. An explicit null counts as absent.
func (n *node) get(name string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	for _, m := range n.members {
		if strings.EqualFold(m.name, name) && m.val.kind != null {
			return m.val
		}
	}
	return nil
}

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
