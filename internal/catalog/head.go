package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Head gives the published head of a definition, from the table if it is there.
// If the table has no published one, etcd is asked before the error is
// definition-not-found.
func (c *Catalog) Head(ctx context.Context, id string) (store.DefinitionHead, error) {
	if h := c.table.Load().heads[id]; h != nil && h.Published != 0 {
		return *h, nil
	}
	return c.Confirm(ctx, id)
}

// Confirm is Head without the table: the published head as etcd has it now. Use
// it after a compare on a head from the table did not hold.
func (c *Catalog) Confirm(ctx context.Context, id string) (store.DefinitionHead, error) {
	h, err := c.head(ctx, id)
	if err != nil {
		return store.DefinitionHead{}, err
	}
	if h.Published == 0 {
		return store.DefinitionHead{}, workflow.Fail(workflow.CodeDefinitionNotFound, fmt.Sprintf("definition %s has no published version; publish one", id))
	}
	return *h, nil
}

// head reads a head that is not deleted, published or not.
func (c *Catalog) head(ctx context.Context, id string) (*store.DefinitionHead, error) {
	if workflow.CheckID("definition id", id) != nil {
		return nil, notFound(id)
	}
	h, err := c.store.Head(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	c.learn(h)
	if h == nil || h.Deleted != nil {
		return nil, notFound(id)
	}
	return h, nil
}

func notFound(id string) error {
	return workflow.Fail(workflow.CodeDefinitionNotFound, fmt.Sprintf("there is no definition %q", id))
}

// HeadIn gives Head in the shape that [engine.Env] wants; ctx bounds its looks.
func (c *Catalog) HeadIn(ctx context.Context) func(id string) (version int, ok bool) {
	return func(id string) (int, bool) {
		h, err := c.Head(ctx, id)
		return h.Published, err == nil
	}
}

// AnswersIn tells in the shape that [engine.Env] wants whether instances of a definition may answer HTTP
// requests. Of one that cannot be read it is not known, and they may.
func (c *Catalog) AnswersIn(ctx context.Context) func(id string) bool {
	return func(id string) bool {
		h, err := c.Head(ctx, id)
		if err != nil {
			return workflow.CodeOf(err) != workflow.CodeDefinitionNotFound
		}
		p, _, err := c.Program(ctx, id, h.Published)
		return err != nil || p.Answers()
	}
}

// Summary is what people are told of a definition.
type Summary struct {
	ID          string
	Name        string // may be ""
	Description string // may be ""
	Latest      int    // the highest version number given so far
	Published   int    // the published version; 0: none
	PublishedAt time.Time
	UpdatedAt   time.Time
	Set         string // the set that it is of; "": none
	Damaged     string // why its record cannot be read, and only the id is known; "": it can
}

func summary(h *store.DefinitionHead) Summary {
	return Summary{
		ID: h.ID, Name: h.Name, Description: h.Description, Latest: h.Latest, Published: h.Published,
		PublishedAt: h.PublishedAt, UpdatedAt: h.UpdatedAt, Set: h.Set, Damaged: h.Damaged,
	}
}

// List lists the definitions by id, drafts included, at most limit (1 to 500,
// 50 if it is 0), at one revision.
func (c *Catalog) List(ctx context.Context, cursor string, limit int) (items []Summary, end etcdstore.PageEnd, err error) {
	if limit <= 0 {
		limit = 50
	}
	heads, end, err := c.store.ListDefinitions(ctx, cursor, min(limit, 500))
	for i := range heads {
		items = append(items, summary(&heads[i]))
	}
	return items, end, explain(err)
}

// Latest tells of one definition that exists, published or not, as etcd has it now.
func (c *Catalog) Latest(ctx context.Context, id string) (Summary, error) {
	h, err := c.head(ctx, id)
	if err != nil {
		return Summary{}, err
	}
	return summary(h), nil
}

// Published lists the ids of all published definitions, sorted, as etcd has
// them now.
func (c *Catalog) Published(ctx context.Context) ([]string, error) {
	if err := c.sync(ctx); err != nil {
		return nil, explain(err)
	}
	var ids []string
	for id, h := range c.table.Load().heads {
		if h.Published != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
