package expressiontest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// testdata/bombs.txt of a language holds expressions that would take hours or terabytes: a line
// "== name [finding of the review]", then the text, in which @repeat(n, "text") stands for n
// times the text. variables.text is a text of 1 MiB, variables.list a list of
// 349,525 numbers, as a request of 1 MiB may have them. Each bomb runs in a
// process of its own.

var (
	allBombs = flag.Bool("bombs", false, "run all bombs, not only every fifth")
	oneBomb  = flag.String("bomb", "", "run the bombs whose kind/name matches this pattern, and tell about each")
)

// What a bomb may take. The processor's time is that of a script of bombTime and
// what compiles it, with much room for other work on the machine; the resident
// memory is what docs/decisions/0005 promises, with that of the test itself. A
// process that takes much more is killed by the system.
const (
	bombTime      = 400 * time.Millisecond
	bombProcessor = 3 * time.Second
	bombKilled    = 20 // seconds of processor time
	bombWall      = 2 * time.Minute
	bombMemory    = 400 << 20
	bombAddresses = 1 << 30
	rlimitData    = 2 // RLIMIT_DATA: syscall has no name for it on all machines
)

// brokenBombs are those that take more than they may, with the finding that says
// so. One that is mended has to be taken off.
var brokenBombs = map[string]string{}

// bombKind is the variable that tells a process which language its bomb is in.
const bombKind = "WEFT_TEST_BOMB"

// Main is what TestMain of a language does: it runs the tests, or one bomb, in the
// process that [Bombs] started for it.
func Main(m *testing.M, e engine.Evaluator) {
	if os.Getenv(bombKind) != "" {
		os.Exit(explode(e))
	}
	os.Exit(m.Run())
}

// explode evaluates what it reads, and says how that ended.
func explode(e engine.Evaluator) int {
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = errors.Join(limit(rlimitData, bombAddresses), limit(syscall.RLIMIT_CPU, bombKilled), limit(syscall.RLIMIT_CORE, 0))
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	s := Example()
	s.Most = engine.Limits{Script: bombTime}
	list := make([]any, 349_525)
	for i := range list {
		list[i] = int64(i % 10)
	}
	s.Vars["text"], s.Vars["list"] = strings.Repeat("x", 1<<20), list
	_, err = Eval(context.Background(), e, string(source), s)
	var wrong *evaluation.Error
	switch {
	case err == nil:
		fmt.Println("it gave a value")
	case !errors.As(err, &wrong), recovered(wrong):
		fmt.Println("a bug:", err)
		return 4
	default:
		fmt.Println(workflow.CutBytes(strings.ReplaceAll(wrong.Error(), "\n", " "), 150))
	}
	return 0
}

func limit(what int, most uint64) error {
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most})
}

type bomb struct {
	kind, name, source string
}

var bombRepeat = regexp.MustCompile(`@repeat\((\d+), ("(?:[^"\\]|\\.)*")\)`)

func readBombs(t *testing.T, kind, before, after string) []bomb {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "bombs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var bombs []bomb
	for _, part := range strings.Split("\n"+string(b), "\n== ")[1:] {
		name, source, _ := strings.Cut(part, "\n")
		source = bombRepeat.ReplaceAllStringFunc(strings.TrimSuffix(source, "\n"), func(s string) string {
			m := bombRepeat.FindStringSubmatch(s)
			n, err1 := strconv.Atoi(m[1])
			text, err2 := strconv.Unquote(m[2])
			if err := errors.Join(err1, err2); err != nil {
				t.Fatalf("%s: %s: %v", name, s, err)
			}
			return strings.Repeat(text, n)
		})
		bombs = append(bombs, bomb{kind, name, before + source + after})
	}
	return bombs
}

// Bombs runs those of the language e that testdata/bombs.txt of the package under
// test holds, each in a process of its own; before and after go around each. The
// package needs [Main] as its TestMain.
func Bombs(t *testing.T, e engine.Evaluator, before, after string) {
	if testing.Short() {
		t.Skip("processes of their own")
	}
	bombs := readBombs(t, e.Kinds()[0], before, after)
	seen := map[string]bool{}
	only := regexp.MustCompile(*oneBomb)
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, b := range bombs {
		name := b.kind + "/" + b.name
		if seen[name] {
			t.Errorf("two bombs are called %s", name)
		}
		seen[name] = true
		if *oneBomb != "" && !only.MatchString(name) || *oneBomb == "" && !*allBombs && i%5 != 0 {
			continue
		}
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			said, problem := detonate(t.Context(), b)
			finding, broken := brokenBombs[name]
			switch {
			case problem != nil && !broken:
				t.Errorf("%s: %v: %s", name, problem, said)
			case problem == nil && broken:
				t.Errorf("%s (%s) is within its limits now: take it off the list", name, finding)
			default:
				t.Logf("%s: %s", name, said)
			}
		})
	}
	wait.Wait()
	for name := range brokenBombs {
		if strings.HasPrefix(name, e.Kinds()[0]+"/") && !seen[name] {
			t.Errorf("there is no bomb %s", name)
		}
	}
}

// detonate runs a bomb in a process of its own; a problem is what it took too much
// of.
func detonate(ctx context.Context, b bomb) (said string, problem error) {
	ctx, cancel := context.WithTimeout(ctx, bombWall)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, exe)
	c.Env = append(os.Environ(), bombKind+"="+b.kind, "GOMEMLIMIT=900MiB", "GOTRACEBACK=none")
	c.Stdin = strings.NewReader(b.source)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	if c.ProcessState == nil {
		return "", err
	}
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	usage, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
	peak := usage.Maxrss << 10
	said = fmt.Sprintf("%v of processor, %d MiB: %s", took.Round(time.Millisecond), peak>>20, evaluation.Excerpt(strings.TrimSpace(out.String())))
	switch {
	case err != nil:
		return said, fmt.Errorf("its process ended with %w", err)
	case took > bombProcessor:
		return said, fmt.Errorf("more than %v of processor time", bombProcessor)
	case peak > bombMemory:
		return said, fmt.Errorf("more than %d MiB of memory", bombMemory>>20)
	}
	return said, nil
}
