package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// change reads a definition that exists and changes it. If others changed it in
// between, it begins again.
func (c *Catalog) change(ctx context.Context, id string, do func(*store.DefinitionState) (*store.DefinitionHead, error)) (*store.DefinitionHead, error) {
	if workflow.CheckID("definition id", id) != nil {
		return nil, notFound(id)
	}
	for range conflicts {
		st, err := c.store.ReadDefinition(ctx, id, "")
		if err != nil {
			return nil, explain(err)
		}
		c.learn(st.Head)
		if !st.Exists() {
			return nil, notFound(id)
		}
		head, err := do(st)
		if errors.Is(err, store.ErrHeadMoved) {
			continue
		}
		if err != nil {
			return nil, explain(err)
		}
		c.learn(head)
		return head, nil
	}
	return nil, explain(store.ErrHeadMoved)
}

// Retract takes the published version back: nothing starts by it any more, and
// running instances go on. Retracting what is not published does nothing.
func (c *Catalog) Retract(ctx context.Context, id string) error {
	_, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		if st.Head.Published == 0 {
			return st.Head, nil
		}
		return c.store.Retract(ctx, st, c.now())
	})
	return err
}

// Delete removes a definition. While instances of it run the error is
// definition-in-use, unless it is forced; then they go on to their end with the
// version that they began with, and so does one that starts at this moment.
// Content that was published under the id counts as published before for ever,
// so that a reloader does not bring it back; an explicit publication does.
func (c *Catalog) Delete(ctx context.Context, id string, force bool) error {
	_, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		return c.store.DeleteDefinition(ctx, st, force, c.now())
	})
	return err
}

// PublishVersion makes a stored version the published one: a draft, or an older
// one again; 0 is the latest. Created is false if it is published already.
// Errors as for Publish.
func (c *Catalog) PublishVersion(ctx context.Context, id string, version int) (PublishResult, error) {
	created, before := true, 0
	head, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		n := version
		before = publishedIn(st)
		if n == 0 {
			n = st.Head.Latest
		}
		if created = st.Head.Published != n; !created {
			return st.Head, nil
		}
		if slices.Contains(st.Retired, n) {
			return nil, noVersion(id, n)
		}
		return c.publishStored(ctx, st, n, "")
	})
	if err != nil {
		return PublishResult{}, err
	}
	if created {
		c.updateConsumers(ctx, head)
	}
	return PublishResult{ID: id, Version: head.Published, Published: true, Created: created, Before: before, Revision: head.Modified}, nil
}

// publishStored publishes, or indexes again, a version as it is stored; it is of a set then, ""
// leaves it where it is.
func (c *Catalog) publishStored(ctx context.Context, st *store.DefinitionState, n int, set string) (*store.DefinitionHead, error) {
	v, err := c.version(ctx, st.ID, n)
	if err != nil {
		return nil, err
	}
	prog, _, err := c.Program(ctx, st.ID, n)
	if err != nil {
		return nil, err
	}
	pub, problems := publication(prog, c.now())
	if len(problems) > 0 {
		return nil, invalid(st.ID, problems)
	}
	pub.Set = set
	if st.Head.Published != n {
		// Only now the content is known: ask whether it was published before.
		if st, err = c.restate(ctx, st, v.Hash); err != nil {
			return nil, err
		}
	} else {
		st.Seen = n
	}
	return c.store.PublishVersion(ctx, st, v, pub, c.now())
}

// restate reads a definition again for another content.
func (c *Catalog) restate(ctx context.Context, st *store.DefinitionState, hash string) (*store.DefinitionState, error) {
	again, err := c.store.ReadDefinition(ctx, st.ID, hash)
	if err != nil {
		return nil, err
	}
	if again.Head == nil || again.Head.Modified != st.Head.Modified {
		return nil, store.ErrHeadMoved
	}
	return again, nil
}

// Reindex writes the triggers, cron keys and routes of a published definition
// again, from its stored version. What it runs as activities follows those that
// are marked autoUpdate: if one of them moved on, the definition gets a new
// version. Errors: definition-not-found if it is not there or not published,
// and those of Publish.
//
// A node whose table has the revision serves it so.
func (c *Catalog) Reindex(ctx context.Context, id string) (revision int64, err error) {
	if _, err := c.updateConsumer(ctx, id); err != nil {
		return 0, err
	}
	head, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		if st.Head.Published == 0 {
			return nil, workflow.Fail(workflow.CodeDefinitionNotFound, "definition "+id+" has no published version")
		}
		return c.publishStored(ctx, st, st.Head.Published, "")
	})
	if err != nil {
		return 0, err
	}
	return head.Modified, nil
}

// updateConsumers gives each published definition that uses h a version that
// uses the new one, if h is marked autoUpdate. A consumer that does not compile
// with it stays as it is.
func (c *Catalog) updateConsumers(ctx context.Context, h *store.DefinitionHead) {
	if !h.AutoUpdate {
		return
	}
	if err := c.sync(ctx); err != nil {
		c.log.WarnContext(ctx, "consumers of a new version not looked up; refresh them", "definition", h.ID, "error", err)
		return
	}
	for _, id := range c.consumers(h) {
		updated, err := c.updateConsumer(ctx, id)
		if err != nil {
			c.log.WarnContext(ctx, "consumer stays on the version before; refresh it once it is repaired", "definition", id, "uses", h.ID, "error", err)
			continue
		}
		if updated != nil {
			c.log.InfoContext(ctx, "consumer follows the new version", "definition", id, "version", updated.Published, "uses", h.ID)
			c.updateConsumers(ctx, updated)
		}
	}
}

// consumers lists the published definitions that use another version of h, also
// through others, those before that others of them use: then each gets one new
// version, not one for each way to h.
func (c *Catalog) consumers(h *store.DefinitionHead) []string {
	heads := c.table.Load().heads
	var left []string
	for id, consumer := range heads {
		if consumer.Published != 0 && slices.ContainsFunc(consumer.Uses, func(u store.Use) bool { return u.ID == h.ID && u.Version != h.Published }) {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	var ordered []string
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(id string) bool {
			return !slices.ContainsFunc(heads[id].Uses, func(u store.Use) bool { return u.ID != id && slices.Contains(left, u.ID) })
		})
		i = max(i, 0) // published definitions have no cycles; if others came between, any order will do
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered
}

// updateConsumer gives a definition a new version of the same source if one that
// it uses is marked autoUpdate and has moved on; nil if that is not so.
func (c *Catalog) updateConsumer(ctx context.Context, id string) (*store.DefinitionHead, error) {
	updated := false
	head, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		updated = false
		stale, err := c.stale(ctx, st.Head)
		if err != nil || !stale {
			return st.Head, err
		}
		v, err := c.version(ctx, id, st.Head.Published)
		if err != nil {
			return nil, err
		}
		view := c.types.Now() // as what is used was published with
		def, problems := readAs(v, view)
		if len(problems) > 0 {
			return nil, c.notRunnable(v, problems)
		}
		prog, uses, problems, err := c.compile(ctx, def, view, nil)
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, invalid(id, problems)
		}
		pub, problems := publication(prog, c.now())
		if len(problems) > 0 {
			return nil, invalid(id, problems)
		}
		next := *v
		next.Uses, next.VersionID = uses, ""
		if next.Needs, next.Types, err = view.Split(prog.Needs()); err != nil {
			return nil, err
		}
		st.Seen = v.Version // the content is published: it stands in the head
		updated = true
		return c.store.PublishDefinition(ctx, st, next, pub, c.now())
	})
	if err != nil || !updated {
		return nil, err
	}
	return head, nil
}

// stale reports whether something that h uses is marked autoUpdate and has a
// newer published version.
func (c *Catalog) stale(ctx context.Context, h *store.DefinitionHead) (bool, error) {
	for _, u := range h.Uses {
		used, err := c.Head(ctx, u.ID)
		if err != nil && workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
			return false, err
		}
		if err == nil && used.AutoUpdate && used.Published != u.Version {
			return true, nil
		}
	}
	return false, nil
}
