package command

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/weft-run/weft/internal/people/command/ask"
)

// newManCommand writes the man pages, for packages. Their date is that of the sources, so that
// they are the same whenever they are written.
func newManCommand(version string, environ func() []string) *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Hidden: true, Args: cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true,
		Short: "Write a man page for each command",
		RunE: func(cmd *cobra.Command, args []string) error {
			when, err := sourceDate(environ())
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			root.InitDefaultCompletionCmd()
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Weft " + version, Manual: "Weft", Date: &when}, args[0])
		},
	}
}

// sourceDate is SOURCE_DATE_EPOCH, in seconds since 1970; without it, that year.
func sourceDate(environ []string) (time.Time, error) {
	for _, v := range environ {
		if seconds, ok := strings.CutPrefix(v, "SOURCE_DATE_EPOCH="); ok {
			n, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				return time.Time{}, ask.Usage("SOURCE_DATE_EPOCH is %q; it must be seconds since 1970", seconds)
			}
			return time.Unix(n, 0).UTC(), nil
		}
	}
	return time.Unix(0, 0).UTC(), nil
}
