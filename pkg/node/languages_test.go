package node_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// scripted uses JavaScript, each time in another place; none of them is an input.
var scripted = map[string]string{
	"s-waits":  "id: s-waits\nroot:\n  - event: go\n  - runJavaScript: 1 + 1\n",
	"s-timed":  "id: s-timed\nroot:\n  - delay: 1s\n  - switch:\n      - when: {javascript: 'true'}\n        then: {writeLine: x}\n",
	"s-parent": "id: s-parent\nroot:\n  - executeWorkflow: {workflowDefinitionId: s-child, waitForCompletion: true}\n  - writeLine: heard\n",
	"s-child":  "id: s-child\noutputs:\n  x: {javascript: '1 + 1'}\nroot:\n  - writeLine: x\n",
}

// A node without JavaScript refuses to publish what uses it, also from its directory,
// with the place. What a node with it published it leaves to that one: no attempt is
// counted, nothing is dead, nothing is an incident. While there is none, calls are
// refused with what is missing, and what was accepted waits.
func TestANodeWithoutJavaScriptLeavesItToOthers(t *testing.T) {
	t.Parallel()
	etcd, name := clustertest.Shared(t), clustertest.Namespace(t)
	dir, log := t.TempDir(), &syncBuffer{}
	for id, source := range map[string]string{"bad": "id: bad\nroot:\n  - writeLine: {javascript: '1'}\n", "good": "id: good\nroot:\n  - writeLine: \"${{ 1 + 1 }}\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, id+".yaml"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	off := start(t, node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "off", JavaScript: node.JavaScriptOff, Definitions: dir, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if status, v := call(t, off, "POST", "/api/v1/definitions/good/execute", "{}"); status != 200 || v["status"] != "Finished" {
		t.Errorf("without JavaScript: %d %v", status, v)
	}
	if status, _ := call(t, off, "GET", "/api/v1/definitions/bad", ""); status != 404 || !strings.Contains(log.String(), "--javascript=off") {
		t.Errorf("a definition of the directory with JavaScript: %d, %s", status, log.String())
	}
	for id, source := range scripted {
		if id == "s-parent" {
			continue // itself has none
		}
		status, v := call(t, off, "POST", "/api/v1/definitions", source)
		if said := fmt.Sprint(v); status != 422 || !strings.Contains(said, "unsupported-expression") || !strings.Contains(said, "--javascript=off") || !strings.Contains(said, "line:") {
			t.Errorf("publish %s: %d %v", id, status, v)
		}
	}
	cfg := node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "on"}
	on := build(t, cfg)
	if err := on.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"s-child", "s-waits", "s-timed", "s-parent"} {
		if status, v := call(t, on, "POST", "/api/v1/definitions", scripted[id]); status != 201 {
			t.Fatalf("publish %s: %d %v", id, status, v)
		}
	}
	polltest.Eventually(t, "they know each other", func() bool {
		_, v := call(t, off, "GET", "/api/v1/nodes", "")
		return len(v["items"].([]any)) == 2
	})
	// All work comes by the node without, and is done.
	for _, def := range []string{"s-waits", "s-timed", "s-parent"} {
		if status, v := call(t, off, "POST", "/api/v1/definitions/"+def+"/execute", fmt.Sprintf(`{"instanceId": "%s-1", "correlationId": "%s-1"}`, def, def)); status != 200 && status != 202 {
			t.Errorf("start %s: %d %v", def, status, v)
		}
	}
	send := func(id string) (int, map[string]any) {
		return call(t, off, "POST", "/api/v1/events/go", fmt.Sprintf(`{"correlationId": "%s"}`, id))
	}
	waits := func(id string) func() bool {
		return func() bool {
			_, v := call(t, off, "GET", "/api/v1/instances/"+id, "")
			marks, _ := v["bookmarks"].([]any)
			return len(marks) == 1
		}
	}
	polltest.Eventually(t, "the first waits", waits("s-waits-1"))
	if status, v := send("s-waits-1"); status != 200 && status != 202 {
		t.Errorf("event: %d %v", status, v)
	}
	ended := func(id string) {
		t.Helper()
		polltest.Eventually(t, id+" ends", func() bool {
			status, v := call(t, off, "GET", "/api/v1/instances/"+id, "")
			if incidents, _ := v["incidents"].([]any); len(incidents) > 0 {
				t.Fatalf("%s: %v", id, incidents)
			}
			return status == 200 && v["status"] == "Finished"
		})
	}
	for _, id := range []string{"s-waits-1", "s-timed-1", "s-parent-1"} {
		ended(id)
	}
	left := func(n int) func() bool {
		return func() bool {
			return strings.Contains(scraped(t, off.HTTPAddr()), fmt.Sprintf("\nweft_not_runnable_instances %d\n", n))
		}
	}
	polltest.Eventually(t, "nothing is left to others", left(0))
	// While there is no node with it, what was accepted waits.
	for _, id := range []string{"s-waits-2", "s-timed-2"} {
		if status, v := call(t, on, "POST", "/api/v1/definitions/"+id[:7]+"/dispatch", fmt.Sprintf(`{"instanceId": "%s", "correlationId": "%s"}`, id, id)); status != 202 {
			t.Errorf("dispatch %s: %d %v", id, status, v)
		}
		polltest.Eventually(t, id+" waits", waits(id))
	}
	if err := on.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "there is nobody else", func() bool {
		_, v := call(t, off, "GET", "/api/v1/nodes", "")
		return len(v["items"].([]any)) == 1
	})
	for what, path := range map[string]string{"a start": "/api/v1/definitions/s-child/execute", "an event": "/api/v1/events/go"} {
		status, v := call(t, off, "POST", path, `{"correlationId": "s-waits-2"}`)
		if status != 503 || v["code"] != "not-runnable-here" || !strings.Contains(fmt.Sprint(v), "expression:JavaScript") {
			t.Errorf("%s that nobody can run: %d %v", what, status, v)
		}
	}
	polltest.Eventually(t, "the timer has fired and is left alone", left(1))
	if _, v := call(t, off, "GET", "/api/v1/instances/s-timed-2", ""); v["status"] != "Running" || len(v["incidents"].([]any)) > 0 {
		t.Errorf("while nobody can run it: %v", v)
	}
	start(t, cfg)
	if status, v := send("s-waits-2"); status != 200 && status != 202 {
		t.Errorf("event: %d %v", status, v)
	}
	ended("s-waits-2")
	ended("s-timed-2")
	if _, v := call(t, off, "GET", "/api/v1/dead-letters", ""); len(v["items"].([]any)) > 0 {
		t.Errorf("dead letters: %v", v)
	}
}
