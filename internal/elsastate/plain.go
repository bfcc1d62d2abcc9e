package elsastate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxValues bounds how many values an export stands for, those counted again that it refers to again.
const maxValues = 1_000_000

// plain gives the JSON values that an export stands for: objects that are referred to in the places of their
// references, lists without their envelopes, and no names of .NET types.
func plain(src []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("it is no JSON that can be read: %w", err)
	}
	p := &plainer{named: map[string]any{}, done: map[string]any{}, sizes: map[string]int{}, open: map[string]bool{}}
	if err := p.name(v); err != nil {
		return nil, err
	}
	return p.value(v)
}

type plainer struct {
	named map[string]any // as they stand in the file, by $id
	done  map[string]any // as they are meant
	sizes map[string]int // how many values they are
	open  map[string]bool
	count int
}

// name finds the objects that may be referred to.
func (p *plainer) name(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["$id"].(string); ok {
			if p.named[id] != nil {
				return fmt.Errorf("two objects have the $id %q: which one is meant where it is referred to?", id)
			}
			p.named[id] = v
		}
		for _, e := range v {
			if err := p.name(e); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := p.name(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plainer) value(v any) (any, error) {
	if p.count++; p.count > maxValues {
		return nil, fmt.Errorf("it stands for more than %d values", maxValues)
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && len(v) == 1 {
			return p.referred(ref)
		}
		if id, ok := v["$id"].(string); ok {
			return p.referred(id)
		}
		return p.object(v)
	case []any:
		return p.list(v)
	}
	return v, nil
}

// referred is the object with an id, once it is plain; it counts wherever it stands.
func (p *plainer) referred(id string) (any, error) {
	of, _ := p.named[id].(map[string]any)
	switch {
	case of == nil:
		return nil, fmt.Errorf("it refers to $id %q, which is not there", id)
	case p.open[id]:
		return nil, fmt.Errorf("the object with $id %q is inside of itself", id)
	case p.sizes[id] > 0:
		p.count += p.sizes[id]
		return p.done[id], nil
	}
	p.open[id] = true
	before := p.count
	out, err := p.object(of)
	if err != nil {
		return nil, err
	}
	p.open[id] = false
	p.done[id], p.sizes[id] = out, p.count-before+1
	return out, nil
}

func (p *plainer) object(v map[string]any) (any, error) {
	if island, ok := v["_island"].(string); ok {
		dec := json.NewDecoder(strings.NewReader(island))
		dec.UseNumber()
		var inside any
		if err := dec.Decode(&inside); err != nil && island != "" {
			return nil, fmt.Errorf("a text of JSON in it cannot be read: %w", err)
		}
		return inside, nil
	}
	for _, name := range []string{"$values", "_items"} {
		if items, ok := v[name]; ok {
			if list, ok := items.([]any); ok {
				return p.list(list)
			}
			return p.value(items)
		}
	}
	out := make(map[string]any, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if name == "$id" || name == "_type" {
			continue
		}
		e, err := p.value(v[name])
		if err != nil {
			return nil, err
		}
		out[name] = e
	}
	return out, nil
}

func (p *plainer) list(v []any) (any, error) {
	out := make([]any, len(v))
	for i, e := range v {
		var err error
		if out[i], err = p.value(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// get is a member by its name, also where its first letter is a capital: Elsa's API and its files differ in that.
func get(v any, name string) any {
	m, _ := v.(map[string]any)
	if e, ok := m[name]; ok {
		return e
	}
	for k, e := range m {
		if strings.EqualFold(k, name) {
			return e
		}
	}
	return nil
}

func text(v any, name string) string {
	s, _ := get(v, name).(string)
	return s
}

func list(v any, name string) []any {
	l, _ := get(v, name).([]any)
	return l
}

func object(v any, name string) map[string]any {
	m, _ := get(v, name).(map[string]any)
	return m
}

func flag(v any, name string) bool {
	b, _ := get(v, name).(bool)
	return b
}

// number is a whole number; false: it is none.
func number(v any, name string) (int64, bool) {
	switch n := get(v, name).(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case string: // Elsa writes large ones so
		i, err := json.Number(n).Int64()
		return i, err == nil
	}
	return 0, false
}
