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
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weft-run/weft/internal/heapfloor"
	"github.com/weft-run/weft/internal/people/command/ask"
)

// Main is the whole program.
func Main() {
	// Dates in scripts must not depend on the machine that happens to run them.
	time.Local = time.UTC
	heapfloor.Keep()
	cmd := newCommand(os.Stdout, os.Stderr, os.Environ)
	err := cmd.ExecuteContext(context.Background())
	if text := cmd.Annotations[helpedWith]; err == nil && text != "" {
		err = &usageError{errors.New(text)}
	}
	os.Exit(code(err, os.Stderr))
}

// code says an error, and gives what the program ends with: 1 for a node that could not run,
// and for the commands that ask a cluster what they say.
func code(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "weft:", text)
	}
	var wrong *usageError
	if errors.As(err, &wrong) {
		return ask.ExitUsage
	}
	if n, ok := ask.ExitCode(err); ok {
		return n
	}
	return 1
}
