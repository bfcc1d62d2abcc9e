package runtime_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const importedParent = `
id: parent
root:
  - executeWorkflow: {workflowDefinitionId: kid, correlationId: kid, waitForCompletion: true}
  - writeLine: told
  - event: after
`

// An import can bring a parent back to before the end of its child, which told it then. It is told again, whatever
// became of the child, and goes on; one that runs and is another's is named.
func TestAnImportedParentHearsOfItsChildren(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*member, runtime.StateExport, string) {
		m := newCluster(t, 1)[0]
		m.Publish("id: kid\nroot:\n  - event: end\n", importedParent)
		m.Start("parent", "p", "")
		kid := m.Running("kid")
		before, err := m.Export(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		return m, before, kid
	}
	waitsAfter := func(t *testing.T, m *member) {
		t.Helper()
		eventually(t, "the parent was told", func() bool {
			i, err := m.Instance(t.Context(), "p")
			return err == nil && len(i.Bookmarks) == 1 && i.Bookmarks[0].Name == "after"
		})
	}
	for name, end := range map[string]func(t *testing.T, m *member, kid string){
		"that finished": func(t *testing.T, m *member, _ string) { m.Event("end", "kid", nil) },
		"that was cancelled": func(t *testing.T, m *member, kid string) {
			if _, err := m.Cancel(t.Context(), kid); err != nil {
				t.Fatal(err)
			}
		},
		"that is gone": func(t *testing.T, m *member, kid string) {
			if _, err := m.Delete(t.Context(), kid); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, before, kid := begin(t)
			end(t, m, kid)
			waitsAfter(t, m)
			if _, err := m.Import(t.Context(), "p", before, 0); err != nil {
				t.Fatal(err)
			}
			waitsAfter(t, m)
			m.Event("after", "", nil)
			if i := m.Finished("p"); i.SubStatus != workflow.Finished {
				t.Errorf("%+v", i)
			}
			if lines := m.Lines("p"); strings.Join(lines, ",") != "told,told" {
				t.Errorf("%q", lines)
			}
			m.Sound()
		})
	}
	t.Run("that still runs", func(t *testing.T) {
		t.Parallel()
		m, before, _ := begin(t)
		if _, err := m.Import(t.Context(), "p", before, 0); err != nil {
			t.Fatal(err)
		}
		m.Event("end", "kid", nil)
		waitsAfter(t, m)
		if lines := m.Lines("p"); strings.Join(lines, ",") != "told" {
			t.Errorf("%q", lines)
		}
		m.Sound()
	})
	t.Run("that is another's", func(t *testing.T) {
		t.Parallel()
		m, before, kid := begin(t)
		m.Event("end", "kid", nil)
		waitsAfter(t, m)
		if _, err := m.Delete(t.Context(), kid); err != nil {
			t.Fatal(err)
		}
		m.Start("kid", kid, "other") // of that id, and nobody's child
		_, err := m.Import(t.Context(), "p", before, 0)
		if workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), kid) {
			t.Errorf("%v", err)
		}
	})
}
