// Package command is the program weft: it runs one node of a Weft cluster, and has the
// commands beside it.
//
// Guaranteed: every flag of the node is also an environment variable (--http-addr is
// WEFT_HTTP_ADDR) and a key of the configuration file, and the flag wins over
// the environment, the environment over the file, the file over the default. A
// key of the file that does not exist, or a value that makes no sense, ends the
// start with a message and exit code 1. Logs go to standard error; standard
// output carries only what WriteLine writes. The first SIGTERM or SIGINT drains
// the node and ends it with exit code 0, the second stops it at once.
//
// Not guaranteed: that environment variables are known. Others may begin with
// WEFT_ too, such as those that Kubernetes makes for a service called weft.
package command

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/weft-run/weft/internal/heapfloor"
)

// Main is the whole program.
func Main() {
	// Dates in scripts must not depend on the machine that happens to run them.
	time.Local = time.UTC
	heapfloor.Keep()
	if err := newCommand(os.Stdout, os.Stderr, os.Environ).ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "weft:", err)
		os.Exit(1)
	}
}
