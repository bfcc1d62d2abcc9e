package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
)

// Handler does a task. What it returns becomes the result, as JSON; nil is none. An error is tried again up to
// [Config].Attempts times, and faults the activity then; a [*FailureError] says whether. A panic is an error. An error after the end
// of ctx gives the task back.
type Handler func(ctx context.Context, t *Task) (any, error)

// Handlers are the functions by the names of the tasks that they do, 1 to 20.
type Handlers map[string]Handler

// FailureError says how a task failed: with Retry it is free again for another attempt, else its activity faults.
type FailureError struct {
	Kind    string // such as timeout, up to 256 bytes
	Message string // for people
	Retry   bool
}

func (f *FailureError) Error() string { return f.Kind + ": " + f.Message }

// Config has what may be chosen; zero fields are as said.
type Config struct {
	Name     string        // by which people see who has a task; the host and the process
	Max      int           // tasks at once; 1
	Lease    time.Duration // how long a task stays claimed without a heartbeat, 1s to 24h; 30s
	Grace    time.Duration // how long what runs may take to end; 30s
	Attempts int           // of a task whose handler returns an error; 3
	Log      *slog.Logger  // slog.Default()
}

// Causes of the end of a handler's context.
var (
	ErrInVain = errors.New("nobody waits for this task of this worker any more")
	ErrOver   = errors.New("the worker ends")
)

// Task is what a handler gets.
type Task struct {
	apiclient.ClaimedTask
	said chan apiclient.HeartbeatRequest // has room for the last word
}

// Decode reads the payload into what a pointer leads to, as encoding/json does.
func (t *Task) Decode(into any) error {
	raw, err := json.Marshal(t.Payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Say tells people how far the task is, in percent from 0 to 100, and what is done, up to 1 KiB. It does not wait: of two words
// in a moment the last one is told. It may be called by one goroutine at a time.
func (t *Task) Say(progress float64, text string) {
	select {
	case <-t.said:
	default:
	}
	t.said <- apiclient.HeartbeatRequest{Claim: t.Claim, Progress: &progress, Text: text}
}
