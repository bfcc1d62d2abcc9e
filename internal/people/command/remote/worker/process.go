package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"github.com/weft-run/weft/pkg/apiclient"
)

var errTooMuch = fmt.Errorf("the program wrote more than %d KiB to standard output, and was ended: a result may have that much", mostResult>>10)

// process is the program at work on a task.
type process struct {
	crew *crew
	task *apiclient.ClaimedTask
	out  first
	errs last

	asked bool // it was asked to end before it had
}

func newProcess(c *crew, t *apiclient.ClaimedTask) *process {
	return &process{crew: c, task: t, out: first{most: mostResult}, errs: last{most: 2 * mostFinal, to: c}}
}

// run runs the program to its end, or to that of ctx. What is left of its process group then goes too. An
// [exec.ExitError] says that it ended with another code than 0, or by a signal; what is none, that it could not be run.
func (p *process) run(ctx context.Context) error {
	task, err := json.Marshal(p.task)
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p.out.full = stop
	cmd := exec.CommandContext(ctx, p.crew.path, p.crew.program[1:]...)
	cmd.Args[0] = p.crew.program[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(task, '\n')), &p.out, &p.errs
	cmd.Env = append(os.Environ(), "WEFT_TASK_ID="+p.task.TaskID, "WEFT_TASK_NAME="+p.task.Name, "WEFT_INSTANCE_ID="+p.task.InstanceID,
		"WEFT_ATTEMPT="+strconv.FormatInt(p.task.Attempt, 10))
	apart(cmd)
	cmd.Cancel = func() error {
		err := askToEnd(cmd)
		p.asked = err == nil
		return err
	}
	cmd.WaitDelay = p.crew.killAfter
	err = cmd.Run()
	left := errors.Is(err, exec.ErrWaitDelay) // it ended, and what it has started holds its output open
	if ctx.Err() != nil || left {
		killGroup(cmd)
	}
	switch {
	case p.out.over():
		return errTooMuch
	case left, cmd.ProcessState != nil && cmd.ProcessState.Success():
		return nil // also if it did not read all of its input
	case cmd.ProcessState != nil:
		return &exec.ExitError{ProcessState: cmd.ProcessState}
	}
	return err
}

// first keeps the first bytes of what is written to it, and calls full for more.
type first struct {
	most int
	full func()

	mu   sync.Mutex
	all  []byte
	more bool
}

func (f *first) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	room := f.most - len(f.all)
	f.all = append(f.all, b[:min(room, len(b))]...)
	if len(b) > room && !f.more {
		f.more = true
		f.full()
	}
	return len(b), nil
}

func (f *first) kept() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}

func (f *first) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.more
}

// last keeps the last bytes of what is written to it, and passes all on to the standard error of the worker.
type last struct {
	most int
	to   *crew

	mu  sync.Mutex
	end []byte
}

func (l *last) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.end = append(l.end, b...)
	if over := len(l.end) - l.most; over > 0 {
		l.end = append(l.end[:0], l.end[over:]...)
	}
	l.mu.Unlock()
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	_, _ = l.to.ask.ErrOut.Write(b) // who reads it may have gone, and the task goes on
	return len(b), nil
}

func (l *last) kept() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}
