package instances

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) explainCommand() *cobra.Command {
	return ask.Watched(&cobra.Command{
		Use: "explain INSTANCE", Short: "Why an instance is where it is; exit code 1 if it is stuck, faulted or damaged", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.Completes("instances"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id, state := ask.IDs("instances", args)[0], ""
			err = a.ask.Repeated(cmd.Context(), func() error {
				x, err := c.ExplainInstance(cmd.Context(), id)
				if err != nil {
					return err
				}
				state = x.Body.State
				if a.ask.AsData() {
					return a.ask.Show(ask.View{}, x.Bytes)
				}
				in, err := c.GetInstance(cmd.Context(), id)
				if err != nil { // it was deleted in between
					in = nil
				}
				return a.explanation(&x.Body, in)
			}, "instance:"+id)
			if err == nil && (state == "stuck" || state == "faulted" || state == "damaged") {
				return ask.Exit(ask.ExitBad, nil)
			}
			return err
		},
	})
}

func (a commands) explanation(x *apiclient.Explanation, in *apiclient.Answer[apiclient.Instance]) error {
	var b strings.Builder
	b.WriteString(x.InstanceID)
	if in != nil {
		fmt.Fprintf(&b, "  %s v%d", in.Body.DefinitionID, in.Body.Version)
	}
	b.WriteString("  " + x.State)
	if in != nil && in.Body.SubStatus != "" {
		fmt.Fprintf(&b, ", %s for %s", in.Body.SubStatus, ask.Short(max(0, x.At.Sub(in.Body.UpdatedAt))))
	}
	fmt.Fprintf(&b, "  as of revision %d, %s\n", x.Revision, x.At.UTC().Format("15:04:05 UTC"))
	fmt.Fprintf(&b, "%s\n", ask.OneLineOf(x.Summary, 1000))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s %s\n", name, ask.OneLineOf(fmt.Sprintf(format, args...), 500))
	}
	a.reasons(x, line)
	switch {
	case x.Owner == nil && x.State != "finished":
		line("owner", "nobody")
	case x.Owner != nil:
		gone := ""
		if x.Owner.Gone {
			gone = ", which is gone: another node takes over when its session ends"
		}
		line("owner", "%s, fence %d%s", x.Owner.NodeID, x.Owner.Fence, gone)
	}
	for i, w := range x.Waiters {
		line(fmt.Sprintf("next %d", i+1), "%s waits for the lock", w.NodeID)
	}
	switch n := int64(len(x.Mail)) + x.MailLeft; {
	case n > 0:
		line("mailbox", "%d commands, the oldest is %s", n, x.Mail[0].Kind)
	case x.State != "finished":
		line("mailbox", "empty")
	}
	if x.Gate != nil {
		line("gate", "%s", gateText(x))
	}
	if x.LastCommit != nil {
		line("commit", "%d%s, fence %d, %s", x.LastCommit.Sequence, madeBy(x), x.LastCommit.Fence, a.ask.Moment(x.LastCommit.At))
	}
	for _, n := range x.NearMisses {
		line("near", "%s %s: %s", n.Where, n.ID, n.Text)
	}
	for _, n := range x.Next {
		line("next", "%s", asCommand(n))
	}
	_, err := fmt.Fprint(a.ask.Out, b.String())
	return err
}

// reasons tells what an instance waits for, and what is being undone in it.
func (a commands) reasons(x *apiclient.Explanation, line func(name, format string, args ...any)) {
	for i, r := range x.Reasons {
		text := r.Text
		if r.Since != nil {
			text += ", since " + a.ask.Moment(r.Since)
		}
		if r.Until != nil {
			text += ", until " + a.ask.Moment(r.Until)
		}
		name := r.Kind
		switch {
		case i > 0 && r.Kind == "undoing":
			name = "and"
		case i > 0:
			name = "or " + r.Kind
		}
		line(name, "%s", text)
	}
}

// gateText tells who holds the gate of an activation strategy, and who waits for it.
func gateText(x *apiclient.Explanation) string {
	g := x.Gate
	text := "one instance runs"
	if id := ask.Deref(g.DefinitionID); id != "" {
		text = "one instance of " + id + " runs"
	}
	if id := ask.Deref(g.CorrelationID); id != "" {
		text += " with correlation " + id
	}
	switch holder := ask.Deref(g.Holder); holder {
	case "":
		text += ": nobody holds it"
	case x.InstanceID:
		text += ": this one"
	default:
		text += ": " + holder
	}
	if g.Behind > 0 {
		text += fmt.Sprintf(", %d starts wait behind it", g.Behind)
	}
	return text
}

// madeBy tells which node made the newest commits, and from whom it took over.
func madeBy(x *apiclient.Explanation) string {
	text := ""
	if node := ask.Deref(x.LastCommit.NodeID); node != "" {
		text = " by " + node
	}
	if x.History == nil || len(x.History.Periods) == 0 {
		return text
	}
	rows := x.History.Periods
	last := rows[len(rows)-1]
	if last.Takeover && last.To == x.History.Last {
		text += ", after a takeover"
		if len(rows) > 1 {
			text += " from " + cmp.Or(ask.Deref(rows[len(rows)-2].NodeID), "an unknown node")
		}
		text += fmt.Sprintf(" (%.1f s)", last.GapSeconds)
	}
	return text
}

// callIn is a call of the API in a sentence, its body at the end.
var callIn = regexp.MustCompile(`\b(GET|POST) (/[^\s;,]+)( \{.*\})?`)

// asCommand is advice with commands of this program in the place of calls of the API.
func asCommand(advice string) string {
	return callIn.ReplaceAllStringFunc(advice, func(call string) string {
		m := callIn.FindStringSubmatch(call)
		var words []string
		for part := range strings.SplitSeq(strings.Trim(m[2], "/"), "/") {
			word, err := url.PathUnescape(part)
			if err != nil {
				return call
			}
			words = append(words, word)
		}
		said, ok := commandFor(m[1], words)
		if !ok {
			return call
		}
		var body map[string]string
		if m[3] != "" && json.Unmarshal([]byte(m[3]), &body) != nil {
			return call
		}
		for _, f := range []struct{ field, flag string }{{"correlationId", "--correlation"}, {"instanceId", "--instance"}, {"name", "--name"}} {
			if v, there := body[f.field]; there {
				said = append(said, f.flag, v)
				delete(body, f.field)
			}
		}
		if len(body) > 0 {
			return call
		}
		for i, word := range said {
			said[i] = ask.Quote(word)
		}
		return "weft " + strings.Join(said, " ")
	})
}

// commandFor is the command that makes a call.
func commandFor(method string, path []string) (words []string, ok bool) {
	shape := method
	for i, word := range path {
		if i == 1 {
			word = "*"
		}
		shape += " " + word
	}
	switch shape {
	case "GET instances * explain":
		return []string{"explain", path[1]}, true
	case "POST instances * cancel", "POST instances * retry":
		return []string{"instances", path[2], path[1]}, true
	case "POST events *":
		return []string{"events", "send", path[1]}, true
	case "POST dead-letters * replay", "POST queue * send", "POST bookmarks * resume":
		return []string{path[0], path[2], path[1]}, true
	case "POST unpause":
		return []string{"cluster", "unpause"}, true
	case "GET nodes", "GET tasks":
		return []string{path[0], "list"}, true
	}
	return nil, false
}
