package cut

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/store"
)

// How large parts are, and how many.
const (
	LeastPart  = 8 << 10 // bytes of a part
	MostParts  = 64      // of one record: beyond it parts are larger
	runOfParts = 8       // small neighbours share a part of up to so many times the least
)

// Lists says how the lists of a record are cut that has long ones.
type Lists struct {
	Part   int // bytes of a part, at least
	Listed int // items, the first ones, that stay in the record
}

// Cut is a record of which pieces are cut out.
type Cut struct {
	Left  []byte // of the record
	Parts []store.Part
	Texts [][]byte // of the parts

	raw   []byte
	lists *Lists // nil: lists are cut like all else
	least int
	at    int // up to where it was looked at
}

// Record cuts the JSON of a record.
func Record(raw []byte, lists *Lists) *Cut {
	c := &Cut{raw: raw, lists: lists, least: LeastPart}
	if lists != nil {
		c.least = lists.Part
	}
	for lists == nil && len(raw)/c.least > MostParts {
		c.least *= 2
	}
	places := func(in string) func(string, []byte, int) {
		return func(name string, value []byte, at int) {
			if name == in && lists != nil {
				c.value(value, at, true)
			}
		}
	}
	members(raw, 0, func(name string, value []byte, at int) {
		switch name {
		case "header":
			members(value, at, func(name string, value []byte, at int) {
				if name == "input" || name == "output" {
					c.value(value, at, false)
				}
				places("bookmarks")(name, value, at)
			})
		case "state":
			if lists == nil {
				c.value(value, at, false)
				return
			}
			members(value, at, func(name string, value []byte, at int) {
				c.value(value, at, name == "marks") // those as the header has them
			})
		case "unwritten":
			members(value, at, places("gone"))
		}
	})
	c.Left = append(c.Left, raw[c.at:]...)
	return c
}

// members gives the members of an object that lies at base.
func members(text []byte, base int, do func(name string, value []byte, at int)) {
	d := decoderOf(text)
	if kind := d.PeekKind(); kind != '{' {
		return
	}
	for _, err := d.ReadToken(); err == nil && d.PeekKind() == '"'; {
		name, _ := d.ReadToken()
		key := name.String()
		value, bad := d.ReadValue()
		if err = bad; err == nil {
			do(key, value, base+int(d.InputOffset())-len(value))
		}
	}
}

func decoderOf(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// value cuts out of a value that lies at base: a large text whole, of a list or an object large members by
// themselves, and small ones that stand beside each other together. Of a list of places where an instance waits the
// first stay, and none is cut itself: who reads no parts reads what is left as such a list.
func (c *Cut) value(text []byte, base int, places bool) {
	if len(text) < c.least {
		return
	}
	object := text[0] == '{'
	if !object && text[0] != '[' {
		c.cut(base, base+len(text), "null")
		return
	}
	stay, r := 0, run{c: c, base: base, object: object}
	if places {
		stay = c.lists.Listed
	}
	d := decoderOf(text)
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for kind := d.PeekKind(); kind != '}' && kind != ']' && kind != 0; kind = d.PeekKind() {
		begins := 0
		if object {
			name, err := d.ReadValue()
			if err != nil {
				return
			}
			begins = int(d.InputOffset()) - len(name)
		}
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		end := int(d.InputOffset())
		if !object {
			begins = end - len(v)
		}
		switch {
		case stay > 0:
			stay--
		case len(v) >= c.least && !places:
			r.flush()
			c.value(v, base+end-len(v), false)
		default:
			r.add(begins, end, v)
		}
	}
	r.flush()
}

// run are small members of a value, beside each other.
type run struct {
	c        *Cut
	base     int // of the value
	object   bool
	from, to int
}

// add takes one more, and cuts if there are enough of them.
func (r *run) add(begins, end int, v []byte) {
	if r.to == 0 {
		r.from = begins
	}
	r.to = end
	if n := r.to - r.from; n >= runOfParts*r.c.least || r.c.lists != nil && n >= r.c.least && r.c.lastOfPart(v) {
		r.flush()
	}
}

// flush cuts them out, if they are large enough together.
func (r *run) flush() {
	if r.to-r.from >= r.c.least {
		gap := "null"
		if r.object {
			gap = `"~` + strconv.Itoa(len(r.c.Parts)) + `":null`
		}
		r.c.cut(r.base+r.from, r.base+r.to, gap)
	}
	r.from, r.to = 0, 0
}

// lastOfPart reports whether a part of a list may end with an item: its text decides, so that a list in which something
// comes or goes is cut at the same items. One in so many is, that parts have their usual size.
func (c *Cut) lastOfPart(item []byte) bool {
	h := fnv.New32a()
	_, _ = h.Write(item)
	return h.Sum32()%uint32(3*c.least/(len(item)+1)+1) == 0
}

// cut puts gap in the place of a piece.
func (c *Cut) cut(from, to int, gap string) {
	c.Left = append(c.Left, c.raw[c.at:from]...)
	text := c.raw[from:to]
	sum := sha256.Sum256(text)
	c.Parts = append(c.Parts, store.Part{At: len(c.Left), Gap: len(gap), Bytes: len(text), ID: strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))})
	c.Texts = append(c.Texts, text)
	c.Left = append(c.Left, gap...)
	c.at = to
}

// Find is a value in the text of a record that was read without its parts: a member of an object of it, or the object if
// member is "". Nil: there is none.
func Find(text []byte, parts []store.Part, object, member string) (found *store.List) {
	at := func(v []byte, at int) {
		found = &store.List{Text: text[at : at+len(v)]}
		for _, p := range parts {
			if p.At >= at && p.At < at+len(v) {
				p.At -= at
				found.Parts = append(found.Parts, p)
			}
		}
	}
	members(text, 0, func(name string, v []byte, from int) {
		switch {
		case name != object:
		case member == "":
			at(v, from)
		default:
			members(v, from, func(name string, v []byte, from int) {
				if name == member {
					at(v, from)
				}
			})
		}
	})
	return found
}

// Insert puts a list that lies in parts already into an object of what is left of a record, as its first member.
func (c *Cut) Insert(object, member string, list *store.List) {
	at := 0
	members(c.Left, 0, func(name string, _ []byte, from int) {
		if name == object {
			at = from + 1
		}
	})
	head := strconv.Quote(member) + ":"
	text := slices.Concat([]byte(head), list.Text, []byte(","))
	c.Left = slices.Insert(c.Left, at, text...)
	before := 0
	for i := range c.Parts {
		if c.Parts[i].At < at {
			before = i + 1
			continue
		}
		c.Parts[i].At += len(text)
	}
	parts := slices.Clone(list.Parts)
	for i := range parts {
		parts[i].At += at + len(head)
	}
	c.Parts = slices.Insert(c.Parts, before, parts...)
	c.Texts = slices.Insert(c.Texts, before, make([][]byte, len(parts))...)
}
