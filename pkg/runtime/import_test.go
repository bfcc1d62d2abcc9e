package runtime_test

import (
	"strings"
	"testing"
	"time"

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
		before, err := m.Inspector.Export(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		return m, before, kid
	}
	waitsAfter := func(t *testing.T, m *member) {
		t.Helper()
		eventually(t, "the parent was told", func() bool {
			i, err := m.Inspector.Instance(t.Context(), "p")
			return err == nil && len(i.Bookmarks) == 1 && i.Bookmarks[0].Name == "after"
		})
	}
	for name, end := range map[string]func(t *testing.T, m *member, kid string){
		"that finished": func(t *testing.T, m *member, _ string) { m.Event("end", "kid", nil) },
		"that was cancelled": func(t *testing.T, m *member, kid string) {
			if _, err := m.Commands.Cancel(t.Context(), kid, nil); err != nil {
				t.Fatal(err)
			}
		},
		"that is gone": func(t *testing.T, m *member, kid string) {
			if _, err := m.Commands.Delete(t.Context(), kid); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, before, kid := begin(t)
			end(t, m, kid)
			waitsAfter(t, m)
			if _, err := m.Commands.Import(t.Context(), "p", before, 0); err != nil {
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
		if _, err := m.Commands.Import(t.Context(), "p", before, 0); err != nil {
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
		if _, err := m.Commands.Delete(t.Context(), kid); err != nil {
			t.Fatal(err)
		}
		m.Start("kid", kid, "other") // of that id, and nobody's child
		_, err := m.Commands.Import(t.Context(), "p", before, 0)
		if workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), kid) {
			t.Errorf("%v", err)
		}
	})
}

// What was exported can come back after the instance was deleted, and in a cluster that never had it: it waits where it
// waited, once, with its variables and its past.
func TestAnImportBringsAnInstance(t *testing.T) {
	t.Parallel()
	const waits = "id: order\nvariables:\n  n: {type: number, default: 1}\nroot:\n  - setVariable: {variable: n, value: \"${{ variables.n + 1 }}\"}\n  - event: paid\n  - delay: 1ms\n  - writeLine: \"paid ${{ variables.n }}\"\n"
	export := func(t *testing.T, m *member, id string) runtime.StateExport {
		t.Helper()
		s, err := m.Inspector.Export(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	goesOn := func(t *testing.T, m *member) {
		t.Helper()
		if s := m.Event("paid", "c", nil); len(s.Outcomes) != 1 {
			t.Errorf("%+v", s)
		}
		if i := m.Finished("o"); i.SubStatus != workflow.Finished || i.CorrelationID != "c" {
			t.Errorf("%+v", i)
		}
		if lines := m.Lines("o"); strings.Join(lines, ",") != "paid 2" {
			t.Errorf("%q", lines)
		}
		m.Sound()
	}
	t.Run("after a delete", func(t *testing.T) {
		t.Parallel()
		m := newCluster(t, 1)[0]
		m.Publish(waits)
		m.Start("order", "o", "c")
		was := export(t, m, "o")
		if _, err := m.Commands.Delete(t.Context(), "o"); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Commands.Import(t.Context(), "o", was, was.Sequence); workflow.CodeOf(err) != workflow.CodeInstanceMoved {
			t.Errorf("only if it has not moved: %v", err)
		}
		if _, err := m.Commands.Import(t.Context(), "o", was, 0); err != nil {
			t.Fatal(err)
		}
		goesOn(t, m)
	})
	t.Run("into another cluster", func(t *testing.T) {
		t.Parallel()
		from, to := newCluster(t, 1)[0], newCluster(t, 1)[0]
		from.Publish(waits)
		from.Start("order", "o", "c")
		was := export(t, from, "o")
		if _, err := to.Commands.Import(t.Context(), "o", was, 0); workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
			t.Errorf("without its definition: %v", err)
		}
		if _, err := to.Inspector.Instance(t.Context(), "o"); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
			t.Errorf("what was refused left something: %v", err)
		}
		to.Publish(waits)
		if _, err := to.Commands.Import(t.Context(), "o", was, 0); err != nil {
			t.Fatal(err)
		}
		goesOn(t, to)
	})
	t.Run("with its children, which come first", func(t *testing.T) {
		t.Parallel()
		from, to := newCluster(t, 1)[0], newCluster(t, 1)[0]
		for _, m := range []*member{from, to} {
			m.Publish("id: kid\nroot:\n  - event: end\n", importedParent)
		}
		from.Start("parent", "p", "")
		kid := from.Running("kid")
		parent, child := export(t, from, "p"), export(t, from, kid)
		if _, err := to.Commands.Import(t.Context(), "p", parent, 0); workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), "import "+kid+" first") {
			t.Errorf("%v", err)
		}
		for id, s := range map[string]runtime.StateExport{kid: child} {
			if _, err := to.Commands.Import(t.Context(), id, s, 0); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := to.Commands.Import(t.Context(), "p", parent, 0); err != nil {
			t.Fatal(err)
		}
		to.Event("end", "kid", nil)
		eventually(t, "the parent was told", func() bool {
			i, err := to.Inspector.Instance(t.Context(), "p")
			return err == nil && len(i.Bookmarks) == 1 && i.Bookmarks[0].Name == "after"
		})
		to.Sound()
	})
	t.Run("that takes its gate, or waits for nobody", func(t *testing.T) {
		t.Parallel()
		m := newCluster(t, 1)[0]
		m.Publish("id: single\noptions: {activation: Singleton}\nroot:\n  - event: end\n")
		m.Start("single", "one", "")
		was := export(t, m, "one")
		if _, err := m.Commands.Delete(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		m.Start("single", "two", "")
		if _, err := m.Commands.Import(t.Context(), "one", was, 0); workflow.CodeOf(err) != workflow.CodeInstanceGated || !strings.Contains(err.Error(), "two") {
			t.Errorf("another runs: %v", err)
		}
		if _, err := m.Inspector.Instance(t.Context(), "one"); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
			t.Errorf("it was brought beside another: %v", err)
		}
		if _, err := m.Commands.Cancel(t.Context(), "two", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Commands.Import(t.Context(), "one", was, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "single", InstanceID: "three"}); workflow.CodeOf(err) != workflow.CodeInstanceGated {
			t.Errorf("a start beside one that was imported: %v", err)
		}
		m.Sound()
	})
}

// An import is refused for a time that no key keeps in order, and says which one it is; up to the year 9999 a timer is kept.
func TestAnImportIsRefusedForATimeThatNoKeyKeepsInOrder(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: waits\nroot:\n  - delay: 1h\n")
	m.Start("waits", "i", "")
	at := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		what string
		set  func(*workflow.Instance)
	}{
		{"instance.createdAt", func(in *workflow.Instance) { in.CreatedAt = at("1969-12-31T23:59:59Z") }},
		{"instance.createdAt", func(in *workflow.Instance) { in.CreatedAt = at("2287-01-01T00:00:00Z") }},
		{"instance.createdAt", func(in *workflow.Instance) { in.CreatedAt = time.Time{} }},
		{"instance.finishedAt", func(in *workflow.Instance) { in.FinishedAt = new(at("0000-01-01T00:00:00Z")) }},
		{"instance.bookmarks[0].createdAt", func(in *workflow.Instance) { in.Bookmarks[0].CreatedAt = at("1960-01-01T00:00:00Z") }},
		{"instance.bookmarks[0].dueAt", func(in *workflow.Instance) { in.Bookmarks[0].DueAt = new(at("9999-12-31T23:59:59-12:00")) }},
		{"", func(in *workflow.Instance) { in.Bookmarks[0].DueAt = new(at("9999-12-31T23:59:59Z")) }},
		{"", func(in *workflow.Instance) { in.Bookmarks[0].DueAt = new(at("2300-01-01T00:00:00Z")) }},
	} {
		state, err := m.Inspector.Export(t.Context(), "i")
		if err != nil {
			t.Fatal(err)
		}
		c.set(&state.Instance)
		_, err = m.Commands.Import(t.Context(), "i", state, 0)
		if c.what == "" {
			page, lerr := m.Inspector.Timers(t.Context(), "", 10)
			if err != nil || lerr != nil || len(page.Items) != 1 || !page.Items[0].DueAt.Equal(*state.Instance.Bookmarks[0].DueAt) {
				t.Errorf("%v, %v: %+v", err, lerr, page.Items)
			}
			continue
		}
		if workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), c.what) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// An import is held to what starts are, and brings no place that nothing could meet.
func TestAnImportIsHeldToTheLimitsOfStarts(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: waits\nroot:\n  parallel:\n    - delay: 1h\n    - event: go\n    - runTask: pack\n    - {event: stay, retry: {attempts: 2}}\n")
	m.Start("waits", "i", "")
	for want, set := range map[string]func(*workflow.Instance){
		"":                                      func(*workflow.Instance) {},
		"instance.correlationId may have up to": func(in *workflow.Instance) { in.CorrelationID = strings.Repeat("x", 300) },
		"instance.name may have up to":          func(in *workflow.Instance) { in.Name = strings.Repeat("x", 5000) },
		"one that has not ended has none":       func(in *workflow.Instance) { in.FinishedAt = new(time.Now()) },
		"is not that of its activityType":       func(in *workflow.Instance) { in.Bookmarks[1].Hash = in.Bookmarks[2].Hash },
		"nothing would meet it":                 func(in *workflow.Instance) { in.Bookmarks[1].Payload = map[string]any{"eventName": "other"} },
	} {
		state, err := m.Inspector.Export(t.Context(), "i")
		if err != nil {
			t.Fatal(err)
		}
		set(&state.Instance)
		_, err = m.Commands.Import(t.Context(), "i", state, 0)
		if want == "" && err != nil || want != "" && (workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	m.Sound()
}
