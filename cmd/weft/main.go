// Command weft runs one node of a Weft cluster, and is the command line for all of it:
// weft --help has the commands.
//
//	go run ./cmd/weft --definitions examples
package main

import "github.com/weft-run/weft/internal/people/command"

func main() { command.Main() }
