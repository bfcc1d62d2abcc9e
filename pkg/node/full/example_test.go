package full_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// A program holds a node with everything: the console answers beside the API.
func Example() {
	if err := look(); err != nil {
		fmt.Println("failed:", err)
	}
	// Output:
	// /console/ 200
	// /api/v1/definitions 200
}

func look() (err error) {
	dir, err := os.MkdirTemp("", "weft-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := full.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop(ctx)) }()
	if err := n.Start(ctx); err != nil {
		return err
	}
	for _, path := range []string{"/console/", "/api/v1/definitions"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URL()+path, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		fmt.Println(path, res.StatusCode)
		if err := res.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}
