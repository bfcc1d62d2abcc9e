package record

// Kinds are what the keys of this format begin with, up to the first slash.
var Kinds = []string{
	"ability", "bookmark", "by-correlation", "by-parent", "cancel", "content", "cron", "damaged", "dead", "definition", "definition-content", "definition-index", "definition-ref", "definition-retired",
	"definition-use", "definition-version", "endpoint", "finished", "gate", "idem", "idem-expiry", "incident", "incident-wanted", "index", "instance", "job", "job-open", "journal", "label", "limit", "limit-head", "limit-settle", "limit-taken", "limit-wait", "lock",
	"mailbox", "meta", "nodes", "part", "queue", "queue-mark", "route", "send", "sent", "signed-out", "task", "task-lease", "task-taken", "timer", "trigger", "user-task", "webhook", "webhook-at", "webhook-due", "webhook-failed",
}

// Span is a part of the index in which lists are looked for.
type Span struct{ From, End string }
