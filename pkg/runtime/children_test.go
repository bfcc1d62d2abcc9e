package runtime_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A commit cancels a hundred children. The others are known to the parent's state
// only, so it is not deleted before the last of them.
func TestDeletingAParentCancelsAllItsChildren(t *testing.T) {
	t.Parallel()
	const children = 250
	for name, first := range map[string]func(*member) (bool, error){
		"running": nil,
		"cancelled": func(m *member) (bool, error) {
			did, err := m.Commands.Cancel(t.Context(), "parent", nil)
			return did.Accepted, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.Publish("id: kid\nroot:\n  - event: never\n", `
id: parent
inputs:
  items: list
root:
  - bulkDispatchWorkflows: {workflowDefinitionId: kid, items: "${{ inputs.items }}", waitForCompletion: true}
`)
			items := make([]any, children)
			for i := range items {
				items[i] = i
			}
			if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "parent", InstanceID: "parent", Input: map[string]any{"items": items}}); err != nil {
				t.Fatal(err)
			}
			count := func(s workflow.SubStatus) (n int) {
				p := runtime.Paging{Limit: 100}
				for {
					page, err := m.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "kid", SubStatus: s}, p)
					if err != nil {
						t.Fatal(err)
					}
					n += len(page.Items)
					if p.Cursor = page.Next; p.Cursor == "" {
						return n
					}
				}
			}
			eventually(t, "all children wait", func() bool { return count(workflow.Suspended) == children })
			if first != nil {
				if _, err := first(m); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := m.Commands.Delete(t.Context(), "parent"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the parent is gone", func() bool {
				_, err := m.Inspector.Instance(t.Context(), "parent")
				return workflow.CodeOf(err) == workflow.CodeInstanceNotFound
			})
			eventually(t, "no child waits any more", func() bool { return count(workflow.Suspended) == 0 })
			if n := count(workflow.Cancelled); n != children {
				t.Errorf("%d of %d children are cancelled", n, children)
			}
		})
	}
}

func TestParentsAreToldOncePerChild(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish("id: child\nroot:\n  - event: end\n", `
id: parent
root:
  - executeWorkflow: {workflowDefinitionId: child, correlationId: kid, waitForCompletion: true}
  - writeLine: told
`)
	for _, end := range []string{"finish", "cancel", "delete"} {
		id := "p-" + end
		c[0].Start("parent", id, "")
		var child workflow.Instance
		eventually(t, "the child waits", func() bool {
			page, err := c[1].Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "child", SubStatus: workflow.Suspended}, runtime.Paging{})
			if err != nil || len(page.Items) != 1 {
				return false
			}
			child = page.Items[0]
			return true
		})
		if parent, err := c[1].Inspector.Instance(t.Context(), id); err != nil || len(parent.Bookmarks) != 1 {
			t.Fatalf("parent %+v, %v", parent, err)
		} else if _, err := c[1].Bookmarks.ResumeBookmark(t.Context(), parent.Bookmarks[0].ID, nil, nil); workflow.CodeOf(err) != workflow.CodeBookmarkReserved {
			t.Errorf("a parent was resumed by hand: %v", err)
		}
		if child.Parent == nil || child.Parent.InstanceID != id {
			t.Fatalf("child %+v", child)
		}
		var err error
		switch end {
		case "finish":
			c[2].Event("end", child.CorrelationID, nil)
		case "cancel":
			_, err = c[2].Commands.Cancel(t.Context(), child.ID, nil)
		case "delete":
			_, err = c[2].Commands.Delete(t.Context(), child.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		c[1].Finished(id)
		if l := c[1].Lines(id); len(l) != 1 {
			t.Errorf("%s: told %d times", end, len(l))
		}
	}
}
