package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/pkg/node"
)

// newStoreRepair is the command that makes room in etcd. It takes the node's settings for reaching it.
func newStoreRepair(stdout, stderr io.Writer, environ func() []string) *cobra.Command {
	var s settings
	dry := false
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Make room in etcd: compact, defragment the members one by one, take back the alarm NOSPACE",
		Long: "Compacts etcd, defragments its members one after the other, the leader last, and waits in between until all are well; then it\n" +
			"takes back the alarm NOSPACE if there is room. It deletes nothing. Nodes may be running; each write waits while a member of a\n" +
			"majority is defragmented, with a single member for all of it. With --data-dir it works on an embedded etcd, through its node if\n" +
			"that runs. Where etcd has users it takes one with the role root. See docs/runbooks/etcd-near-quota.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := layer(cmd.Flags(), environ); err != nil {
				return err
			}
			log, _, err := newLogger(stderr, s.logLevel, s.logFormat)
			if err != nil {
				return err
			}
			s.node.Logger = log
			var failed error
			err = node.RepairStore(cmd.Context(), s.node, dry, func(line string) {
				if _, err := fmt.Fprintln(stdout, line); err != nil {
					failed = err
				}
			})
			if err == nil {
				err = failed
			}
			return err
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !strings.HasPrefix(f.Name, "etcd-") && !slices.Contains([]string{configFlag, "cluster", "data-dir", "log-level", "log-format"}, f.Name)
	})
	cmd.Flags().Lookup("log-level").DefValue = "warn"
	s.logLevel = "warn"
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what it would do")
	return cmd
}
