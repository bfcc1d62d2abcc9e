package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Authoring is what authors of definitions ask while they write. Make it with [NewAuthoring].
type Authoring struct {
	c     *Catalog
	needs atomic.Pointer[map[etcdstore.VersionRef][]string] // of published versions; replaced, never changed
}

// NewAuthoring answers authors with what a catalogue has.
func NewAuthoring(c *Catalog) *Authoring { return &Authoring{c: c} }

// Look is what a source is, and would be if it were published.
type Look struct {
	// Definition is what could be read; nil: nothing. It may lack what has problems.
	Definition *workflow.Definition
	Version    int               // it would have; 0: it cannot be published as it is
	Problems   workflow.Problems // errors, and warnings
}

// Look reads a source, finds its mistakes and writes nothing. Mistakes are no error; errors
// are too-large and unavailable.
func (a *Authoring) Look(ctx context.Context, source []byte, contentType string) (Look, error) {
	req := PublishRequest{Source: source, ContentType: contentType, Publish: true, DryRun: true}
	d, err := a.c.parse(req)
	if err != nil {
		return mistaken(Look{}, err)
	}
	look := Look{Definition: d.def}
	res, err := a.c.tryPublish(ctx, req, d)
	if err != nil {
		return mistaken(look, explain(err))
	}
	look.Version, look.Problems = res.Version, res.Warnings
	return look, nil
}

// mistaken is a look at a source with mistakes, or the error that hides them.
func mistaken(look Look, err error) (Look, error) {
	var e *workflow.Error
	switch {
	case !errors.As(err, &e):
	case e.Code == workflow.CodeDefinitionInvalid && len(e.Problems) > 0:
		look.Problems = e.Problems
		return look, nil
	case e.Code == workflow.CodeDefinitionInvalid, e.Code == workflow.CodeRouteTaken:
		look.Problems = workflow.Problems{{Code: string(e.Code), Detail: e.Detail}}
		return look, nil
	}
	return look, err
}

// Interface is what a version of a definition takes and gives, and what starts it.
type Interface struct {
	Definition *workflow.Definition
	Version    int
	Head       Summary
	Starts     []Start
}

// Start is one thing that starts instances of a definition by itself.
type Start struct {
	ActivityID, ActivityType string
	When                     string // such as an event's name, a schedule, or a method and a path
}

// Interface tells of a version of a definition; 0 is the published one, or the latest if
// none is published. The errors are those of [Catalog.Program].
func (a *Authoring) Interface(ctx context.Context, id string, version int) (Interface, error) {
	h, version, err := a.c.sourceHead(ctx, id, version)
	if err != nil {
		return Interface{}, err
	}
	prog, def, err := a.c.Program(ctx, id, version)
	if err != nil {
		return Interface{}, err
	}
	pub, _ := publication(prog, a.c.now()) // it was published, so nothing is wrong with it
	return Interface{Definition: def, Version: version, Head: summary(h), Starts: startsOf(&pub.Index)}, nil
}

// Started is what starts instances of a definition by itself, but for its schedules.
type Started struct {
	Starts    []Start
	Schedules bool // there are some
	More      bool // there are others, or it is not known
}

// StartedBy tells what starts these definitions, by the id, at a revision, which is that of a page of
// [Catalog.List]; those by which nothing starts are left out. It reads no definition.
func (a *Authoring) StartedBy(ctx context.Context, of []Summary, revision int64) (map[string]Started, error) {
	ids := make([]string, len(of))
	for i := range of {
		ids[i] = of[i].ID
	}
	found, err := a.c.store.Starts(ctx, ids, revision)
	if errors.Is(err, etcdstore.ErrCompacted) { // between the page and this: as it is now
		found, err = a.c.store.Starts(ctx, ids, 0)
	}
	if err != nil {
		return nil, explain(err)
	}
	all := map[string]Started{}
	for id, s := range found {
		all[id] = Started{Starts: startsOf(&s.Index), Schedules: s.Schedules, More: s.More}
	}
	return all, nil
}

func startsOf(x *store.DefinitionIndex) []Start {
	var all []Start
	told := map[string]bool{} // activities that a schedule or a route says more of
	for i := range x.Schedules {
		told[x.Schedules[i].ActivityID] = true
	}
	for i := range x.Routes {
		told[x.Routes[i].ActivityID] = true
	}
	for i := range x.Triggers {
		if t := &x.Triggers[i]; t.Name != "" && !told[t.ActivityID] {
			all = append(all, Start{t.ActivityID, t.ActivityType, t.Name})
		}
	}
	for i := range x.Schedules {
		s := &x.Schedules[i]
		when := s.Expression
		switch {
		case s.Interval > 0:
			when = "every " + s.Interval.String()
		case s.At != nil:
			when = s.At.UTC().Format(time.RFC3339)
		}
		all = append(all, Start{s.ActivityID, s.ActivityType, when})
	}
	for i := range x.Routes {
		r := &x.Routes[i]
		all = append(all, Start{r.ActivityID, "Elsa.HttpEndpoint", r.Method + " /workflows/" + r.Template})
	}
	slices.SortFunc(all, func(a, b Start) int {
		return cmp.Or(cmp.Compare(a.ActivityID, b.ActivityID), cmp.Compare(a.When, b.When))
	})
	return all
}

// Version is one version of a definition whose source is there.
type Version struct {
	Version   int
	Published bool // it is the published one
	Notation  notation.Notation
	CreatedAt time.Time
}

// VersionPage is a page of the versions of a definition.
type VersionPage struct {
	Items    []Version
	More     bool  // older ones are there
	Revision int64 // of etcd, at which it was seen which there are, and which is published
}

// Versions lists the versions of a definition before one, the newest first, at most limit;
// before 0 lists from the newest. A version with which nothing may begin any more is not listed.
func (a *Authoring) Versions(ctx context.Context, id string, before, limit int) (page VersionPage, err error) {
	if workflow.CheckID("definition id", id) != nil {
		return page, notFound(id)
	}
	st, err := a.c.store.ReadDefinition(ctx, id, "")
	if err != nil {
		return page, explain(err)
	}
	if !st.Exists() {
		return page, notFound(id)
	}
	page.Revision = st.Revision
	newest := st.Head.Latest
	if before > 0 {
		newest = min(newest, before-1)
	}
	numbers, err := a.c.store.VersionsUpTo(ctx, id, newest)
	if err != nil {
		return page, explain(err)
	}
	for _, n := range slices.Backward(numbers) {
		if slices.Contains(st.Retired, n) {
			continue
		}
		if len(page.Items) == limit {
			page.More = true
			return page, nil
		}
		v, err := a.c.version(ctx, id, n)
		if workflow.CodeOf(err) == workflow.CodeDefinitionNotFound {
			continue // it went since
		}
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, Version{Version: n, Published: n == st.Head.Published, Notation: notation.Notation(v.Notation), CreatedAt: v.CreatedAt})
	}
	return page, nil
}

// stands compares the version that the author of a request started from with the one that
// is there: the published one, or the latest if none is published.
func (req *PublishRequest) stands(st *store.DefinitionState) error {
	if req.Over == nil {
		return nil
	}
	is := standing(st)
	switch {
	case is == *req.Over:
		return nil
	case *req.Over == 0:
		return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("there is a definition %s already, with version %d", st.ID, is))
	case is == 0:
		return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %s is not there any more", st.ID))
	}
	return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %s has version %d now, and this was made from version %d", st.ID, is, *req.Over))
}

// standing is the version of a definition that is there: the published one, or the latest if none
// is published; 0: there is none.
func standing(st *store.DefinitionState) int {
	if !st.Exists() {
		return 0
	}
	return cmp.Or(st.Head.Published, st.Head.Latest)
}

// followed tells whether a definition moved on from a version without an author: it has that
// version's content, and followed what it uses. The error is that of a store that does not answer.
func followed(ctx context.Context, c *Catalog, st *store.DefinitionState, from int) (bool, error) {
	if !st.Exists() || st.Head.Published == 0 || from == 0 {
		return false, nil
	}
	v, err := c.version(ctx, st.ID, from)
	switch workflow.CodeOf(err) {
	case workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable: // what it had cannot be told any more, or not here
		return false, nil
	}
	return err == nil && v.Hash == st.Head.Hash && !slices.Equal(v.Uses, st.Head.Uses), err
}
