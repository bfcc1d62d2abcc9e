package instances

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) explainCommand() *cobra.Command {
	return ask.Watched(&cobra.Command{
		Use: "explain INSTANCE", Short: "Why an instance is where it is; exit code 1 if it is stuck, faulted or damaged", Args: cobra.ExactArgs(1), ValidArgsFunction: a.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			var state string
			err = a.Repeated(cmd.Context(), func() error {
				x, err := c.ExplainInstance(cmd.Context(), ask.IDs("instances", args)[0])
				if err != nil {
					return err
				}
				state = x.Body.State
				if a.AsData() {
					return a.Show(ask.View{}, x.Bytes)
				}
				return a.explanation(&x.Body)
			})
			if err == nil && (state == "stuck" || state == "faulted" || state == "damaged") {
				return ask.Exit(ask.ExitBad, nil)
			}
			return err
		},
	})
}

func (a commands) explanation(x *apiclient.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  as of revision %d, %s\n", x.InstanceID, x.State, x.Revision, x.At.UTC().Format("15:04:05 UTC"))
	fmt.Fprintf(&b, "%s\n", ask.OneLineOf(x.Summary, 1000))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s %s\n", name, ask.OneLineOf(fmt.Sprintf(format, args...), 500))
	}
	for i, r := range x.Reasons {
		text := r.Text
		if r.Since != nil {
			text += ", since " + a.Moment(r.Since)
		}
		if r.Until != nil {
			text += ", until " + a.Moment(r.Until)
		}
		line(map[bool]string{true: r.Kind, false: "or " + r.Kind}[i == 0], "%s", text)
	}
	if x.Owner != nil {
		gone := ""
		if x.Owner.Gone {
			gone = ", which is gone: another node takes over when its session ends"
		}
		line("owner", "%s, fence %d%s", x.Owner.NodeID, x.Owner.Fence, gone)
	}
	for i, w := range x.Waiters {
		line(fmt.Sprintf("next %d", i+1), "%s waits for the lock", w.NodeID)
	}
	if n := int64(len(x.Mail)) + x.MailLeft; n > 0 {
		line("mailbox", "%d commands, the oldest is %s", n, x.Mail[0].Kind)
	}
	if x.LastCommit != nil {
		line("commit", "%d, fence %d, %s", x.LastCommit.Sequence, x.LastCommit.Fence, a.Moment(x.LastCommit.At))
	}
	for _, n := range x.NearMisses {
		line("near", "%s %s: %s", n.Where, n.ID, n.Text)
	}
	for _, n := range x.Next {
		line("do", "%s", n)
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}
