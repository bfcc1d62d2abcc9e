package run

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Bounds of the descendants that are told.
const (
	usualDepth, mostDepth             = 3, 10
	usualDescendants, mostDescendants = 100, 500
)

// lineageRoutes say who started whom.
func lineageRoutes() []serve.Route {
	return []serve.Route{{Method: "GET", Path: "/instances/{id}/lineage", Name: "getLineage", Role: auth.Viewer, Tag: "instances", Kind: serve.Reads, Costly: true,
		Summary: "Who started an instance, and whom it started",
		Query: []serve.Param{
			{Name: "depth", Type: "integer", Doc: "How far down, 1 to 10, 3 if absent."},
			{Name: "descendants", Type: "integer", Doc: "How many of them, 1 to 500, 100 if absent; those nearest to it come first."},
		},
		Answers: map[int]any{200: lineageView{}}, Problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeDamaged}, Serve: lineage}}
}

type lineageView struct {
	InstanceID string         `json:"instanceId"`
	Items      []relativeView `json:"items" doc:"The farthest ancestor first, then the instance, then its descendants; each stands behind its parent."`
	Whole      bool           `json:"whole" doc:"Nobody is left out: neither by depth, nor by number, nor by size."`
	Revision   int64          `json:"revision" doc:"Of etcd, at which all of this was so."`
}

type relativeView struct {
	Depth            int                `json:"depth" doc:"0: the instance itself; its children have 1, its parent -1."`
	InstanceID       string             `json:"instanceId"`
	ParentInstanceID *string            `json:"parentInstanceId"`
	Children         int64              `json:"children" doc:"How many it has; of an ancestor 0, as the others are not told."`
	DefinitionID     *string            `json:"definitionId"`
	Version          *int               `json:"version"`
	Name             *string            `json:"name"`
	CorrelationID    *string            `json:"correlationId"`
	SubStatus        workflow.SubStatus `json:"subStatus" enum:"Pending,Executing,Suspended,Finished,Cancelled,Faulted," doc:"Empty of one that is gone or damaged."`
	AwaitedAt        *string            `json:"awaitedAt" doc:"Id of the bookmark at which its parent waits, or waited, for its end; null: the parent does not wait."`
	CreatedAt        *time.Time         `json:"createdAt"`
	UpdatedAt        *time.Time         `json:"updatedAt"`
	FinishedAt       *time.Time         `json:"finishedAt"`
	Incidents        int                `json:"incidents"`
	Gone             bool               `json:"gone" doc:"It was deleted, or retention has let it go."`
	Damaged          bool               `json:"damaged,omitempty"`
}

func viewRelative(r runtime.Relative) relativeView {
	in := &r.Instance
	v := relativeView{
		Depth: r.Depth, InstanceID: in.ID, ParentInstanceID: shape.Some(r.Parent), Children: r.Children, DefinitionID: shape.Some(in.DefinitionID), Name: shape.Some(in.Name),
		CorrelationID: shape.Some(in.CorrelationID), SubStatus: in.SubStatus, CreatedAt: shape.KnownTime(in.CreatedAt), UpdatedAt: shape.KnownTime(in.UpdatedAt),
		FinishedAt: shape.SomeTime(in.FinishedAt), Incidents: len(in.Incidents), Gone: r.Gone, Damaged: in.Damaged != "",
	}
	if in.Version != 0 {
		v.Version = &in.Version
	}
	if in.Parent != nil {
		v.AwaitedAt = shape.Some(in.Parent.BookmarkID)
	}
	return v
}

func lineage(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	depth, err := serve.Within(c, "depth", usualDepth, mostDepth)
	if err != nil {
		return serve.Reply{}, err
	}
	most, err := serve.Within(c, "descendants", usualDescendants, mostDescendants)
	if err != nil {
		return serve.Reply{}, err
	}
	l, err := c.API.Config.Runtime.Inspector.Lineage(c.Request.Context(), id, depth, most)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: lineageView{InstanceID: id, Items: shape.Each(l.Of, viewRelative), Whole: l.Whole, Revision: l.Revision}}, nil
}
