package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster/members"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// What any program wrote of a node or a lock is read as it was meant, and written again as it
// was. The files stay as they are; a field that is new has a line and a file of its own.
func TestGoldenRecordsOfNodes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	for file, is := range map[string]any{
		"node": &Node{
			ID: "node-1", Process: "p1", Address: "10.0.0.1:8080", Version: "1.0.0", Program: "d1", Mode: "distributed", Epoch: 2, StartedAt: at, Clock: at.Add(time.Hour),
			Last: members.Written{Revision: 42, Took: 3 * time.Millisecond}, LeaseID: "694d7a3f", Draining: true, Paused: true, PauseRevision: 41, CatalogRevision: 40, Reads: 1,
		},
		"ability": &abilities{Can: []string{"Elsa.Event", "JavaScript"}},
		"lock":    &mutex.Value{Node: "node-1", Name: "instance <i1> é", Since: at},
	} {
		stored, err := os.ReadFile(filepath.Join("testdata", "golden", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		stored = bytes.TrimSuffix(stored, []byte("\n"))
		got := reflect.New(reflect.TypeOf(is).Elem()).Interface()
		if err := json.Unmarshal(stored, got); err != nil || !reflect.DeepEqual(got, is) {
			t.Errorf("%s is %+v, %v; want %+v", file, got, err, is)
		}
		for i := range reflect.ValueOf(is).Elem().NumField() {
			if reflect.ValueOf(is).Elem().Field(i).IsZero() {
				t.Errorf("the field %s of %s is in no golden record", reflect.TypeOf(is).Elem().Field(i).Name, file)
			}
		}
		if again, err := json.Marshal(got); err != nil || !bytes.Equal(again, stored) {
			t.Errorf("%s is written as\n%s, %v\nand was\n%s", file, again, err, stored)
		}
	}
}

// Nodes of two versions take the same keys for a lock, or both would own it, and find each other.
func TestGoldenKeysOfLocksAndNodes(t *testing.T) {
	t.Parallel()
	for want, name := range map[string]Name{
		"/weft/c/lock/instance/a.B_9:-z/":                        InstanceLock("a.B_9:-z"),
		"/weft/c/lock/instance/07%21a%7Eb%2F%C3%A9%25/":          InstanceLock("07!a~b/é%"),
		"/weft/c/lock/refresh/all/":                              RefreshLock(nil),
		"/weft/c/lock/refresh/eff5b3c3f08e2cfbac29be669187ed8d/": RefreshLock([]string{"b", "a", "é", "b"}),
		"/weft/c/lock/reload/all/":                               ReloadLock(),
		"/weft/c/lock/queue/0/":                                  ShardLock(ScopeQueue, 0),
		"/weft/c/lock/timer/15/":                                 ShardLock(ScopeTimer, 15),
		"/weft/c/lock/mailbox/63/":                               ShardLock(ScopeMailbox, 63),
	} {
		if got := LockPrefix("/weft/c/", name); got != want {
			t.Errorf("%s lies at %s, and lay at %s", name, got, want)
		}
	}
	s := &Session{root: Root("c"), cfg: Config{NodeID: "n/1"}}
	if keys := []string{s.nodeKey(), s.abilityKey(), leaseHex(0x694d7a3f)}; !slices.Equal(keys, []string{"/weft/c/nodes/n%2F1", "/weft/c/ability/n%2F1", "694d7a3f"}) {
		t.Errorf("a node lies at %q", keys)
	}
}
