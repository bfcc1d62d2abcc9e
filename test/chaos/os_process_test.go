package chaos

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// launcher starts processes that are killed by the kernel when this one ends,
// however it ends: a process that stands still would stay for ever otherwise.
// The kernel goes by the thread that started them, so one thread starts all.
type launcher struct{ starts chan func() }

func newLauncher(tb testing.TB) *launcher {
	tb.Helper()
	l := &launcher{starts: make(chan func())}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for start := range l.starts {
			start()
		}
	}()
	tb.Cleanup(func() {
		close(l.starts)
		<-ended
	})
	return l
}

// osProcess is a process of the test.
type osProcess struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu      sync.Mutex
	last    []string // lines of standard error; guarded by mu
	stopped bool     // it stands still, by our doing; guarded by mu
}

// keptLines of what a process says are shown when it dies by itself.
const keptLines = 40

// start runs a command; each line of its standard error goes to said, which may
// be nil.
func (l *launcher) start(cmd *exec.Cmd, log io.Writer, said func(line []byte)) (*osProcess, error) {
	p := &osProcess{cmd: cmd, ended: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	l.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				p.heard(string(line))
				_, _ = log.Write(line)
				if said != nil {
					said(line)
				}
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait() // the exit code says it
	}()
	return p, nil
}

func (p *osProcess) heard(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = append(p.last, line); len(p.last) > 2*keptLines {
		p.last = append([]string(nil), p.last[keptLines:]...)
	}
}

// tail is the end of what the process said.
func (p *osProcess) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.last[max(0, len(p.last)-keptLines):], "")
}

func (p *osProcess) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the process as a power cut does.
func (p *osProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// terminate asks the process to end, and gives its exit code; -1 if it had to be
// killed.
func (p *osProcess) terminate(limit time.Duration) int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-late.C:
		p.kill()
		return -1
	}
}

// stop stops the process where it is, and returns when each of its threads
// stands still: the signal alone takes effect some time later.
func (p *osProcess) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	p.mark(true)
	for began := time.Now(); !p.stands(); time.Sleep(time.Millisecond) {
		if !p.alive() {
			return os.ErrProcessDone
		}
		if time.Since(began) > 10*time.Second {
			return fmt.Errorf("process %d does not stand still", p.cmd.Process.Pid)
		}
	}
	return nil
}

// resume lets it go on.
func (p *osProcess) resume() {
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // it may have ended
	p.mark(false)
}

func (p *osProcess) mark(stopped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = stopped
}

func (p *osProcess) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// stands reports whether every thread of the process is stopped.
func (p *osProcess) stands() bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			return false
		}
		// pid (command) state …; the command may hold anything but ends with ).
		state := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if len(state) == 0 || state[0] != "T" {
			return false
		}
	}
	return true
}
