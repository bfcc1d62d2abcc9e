package front

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// MovesOn is for a caller whose target was another one at each look.
func MovesOn() error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: "what the stimulus was for kept moving; repeat the request with the same Idempotency-Key", RetryAfter: time.Second}
}

// Exists is for a start whose id another instance has.
func Exists(id string) error {
	return workflow.Fail(workflow.CodeInstanceExists, fmt.Sprintf("there is an instance %q already; choose another instanceId or leave it out", id))
}

// Busy is for a caller whose instance another node is at, and that cannot wait in its mailbox.
func Busy(id string) error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: fmt.Sprintf("instance %q is busy on another node; repeat the request with the same Idempotency-Key", id), RetryAfter: time.Second}
}

// RetryUnknown repeats a transaction that is safe to repeat while its outcome is
// unknown and the caller waits.
func RetryUnknown(ctx context.Context, txn func() error) error {
	waits := pace.Doubling(20 * time.Millisecond).UpTo(time.Second).Spread(20)
	err := pace.Repeat(ctx, waits, func() (bool, error) {
		err := txn()
		return errors.Is(err, etcdstore.ErrUnknown), err
	})
	switch {
	case errors.Is(err, etcdstore.ErrUnknown):
		return &workflow.Error{Code: workflow.CodeUnknownOutcome, RetryAfter: time.Second, Err: err,
			Detail: "etcd gave no answer: the request may or may not have been accepted; repeat it with the same Idempotency-Key"}
	case errors.Is(err, etcdstore.ErrTooLarge):
		return &workflow.Error{Code: workflow.CodeTooLarge, Detail: "the request is too large to be stored", Err: err}
	}
	return err
}

// NoBookmark is for who names a place where nothing waits.
func NoBookmark(id string) error {
	return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("there is no bookmark %q (any more)", id))
}

func howMany(problems int) string {
	if problems == 1 {
		return "one thing does not fit"
	}
	return fmt.Sprintf("%d things do not fit", problems)
}

// Refused turns a refusal into the caller's error.
func Refused(ctx context.Context, reader *etcdstore.Reader, id string, kind workflow.CommandKind, o TargetOutcome) error {
	fail := func(format string, args ...any) error {
		return workflow.Fail(workflow.Code(o.Code), fmt.Sprintf(format, args...))
	}
	switch workflow.Code(o.Code) {
	case "":
		return nil
	case workflow.CodeInstanceFinished:
		is := "finished" // unless it moved on since
		if rec, err := inspect.Brief(ctx, reader, id); err == nil && rec.Header.Status == workflow.StatusFinished {
			is = string(rec.Header.SubStatus)
		}
		if is == string(workflow.Faulted) && kind == workflow.CommandCancel {
			return fail("instance %q is Faulted: it has ended, and a cancel would take away its retry; retry it, or delete it", id)
		}
		return fail("instance %q is %s; there is nothing to %s", id, is, kind)
	case workflow.CodeInstanceNotFaulted:
		return fail("instance %q runs, and nothing in it is faulted; there is nothing to retry", id)
	case workflow.CodeInstanceNotFound:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	case workflow.CodeInstanceExists:
		return Exists(id)
	case workflow.CodeInstanceMoved:
		return workflow.Fail(workflow.CodeInstanceMoved, fmt.Sprintf("instance %q is at another sequence number than If-Match names; export it again", id))
	}
	if code := workflow.Code(o.Code); code == workflow.CodeInstanceUndone && o.Detail != "" {
		return &workflow.Error{Code: code, Detail: fmt.Sprintf("instance %q: %s", id, o.Detail)}
	}
	if o.problems != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Problems: *o.problems,
			Detail: fmt.Sprintf("instance %q was not altered: %s", id, howMany(len(*o.problems)))}
	}
	if o.Detail != "" {
		return fail("instance %q refused to %s: %s", id, kind, o.Detail)
	}
	return fail("instance %q refused to %s", id, kind)
}
