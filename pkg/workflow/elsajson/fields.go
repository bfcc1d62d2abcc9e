package elsajson

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// fields is a JSON object in the making: ordered names with their values.
type fields struct {
	list  []entry
	index map[string]int // made once there are many
}

type entry struct {
	name string
	raw  json.RawMessage
}

func (fs *fields) find(name string) int {
	if fs.index != nil {
		if i, ok := fs.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(fs.list, func(e entry) bool { return e.name == name })
}

func (fs *fields) get(name string) json.RawMessage {
	if i := fs.find(name); i >= 0 {
		return fs.list[i].raw
	}
	return nil
}

// set adds or replaces a field.
func (fs *fields) set(name string, v any) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		raw = marshal(v)
	}
	if i := fs.find(name); i >= 0 {
		fs.list[i].raw = raw
		return
	}
	fs.list = append(fs.list, entry{name, raw})
	if fs.index != nil {
		fs.index[name] = len(fs.list) - 1
	} else if len(fs.list) > 16 {
		fs.index = make(map[string]int, 2*len(fs.list))
		for i, e := range fs.list {
			fs.index[e.name] = i
		}
	}
}

// text sets a field unless s is empty.
func (fs *fields) text(name, s string) {
	if s != "" {
		fs.set(name, s)
	}
}

func (fs *fields) clone() fields {
	return fields{list: slices.Clone(fs.list), index: maps.Clone(fs.index)}
}

// MarshalJSON writes the fields in their order.
func (fs fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fs.list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(marshal(f.name))
		b.WriteByte(':')
		b.Write(f.raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (fs fields) raw() json.RawMessage {
	b, _ := fs.MarshalJSON()
	return b
}

// equal compares two objects field by field.
func (fs fields) equal(other fields) bool {
	a, _, err := jsontree.Parse(fs.raw())
	b, _, err2 := jsontree.Parse(other.raw())
	return err == nil && err2 == nil && a.Same(b)
}

// restore puts the kept sources back into the canonical form: all that are of
// unknown names, and those of known names that still mean what the canonical
// form says. reread reads an object and gives its canonical form.
func (fs fields) restore(extra map[string]json.RawMessage, reread func(json.RawMessage) fields) fields {
	if len(extra) == 0 {
		return fs
	}
	with := func(names []string) fields {
		out := fs.clone()
		for _, k := range names {
			out.set(k, extra[k])
		}
		return out
	}
	// Halving finds the few that were overtaken by a change without testing
	// each of many.
	var good func(names []string) []string
	good = func(names []string) []string {
		if all := with(names); reread(all.raw()).equal(fs) {
			return names
		}
		if len(names) == 1 {
			return nil
		}
		half := len(names) / 2
		return append(slices.Clone(good(names[:half])), good(names[half:])...)
	}
	return with(good(slices.Sorted(maps.Keys(extra))))
}
