package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/node"
)

var shared = nodetest.Shared{Config: node.Config{NodeID: "node-1"}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func TestItPacks(t *testing.T) {
	t.Parallel()
	server := nodetest.Address(shared.Node(t))
	client, err := apiclient.New(apiclient.Config{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	parcel, err := os.ReadFile("../../parcel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.PublishDefinition(t.Context(), parcel, apiclient.PublishDefinitionQuery{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, server) }()
	for items, want := range map[int]string{0: "Faulted map[]", 3: "Finished map[boxes:2]", 40: "Finished map[boxes:20]"} {
		got, err := client.ExecuteDefinition(t.Context(), "parcel", apiclient.StartRequest{Input: map[string]any{"items": make([]string, items)}}, apiclient.WaitUpTo(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if is := fmt.Sprint(got.Body.SubStatus, " ", got.Body.Output); is != want {
			t.Errorf("%d items: %s", items, is)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
