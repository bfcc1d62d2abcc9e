package elsajson

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// fields is a JSON object in the making: ordered names with their values.
type fields []entry

type entry struct {
	name string
	raw  json.RawMessage
}

func (fs fields) get(name string) json.RawMessage {
	for _, f := range fs {
		if f.name == name {
			return f.raw
		}
	}
	return nil
}

// set adds or replaces a field.
func (fs *fields) set(name string, v any) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		raw = marshal(v)
	}
	for i, f := range *fs {
		if f.name == name {
			(*fs)[i].raw = raw
			return
		}
	}
	*fs = append(*fs, entry{name, raw})
}

// text sets a field unless s is empty.
func (fs *fields) text(name, s string) {
	if s != "" {
		fs.set(name, s)
	}
}

func (fs *fields) drop(name string) {
	*fs = slices.DeleteFunc(*fs, func(e entry) bool { return e.name == name })
}

// MarshalJSON writes the fields in their order.
func (fs fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fs {
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

// raw gives the object as JSON.
func (fs fields) raw() json.RawMessage {
	b, _ := fs.MarshalJSON()
	return b
}

// equal compares two objects field by field.
func (fs fields) equal(other fields) bool {
	a, _, err := parse(fs.raw())
	b, _, err2 := parse(other.raw())
	return err == nil && err2 == nil && a.same(b)
}

// restore puts the kept sources back into the canonical form: all that are of
// unknown names, and those of known names that still mean what the canonical
// form says. reread reads an object and gives its canonical form.
func (fs fields) restore(extra map[string]json.RawMessage, reread func(json.RawMessage) fields) fields {
	if len(extra) == 0 {
		return fs
	}
	with := func(names ...string) fields {
		out := slices.Clone(fs)
		for _, k := range names {
			out.set(k, extra[k])
		}
		return out
	}
	names := slices.Sorted(maps.Keys(extra))
	all := with(names...)
	if reread(all.raw()).equal(fs) {
		return all
	}
	good := names[:0]
	for _, k := range names {
		if reread(with(k).raw()).equal(fs) {
			good = append(good, k)
		}
	}
	return with(good...)
}
