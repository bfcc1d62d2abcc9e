package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// elsaInstance is an exported instance that waits at the one activity that has begun in a sequence, in the shape of elsa-core's
// ExportedWorkflowState.
func elsaInstance(id, definition, activity, payload, properties string) string {
	return fmt.Sprintf(`{"WorkflowState": {"$id": "1", "id": %[1]q, "definitionId": %[2]q, "definitionVersion": 1, "status": "Running", "subStatus": "Suspended", "isExecuting": false,
 "bookmarks": {"$id": "2", "$values": [{"$id": "3", "id": "b", "name": "x", "hash": "h", "payload": %[4]s, "activityId": %[3]q, "activityInstanceId": "c3", "createdAt": "2026-11-29T10:00:00+00:00"}]},
 "activityExecutionContexts": {"$id": "4", "$values": [
  {"$id": "5", "id": "c1", "scheduledActivityNodeId": "Workflow1", "properties": {}, "status": "Running"},
  {"$id": "6", "id": "c2", "parentContextId": "c1", "scheduledActivityNodeId": "Workflow1:root", "properties": {"CurrentIndex": 1}, "status": "Running"},
  {"$id": "7", "id": "c3", "parentContextId": "c2", "scheduledActivityNodeId": "Workflow1:root:%[3]s", "properties": {}, "status": "Running"}]},
 "properties": {%[5]s}, "createdAt": "2026-11-29T09:00:00+00:00", "updatedAt": "2026-11-29T10:00:00+00:00"}, "Bookmarks": null}`, id, definition, activity, payload, properties)
}

// Instances that Elsa exported go on in Weft: a parent and the child that it waits for, and one whose time has come.
func TestMigrateElsaInstances(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.file("exports/kid.json", elsaSequence("mig-kid", 1, `{"type": "Elsa.Event", "version": 1, "id": "wait", "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "mig-go"}}}, `+elsaLine))
	parent := u.file("exports/parent.json", elsaSequence("mig-parent", 1, `{"type": "Elsa.ExecuteWorkflow", "version": 1, "id": "wait", "workflowDefinitionId": {"typeName": "String", "expression": {"type": "Literal", "value": "mig-kid"}}, "waitForCompletion": {"typeName": "Boolean", "expression": {"type": "Literal", "value": true}}}, `+elsaLine))
	u.file("exports/late.json", elsaSequence("mig-late", 1, `{"type": "Elsa.Delay", "version": 1, "id": "wait", "timeSpan": {"typeName": "TimeSpan", "expression": {"type": "Literal", "value": "00:10:00"}}}, `+elsaLine))
	dir, moved := filepath.Dir(parent), filepath.Join(u.home, "moved")
	u.file("exports/instances.zip", zipped(t,
		"parent.json", elsaInstance("mig-p1", "mig-parent", "wait", `{"childInstanceId": "mig-k1", "_type": "ExecuteWorkflowStimulus"}`, ""),
		"kid.json", elsaInstance("mig-k1", "mig-kid", "wait", `{"eventName": "mig-go"}`, `"ParentInstanceId": "mig-p1", "WaitForCompletion": true`),
		"late.json", elsaInstance("mig-l1", "mig-late", "wait", `{"resumeAt": "2026-11-29T10:10:00+00:00"}`, ""),
		"done.json", strings.Replace(elsaInstance("mig-d1", "mig-late", "wait", `{}`, ""), "Suspended", "Finished", 1)))
	if got := u.wants(0, "*", "migrate", "elsa", dir); !strings.Contains(got.out, "instances.zip/parent.json: is left alone: it is an instance: --instances DIRECTORY") {
		t.Errorf("%s", got.out)
	}
	in := func(name string) string { return filepath.Join(moved, name+".json") }
	got := u.wants(0, "*", "migrate", "elsa", dir, "--instances", moved)
	for _, want := range []string{
		"3 run unchanged, 0 run with differences, 0 refused\n",
		"/instances.zip/parent.json: instance mig-p1 of mig-parent goes on here; written as " + in("mig-p1") + "\n",
		"/instances.zip/done.json: instance mig-d1 of mig-late has ended, and is left\n",
		"3 instances go on, 0 are refused, 1 have ended\n",
		"    weft instances import mig-k1 " + in("mig-k1") + " --yes\n    weft instances import mig-p1 " + in("mig-p1") + " --yes\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	if info := must(os.Stat(in("mig-p1"))); info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %s", info.Mode())
	}
	u.refuses(2, "is there already; nothing was written", "migrate", "elsa", dir, "--instances", moved)

	u.wants(0, "*", "apply", dir)
	for _, id := range []string{"mig-k1", "mig-p1", "mig-l1"} {
		u.wants(0, id+"  imported\n", "instances", "import", id, in(id), "--yes")
	}
	ends := func(id string) {
		t.Helper()
		polltest.Eventually(t, id+" ends", func() bool { return u.weft("instances", "get", id, "--jq", ".subStatus").out == "Finished\n" })
	}
	ends("mig-l1")
	u.wants(0, "Suspended\n", "instances", "get", "mig-p1", "--jq", ".subStatus")
	u.wants(0, "*", "events", "send", "mig-go")
	for _, id := range []string{"mig-k1", "mig-p1", "mig-l1"} {
		ends(id)
		if got := u.wants(0, "*", "instances", "journal", id); strings.Count(got.out, "WriteLine") != 1 {
			t.Errorf("%s: %s", id, got.out)
		}
	}

	// A family moves together, or not at all.
	lonely := u.file("lonely/kid.json", elsaInstance("mig-k2", "mig-kid", "wait", `{"eventName": "mig-go"}`, `"ParentInstanceId": "mig-p2", "WaitForCompletion": true`))
	for name, c := range map[string]struct{ file, says string }{
		"a parent without its child": {elsaInstance("mig-p3", "mig-parent", "wait", `{"childInstanceId": "mig-k3"}`, ""), "mig-k3, which is not among the files"},
		"a child that is refused":    {elsaInstance("mig-p2", "mig-parent", "gone", `{"childInstanceId": "mig-k2"}`, ""), "none of that id there"},
		"another version":            {strings.Replace(elsaInstance("mig-o1", "mig-late", "wait", `{}`, ""), `"definitionVersion": 1`, `"definitionVersion": 2`, 1), "migrate it in Elsa"},
		"no definition":              {elsaInstance("mig-n1", "mig-nobody", "wait", `{}`, ""), "is not among the files"},
		"no state":                   {`{"WorkflowState": {"id": "x"}}`, "could not be read"},
	} {
		src := u.file("lonely/other.json", c.file)
		got := u.wants(1, "*", "migrate", "elsa", dir, lonely, src, "--instances", filepath.Join(u.home, strings.ReplaceAll(name, " ", "-")))
		if !strings.Contains(got.out, c.says) || !strings.Contains(got.out, "instance mig-k2 of mig-kid is refused: mig-p2 waits for its end") {
			t.Errorf("%s:\n%s", name, got.out)
		}
	}
	u.wants(1, "refused mig-k2\n", "migrate", "elsa", parent, filepath.Join(dir, "kid.json"), lonely, "--instances", filepath.Join(u.home, "none"), "--jq", `.instances[] | "\(.verdict) \(.instance)"`)
}
