package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/command/ask"
)

// maxFiles bounds what is looked through each time: a home directory is no directory of definitions.
const maxFiles = 20_000

// folder knows which definitions in a directory have changed.
type folder struct {
	dir    string
	say    func(format string, args ...any)
	files  map[string]file
	unread map[string]string // by path: why it could not be read, as it was said
}

// file is what was last seen of a file.
type file struct {
	size int64
	at   time.Time
	told bool // what was seen has been given as changed
}

// look gives the files that have changed since the look before, and those that are gone. A file
// that is being written is given once it rests from one look to the next; at the first look all are given.
func (f *folder) look() (changed, gone []string, err error) {
	seen, err := f.read()
	if err != nil {
		return nil, nil, err
	}
	if _, all := f.unread[f.dir]; all { // nothing is known, and nothing said to be gone
		return nil, nil, nil
	}
	for path, now := range seen {
		before, known := f.files[path]
		rests := known && before.size == now.size && before.at.Equal(now.at)
		now.told = rests && before.told
		if f.files == nil || rests && !before.told {
			changed, now.told = append(changed, path), true
		}
		seen[path] = now
	}
	for path := range f.files {
		if _, there := seen[path]; !there {
			gone = append(gone, path)
		}
	}
	f.files = seen
	slices.Sort(changed)
	slices.Sort(gone)
	return changed, gone, nil
}

// read gives the definitions that are there. What goes away while it reads is not there; what
// cannot be read is left out, and said once.
func (f *folder) read() (map[string]file, error) {
	seen, entries, unread := map[string]file{}, 0, map[string]string{}
	defer func() { f.unread = unread }()
	skip := func(path string, err error) {
		if unread[path] = err.Error(); f.unread[path] != unread[path] {
			f.say("not read       %v", err)
		}
	}
	return seen, filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > maxFiles {
			return fmt.Errorf("%s has more than %d files: name the directory with the definitions", f.dir, maxFiles)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != f.dir:
			return nil
		case err != nil:
			skip(path, err)
			return nil
		case d.IsDir() && path != f.dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !ask.IsDefinitionFile(path):
			return nil
		}
		info, err := os.Stat(path)
		if err == nil {
			seen[path] = file{size: info.Size(), at: info.ModTime()}
		} else if !errors.Is(err, fs.ErrNotExist) {
			skip(path, err)
		}
		return nil
	})
}

// again lets the next look give all files.
func (f *folder) again() { f.files = nil }
