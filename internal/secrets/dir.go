package secrets

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weft-run/weft/internal/follow"
)

// Dir is a directory with one file per secret: the file's name is the secret's,
// its content without the newline at its end the value. Files whose names begin
// with a dot are left alone, but for [noneFile]; so are directories. Links are followed.
// A secret whose file is gone is gone. One whose file is empty, cut or no good secret any more
// keeps its value, and a directory that lost all at once keeps them all: an unmounted one looks like that.
type Dir struct {
	path    string
	log     *slog.Logger
	current atomic.Pointer[Set]

	// Unread is told at each look whether some file cannot be taken as it is. It is set before Run.
	Unread func(bool)

	mu   sync.Mutex      // serialises reading
	said map[string]bool // problems that were logged; guarded by mu
}

// Open reads the directory. It returns an error if that is not possible; a file
// that is no good secret is logged and left out.
func Open(path string, log *slog.Logger) (*Dir, error) {
	d := &Dir{path: path, log: log}
	if err := d.Reload(context.Background()); err != nil {
		return nil, err
	}
	return d, nil
}

// Current is the set as it is now; nil for a nil Dir.
func (d *Dir) Current() *Set {
	if d == nil {
		return nil
	}
	return d.current.Load()
}

// noneFile says that a directory has no secrets and that this is meant.
const noneFile = ".none"

// Run follows changes until ctx ends.
func (d *Dir) Run(ctx context.Context) error {
	return follow.Run(ctx, func(ctx context.Context) error {
		well, err := d.reload(ctx)
		if d.Unread != nil {
			d.Unread(!well)
		}
		return err
	}, func(ctx context.Context, err error) {
		if err == nil {
			d.log.InfoContext(ctx, "the directory of secrets is read again", slog.String("dir", d.path))
			return
		}
		d.log.ErrorContext(ctx, "secrets not read again; those from before still count", slog.Any("error", err))
	})
}

// Reload reads the directory again. If it cannot be read the set stays as it was.
func (d *Dir) Reload(ctx context.Context) error {
	_, err := d.reload(ctx)
	return err
}

// reload tells also whether every file was taken.
func (d *Dir) reload(ctx context.Context) (well bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return false, fmt.Errorf("secrets-dir: %w", err)
	}
	before := d.current.Load()
	values, problems, files := d.values(ctx, entries, before)
	if before != nil && len(before.values) > 0 && files == 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == noneFile }) {
		return false, fmt.Errorf("secrets-dir %s had %d secrets and has none; if that is meant, put a file %s into it", d.path, len(before.values), noneFile)
	}
	d.said = problems
	if before == nil || !maps.Equal(before.values, values) {
		d.current.Store(build(values, formerOf(before, values)))
		d.log.InfoContext(ctx, "secrets read", slog.String("dir", d.path), slog.Int("secrets", len(values)))
	}
	return len(problems) == 0, nil
}

// values reads the secrets, and says how many files there are for some.
func (d *Dir) values(ctx context.Context, entries []os.DirEntry, before *Set) (values map[string]string, problems map[string]bool, files int) {
	values, problems = map[string]string{}, map[string]bool{}
	total := 0
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		value, ok, err := d.read(name)
		if !ok && err == nil {
			continue
		}
		files++
		was, known := before.Get(name)
		if err == nil {
			err = check(name, value)
		}
		if err == nil && known && follow.Cut([]byte(was), []byte(value)) {
			err = fmt.Errorf("secret %s is the beginning of what it was; if that is meant, restart the nodes", name)
		}
		if total += len(value); err == nil && (total > maxTotal || len(values) >= maxCount) {
			err = fmt.Errorf("there are more than %d secrets, or more than %d bytes of them", maxCount, maxTotal)
		}
		if err != nil {
			problems[name+err.Error()] = true
			d.complain(ctx, name, err, known)
			value = was
		}
		if err == nil || known {
			values[name] = value
		}
	}
	return values, problems, files
}

// complain logs a problem once for as long as it lasts. The error names files and
// sizes, never values.
func (d *Dir) complain(ctx context.Context, name string, err error, known bool) {
	switch {
	case d.said[name+err.Error()]:
	case known:
		d.log.ErrorContext(ctx, "secret not read again; its value from before still counts", slog.String("secret", name), slog.Any("error", err))
	default:
		d.log.WarnContext(ctx, "secret not readable", slog.String("secret", name), slog.Any("error", err))
	}
}

// formerOf are the values that were there before and are not now.
func formerOf(before *Set, values map[string]string) []formerValue {
	if before == nil {
		return nil
	}
	var out []formerValue
	for _, name := range slices.Sorted(maps.Keys(before.values)) {
		if v := before.values[name]; values[name] != v {
			out = append(out, formerValue{name, v})
		}
	}
	out = append(out, before.former...)
	return out[:min(len(out), maxFormer)]
}

// read gives the content of one file; false if it is a directory.
func (d *Dir) read(name string) (value string, ok bool, err error) {
	path := filepath.Join(d.path, name)
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	if info.IsDir() {
		return "", false, nil
	}
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxLength+3))
	if err != nil {
		return "", false, err
	}
	text := strings.TrimSuffix(string(raw), "\n")
	return strings.TrimSuffix(text, "\r"), true, nil
}
