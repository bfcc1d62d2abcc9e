package remote_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All of a correlation goes, what runs and what waits, and nothing of others; the receipt names it and has nothing of what stood in it.
func TestEraseACorrelation(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("a.yaml", "id: erase\ninputs: {name: {type: string}}\nroot:\n  - if: ${{ inputs.name == 'waits' }}\n    then:\n      - event: erase-go\n"))
	for id, correlation := range map[string]string{"er-1": "c-4711", "er-2": "c-4711", "er-other": "c-4712"} {
		u.wants(0, "*", "run", "erase", "--id", id, "--correlation", correlation, "-i", "name=secret-of-"+id)
	}
	u.wants(0, "*", "run", "erase", "--id", "er-waits", "--correlation", "c-4711", "-i", "name=waits")
	u.wants(0, "*", "events", "send", "erase-nobody", "--correlation", "c-4711", "-d", `"secret-of-event"`)
	u.refuses(2, "say whose", "erase")
	u.refuses(2, "say --yes", "erase", "--correlation", "c-4711")
	const all = "3 instances (0 of them in the archive), 1 events of the queue, 0 dead letters\n"
	u.wants(0, "would erase "+all, "erase", "--correlation", "c-4711", "--dry-run")
	file := filepath.Join(t.TempDir(), "receipt.json")
	u.wants(0, "erased "+all, "erase", "--correlation", "c-4711", "--receipt", file, "--yes")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var receipt struct {
		Ended     string
		Instances []struct{ InstanceID string }
		Queued    []string
	}
	if err := json.Unmarshal(raw, &receipt); err != nil || receipt.Ended == "" || len(receipt.Instances) != 3 || len(receipt.Queued) != 1 || strings.Contains(string(raw), "secret-of") {
		t.Errorf("%v: %s", err, raw)
	}
	for _, id := range []string{"er-1", "er-2", "er-waits"} {
		u.refuses(3, "there is no instance", "instances", "get", id)
	}
	u.wants(0, "*", "instances", "get", "er-other")
	u.wants(0, "erased 0 instances (0 of them in the archive), 0 events of the queue, 0 dead letters\n", "erase", "--correlation", "c-4711", "--yes")
	u.wants(0, "0\n", "erase", "--correlation", "c-4711", "--dry-run", "--jq", ".instances | length")
}
