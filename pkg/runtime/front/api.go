package front

import (
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/workflow"
)

// Key is a caller's Idempotency-Key: one effect and one answer per Scope and
// Value as long as the store keeps it, 24 hours if nothing else is configured.
// BodyHash tells a repeat from a reuse.
type Key = answers.Key

// What is read of instances and of what waits, by the names under which callers of a
// [Runtime] know it.
type (
	// InstanceFilter selects instances; zero fields do not restrict.
	InstanceFilter = find.Filter
	// Paging says which part of a list of instances is asked for.
	Paging = inspect.Paging
	// InstancePage is a page of instances, read at one revision.
	InstancePage = inspect.InstancePage
	// Page is one page of a list; Next is "" at the end.
	Page[T any] = inspect.Page[T]
	// JournalQuery says which part of a journal is wanted.
	JournalQuery = inspect.JournalQuery
	// JournalPage is a part of a journal, all of it read at one revision.
	JournalPage = inspect.JournalPage
	// Variables are those of an instance as a commit left them.
	Variables = inspect.Variables
	// VariablesPart is what was asked of variables, and of which journal.
	VariablesPart = inspect.VariablesPart
	// StateExport is an instance as it is exported and imported.
	StateExport = inspect.StateExport
	// StateFile is a file of an exported instance.
	StateFile = inspect.StateFile
	// QueueItem is a stimulus that waits for a target, or for the gate of its start.
	QueueItem = inspect.QueueItem
	// Counts are how many instances there are.
	Counts = inspect.Counts
	// Count is how many instances of a version are in one sub-status.
	Count = inspect.Count
	// Lineage are an instance's ancestors and descendants.
	Lineage = inspect.Lineage
	// Relative is one of them.
	Relative = inspect.Relative
	// BookmarkFilter selects places where instances wait; zero fields do not restrict.
	BookmarkFilter = inspect.BookmarkFilter
	// AwaitingBookmark is a place where an instance waits.
	AwaitingBookmark = inspect.AwaitingBookmark
	// Receipts are what became of the requests with one Idempotency-Key.
	Receipts = inspect.Receipts
	// Receipt is what became of one of them.
	Receipt = inspect.Receipt
	// Balance is what was accepted and what became of it.
	Balance = inspect.Balance
	// TimerItem is one timer or cron occurrence to come.
	TimerItem = inspect.TimerItem
	// DeadLetterFilter selects dead letters; zero fields do not restrict.
	DeadLetterFilter = inspect.DeadLetterFilter
	// QueueFilter selects stimuli of the queue; zero fields do not restrict.
	QueueFilter = inspect.QueueFilter
	// Task is a RunTask that waits for an outside worker.
	Task = inspect.Task
	// DeadLetter is work that could not be done, with the reason.
	DeadLetter = inspect.DeadLetter
)

// StartRequest asks for a new instance.
type StartRequest struct {
	DefinitionID  string
	Version       int    // 0: the published head
	InstanceID    string // "": made
	CorrelationID string
	Name          string
	Input         map[string]any
	Properties    map[string]any
	Key           *Key
	Trigger       string // the activity that starts it, which gets TriggerInput, instead of the root
	TriggerInput  map[string]any
	Wait          time.Duration // Execute: wait up to this for the end; 0: the first commit
}

// StartResult is the instance after its first commit (Accepted false), or as it
// is known to be durable, its first burst still running (Accepted true).
type StartResult struct {
	Instance workflow.Instance
	Accepted bool
	Response *workflow.Response // what WriteHttpResponse wrote in the first burst
}

// TargetOutcome tells what a stimulus did to one instance.
type TargetOutcome struct {
	InstanceID string
	Outcome    workflow.Outcome // started, resumed, accepted or refused
	Code       string
	Detail     string // why, for people

	Interrupted string // of a cancel: the activity whose call it ended

	problems *workflow.Problems // of alterations that were refused; nil: none
}

// SendResult is the answer to a stimulus: outcomes per target, or the id of the
// queue item that waits for a target.
type SendResult struct {
	Outcomes []TargetOutcome
	Queued   string
	Response *workflow.Response
	// Unanswered is until when the caller of an HTTP endpoint waited, for what an instance may write
	// yet; zero: nothing is to come.
	Unanswered time.Time
}

// Accepted reports whether anything is durable and not yet applied, so that 202
// is the honest answer.
func (r SendResult) Accepted() bool {
	for _, o := range r.Outcomes {
		if o.Outcome == workflow.OutcomeAccepted {
			return true
		}
	}
	return r.Queued != ""
}
