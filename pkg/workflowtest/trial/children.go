package trial

import (
	"cmp"
	"fmt"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// mocked is a child that does not run.
type mocked struct {
	engine.ChildStart
	ended bool
}

// startChild runs a child, or plays its part.
func (r *Run) startChild(c engine.ChildStart) error {
	id := c.Start.DefinitionID
	m, isMock := r.cfg.Children[id]
	if !isMock {
		p, err := r.program(id)
		if err != nil {
			return err
		}
		return r.create(c.InstanceID, p, &c.Start)
	}
	child := &mocked{ChildStart: c}
	r.children = append(r.children, child)
	if m.Hold {
		return nil
	}
	return r.endMocked(child, m.Status, m.Output)
}

func (r *Run) endMocked(c *mocked, status workflow.SubStatus, output map[string]any) error {
	c.ended = true
	if c.Start.Parent.BookmarkID == "" {
		return nil // nobody waits
	}
	return r.childEnd(c.InstanceID, c.Start.Parent, cmp.Or(status, workflow.Finished), output)
}

// EndChild ends the oldest child of a definition that is mocked and held.
func (r *Run) EndChild(definitionID string, status workflow.SubStatus, output map[string]any) error {
	for _, c := range r.children {
		if c.Start.DefinitionID == definitionID && !c.ended {
			if err := r.endMocked(c, status, output); err != nil {
				return err
			}
			return r.drain()
		}
	}
	return fmt.Errorf("no child of %s is held; mock it with hold, and let the workflow start it", definitionID)
}

// childEnd tells a parent of its child's end, with the input that a node gives.
func (r *Run) childEnd(child string, p *workflow.Parent, status workflow.SubStatus, output map[string]any) error {
	for _, in := range r.instances {
		if in.id != p.InstanceID {
			continue
		}
		if output == nil {
			output = map[string]any{}
		}
		_, err := r.do(in, workflow.Command{Kind: workflow.CommandChildEnd, Bookmark: p.BookmarkID, Input: map[string]any{
			"WorkflowInstanceId": child, "WorkflowStatus": string(status.Status()), "WorkflowSubStatus": string(status), "WorkflowOutput": output,
		}})
		return err
	}
	return nil
}

func (r *Run) cancelChild(id string) error {
	for _, c := range r.children {
		if c.InstanceID == id {
			c.ended = true
			return nil
		}
	}
	for _, in := range r.instances {
		if in.id == id {
			_, err := r.do(in, workflow.Command{Kind: workflow.CommandCancel})
			return err
		}
	}
	return nil
}
