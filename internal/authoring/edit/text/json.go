package text

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

// ReadJSON makes the tree of a text in JSON.
func ReadJSON(src []byte) (*Node, error) {
	t := &jsonTree{src: src, dec: jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	return t.node()
}

// next is where the next token begins.
func (t *jsonTree) next() int {
	rest := t.src[t.dec.InputOffset():]
	return len(t.src) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (t *jsonTree) node() (*Node, error) {
	n := t.slab.make()
	n.Start = t.next()
	token, err := t.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		n.Kind, n.Flow = Mapping, true
		err = t.object(n)
	case '[':
		n.Kind, n.Flow = List, true
		for err == nil && t.dec.PeekKind() != ']' {
			var item *Node
			if item, err = t.node(); err == nil {
				n.Items = append(n.Items, item)
			}
		}
		if err == nil {
			_, err = t.dec.ReadToken()
		}
	case '"':
		n.Tag, n.Text = "!!str", token.String()
	case 'n':
		n.Tag = "!!null"
	case 't', 'f':
		n.Tag, n.Text = "!!bool", token.String()
	default:
		n.Tag, n.Text = "!!float", token.String()
	}
	n.End = int(t.dec.InputOffset())
	n.Adopt()
	return n, err
}

func (t *jsonTree) object(n *Node) error {
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
		n.Keys, n.Vals, n.Colons = append(n.Keys, key), append(n.Vals, val), append(n.Colons, colon)
	}
	_, err := t.dec.ReadToken()
	return err
}
