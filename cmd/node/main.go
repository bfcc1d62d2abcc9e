// Command node is [cmd/weft] under the name that it had first.
//
//	go run ./cmd/node --definitions examples
//
// [cmd/weft]: https://pkg.go.dev/github.com/weft-run/weft/cmd/weft
package main

import "github.com/weft-run/weft/internal/people/command"

func main() { command.Main() }
