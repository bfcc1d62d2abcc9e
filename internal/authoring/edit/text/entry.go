package text

import (
	"encoding/json"
	"slices"
	"strings"
)

// SetEntry gives a key another value; without one, the key goes too if it may.
func (d *Draft) SetEntry(m *Node, at int, v any, mayGo bool) error {
	if v != nil {
		val := m.Vals[at]
		rest := strings.TrimSpace(string(d.Src[max(val.End, m.Colons[at]):d.stop(max(val.End, m.Colons[at]))]))
		look := Between(m.Flow)
		if rest != "" && !m.Flow {
			look = InLine
		}
		text, err := Value(v, look)
		if err != nil {
			return err
		}
		return d.Write(m, at, text)
	}
	if mayGo {
		return d.RemoveEntry(m, at, false)
	}
	m.Vals[at].Twin.Replace(NewNull())
	d.Cut(m.Colons[at], m.Vals[at].End)
	return nil
}

// Write puts a text in the place of the value of a key.
func (d *Draft) Write(m *Node, at int, text string) error {
	val := m.Vals[at]
	want, err := d.Snippet(text)
	if err != nil {
		return err
	}
	val.Twin.Replace(want)
	text = d.Indented(text, d.Indent(m.Keys[at].Start))
	switch {
	case m.Colons[at] < 0:
		return Refuse(m.Keys[at].Start, "this key has no value here; edit the text")
	case !val.Written():
		d.Put(m.Colons[at], " "+text)
	case d.Start(val.Start) != d.Start(m.Keys[at].Start):
		d.Swap(m.Colons[at], val.End, " "+text)
	default:
		d.Swap(val.Start, val.End, text)
	}
	return nil
}

// AddEntry gives a mapping one more key, behind another one; -1: as the first.
func (d *Draft) AddEntry(m *Node, behind int, key, v any) error {
	text, want, err := d.Both(v, Between(m.Flow))
	if err != nil {
		return err
	}
	name, wantKey, err := d.Both(key, InFlow)
	if err != nil {
		return err
	}
	if key == "on" { // the library quotes what other readers take for a truth value
		name = "on"
	}
	copied := m.Twin
	copied.Keys = slices.Insert(slices.Clone(copied.Keys), behind+1, wantKey)
	copied.Vals = slices.Insert(slices.Clone(copied.Vals), behind+1, want)
	copied.Adopt()
	if m.Flow {
		d.AddFlow(m, behind+1, name+": "+text)
		return nil
	}
	column := d.Indent(m.Keys[0].Start)
	if behind < 0 {
		d.Put(m.Keys[0].Start, name+": "+d.Indented(text, column)+d.EOL+strings.Repeat(" ", column))
		return nil
	}
	_, to, _ := d.Extent(m, behind)
	if behind+1 < len(m.Keys) { // comments above the next key are of that
		to = min(to, d.Start(m.Keys[behind+1].Start))
	}
	d.LineAt(to, strings.Repeat(" ", column)+name+": "+d.Indented(text, column)+d.EOL)
	return nil
}

// SetField gives a field of an object another value; -1: it is not there yet.
func (d *Draft) SetField(n *Node, at int, name string, raw json.RawMessage) error {
	text, err := d.Pretty(raw, d.FlowColumn(n))
	if err != nil {
		return err
	}
	if at >= 0 {
		return d.writeJSON(n, at, text)
	}
	want, err := d.Snippet(text)
	if err != nil {
		return err
	}
	n.Twin.InsertEntry(name, want)
	gap := ": "
	if len(d.Starts) < 3 {
		gap = ":"
	}
	d.AddFlow(n, len(n.Keys), `"`+name+`"`+gap+text)
	return nil
}

func (d *Draft) writeJSON(n *Node, at int, text string) error {
	want, err := d.Snippet(text)
	if err != nil {
		return err
	}
	n.Vals[at].Twin.Replace(want)
	d.Swap(n.Vals[at].Start, n.Vals[at].End, text)
	return nil
}

// NewKey gives a mapping one more key, with a list of a piece, or with nothing but the piece.
func (d *Draft) NewKey(n *Node, key string, p *Piece, single bool) error {
	v := NewList(p.Node)
	if single {
		v = p.Node
	}
	n.Twin.InsertEntry(key, v)
	d.Focus = p.Node
	if !n.Flow {
		column := d.Indent(n.Keys[0].Start)
		pad := strings.Repeat(" ", column)
		item, err := d.Item(p, column+2)
		if err != nil {
			return err
		}
		_, to, _ := d.Extent(n, len(n.Keys)-1)
		d.LineAt(to, pad+key+":"+d.EOL+item)
		return nil
	}
	text, err := p.Text(true, d.FlowColumn(n))
	if err != nil {
		return err
	}
	switch {
	case !d.JSON:
		text = key + ": [" + text + "]"
	default:
		if v.Kind == List {
			text = "[" + text + "]"
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text = string(name) + ": " + text
	}
	d.AddFlow(n, len(n.Keys), text)
	return nil
}

// RemoveEntry takes a key with its value out of a mapping.
func (d *Draft) RemoveEntry(m *Node, at int, drop bool) error {
	defer func() { m.Twin.removeEntry(m.Vals[at].Twin.At) }()
	if m.Flow {
		if drop {
			d.taken = [2]int{m.Keys[at].Start, max(m.Keys[at].End, m.Vals[at].End)}
		}
		d.cutFlow(m, at)
		return nil
	}
	from, to, whole := d.Extent(m, at)
	switch {
	case whole && len(m.Keys) == 1 && m.Parent != nil:
		defer m.Twin.Replace(NewNull())
		fallthrough
	case whole:
		if drop {
			d.taken = [2]int{from, to}
		}
		d.CutLines(from, to)
	case len(m.Keys) > 1:
		if drop {
			d.taken = [2]int{from, m.Vals[at].End}
		}
		d.Cut(from, m.Keys[at+1].Start)
	default:
		return Refuse(from, "nothing would be left here; edit the text")
	}
	return nil
}

// Retext writes another text in the place of one.
func (d *Draft) Retext(n *Node, s string) error {
	out, err := Value(s, InFlow)
	if d.JSON {
		var raw []byte
		raw, err = json.Marshal(s)
		out = string(raw)
	}
	if err != nil {
		return err
	}
	n.Twin.Text, n.Twin.Tag = s, "!!str"
	d.Swap(n.Start, n.End, out)
	return nil
}
