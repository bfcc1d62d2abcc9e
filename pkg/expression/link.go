package expression

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
)

var errResumeURL = errors.New("resumeUrl takes the id or name of the activity that waits, and if you like the outcome and how long the link is good, such as resumeUrl('decision', 'approve', '72h')")

// resumeURL is the function resumeUrl(activity[, outcome[, life]]).
func resumeURL(s engine.Scope, args []string) (string, error) {
	if len(args) < 1 || len(args) > 3 || args[0] == "" {
		return "", errResumeURL
	}
	outcome, life := "", time.Duration(0)
	if len(args) > 1 {
		outcome = args[1]
	}
	if len(args) > 2 {
		var err error
		if life, err = engine.ParseDuration(args[2]); err != nil {
			return "", fmt.Errorf("resumeUrl: %w", err)
		}
	}
	return s.ResumeURL(args[0], outcome, life)
}
