package value

import (
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Stream reads an object piece by piece. Of its members that are in lists, which are lists, each item is given to the
// function there, and all others to other; rest is the object without the former. An error of a function ends it.
func Stream(object io.Reader, lists map[string]func(item []byte) error, other func(name string, v []byte) error) (rest []byte, err error) {
	d := jsontext.NewDecoder(object, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.Join(err, errNoObject)
	}
	for rest = []byte("{"); d.PeekKind() == '"'; {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		if do := lists[name]; do != nil && d.PeekKind() == '[' {
			if err := EachItem(d, do); err != nil {
				return nil, err
			}
			continue
		}
		v, err := d.ReadValue()
		if err == nil {
			err = other(name, v)
		}
		if err != nil {
			return nil, err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(strconv.AppendQuote(rest, name), ':'), v...)
	}
	_, err = d.ReadToken() // the end of the object, or what is wrong with it
	return append(rest, '}'), err
}

var errNoObject = errors.New("it is no object")

// EachItem reads a list item by item. What do gets is the decoder's, until it returns.
func EachItem(d *jsontext.Decoder, do func(item []byte) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for kind := d.PeekKind(); kind != ']' && kind != 0; kind = d.PeekKind() {
		v, err := d.ReadValue()
		if err == nil {
			err = do(v)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
