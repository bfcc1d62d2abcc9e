// Package waitflag has the flag --wait of the command line, which stands alone or has its duration in the same word or the
// next. It guarantees that a command is repeated with the duration that it had; it does not wait.
package waitflag

import (
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/internal/people/command/ask"
)

// Add adds --wait, which may stand for alone, or have a duration, also as the next word. Call it when Args and RunE are set.
func Add(cmd *cobra.Command, wait *time.Duration, alone time.Duration, usage string) {
	f := cmd.Flags()
	f.DurationVar(wait, "wait", 0, usage+" (alone: "+ask.Short(alone)+")")
	value := &waitValue{Value: f.Lookup("wait").Value, byItself: alone}
	f.Lookup("wait").Value, f.Lookup("wait").NoOptDefVal = value, byItself
	// A flag whose value may be left out takes none from the next word, so that it is among the arguments: it is
	// the first of them that is a duration and no file, where they are enough without it.
	check, run := cmd.Args, cmd.RunE
	split := func(c *cobra.Command, args []string) (rest []string, d time.Duration) {
		if !value.alone {
			return args, *wait
		}
		for i, arg := range args {
			d, err := time.ParseDuration(arg)
			if err != nil {
				continue
			}
			rest := slices.Delete(slices.Clone(args), i, i+1)
			if _, err := os.Stat(arg); err != nil && check(c, rest) == nil {
				return rest, d
			}
		}
		return args, *wait
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if f.Changed("wait") && *wait < 0 {
			return ask.Usage("--wait must not be below zero")
		}
		rest, _ := split(c, args)
		return check(c, rest)
	}
	cmd.RunE = func(c *cobra.Command, args []string) error {
		rest, d := split(c, args)
		value.word = len(rest) < len(args)
		*wait = d
		return run(c, rest)
	}
}

// byItself is the value of a --wait that has none.
const byItself = "alone"

// waitValue is a duration that knows whether it was given: --wait=30s, and not --wait.
type waitValue struct {
	pflag.Value

	byItself time.Duration
	alone    bool
	word     bool // it is a word of its own, among the arguments
}

// Without gives the arguments without the duration that is among them.
func (v *waitValue) Without(args []string) []string {
	i := slices.IndexFunc(args, func(arg string) bool {
		d, err := time.ParseDuration(arg)
		return err == nil && d.String() == v.String()
	})
	if !v.word || i < 0 {
		return args
	}
	return slices.Delete(slices.Clone(args), i, i+1)
}

func (v *waitValue) Set(text string) error {
	if v.alone = text == byItself; v.alone {
		text = v.byItself.String()
	}
	return v.Value.Set(text)
}
