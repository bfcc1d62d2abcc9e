package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/flow"
	"github.com/weft-run/weft/internal/authoring/edit/part"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// MaxEdits is how many edits are made at once, at most.
const MaxEdits = 20

// What an edit does.
const (
	Insert     = activity.Insert // a new activity of a type
	Delete     = activity.Delete // an activity with all that is in it
	Move       = activity.Move   // an activity with all that is in it
	Wrap       = "wrap"          // an activity in a new one, or in a retry or a timeout
	Set        = activity.Set    // an input, or a key that each activity may have
	Connect    = "connect"       // two activities of a flowchart
	Disconnect = "disconnect"    // two activities of a flowchart
)

// Ops are what an edit may do.
var Ops = []string{Insert, Delete, Move, Wrap, Set, Connect, Disconnect}

// Where an activity goes.
const (
	Before = activity.Before // the other one
	After  = activity.After  // the other one; in a flowchart also between it and what it leads to
	Into   = activity.Into   // a branch of the other one, as its last
	Up     = activity.Up     // before the one above it; only to move
	Down   = activity.Down   // after the one below it; only to move
)

// Wheres are where an activity may go.
var Wheres = []string{Before, After, Into, Up, Down}

// What an activity may be wrapped in beside types: keys that stand beside its own.
const (
	Retry   = "retry"
	Timeout = "timeout"
)

// What an edit may be about that an activity holds, and that is no activity.
const (
	CasePart       = part.Case       // of a switch and its like
	StatePart      = part.State      // of a state machine
	TransitionPart = part.Transition // out of a state
)

// Parts are what an edit may be about beside activities.
var Parts = part.Kinds

// Edit is one change of a definition.
type Edit struct {
	Op       string
	Activity string         // the id of the activity that it is about; of Insert, that it stands beside or in
	Line     int            // where Activity begins, needed if several have its id; 0: not said
	Where    string         // of Insert and Move; "": After
	To       string         // of Move, the activity beside or into which, but for Up and Down; of Connect and Disconnect, where the way leads
	Branch   string         // of Into and Wrap, a branch such as then; "": the main one
	Port     string         // of Connect, Disconnect, and Insert in a flowchart: an outcome; "": Done
	Type     string         // of Insert and Wrap, as YAML has it
	ID       string         // of the new activity; "": by its place, or made up where one is needed
	Inputs   map[string]any // of the new activity, as JSON has values; texts may have ${{ }}
	Key      string         // of Set
	Value    any            // of Set, as Inputs; nil takes it away
	Text     *string        // of Set, instead of Value: as a person writes it in a field; "" takes it away

	// Part is what of the activity an edit is about, if not the activity itself: see [Parts].
	// Insert takes its keys as Inputs, and puts it beside the one that State or Number names;
	// Set and Move are as for activities.
	Part   string
	State  string // of a state, and of a transition the state that it leaves
	Number int    // of a case or a transition, from 1
}

// Result is a source that was edited.
type Result struct {
	Text         []byte
	Activity     string // the id of what the last edit was about, as it is now; "": it is gone
	Line, Column int    // where that stands, or stood
	// Problems are warnings: references that lost their activity, or mean another one now.
	Problems workflow.Problems

	sites *activity.Sites
}

// Tell describes an activity of the text as it is now, as [Tell] does, without reading it again.
func (r Result) Tell(id string, line int) (About, workflow.Problems) { return tell(r.sites, id, line) }

// Apply makes edits one after the other: each is about the text that the one before left.
// json tells that the source is Elsa's JSON. What cannot be done is a problem with the
// place in the text that it was to be done in, and then nothing is changed. When the context
// ends, the edit is given up soon, with the problem given-up.
func Apply(ctx context.Context, src []byte, json bool, edits []Edit, types workflow.Types) (Result, workflow.Problems) {
	if types == nil {
		types = workflow.Descriptors{}
	}
	if len(edits) == 0 || len(edits) > MaxEdits {
		return Result{}, workflow.Problems{{Code: "bad-edit", Detail: fmt.Sprintf("there may be 1 to %d edits, and here are %d", MaxEdits, len(edits))}}
	}
	first, problems := activity.Open(ctx, src, json, types)
	if problems != nil {
		return Result{}, problems
	}
	d := first
	var focus *text.Node
	for i, e := range edits {
		next, at, err := editOnce(ctx, d, e)
		if err != nil {
			where := ""
			if len(edits) > 1 {
				where = fmt.Sprintf("edit %d: ", i+1)
			}
			return Result{}, problem(d, err, where)
		}
		if i > 0 {
			next.Root.Each(func(n *text.Node) { // of the tree before the first edit
				if n.From != nil {
					n.From = n.From.From
				}
			})
		}
		d, focus = next, at
	}
	res := Result{Text: d.Whole(), Problems: lost(first, d).WithExcerpts(d.Src), sites: d}
	res.Line, res.Column = d.Place(focus.Start)
	for n := focus; n != nil; n = n.Parent {
		if s := d.At[n]; s != nil {
			res.Activity = s.Activity.ID
			res.Line, res.Column = s.Activity.Place.Line, s.Activity.Place.Column
			break
		}
	}
	return res, nil
}

// problem is the problem of an edit that cannot be made.
func problem(d *activity.Sites, err error, which string) workflow.Problems {
	p := workflow.Problem{Code: "edit-refused", Detail: which + err.Error()}
	var r *text.RefusalError
	if errors.As(err, &r) {
		p.Code = r.Code
		if r.At >= 0 {
			p.Place.Line, p.Place.Column = d.Place(r.At)
		}
	}
	return workflow.Problems{p}.WithExcerpts(d.Src)
}

// change is one that is about activities.
type change struct{ *activity.Change }

// editOnce makes one edit and gives the text after it, with the node that it was about.
func editOnce(ctx context.Context, d *activity.Sites, e Edit) (*activity.Sites, *text.Node, error) {
	s, err := d.Find(e.Activity, e.Line)
	if err != nil {
		return nil, nil, err
	}
	c := change{&activity.Change{Text: text.NewDraft(d.Doc), Sites: d}}
	c.Text.Focus = s.Node.Twin
	switch {
	case e.Part != "":
		v := e.Value
		if e.Text != nil {
			v = *e.Text
		}
		err = part.Apply(c.Change, s, part.Edit{Op: e.Op, Part: e.Part, State: e.State, Number: e.Number, Where: e.Where, Inputs: e.Inputs, Key: e.Key, Value: v})
	case e.State != "" || e.Number != 0:
		err = text.Bad("a state and a number are of a part: say whether it is one of %s", strings.Join(Parts, ", "))
	default:
		err = c.activity(s, e)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.done(ctx)
}

// activity makes an edit that is about an activity.
func (c change) activity(s *activity.Site, e Edit) error {
	switch e.Op {
	case Insert:
		return c.insert(s, e)
	case Delete:
		return c.delete(s)
	case Move:
		return c.move(s, e)
	case Wrap:
		return c.wrap(s, e)
	case Set:
		return c.Set(s, e.Key, e.Value, e.Text)
	case Connect, Disconnect:
		return flow.Connect(c.Change, s, e.Port, e.To, e.Op == Disconnect)
	}
	return text.Bad("an edit is one of %s, not %q%s", strings.Join(Ops, ", "), workflow.Shorten(e.Op), workflow.DidYouMean(e.Op, Ops))
}

// done makes the text, and holds it against what was meant.
func (c change) done(ctx context.Context) (*activity.Sites, *text.Node, error) {
	src, err := text.Spliced(c.Text.Src, c.Text.Splices)
	if err != nil {
		return nil, nil, err
	}
	if len(src) > workflow.MaxSource {
		return nil, nil, &text.RefusalError{Code: "too-large", At: -1, Detail: fmt.Sprintf("the definition would have %d bytes; up to %d are read", len(src), workflow.MaxSource)}
	}
	next, problems := activity.Open(ctx, src, c.Text.JSON, c.Sites.Types)
	if problems != nil {
		if ctx.Err() != nil {
			return nil, nil, &text.RefusalError{Code: problems[0].Code, At: -1, Detail: problems[0].Detail}
		}
		return nil, nil, text.Refuse(c.Text.Splices[0].From, "the text around here is written in a way that this edit cannot follow (%s); edit the text", problems[0].Detail)
	}
	next.BOM, next.EOL = c.Text.BOM, c.Text.EOL
	if err := text.Same(c.Text.Want, next.Root); err != nil {
		return nil, nil, text.Refuse(c.Text.Splices[0].From, "the text around here is written in a way that this edit cannot follow (%v); edit the text", err)
	}
	if n := text.Repeated(next.Root); n != nil {
		old := n.From.Target
		line, _ := c.Sites.Place(n.From.Start)
		return nil, nil, text.Refuse(old.Start, "what stands here is written once and used again as *%s in line %d, so that this edit would change that place too; edit the text", workflow.Shorten(n.Text), line)
	}
	if at, lost := c.Text.Dropped(next.Doc); at >= 0 {
		return nil, nil, &text.RefusalError{Code: "comment-lost", At: at, Detail: fmt.Sprintf("the comment %q would be lost; edit the text", workflow.Shorten(lost))}
	}
	for at := c.Text.Focus; at != nil; at = at.Parent { // what held it, if it is gone
		if at.Twin != nil {
			return next, at.Twin, nil
		}
	}
	return next, next.Root, nil
}

// lost tells the references of a text after edits that their activity is gone, or that another one has its id.
func lost(d *activity.Sites, now *activity.Sites) workflow.Problems {
	before := map[string]*text.Node{} // by id
	for _, s := range d.Order {
		before[s.Activity.ID] = s.Node
	}
	after := map[string]*text.Node{}
	for _, s := range now.Order {
		after[s.Activity.ID] = s.Node.From
		if s.Node.From == nil {
			after[s.Activity.ID] = s.Node
		}
	}
	gone := map[string]string{}
	for id, was := range before {
		switch is, there := after[id]; {
		case !there:
			gone[id] = "is not there any more"
		case is != was:
			gone[id] = "is another activity now, since ids that are not given come from the place"
		}
	}
	if len(gone) == 0 {
		return nil
	}
	var found workflow.Problems
	now.Root.Each(func(n *text.Node) {
		if n.Kind != text.Scalar || n.IsKey || !strings.ContainsAny(n.Text, "\"'`") {
			return
		}
		for _, id := range quoted(n.Text) {
			if why := gone[id]; why != "" && len(found) < workflow.MaxProblems {
				line, column := now.Place(n.Start)
				found = append(found, workflow.Problem{Code: "reference-changed", Warning: true, Place: workflow.Place{Line: line, Column: column},
					Detail: fmt.Sprintf("this refers to %q, which %s; give that activity an id, or change the reference", workflow.Shorten(id), why)})
			}
		}
	})
	return found
}

// quoted gives the texts in quotes of an expression, each once.
func quoted(text string) []string {
	var all []string
	for i := 0; i < len(text); i++ {
		if !strings.ContainsRune("\"'`", rune(text[i])) {
			continue
		}
		end := strings.IndexByte(text[i+1:], text[i])
		if end < 0 {
			break
		}
		if s := text[i+1 : i+1+end]; !slices.Contains(all, s) {
			all = append(all, s)
		}
		i += end + 1
	}
	return all
}
