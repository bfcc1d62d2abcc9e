package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// Connect connects two activities, or takes what connects them away.
func Connect(c *activity.Change, s *activity.Site, port, to string, cut bool) error {
	f, err := ChartOf(c, s)
	if err != nil {
		return err
	}
	if !slices.Contains(f.IDs, to) {
		return text.Bad("there is no activity %q in this flowchart%s", workflow.Shorten(to), workflow.DidYouMean(to, f.IDs))
	}
	for i := range f.chains {
		k := &f.chains[i]
		for j := range k.ends {
			if !k.leaves(j, s.Activity.ID, port) || k.ends[j+1].id != to {
				continue
			}
			if !cut {
				return text.Refuse(k.node.Start, "%s leads to %q already", workflow.Shorten(spelled(s.Activity.ID, port)), workflow.Shorten(to))
			}
			return f.cutWay(k, j)
		}
	}
	if cut {
		return text.Refuse(f.site.Node.Start, "nothing leads from %s to %q", workflow.Shorten(spelled(s.Activity.ID, port)), workflow.Shorten(to))
	}
	return f.add(s.Activity.ID, port, to)
}

// add writes one more connection.
func (f *Chart) add(from, port, to string) error {
	row, want, err := f.line(from, port, to)
	if err != nil {
		return err
	}
	if f.list != nil {
		f.append(row, want)
		return nil
	}
	m := f.site.Node
	if f.site.Key >= 0 && m.Vals[f.site.Key].Kind == text.Mapping {
		m = m.Vals[f.site.Key]
	}
	if v := m.Val("connections"); v != nil { // it is there, and empty
		v.Twin.Replace(text.NewList(want))
		if v.Written() || m.Flow {
			f.Text.Swap(v.Start, v.End, "["+row+"]")
		} else {
			f.Text.Put(m.Colons[v.At], f.Text.EOL+strings.Repeat(" ", f.Text.Indent(m.Keys[v.At].Start)+2)+"- "+row)
		}
		return nil
	}
	copied := m.Twin
	copied.InsertEntry("connections", text.NewList(want))
	if m.Flow {
		name := "connections: "
		if f.Text.JSON {
			name = `"connections": `
		}
		f.Text.AddFlow(m, len(m.Keys), name+"["+row+"]")
		return nil
	}
	pad := strings.Repeat(" ", f.Text.Indent(m.Keys[0].Start))
	_, end, _ := f.Text.Extent(m, len(m.Keys)-1)
	f.Text.LineAt(end, pad+"connections:"+f.Text.EOL+pad+"  - "+row+f.Text.EOL)
	return nil
}

// line is a connection as text and as a tree.
func (f *Chart) line(from, port, to string) (string, *text.Node, error) {
	var out string
	if f.Text.JSON {
		if port == "" {
			port = usualOut
		}
		raw, err := json.Marshal(map[string]any{"source": map[string]any{"activity": from, "port": port}, "target": map[string]any{"activity": to, "port": usualIn}})
		if err != nil {
			return "", nil, err
		}
		column := 0
		if f.list != nil {
			column = f.Text.FlowColumn(f.list)
		}
		if out, err = f.Text.Pretty(raw, column); err != nil {
			return "", nil, err
		}
	} else {
		var err error
		if out, err = text.Value(spelled(from, port)+" -> "+to, text.Between(f.list == nil || f.list.Flow)); err != nil {
			return "", nil, err
		}
	}
	want, err := f.Text.Snippet(out)
	return out, want, err
}

// append puts a connection behind the others.
func (f *Chart) append(text string, want *text.Node) {
	l := f.list
	l.Twin.InsertItem(len(l.Twin.Items), want)
	if l.Flow {
		f.Text.AddFlow(l, len(l.Items), text)
		return
	}
	_, to, _ := f.Text.Extent(l, len(l.Items)-1)
	f.Text.LineAt(to, strings.Repeat(" ", f.Text.Indent(l.Dashes[0]))+"- "+text+f.Text.EOL)
}

// cutWay takes one way out of a chain.
func (f *Chart) cutWay(k *chain, at int) error {
	if len(k.ends) == 2 {
		return f.dropChain(k)
	}
	switch n := len(k.ends); at {
	case 0:
		return f.rewrite(k, k.ends[0].start, k.ends[1].start, "")
	case n - 2:
		return f.rewrite(k, k.ends[n-2].end, k.ends[n-1].end, "")
	}
	return f.split(k, at, k.ends[at+1].id, k.ends[at+1].port)
}

// dropChain takes a whole item away; the last one leaves an empty list.
func (f *Chart) dropChain(k *chain) error {
	l := k.node.Parent
	if len(l.Items) == 1 && !l.Flow {
		k.node.Twin.Parent.RemoveItem(0)
		from := f.Text.Next(l.Parent.Colons[l.At])
		_, to, _ := f.Text.Extent(l, 0)
		f.Text.Put(l.Parent.Colons[l.At], " []")
		f.Text.CutLines(from, to)
		return nil
	}
	return f.Text.RemoveItem(l, k.node.At, false)
}

// rewrite puts a text in the place of a part of a chain.
func (f *Chart) rewrite(k *chain, from, to int, with string) error {
	return f.rewriteAll(k, []text.Splice{{From: from, To: to, Text: with}})
}

// rewriteAll puts texts in the place of parts of a chain, all at once: it may have many.
func (f *Chart) rewriteAll(k *chain, parts []text.Splice) error {
	lead := k.node.Start + strings.Index(string(f.Text.Src[k.node.Start:k.node.End]), k.node.Text)
	var own []text.Splice
	for _, p := range parts {
		own = append(own, text.Splice{From: p.From - lead, To: p.To - lead, Text: p.Text})
	}
	text, err := text.Spliced([]byte(k.node.Text), own)
	if err != nil {
		return err
	}
	k.node.Twin.Text = string(text)
	f.Text.Splices = append(f.Text.Splices, parts...)
	return nil
}

// split makes two chains of one: the second begins with other ends than it did.
func (f *Chart) split(k *chain, at int, id, port string) error {
	head := string(f.Text.Src[k.ends[0].start:k.ends[at].end])
	tail := spelled(id, port)
	if rest := at + 2; id == k.ends[at+1].id { // a way is taken out
		if rest < len(k.ends) {
			tail += " -> " + string(f.Text.Src[k.ends[rest].start:k.ends[len(k.ends)-1].end])
		}
	} else {
		tail += " -> " + string(f.Text.Src[k.ends[at+1].start:k.ends[len(k.ends)-1].end])
	}
	return f.two(k, head, tail)
}

// two writes two chains in the place of one.
func (f *Chart) two(k *chain, head, tail string) error {
	l := k.node.Parent
	if string(f.Text.Src[k.node.Start:k.node.End]) != k.node.Text {
		return text.Refuse(k.node.Start, "this connection is in quotes; write it without them, or edit the text")
	}
	copied := k.node.Twin
	copied.Text = head
	l.Twin.InsertItem(copied.At+1, text.NewString(tail))
	sep := ", "
	if !l.Flow {
		sep = f.Text.EOL + strings.Repeat(" ", f.Text.Indent(l.Dashes[0])) + "- "
	}
	f.Text.Swap(k.node.Start, k.node.End, head+sep+tail)
	return nil
}
