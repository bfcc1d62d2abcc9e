package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weft-run/weft/pkg/workflow"
)

// The default limits of [Compile].
const (
	DefaultMaxActivities = 20_000
	DefaultMaxDepth      = 200
)

// Options are what a definition is compiled with.
type Options struct {
	Registry      *Registry   // required
	Evaluators    []Evaluator // by the kinds they name; a later one wins
	Resolve       Resolve     // nil: no definition can be used as an activity
	MaxActivities int         // over all definitions used; 0 means DefaultMaxActivities
	MaxDepth      int         // nesting of activities over all definitions used; 0 means DefaultMaxDepth
}

// Compile checks def and prepares it for running. It reports every problem that
// it finds, each with its place; the program is nil if there is any. def is
// neither changed nor copied: it must not be changed afterwards. Activities
// without ids get derived ones ("writeLine1"), which are stable for equal
// definitions.
func Compile(def *workflow.Definition, opts Options) (*Program, workflow.Problems) {
	c := &compiler{opts: opts, evals: map[string]Evaluator{}}
	if c.opts.MaxActivities <= 0 {
		c.opts.MaxActivities = DefaultMaxActivities
	}
	if c.opts.MaxDepth <= 0 {
		c.opts.MaxDepth = DefaultMaxDepth
	}
	for _, e := range opts.Evaluators {
		for _, k := range e.Kinds() {
			c.evals[k] = e
		}
	}
	c.prog = &Program{def: def, nodes: map[string]*Node{}, evals: c.evals, kinds: map[string]bool{}}
	c.prog.strategy = c.workflowStrategy(def)
	if def.Root == nil {
		c.problem("missing-root", def.Place, "the definition has no root activity; give it one")
		return nil, c.problems
	}
	root := c.newNode(nil, "", "", &workflow.Activity{Type: workflowType}, &workflowDescriptor, composite{})
	c.prog.root = root
	c.unit(root, def, "", 0)
	if len(c.problems) == 0 || !c.tooBig {
		c.prepareAll()
	}
	if len(c.problems) > 0 {
		c.problems.Sort()
		return nil, c.problems
	}
	c.prog.count = len(c.order)
	return c.prog, nil
}

type compiler struct {
	opts     Options
	prog     *Program
	evals    map[string]Evaluator
	problems workflow.Problems
	order    []*Node
	stack    []string // ids of the definitions being used, outermost first
	via      *Node    // the outermost activity that uses a definition; problems inside it get its place
	at       *Node    // where what is compiled stands
	tooBig   bool
}

func (c *compiler) problem(code string, place workflow.Place, format string, args ...any) {
	detail := fmt.Sprintf(format, args...)
	if c.via != nil {
		detail = fmt.Sprintf("in the definition that activity %s runs: %s", c.via.id, detail)
		place = c.via.activity.Place
	}
	c.problems = append(c.problems, workflow.Problem{Code: code, Detail: detail, Place: place})
}

func (c *compiler) newNode(parent *Node, id, local string, a *workflow.Activity, d *workflow.Descriptor, impl Activity) *Node {
	n := &Node{id: id, local: local, index: int32(len(c.order)), activity: a, desc: d, impl: impl, parent: parent, quiet: d.NoEffect && (parent == nil || parent.quiet)}
	c.aside(n)
	n.resumer, _ = impl.(Resumer)
	n.parenter, _ = impl.(Parent)
	n.admitter, _ = impl.(Admitter)
	n.undoer, _ = impl.(Undoer)
	c.order = append(c.order, n)
	c.prog.responds = c.prog.responds || d.Responds
	c.prog.starts = c.prog.starts || workflow.StartsInstances(d.Type)
	c.prog.nodes[id] = n
	return n
}

// unit compiles one definition below its boundary node.
func (c *compiler) unit(boundary *Node, def *workflow.Definition, prefix string, depth int) {
	u := &unit{def: def, node: boundary, prefix: prefix, byID: map[string]*Node{}, byName: map[string]*Node{}, bySpelling: map[string]*Node{}, declared: sync.OnceValue(def.DeclaredVariables)}
	boundary.inner = u
	if boundary.unit == nil {
		boundary.unit = u
	}
	boundary.vars = c.variables(def.Variables, def.Place)
	u.inputs = c.declaredInputs(def)
	if !c.scan(def, depth) {
		return
	}
	c.stack = append(c.stack, def.ID)
	root := c.root(boundary, def)
	ids := c.assignIDs(root)
	boundary.ports = map[string]*Node{"root": c.node(u, boundary, root, ids, depth+1)}
	c.stack = c.stack[:len(c.stack)-1]
}

// scan looks over the tree without recursion, before anything walks it: its
// depth, its size, and pointers that occur twice (cycles among them).
func (c *compiler) scan(def *workflow.Definition, depth int) bool {
	type item struct {
		a     *workflow.Activity
		depth int
	}
	seen := map[*workflow.Activity]bool{}
	stack := []item{{def.Root, depth + 1}}
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[it.a] {
			c.tooBig = true
			c.problem("activity-used-twice", it.a.Place, "activity %s occurs twice in the tree, or contains itself; make a copy for each place", it.a.ID)
			return false
		}
		seen[it.a] = true
		if it.depth > c.opts.MaxDepth {
			c.tooBig = true
			c.problem("nested-too-deep", it.a.Place, "activities are nested more than %d levels deep; flatten them, or move a part into a definition of its own that is dispatched", c.opts.MaxDepth)
			return false
		}
		if len(c.order)+len(seen) > c.opts.MaxActivities {
			c.tooBig = true
			c.problem("too-many-activities", def.Place, "the definition has more than %d activities (those of definitions used as activities included); split it", c.opts.MaxActivities)
			return false
		}
		kids := it.a.Children()
		for i := len(kids) - 1; i >= 0; i-- {
			stack = append(stack, item{kids[i], it.depth + 1})
		}
	}
	return true
}

// assignIDs gives each activity below the root of a definition its id within that.
func (c *compiler) assignIDs(root *workflow.Activity) map[*workflow.Activity]string {
	ids, taken := map[*workflow.Activity]string{}, map[string]*workflow.Activity{}
	workflow.Walk(root, func(a, _ *workflow.Activity, _ int) bool {
		if a.ID == "" {
			return true
		}
		if first := taken[a.ID]; first != nil {
			where := ""
			if at := first.Place.String(); at != "" {
				where = " (first at " + at + ")"
			}
			c.problem("duplicate-id", a.Place, "activity id %q is used twice%s; ids must differ within a definition", a.ID, where)
		} else if len(a.ID) > 2*workflow.MaxIDLength || strings.ContainsFunc(a.ID, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			c.problem("bad-id", a.Place, "activity id %q is too long or has control characters", workflow.CutBytes(a.ID, 60))
		}
		taken[a.ID], ids[a] = a, a.ID
		return true
	})
	next := map[string]int{}
	workflow.Walk(root, func(a, _ *workflow.Activity, _ int) bool {
		if a.ID != "" {
			return true
		}
		base := workflow.LowerFirst(a.Type[strings.LastIndexAny(a.Type, "./")+1:])
		for {
			next[base]++
			id := fmt.Sprintf("%s%d", base, next[base])
			if taken[id] == nil {
				taken[id], ids[a] = a, id
				return true
			}
		}
	})
	return ids
}

// node compiles a and everything below it; the depth was checked by scan.
func (c *compiler) node(u *unit, parent *Node, a *workflow.Activity, ids map[*workflow.Activity]string, depth int) *Node {
	if a == nil {
		return nil
	}
	local := ids[a]
	desc, impl, used := c.typeOf(a)
	n := c.newNode(parent, u.prefix+local, local, a, desc, impl)
	n.unit = u
	u.byID[local] = n
	if a.Name != "" && u.byName[a.Name] == nil {
		u.byName[a.Name] = n
		u.bySpelling[workflow.Pascal(a.Name)] = cmp.Or(u.bySpelling[workflow.Pascal(a.Name)], n)
	}
	if used != nil {
		c.use(n, used, depth)
		c.undo(u, n, a, ids, depth)
		return n
	}
	n.vars = c.variables(a.Variables, a.Place)
	for _, kid := range a.Activities {
		if k := c.node(u, n, kid, ids, depth+1); k != nil {
			n.list = append(n.list, k)
		}
	}
	for _, name := range sortedKeys(a.Ports) {
		if a.Ports[name] == nil || name == workflow.UndoPort {
			continue
		}
		if n.ports == nil {
			n.ports = map[string]*Node{}
		}
		n.ports[name] = c.node(u, n, a.Ports[name], ids, depth+1)
		if impl != nil && !slices.Contains(desc.Ports, name) {
			c.problem("unknown-branch", a.Ports[name].Place, "%s %s has no branch %q%s", desc.ShortName(), local, name, suggest(name, desc.Ports))
		}
	}
	for _, cs := range a.Cases {
		n.cases = append(n.cases, NodeCase{Label: cs.Label, Node: c.node(u, n, cs.Activity, ids, depth+1)})
	}
	for _, s := range a.States {
		st := NodeState{Name: s.Name, Final: s.Final, Entry: c.node(u, n, s.Entry, ids, depth+1), Exit: c.node(u, n, s.Exit, ids, depth+1)}
		for _, t := range s.Transitions {
			st.Transitions = append(st.Transitions, NodeTransition{Name: t.Name, To: t.To, Trigger: c.node(u, n, t.Trigger, ids, depth+1), Action: c.node(u, n, t.Action, ids, depth+1)})
		}
		n.states = append(n.states, st)
	}
	c.undo(u, n, a, ids, depth)
	return n
}

// typeOf finds what runs a; an unknown type is a problem, and a stand-in keeps
// the compiler going to find more.
func (c *compiler) typeOf(a *workflow.Activity) (*workflow.Descriptor, Activity, *workflow.Definition) {
	if a.Ref == nil {
		if reg := c.opts.Registry.lookup(a.Type); reg != nil {
			return &reg.desc, reg.impl, nil
		}
	}
	ref := workflow.DefinitionRef{ID: a.Type}
	if a.Ref != nil {
		ref = *a.Ref
	}
	if c.opts.Resolve != nil {
		if def, ok := c.opts.Resolve(ref); ok && def != nil {
			return Describe(a.Type, def), composite{}, def
		}
	}
	if a.Ref != nil {
		c.problem("unknown-definition", a.Place, "activity type %s runs the definition %s, and there is no such published definition; publish it first, or both in one weft apply", a.Type, cmp.Or(ref.ID, ref.VersionID))
	} else {
		var names []string
		for _, d := range c.opts.Registry.All() {
			names = append(names, d.Type)
		}
		c.problem("unknown-activity-type", a.Place, "there is no activity type %q%s", a.Type, suggest(a.Type, names))
	}
	return &workflow.Descriptor{Type: a.Type, AnyOutcome: true}, nil, nil
}

// use compiles the definition that n runs.
func (c *compiler) use(n *Node, def *workflow.Definition, depth int) {
	if slices.Contains(c.stack, def.ID) {
		c.problem("cyclic-definition", n.activity.Place, "definition %s uses itself: %s", def.ID, strings.Join(append(c.stack, def.ID), " → "))
		return
	}
	if !def.Options.UsableAsActivity {
		c.problem("not-usable-as-activity", n.activity.Place, "definition %s is not marked usableAsActivity; mark it, or run it with executeWorkflow", def.ID)
		return
	}
	if u := (Use{def.ID, def.Version}); !slices.Contains(c.prog.uses, u) {
		c.prog.uses = append(c.prog.uses, u)
	}
	if def.Root == nil {
		return
	}
	if c.via == nil {
		c.via = n
		defer func() { c.via = nil }()
	}
	c.unit(n, def, n.id+"/", depth)
}
