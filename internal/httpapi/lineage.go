package httpapi

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Bounds of the descendants that are told.
const (
	usualDepth, mostDepth             = 3, 10
	usualDescendants, mostDescendants = 100, 500
)

// lineageRoutes say who started whom.
func (a *API) lineageRoutes() []route {
	return []route{{method: "GET", path: "/instances/{id}/lineage", name: "getLineage", role: auth.Viewer, tag: "instances", kind: reads, costly: true,
		summary: "Who started an instance, and whom it started",
		query: []param{
			{name: "depth", typ: "integer", doc: "How far down, 1 to 10, 3 if absent."},
			{name: "descendants", typ: "integer", doc: "How many of them, 1 to 500, 100 if absent; those nearest to it come first."},
		},
		answers: map[int]any{200: lineageView{}}, problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeDamaged}, serve: lineage}}
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
		Depth: r.Depth, InstanceID: in.ID, ParentInstanceID: some(r.Parent), Children: r.Children, DefinitionID: some(in.DefinitionID), Name: some(in.Name),
		CorrelationID: some(in.CorrelationID), SubStatus: in.SubStatus, CreatedAt: knownTime(in.CreatedAt), UpdatedAt: knownTime(in.UpdatedAt),
		FinishedAt: someTime(in.FinishedAt), Incidents: len(in.Incidents), Gone: r.Gone, Damaged: in.Damaged != "",
	}
	if in.Version != 0 {
		v.Version = &in.Version
	}
	if in.Parent != nil {
		v.AwaitedAt = some(in.Parent.BookmarkID)
	}
	return v
}

// within reads a whole number between 1 and most.
func (c *request) within(name string, usual, most int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid("bad-parameter", "/"+name, fmt.Sprintf("%s must be a whole number from 1 to %d", name, most))
	}
	return n, nil
}

func lineage(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	depth, err := c.within("depth", usualDepth, mostDepth)
	if err != nil {
		return reply{}, err
	}
	most, err := c.within("descendants", usualDescendants, mostDescendants)
	if err != nil {
		return reply{}, err
	}
	l, err := c.api.cfg.Runtime.Lineage(c.r.Context(), id, depth, most)
	if err != nil {
		return reply{}, err
	}
	return reply{body: lineageView{InstanceID: id, Items: each(l.Of, viewRelative), Whole: l.Whole, Revision: l.Revision}}, nil
}
