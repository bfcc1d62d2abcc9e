package etcdstore

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestAClusterOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	client := clustertest.Start(t).Client(t)
	s, err := New(Config{Client: client, Root: "/weft/" + clustertest.Namespace(t) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.CheckFormat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Put(t.Context(), s.keys.format(), `{"version":2,"shards":64,"timerShards":16}`); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckFormat(t.Context()); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("got %v", err)
	}
}
