package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresSettings are those that differ from the defaults; fsync,
// synchronous_commit and full_page_writes are on by default and stay so.
var postgresSettings = []string{"max_connections=300", "shared_buffers=512MB", "max_wal_size=4GB", "autovacuum=on", "fsync=on", "synchronous_commit=on"}

// postgres is a server of its own in a temporary directory.
type postgres struct {
	port int
	cmd  *exec.Cmd
}

// startPostgres starts Debian's Postgres: no service, no fixed port. Postgres
// refuses to run as root; then it runs as the user postgres.
func startPostgres(ctx context.Context, dir string) (*postgres, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "postgres")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	as, err := postgresUser(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	initdb.SysProcAttr, initdb.Dir = as, "/"
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"-D", data, "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(port)}
	for _, s := range postgresSettings {
		args = append(args, "-c", s)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &postgres{port: port, cmd: exec.Command(filepath.Join(bin, "postgres"), args...)}
	p.cmd.SysProcAttr, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = as, "/", log, log
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // it does not outlive this program
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.await(ctx); err != nil {
		said, _ := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("postgres is not ready: %w: %s", err, said), p.stop())
	}
	return p, nil
}

func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("there is no initdb: install Debian's postgresql (RUNLEVEL=1 apt-get install --no-install-recommends postgresql starts no service)")
}

// postgresUser makes dir the user's and says how to run as it.
func postgresUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func (p *postgres) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", p.port, database)
}

func (p *postgres) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, p.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *postgres) create(ctx context.Context, databases ...string) error {
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, d := range databases {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+d); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // at once: the data is thrown away
	_ = p.cmd.Wait()
	return nil
}

// cpu is the processor time of the server and all its processes, those that
// ended included.
func (p *postgres) cpu() time.Duration {
	pid := p.cmd.Process.Pid
	own := ticks(pid)
	if len(own) < 4 {
		return 0
	}
	all := own[0] + own[1] + own[2] + own[3] // the last two: children that ended
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for child := range strings.FieldsSeq(string(b)) {
		if n, err := strconv.Atoi(child); err == nil {
			if t := ticks(n); len(t) >= 2 {
				all += t[0] + t[1]
			}
		}
	}
	return time.Duration(all) * 10 * time.Millisecond
}

// ticks reads utime, stime, cutime and cstime of a process, in 10 ms.
func ticks(pid int) []int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name in parentheses may hold spaces; the times are the 12th to 15th
	// fields after it.
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 15 {
		return nil
	}
	var out []int64
	for _, s := range f[11:15] {
		n, _ := strconv.ParseInt(s, 10, 64)
		out = append(out, n)
	}
	return out
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
