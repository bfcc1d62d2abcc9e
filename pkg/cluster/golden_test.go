package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// What any program wrote of a node is read as it was meant, and written again as it
// was. The files stay as they are; a field that is new has a line and a file of its own.
func TestGoldenRecordsOfNodes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	for file, is := range map[string]any{
		"node": &Node{
			ID: "node-1", Process: "p1", Address: "10.0.0.1:8080", Version: "1.0.0", Program: "d1", Mode: "distributed", Epoch: 2, StartedAt: at, Clock: at.Add(time.Hour),
			Last: written{Revision: 42, Took: 3 * time.Millisecond}, LeaseID: "694d7a3f", Draining: true, Paused: true, PauseRevision: 41, CatalogRevision: 40,
		},
		"ability": &abilities{Can: []string{"Elsa.Event", "JavaScript"}},
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
