package command

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each command says which arguments it takes, and refuses a flag that it does not have: what is typed is not left out.
func TestEachCommandSaysWhatItTakes(t *testing.T) {
	t.Parallel()
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if n++; c.Runnable() && c.Args == nil && !c.HasSubCommands() && !slices.Contains([]string{"help", "completion", "__complete"}, c.Name()) {
			t.Errorf("%s takes any arguments and may leave them out", c.CommandPath())
		}
		if c.DisableFlagParsing || c.FParseErrWhitelist.UnknownFlags {
			t.Errorf("%s takes any flags", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := newCommand(io.Discard, io.Discard, func() []string { return nil })
	walk(root)
	if n < 50 || !strings.HasPrefix(root.Use, "weft") {
		t.Errorf("%d commands", n)
	}
}
