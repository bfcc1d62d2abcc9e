package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Standing gives the head of a definition as etcd has it now, if something new may
// begin with this version of it; while that head stands it may. The error is
// definition-not-found if there is no such version, or it is on its way out.
func (c *Catalog) Standing(ctx context.Context, id string, version int) (store.DefinitionHead, error) {
	if workflow.CheckID("definition id", id) != nil || version < 1 {
		return store.DefinitionHead{}, notFound(id)
	}
	h, ok, err := c.store.Begins(ctx, id, version)
	if err != nil {
		return store.DefinitionHead{}, explain(err)
	}
	if c.learn(h); h == nil || h.Deleted != nil {
		return store.DefinitionHead{}, notFound(id)
	}
	if !ok {
		return store.DefinitionHead{}, noVersion(id, version)
	}
	return *h, nil
}

// Leaving reports whether a version was taken out of use, or is gone, though its
// definition is there.
func (c *Catalog) Leaving(ctx context.Context, id string, version int) (bool, error) {
	if workflow.CheckID("definition id", id) != nil {
		return false, nil //nolint:nilerr // what no definition can be called leaves nothing
	}
	h, ok, err := c.store.Begins(ctx, id, version)
	return err == nil && !ok && h != nil && h.Deleted == nil, explain(err)
}

func noVersion(id string, n int) error {
	return workflow.Fail(workflow.CodeDefinitionNotFound, fmt.Sprintf("definition %s has no version %d", id, n))
}

// DeleteVersion takes one version of a definition out of use: nobody begins anything
// with it any more, and its body goes an hour later, with the next
// [Catalog.PurgeVersions]. Something that had met the version before, and was not to
// be seen yet, goes on with it to its end; then the body stays until that is gone.
//
// The error is definition-in-use, and says by whom, if it is the published or the
// latest version, or something needs it.
func (c *Catalog) DeleteVersion(ctx context.Context, id string, version int) error {
	ref := etcdstore.VersionRef{ID: id, Version: version}
	_, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		if _, ok, err := c.store.Begins(ctx, id, version); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			return nil, noVersion(id, version)
		}
		inUse := func(why string) error {
			return workflow.Fail(workflow.CodeDefinitionInUse, fmt.Sprintf("%s cannot be removed: %s", ref, why))
		}
		switch version {
		case st.Head.Published:
			return nil, inUse("it is the published one; publish another version, or retract it, first")
		case st.Head.Latest:
			return nil, inUse("it is the latest one; delete the definition instead")
		}
		users, err := c.store.VersionUsers(ctx, []etcdstore.VersionRef{ref})
		if err != nil {
			return nil, err
		}
		if by, used := users[ref]; used {
			return nil, inUse("it is needed by " + by.What)
		}
		return c.store.RetireVersions(ctx, st, []int{version})
	})
	return err
}

// PurgeVersions is one round of the retention of versions: of each definition it
// retires those that are older than the newest keep (0: all are kept) and that nothing
// needs, and it deletes the bodies of those that were retired an hour ago, if still
// nothing needs them. used is what was found of their users so far; it saves the look
// through all instances as long as they are there. It returns how many bodies went.
func (c *Catalog) PurgeVersions(ctx context.Context, keep int64, age *store.Age, used *VersionUsers) (int, error) {
	retired, err := c.store.Retired(ctx)
	if err != nil {
		return 0, err
	}
	wanted := etcdstore.LongRetired(retired, age)
	if keep > 0 {
		old, err := c.outnumbered(ctx, keep, retired)
		if err != nil {
			return 0, err
		}
		wanted = append(wanted, old...)
	}
	unused, err := used.without(ctx, c.store, wanted)
	if err != nil {
		return 0, err
	}
	purged := 0
	for id, versions := range unused {
		n, err := c.purgeVersions(ctx, id, versions, retired)
		if purged += n; err != nil {
			return purged, err
		}
	}
	return purged, nil
}

// VersionUsers remembers who needs which version, between the rounds of
// [Catalog.PurgeVersions]. The zero value knows nobody.
type VersionUsers struct {
	known map[etcdstore.VersionRef]etcdstore.VersionUser
}

// without gives those of versions that nothing needs, by definition.
func (u *VersionUsers) without(ctx context.Context, s *etcdstore.Definitions, versions []etcdstore.VersionRef) (map[string][]int, error) {
	known := map[etcdstore.VersionRef]etcdstore.VersionUser{}
	for _, ref := range versions {
		if by, ok := u.known[ref]; ok {
			known[ref] = by
		}
	}
	known, err := s.StillUsed(ctx, known)
	if err != nil {
		return nil, err
	}
	needs := func(ref etcdstore.VersionRef) bool { _, ok := known[ref]; return ok }
	unknown := slices.DeleteFunc(slices.Clone(versions), needs)
	if len(unknown) > 0 {
		found, err := s.VersionUsers(ctx, unknown)
		if err != nil {
			return nil, err
		}
		for ref, by := range found {
			known[ref] = by
		}
	}
	u.known = known
	unused := map[string][]int{}
	for _, ref := range slices.DeleteFunc(unknown, needs) {
		unused[ref.ID] = append(unused[ref.ID], ref.Version)
	}
	return unused, nil
}

// outnumbered are the versions that are not retired, nor published, nor among the
// newest keep of their definition.
func (c *Catalog) outnumbered(ctx context.Context, keep int64, retired map[etcdstore.VersionRef]int64) ([]etcdstore.VersionRef, error) {
	if err := c.sync(ctx); err != nil {
		return nil, err
	}
	var out []etcdstore.VersionRef
	for id, h := range c.table.Load().heads {
		if h.Deleted != nil || int64(h.Latest) <= keep {
			continue
		}
		versions, err := c.store.VersionsUpTo(ctx, id, h.Latest-int(keep))
		if err != nil {
			return nil, err
		}
		for _, n := range versions {
			ref := etcdstore.VersionRef{ID: id, Version: n}
			if _, is := retired[ref]; !is && n != h.Published {
				out = append(out, ref)
			}
		}
	}
	return out, nil
}

// purgeVersions retires those of a definition's versions that are not, and deletes
// the others.
func (c *Catalog) purgeVersions(ctx context.Context, id string, versions []int, retired map[etcdstore.VersionRef]int64) (int, error) {
	was := func(n int) bool { _, ok := retired[etcdstore.VersionRef{ID: id, Version: n}]; return ok }
	purged := 0
	for chunk := range slices.Chunk(versions, etcdstore.MaxVersions) {
		n := 0
		_, err := c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
			n = 0
			gone := slices.DeleteFunc(slices.Clone(chunk), func(v int) bool { return !was(v) || !slices.Contains(st.Retired, v) })
			if len(gone) > 0 {
				n = len(gone)
				return c.store.DropVersions(ctx, st, gone)
			}
			fresh := slices.DeleteFunc(slices.Clone(chunk), func(v int) bool {
				return was(v) || slices.Contains(st.Retired, v) || v == st.Head.Published || v == st.Head.Latest
			})
			if len(fresh) == 0 {
				return st.Head, nil
			}
			return c.store.RetireVersions(ctx, st, fresh)
		})
		switch workflow.CodeOf(err) {
		case "":
			if err != nil {
				return purged, err
			}
			purged += n
		case workflow.CodeDefinitionNotFound: // it was deleted: its bodies go with it
			return purged, nil
		default:
			return purged, err
		}
	}
	return purged, nil
}
