package workflow

import (
	"errors"
	"time"
)

// Code is a stable name for what went wrong; the HTTP layer maps it to a
// status, and clients may rely on it.
type Code string

// The codes that calls of the runtime return.
const (
	CodeInvalid            Code = "invalid-request"
	CodeDefinitionNotFound Code = "definition-not-found"
	CodeDefinitionInvalid  Code = "definition-invalid"
	CodeDefinitionInUse    Code = "definition-in-use"
	CodeDefinitionMoved    Code = "definition-moved" // another publication came between
	CodeScheduleNotFound   Code = "schedule-not-found"
	CodeInstanceNotFound   Code = "instance-not-found"
	CodeInstanceExists     Code = "instance-exists"
	CodeInstanceFinished   Code = "instance-finished"
	CodeInstanceNotFaulted Code = "instance-not-faulted" // there is nothing to retry
	CodeInstanceUndone     Code = "instance-undone"      // a retry would make a call again that a branch may have undone
	CodeInstanceMoved      Code = "instance-moved"       // If-Match did not hold
	CodeInstanceGated      Code = "instance-refused"     // an activation strategy refused the start
	CodeBookmarkNotFound   Code = "bookmark-not-found"
	CodeBookmarkReserved   Code = "bookmark-reserved" // only the engine resumes it
	CodeTaskNotFound       Code = "task-not-found"
	CodeTaskClaimLost      Code = "task-claim-lost"
	CodeDeadLetterNotFound Code = "dead-letter-not-found"
	CodeQueueItemNotFound  Code = "queue-item-not-found"
	CodeContentNotFound    Code = "content-not-found" // a file that lay beside an instance
	CodeReceiptNotFound    Code = "receipt-not-found" // nothing is known of an Idempotency-Key
	CodeJobNotFound        Code = "job-not-found"
	CodeJobRunning         Code = "job-running"
	CodeNodeNotFound       Code = "node-not-found"
	CodeWebhookNotFound    Code = "webhook-not-found"
	CodeLimitNotFound      Code = "limit-not-found"
	CodeRouteNotFound      Code = "route-not-found"
	CodeUnauthenticated    Code = "unauthenticated"
	CodeAmbiguous          Code = "several-targets" // a request that wants one target meets more
	CodeRouteTaken         Code = "route-taken"
	CodeKeyReused          Code = "idempotency-key-reused" // with another body
	CodeTooLarge           Code = "too-large"
	CodeMediaType          Code = "unsupported-media-type"
	CodeBusy               Code = "busy"              // repeat later
	CodeUnavailable        Code = "unavailable"       // etcd or the session is away; repeat later with the same key
	CodeUnknownOutcome     Code = "outcome-unknown"   // it may or may not have been applied; repeat with the same key
	CodeNotRunnable        Code = "not-runnable-here" // this node's program lacks what another's wrote or uses; another node may have it
	CodeDamaged            Code = "damaged"           // the record of what was asked for cannot be read by any program
	CodeDraining           Code = "draining"
	CodePaused             Code = "paused"
	CodeStoreNearlyFull    Code = "store-nearly-full"
	CodeInternal           Code = "internal"
)

// Error is a failure in words for the caller: what was asked, what is wrong, what
// to do. Err is the cause, for the log only.
type Error struct {
	Code       Code
	Detail     string
	Problems   Problems      // for definition-invalid
	Needs      []string      // for not-runnable-here: what a node that can run it has; nil: not known
	RetryAfter time.Duration // for busy, unavailable, draining, paused; 0: none
	Err        error
}

// Error gives the detail.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Detail + ": " + e.Err.Error()
	}
	return e.Detail
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fail makes an [Error].
func Fail(code Code, detail string) *Error { return &Error{Code: code, Detail: detail} }

// CodeOf finds the code in err's chain; "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
