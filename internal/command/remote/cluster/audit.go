package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
)

func (a commands) auditCommand() *cobra.Command {
	var want auditLine
	var failed bool
	cmd := &cobra.Command{
		Use: "audit FILE|-...", Short: "Read audit logs: who changed what, and what came of it", Args: cobra.MinimumNArgs(1),
		Long: "Read audit logs. Each node writes one, into the file of --audit-log or beside the rest of its log, and no node has those of others:\n" +
			"give the files of all, or - for standard input, such as what kubectl logs or journalctl -o cat writes. Lines that are no audit are left out.",
		Example: "  weft audit /var/log/weft/audit.log --who ada\n  kubectl logs -l app.kubernetes.io/name=weft -f | weft audit - --failed",
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if err := a.auditFile(name, want, failed); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&want.Who, "who", "", "only by this caller")
	f.StringVar(&want.Operation, "operation", "", "only this operation, such as cancelInstance")
	f.StringVar(&want.Target, "target", "", "only where the target has this text")
	f.BoolVar(&failed, "failed", false, "only what was denied or failed")
	return cmd
}

// auditLine is a line of an audit log, as internal/httpapi writes it.
type auditLine struct {
	Time, Msg, Who, Role, Operation, Target, Result, Code string
	Status                                                int
}

// fits tells whether a line is one of those that are wanted.
func (l *auditLine) fits(want auditLine, failed bool) bool {
	return l.Msg == "audit" && (want.Who == "" || l.Who == want.Who) && (want.Operation == "" || l.Operation == want.Operation) &&
		strings.Contains(l.Target, want.Target) && (!failed || l.Status >= 400)
}

// auditFile shows the lines of a file as they come.
func (a commands) auditFile(name string, want auditLine, failed bool) error {
	in := a.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		var l auditLine
		if json.Unmarshal([]byte(line), &l) == nil && l.fits(want, failed) {
			if err := a.auditShow(line, &l); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

func (a commands) auditShow(line string, l *auditLine) error {
	if a.AsData() {
		v, err := ask.DecodeJSON([]byte(line))
		if err != nil {
			return err
		}
		return a.Data(v)
	}
	outcome := fmt.Sprintf("%s %d", l.Result, l.Status)
	if l.Code != "" {
		outcome += " " + l.Code
	}
	_, err := fmt.Fprintf(a.Out, "%-10s  %-12s  %-9s  %-20s  %-20s  %s\n", ask.When(a.Asker, l.Time, nil),
		ask.OneLine(l.Who), ask.OneLine(l.Role), ask.OneLine(l.Operation), ask.OneLine(outcome), ask.OneLine(l.Target))
	return err
}
