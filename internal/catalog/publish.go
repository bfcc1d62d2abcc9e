package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// PublishRequest is a definition as its author wrote it.
type PublishRequest struct {
	Source      []byte
	ContentType string // "" leaves the notation to the file's name or the content
	File        string // names the source in problems, and the definition if nothing else does; may be empty
	Publish     bool   // false: keep it as a draft; an Elsa request's own publish: false counts too
	DryRun      bool   // check everything and write nothing
	OnlyNew     bool   // do nothing if this content was ever published under this id
	Strict      bool   // a warning is an error
	// With are ids of definitions that are published with it: it may run them, and what it gives them is
	// not looked at here.
	With []string
	// Set names the set of definitions that this is of from now on, for [Sets.Delete];
	// "" leaves it where it is. It needs Publish.
	Set string
	// Over is the version that the author started from: the published one, or the latest if
	// none is published; 0: there was none. Another one is not overwritten: the error is
	// definition-moved. nil: any.
	Over *int
}

// PublishResult is what became of it.
type PublishResult struct {
	ID        string
	Version   int
	Published bool // this version is the published one
	// Created is false if nothing was written, since the content is that of the
	// head or, with OnlyNew, was published before. In a dry run it is what would
	// be, and Version the number that it would have.
	Created  bool
	Before   int               // the published version before; 0: none
	Over     int               // the version that was there before, as [PublishRequest.Over] is; 0: none
	WasOf    string            // the set that it was of before; "": none
	Revision int64             // of etcd, at which it became so: a node whose table has it serves it; 0 in a dry run
	Warnings workflow.Problems // what may be a mistake; not looked for if OnlyNew found that there is nothing to do
}

// conflicts is how often a change is tried again after others came between.
const conflicts = 50

// Publish checks a definition and makes it a new version, in one transaction
// with everything that starts it, unless its content is that of the head.
//
// Errors are of type *[workflow.Error]: definition-invalid with every problem,
// route-taken, too-large, definition-moved, outcome-unknown, unavailable.
func (c *Catalog) Publish(ctx context.Context, req PublishRequest) (PublishResult, error) {
	d, err := c.parse(req)
	if err != nil {
		return PublishResult{}, err
	}
	if err := req.checkSet(d); err != nil {
		return PublishResult{}, err
	}
	for range conflicts {
		res, err := c.tryPublish(ctx, req, d)
		if errors.Is(err, store.ErrHeadMoved) {
			continue
		}
		if req.DryRun { // what it found unchanged has one
			res.Revision = 0
		}
		return res, explain(err)
	}
	return PublishResult{}, explain(store.ErrHeadMoved)
}

// document is a parsed source.
type document struct {
	notation notation.Notation
	def      *workflow.Definition
	hash     string
	publish  bool
	problems workflow.Problems // of reading; publishing needs there to be none
}

func (c *Catalog) parse(req PublishRequest) (*document, error) {
	if len(req.Source) > workflow.MaxSource {
		return nil, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the definition has %d bytes; up to %d are possible", len(req.Source), workflow.MaxSource))
	}
	d := &document{notation: notation.Of(req.ContentType, req.File, req.Source), publish: req.Publish}
	d.def, d.problems = notation.Read(d.notation, req.Source, req.File, c.types.Now().Registry)
	if d.def == nil {
		return nil, invalid("in "+source(req.File), d.problems)
	}
	if len(d.problems) > 0 {
		return d, nil
	}
	if d.notation == notation.JSON {
		if _, publish := elsajson.Unwrap(req.Source); publish != nil && !*publish {
			d.publish = false
		}
	}
	var err error
	if d.hash, err = notation.ContentHash(d.notation, req.Source); err != nil {
		return nil, &workflow.Error{Code: workflow.CodeDefinitionInvalid, Detail: err.Error(), Err: err}
	}
	d.hash = c.types.Now().Hash(d.hash, d.def)
	return d, nil
}

func source(file string) string {
	if file == "" {
		return "the request"
	}
	return file
}

func (c *Catalog) tryPublish(ctx context.Context, req PublishRequest, d *document) (PublishResult, error) {
	if len(d.problems) > 0 {
		// Look for more problems, so that the author learns all of them at once.
		_, _, more, err := c.check(ctx, d.def, req.With...)
		if err != nil {
			return PublishResult{}, err
		}
		return PublishResult{}, invalid(d.def.ID, d.problems.Join(more.WithExcerpts(req.Source)))
	}
	st, err := c.store.ReadDefinition(ctx, d.def.ID, d.hash)
	if err != nil {
		return PublishResult{}, err
	}
	c.learn(st.Head)
	res, same := unchanged(st, d, req.OnlyNew)
	res.Over = standing(st)
	if same && req.OnlyNew {
		return res, nil
	}
	if !same { // what was sent twice finds itself
		if moved := req.stands(st); moved != nil {
			if did, err := followed(ctx, c, st, *req.Over); err != nil || !did {
				return PublishResult{}, cmp.Or(err, moved)
			}
		}
	}
	now := c.now()
	prog, uses, problems, err := c.check(ctx, d.def, req.With...)
	if err != nil {
		return PublishResult{}, err
	}
	if req.Strict {
		problems = problems.Strict()
	}
	problems = problems.WithExcerpts(req.Source)
	errs, warnings := problems.Split()
	if same && !req.Strict { // it was published, and is not refused for what was not looked for then
		res.Warnings = problems
		return SetsOf(c).join(ctx, req, st, res)
	}
	var pub etcdstore.Published
	if prog != nil {
		var more workflow.Problems
		pub, more = publication(prog, now)
		errs = append(errs, append(more, c.missingSecrets(ctx, prog)...).WithExcerpts(req.Source)...)
	}
	if len(errs) > 0 {
		return PublishResult{}, invalid(d.def.ID, append(errs, warnings...))
	}
	if same {
		return SetsOf(c).join(ctx, req, st, res)
	}
	pub.Set = req.Set
	if req.DryRun {
		res, err := c.dryRun(ctx, st, d, pub)
		res.Warnings = warnings
		return res, err
	}
	head, err := c.write(ctx, st, d, req.Source, uses, prog.Needs(), pub)
	if err != nil {
		return PublishResult{}, err
	}
	c.learn(head)
	res = PublishResult{
		ID: head.ID, Version: head.Latest, Published: head.Published == head.Latest, Created: true, Before: publishedIn(st), Over: standing(st), WasOf: setOf(st), Revision: head.Modified, Warnings: warnings,
	}
	if d.publish {
		c.updateConsumers(ctx, head)
	}
	return res, nil
}

// unchanged tells whether there is nothing to write.
func unchanged(st *store.DefinitionState, d *document, onlyNew bool) (PublishResult, bool) {
	h := st.Head
	switch {
	case h != nil && h.Published != 0 && h.Hash == d.hash:
		return PublishResult{ID: h.ID, Version: h.Published, Published: true, Before: h.Published, Revision: h.Modified}, true
	case onlyNew && st.Seen != 0:
		return PublishResult{ID: h.ID, Version: st.Seen, Published: h.Published == st.Seen, Before: h.Published, Revision: h.Modified}, true
	case !d.publish && st.Exists() && h.LatestHash == d.hash:
		return PublishResult{ID: h.ID, Version: h.Latest, Published: h.Published == h.Latest, Before: h.Published, Revision: h.Modified}, true
	}
	return PublishResult{}, false
}

// publishedIn is the published version, 0 if there is none.
func publishedIn(st *store.DefinitionState) int {
	if !st.Exists() {
		return 0
	}
	return st.Head.Published
}

func (c *Catalog) dryRun(ctx context.Context, st *store.DefinitionState, d *document, pub etcdstore.Published) (PublishResult, error) {
	res := PublishResult{ID: d.def.ID, Version: 1, Created: true, Before: publishedIn(st), Over: standing(st), WasOf: setOf(st)}
	if st.Head != nil {
		res.Version = st.Head.Latest + 1
	}
	if !d.publish {
		return res, nil
	}
	return res, c.store.CheckRoutes(ctx, d.def.ID, pub.Index.Routes)
}

func (c *Catalog) write(ctx context.Context, st *store.DefinitionState, d *document, src []byte, uses []store.Use, needs []string, pub etcdstore.Published) (*store.DefinitionHead, error) {
	v := store.DefinitionVersion{VersionID: d.def.VersionID, Hash: d.hash, Notation: string(d.notation), Source: string(src), Uses: uses}
	var err error
	if v.Needs, v.Types, err = c.types.Now().Split(needs); err != nil {
		return nil, err
	}
	if !d.publish {
		return c.store.SaveDraft(ctx, st, v, pub.Name, pub.Description, c.now())
	}
	return c.store.PublishDefinition(ctx, st, v, pub, c.now())
}

// Identify gives the id of a source, "" if it has none that can be told.
func (c *Catalog) Identify(req PublishRequest) string {
	d, err := c.parse(req)
	if err != nil {
		return ""
	}
	return d.def.ID
}
