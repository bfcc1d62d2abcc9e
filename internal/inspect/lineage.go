package inspect

import (
	"context"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Lineage are an instance's ancestors and descendants, as they were at one revision.
type Lineage = etcdstore.Lineage

// Relative is one of them.
type Relative = etcdstore.Relative

// Lineage tells who started an instance, and whom it started: to a depth, and so many
// descendants at most. Of relatives that left etcd the archive tells; whom an instance of the archive started is not known.
func (i *Inspector) Lineage(ctx context.Context, id string, depth, most int) (*Lineage, error) {
	l, err := i.cfg.Reader.Lineage(ctx, id, depth, most)
	if err != nil {
		return nil, etcdstore.ReadFailed("lineage of instance "+id, err)
	}
	if l == nil {
		return i.archivedLineage(ctx, id)
	}
	for n := range l.Of {
		if r := &l.Of[n]; r.Gone && i.cfg.Archive != nil {
			if *r, err = i.relative(ctx, r.Instance.ID, r.Depth); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// mostArchivedAncestors bounds those of one instance.
const mostArchivedAncestors = 100

func (i *Inspector) archivedLineage(ctx context.Context, id string) (*Lineage, error) {
	own, err := i.orArchived(ctx, id, unread(id, false, nil))
	if err != nil {
		return nil, err
	}
	l := &Lineage{Of: []Relative{relativeOf(own, 0)}}
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
