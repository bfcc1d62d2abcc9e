//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// apart gives a process a group of its own: an interrupt of a terminal is for the worker.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askToEnd asks a process, and what it has started, to end.
func askToEnd(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup ends what is left of the group of a process that has ended.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left
	}
}
