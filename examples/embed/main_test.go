package main

import (
	"context"
	"fmt"
	"os"
)

func Example() {
	dir, err := os.MkdirTemp("", "weft-embed-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Order o-1 goes as T-o-1
	// Finished T-o-1
}
