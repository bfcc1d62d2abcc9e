package main

import (
	"fmt"
	"os"
	"testing"
)

// The tests start etcd and nodes as the program does: as processes of this binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
