// Command example is a worker for Weft in a few lines of Go: it does the tasks named "pack" of a workflow, four at once.
//
//	WEFT_SERVER=http://127.0.0.1:8080 go run ./clients/worker/example
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/weft-run/weft/clients/worker"
	"github.com/weft-run/weft/pkg/apiclient"
)

// order is what the workflow says of an order.
type order struct{ Items []string }

func pack(_ context.Context, t *worker.Task) (any, error) {
	var o order
	if err := t.Decode(&o); err != nil || len(o.Items) == 0 {
		return nil, &worker.FailureError{Kind: "nothing-to-pack", Message: "the order has no items"}
	}
	return map[string]any{"boxes": (len(o.Items) + 1) / 2}, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("WEFT_SERVER")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string) error {
	client, err := apiclient.New(apiclient.Config{Server: server, Token: os.Getenv("WEFT_TOKEN")})
	if err != nil {
		return err
	}
	return worker.Run(ctx, client, worker.Handlers{"pack": pack}, worker.Config{Max: 4})
}
