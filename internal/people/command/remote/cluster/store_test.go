package cluster

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// What fills etcd is shown with what to do, what an estimate may be wrong by, and what goes on growing.
func TestStoreShowsWhatFillsIt(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := commands{ask.New(ask.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, nil, "v", "c")}
	days := 2.5
	f := &apiclient.Filling{Bytes: 3 << 20, TookSeconds: 8, Store: apiclient.StoreMeter{InUse: 100 << 20, Allocated: 120 << 20, Quota: 190 << 20, DiskFree: 7 << 20, DiskSize: 80 << 20, Text: "etcd is nearly full: x", Advice: "y"},
		Kinds:       []apiclient.FillingKind{{Kind: "records", Keys: 7, Bytes: 2 << 20, Off: 10 << 10}},
		Definitions: []apiclient.FillingDefinition{{DefinitionID: "orders", Instances: 7, Bytes: 2 << 20}},
		Largest:     []apiclient.FillingInstance{{InstanceID: "i1", DefinitionID: "orders", Keys: 9, Bytes: 400 << 10}},
		Growth:      &apiclient.FillingGrowth{BytesADay: 10 << 20, OverSeconds: 3600, DaysLeft: &days}}
	if err := a.filling(f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"etcd is nearly full: x\ndo this: y\n", "3.0 MiB of keys and values; etcd has 100.0 MiB in use, 120.0 MiB allocated, quota 190.0 MiB", "its disk has 7.0 MiB free of 80.0 MiB\n", "some of it was read, in 8.0 s",
		"growth: 10.0 MiB a day", "starts are refused in 2.5 days", "2.0 MiB ± 10.0 KiB", "orders", "400.0 KiB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
