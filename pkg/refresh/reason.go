package refresh

import (
	"errors"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// reason says for people what is wrong: every problem with its place and the
// line, if it is about a definition, without the cause that is for the log.
func reason(err error) string {
	var e *workflow.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if len(e.Problems) == 0 {
		return e.Detail
	}
	return tell(e.Problems)
}

// tell says each problem with its place and the line.
func tell(problems workflow.Problems) string {
	var b strings.Builder
	for i, p := range problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(workflow.Problems{p}.Error())
		if p.Excerpt != "" {
			b.WriteByte('\n')
			b.WriteString(p.Excerpt)
		}
	}
	return b.String()
}
