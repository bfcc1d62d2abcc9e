package refresh

import "context"

// Refresher indexes the triggers of stored definitions again: those of ids, or
// of all published ones if there are none.
type Refresher interface {
	Refresh(ctx context.Context, ids []string) (Result, error)
}

// Reloader reads definitions from their source again and publishes what is new.
type Reloader interface {
	Reload(ctx context.Context) (Result, error)
}

// Status tells who did the work.
type Status string

// The statuses of a [Result].
const (
	Completed         Status = "Completed"         // done here
	AlreadyInProgress Status = "AlreadyInProgress" // another one is doing it; nothing was done here
)

// Result is what became of a refresh or a reload.
type Result struct {
	Status       Status
	Refreshed    []string // ids
	NotRefreshed []NotRefreshed
	Holder       string // the node that is doing it
	Revision     int64  // of etcd, at which the last of Refreshed became so: a node that has it serves them all; 0: there are none
}

// NotRefreshed is a definition, or a file, that is not up to date, and why.
type NotRefreshed struct {
	ID     string
	Reason string
}

func newResult(s Status) Result {
	return Result{Status: s, Refreshed: []string{}, NotRefreshed: []NotRefreshed{}}
}

func (r *Result) not(id, reason string) {
	r.NotRefreshed = append(r.NotRefreshed, NotRefreshed{id, reason})
}
