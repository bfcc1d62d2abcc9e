package evaluation

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// ErrResumeURL says how the function is called.
var ErrResumeURL = errors.New("resumeUrl takes the id or name of the activity that waits, and if you like the outcome and how long the link is good, such as resumeUrl('decision', 'approve', '72h')")

// ResumeURL is the function resumeUrl(activity[, outcome[, life]]).
func ResumeURL(s engine.Scope, args []string) (string, error) {
	if len(args) < 1 || len(args) > 3 || args[0] == "" {
		return "", ErrResumeURL
	}
	outcome, life := "", time.Duration(0)
	if len(args) > 1 {
		outcome = args[1]
	}
	if len(args) > 2 {
		var err error
		if life, err = value.ParseDuration(args[2]); err != nil {
			return "", fmt.Errorf("resumeUrl: %w", err)
		}
	}
	return s.ResumeURL(args[0], outcome, life)
}
