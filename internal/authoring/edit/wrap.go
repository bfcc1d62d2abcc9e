package edit

import (
	"maps"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/flow"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// innerMark stands for the activity that goes into a new one.
const innerMark = "weft-inner-activity"

// wrap puts an activity into a new one, or gives it a retry or a timeout.
func (c change) wrap(s *activity.Site, e Edit) error {
	n := s.Node
	if err := mayStandElsewhere(c.Sites, s); err != nil {
		return err
	}
	if e.Type == Retry || e.Type == Timeout {
		return c.guard(s, e)
	}
	if n.Kind == text.List {
		return text.Refuse(n.Start, "a list cannot be wrapped; wrap the activities in it")
	}
	f := activity.Fresh{Type: e.Type, ID: e.ID, Inputs: maps.Clone(e.Inputs)}
	t, err := c.Sites.Check(f)
	if err != nil {
		return err
	}
	if t == nil {
		return text.Bad("a definition has no branches")
	}
	branch := usualBranch(t, e.Branch)
	switch {
	case t.Type == activity.FlowchartType:
		return text.Bad("an activity gets into a flowchart with its connections: insert and connect there")
	case branch == "":
		return text.Bad("%s holds no other activities", t.ShortName())
	case !hasBranch(t, branch):
		return text.Bad("%s has no branch %q%s", t.ShortName(), workflow.Shorten(branch), workflow.DidYouMean(branch, t.Ports))
	}
	// What a choice needs to be one is there to be changed.
	if in, ok := t.Input(t.Main); ok && in.Type == "Boolean" && f.Inputs[in.Name] == nil {
		if f.Inputs == nil {
			f.Inputs = map[string]any{}
		}
		f.Inputs[in.Name] = true
	}
	if f.ID == "" && c.needsID(n) {
		f.ID = c.FreeID(t.ShortName())
	}
	if err := flow.LeadThrough(c.Change, s, f.ID); err != nil {
		return err
	}
	if c.Text.JSON {
		return c.wrapJSON(s, f, t, branch)
	}
	around, want, err := c.around(f, t, branch, n.Parent.Flow)
	if err != nil {
		return err
	}
	return c.enclose(n, around, want)
}

// wrapJSON puts an activity of Elsa's JSON into a branch of a new one.
func (c change) wrapJSON(s *activity.Site, f activity.Fresh, t *workflow.Descriptor, branch string) error {
	around := map[string]any{"id": f.ID, t.ShortName(): nil, branch: stand}
	if branch == t.List {
		around[branch] = []any{stand}
	}
	if len(f.Inputs) > 0 {
		around[t.ShortName()] = f.Inputs
	}
	return c.encloseJSON(s, around, nil, false)
}

// mayStandElsewhere refuses to put the root of Elsa's JSON into another activity if that is a
// flowchart: it is what Elsa's designer shows.
func mayStandElsewhere(d *activity.Sites, s *activity.Site) error {
	if d.JSON && s.Parent == nil && s.Activity.Type == activity.FlowchartType {
		return text.Refuse(s.Node.Start, "%q is the flowchart that Elsa's designer shows, and stays the root; insert into it, and connect there", workflow.Shorten(s.Activity.ID))
	}
	return nil
}

// needsID tells whether what is put around an activity is called by an id of its own.
func (c change) needsID(n *text.Node) bool {
	return c.Text.JSON || c.Sites.Role(n) == activity.Chart && n.Parent.Kind == text.List
}

// stand takes the place of the activity that goes into a new one, while that is written in Elsa's JSON.
var stand = map[string]any{"finish": nil}

const standType = "Elsa.Finish"

// encloseJSON puts an activity of Elsa's JSON into another one, which YAML has as around, with a
// stand-in for it; with a piece, that stands before it or behind it.
func (c change) encloseJSON(s *activity.Site, around map[string]any, p *text.Piece, before bool) error {
	n := s.Node
	fields, err := c.Sites.Exported(around)
	if err != nil {
		return err
	}
	if x, y, ok := flow.Position(s.Activity); ok && c.Sites.Role(n) == activity.Chart {
		fields["metadata"] = flow.Designed(x, y)
	}
	column, _ := c.Text.Lead(c.Text.Start(n.Start))
	out, err := c.Text.JSONText(fields, column)
	if err != nil {
		return err
	}
	tree, err := c.Text.Snippet(out)
	if err != nil {
		return err
	}
	var inner *text.Node
	tree.Each(func(k *text.Node) {
		if v := k.Val("type"); v != nil && v.Text == standType {
			inner = k
		}
	})
	if inner == nil {
		return text.Refuse(n.Start, "this activity cannot be written in Elsa's JSON; edit the text")
	}
	rows := text.NewLines([]byte(out))
	deeper := column
	if rows.Start(inner.Start) > 0 {
		deeper, _ = rows.Lead(rows.Start(inner.Start))
	}
	head, tail := out[:inner.Start], out[inner.End:]
	if p != nil {
		gap := ","
		if len(c.Text.Starts) >= 3 {
			gap += c.Text.EOL + strings.Repeat(" ", deeper)
		}
		own, err := p.Text(true, deeper)
		if err != nil {
			return err
		}
		if before {
			head += own + gap
		} else {
			tail = gap + own + tail
		}
	}
	c.Text.Put(n.Start, head)
	c.Text.Put(n.End, tail)
	c.Text.Shift(n.Start, n.End, deeper-column)
	copied := n.Twin
	copied.Replace(tree)
	inner.Replace(copied)
	c.Text.Focus = tree
	if p == nil {
		return nil
	}
	at := copied.At
	if !before {
		at++
	}
	copied.Parent.InsertItem(at, p.Node)
	c.Text.Focus = p.Node
	return nil
}

// enclose puts what was written around the mark of an activity around it.
func (c change) enclose(n *text.Node, around string, want *text.Node) error {
	copied := n.Twin
	copied.Replace(want)
	want.Each(func(k *text.Node) {
		if k.Kind == text.Scalar && k.Text == innerMark {
			k.Replace(copied)
		}
	})
	c.Text.Focus = want
	before, after, _ := strings.Cut(around, innerMark)
	if n.Parent.Flow {
		c.Text.Put(n.Start, before)
		c.Text.Put(n.End, after)
		return nil
	}
	column, to := c.Text.Block(n)
	c.Text.Begin(n, column, c.Text.Indented(before, column))
	c.Text.Shift(n.Start, to, 4)
	return nil
}

// around writes an activity with a mark in a branch, and gives its tree.
func (c change) around(f activity.Fresh, t *workflow.Descriptor, branch string, flow bool) (string, *text.Node, error) {
	var out string
	var err error
	if branch == t.List {
		bare := f
		bare.Inputs = nil
		if out, err = c.Sites.YAML(bare, flow); err != nil {
			return "", nil, err
		}
		if flow {
			out = strings.TrimSuffix(out, " []}") + " [" + innerMark + "]}"
		} else {
			out = strings.TrimSuffix(out, " []") + "\n  - " + innerMark
		}
		if len(f.Inputs) > 0 {
			return "", nil, text.Bad("set the inputs of %s behind it", t.ShortName())
		}
	} else {
		if out, err = c.Sites.YAML(f, flow); err != nil {
			return "", nil, err
		}
		if flow {
			out = strings.TrimSuffix(out, "}") + ", " + branch + ": [" + innerMark + "]}"
		} else {
			out += "\n" + branch + ":\n  - " + innerMark
		}
	}
	tree, err := c.Text.Snippet(out)
	return out, tree, err
}

// guard gives an activity a retry or a timeout.
func (c change) guard(s *activity.Site, e Edit) error {
	if e.ID != "" || e.Branch != "" {
		return text.Bad("%s is a key of the activity, and has no id and no branch", e.Type)
	}
	v := any(e.Inputs)
	switch {
	case len(e.Inputs) == 0 && e.Type == Retry:
		v = 3
	case len(e.Inputs) == 0:
		v = "1h"
	case e.Type == Timeout:
		if len(e.Inputs) != 1 || e.Inputs[Timeout] == nil {
			return text.Bad("a timeout has one input, timeout")
		}
		v = e.Inputs[Timeout]
	}
	if c.Text.JSON {
		id := s.Activity.ID
		around := id + map[string]string{Retry: workflow.RetrySuffix, Timeout: workflow.TimeoutSuffix}[e.Type]
		if _, err := c.Sites.Find(around, 0); err == nil {
			return text.Refuse(s.Node.Start, "%q has a %s already, %q", workflow.Shorten(id), e.Type, workflow.Shorten(around))
		}
		if err := flow.LeadThrough(c.Change, s, around); err != nil {
			return err
		}
		return c.encloseJSON(s, map[string]any{"id": id, "finish": nil, e.Type: v}, nil, false)
	}
	if s.Node.Kind == text.Mapping && s.Node.Entry(e.Type) >= 0 {
		return text.Refuse(s.Node.Val(e.Type).Start, "%q has a %s already", workflow.Shorten(s.Activity.ID), e.Type)
	}
	return c.Set(s, e.Type, v, nil)
}
