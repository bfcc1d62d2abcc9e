package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

const (
	// EventAltered is in the journal what an operator altered.
	EventAltered = "Altered"
	// EventRefused is in the journal where an operator was told that alterations are accepted,
	// and they were refused when their turn came.
	EventRefused = "Refused"
)

// Refusal says why the last alterations were refused.
func (b *Burst) Refusal() workflow.Problems { return b.refusal }

// maxRefused is how many problems the journal has of one refusal.
const maxRefused = 5

// NoteRefusal puts into the journal why a command to retry or to alter was refused, the last one
// that Run was given, with its outcome [Refused] or [NotFaulted]. Use it for a command that was
// acknowledged before it ran: who sent it hears nothing else of it.
func NoteRefusal(b *Burst, cmd *workflow.Command, out Outcome) {
	text, data := "nothing in the instance is faulted", map[string]any{}
	if a := cmd.Alter; a != nil {
		if a.By != "" {
			data["by"] = a.By
		}
		if a.Reason != "" {
			data["reason"] = a.Reason
		}
	}
	if out == NotRunning {
		text = "a cancel or a delete came before the " + string(cmd.Kind) + " had its turn"
		b.cmd = &command{ID: cmd.ID}
	}
	if n := len(b.refusal); (out == Refused || out == Undone) && n > 0 {
		if text = b.refusal[0].Detail; n > 1 {
			text = fmt.Sprintf("%s (and %d more)", text, n-1)
		}
		var problems []any
		for _, p := range b.refusal[:min(n, maxRefused)] {
			problems = append(problems, map[string]any{"code": p.Code, "detail": workflow.CutBytes(p.Detail, 256), "pointer": p.Place.Pointer})
		}
		data["errors"] = problems
	}
	b.items = append(b.items, b.item(top(b), EventRefused, "not altered: "+text, data))
}

// top is the execution of the workflow, or what stands for it before it has begun.
func top(b *Burst) *Execution {
	if b.root != nil {
		return b.root
	}
	return &Execution{b: b, node: b.prog.root}
}

// takeRepair applies what may also be done to a faulted instance.
func takeRepair(b *Burst, cmd *workflow.Command) (Outcome, error) {
	finished := b.header.SubStatus.Status() == workflow.StatusFinished
	switch {
	case finished && b.header.SubStatus != workflow.Faulted:
		return NotRunning, nil
	case cmd.Kind == workflow.CommandAlter:
		return takeAlter(b, cmd.Alter)
	case !finished && len(broken(b.root)) == 0:
		return NotFaulted, nil
	}
	a := &altering{b: b}
	if a.undone(b.root, false); len(a.problems) > 0 {
		b.refusal = a.problems
		return Undone, nil
	}
	a.retryBroken(false)
	a.goOn()
	return "", nil
}

// takeAlter makes alterations, all or none: they are made to a copy first.
func takeAlter(b *Burst, alter *workflow.Alter) (Outcome, error) {
	b.refusal = nil
	if alter == nil {
		return "", fmt.Errorf("alter instance %s: the command does not say how", b.header.ID)
	}
	try, err := copyOf(b)
	if err != nil {
		return "", err
	}
	a := &altering{b: try, alter: alter}
	out, err := a.all()
	if out != "" || err != nil {
		b.refusal = a.problems
		return out, err
	}
	a = &altering{b: b, alter: alter}
	if out, err = a.all(); err == nil && out != "" {
		err = fmt.Errorf("alter instance %s: a copy of it takes what it does not: %w", b.header.ID, a.problems)
	}
	return out, err
}

// copyOf is the burst as it would be loaded after a commit.
func copyOf(b *Burst) (*Burst, error) {
	state, err := b.encode()
	if err != nil {
		return nil, err
	}
	env := b.env
	env.Metrics, env.Lines, env.LogLines, env.Log = nil, nil, false, slog.New(slog.DiscardHandler)
	c, err := Load(b.prog, b.snapshot(), state, env)
	if err != nil {
		return nil, err
	}
	c.ctx, c.cmd = b.ctx, &command{ID: b.cmd.ID, At: b.cmd.At}
	return c, nil
}

// Preview is what alterations would do.
type Preview struct {
	Outcome  Outcome           // Applied, or why nothing would be altered
	Problems workflow.Problems // if it is Refused
	Did      []string          // a sentence for each alteration
	Next     []string          // ids of the activities that would run then, in order
	Instance workflow.Instance // as it would be before they run
}

// PreviewOf tells what alterations would do to an instance, of which b was loaded. It is of
// no use afterwards. Errors are those of [Burst.Run].
func PreviewOf(ctx context.Context, b *Burst, alter *workflow.Alter) (Preview, error) {
	b.ctx, b.cmd = ctx, &command{ID: "preview"}
	if b.header.SubStatus.Status() == workflow.StatusFinished && b.header.SubStatus != workflow.Faulted {
		return Preview{Outcome: NotRunning}, nil
	}
	a := &altering{b: b, alter: alter}
	out, err := a.all()
	if err != nil || out != "" {
		return Preview{Outcome: out, Problems: a.problems}, err
	}
	p := Preview{Outcome: Applied, Did: a.did}
	if !b.halted {
		for i := range b.schedule.left() {
			w := &b.schedule.left()[i]
			switch {
			case !w.alive():
			case w.kind == workExecute:
				p.Next = append(p.Next, w.node.shownID())
			default:
				p.Next = append(p.Next, w.x.node.shownID())
			}
		}
	}
	b.setStatus()
	p.Instance = b.snapshot()
	return p, nil
}

// shownID is the id of a node for people.
func (n *Node) shownID() string {
	if n.parent == nil {
		return "the workflow"
	}
	return n.id
}

// altering makes the alterations of one command, one after the other.
type altering struct {
	b        *Burst
	alter    *workflow.Alter
	at       int // which of them
	problems workflow.Problems
	did      []string
	goesOn   bool // something was done about what faulted: without more of it, the instance goes on
	ended    bool // the instance was cancelled
	nothing  bool // a retry found nothing faulted
	fatal    error
}

// all makes them. An outcome means that they do not fit.
func (a *altering) all() (Outcome, error) {
	if a.problems = a.alter.Check(); len(a.problems) > 0 {
		return Refused, nil
	}
	for a.at = range a.alter.Alterations {
		alt := &a.alter.Alterations[a.at]
		if a.ended {
			a.problem("after-cancel", "type", "nothing can be altered after the instance was cancelled; put the cancel last")
			break
		}
		if !a.b.started && alt.Type != workflow.AlterRetry && alt.Type != workflow.AlterCancel {
			a.problem("not-begun", "type", "the instance has not begun: there is nothing to alter yet")
			continue
		}
		before := len(a.problems)
		if err := cmp.Or(a.one(alt), a.fatal); err != nil {
			return "", err
		}
		if a.nothing && len(a.alter.Alterations) == 1 {
			return NotFaulted, nil
		}
		if len(a.problems) > before && alt.Type == workflow.AlterMigrate {
			break // what comes then is for the other version
		}
	}
	if len(a.problems) > 0 {
		if !slices.ContainsFunc(a.problems, func(p workflow.Problem) bool { return p.Code != problemUndone }) {
			return Undone, nil
		}
		return Refused, nil
	}
	b := a.b
	switch {
	case !a.goesOn:
	case !b.halted: // ends of children that were kept for who had faulted
		for _, e := range deferredOwners(b.root) {
			b.redeliver(e)
		}
	case len(broken(b.root)) == 0 || b.prog.strategy.continueOnIncident:
		a.goOn()
	}
	return "", nil
}

func (a *altering) one(alt *workflow.Alteration) error {
	switch alt.Type {
	case workflow.AlterRetry:
		a.retry(alt)
	case workflow.AlterSkip:
		a.skip(alt)
	case workflow.AlterSetVariable:
		a.setVariable(alt)
	case workflow.AlterMigrate:
		return a.migrate(alt)
	case workflow.AlterReschedule:
		a.reschedule(alt)
	case workflow.AlterCancel:
		a.cancel(alt)
	default:
		return fmt.Errorf("there is no alteration %q", alt.Type)
	}
	return nil
}

func (a *altering) problem(code, field, format string, args ...any) {
	a.problems = append(a.problems, workflow.Problem{Code: code, Detail: fmt.Sprintf(format, args...),
		Place: workflow.Place{Pointer: "/alterations/" + strconv.Itoa(a.at) + "/" + field}})
}

// done notes what was altered, for who asks and for the journal; x may be nil.
func (a *altering) done(x *Execution, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.did = append(a.did, text)
	b := a.b
	if x == nil {
		x = top(b)
	}
	data := map[string]any{"type": string(a.alter.Alterations[a.at].Type)}
	if a.alter.By != "" {
		data["by"] = a.alter.By
	}
	if a.alter.Reason != "" {
		data["reason"] = a.alter.Reason
	}
	b.items = append(b.items, b.item(x, EventAltered, text, data))
}

// shown names an execution for people.
func (x *Execution) shown() string {
	if x.number == 0 {
		return x.node.shownID()
	}
	return fmt.Sprintf("%s (execution %d)", x.node.shownID(), x.number)
}

// find gives the one live execution that an alteration names. Nil: there is none, or
// more than one; missing then tells whether a problem was noted.
func (a *altering) find(alt *workflow.Alteration, mayMiss bool) *Execution {
	var found []*Execution
	for x := range tree(a.b.root) {
		if x.parent != nil && (alt.Activity == "" || x.node.id == alt.Activity) && (alt.Execution == 0 || x.number == alt.Execution) {
			found = append(found, x)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		a.problem("several-executions", "execution", "%s runs more than once: choose one of its executions, %s", alt.Activity, numbers(found))
	case alt.Activity != "" && a.b.prog.nodes[alt.Activity] == nil:
		a.unknownActivity("activity", alt.Activity)
	case alt.Execution != 0:
		a.problem("not-running", "execution", "no activity that runs has the execution %d%s", alt.Execution, a.running())
	case !mayMiss:
		a.problem("not-running", "activity", "%s does not run now%s", alt.Activity, a.running())
	}
	return nil
}

func (a *altering) unknownActivity(field, id string) {
	ids := slices.Collect(maps.Keys(a.b.prog.nodes))
	slices.Sort(ids)
	a.problem("unknown-activity", field, "version %d of %s has no activity %q%s", a.b.header.Version, a.b.header.DefinitionID,
		workflow.CutBytes(id, 256), workflow.DidYouMean(id, ids[:min(len(ids), 200)]))
}

const maxNamed = 20 // in one sentence

// running says which activities run.
func (a *altering) running() string {
	var names []string
	for x := range tree(a.b.root) {
		if x.parent != nil && len(names) <= maxNamed {
			names = append(names, x.shown())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; those that do: " + listed(names)
}

func listed(names []string) string {
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func numbers(xs []*Execution) string {
	var out []string
	for _, x := range xs {
		out = append(out, strconv.FormatInt(x.number, 10))
	}
	return listed(out)
}

// called lets code of an activity run for an alteration; a panic is an error.
func (a *altering) called(x *Execution, do func() error) (err error) {
	b := a.b
	b.call++
	b.calling, b.secretsBefore, b.told = x, b.secrets, nil
	defer func() {
		if r := recover(); r != nil {
			err = b.recovered(x, r)
		}
	}()
	return do()
}

// tell lets the parent of what ended know, once the schedule runs.
func (a *altering) tell(parent *Execution, done Completed) {
	b := a.b
	if parent.status == faulted {
		parent.deferred = append(parent.deferred, completion{parent, done, b.cmd})
		return
	}
	parent.pending++
	b.schedule.push(work{kind: workChild, x: parent, done: &done, cmd: b.cmd})
}

// misfit is the error of the Run that made the alterations, if it is to be dropped.
func misfit(err error) error {
	var m *misfitError
	if errors.As(err, &m) {
		return m.Unwrap()
	}
	return nil
}
