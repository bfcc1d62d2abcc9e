package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/internal/people/command/ask"
)

// newHelpCommand is weft help: of a command, or with --json of it and all below it, for programs.
func newHelpCommand(stdout io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command; with --json all of it, and what is below it, for programs",
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 {
				return &usageError{fmt.Errorf("there is no command %q; weft --help lists them", args)}
			}
			if !asJSON {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			enc := json.NewEncoder(stdout)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(programHelp{ExitCodes: meanings(), commandHelp: helpOf(found)})
		},
	}
	cmd.Flags().BoolVar(&asJSON, jsonFlag, false, "as JSON: commands, arguments, flags, exit codes")
	return cmd
}

// programHelp is what weft help --json gives.
type programHelp struct {
	commandHelp
	ExitCodes map[int]string `json:"exitCodes"`
}

type commandHelp struct {
	Command  string        `json:"command"` // with those above it
	Use      string        `json:"use"`
	Aliases  []string      `json:"aliases,omitempty"`
	Short    string        `json:"short"`
	Long     string        `json:"long,omitempty"`
	Example  string        `json:"example,omitempty"`
	Flags    []flagHelp    `json:"flags"` // those of the commands above it that say below count too
	Commands []commandHelp `json:"commands,omitempty"`
}

type flagHelp struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Type      string `json:"type"`
	Default   string `json:"default,omitempty"`
	Usage     string `json:"usage"`
	Below     bool   `json:"below,omitempty"` // it is of the commands below too
}

func meanings() map[int]string {
	out := map[int]string{}
	for _, c := range ask.ExitCodes {
		out[c.Code] = c.Means
	}
	return out
}

func helpOf(cmd *cobra.Command) commandHelp {
	h := commandHelp{Command: cmd.CommandPath(), Use: cmd.UseLine(), Aliases: cmd.Aliases, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example, Flags: []flagHelp{}}
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			h.Flags = append(h.Flags, flagHelp{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage, cmd.HasSubCommands() && cmd.PersistentFlags().Lookup(f.Name) != nil})
		}
	})
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			h.Commands = append(h.Commands, helpOf(sub))
		}
	}
	return h
}
