package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/node"
)

// newFsck is the command that checks what a cluster keeps. It takes the node's
// settings for reaching etcd.
func newFsck(stdout, stderr io.Writer, environ func() []string) *cobra.Command {
	asJSON, repair := false, false
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check every key of a cluster in etcd, and with --repair mend what can be",
		Long: "Reads every key of the cluster at one revision and reports what does not fit, with its cause, and what --repair\n" +
			"would do about it. Without --repair it writes nothing. Nodes may be running, also while it repairs.\n" +
			"What --repair cannot use it moves below damaged/, where it stays; see docs/runbooks/damaged-records.md.\n" +
			"What may be for a moment in a cluster that works is marked as passing. Ends with 1 if anything else was found\n" +
			"(with --repair: is left), or if it could not look at everything.",
		Args: cobra.NoArgs,
	}
	looksAtEtcd(cmd, stderr, environ, func(ctx context.Context, cfg node.Config) error {
		if repair {
			done, err := node.FsckRepair(ctx, cfg)
			if done == nil {
				return err
			}
			return errors.Join(showRepairs(stdout, done, asJSON), err, bad(done.Check))
		}
		check, err := node.Fsck(ctx, cfg)
		if err != nil {
			return err
		}
		return errors.Join(show(stdout, check, asJSON), bad(check))
	})
	cmd.Flags().BoolVar(&repair, "repair", false, "do what the check says that --repair does")
	cmd.Flags().BoolVar(&asJSON, jsonFlag, false, "write the findings as JSON")
	return cmd
}

const jsonFlag = "json"

// bad is the error that ends the program with 1; nil if all fits.
func bad(check *etcdstore.Check) error {
	if check == nil {
		return nil
	}
	if n := len(check.Bad()); n > 0 {
		return fmt.Errorf("%d of %d keys do not fit", n, check.Keys)
	}
	return nil
}

func show(w io.Writer, check *etcdstore.Check, asJSON bool) error {
	if asJSON {
		return showJSON(w, check)
	}
	var b strings.Builder
	write(&b, check)
	_, err := io.WriteString(w, b.String())
	return err
}

// write says each finding in a line, and what can be done about it in others below.
func write(b *strings.Builder, check *etcdstore.Check) {
	repairable := 0
	for _, f := range check.Findings {
		passing := ""
		if f.Passing {
			passing = " (passing)"
		}
		fmt.Fprintf(b, "%s%s\t%s\t%s\n", f.Rule, passing, f.Key, f.Detail)
		if f.Follows > 0 {
			fmt.Fprintf(b, "\t%d more keys fit nothing because of it\n", f.Follows)
		}
		if f.Repair != "" && !f.Passing {
			repairable++
			fmt.Fprintf(b, "\t--repair: %s\n", f.Repair)
		}
		if f.Hint != "" {
			fmt.Fprintf(b, "\t%s: %s\n", whoElse(f), f.Hint)
		}
	}
	if check.Aside > 0 {
		fmt.Fprintf(b, "%d keys below damaged/, set aside by --repair\n", check.Aside)
	}
	if repairable > 0 {
		fmt.Fprintf(b, "%d can be repaired with --repair\n", repairable)
	}
	fmt.Fprintf(b, "%d keys at revision %d, %d findings\n", check.Keys, check.Revision, len(check.Findings))
}

// whoElse begins what people have to do.
func whoElse(f etcdstore.Finding) string {
	if f.Repair != "" {
		return "then you"
	}
	return "you"
}

func showRepairs(w io.Writer, done *etcdstore.Repairs, asJSON bool) error {
	if asJSON {
		return showJSON(w, done)
	}
	var b strings.Builder
	for _, f := range done.Done {
		fmt.Fprintf(&b, "repaired: %s\t%s\t%s\n\t%s\n", f.Rule, f.Key, f.Detail, f.Repair)
		if f.Hint != "" {
			fmt.Fprintf(&b, "\t%s: %s\n", whoElse(f), f.Hint)
		}
	}
	fmt.Fprintf(&b, "%d repaired\n", len(done.Done))
	if done.Check != nil {
		write(&b, done.Check)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func showJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
