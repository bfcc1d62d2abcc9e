package etcdstore

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) {
	code := clustertest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
