package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// Program gives the compiled form of one version, and the definition that it
// was compiled from. Each version is compiled once, also when many ask at once,
// and kept while it is in use. Errors: definition-not-found; not-runnable-here if
// this node's program cannot run what another's published. That is no fault of
// the version: it was checked when it was published.
func (c *Catalog) Program(ctx context.Context, id string, version int) (*engine.Program, *workflow.Definition, error) {
	key := versionKey{id, version}
	if p, err := c.programs.get(key); err != nil {
		return nil, nil, err
	} else if p != nil {
		return p, p.Definition(), nil
	}
	flight := c.flights.DoChan(fmt.Sprintf("%s/%d", id, version), func() (any, error) {
		ctx, cancel := shared(ctx)
		defer cancel()
		return c.load(ctx, key)
	})
	select {
	case <-ctx.Done():
		return nil, nil, explain(context.Cause(ctx))
	case res := <-flight:
		if res.Err != nil {
			return nil, nil, res.Err
		}
		p := res.Val.(*engine.Program)
		return p, p.Definition(), nil
	}
}

// load compiles a stored version.
func (c *Catalog) load(ctx context.Context, key versionKey) (*engine.Program, error) {
	if p, err := c.programs.get(key); p != nil || err != nil { // a flight that has just landed
		return p, err
	}
	v, err := c.version(ctx, key.id, key.version)
	if err != nil {
		return nil, err
	}
	def, view, problems := c.readStored(v)
	if len(problems) > 0 {
		err := c.notRunnable(v, problems)
		c.programs.refuse(key, err)
		return nil, err
	}
	prog, _, problems, err := c.compile(ctx, def, view, v.Uses)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		err := c.notRunnable(v, problems)
		c.programs.refuse(key, err)
		return nil, err
	}
	c.programs.put(key, prog)
	return prog, nil
}

// version reads the body of a version.
func (c *Catalog) version(ctx context.Context, id string, n int) (*store.DefinitionVersion, error) {
	if workflow.CheckID("definition id", id) != nil || n < 1 {
		return nil, notFound(id)
	}
	v, err := c.store.Version(ctx, id, n)
	if err != nil {
		return nil, explain(err)
	}
	if v == nil {
		return nil, noVersion(id, n)
	}
	return v, nil
}

// readStored reads a version with what its activity types meant when it was published.
func (c *Catalog) readStored(v *store.DefinitionVersion) (*workflow.Definition, *declared.View, workflow.Problems) {
	view, err := c.types.Of(v.Types)
	if err != nil {
		return nil, nil, workflow.Problems{{Code: "unknown-activity-type", Detail: err.Error()}}
	}
	def, problems := readAs(v, view)
	return def, view, problems
}

func readAs(v *store.DefinitionVersion, view *declared.View) (*workflow.Definition, workflow.Problems) {
	// The file's name stands in for an id that the source does not give.
	def, problems := notation.Read(notation.Notation(v.Notation), []byte(v.Source), v.ID+"."+v.Notation, view.Registry)
	if def != nil {
		def.ID, def.Version = v.ID, v.Version
	}
	return def, problems
}

// Declared is the declaration of this digest with which a version was published, of says which; nil: with none.
func (c *Catalog) Declared(ctx context.Context, digest string, of func() (id string, version int, err error)) (*declared.Declaration, error) {
	if d := c.types.Known(digest); d != nil {
		return d, nil
	}
	id, version, err := of()
	if err != nil {
		return nil, err
	}
	v, err := c.version(ctx, id, version)
	if err == nil {
		_, err = c.types.Of(v.Types)
	}
	return c.types.Known(digest), err
}

func invalid(id string, problems workflow.Problems) error {
	detail := fmt.Sprintf("definition %s has %d problems", id, len(problems))
	if len(problems) == 1 {
		detail = fmt.Sprintf("definition %s: %s", id, problems[0].Detail)
	}
	return &workflow.Error{Code: workflow.CodeDefinitionInvalid, Detail: detail, Problems: problems}
}

// compile compiles def, which was checked when it was published. References to other
// definitions mean what pinned says; those that it does not know are resolved now. It
// gives all that were met.
func (c *Catalog) compile(ctx context.Context, def *workflow.Definition, view *declared.View, pinned []store.Use) (*engine.Program, []store.Use, workflow.Problems, error) {
	r := &resolver{c: c, ctx: ctx, view: view, self: def, pinned: pinned}
	prog, problems := engine.Compile(def, r.options())
	if r.err != nil {
		return nil, nil, nil, r.err
	}
	return prog, r.uses, problems, nil
}

// check compiles what an author wrote, and finds its mistakes, warnings among them. Definitions of with are published with
// it, and are not known here.
func (c *Catalog) check(ctx context.Context, def *workflow.Definition, with ...string) (*engine.Program, []store.Use, workflow.Problems, error) {
	r := &resolver{c: c, ctx: ctx, view: c.types.Now(), self: def, with: with}
	prog, problems := c.cfg.Checker.Check(def, r.options(), &Known{r})
	if r.err != nil {
		return nil, nil, nil, r.err
	}
	return prog, r.uses, problems, nil
}

// startable gives the definition that a start of that id runs now; nil if there is none
// that can be read.
func startable(ctx context.Context, c *Catalog, id string) *workflow.Definition {
	h, err := c.named(ctx, id)
	if err != nil || h == nil || h.Published == 0 {
		return nil
	}
	v, err := c.version(ctx, h.ID, h.Published)
	if err != nil {
		return nil
	}
	def, _, problems := c.readStored(v)
	if len(problems) > 0 {
		return nil
	}
	return def
}

func (r *resolver) options() engine.Options {
	return engine.Options{Registry: r.view.Registry, Evaluators: r.c.cfg.Evaluators, Resolve: r.resolve}
}

// resolver resolves the references of one compilation.
type resolver struct {
	c      *Catalog
	ctx    context.Context // of the compilation, which is one call
	view   *declared.View  // what activity types mean in it
	self   *workflow.Definition
	pinned []store.Use
	with   []string // ids of definitions that are published with it
	uses   []store.Use
	err    error // of the store; it ends the compilation
}

func (r *resolver) resolve(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
	if r.err != nil {
		return nil, false
	}
	if ref.ID == r.self.ID && ref.ID != "" {
		return r.self, true // a cycle, which the compiler reports
	}
	use, ok, err := r.meaning(ref)
	if err != nil || !ok {
		r.err = err
		return nil, false
	}
	v, err := r.c.version(r.ctx, use.ID, use.Version)
	if err != nil {
		if workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
			r.err = err
		}
		return nil, false
	}
	def, _, problems := r.c.readStored(v)
	if len(problems) > 0 {
		r.err = r.c.notRunnable(v, problems)
		return nil, false
	}
	if r.err = r.view.Agrees(v.ID, v.Version, v.Types); r.err != nil {
		return nil, false
	}
	if !slices.Contains(r.uses, use) {
		r.uses = append(r.uses, use)
	}
	return def, true
}

// meaning finds the version that a reference means.
func (r *resolver) meaning(ref workflow.DefinitionRef) (store.Use, bool, error) {
	use := store.Use{RefID: ref.ID, RefVersionID: ref.VersionID, RefVersion: ref.Version}
	for _, known := range append(slices.Clone(r.uses), r.pinned...) {
		if known.RefID == use.RefID && known.RefVersionID == use.RefVersionID && known.RefVersion == use.RefVersion {
			return known, true, nil
		}
	}
	var err error
	use.ID, use.Version, err = r.c.find(r.ctx, ref)
	return use, use.Version != 0, err
}

// find resolves a reference as it stands now; version 0 if it means nothing.
func (c *Catalog) find(ctx context.Context, ref workflow.DefinitionRef) (id string, version int, err error) {
	id, version = ref.ID, ref.Version
	if vid, n, ok, err := c.store.FindVersionID(ctx, ref.VersionID, ref.ID); err != nil {
		return "", 0, explain(err)
	} else if ok {
		id, version = vid, n
	}
	h, err := c.named(ctx, id)
	if err != nil || h == nil {
		return "", 0, err
	}
	if version == 0 || h.AutoUpdate {
		return h.ID, h.Published, nil
	}
	_, stands, err := c.store.Begins(ctx, h.ID, version)
	if err != nil {
		return "", 0, explain(err)
	}
	if !stands {
		return h.ID, h.Published, nil
	}
	return h.ID, version, nil
}

// named finds a published definition by its id, or one usable as an activity by
// the type name that its name gives (Send greeting → SendGreeting); nil if there
// is none.
func (c *Catalog) named(ctx context.Context, id string) (*store.DefinitionHead, error) {
	if id == "" {
		return nil, nil
	}
	h, err := c.Head(ctx, id)
	if err == nil {
		return &h, nil
	}
	if workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
		return nil, err
	}
	if h := c.byTypeName(id); h != nil {
		return h, nil
	}
	if err := c.sync(ctx); err != nil {
		return nil, explain(err)
	}
	return c.byTypeName(id), nil
}

func (c *Catalog) byTypeName(name string) *store.DefinitionHead {
	var found *store.DefinitionHead
	for _, h := range c.table.Load().heads {
		if h.Published == 0 || !h.Usable || names.ActivityType(h.Name) != workflow.UpperFirst(name) {
			continue
		}
		if found == nil || h.ID < found.ID { // of several, always the same one
			found = h
		}
	}
	return found
}
