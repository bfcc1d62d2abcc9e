package check_test

import (
	"os"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
)

func TestMain(m *testing.M) {
	testsize.Roomy()
	os.Exit(m.Run())
}
