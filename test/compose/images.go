package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// standIn makes the image of one service without a registry.
type standIn struct {
	image    string              // what it begins with in docker-compose.yml
	binaries map[string][]string // program of this machine: its names in the image
	build    map[string]string   // Go package of test/compose/etcd: the program's name in the image
	tail     string              // of the Dockerfile
}

// busybox gives the images the few commands that their health checks use.
var busybox = []string{"/bin/sh", "/bin/wget"}

var standIns = []standIn{
	{
		image: "gcr.io/etcd-development/etcd:",
		build: map[string]string{"go.etcd.io/etcd/server/v3": "/usr/local/bin/etcd", "go.etcd.io/etcd/etcdctl/v3": "/usr/local/bin/etcdctl"},
		tail:  "CMD [\"/usr/local/bin/etcd\"]\n",
	},
	{
		image:    "haproxy:",
		binaries: map[string][]string{"haproxy": {"/usr/local/sbin/haproxy"}, "busybox": busybox},
		tail: "USER 99:99\nSTOPSIGNAL SIGUSR1\n" +
			"CMD [\"haproxy\", \"-W\", \"-db\", \"-f\", \"/usr/local/etc/haproxy/haproxy.cfg\"]\n",
	},
	{
		image:    "prom/prometheus:",
		binaries: map[string][]string{"prometheus": {"/bin/prometheus"}, "busybox": busybox},
		tail: "COPY --chown=65534:65534 prometheus /prometheus\nWORKDIR /prometheus\nUSER 65534:65534\n" +
			"ENTRYPOINT [\"/bin/prometheus\"]\n",
	},
}

// buildImages builds the node's image, and the stand-ins that are not there, or
// all of them.
func buildImages(ctx context.Context, all bool) error {
	file, err := os.ReadFile("docker-compose.yml")
	if err != nil {
		return fmt.Errorf("run this in the root of the repository: %w", err)
	}
	fmt.Println("building the node")
	if _, err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", "weft", "./cmd/weft"); err != nil {
		return err
	}
	if _, err := command(ctx, []string{"DOCKER_BUILDKIT=0"}, "docker", "build", "--target", "prebuilt", "--tag", "weft", "."); err != nil {
		return err
	}
	for _, s := range standIns {
		name := regexp.MustCompile(regexp.QuoteMeta(s.image) + `\S+`).FindString(string(file))
		if name == "" {
			return fmt.Errorf("docker-compose.yml uses no image %s…; this program is for an older one", s.image)
		}
		if _, err := docker(ctx, "image", "inspect", name); err == nil && !all {
			continue
		}
		fmt.Println("building a stand-in for", name)
		if err := s.make(ctx, name); err != nil {
			return fmt.Errorf("build a stand-in for %s: %w", name, err)
		}
	}
	return nil
}

// make lays out a root file system with the programs and what they load, and
// builds an image from it.
func (s standIn) make(ctx context.Context, name string) (err error) {
	dir, err := os.MkdirTemp("", "weft-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root := filepath.Join(dir, "root")
	for _, d := range []string{"root/tmp", "root/etc", "prometheus"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	for pkg, to := range s.build {
		if _, err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "-C", "test/compose/etcd", "build", "-trimpath", "-ldflags", "-s -w", "-o", root+to, pkg); err != nil {
			return err
		}
	}
	for program, to := range s.binaries {
		if err := install(ctx, root, program, to); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "prometheus", ".keep"), nil, 0o600); err != nil {
		return err
	}
	text := "FROM scratch\nENV PATH=/usr/local/sbin:/usr/local/bin:/bin\nCOPY root /\n" + s.tail
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o600); err != nil {
		return err
	}
	_, err = command(ctx, []string{"DOCKER_BUILDKIT=0"}, "docker", "build", "--tag", name, dir)
	return err
}

// packages says where a program comes from.
var packages = map[string]string{"haproxy": "haproxy", "prometheus": "prometheus", "busybox": "busybox-static"}

// install copies a program of this machine, and the libraries that it loads,
// into a root file system.
func install(ctx context.Context, root, program string, to []string) error {
	from, err := find(program)
	if err != nil {
		return fmt.Errorf("%w (apt-get install %s)", err, packages[program])
	}
	for _, t := range to {
		if err := copyFile(from, root+t); err != nil {
			return err
		}
	}
	loaded, err := command(ctx, nil, "ldd", from)
	if err != nil {
		if strings.Contains(err.Error(), "not a dynamic executable") {
			return nil
		}
		return err
	}
	for _, lib := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(loaded, -1) {
		if err := copyFile(lib[1], root+lib[1]); err != nil {
			return err
		}
	}
	return nil
}

// find looks where daemons are, too: a user's path may leave that out.
func find(program string) (string, error) {
	if p, err := exec.LookPath(program); err == nil {
		return p, nil
	}
	at := slices.IndexFunc([]string{"/usr/sbin/", "/sbin/"}, func(d string) bool { _, err := os.Stat(d + program); return err == nil })
	if at < 0 {
		return "", fmt.Errorf("there is no %s on this machine", program)
	}
	return []string{"/usr/sbin/", "/sbin/"}[at] + program, nil
}

func copyFile(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
