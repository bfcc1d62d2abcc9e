package trial

import (
	"fmt"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
)

// Seen is what the instance under test did until now, and its children.
func (r *Run) Seen() compare.Seen {
	out := compare.Seen{Status: "not started", Children: []compare.Seen{}}
	for i, in := range r.instances {
		s := seenOf(in)
		if i == 0 {
			s.Children, out = out.Children, s
		} else {
			out.Children = append(out.Children, s)
		}
	}
	return out
}

func seenOf(in *instance) compare.Seen {
	s := compare.Seen{Status: in.header.SubStatus, Output: in.header.Output, Incidents: len(in.header.Incidents), Completed: map[string]int{}}
	for _, item := range in.journal {
		n := in.prog.Node(item.ActivityID)
		if n == nil || n.Parent() == nil {
			continue
		}
		switch item.Event {
		case engine.EventCompleted:
			s.Completed[n.LocalID()]++
		case engine.EventWriteLine:
			place := "activity " + item.ActivityID
			if at := n.Activity().Place; at.Line > 0 {
				place += fmt.Sprintf(", %s:%d", at.File, at.Line)
			}
			s.Lines = append(s.Lines, compare.SeenLine{Text: item.Text, Known: true, Place: place})
		}
	}
	return s
}
