package flow

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// rename gives all connections of an activity, and the start, another id.
func (f *Chart) rename(id, to string) error {
	for i := range f.chains {
		k := &f.chains[i]
		var parts []text.Splice
		for j, e := range k.ends {
			switch {
			case e.id != id:
			case k.text:
				parts = append(parts, text.Splice{From: e.start, To: e.start + len(id), Text: to})
			default:
				at := endNode(k.node, []string{"source", "target"}[j], []string{"from", "to"}[j])
				if at == nil {
					return text.Refuse(k.node.Start, "this connection cannot be read; write it as from -> to")
				}
				text := to
				if at.Text != id { // from: id.port
					text = to + strings.TrimPrefix(at.Text, id)
				}
				if err := f.Text.Retext(at, text); err != nil {
					return err
				}
			}
		}
		if len(parts) > 0 {
			if err := f.rewriteAll(k, parts); err != nil {
				return err
			}
		}
	}
	if start := f.key("start"); start != nil && start.Kind == text.Scalar && start.Text == id {
		return f.Text.Retext(start, to)
	}
	return nil
}

// Unchain takes an activity out of the connections of its flowchart: what led to it in a chain
// leads on to where it led.
func Unchain(c *activity.Change, s *activity.Site) error {
	f, err := ChartOf(c, s)
	if err != nil {
		return err
	}
	id, gone := s.Activity.ID, 0
	touches := func(k *chain) bool { return slices.ContainsFunc(k.ends, func(e end) bool { return e.id == id }) }
	left := func(k *chain) (out []end) {
		for _, e := range k.ends {
			if e.id != id {
				out = append(out, e)
			}
		}
		return out
	}
	for i := range f.chains {
		if k := &f.chains[i]; touches(k) && (!k.text || len(left(k)) < 2) {
			gone++
		}
	}
	if gone > 0 && gone == len(f.chains) {
		return f.Text.Emptied(f.list, false)
	}
	for i := len(f.chains) - 1; i >= 0; i-- {
		k := &f.chains[i]
		switch {
		case !touches(k):
		case !k.text || len(left(k)) < 2:
			if gone > 1 && f.list.Flow { // neighbours share their commas
				return f.without(touches, left)
			}
			if err := f.Text.RemoveItem(f.list, k.node.At, false); err != nil {
				return err
			}
		default:
			if err := f.shorten(k, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// shorten takes an activity out of a chain that goes on without it.
func (f *Chart) shorten(k *chain, id string) error {
	var parts []text.Splice
	for j := len(k.ends) - 1; j >= 0; j-- {
		if k.ends[j].id != id {
			continue
		}
		if j == len(k.ends)-1 {
			last := j
			for last > 0 && k.ends[last-1].id == id {
				last--
			}
			parts = append(parts, text.Splice{From: k.ends[last-1].end, To: k.ends[j].end, Text: ""})
			j = last
			continue
		}
		parts = append(parts, text.Splice{From: k.ends[j].start, To: k.ends[j+1].start, Text: ""})
	}
	return f.rewriteAll(k, parts)
}

// without writes a flow list of connections again, without those that are gone.
func (f *Chart) without(touches func(*chain) bool, left func(*chain) []end) error {
	l := f.list
	copied := l.Twin
	var items []*text.Node
	var spans [][2]int
	for i := range f.chains {
		k := &f.chains[i]
		if touches(k) {
			if k.text && len(left(k)) >= 2 {
				return text.Refuse(k.node.Start, "the connections of %q stand in a way that cannot be taken apart in one step; disconnect it first", workflow.Shorten(f.site.Activity.ID))
			}
			continue
		}
		items, spans = append(items, k.node.Twin), append(spans, [2]int{k.node.Start, k.node.End})
	}
	copied.Items = items
	copied.Adopt()
	at := l.Items[0].Start
	for i, s := range spans {
		if i == 0 {
			f.Text.Cut(at, s[0])
			at = s[1]
			continue
		}
		before := l.Items[slices.IndexFunc(l.Items, func(n *text.Node) bool { return n.Start == s[0] })-1].End
		f.Text.Cut(at, before)
		at = s[1]
	}
	f.Text.Cut(at, l.Items[len(l.Items)-1].End)
	return nil
}

// LeadThrough makes the ways of an activity of a flowchart those of one around it, which has
// another id.
func LeadThrough(c *activity.Change, s *activity.Site, around string) error {
	if c.Sites.Role(s.Node) != activity.Chart {
		return nil
	}
	f, err := ChartOf(c, s)
	if err != nil {
		return err
	}
	id := s.Activity.ID
	for i := range f.chains {
		k := &f.chains[i]
		for j, e := range k.ends[:len(k.ends)-1] {
			if e.id == id && !samePort(e.port, "", usualOut) {
				return text.Refuse(k.node.Start, "a way leads on by the outcome %s of %q to %q, and what is around %q has no such outcome; connect that way otherwise first", workflow.Shorten(e.port), workflow.Shorten(id), workflow.Shorten(k.ends[j+1].id), workflow.Shorten(id))
			}
		}
	}
	if s.Node.Parent.Kind == text.Mapping { // the key is the id
		return nil
	}
	return f.rename(id, around)
}

// RenamePort lets all ways that lead on by one outcome of an activity lead on by another one.
func (f *Chart) RenamePort(id, port, to string) error {
	for i := range f.chains {
		k := &f.chains[i]
		var parts []text.Splice
		for j, e := range k.ends {
			switch {
			case !k.leaves(j, id, port):
			case k.text:
				parts = append(parts, text.Splice{From: e.start, To: e.end, Text: spelled(id, to)})
			default:
				at, as := endNode(k.node, "source", "from"), spelled(id, to)
				for _, p := range []*text.Node{k.node.Val("port"), k.node.Val("sourcePort"), at.Parent.Val("port")} {
					if p != nil {
						at, as = p, to
					}
				}
				if err := f.Text.Retext(at, as); err != nil {
					return err
				}
			}
		}
		if len(parts) > 0 {
			if err := f.rewriteAll(k, parts); err != nil {
				return err
			}
		}
	}
	return nil
}
