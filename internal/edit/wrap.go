package edit

import (
	"maps"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// innerMark stands for the activity that goes into a new one.
const innerMark = "weft-inner-activity"

// wrap puts an activity into a new one, or gives it a retry or a timeout.
func (c *change) wrap(s *site, e Edit) error {
	n := s.node
	if e.Type == Retry || e.Type == Timeout {
		return c.guard(s, e)
	}
	if c.json {
		return refuse(n.start, "in Elsa's JSON an activity cannot be wrapped yet; export the definition as YAML, or edit the text")
	}
	if n.kind == list {
		return refuse(n.start, "a list cannot be wrapped; wrap the activities in it")
	}
	f := fresh{typ: e.Type, id: e.ID, inputs: maps.Clone(e.Inputs)}
	t, err := c.check(f)
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
	around, want, err := c.around(f, t, branch, n.parent.flow)
	if err != nil {
		return err
	}
	return c.enclose(n, around, want)
}

// enclose puts what was written around the mark of an activity around it.
func (c *change) enclose(n *node, around string, want *node) error {
	copied := c.copies[n]
	copied.replace(want)
	want.each(func(k *node) {
		if k.kind == scalar && k.text == innerMark {
			k.replace(copied)
		}
	})
	c.focus = want
	before, after, _ := strings.Cut(around, innerMark)
	if n.parent.flow {
		c.put(n.start, before)
		c.put(n.end, after)
		return nil
	}
	column, to := c.block(n)
	c.begin(n, column, c.indented(before, column))
	c.shift(n.start, to, 4)
	return nil
}

// around writes an activity with a mark in a branch, and gives its tree.
func (c *change) around(f fresh, t *workflow.Descriptor, branch string, flow bool) (string, *node, error) {
	var text string
	var err error
	if branch == t.List {
		bare := f
		bare.inputs = nil
		if text, err = c.yaml(bare, flow); err != nil {
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
		if text, err = c.yaml(f, flow); err != nil {
			return "", nil, err
		}
		if flow {
			text = strings.TrimSuffix(text, "}") + ", " + branch + ": [" + innerMark + "]}"
		} else {
			text += "\n" + branch + ":\n  - " + innerMark
		}
	}
	tree, err := c.snippet(text)
	if err == nil {
		tree.each(func(n *node) { n.from = nil })
	}
	return text, tree, err
}

// guard gives an activity a retry or a timeout.
func (c *change) guard(s *site, e Edit) error {
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
	if s.node.kind == mapping && s.node.entry(e.Type) >= 0 {
		return refuse(s.node.val(e.Type).start, "%q has a %s already", workflow.Shorten(s.activity.ID), e.Type)
	}
	return c.set(s, Edit{Key: e.Type, Value: v})
}
