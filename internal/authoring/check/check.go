package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Options are what a definition is checked with.
type Options struct {
	engine.Options
	Defined func(id string) bool // whether a definition of that id can be started; nil: nobody knows
	IDs     func() []string      // of definitions that can be started, for what was probably meant; nil: nobody knows

	// Child gives the definition that a start of that id runs now, so that what it is given
	// can be held against its inputs; nil if it is not known.
	Child func(id string) *workflow.Definition

	// Starts gives the ids of the definitions that an event of that name starts now; nil if it is not known.
	Starts func(event string) []string
}

// Definition compiles def and finds its mistakes. It gives the program if there are no
// errors, and all problems, warnings among them, in the order of their places.
func Definition(def *workflow.Definition, opts Options) (*engine.Program, workflow.Problems) {
	prog, problems := engine.Compile(def, opts.Options)
	if !slices.ContainsFunc(problems, endless) && def.Root != nil {
		refused := map[workflow.Place]bool{}
		for _, p := range problems {
			refused[p.Place] = refused[p.Place] || p.Code == "bad-expression" || p.Code == "bad-literal"
		}
		for _, p := range find(def, prog, opts) {
			if !refused[p.Place] { // the compiler says it better
				problems = append(problems, p)
			}
		}
	}
	problems.Sort()
	if errs, _ := problems.Split(); len(errs) > 0 {
		return nil, problems
	}
	return prog, problems
}

// endless tells a problem of a tree that cannot be walked.
func endless(p workflow.Problem) bool {
	return slices.Contains([]string{"activity-used-twice", "nested-too-deep", "too-many-activities", "too-many-problems"}, p.Code)
}

// checker looks over one definition.
type checker struct {
	opts          Options
	def           *workflow.Definition
	evals         map[string]engine.Checker
	kids          map[string]*workflow.Definition // that were asked for, by id
	activities    map[string]*workflow.Descriptor
	derived       bool // some ids are the engine's, and not known here
	made          map[string]bool
	more          bool
	byID          map[string]string // names of variables
	variableNames map[string]bool
	inputNames    map[string]bool // in lower case
	outputs       map[string]bool // that are declared
	given         map[string]bool // outputs that something sets
	moreGiven     bool            // and others, whose names are not known
	mute          bool            // names are collected
	spent         int             // of mostWork
	problems      workflow.Problems
}

// mostWork bounds what the looks at expressions cost: for each the names that it may read,
// times its [weight]. It is a few seconds of a processor, and far more than what
// people write.
const mostWork = 16_000_000

// place is where the checker is in the tree.
type place struct {
	a         *workflow.Activity
	desc      *workflow.Descriptor // nil: an unknown type
	variables map[string]string
	loop      bool // a break has a loop to leave
	beside    bool // others run beside it, and may change what it reads
	composite bool // a complete has a composite to complete
}

func find(def *workflow.Definition, prog *engine.Program, opts Options) workflow.Problems {
	c := &checker{opts: opts, def: def, evals: map[string]engine.Checker{}, kids: map[string]*workflow.Definition{}, activities: map[string]*workflow.Descriptor{}, made: map[string]bool{},
		byID: map[string]string{}, variableNames: map[string]bool{}, inputNames: map[string]bool{}, outputs: map[string]bool{}, given: map[string]bool{}}
	for _, o := range def.Outputs {
		c.outputs[o.Name] = true
	}
	for _, in := range def.Inputs {
		c.inputNames[strings.ToLower(in.Name)] = true
	}
	for _, e := range opts.Evaluators {
		ch, _ := e.(engine.Checker)
		for _, k := range e.Kinds() {
			c.evals[k] = ch
		}
	}
	c.ids(def.Variables)
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		c.name(a, a.ID)
		c.ids(a.Variables)
		return true
	})
	if prog != nil {
		for _, n := range prog.Nodes() {
			if n.Definition() == def {
				c.name(n.Activity(), n.LocalID())
			}
		}
		c.derived = false
	}
	c.declarations()
	top := place{variables: c.scope(nil, def.Variables)}
	c.mute = true // scripts make variables as they run; those names first
	c.all(top)
	c.mute = false
	c.all(top)
	c.results()
	circles{c}.find()
	c.fields()
	c.settings()
	if c.spent > mostWork {
		c.problems = append(c.problems, workflow.Problem{Code: "not-all-checked", Warning: true, Place: def.Place,
			Detail: "the definition has so many names and expressions that not all expressions were checked; the compiler still refuses what cannot run"})
	}
	return c.problems
}

func (c *checker) ids(vars []workflow.Variable) {
	for _, v := range vars {
		c.variableNames[v.Name] = true
		if v.ID != "" {
			c.byID[v.ID] = v.Name
		}
	}
}

// name notes what an activity is called.
func (c *checker) name(a *workflow.Activity, id string) {
	d := c.describe(a)
	if id == "" {
		c.derived = true
	} else {
		c.activities[id] = d
	}
	if _, taken := c.activities[a.Name]; a.Name != "" && !taken {
		c.activities[a.Name] = d
	}
}

// describe gives the descriptor of an activity; nil if it is not known.
func (c *checker) describe(a *workflow.Activity) *workflow.Descriptor {
	if a.Ref == nil {
		if d := c.opts.Registry.ByType(a.Type); d != nil {
			return d
		}
	}
	if c.opts.Resolve == nil {
		return nil
	}
	ref := workflow.DefinitionRef{ID: a.Type}
	if a.Ref != nil {
		ref = *a.Ref
	}
	if def, ok := c.opts.Resolve(ref); ok && def != nil {
		return engine.Describe(a.Type, def)
	}
	return nil
}

// all looks at the whole definition.
func (c *checker) all(top place) {
	for _, name := range sortedKeys(c.def.Labels) {
		c.expression(top, c.def.Labels[name], "label "+name, workflow.InputDescriptor{Type: "String"})
		c.written(top, c.def.Labels[name], "", "label "+name)
		c.early(top, name)
	}
	c.activity(c.def.Root, top)
	for _, o := range c.def.Outputs {
		if o.Value != nil {
			c.expression(top, *o.Value, "output "+o.Name, workflow.InputDescriptor{Type: alias(o.Type, o.IsArray)})
			c.written(top, *o.Value, "", "output "+o.Name)
		}
	}
}

// early reports a label that reads variables, which have no value yet as it is evaluated.
func (c *checker) early(top place, name string) {
	e := c.def.Labels[name]
	text, ok := e.Value.(string)
	if !ok || e.Kind != workflow.Expr || providesForNil.MatchString(text) {
		return
	}
	for _, m := range reads.FindAllStringSubmatchIndex(text, -1) {
		variable := text[m[2]:m[3]]
		for _, v := range c.def.Variables {
			if v.Name == variable && v.Value == nil {
				q := warning("no-value", "label %s is evaluated as the instance starts, and the variable %s has no value then; setLabel sets one later", name, variable)
				q.Within = workflow.Within{Text: text, Offset: m[2]}
				c.report(top, e.Place, q)
			}
		}
	}
}

// providesForNil is what an expression has that says what comes of nothing.
var providesForNil = regexp.MustCompile(`\?\?|\bnil\b`)

// settings looks at options of the definition that have no effect.
func (c *checker) settings() {
	o := c.def.Options
	if o.CommitInterval != "" && !strings.Contains(strings.ToLower(o.CommitStrategy), "periodic") { // .NET's full name, too
		q := warning("no-effect", "commitInterval has no effect without commit: Periodic")
		q.Within = workflow.Within{Text: "commitInterval"}
		c.report(place{}, c.def.Place, q)
	}
	root := c.def.Root
	first := root
	if is(root, "Elsa.Sequence") {
		open := false // something before it may end the instance, or wait
		for _, a := range root.Activities {
			if first = a; open || runs(a, c.def.ID) {
				break
			}
			workflow.Walk(a, func(inner, _ *workflow.Activity, _ int) bool {
				open = open || c.leadsOut(inner)
				return !open
			})
		}
		if open {
			return
		}
	}
	if first != nil && runs(first, c.def.ID) {
		q := warning("endless-loop", "the definition runs itself each time it runs, for ever; put it into an if")
		c.report(place{a: first}, first.Inputs["workflowDefinitionId"].Place, q)
	}
}

// runs tells whether an activity starts an instance of the definition of that id.
func runs(a *workflow.Activity, id string) bool {
	if a == nil || !is(a, "Elsa.ExecuteWorkflow") && !is(a, "Elsa.DispatchWorkflow") {
		return false
	}
	e := a.Inputs["workflowDefinitionId"]
	return e.Kind == workflow.Literal && e.Value == id
}

// scope adds declared variables to those around. Nobody changes what it gives. A copy has every name, so it counts; when too much was spent, nothing that reads names is looked at any more.
func (c *checker) scope(around map[string]string, vars []workflow.Variable) map[string]string {
	if len(vars) == 0 || c.spent > mostWork {
		return around
	}
	c.spent += len(around)
	out := make(map[string]string, len(around)+len(vars))
	maps.Copy(out, around)
	for _, v := range vars {
		for _, name := range []string{v.ID, v.Name} {
			if name != "" {
				out[name] = alias(v.Type, v.IsArray)
			}
		}
	}
	return out
}

// gives are the variables within an activity, with those that it gives itself.
func (c *checker) gives(p place) map[string]string {
	if p.desc == nil || len(p.desc.Gives) == 0 {
		return p.variables
	}
	vars := make([]workflow.Variable, len(p.desc.Gives))
	for i, v := range p.desc.Gives {
		vars[i] = workflow.Variable{Name: v.Name, Type: v.Type}
	}
	return c.scope(p.variables, vars)
}

func alias(typ string, array bool) string {
	switch {
	case array && typ == "":
		return "Object[]"
	case array:
		return typ + "[]"
	}
	return typ
}

// activity looks at a and all below it. The compiler has bounded the depth.
func (c *checker) activity(a *workflow.Activity, around place) {
	if a == nil {
		return
	}
	p := place{a: a, desc: c.describe(a), variables: c.scope(around.variables, a.Variables), loop: around.loop, beside: around.beside, composite: around.composite}
	c.inputs(p)
	c.targets(p, around)
	c.sets(p)
	c.child(p)
	c.structure(p)
	c.loops(p)
	p.loop = p.loop || leaves(a, p.desc)
	p.beside = p.beside || beside(a)
	p.composite = p.composite || is(a, "Elsa.Composite")
	p.variables = c.gives(p)
	for _, cs := range a.Cases {
		c.expression(p, cs.Condition, strings.TrimSuffix("condition of case "+cs.Label, " "), condition)
	}
	for _, s := range a.States {
		for _, t := range s.Transitions {
			c.expression(p, t.Condition, "condition of a transition to "+t.To, condition)
		}
	}
	for _, kid := range a.Children() {
		q := p
		if kid == a.Ports[workflow.UndoPort] {
			q.variables = c.scope(p.variables, []workflow.Variable{{Name: "Error", Type: "String"}}) // why it is undone
		}
		c.activity(kid, q)
	}
}

var condition = workflow.InputDescriptor{Name: "condition", Type: "Boolean"}

// leaves tells whether a break within a leaves it: it is a loop, or an activity of others, which may be one.
func leaves(a *workflow.Activity, d *workflow.Descriptor) bool {
	switch strings.ToLower(a.Type) {
	case "elsa.for", "elsa.foreach", "elsa.parallelforeach", "elsa.while":
		return true
	}
	return d == nil || !strings.HasPrefix(d.Type, "Elsa.")
}

// mostDetail bounds what one problem says, in bytes: it may name what a definition has thousands of.
const mostDetail = 2000

// full tells that no report is taken any more. What a report costs to word need not be spent then.
func (c *checker) full() bool { return c.mute || len(c.problems) >= workflow.MaxProblems }

// report notes a problem at a place, or at the activity's if it has none.
func (c *checker) report(p place, at workflow.Place, problem workflow.Problem) {
	if c.full() {
		return
	}
	if problem.Place = at; at == (workflow.Place{}) {
		if problem.Place = c.def.Place; p.a != nil {
			problem.Place = p.a.Place
		}
	}
	if problem.Place.Pointer != "" || c.elsa() { // Elsa takes it
		problem.Warning = true
	}
	problem.Detail = workflow.CutBytes(problem.Detail, mostDetail)
	if slices.ContainsFunc(c.problems, func(q workflow.Problem) bool { return q == problem }) {
		return
	}
	c.problems = append(c.problems, problem)
}

func problem(code, format string, args ...any) workflow.Problem {
	return workflow.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func warning(code, format string, args ...any) workflow.Problem {
	p := problem(code, format, args...)
	p.Warning = true
	return p
}

// meant adds what is nearest to a word. That costs a look at all that is known, so who may have
// many asks first whether the checker is full.
func meant(p workflow.Problem, word string, known []string) workflow.Problem {
	if p.Meant = workflow.Nearest(word, known); p.Meant != "" {
		p.Detail += " (did you mean " + p.Meant + "?)"
	}
	return p
}

// title names an activity in a text.
func (p place) title() string {
	name := p.a.Type
	if p.desc != nil {
		name = p.desc.ShortName()
	}
	if p.a.ID != "" {
		name += " " + p.a.ID
	}
	return name
}
