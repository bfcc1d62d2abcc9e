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
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/callers"
	"github.com/weft-run/weft/pkg/engine/flight"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Burst is one uninterrupted execution of an instance, from load to commit. It
// belongs to one goroutine, apart from [Burst.Interrupt], [Burst.End] and [Burst.Doing].
type Burst struct {
	prog   *Program
	env    Env
	log    *slog.Logger
	limits Limits

	header       workflow.Instance
	root         *Execution
	started      bool
	rootDone     bool
	ending       workflow.SubStatus // Cancelled, once it was
	halted       bool               // faulted: the schedule stands still
	finishing    bool               // a Finish activity ran
	unwinding    bool               // it is to be cancelled, and what was done is undone first
	unwound      bool               // that is done
	schedule     schedule
	completions  []completion
	marks        []*mark
	had          int // of these, when it was loaded
	late         []lateEnd
	cancelling   []string // children still to be cancelled, in slices
	props        map[string]any
	trigger      string
	triggerInput map[string]any
	triggerUsed  bool
	inputs       map[string]any // of the workflow, those not kept with the instance included
	seq          int64

	turn
	ctx     context.Context // of the Run that goes on
	calls   flight.Calls
	traced  int   // calls with a span
	secrets int   // how often a secret was read
	clock   int64 // of the last save that moved the time, in milliseconds since 1970; 0: none did
	saved   int64 // when it was, as it was loaded; 0: it was not loaded
	asked   bool  // something was told the time
	secured bool  // the commands of that are durable
	fatal   error
	refusal workflow.Problems // of the last alterations

	variables variableLog
	brief     brief // it was loaded for its end: not all of it was read

	// Since the last commit:
	burned      []workflow.Bookmark
	items       []workflow.JournalItem
	children    []ChildStart
	cancels     []string
	events      []Sent
	contents    []files.Content
	response    *workflow.Response
	callers     callers.List
	weight      int // of the journal and of what goes to others, about, in bytes
	growth      growth
	dirty       bool
	fresh       bool // a command was taken, and nothing of it ran
	askCommit   bool
	backCommit  bool // what came back is saved first
	givesWay    bool
	lastWay     int64
	owed        owed
	lastCommit  time.Time
	interrupted atomic.Bool
	stopped     Stopped // the last call that was interrupted
	doing       doing
}

// turn is what a burst has of the work that goes on.
type turn struct {
	cmd           *command
	as            string       // the id of the command whose call is repeated with its key; "": none is
	asAt          int64        // the time that this call was told; 0: none
	told          *Completed   // what the activity is told that is called; nil: it is called for another reason
	call          int          // numbers the calls into activities
	calling       *Execution   // whose activity was called last
	secretsBefore int          // how often a secret was read before that
	left          effects      // what others had left then
	out           *flight.Call // that call, if it may have an effect outside
}

// command is the identity under which work runs: ids derive from it.
type command struct {
	ID     string
	Count  int            // activities executed since it began, or gave way
	Ords   map[string]int // ids made, by node
	Before int64          // activities executed until it gave way last
	At     int64          // the time that what runs for it is told, in milliseconds since 1970
}

// completion is a child's end that its parent has not been told yet.
type completion struct {
	to   *Execution
	done Completed
	cmd  *command
}

// lateEnd is a child's end that came while the instance was faulted.
type lateEnd struct {
	Bookmark string         `json:"bookmark"`
	Input    map[string]any `json:"input,omitempty"`
}

// New begins a new instance, Pending until its start command is run. Input that
// the definition refuses is not an error here: the start then faults (see
// [Program.CheckInput]). It returns an error for input without a JSON form.
func New(p *Program, instanceID string, start *workflow.Start, createdAt time.Time, env Env) (*Burst, error) {
	if start == nil {
		return nil, errors.New("new instance: the start command says nothing to start with")
	}
	b := newBurst(p, env)
	input, err := normalizeMap(start.Input)
	if err != nil {
		return nil, fmt.Errorf("new instance: input: %w", err)
	}
	if b.props, err = normalizeMap(start.Properties); err != nil {
		return nil, fmt.Errorf("new instance: properties: %w", err)
	}
	if b.triggerInput, err = normalizeMap(start.TriggerInput); err != nil {
		return nil, fmt.Errorf("new instance: trigger input: %w", err)
	}
	takeDepth(b)
	b.callers.Read(b.props)
	b.trigger = start.Trigger
	b.header = workflow.Instance{
		ID: instanceID, DefinitionID: p.def.ID, Version: cmp.Or(p.def.Version, start.Version),
		Status: workflow.StatusRunning, SubStatus: workflow.Pending,
		Name: start.Name, CorrelationID: start.CorrelationID, Labels: start.Labels, Parent: start.Parent,
		CreatedAt: createdAt, UpdatedAt: createdAt, Input: input,
	}
	b.inputs = input
	return b, nil
}

// Load makes a burst of an instance from its header and the state of its last commit.
// It returns an error that says why when the state cannot be used with this
// program.
func Load(p *Program, header workflow.Instance, state []byte, env Env) (*Burst, error) {
	return load(p, header, env, func(b *Burst) error { return b.decode(state) })
}

func load(p *Program, header workflow.Instance, env Env, decode func(*Burst) error) (*Burst, error) {
	b := newBurst(p, env)
	b.header = header
	b.header.Incidents = slices.Clone(header.Incidents)
	var err error
	if b.header.Input, err = normalizeMap(header.Input); err != nil {
		return nil, fmt.Errorf("load instance %s: input: %w", header.ID, err)
	}
	if b.header.Output, err = normalizeMap(header.Output); err != nil {
		return nil, fmt.Errorf("load instance %s: output: %w", header.ID, err)
	}
	b.inputs, b.saved = p.withDeclared(b.header.Input), header.UpdatedAt.UnixMilli()
	if err := decode(b); err != nil {
		return nil, fmt.Errorf("load instance %s: %w", header.ID, err)
	}
	return b, nil
}

// Import is [Load] for an imported state, which takes the place of that of old (nil: the
// instance has none). The journal stays the same one, so its numbers go on.
func Import(p *Program, header workflow.Instance, state []byte, env Env, old *Burst) (*Burst, error) {
	b, err := Load(p, header, state, env)
	if err != nil {
		return nil, err
	}
	if b.seq == 0 { // of before executions had numbers: it does not say which values are hidden
		hideVariables(b)
	}
	if old != nil {
		b.seq = max(b.seq, old.seq)
		if n := depthOf(old.props); n > depthOf(b.props) {
			b.props = maps.Clone(b.props)
			if b.props == nil {
				b.props = map[string]any{}
			}
			b.props[workflow.DepthProperty] = n
		}
	}
	b.variables.replace(b.root)
	return b, nil
}

func newBurst(p *Program, env Env) *Burst {
	b := &Burst{prog: p}
	look(b, env)
	b.lastCommit = env.Now()
	b.doing.last = b.lastCommit
	return b
}

// look makes env what the burst sees of the world.
func look(b *Burst, env Env) {
	b.env, b.log, b.limits, b.stopped = env, env.Log, env.Limits.withDefaults(), env.Stopped
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
}

// Interrupt asks the burst, from any goroutine, to stop: at the next activity boundary,
// or within a call that may have an effect outside, whose context it ends. Run then
// returns [Interrupted], and the call is the next of the schedule. A call that was interrupted
// before goes on, as that was a hint without a reason, and so does one of what undoes as the instance is to be
// cancelled, and those that are in flight beside each other: spared then says so.
func (b *Burst) Interrupt() (spared bool) {
	b.interrupted.Store(true)
	return b.calls.Hint(errInterrupted)
}

// End is Interrupt of who knows that a cancel, or a delete, is there. It spares a call only of what undoes as the
// instance is to be cancelled, from a cancel more.
func (b *Burst) End(kind workflow.CommandKind) {
	b.interrupted.Store(true)
	b.calls.Stop(kind == workflow.CommandDelete, errInterrupted)
}

// Header is the instance as it stands.
func (b *Burst) Header() workflow.Instance { return b.snapshot() }

// Committed says that the last [Burst.Result] is durable; the next one counts from
// here, and what lasts until the end of a burst is forgotten. Call it to go on with
// this burst. A burst of the same instance that is loaded from that result does the
// same, to the byte. It reports whether the burst is worth keeping: not if [Burst.Renew]
// will refuse it.
func (b *Burst) Committed() (keep bool) {
	b.burned, b.items, b.children, b.cancels, b.events, b.contents, b.response = nil, nil, nil, nil, nil, nil, nil
	b.dirty, b.fresh, b.askCommit, b.backCommit, b.owed, b.weight = false, false, false, false, owed{}, 0
	b.asked, b.secured = false, false
	b.callers.Committed()
	b.calls.Began(true)
	b.turn = turn{call: b.call} // it may be kept for long, and this leads to much
	b.lastCommit = b.env.Now()
	b.doing.last = b.lastCommit
	b.variables.committed(b.root)
	for _, m := range b.marks {
		m.durable = !b.halted
	}
	b.header.Input = b.keptInputs()
	b.inputs = b.prog.withDeclared(b.header.Input)
	for x := range tree(b.root) {
		x.forget()
	}
	b.schedule.rest()
	if len(b.completions) == 0 {
		b.completions = nil
	}
	if cap(b.marks) > usualRoom && cap(b.marks) > 2*len(b.marks) {
		b.marks = append([]*mark(nil), b.marks...)
	}
	return b.secrets == 0
}

// Renew gives a committed burst the world of the next one, as [Load] does. It is false,
// and the burst is to be loaded, if it is not of the program p, or has read a secret: what
// its activities remember may hold that, and what is durable of it does not.
func (b *Burst) Renew(p *Program, env Env) bool {
	if b.prog != p || b.secrets > 0 {
		return false
	}
	look(b, env)
	b.lastCommit, b.traced = env.Now(), 0
	b.doing.last = b.lastCommit
	b.interrupted.Store(false)
	return true
}

// Result gives everything that a commit has to make durable. It changes
// nothing, and gives the same bytes when it is called again.
func (b *Burst) Result() (Result, error) {
	if b.growth.over == nil {
		b.measure()
	}
	if b.growth.over != nil {
		return Result{}, b.growth.over
	}
	if b.brief.is {
		return Result{}, fmt.Errorf("instance %s was loaded for its end, and something else was run", b.header.ID)
	}
	state, err := b.encode()
	if err != nil {
		return Result{}, fmt.Errorf("encode the state of instance %s: %w", b.header.ID, err)
	}
	r := Result{
		Instance: b.snapshot(), State: state,
		Burned: slices.Clone(b.burned), Journal: b.items[:len(b.items):len(b.items)],
		Children: slices.Clone(b.children), Cancel: slices.Clone(b.cancels), Events: slices.Clone(b.events), Contents: slices.Clone(b.contents), Response: b.response,
		Variables: b.variables.changes(b.root), Joined: max(b.owed.saves-1, 0),
	}
	b.callers.Told(func(key string, response *workflow.Response) { r.Answers = append(r.Answers, Answer{key, response}) })
	for _, m := range b.marks {
		if !m.durable && !b.halted {
			r.Created = append(r.Created, m.Bookmark)
		}
	}
	return r, nil
}

func (b *Burst) snapshot() workflow.Instance {
	h := b.header
	h.Incidents = slices.Clone(h.Incidents)
	h.Output = maps.Clone(h.Output)
	h.Input = b.keptInputs()
	h.Bookmarks = nil
	if !b.halted {
		for _, m := range b.marks {
			h.Bookmarks = append(h.Bookmarks, m.Bookmark)
		}
	}
	return h
}

// keptInputs are the inputs without those that are lost at the end of a burst.
func (b *Burst) keptInputs() map[string]any {
	if !b.started {
		return b.header.Input
	}
	kept := b.header.Input
	for _, in := range b.prog.root.inner.inputs {
		if _, ok := kept[in.Name]; ok && in.memory {
			if len(b.header.Input) == len(kept) {
				kept = maps.Clone(kept)
			}
			delete(kept, in.Name)
		}
	}
	return kept
}

// deriveID makes an id from the instance, the command, the node and an ordinal
// within the command, so that a repeated burst makes the same one.
func (b *Burst) deriveID(n *Node, kind string) string {
	if b.cmd.Ords == nil {
		b.cmd.Ords = map[string]int{}
	}
	ord := b.cmd.Ords[n.id]
	b.cmd.Ords[n.id] = ord + 1
	return workflow.DeriveID(b.header.ID, b.cmd.ID, n.id, kind, strconv.Itoa(ord))
}

func mustNormalizeMap(m map[string]any) map[string]any {
	n, err := normalizeMap(m)
	if err != nil {
		panic(err)
	}
	return n
}
