package etcdstore

import (
	"os"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) {
	testsize.Checks(100, 25)
	os.Exit(clustertest.RunClean(m))
}
