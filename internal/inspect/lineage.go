package inspect

import (
	"context"
	"slices"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Lineage are an instance's ancestors and descendants, as they were at one revision.
type Lineage = etcdstore.Lineage

// Relative is one of them.
type Relative = etcdstore.Relative

// Lineage tells who started an instance, and whom it started: to a depth, and so many
// descendants at most. Of relatives that left etcd the archive tells.
func (i *Inspector) Lineage(ctx context.Context, id string, depth, most int) (*Lineage, error) {
	l, err := i.cfg.Reader.Lineage(ctx, id, depth, most)
	if err != nil {
		return nil, etcdstore.ReadFailed("lineage of instance "+id, err)
	}
	if l == nil {
		if l, err = i.archivedLineage(ctx, id); err != nil {
			return nil, err
		}
		return l, i.archivedChildren(ctx, l, depth, most)
	}
	for n := range l.Of {
		if r := &l.Of[n]; r.Gone && i.cfg.Archive != nil {
			if *r, err = i.relative(ctx, r.Instance.ID, r.Depth); err != nil {
				return nil, err
			}
		}
	}
	return l, i.archivedChildren(ctx, l, depth, most)
}

// mostAskedFor is of how many instances the archive is asked whom they started, for one lineage.
const mostAskedFor = 100

// archivedChildren adds those to a lineage that left etcd, and whom they started, each behind who started it.
func (i *Inspector) archivedChildren(ctx context.Context, l *Lineage, depth, most int) error {
	if i.cfg.Archive == nil {
		return nil
	}
	there := map[string]bool{}
	for n := range l.Of {
		there[l.Of[n].Instance.ID] = true
		if l.Of[n].Depth > 0 {
			most--
		}
	}
	for n, asked := 0, 0; n < len(l.Of); n++ {
		r := &l.Of[n]
		if r.Depth < 0 || r.Depth >= depth || r.Gone {
			l.Whole = l.Whole && !(r.Depth >= depth && r.Instance.Archived) // nobody looked whom it started
			continue
		}
		if asked++; asked > mostAskedFor || most <= 0 {
			l.Whole = false
			return nil
		}
		f, p := find.Filter{Parent: r.Instance.ID}, Paging{Limit: most} // of one page
		var page InstancePage
		var err error
		if r.Instance.Archived { // whom it started may be in etcd: nobody has looked
			page, err = i.Instances(ctx, f, p)
		} else {
			page, err = i.archivedPage(ctx, f, p, i.cfg.Now(), "")
		}
		if err != nil {
			return err
		}
		l.Whole = l.Whole && page.Next == ""
		var more []Relative
		for _, in := range page.Items {
			if most > 0 && !there[in.ID] {
				there[in.ID] = true
				more = append(more, relativeOf(in, r.Depth+1))
				most--
			}
		}
		r.Children += int64(len(more))
		l.Of = slices.Insert(l.Of, n+1, more...)
	}
	return nil
}

// mostArchivedAncestors bounds those of one instance.
const mostArchivedAncestors = 100

func (i *Inspector) archivedLineage(ctx context.Context, id string) (*Lineage, error) {
	own, err := i.orArchived(ctx, id, unread(id, false, nil))
	if err != nil {
		return nil, err
	}
	l := &Lineage{Of: []Relative{relativeOf(own, 0)}, Whole: true}
	for len(l.Of) <= mostArchivedAncestors && !l.Of[0].Gone && l.Of[0].Parent != "" {
		r, err := i.relative(ctx, l.Of[0].Parent, l.Of[0].Depth-1)
		if err != nil {
			return nil, err
		}
		l.Of = append([]Relative{r}, l.Of...)
	}
	return l, nil
}

// relative is an instance of etcd or of the archive; one that neither has is gone.
func (i *Inspector) relative(ctx context.Context, id string, depth int) (Relative, error) {
	in, err := i.Brief(ctx, id)
	switch {
	case workflow.CodeOf(err) == workflow.CodeInstanceNotFound:
		return Relative{Instance: workflow.Instance{ID: id}, Depth: depth, Gone: true}, nil
	case err != nil:
		return Relative{}, err
	}
	return relativeOf(in, depth), nil
}

func relativeOf(in workflow.Instance, depth int) Relative {
	r := Relative{Instance: in, Depth: depth}
	if in.Parent != nil {
		r.Parent = in.Parent.InstanceID
	}
	return r
}
