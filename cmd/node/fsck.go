package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/store/etcdstore"
)

// newFsck is the command that checks what a cluster keeps. It takes the node's
// settings for reaching etcd.
func newFsck(stdout, stderr io.Writer, environ func() []string) *cobra.Command {
	var s settings
	asJSON := false
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check every key of a cluster in etcd, and write nothing",
		Long: "Reads every key of the cluster at one revision and reports what does not fit. Nodes may be running.\n" +
			"What may be for a moment in a cluster that works is marked as passing. Ends with 1 if anything else was found.",
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
			check, err := node.Fsck(cmd.Context(), s.node)
			if err != nil {
				return err
			}
			if err := show(stdout, check, asJSON); err != nil {
				return err
			}
			if bad := len(check.Bad()); bad > 0 {
				return fmt.Errorf("%d of %d keys do not fit", bad, check.Keys)
			}
			return nil
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().Lookup("log-level").DefValue = "warn"
	s.logLevel = "warn"
	cmd.Flags().BoolVar(&asJSON, jsonFlag, false, "write the findings as JSON")
	return cmd
}

const jsonFlag = "json"

func show(w io.Writer, check *etcdstore.Check, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(check)
	}
	for _, f := range check.Findings {
		passing := ""
		if f.Passing {
			passing = " (passing)"
		}
		if _, err := fmt.Fprintf(w, "%s%s\t%s\t%s\n", f.Rule, passing, f.Key, f.Detail); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d keys at revision %d, %d findings\n", check.Keys, check.Revision, len(check.Findings))
	return err
}
