package trial

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Config says what is tested, and in which world. One of File and Definition is
// required.
type Config struct {
	File       string // a definition in YAML or Elsa's JSON
	Definition *workflow.Definition

	// OtherFiles and Others are further definitions: those that the definition
	// uses as activities, and those that it runs as children.
	OtherFiles []string
	Others     []*workflow.Definition

	Registry *engine.Registry // nil: the built-in activities; it is not changed

	Input         map[string]any
	CorrelationID string
	Name          string
	InstanceID    string         // default: test
	Properties    map[string]any // such as Flowchart:ExecutionMode

	Mocks    Mocks
	Children map[string]Child  // children that do not really run, by the id of their definition
	Secrets  map[string]string // by name; of at least 6 bytes, and never kept or shown, as on a node
	HTTP     http.RoundTripper // where outgoing requests go; nil: they fault
	Now      time.Time         // when the test begins; default 2026-01-01 00:00 UTC

	bounds  *Bounds // of a test that was sent; nil: none
	noted   bool    // see [Failing]
	failure *Failure
}

// Within gives cfg for a case of a test that somebody sent: its run keeps to b, and takes
// definitions from there. Without bounds it is cfg.
func Within(cfg Config, b *Bounds) Config {
	cfg.bounds = b
	return cfg
}

// Child is how a mocked child ends: at once, unless it is held until
// [Run.EndChild].
type Child struct {
	Status workflow.SubStatus // default: Finished
	Output map[string]any
	Hold   bool
}

// beginning is when tests begin that do not say.
var beginning = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// maxFile bounds what is read of a definition: one more byte than may be, so
// that the reader tells.
const maxFile = workflow.MaxSource + 1

// New compiles what cfg names. The instance begins with [Run.Start], or with an
// event or [Run.Trigger] if the definition has triggers. It returns an error
// that lists every problem of the definition, or says which mock replaces
// nothing.
func New(cfg Config) (*Run, error) {
	if cfg.Registry == nil {
		cfg.Registry = activities.Default()
	}
	cfg.InstanceID = cmp.Or(cfg.InstanceID, "test")
	if cfg.Now.IsZero() {
		cfg.Now = beginning
	}
	r := &Run{cfg: cfg, now: cfg.Now.UTC(), defs: map[string]*workflow.Definition{}, sources: map[string][]byte{}, programs: map[string]*engine.Program{}}
	var err error
	if r.secrets, err = secrets.New(cfg.Secrets); err != nil {
		return nil, fmt.Errorf("workflowtest: %w", err)
	}
	if r.cfg.Registry, err = withStandIns(cfg); err != nil {
		return nil, fmt.Errorf("workflowtest: %w", err)
	}
	r.stage = &stage{mocks: cfg.Mocks, answers: map[string]int{}, online: cfg.HTTP != nil, bounds: cfg.bounds, now: &r.now}
	if cfg.noted {
		r.nodes = &nodes{run: r, failure: cfg.failure}
		r.stage.nodes = r.nodes
	}
	r.registry = r.stage.registry(r.cfg.Registry)
	if err := r.collect(); err != nil {
		return nil, err
	}
	if r.main, err = r.program(r.mainID); err != nil {
		return nil, err
	}
	return r, r.checkMocks()
}

// collect reads the definitions.
func (r *Run) collect() error {
	if (r.cfg.File == "") == (r.cfg.Definition == nil) {
		return errors.New("workflowtest: give a File or a Definition, and not both")
	}
	main := r.cfg.Definition
	var src []byte
	if main == nil {
		var err error
		if main, src, err = readDefinition(r.cfg.File, r.cfg.Registry, r.cfg.bounds); err != nil {
			return err
		}
	}
	r.mainID = cmp.Or(main.ID, "definition")
	r.sources[r.mainID] = src
	r.defs[r.mainID] = main
	for _, def := range r.cfg.Others {
		if err := r.other(def, nil); err != nil {
			return err
		}
	}
	for _, file := range r.cfg.OtherFiles {
		def, src, err := readDefinition(file, r.cfg.Registry, r.cfg.bounds)
		if err != nil {
			return err
		}
		if err := r.other(def, src); err != nil {
			return err
		}
	}
	return nil
}

// other adds a definition; src is nil if it was not read.
func (r *Run) other(def *workflow.Definition, src []byte) error {
	if r.defs[def.ID] != nil {
		return fmt.Errorf("the definition %s is given twice", def.ID)
	}
	r.defs[def.ID] = def
	if src != nil {
		r.sources[def.ID] = src
	}
	return nil
}

// ReadDefinition reads a definition in YAML or Elsa's JSON. An error lists what is wrong with it.
func ReadDefinition(file string, types workflow.Types) (*workflow.Definition, error) {
	def, _, err := readDefinition(file, types, nil)
	return def, err
}

func readDefinition(file string, types workflow.Types, g *Bounds) (*workflow.Definition, []byte, error) {
	src, err := g.read(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read the definition: %w", err)
	}
	read := yaml.Read
	if strings.EqualFold(filepath.Ext(file), ".json") || elsajson.Looks(src) {
		read = elsajson.Read
	}
	def, problems := read(src, file, types)
	if problems, _ = problems.Split(); len(problems) > 0 {
		hint := ""
		if slices.ContainsFunc(problems, func(p workflow.Problem) bool { return p.Code == "unknown-activity-type" }) {
			hint = "\nan activity that only another program has may be mocked, by its type, id or name"
		}
		return nil, nil, fmt.Errorf("%s is not valid:\n%w%s", file, problems, hint)
	}
	return def, src, nil
}

// ReadLimited reads a file of up to so many bytes.
func ReadLimited(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes; up to %d are read", file, info.Size(), limit)
	}
	return os.ReadFile(file)
}

// program compiles a definition once.
func (r *Run) program(id string) (*engine.Program, error) {
	if p := r.programs[id]; p != nil {
		return p, nil
	}
	evaluators := expression.All()
	if g := r.cfg.bounds; g != nil && g.Evaluators != nil {
		evaluators = g.Evaluators
	}
	opts := check.Options{Options: engine.Options{Registry: r.registry, Evaluators: evaluators, Resolve: r.resolve}, Child: func(id string) *workflow.Definition { return r.defs[id] }}
	p, problems := check.Definition(r.defs[id], opts)
	if src := r.sources[id]; src != nil {
		problems = problems.WithExcerpts(src)
	}
	errs, warnings := problems.Split()
	if len(errs) > 0 {
		return nil, fmt.Errorf("the definition %s is not valid:\n%w", id, errs)
	}
	r.warnings = append(r.warnings, warnings...)
	r.programs[id] = p
	return p, nil
}

func (r *Run) resolve(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
	for _, def := range r.defs {
		if ref.VersionID != "" && def.VersionID == ref.VersionID {
			return def, true
		}
	}
	if def, ok := r.defs[ref.ID]; ok {
		return def, true
	}
	for _, id := range slices.Sorted(maps.Keys(r.defs)) { // by the name that Elsa's designer gives it
		if def := r.defs[id]; def.Options.UsableAsActivity && names.ActivityType(def.Name) == workflow.UpperFirst(ref.ID) {
			return def, true
		}
	}
	return nil, false
}

// checkMocks finds mocks that replace nothing, or say what their activity
// cannot: those are slips that would make a test pass for no reason.
func (r *Run) checkMocks() error {
	var errs []error
	var nodes []*engine.Node
	for _, id := range slices.Sorted(maps.Keys(r.defs)) {
		p, err := r.program(id)
		if err != nil {
			return err
		}
		nodes = append(nodes, p.Nodes()...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.cfg.Mocks)) {
		used, words := false, []string{}
		for _, n := range nodes {
			if found, m := r.stage.find(n); found == name {
				used = true
				errs = append(errs, checkReplies(name, n, m)...)
			}
			words = append(words, namesOf(n)...)
		}
		if !used {
			errs = append(errs, fmt.Errorf("the mock %s replaces nothing: no activity has this id, name or type%s", name, workflow.DidYouMean(name, words)))
		}
	}
	return errors.Join(errs...)
}

// checkReplies says which outputs and outcomes of a mock its activity does not
// have.
func checkReplies(name string, n *engine.Node, m Mock) (errs []error) {
	var outputs []string
	for _, o := range n.Descriptor().Outputs {
		outputs = append(outputs, o.Name)
	}
	outcomes := append([]string{engine.DoneOutcome}, n.Descriptor().Outcomes...)
	for _, reply := range m.known() {
		if reply.Result != nil && len(outputs) == 0 {
			errs = append(errs, fmt.Errorf("the mock %s gives a result, and %s has no outputs", name, n.Type()))
		}
		for out := range reply.Outputs {
			if !slices.Contains(outputs, out) {
				errs = append(errs, fmt.Errorf("the mock %s gives the output %s, which %s does not have%s", name, out, n.Type(), workflow.DidYouMean(out, outputs)))
			}
		}
		for _, out := range reply.Outcomes {
			if !n.Descriptor().AnyOutcome && !slices.Contains(outcomes, out) {
				errs = append(errs, fmt.Errorf("the mock %s has the outcome %s, which %s does not have%s", name, out, n.Type(), workflow.DidYouMean(out, outcomes)))
			}
		}
	}
	return errs
}
