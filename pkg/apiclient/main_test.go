package apiclient_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/node"
)

// One node with an etcd of its own serves the tests of this package.
var shared struct {
	sync.Once
	node *node.Node
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.node != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := shared.node.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "stop the shared node:", err)
			code = 1
		}
		cancel()
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// startShared gives the address of the node.
func startShared() (string, error) {
	shared.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "weft-apiclient-"); shared.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		shared.node, shared.err = node.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: shared.dir, NodeID: "node-1", ReplyWait: time.Minute})
		if shared.err == nil {
			shared.err = shared.node.Start(ctx)
		}
	})
	if shared.err != nil {
		return "", shared.err
	}
	return "http://" + shared.node.HTTPAddr(), nil
}

func sharedServer(t testing.TB) string {
	t.Helper()
	address, err := startShared()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func newClient(t testing.TB, cfg apiclient.Config) *apiclient.Client {
	t.Helper()
	c, err := apiclient.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
