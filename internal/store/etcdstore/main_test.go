package etcdstore

import (
	"os"
	"testing"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }
