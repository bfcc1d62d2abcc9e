//go:build !unix

package worker

import "os/exec"

func apart(*exec.Cmd) {}

func askToEnd(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}
