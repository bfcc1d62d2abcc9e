package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/pkg/workflow"
)

// Codes of this layer, beside those of [workflow.Code].
const (
	codeNotFound         workflow.Code = "not-found" // no such route
	codeMethodNotAllowed workflow.Code = "method-not-allowed"
	CodeMediaType                      = workflow.CodeMediaType
	CodeNotAcceptable    workflow.Code = "not-acceptable"
	CodeBadBody          workflow.Code = "unreadable-body" // what came to an HTTP endpoint is not what it says
	codeTimeout          workflow.Code = "request-timeout" // the body did not arrive in time
)

// status is the one table from what went wrong to the HTTP status that says so. A code that is not in it is a bug
// and answers 500; a test holds that every code of pkg/workflow is here.
var status = map[workflow.Code]int{
	workflow.CodeInvalid:            http.StatusUnprocessableEntity,
	workflow.CodeDefinitionInvalid:  http.StatusUnprocessableEntity,
	CodeBadBody:                     http.StatusBadRequest,
	workflow.CodeKeyReused:          http.StatusUnprocessableEntity,
	workflow.CodeDefinitionNotFound: http.StatusNotFound,
	workflow.CodeInstanceNotFound:   http.StatusNotFound,
	workflow.CodeBookmarkNotFound:   http.StatusNotFound,
	workflow.CodeTaskNotFound:       http.StatusNotFound,
	workflow.CodeTaskClaimLost:      http.StatusConflict,
	workflow.CodeDeadLetterNotFound: http.StatusNotFound,
	workflow.CodeQueueItemNotFound:  http.StatusNotFound,
	workflow.CodeContentNotFound:    http.StatusNotFound,
	workflow.CodeReceiptNotFound:    http.StatusNotFound,
	workflow.CodeJobNotFound:        http.StatusNotFound,
	workflow.CodeJobRunning:         http.StatusConflict,
	workflow.CodeNodeNotFound:       http.StatusNotFound,
	workflow.CodeWebhookNotFound:    http.StatusNotFound,
	workflow.CodeLimitNotFound:      http.StatusNotFound,
	workflow.CodeRouteNotFound:      http.StatusNotFound,
	codeNotFound:                    http.StatusNotFound,
	workflow.CodeDefinitionInUse:    http.StatusConflict,
	workflow.CodeDefinitionMoved:    http.StatusConflict,
	workflow.CodeScheduleNotFound:   http.StatusNotFound,
	workflow.CodeInstanceExists:     http.StatusConflict,
	workflow.CodeInstanceFinished:   http.StatusConflict,
	workflow.CodeInstanceNotFaulted: http.StatusConflict,
	workflow.CodeInstanceUndone:     http.StatusConflict,
	workflow.CodeInstanceGated:      http.StatusConflict,
	workflow.CodeRouteTaken:         http.StatusConflict,
	workflow.CodeAmbiguous:          http.StatusConflict,
	workflow.CodeDamaged:            http.StatusConflict,
	workflow.CodeBookmarkReserved:   http.StatusConflict,
	workflow.CodeUnauthenticated:    http.StatusUnauthorized,
	codeForbidden:                   http.StatusForbidden,
	workflow.CodeInstanceMoved:      http.StatusPreconditionFailed,
	workflow.CodeTooLarge:           http.StatusRequestEntityTooLarge,
	workflow.CodeBusy:               http.StatusServiceUnavailable,
	workflow.CodeUnavailable:        http.StatusServiceUnavailable,
	workflow.CodeUnknownOutcome:     http.StatusServiceUnavailable,
	workflow.CodeNotRunnable:        http.StatusServiceUnavailable,
	workflow.CodeDraining:           http.StatusServiceUnavailable,
	workflow.CodePaused:             http.StatusServiceUnavailable,
	workflow.CodeStoreNearlyFull:    http.StatusServiceUnavailable,
	workflow.CodeInternal:           http.StatusInternalServerError,
	CodeFaulted:                     http.StatusInternalServerError,
	codeMethodNotAllowed:            http.StatusMethodNotAllowed,
	CodeMediaType:                   http.StatusUnsupportedMediaType,
	CodeNotAcceptable:               http.StatusNotAcceptable,
	codeTimeout:                     http.StatusRequestTimeout,
	codeHost:                        http.StatusMisdirectedRequest,
}

// AsksToRepeat tells whether a refusal with this code is of the moment: its answer has Retry-After.
func AsksToRepeat(code workflow.Code) bool { return retryAfter(status[code], 0) > 0 }

// title is the short text of each status as RFC 9457 wants it.
func title(code workflow.Code, status int) string {
	return cmp.Or(titles[code], http.StatusText(status))
}

var titles = map[workflow.Code]string{
	workflow.CodeInvalid:           "The request is not valid",
	CodeBadBody:                    "The body cannot be read",
	workflow.CodeDefinitionInvalid: "The definition is not valid",
	workflow.CodeKeyReused:         "The Idempotency-Key was used with another request",
	workflow.CodeUnknownOutcome:    "The outcome is not known",
	workflow.CodeNotRunnable:       "This node's program cannot do this",
	workflow.CodeDamaged:           "The record is damaged",
}

// Problem is an RFC 9457 problem with Weft's members.
type Problem struct {
	Type      string        `json:"type" doc:"Always about:blank; the code tells problems apart."`
	Title     string        `json:"title"`
	Status    int           `json:"status"`
	Detail    string        `json:"detail,omitempty" doc:"What is wrong with this request and what to do."`
	Code      workflow.Code `json:"code" doc:"Stable; clients may rely on it."`
	RequestID string        `json:"requestId,omitempty" doc:"Also in the X-Request-Id header and in the node's log."`
	Errors    []ProblemItem `json:"errors,omitempty" doc:"Every single problem of a 400 or 422, with its place."`
}

// ProblemItem is one problem of several.
type ProblemItem struct {
	Code     string `json:"code"`
	Severity string `json:"severity" doc:"error or warning. A warning alone is in the way of nothing."`
	Detail   string `json:"detail"`
	Meant    string `json:"meant,omitempty" doc:"What was probably meant."`
	File     string `json:"file,omitempty" doc:"The file, of several."`
	Pointer  string `json:"pointer,omitempty" doc:"JSON pointer (RFC 6901) into the body."`
	Line     int    `json:"line,omitempty" doc:"From 1."`
	Column   int    `json:"column,omitempty" doc:"From 1."`
	Excerpt  string `json:"excerpt,omitempty" doc:"The source line, with a caret below it."`
}

// ProblemItems shows problems, each with its place.
func ProblemItems(ps workflow.Problems) []ProblemItem {
	var items []ProblemItem
	for _, p := range ps {
		items = append(items, ProblemItem{
			Code: p.Code, Severity: p.Severity(), Detail: p.Detail, Meant: p.Meant, File: p.Place.File, Pointer: p.Place.Pointer,
			Line: p.Place.Line, Column: p.Place.Column, Excerpt: p.Excerpt,
		})
	}
	return items
}

// Invalid is a 422 about one thing; pointer may be "".
func Invalid(code, pointer, detail string) *workflow.Error {
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: detail, Problems: workflow.Problems{
		{Code: code, Detail: detail, Place: workflow.Place{Pointer: pointer}},
	}}
}

// Shorten cuts what a caller sent, where it is said again.
func Shorten(s string) string { return workflow.CutChars(s, 80) }

// tellable finds what the caller may know about err.
func tellable(ctx context.Context, err error) *workflow.Error {
	var e *workflow.Error
	if errors.As(err, &e) {
		return e
	}
	var problems workflow.Problems
	if errors.As(err, &problems) {
		return &workflow.Error{Code: workflow.CodeDefinitionInvalid, Detail: countProblems(len(problems)), Problems: problems}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		// The request's own deadline; nothing below turned it into an outcome.
		return &workflow.Error{
			Code: workflow.CodeUnknownOutcome, RetryAfter: time.Second, Err: err,
			Detail: "the request took too long; it may have been applied: repeat it with the same Idempotency-Key",
		}
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return &workflow.Error{Code: workflow.CodeUnavailable, Detail: "the request was cancelled", Err: err, RetryAfter: time.Second}
	}
	return &workflow.Error{Code: workflow.CodeInternal, Detail: "something went wrong inside the node; its log has the request's id", Err: err}
}

func countProblems(n int) string {
	if n == 1 {
		return "the definition has 1 problem"
	}
	return "the definition has " + strconv.Itoa(n) + " problems"
}

// fail answers with what went wrong and logs what only the operator may know.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := tellable(r.Context(), err)
	code := e.Code
	st, ok := status[code]
	if !ok {
		st, code = http.StatusInternalServerError, workflow.CodeInternal
	}
	if (code == workflow.CodeUnknownOutcome || code == workflow.CodeUnavailable) && a.Config.Runtime != nil { // a node that starts has none
		e = toldFull(e, a.Config.Runtime.Intake().Fullness())
	}
	ExchangeOf(r).code = code
	id := requestID(r)
	switch {
	case st == http.StatusInternalServerError && code != CodeFaulted:
		a.log.ErrorContext(r.Context(), "request failed", slog.String("requestId", id), slog.String("method", r.Method),
			slog.String("route", routeOf(r)), slog.String("code", string(e.Code)), slog.Any("error", err))
	case e.Err != nil:
		a.log.InfoContext(r.Context(), "request refused", slog.String("requestId", id), slog.String("method", r.Method),
			slog.String("route", routeOf(r)), slog.String("code", string(e.Code)), slog.Any("error", err))
	}
	h := w.Header()
	if ExchangeOf(r).unread {
		refuse(w, r)
	}
	// What a handler prepared belongs to the answer that it did not give.
	h.Del("Location")
	h.Del("ETag")
	h.Del("Preference-Applied")
	if after := retryAfter(st, e.RetryAfter); after > 0 {
		h.Set("Retry-After", strconv.Itoa(after))
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(st)
	if r.Method == http.MethodHead {
		return
	}
	problem, err := a.Encode(r, Problem{
		Type: "about:blank", Title: title(code, st), Status: st, Detail: e.Detail, Code: code,
		RequestID: id, Errors: ProblemItems(e.Problems),
	})
	if err == nil {
		_, _ = w.Write(append(problem, '\n')) // the client may be gone
	}
}

// toldFull adds that etcd is full to what may come of it: that a write had no answer.
func toldFull(e *workflow.Error, full intake.Fullness) *workflow.Error {
	if full.Level < intake.Full {
		return e
	}
	told := *e
	told.Detail = strings.TrimPrefix(e.Detail+"; "+full.Line(), "; ")
	return &told
}

// retryAfter is in whole seconds, rounded up; every 503 and 429 has one.
func retryAfter(status int, wanted time.Duration) int {
	if wanted > 0 {
		return int(math.Ceil(wanted.Seconds()))
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		return 1
	}
	return 0
}

// CodeFaulted says that the workflow behind an endpoint faulted before it wrote
// an answer.
const CodeFaulted workflow.Code = "instance-faulted"
