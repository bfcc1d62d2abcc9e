package store

import "io"

// List is a value in a record of which pieces lie in parts.
type List struct {
	Text  []byte // JSON, with gaps
	Parts []Part // which belong into them; At counts from the beginning of Text
}

// ListReader reads a [List], a few parts at a time.
type ListReader struct {
	list   *List
	fetch  func([]Part) ([][]byte, error)
	at     int      // up to where its text was read
	next   int      // part
	ahead  [][]byte // parts that were read, from next on
	buf    []byte
	broken error
}

// NewListReader reads a list whose parts come from fetch.
func NewListReader(list *List, fetch func([]Part) ([][]byte, error)) *ListReader {
	return &ListReader{list: list, fetch: fetch}
}

// Broken is why parts could not be read; nil: they could.
func (r *ListReader) Broken() error { return r.broken }

// partsAhead is how many parts are read at a time.
const partsAhead = 8

func (r *ListReader) Read(p []byte) (int, error) {
	for len(r.buf) == 0 {
		parts, text := r.list.Parts[r.next:], r.list.Text
		switch {
		case len(parts) > 0 && r.at == parts[0].At:
			if len(r.ahead) == 0 {
				if r.ahead, r.broken = r.fetch(parts[:min(len(parts), partsAhead)]); r.broken != nil {
					return 0, r.broken
				}
			}
			r.at += parts[0].Gap
			r.buf, r.ahead, r.next = r.ahead[0], r.ahead[1:], r.next+1
		case len(parts) > 0 && r.at < parts[0].At && parts[0].At <= len(text):
			r.buf, r.at = text[r.at:parts[0].At], parts[0].At
		case r.at < len(text):
			r.buf, r.at = text[r.at:], len(text)
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}
