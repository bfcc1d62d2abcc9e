// Package effect tells what a stimulus would do if it were sent, in the words of the command line. It does nothing
// else: whether it would be refused is for its callers.
package effect

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// Show tells what a stimulus would do if it were sent.
func Show(a *ask.Asker, x *apiclient.Effect, raw []byte) error {
	if a.AsData() {
		return a.Show(ask.View{}, raw)
	}
	var b strings.Builder
	for _, r := range x.Resumes {
		fmt.Fprintf(&b, "would resume %s (bookmark %s)\n", r.InstanceID, r.BookmarkID)
	}
	if left := x.Resumed - int64(len(x.Resumes)); left > 0 {
		fmt.Fprintf(&b, "would resume %d more\n", left)
	}
	for _, s := range x.Starts {
		if s.Holder != nil {
			fmt.Fprintf(&b, "would not start %s v%d now: %s runs, and lets no other one run\n", s.DefinitionID, s.Version, *s.Holder)
			continue
		}
		fmt.Fprintf(&b, "would start %s v%d\n", s.DefinitionID, s.Version)
	}
	switch {
	case x.Refused != nil:
		fmt.Fprintf(&b, "would be refused now: %s (%s)\n", ask.OneLineOf(x.Refused.Detail, 500), x.Refused.Code)
	case x.Queued:
		b.WriteString("nothing waits for it: it would wait in the queue\n")
	case x.Started == 0:
		b.WriteString("would start nothing\n")
	case x.Resumed == 0:
		b.WriteString("would resume nothing\n")
	}
	if left := x.Started - int64(len(x.Starts)); left > 0 {
		fmt.Fprintf(&b, "would start %d more\n", left)
	}
	if x.More {
		b.WriteString("these are more than one event may meet: it would be refused\n")
	}
	for _, o := range x.Others {
		fmt.Fprintf(&b, "  %s waits for it with the correlation %s\n", o.InstanceID, map[bool]string{true: "(none)", false: ask.Deref(o.CorrelationID)}[o.CorrelationID == nil])
	}
	if x.Queued {
		lately(a, &b, x.Recent)
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// lately tells of events that were sent, of the same name or nearly so, and of what they met.
func lately(a *ask.Asker, b *strings.Builder, sent []apiclient.SentEvent) {
	for i := range sent {
		s := &sent[i]
		text := ask.OneLine(s.Name)
		if id := ask.Deref(s.CorrelationID); id != "" {
			text += ", correlation " + id
		}
		if id := ask.Deref(s.InstanceID); id != "" {
			text += ", for instance " + id
		}
		text += ", was sent " + a.Moment(&s.At) + " and met "
		switch {
		case s.Met == 0 && s.ID != "":
			text += "nobody: it went into the queue as " + s.ID
		case s.Met == 0:
			text += "nobody"
		case s.First != nil:
			text += fmt.Sprintf("%d, such as %s", s.Met, ask.Deref(s.First))
		default:
			text += fmt.Sprint(s.Met)
		}
		fmt.Fprintf(b, "  %s\n", text)
	}
}
