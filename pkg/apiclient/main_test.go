package apiclient_test

import (
	"os"
	"testing"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/node"
)

// One node with an etcd of its own serves the tests of this package.
var shared = nodetest.Shared{Config: node.Config{NodeID: "node-1"}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func sharedServer(t testing.TB) string {
	t.Helper()
	return nodetest.Address(shared.Node(t))
}

func newClient(t testing.TB, cfg apiclient.Config) *apiclient.Client {
	t.Helper()
	c, err := apiclient.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
