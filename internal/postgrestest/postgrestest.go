// Package postgrestest starts PostgreSQL for tests.
//
// Guaranteed: a server of the test's own, which ends with it. Not guaranteed: that there is PostgreSQL: a test is skipped
// where its programs are not installed, unless WEFT_REQUIRE_TOOLS=1 asks for them.
package postgrestest

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
)

// program finds one of PostgreSQL.
func program(t testing.TB, name string) string {
	t.Helper()
	places, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(places) > 0 {
		return slices.Max(places)
	}
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	if os.Getenv("WEFT_REQUIRE_TOOLS") == "1" {
		t.Fatalf("there is no %s (apt-get install postgresql)", name)
	}
	t.Skipf("there is no %s (apt-get install postgresql)", name)
	return ""
}

// Start starts PostgreSQL in a directory of its own, which takes the user weft with a password, until the test ends. It
// gives the text of the connection.
func Start(t testing.TB) *url.URL {
	t.Helper()
	initdb, postmaster := program(t, "initdb"), program(t, "postgres")
	parent := ""
	if os.Getuid() == 0 {
		parent = "/tmp" // that of the run may be closed to the user that the server runs as
	}
	dir, err := os.MkdirTemp(parent, "weft-pg-") //nolint:usetesting // the same holds for a directory of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // it does not run as root
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Skipf("there is no user nobody to run PostgreSQL: %v", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte("pg-pass-word\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	begin := exec.CommandContext(t.Context(), initdb, "-D", data, "-U", "weft", "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync")
	begin.SysProcAttr, begin.Dir = attr, dir
	if out, err := begin.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	addr := freeaddr.Of(t)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(context.WithoutCancel(t.Context()), postmaster, "-D", data, "-c", "listen_addresses="+host, "-p", port, "-c", "unix_socket_directories=", "-c", "fsync=off")
	run.SysProcAttr, run.Dir = attr, dir
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGQUIT)
		_ = run.Wait()
	})
	u := &url.URL{Scheme: "postgres", User: url.UserPassword("weft", "pg-pass-word"), Host: addr, Path: "/postgres", RawQuery: "sslmode=disable"}
	ready := program(t, "pg_isready")
	polltest.Eventually(t, "PostgreSQL answers", func() bool {
		return exec.CommandContext(t.Context(), ready, "-q", "-h", host, "-p", port).Run() == nil
	})
	return u
}
