package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) auditCommand() *cobra.Command {
	var want apiclient.ListAuditQuery
	var failed, follow bool
	cmd := &cobra.Command{
		Use: "audit [FILE|-...]", Short: "Who changed what lately, and what came of it: of all nodes, or of audit logs", Args: cobra.ArbitraryArgs,
		Long: "Who changed what lately, and what came of it, the newest last. Without a FILE the live nodes are asked for the last 1,000 lines of each, which end\n" +
			"with the node: the record is the log, which each node writes into the file of --audit-log or beside the rest of its log. Give the\n" +
			"files of all nodes, or - for standard input, such as what kubectl logs or journalctl -o cat writes. Lines that are no audit are left out.",
		Example: "  weft audit --who key:ada -f\n  weft audit /var/log/weft/audit.log --failed\n  kubectl logs -l app.kubernetes.io/name=weft | weft audit -",
		RunE: func(cmd *cobra.Command, args []string) error {
			fits := func(l *apiclient.AuditLine) bool {
				return (want.Who == "" || l.Who == want.Who) && (want.Operation == "" || l.Operation == want.Operation) && strings.Contains(l.Target, want.Target) && (!failed || l.Status >= 400)
			}
			if len(args) == 0 {
				return a.auditOfNodes(cmd.Context(), want, fits, follow)
			}
			if follow {
				return ask.Usage("-f is of the nodes; of a file: tail -f FILE | weft audit -")
			}
			for _, name := range args {
				if err := a.ask.Reading(func() error { return a.auditFile(name, fits) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&want.Who, "who", "", "only by this caller, such as key:ada")
	f.StringVar(&want.Operation, "operation", "", "only this operation, such as cancelInstance")
	f.StringVar(&want.Target, "target", "", "only where the target has this text")
	f.BoolVar(&failed, "failed", false, "only what was denied or failed")
	f.BoolVarP(&follow, "follow", "f", false, "go on as more is done, until interrupted")
	return cmd
}

// auditFollow is how often nodes are asked for new lines.
const auditFollow = 2 * time.Second

// auditOfNodes shows what the live nodes remember, the oldest first, and goes on with what is new.
func (a commands) auditOfNodes(ctx context.Context, q apiclient.ListAuditQuery, fits func(*apiclient.AuditLine) bool, follow bool) error {
	c, err := a.ask.Client()
	if err != nil {
		return err
	}
	seen := map[auditKey]bool{}
	said := ""
	for first := true; ; first = false {
		answer, err := c.ListAudit(ctx, q)
		switch {
		case ctx.Err() != nil && !first:
			return nil
		case err != nil && (first || !passes(err)):
			return err
		case err == nil && first && !follow && a.ask.AsData():
			answer.Body.Items = slices.DeleteFunc(answer.Body.Items, func(l apiclient.AuditLine) bool { return !fits(&l) })
			raw, err := json.Marshal(&answer.Body)
			if err != nil {
				return err
			}
			return a.ask.Show(ask.View{}, raw)
		case err == nil:
			if text := auditNotes(&answer.Body); text != said && text != "" {
				a.ask.Note(text)
				said = text
			}
			if err := a.auditNew(answer.Body.Items, fits, seen); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(auditFollow):
		}
	}
}

// passes tells of an error that a restart of a node may be.
func passes(err error) bool {
	var lost *apiclient.NoAnswerError
	var problem *apiclient.ProblemError
	return errors.As(err, &lost) || errors.As(err, &problem) && problem.Temporary()
}

// auditNew shows the lines that were not seen yet, of which it takes note. items are the newest first.
func (a commands) auditNew(items []apiclient.AuditLine, fits func(*apiclient.AuditLine) bool, seen map[auditKey]bool) error {
	for _, l := range slices.Backward(items) {
		key := auditKey{l.NodeID, l.RequestID, l.Operation, l.Time.UnixNano()}
		if seen[key] || !fits(&l) {
			continue
		}
		seen[key] = true
		raw, err := json.Marshal(&l)
		if err != nil {
			return err
		}
		if err := a.auditShow(raw, &l); err != nil {
			return err
		}
	}
	if len(seen) > auditSeen {
		oldest := map[string]int64{} // of each node: a quiet one goes back further than others
		for _, l := range items {
			oldest[l.NodeID] = l.Time.UnixNano()
		}
		maps.DeleteFunc(seen, func(key auditKey, _ bool) bool { return key.time < oldest[key.node] })
	}
	return nil
}

// auditKey tells one line from all others.
type auditKey struct {
	node, request, operation string
	time                     int64 // ns
}

// auditSeen is with how many lines those are let go that are no longer told: no node tells older ones than the last
// 1,000 of its own.
const auditSeen = 20_000

// auditNotes tells what is missing from an answer; "" if nothing is.
func auditNotes(v *apiclient.Audit) string {
	var notes []string
	if len(v.Unasked) > 0 {
		notes = append(notes, "these nodes did not answer: "+strings.Join(v.Unasked, ", "))
	}
	for _, n := range v.Nodes {
		if !n.Kept {
			notes = append(notes, n.NodeID+" keeps no audit log: it has neither credentials nor --audit-log")
		}
	}
	if v.More {
		notes = append(notes, "only the newest are shown: the logs have all")
	}
	return strings.Join(notes, "\n")
}

// auditMost bounds a line of a log: one that is longer is no audit.
const auditMost = 1 << 20

// auditFile shows the lines of a file as they come.
func (a commands) auditFile(name string, fits func(*apiclient.AuditLine) bool) error {
	in := a.ask.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	for lines := bufio.NewReaderSize(in, auditMost); ; {
		line, err := lines.ReadSlice('\n')
		var l struct {
			apiclient.AuditLine
			Msg string `json:"msg"`
		}
		if !errors.Is(err, bufio.ErrBufferFull) && json.Unmarshal(line, &l) == nil && l.Msg == "audit" && fits(&l.AuditLine) {
			if err := a.auditShow(line, &l.AuditLine); err != nil {
				return err
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of it is none either
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

func (a commands) auditShow(line []byte, l *apiclient.AuditLine) error {
	if a.ask.AsData() {
		v, err := ask.DecodeJSON(line)
		if err != nil {
			return err
		}
		return a.ask.Data(v)
	}
	outcome := fmt.Sprintf("%s %d", l.Result, l.Status)
	if l.Code != "" {
		outcome += " " + l.Code
	}
	_, err := fmt.Fprintf(a.ask.Out, "%-10s  %-12s  %-9s  %-20s  %-20s  %s\n", ask.When(a.ask, l.Time.Format(time.RFC3339Nano), nil),
		ask.OneLine(l.Who), ask.OneLine(l.Role), ask.OneLine(l.Operation), ask.OneLine(outcome), ask.OneLine(l.Target))
	return err
}
