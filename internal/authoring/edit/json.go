package edit

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonTree is the tree of a text in JSON, which the notation's reader has read before.
type jsonTree struct {
	src  []byte
	dec  *jsontext.Decoder
	slab slab
}

func readJSON(src []byte) (*node, error) {
	t := &jsonTree{src: src, dec: jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	return t.node()
}

// next is where the next token begins.
func (t *jsonTree) next() int {
	rest := t.src[t.dec.InputOffset():]
	return len(t.src) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (t *jsonTree) node() (*node, error) {
	n := t.slab.make()
	n.start = t.next()
	token, err := t.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		n.kind, n.flow = mapping, true
		err = t.object(n)
	case '[':
		n.kind, n.flow = list, true
		for err == nil && t.dec.PeekKind() != ']' {
			var item *node
			if item, err = t.node(); err == nil {
				n.items = append(n.items, item)
			}
		}
		if err == nil {
			_, err = t.dec.ReadToken()
		}
	case '"':
		n.tag, n.text = "!!str", token.String()
	case 'n':
		n.tag = "!!null"
	case 't', 'f':
		n.tag, n.text = "!!bool", token.String()
	default:
		n.tag, n.text = "!!float", token.String()
	}
	n.end = int(t.dec.InputOffset())
	n.adopt()
	return n, err
}

func (t *jsonTree) object(n *node) error {
	for t.dec.PeekKind() != '}' {
		key, err := t.node()
		if err != nil {
			return err
		}
		colon := t.next()
		val, err := t.node()
		if err != nil {
			return err
		}
		n.keys, n.vals, n.colons = append(n.keys, key), append(n.vals, val), append(n.colons, colon)
	}
	_, err := t.dec.ReadToken()
	return err
}
