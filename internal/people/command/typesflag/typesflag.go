// Package typesflag is the flag --activities of commands that know activity types without a node.
//
// Guaranteed: what it reads is refused as a node refuses it at its start. Not guaranteed: that the nodes have the same files.
package typesflag

import (
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/engine"
)

// Add adds the flag, whose value is then in dir.
func Add(fs *pflag.FlagSet, dir *string) {
	fs.StringVar(dir, "activities", "", "directory of files that declare activity types which workers do, as that of a node")
}

// Types are the built-in activity types and those that the files of a directory declare; "": there is none. An error has an exit code.
func Types(dir string) (*engine.Registry, error) {
	r := activities.Default()
	if dir == "" {
		return r, nil
	}
	if err := declared.Add(r, dir); err != nil {
		return nil, ask.Exit(ask.ExitBad, err)
	}
	return r, nil
}
