package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
)

const (
	mostNames = 20  // as POST /tasks/claim takes
	mostTasks = 100 // at once
	mostTries = 1000

	leastLease, mostLease = time.Second, 24 * time.Hour
	mostPatience          = 24 * time.Hour
)

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	c := crew{ask: asker}
	cmd := &cobra.Command{
		Use: "worker NAME... -- COMMAND [ARG...]", Short: "Claim tasks of these names, and run a program for each: what it writes is the result",
		Long: "Claim tasks of these names, and run a program for each. It reads the task as JSON from its standard input, with what the task is for in\n" +
			"payload, and has WEFT_TASK_ID, WEFT_TASK_NAME, WEFT_INSTANCE_ID and WEFT_ATTEMPT in its environment. What it writes to standard output is the\n" +
			"result: JSON, or else a text. If it ends with another exit code than 0 the attempt has failed, and the last lines that it wrote to standard\n" +
			"error say why; the task is tried again until --attempts. It is ended when nobody waits for the task any more.\n" +
			"An interrupt lets the worker claim no more, wait for what runs up to --grace, and give the rest back; a second one gives it back at once.",
		Args: func(cmd *cobra.Command, args []string) error {
			switch dash := cmd.ArgsLenAtDash(); {
			case dash < 0 || dash == len(args):
				return errors.New("it takes the names of tasks, then --, then a command")
			case dash < 1 || dash > mostNames:
				return fmt.Errorf("it takes the names of 1 to %d tasks before --, and there are %d", mostNames, dash)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			c.names, c.program = args[:dash], args[dash:]
			if err := c.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("key") {
				return ask.Usage("--key names one request, and a worker sends many: leave it out")
			}
			timeout, err := cmd.Flags().GetDuration("timeout")
			if err != nil {
				return err
			}
			c.wait = min(longestWait, timeout/2)
			if c.api, err = asker.Client(); err != nil {
				return err
			}
			return c.work(cmd.Context())
		},
	}
	ask.Forms(cmd, "table")
	f := cmd.Flags()
	f.IntVar(&c.max, "max", 1, fmt.Sprintf("do up to so many tasks at once, 1 to %d", mostTasks))
	f.DurationVar(&c.lease, "lease", 30*time.Second, "after this without a heartbeat another worker gets a task, 1s to 24h; one is sent each third of it")
	f.StringVar(&c.worker, "worker", "", "name of this worker, for people who list tasks (default: the machine and the process)")
	f.IntVar(&c.attempts, "attempts", 3, "after so many failed attempts its activity faults")
	f.DurationVar(&c.grace, "grace", 30*time.Second, "when interrupted, wait so long for what runs")
	f.DurationVar(&c.killAfter, "kill-after", 10*time.Second, "kill a program that has not ended so long after it was asked to")
	return []*cobra.Command{cmd}
}

// check refuses what makes no sense before anything is claimed.
func (c *crew) check() error {
	switch {
	case c.max < 1 || c.max > mostTasks:
		return ask.Usage("--max is %d; it may be 1 to %d", c.max, mostTasks)
	case c.lease < leastLease || c.lease > mostLease:
		return ask.Usage("--lease is %v; it may be %v to %v", c.lease, leastLease, mostLease)
	case c.attempts < 1 || c.attempts > mostTries:
		return ask.Usage("--attempts is %d; it may be 1 to %d", c.attempts, mostTries)
	case c.grace < 0 || c.grace > mostPatience:
		return ask.Usage("--grace is %v; it may be 0s to %v", c.grace, mostPatience)
	case c.killAfter <= 0 || c.killAfter > mostPatience:
		return ask.Usage("--kill-after is %v; it must be above 0s, and may be up to %v", c.killAfter, mostPatience)
	}
	path, err := exec.LookPath(c.program[0])
	if err != nil {
		return ask.Usage("the command %s cannot be run: %w", c.program[0], errors.Unwrap(err))
	}
	c.path = path
	if c.worker == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "weft"
		}
		c.worker = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	return nil
}

// say tells the person at the worker what became of a task, a line each.
func (c *crew) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask.Note("weft: " + fmt.Sprintf(format, args...))
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
