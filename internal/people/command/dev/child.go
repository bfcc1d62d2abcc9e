package dev

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// child is a node in a process of its own. All its methods are for one goroutine.
type child struct {
	id          string
	program     []string // what starts it
	out, errOut io.Writer

	cmd    *exec.Cmd     // nil: it does not run
	ended  chan struct{} // closed when the process is over
	life   io.Closer     // the other end of its standard input: the child ends with it
	paused bool
	ready  bool // it has said so since it was started
}

// start starts the process.
func (c *child) start() error {
	cmd := exec.Command(c.program[0], c.program[1:]...) //nolint:noctx // it ends in stop, in its own way
	cmd.Stdout, cmd.Stderr = c.out, c.errOut
	cmd.Env = os.Environ()
	apart(cmd)
	life, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.id, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended shows in its state
	}()
	c.cmd, c.life, c.ended, c.paused, c.ready = cmd, life, ended, false, false
	return nil
}

// runs tells whether the process is there, also a paused one.
func (c *child) runs() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// kill ends the process as a loss of power does.
func (c *child) kill() {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.ended
	_ = c.life.Close()
	c.cmd, c.paused = nil, false
}

// stop lets the node drain and end, and kills it after the patience.
func (c *child) stop(patience time.Duration) {
	if c.cmd == nil {
		return
	}
	if c.paused {
		c.kill()
		return
	}
	_ = c.life.Close()
	select {
	case <-c.ended:
		c.cmd = nil
	case <-time.After(patience):
		c.kill()
	}
}
