package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// packaged makes the packages and the bill of materials of a version from the program of the shared cluster, and gives their directory.
func packaged(t *testing.T, version string) string {
	t.Helper()
	c := cluster()
	if c.err != nil {
		t.Fatal(c.err)
	}
	dist := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", ".ci/run", "package", "bill")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", "BINARY="+c.program, "OS=linux", "ARCH="+runtime.GOARCH, "VERSION="+version, "SOURCE_DATE_EPOCH=1700000000", "DIST="+dist)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make the packages: %v\n%s", err, out)
	}
	return dist
}

// What is built for a release is built without what Go knows of the repository, and tells its version and its commit all the same.
func TestAReleaseKnowsItsCommit(t *testing.T) {
	const version, commit = "1.2.3", "0123456789abcdef0123456789abcdef01234567"
	program := filepath.Join(t.TempDir(), "weft")
	build := exec.CommandContext(t.Context(), "bash", ".ci/run", "binary")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "BINARY="+program, "VERSION=v"+version, "COMMIT="+commit, "SOURCE_DATE_EPOCH=1700000000")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build it: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "version", "-o", "json").Output()
	var told struct{ Version, Commit string }
	if err := errors.Join(err, json.Unmarshal(out, &told)); err != nil || told.Version != "v"+version || told.Commit != commit {
		t.Errorf("it says %s (%v), want v%s and %s", out, err, version, commit)
	}
}

// A root of its own is the machine: dpkg puts the package there, and its scripts know that nothing runs in it.
func TestThePackageIsInstalledUpgradedAndRemoved(t *testing.T) {
	dpkg := tool(t, "dpkg", "dpkg")
	first, again, second := packaged(t, "1.2.3"), packaged(t, "1.2.3"), packaged(t, "1.3.0")
	deb := func(dist, version string) string {
		return filepath.Join(dist, fmt.Sprintf("weft_%s_%s.deb", version, runtime.GOARCH))
	}
	for _, pattern := range []string{"*.deb", "*.rpm", "*.cdx.json"} {
		a, errA := filepath.Glob(filepath.Join(first, pattern))
		b, errB := filepath.Glob(filepath.Join(again, pattern))
		if errA != nil || errB != nil || len(a) != 1 || len(b) != 1 {
			t.Fatalf("packages: %v, %v", a, b)
		}
		if !bytes.Equal(bytesOf(t, a[0]), bytesOf(t, b[0])) {
			t.Errorf("%s is another one when it is made again", filepath.Base(a[0]))
		}
	}
	machine := t.TempDir()
	install := func(args ...string) {
		t.Helper()
		admin := filepath.Join(machine, "var/lib/dpkg")
		for _, dir := range []string{"info", "updates", "triggers"} {
			if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		status, err := os.OpenFile(filepath.Join(admin, "status"), os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		status.Close()
		run(t, root, dpkg, append([]string{"--root=" + machine, "--log=/dev/null", "--force-not-root", "--force-script-chrootless", "--force-bad-path", "--force-confold"}, args...)...)
	}
	install("--install", deb(first, "1.2.3"))
	for _, name := range []string{
		"usr/lib/systemd/system/weft.service", "usr/lib/sysusers.d/weft.conf", "usr/share/man/man1/weft.1.gz", "usr/share/man/man1/weft-dev.1.gz",
		"usr/share/bash-completion/completions/weft", "usr/share/doc/weft/copyright", "etc/weft/weft.yaml",
	} {
		if _, err := os.Stat(filepath.Join(machine, name)); err != nil {
			t.Error(err)
		}
	}
	config, data := filepath.Join(machine, "etc/weft/weft.yaml"), filepath.Join(machine, "var/lib/weft")
	settings := strings.Replace(string(bytesOf(t, config)), "data-dir: /var/lib/weft", "data-dir: "+data, 1)
	if err := os.WriteFile(config, []byte(settings+"\nhttp-addr: 127.0.0.1:0\ndrain-delay: 0s\nlog-format: json\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	edited := bytesOf(t, config)

	ran(t, machine, http.MethodPost, "/api/v1/definitions", "id: kept\noutputs: {word: \"${{ 'kept' }}\"}\nroot:\n  - writeLine: Hi\n", http.StatusCreated)
	install("--install", deb(second, "1.3.0"))
	if !bytes.Equal(bytesOf(t, config), edited) {
		t.Error("the upgrade has changed the configuration")
	}
	if got := ran(t, machine, http.MethodPost, "/api/v1/definitions/kept/execute", "", http.StatusOK); !strings.Contains(got, `"word":"kept"`) {
		t.Errorf("after the upgrade: %s", got)
	}
	install("--remove", "weft")
	if _, err := os.Stat(filepath.Join(machine, "usr/bin/weft")); err == nil {
		t.Error("the program is there after the package was removed")
	}
	if left, err := os.ReadDir(filepath.Join(data, "etcd")); err != nil || len(left) == 0 {
		t.Errorf("the data has gone with the package: %v, %v", left, err)
	}
	if !bytes.Equal(bytesOf(t, config), edited) {
		t.Error("the configuration has gone with the package")
	}
}

// ran starts the installed program as the unit does, asks it for something, and lets it end.
func ran(t *testing.T, machine, method, path, body string, want int) string {
	t.Helper()
	unit := string(bytesOf(t, filepath.Join(machine, "usr/lib/systemd/system/weft.service")))
	_, line, _ := strings.Cut(unit, "\nExecStart=")
	line, _, _ = strings.Cut(line, "\n")
	args := strings.Fields(line)
	if len(args) == 0 {
		t.Fatal("the unit starts nothing")
	}
	for i, arg := range args {
		if strings.HasPrefix(arg, "/") {
			args[i] = filepath.Join(machine, arg)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	addr, _, err := startNode(cmd)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Errorf("%s %s: %d %s, %v", method, path, resp.StatusCode, raw, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	select {
	case <-ended:
	case <-ctx.Done():
		t.Fatal("it does not end")
	}
	return string(raw)
}

func bytesOf(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The unit lets the node drain as long as it may, and takes from it what it does not need.
func TestTheUnitFitsTheNode(t *testing.T) {
	unit := strings.Split(string(bytesOf(t, filepath.Join(root, "deploy/package/weft.service"))), "\n")
	for _, line := range []string{
		"User=weft", "ExecStart=/usr/bin/weft --config /etc/weft/weft.yaml", "TimeoutStopSec=60", "Restart=on-failure", "Type=notify", "TimeoutStartSec=infinity", "WatchdogSec=60", "StateDirectory=weft",
		"NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "WantedBy=multi-user.target",
	} {
		if !slices.Contains(unit, line) {
			t.Errorf("weft.service has no line %q", line)
		}
	}
}

// What the package's scripts ask of systemd, at each step of .deb (words) and .rpm (counts). A systemd that is there and
// refuses everything keeps no package from being installed or removed.
func TestThePackagesScripts(t *testing.T) {
	// Written by another process, before anything runs beside this: a child of this one that begins meanwhile would
	// hold the file open, and what is open to be written cannot be run (ETXTBSY).
	programs := t.TempDir()
	run(t, programs, "/bin/sh", "-c", `
printf '#!/bin/sh\necho "$*" >>"$HEARD"\n[ "$BROKEN" != 1 ]\n' >systemctl
printf '#!/bin/sh\n' >systemd-sysusers
chmod 755 systemctl systemd-sysusers`)
	t.Parallel()
	const reload, restart, stop = "daemon-reload", "try-restart weft.service", "disable --now weft.service"
	for _, c := range []struct {
		script string
		args   []string
		want   []string
	}{
		{"postinstall.sh", []string{"configure", ""}, []string{reload}},
		{"postinstall.sh", []string{"configure", "1.2.3"}, []string{reload, restart}},
		{"postinstall.sh", []string{"abort-upgrade", "1.2.3"}, nil},
		{"postinstall.sh", []string{"1"}, []string{reload}},
		{"postinstall.sh", []string{"2"}, []string{reload, restart}},
		{"preremove.sh", []string{"upgrade", "1.3.0"}, nil},
		{"preremove.sh", []string{"remove"}, []string{stop}},
		{"preremove.sh", []string{"1"}, nil},
		{"preremove.sh", []string{"0"}, []string{stop}},
		{"postremove.sh", []string{"remove"}, []string{reload}},
		{"postremove.sh", []string{"purge"}, []string{reload}},
		{"postremove.sh", []string{"0"}, []string{reload}},
	} {
		for _, machine := range []string{"with systemd", "with a broken systemd", "without systemd", "root of another machine"} {
			t.Run(strings.Join(append([]string{c.script}, c.args...), " ")+" "+machine, func(t *testing.T) {
				t.Parallel()
				want := c.want
				if machine != "with systemd" && machine != "with a broken systemd" {
					want = nil
				}
				if got := systemdHears(t, programs, machine, c.script, c.args); !slices.Equal(got, want) {
					t.Errorf("systemd was asked for %q, want %q", got, want)
				}
			})
		}
	}
}

// systemdHears runs a script with programs of the test in the place of systemd's, and gives what they were asked.
func systemdHears(t *testing.T, programs, machine, script string, args []string) []string {
	t.Helper()
	dir := t.TempDir()
	booted, heard := filepath.Join(dir, "booted"), filepath.Join(dir, "heard")
	source := string(bytesOf(t, filepath.Join(root, "deploy/package", script)))
	if !strings.Contains(source, "/run/systemd/system") {
		t.Fatalf("%s does not ask whether systemd runs", script)
	}
	// The shell reads it, so that nothing is run that was open here.
	if err := os.WriteFile(filepath.Join(dir, script), []byte(strings.ReplaceAll(source, "/run/systemd/system", booted)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{filepath.Join(dir, script)}, args...)...)
	cmd.Env = []string{"PATH=" + programs, "HEARD=" + heard}
	switch machine {
	case "with a broken systemd":
		cmd.Env = append(cmd.Env, "BROKEN=1")
		fallthrough
	case "with systemd":
		if err := os.Mkdir(booted, 0o755); err != nil {
			t.Fatal(err)
		}
	case "root of another machine":
		cmd.Env = append(cmd.Env, "DPKG_ROOT="+dir)
		if err := os.Mkdir(booted, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("it fails: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(heard)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var asked []string
	for line := range strings.Lines(string(raw)) {
		asked = append(asked, strings.TrimSpace(line))
	}
	return asked
}
