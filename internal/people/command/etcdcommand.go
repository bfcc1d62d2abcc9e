package command

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/pkg/node"
)

// looksAtEtcd lets a command do something with an etcd that it reaches as a node would: of the node's settings it shows
// those that say where the cluster's keys are, and how much is told.
func looksAtEtcd(cmd *cobra.Command, stderr io.Writer, environ func() []string, do func(context.Context, node.Config) error) {
	var s settings
	s.flags(cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !strings.HasPrefix(f.Name, "etcd-") && !slices.Contains([]string{configFlag, "cluster", "data-dir", "log-level", "log-format"}, f.Name)
	})
	cmd.Flags().Lookup("log-level").DefValue = "warn"
	s.logLevel = "warn"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := layer(cmd.Flags(), environ); err != nil {
			return err
		}
		log, _, err := newLogger(stderr, s.logLevel, s.logFormat)
		if err != nil {
			return err
		}
		s.node.Logger = log
		return do(cmd.Context(), s.node)
	}
}
