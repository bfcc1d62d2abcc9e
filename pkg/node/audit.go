package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// buildAudit makes the log of who changed what: in a file of its own, or with
// everything else. Without credentials and without a file there is none: it would
// not know who.
func (n *Node) buildAudit() (*slog.Logger, error) {
	const name = "audit"
	if n.cfg.AuditLog == "" {
		if !n.cfg.authenticated() {
			return nil, nil
		}
		return n.log.With(slog.String("logger", name)), nil
	}
	f := &auditFile{path: n.cfg.AuditLog, log: n.log}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("audit-log: %w", err)
	}
	n.undo.Add("audit log", func(context.Context) error { return f.close() })
	return slog.New(n.secrets.Handler(slog.NewJSONHandler(f, nil))).With(slog.String("logger", name)), nil
}

// auditFile appends to a file that others may move away: it then begins a new
// one, within a second.
type auditFile struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	file   *os.File
	looked time.Time
	told   time.Time // when the last complaint was made
}

func (a *auditFile) open() error {
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if a.file != nil {
		err = a.file.Close()
	}
	a.file, a.looked = f, time.Now()
	return err
}

// Write writes one line. If that fails, the node's log says so and the call goes on:
// what the line is about has happened.
func (a *auditFile) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	if time.Since(a.looked) > time.Second && a.moved() {
		err = a.open()
	}
	n, werr := a.file.Write(line)
	if err = errors.Join(err, werr); err != nil && time.Since(a.told) > time.Minute {
		a.told = time.Now()
		a.log.ErrorContext(context.Background(), "audit log not written", slog.String("file", a.path), slog.Any("error", err))
	}
	return n, err
}

func (a *auditFile) moved() bool {
	a.looked = time.Now()
	at, err := os.Stat(a.path)
	mine, err2 := a.file.Stat()
	return err != nil || err2 != nil || !os.SameFile(at, mine)
}

func (a *auditFile) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.file.Sync(), a.file.Close())
}
