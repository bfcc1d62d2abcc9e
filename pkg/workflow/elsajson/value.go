package elsajson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxExact is the largest whole number up to which float64 holds every one.
const maxExact = 1 << 53

// value gives n as Go's JSON types: nil, bool, string, []any, map[string]any,
// float64; int64 for whole numbers that float64 cannot hold. ok is false when a
// number does not fit.
func (n *node) value() (v any, ok bool) {
	switch n.kind {
	case boolean:
		return n.yes, true
	case text:
		return n.text, true
	case number:
		return parseNumber(n.text)
	case array:
		list := make([]any, len(n.items))
		ok = true
		for i, it := range n.items {
			var one bool
			list[i], one = it.value()
			ok = ok && one
		}
		return list, ok
	case object:
		m := make(map[string]any, len(n.members))
		ok = true
		for _, f := range n.members {
			var one bool
			m[f.name], one = f.val.value()
			ok = ok && one
		}
		return m, ok
	}
	return nil, true
}

func parseNumber(s string) (any, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, false
	}
	if math.Abs(f) >= maxExact {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil && (i > maxExact || i < -maxExact) {
			return i, true
		}
	}
	if f == 0 {
		f = 0 // not minus zero
	}
	return f, true
}

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
		if n.text == o.text {
			return true
		}
		a, ok := parseNumber(n.text)
		b, ok2 := parseNumber(o.text)
		return ok && ok2 && a == b
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

// marshal gives v as JSON without escaping for HTML.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
