package chaos

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// options are how a run was asked for.
var options struct {
	seed     uint64
	duration time.Duration
	rounds   int
	report   string
	workers  int
	only     bool

	groupCommit   string
	resumeLocking string
	traits        string
}

func TestMain(m *testing.M) {
	flag.Uint64Var(&options.seed, "chaos.seed", 0, "seed of the first round (default: WEFT_CHAOS_SEED, or 1)")
	flag.DurationVar(&options.duration, "chaos.duration", testsize.Of(12*time.Second, 3*time.Second), "load of one round")
	flag.IntVar(&options.rounds, "chaos.rounds", 1, "rounds, each with the next seed and an etcd of its own")
	flag.StringVar(&options.report, "chaos.report", "", "write a report here, as JSON, and as a page beside it")
	flag.IntVar(&options.workers, "chaos.workers", 8, "callers at once")
	flag.BoolVar(&options.only, "chaos.lenient", !testsize.Whole(), "do not ask for full coverage: for looking for one thing")
	flag.StringVar(&options.traits, "chaos.traits", "", "traits for every round, beside those of its seed: large,long,tight,crowded,clocks,saves")
	flag.StringVar(&options.groupCommit, "chaos.group-commit", "mixed", "of the processes: on, off, or mixed: drawn for each")
	flag.StringVar(&options.resumeLocking, "chaos.resume-locking", "mixed", "of the nodes: auto, always, or mixed: drawn for each")
	if config := os.Getenv(memberEnv); config != "" {
		fmt.Fprintln(os.Stderr, beMember(config))
		os.Exit(1)
	}
	if config := os.Getenv(nodeEnv); config != "" {
		if err := beNode(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if options.seed == 0 {
		fromEnv, err := strconv.ParseUint(cmp.Or(os.Getenv("WEFT_CHAOS_SEED"), "1"), 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "WEFT_CHAOS_SEED:", err)
			os.Exit(1)
		}
		options.seed = fromEnv
	}
	// A link of toxiproxy whose far side broke in the middle of a chunk waits
	// for a reader for ever, and nothing of the library's ends it.
	const link = "github.com/Shopify/toxiproxy/v2.(*ToxicLink)."
	os.Exit(clustertest.RunClean(m, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction(link+"read"), goleak.IgnoreAnyFunction(link+"write")))
}
