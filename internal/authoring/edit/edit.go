package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	yamllib "go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// MaxEdits is how many edits are made at once, at most.
const MaxEdits = 20

// What an edit does beside these.
const (
	Wrap       = "wrap"       // an activity in a new one, or in a retry or a timeout
	Connect    = "connect"    // two activities of a flowchart
	Disconnect = "disconnect" // two activities of a flowchart
)

// Ops are what an edit may do.
var Ops = []string{Insert, Delete, Move, Wrap, Set, Connect, Disconnect}

// Wheres are where an activity may go.
var Wheres = []string{Before, After, Into, Up, Down}

// What an activity may be wrapped in beside types: keys that stand beside its own.
const (
	Retry   = "retry"
	Timeout = "timeout"
)

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

	sites *sites
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
	first, problems := open(ctx, src, json, types)
	if problems != nil {
		return Result{}, problems
	}
	d := first
	var focus *node
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
			next.root.each(func(n *node) { // of the tree before the first edit
				if n.from != nil {
					n.from = n.from.from
				}
			})
		}
		d, focus = next, at
	}
	res := Result{Text: d.whole(), Problems: lost(first, d).WithExcerpts(d.src), sites: d}
	res.Line, res.Column = d.place(focus.start)
	for n := focus; n != nil; n = n.parent {
		if s := d.at[n]; s != nil {
			res.Activity = s.activity.ID
			res.Line, res.Column = s.activity.Place.Line, s.activity.Place.Column
			break
		}
	}
	return res, nil
}

// problem is the problem of an edit that cannot be made.
func problem(d *sites, err error, which string) workflow.Problems {
	p := workflow.Problem{Code: "edit-refused", Detail: which + err.Error()}
	var r *refusal
	if errors.As(err, &r) {
		p.Code = r.code
		if r.at >= 0 {
			p.Place.Line, p.Place.Column = d.place(r.at)
		}
	}
	return workflow.Problems{p}.WithExcerpts(d.src)
}

// refusal is an edit that cannot be made.
type refusal struct {
	code   string
	at     int // -1: nowhere
	detail string
}

func (r *refusal) Error() string { return r.detail }

func refuse(at int, format string, args ...any) error {
	return &refusal{"edit-refused", at, fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) error {
	return &refusal{"bad-edit", -1, fmt.Sprintf(format, args...)}
}

// site is where an activity stands.
type site struct {
	activity *workflow.Activity
	parent   *workflow.Activity
	node     *node // a mapping, a list that is a Sequence, or a bare name
	key      int   // of a mapping in YAML: the entry that names the type; else -1
	times    int   // how often it is used: more than once through an alias
}

// doc is a text with its tree.
type doc struct {
	lines
	bom  []byte
	json bool
	eol  string
	root *node
}

// sites are the activities of a text, with where they stand.
type sites struct {
	*doc
	types workflow.Types
	def   *workflow.Definition
	at    map[*node]*site
	of    map[*workflow.Activity]*site
	order []*site // as the tree of activities has them
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// open reads a text that is to be edited.
func open(ctx context.Context, src []byte, json bool, types workflow.Types) (*sites, workflow.Problems) {
	d := &sites{doc: &doc{json: json, eol: "\n"}, types: types, at: map[*node]*site{}, of: map[*workflow.Activity]*site{}}
	if bytes.HasPrefix(src, byteOrderMark) {
		d.bom, src = byteOrderMark, src[len(byteOrderMark):]
	}
	if problems := workflow.CheckSize(src, ""); problems != nil {
		return nil, problems
	}
	d.lines = newLines(src)
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		d.eol = "\r\n"
	}
	odd := oddBreak(src, json)
	def, problems, treeErr := d.read(ctx, odd < 0)
	if ctx.Err() != nil {
		return nil, workflow.Problems{{Code: "given-up", Detail: "the edit was given up, since its time was over or nobody waits for it any more; nothing is changed"}}
	}
	if def == nil || def.Root == nil {
		if len(problems) == 0 {
			problems = workflow.Problems{{Code: "missing-root", Detail: "the definition has no root yet; write one, such as root: []"}}
		}
		return nil, problems
	}
	for _, p := range problems {
		if p.Code == "too-deep" || p.Code == "too-large" || p.Code == "too-many-activities" || p.Code == "bad-yaml" {
			return nil, problems
		}
	}
	if odd >= 0 {
		line, column := d.place(odd)
		return nil, workflow.Problems{{Code: "odd-line-break", Place: workflow.Place{Line: line, Column: column},
			Detail: "this character ends a line for YAML and for few editors; write an ordinary line end, or an escape between double quotes"}}.WithExcerpts(src)
	}
	if treeErr != nil {
		return nil, workflow.Problems{{Code: "edit-refused", Detail: treeErr.Error()}}
	}
	d.def = def
	d.locate()
	return d, nil
}

// read reads the definition, and the tree of its text if that can be had.
func (d *sites) read(ctx context.Context, tree bool) (def *workflow.Definition, problems workflow.Problems, err error) {
	if d.json {
		if def, problems = elsajson.Read(d.src, "", d.types); def != nil && ctx.Err() == nil {
			d.root, err = readJSON(d.src)
		}
		return def, problems, err
	}
	err = errors.New("there is no definition here")
	def, problems = yaml.ReadTree(ctx, d.src, d.types, func(n *yamllib.Node) {
		if tree {
			d.root, err = readYAML(d.lines, n)
		}
	})
	return def, problems, err
}

// oddBreak finds what breaks lines in YAML beside \n and \r\n; -1: nothing does.
func oddBreak(src []byte, json bool) int {
	if json {
		return -1
	}
	for i, c := range src {
		if c == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			return i
		}
	}
	for _, s := range []string{"\u0085", "\u2028", "\u2029"} {
		if i := bytes.Index(src, []byte(s)); i >= 0 {
			return i
		}
	}
	return -1
}

// locate ties the activities to the tree, by their places.
func (d *sites) locate() {
	type at struct {
		start int
		kind  kind
	}
	wanted := map[int]bool{} // few of a text's values are activities
	workflow.Walk(d.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		wanted[d.offset(a.Place.Line, a.Place.Column)] = true
		return true
	})
	where, keys := map[at]*node{}, map[int]*node{}
	d.root.each(func(n *node) {
		if !wanted[n.start] {
			return
		}
		if k := (at{n.start, n.kind}); where[k] == nil || where[k].isKey {
			where[k] = n
		}
		if n.isKey {
			keys[n.start] = n
		}
	})
	workflow.Walk(d.def.Root, func(a, parent *workflow.Activity, _ int) bool {
		start := d.offset(a.Place.Line, a.Place.Column)
		s := &site{activity: a, parent: parent, key: -1}
		switch key := keys[start]; {
		case d.json:
			s.node = where[at{start, mapping}]
		case key != nil && d.names(key, a):
			s.node, s.key = key.parent, key.at
		case a.Type == "Elsa.Sequence" && where[at{start, list}] != nil:
			s.node = where[at{start, list}]
		default:
			if n := where[at{start, scalar}]; n != nil && !n.isKey {
				s.node = n
			}
		}
		if s.node == nil || written(a) {
			return true
		}
		if old := d.at[s.node]; old != nil {
			old.times++
			return true
		}
		s.times = 1
		d.at[s.node], d.of[a] = s, s
		d.order = append(d.order, s)
		return true
	})
}

// names tells whether a key names the type of an activity.
func (d *sites) names(key *node, a *workflow.Activity) bool {
	if key.text == a.Type || key.text == "workflow" || a.Ref != nil {
		return true
	}
	t := d.types.ByShortName(key.text)
	if t == nil {
		t = d.types.ByType(key.text)
	}
	return t != nil && t.Type == a.Type
}

// written tells the activities that a retry or a timeout beside another one is written for.
func written(a *workflow.Activity) bool {
	return a.Type == workflow.RetryType && strings.HasSuffix(a.ID, workflow.RetrySuffix) && a.Ports["body"] != nil && a.Ports["body"].Place == a.Place ||
		strings.HasSuffix(a.ID, workflow.TimeoutSuffix) && len(a.Activities) == 2 && a.Activities[0] != nil && a.Activities[0].Place == a.Place
}

// find gives the activity with an id.
func (d *sites) find(id string, line int) (*site, error) {
	var found []*site
	var ids []string
	for _, s := range d.order {
		ids = append(ids, s.activity.ID)
		if s.activity.ID == id && (line == 0 || line == s.activity.Place.Line) {
			found = append(found, s)
		}
	}
	switch {
	case id == "":
		return nil, bad("the edit does not say which activity it is about")
	case len(found) == 0:
		hint := workflow.DidYouMean(id, ids)
		for _, suffix := range []string{workflow.TimeoutSuffix, workflow.TimeoutSuffix + ".delay", ".onTimeout", workflow.RetrySuffix, ".onGiveUp"} {
			if base, ok := strings.CutSuffix(id, suffix); ok && slices.Contains(ids, base) {
				hint = fmt.Sprintf("; it is written as a key of %s", base)
			}
		}
		return nil, &refusal{"no-such-activity", -1, fmt.Sprintf("there is no activity %q%s%s", workflow.Shorten(id), atLine(line), hint)}
	case len(found) > 1:
		var at []string
		for _, s := range found {
			at = append(at, fmt.Sprint(s.activity.Place.Line))
		}
		return nil, refuse(found[1].node.start, "%d activities have the id %q, in the lines %s; say which line is meant, or give each an id of its own", len(found), workflow.Shorten(id), strings.Join(at, ", "))
	case found[0].times > 1:
		return nil, refuse(found[0].node.start, "%q is written once and used %d times through an alias, so that an edit would change each of them; edit the text", workflow.Shorten(id), found[0].times)
	}
	return found[0], nil
}

func atLine(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" in line %d", line)
}

// whole is the text with its byte order mark.
func (d *doc) whole() []byte { return slices.Concat(d.bom, d.src) }

// draft is what an edit does to a text, and what its tree becomes.
type draft struct {
	*doc
	want    *node // the tree that the edit means
	splices []splice
	taken   [2]int // the part of the text that goes with its comments
	focus   *node  // of the tree that is wanted
}

// newDraft begins to change a text.
func newDraft(d *doc) *draft {
	t := &draft{doc: d, want: d.root.clone(new(slab))}
	t.want.each(func(n *node) { n.from.twin = n })
	return t
}

// Change is an edit in the making: what it does to the text, and the activities that are there.
type Change struct {
	text  *draft
	sites *sites
	given []string // ids of what is new
}

// change is one that is about activities.
type change struct{ *Change }

// editOnce makes one edit and gives the text after it, with the node that it was about.
func editOnce(ctx context.Context, d *sites, e Edit) (*sites, *node, error) {
	s, err := d.find(e.Activity, e.Line)
	if err != nil {
		return nil, nil, err
	}
	c := change{&Change{text: newDraft(d.doc), sites: d}}
	c.text.focus = s.node.twin
	switch {
	case e.Part != "":
		v := e.Value
		if e.Text != nil {
			v = *e.Text
		}
		err = editPart(c.Change, s, PartEdit{Op: e.Op, Part: e.Part, State: e.State, Number: e.Number, Where: e.Where, Inputs: e.Inputs, Key: e.Key, Value: v})
	case e.State != "" || e.Number != 0:
		err = bad("a state and a number are of a part: say whether it is one of %s", strings.Join(Parts, ", "))
	default:
		err = c.activity(s, e)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.done(ctx)
}

// activity makes an edit that is about an activity.
func (c change) activity(s *site, e Edit) error {
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
		return c.set(s, e.Key, e.Value, e.Text)
	case Connect, Disconnect:
		return connect(c.Change, s, e.Port, e.To, e.Op == Disconnect)
	}
	return bad("an edit is one of %s, not %q%s", strings.Join(Ops, ", "), workflow.Shorten(e.Op), workflow.DidYouMean(e.Op, Ops))
}

// done makes the text, and holds it against what was meant.
func (c change) done(ctx context.Context) (*sites, *node, error) {
	src, err := spliced(c.text.src, c.text.splices)
	if err != nil {
		return nil, nil, err
	}
	if len(src) > workflow.MaxSource {
		return nil, nil, &refusal{"too-large", -1, fmt.Sprintf("the definition would have %d bytes; up to %d are read", len(src), workflow.MaxSource)}
	}
	next, problems := open(ctx, src, c.text.json, c.sites.types)
	if problems != nil {
		if ctx.Err() != nil {
			return nil, nil, &refusal{problems[0].Code, -1, problems[0].Detail}
		}
		return nil, nil, refuse(c.text.splices[0].from, "the text around here is written in a way that this edit cannot follow (%s); edit the text", problems[0].Detail)
	}
	next.bom, next.eol = c.text.bom, c.text.eol
	if err := same(c.text.want, next.root); err != nil {
		return nil, nil, refuse(c.text.splices[0].from, "the text around here is written in a way that this edit cannot follow (%v); edit the text", err)
	}
	if n := repeated(next.root); n != nil {
		old := n.from.target
		line, _ := c.sites.place(n.from.start)
		return nil, nil, refuse(old.start, "what stands here is written once and used again as *%s in line %d, so that this edit would change that place too; edit the text", workflow.Shorten(n.text), line)
	}
	if at, text := c.text.dropped(next.doc); at >= 0 {
		return nil, nil, &refusal{"comment-lost", at, fmt.Sprintf("the comment %q would be lost; edit the text", workflow.Shorten(text))}
	}
	for at := c.text.focus; at != nil; at = at.parent { // what held it, if it is gone
		if at.twin != nil {
			return next, at.twin, nil
		}
	}
	return next, next.root, nil
}

// lost tells the references of a text after edits that their activity is gone, or that another one has its id.
func lost(d *sites, now *sites) workflow.Problems {
	before := map[string]*node{} // by id
	for _, s := range d.order {
		before[s.activity.ID] = s.node
	}
	after := map[string]*node{}
	for _, s := range now.order {
		after[s.activity.ID] = s.node.from
		if s.node.from == nil {
			after[s.activity.ID] = s.node
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
	now.root.each(func(n *node) {
		if n.kind != scalar || n.isKey || !strings.ContainsAny(n.text, "\"'`") {
			return
		}
		for _, id := range quoted(n.text) {
			if why := gone[id]; why != "" && len(found) < workflow.MaxProblems {
				line, column := now.place(n.start)
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
