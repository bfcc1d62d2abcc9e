package etcdstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Damaged is what a caller is told of a record that no program can read. Nothing but a
// delete or a repair mends it.
func Damaged(what string, err error) error {
	return &workflow.Error{Code: workflow.CodeDamaged, Err: err,
		Detail: fmt.Sprintf("the record of %s is damaged and cannot be read: weft fsck names it, and sets it aside with --repair; see docs/runbooks/damaged-records.md", what)}
}

// Unavailable is what a caller is told if a read failed; failed says which.
func Unavailable(failed string, err error) error {
	if workflow.CodeOf(err) == workflow.CodeNotRunnable {
		return err // a repetition here helps nobody
	}
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: failed + "; repeat the request with the same Idempotency-Key", RetryAfter: time.Second, Err: err}
}

// ReadFailed is err if it has a code of its own, and [Unavailable] otherwise.
func ReadFailed(what string, err error) error {
	if workflow.CodeOf(err) != "" {
		return err
	}
	if !strings.HasPrefix(what, "the ") && !strings.HasPrefix(what, "what ") {
		what = "the " + what
	}
	return Unavailable(what+" could not be read", err)
}
