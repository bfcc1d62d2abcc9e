package runtime

import (
	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/pkg/runtime/front"
)

// What a caller of a [Runtime] gives and gets, by the names under which it is known here.
type (
	// Config joins the parts of a node.
	Config = front.Config
	// Key is a caller's Idempotency-Key: one effect and one answer per Scope and
	// Value as long as the store keeps it, 24 hours if nothing else is configured.
	// BodyHash tells a repeat from a reuse.
	Key = front.Key
	// Reply is what a request was answered with.
	Reply = answers.Reply
	// StartRequest asks for a new instance.
	StartRequest = front.StartRequest
	// StartResult is the instance after its first commit (Accepted false), or as it
	// is known to be durable, its first burst still running (Accepted true).
	StartResult = front.StartResult
	// TargetOutcome tells what a stimulus did to one instance.
	TargetOutcome = front.TargetOutcome
	// SendResult is the answer to a stimulus: outcomes per target, or the id of the
	// queue item that waits for a target.
	SendResult = front.SendResult
	// InstanceFilter selects instances; zero fields do not restrict.
	InstanceFilter = front.InstanceFilter
	// Paging says which part of a list of instances is asked for.
	Paging = front.Paging
	// InstancePage is a page of instances, read at one revision.
	InstancePage = front.InstancePage
	// Page is one page of a list; Next is "" at the end.
	Page[T any] = front.Page[T]
	// JournalQuery says which part of a journal is wanted.
	JournalQuery = front.JournalQuery
	// JournalPage is a part of a journal, all of it read at one revision.
	JournalPage = front.JournalPage
	// Variables are those of an instance as a commit left them.
	Variables = front.Variables
	// VariablesPart is what was asked of variables, and of which journal.
	VariablesPart = front.VariablesPart
	// StateExport is an instance as it is exported and imported.
	StateExport = front.StateExport
	// StateFile is a file of an exported instance.
	StateFile = front.StateFile
	// QueueItem is a stimulus that waits for a target, or for the gate of its start.
	QueueItem = front.QueueItem
	// Counts are how many instances there are.
	Counts = front.Counts
	// Count is how many instances of a version are in one sub-status.
	Count = front.Count
	// Lineage are an instance's ancestors and descendants.
	Lineage = front.Lineage
	// Relative is one of them.
	Relative = front.Relative
	// BookmarkFilter selects places where instances wait; zero fields do not restrict.
	BookmarkFilter = front.BookmarkFilter
	// AwaitingBookmark is a place where an instance waits.
	AwaitingBookmark = front.AwaitingBookmark
	// Receipts are what became of the requests with one Idempotency-Key.
	Receipts = front.Receipts
	// Receipt is what became of one of them.
	Receipt = front.Receipt
	// Balance is what was accepted and what became of it.
	Balance = front.Balance
	// TimerItem is one timer or cron occurrence to come.
	TimerItem = front.TimerItem
	// DeadLetterFilter selects dead letters; zero fields do not restrict.
	DeadLetterFilter = front.DeadLetterFilter
	// QueueFilter selects stimuli of the queue; zero fields do not restrict.
	QueueFilter = front.QueueFilter
	// Task is a RunTask that waits for an outside worker.
	Task = front.Task
	// DeadLetter is work that could not be done, with the reason.
	DeadLetter = front.DeadLetter
)
