//go:build unix

package dev

import (
	"os/exec"
	"syscall"
)

// apart keeps the signals of a terminal from the process: an interrupt is for the one that
// ends all in order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// pause stops the process where it is, or lets it go on.
func (c *child) pause(stop bool) error {
	signal := syscall.SIGCONT
	if stop {
		signal = syscall.SIGSTOP
	}
	if err := c.cmd.Process.Signal(signal); err != nil {
		return err
	}
	c.paused = stop
	return nil
}
