package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weft-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaryDir = dir
	testsize.AtOnce(4) // of three nodes and an etcd each
	return clustertest.RunClean(m)
}

var binaryDir string // removed when the tests are over

// binary is the program, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "weft")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "github.com/weft-run/weft/cmd/weft")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
