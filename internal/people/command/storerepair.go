package command

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/node"
)

// newStoreRepair is the command that makes room in etcd. It takes the node's settings for reaching it.
func newStoreRepair(stdout, stderr io.Writer, environ func() []string) *cobra.Command {
	dry := false
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Make room in etcd: compact, defragment the members one by one, take back the alarm NOSPACE",
		Long: "Compacts etcd, defragments its members one after the other, the leader last, and waits in between until all are well; then it\n" +
			"takes back the alarm NOSPACE if there is room. It deletes nothing. Nodes may be running; each write waits while a member of a\n" +
			"majority is defragmented, with a single member for all of it. With --data-dir it works on an embedded etcd, through its node if\n" +
			"that runs. Where etcd has users it takes one with the role root. See docs/runbooks/etcd-near-quota.md.",
		Args: cobra.NoArgs,
	}
	looksAtEtcd(cmd, stderr, environ, func(ctx context.Context, cfg node.Config) error {
		var failed error
		err := node.RepairStore(ctx, cfg, dry, func(line string) {
			if _, err := fmt.Fprintln(stdout, line); err != nil {
				failed = err
			}
		})
		return cmp.Or(err, failed)
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what it would do")
	return cmd
}
