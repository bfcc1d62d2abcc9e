package edit

import (
	"maps"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// innerMark stands for the activity that goes into a new one.
const innerMark = "weft-inner-activity"

// wrap puts an activity into a new one, or gives it a retry or a timeout.
func (c change) wrap(s *site, e Edit) error {
	n := s.node
	if err := mayStandElsewhere(c.sites, s); err != nil {
		return err
	}
	if e.Type == Retry || e.Type == Timeout {
		return c.guard(s, e)
	}
	if n.kind == list {
		return refuse(n.start, "a list cannot be wrapped; wrap the activities in it")
	}
	f := fresh{typ: e.Type, id: e.ID, inputs: maps.Clone(e.Inputs)}
	t, err := c.sites.check(f)
	if err != nil {
		return err
	}
	if t == nil {
		return bad("a definition has no branches")
	}
	branch := usualBranch(t, e.Branch)
	switch {
	case t.Type == flowchartType:
		return bad("an activity gets into a flowchart with its connections: insert and connect there")
	case branch == "":
		return bad("%s holds no other activities", t.ShortName())
	case !hasBranch(t, branch):
		return bad("%s has no branch %q%s", t.ShortName(), workflow.Shorten(branch), workflow.DidYouMean(branch, t.Ports))
	}
	// What a choice needs to be one is there to be changed.
	if in, ok := t.Input(t.Main); ok && in.Type == "Boolean" && f.inputs[in.Name] == nil {
		if f.inputs == nil {
			f.inputs = map[string]any{}
		}
		f.inputs[in.Name] = true
	}
	if f.id == "" && c.needsID(n) {
		f.id = c.freeID(t.ShortName())
	}
	if err := leadThrough(c.Change, s, f.id); err != nil {
		return err
	}
	if c.text.json {
		return c.wrapJSON(s, f, t, branch)
	}
	around, want, err := c.around(f, t, branch, n.parent.flow)
	if err != nil {
		return err
	}
	return c.enclose(n, around, want)
}

// wrapJSON puts an activity of Elsa's JSON into a branch of a new one.
func (c change) wrapJSON(s *site, f fresh, t *workflow.Descriptor, branch string) error {
	around := map[string]any{"id": f.id, t.ShortName(): nil, branch: stand}
	if branch == t.List {
		around[branch] = []any{stand}
	}
	if len(f.inputs) > 0 {
		around[t.ShortName()] = f.inputs
	}
	return c.encloseJSON(s, around, nil, false)
}

// mayStandElsewhere refuses to put the root of Elsa's JSON into another activity if that is a
// flowchart: it is what Elsa's designer shows.
func mayStandElsewhere(d *sites, s *site) error {
	if d.json && s.parent == nil && s.activity.Type == flowchartType {
		return refuse(s.node.start, "%q is the flowchart that Elsa's designer shows, and stays the root; insert into it, and connect there", workflow.Shorten(s.activity.ID))
	}
	return nil
}

// needsID tells whether what is put around an activity is called by an id of its own.
func (c change) needsID(n *node) bool {
	return c.text.json || c.sites.role(n) == chart && n.parent.kind == list
}

// stand takes the place of the activity that goes into a new one, while that is written in Elsa's JSON.
var stand = map[string]any{"finish": nil}

const standType = "Elsa.Finish"

// encloseJSON puts an activity of Elsa's JSON into another one, which YAML has as around, with a
// stand-in for it; with a piece, that stands before it or behind it.
func (c change) encloseJSON(s *site, around map[string]any, p *piece, before bool) error {
	n := s.node
	fields, err := c.sites.exported(around)
	if err != nil {
		return err
	}
	if x, y, ok := position(s.activity); ok && c.sites.role(n) == chart {
		fields["metadata"] = designed(x, y)
	}
	column, _ := c.text.lead(c.text.start(n.start))
	text, err := c.text.jsonText(fields, column)
	if err != nil {
		return err
	}
	tree, err := c.text.snippet(text)
	if err != nil {
		return err
	}
	var inner *node
	tree.each(func(k *node) {
		if v := k.val("type"); v != nil && v.text == standType {
			inner = k
		}
	})
	if inner == nil {
		return refuse(n.start, "this activity cannot be written in Elsa's JSON; edit the text")
	}
	rows := newLines([]byte(text))
	deeper := column
	if rows.start(inner.start) > 0 {
		deeper, _ = rows.lead(rows.start(inner.start))
	}
	head, tail := text[:inner.start], text[inner.end:]
	if p != nil {
		gap := ","
		if len(c.text.starts) >= 3 {
			gap += c.text.eol + strings.Repeat(" ", deeper)
		}
		own, err := p.text(true, deeper)
		if err != nil {
			return err
		}
		if before {
			head += own + gap
		} else {
			tail = gap + own + tail
		}
	}
	c.text.put(n.start, head)
	c.text.put(n.end, tail)
	c.text.shift(n.start, n.end, deeper-column)
	copied := n.twin
	copied.replace(tree)
	inner.replace(copied)
	c.text.focus = tree
	if p == nil {
		return nil
	}
	at := copied.at
	if !before {
		at++
	}
	copied.parent.insertItem(at, p.node)
	c.text.focus = p.node
	return nil
}

// enclose puts what was written around the mark of an activity around it.
func (c change) enclose(n *node, around string, want *node) error {
	copied := n.twin
	copied.replace(want)
	want.each(func(k *node) {
		if k.kind == scalar && k.text == innerMark {
			k.replace(copied)
		}
	})
	c.text.focus = want
	before, after, _ := strings.Cut(around, innerMark)
	if n.parent.flow {
		c.text.put(n.start, before)
		c.text.put(n.end, after)
		return nil
	}
	column, to := c.text.block(n)
	c.text.begin(n, column, c.text.indented(before, column))
	c.text.shift(n.start, to, 4)
	return nil
}

// around writes an activity with a mark in a branch, and gives its tree.
func (c change) around(f fresh, t *workflow.Descriptor, branch string, flow bool) (string, *node, error) {
	var text string
	var err error
	if branch == t.List {
		bare := f
		bare.inputs = nil
		if text, err = c.sites.yaml(bare, flow); err != nil {
			return "", nil, err
		}
		if flow {
			text = strings.TrimSuffix(text, " []}") + " [" + innerMark + "]}"
		} else {
			text = strings.TrimSuffix(text, " []") + "\n  - " + innerMark
		}
		if len(f.inputs) > 0 {
			return "", nil, bad("set the inputs of %s behind it", t.ShortName())
		}
	} else {
		if text, err = c.sites.yaml(f, flow); err != nil {
			return "", nil, err
		}
		if flow {
			text = strings.TrimSuffix(text, "}") + ", " + branch + ": [" + innerMark + "]}"
		} else {
			text += "\n" + branch + ":\n  - " + innerMark
		}
	}
	tree, err := c.text.snippet(text)
	return text, tree, err
}

// guard gives an activity a retry or a timeout.
func (c change) guard(s *site, e Edit) error {
	if e.ID != "" || e.Branch != "" {
		return bad("%s is a key of the activity, and has no id and no branch", e.Type)
	}
	v := any(e.Inputs)
	switch {
	case len(e.Inputs) == 0 && e.Type == Retry:
		v = 3
	case len(e.Inputs) == 0:
		v = "1h"
	case e.Type == Timeout:
		if len(e.Inputs) != 1 || e.Inputs[Timeout] == nil {
			return bad("a timeout has one input, timeout")
		}
		v = e.Inputs[Timeout]
	}
	if c.text.json {
		id := s.activity.ID
		around := id + map[string]string{Retry: workflow.RetrySuffix, Timeout: workflow.TimeoutSuffix}[e.Type]
		if _, err := c.sites.find(around, 0); err == nil {
			return refuse(s.node.start, "%q has a %s already, %q", workflow.Shorten(id), e.Type, workflow.Shorten(around))
		}
		if err := leadThrough(c.Change, s, around); err != nil {
			return err
		}
		return c.encloseJSON(s, map[string]any{"id": id, "finish": nil, e.Type: v}, nil, false)
	}
	if s.node.kind == mapping && s.node.entry(e.Type) >= 0 {
		return refuse(s.node.val(e.Type).start, "%q has a %s already", workflow.Shorten(s.activity.ID), e.Type)
	}
	return c.set(s, e.Type, v, nil)
}
