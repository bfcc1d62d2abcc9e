package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// lookAgain is how often weft test --watch looks at its files. There is no library for
// it: the system's own notices miss editors that write a new file over the old one.
const lookAgain = 200 * time.Millisecond

// watchTests runs test files, and again whenever one of them, or a definition that they
// name, changes, until ctx ends.
func watchTests(ctx context.Context, w io.Writer, args []string, opts workflowtest.FileOptions) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	var read []string
	for {
		before := looks(args, read) // a change during the run counts
		report, err := runTests(w, args, opts, false)
		if err != nil && !errors.Is(err, errFailed) && len(before) == 0 {
			return err // there is nothing to wait for
		}
		if err != nil {
			fmt.Fprintln(w, err)
		}
		if report != nil && report.reads != nil && !slices.Equal(read, report.reads) {
			read = report.reads
			maps.Copy(before, looks(nil, read))
		}
		for maps.Equal(before, looks(args, read)) {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
		fmt.Fprintln(w)
	}
}

// look is how a file looks from outside.
type look struct {
	changed time.Time
	size    int64
}

// looks tells how the files look: those that are named, all that may be definitions or
// tests in and below directories, and those beside a test file.
func looks(args, read []string) map[string]look {
	out := map[string]look{}
	see := func(file string) {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			out[file] = look{info.ModTime(), info.Size()}
		}
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			for _, ext := range []string{"*.yaml", "*.yml", "*.json"} {
				beside, _ := filepath.Glob(filepath.Join(filepath.Dir(arg), ext))
				for _, file := range beside {
					see(file)
				}
			}
			see(arg)
			continue
		}
		_ = filepath.WalkDir(arg, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				see(file)
			}
			return nil // what cannot be read does not change
		})
	}
	for _, file := range read {
		see(file)
	}
	return out
}
