package refresh

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// file is a definition's source in the directory, or why it could not be read.
type file struct {
	name   string // relative to the directory, with slashes
	source []byte
	err    error
}

// readDirectory reads the definition files of a directory, in the order of
// their names. Nothing outside is read, wherever links lead.
func readDirectory(dir string) ([]file, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of definitions: %w", err)
	}
	defer root.Close()
	var files []file
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			files = append(files, file{name: name, err: err})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && isDefinition(name):
			src, err := readFile(root, name)
			files = append(files, file{name, src, err})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the directory of definitions: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// isDefinition tells by the name; tests of definitions lie beside them and are
// called *.test.yaml.
func isDefinition(name string) bool {
	if ext := path.Ext(name); strings.HasSuffix(strings.ToLower(strings.TrimSuffix(name, ext)), ".test") {
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

var errNotRegular = errors.New("it is not a regular file")

func readFile(root *os.Root, name string) ([]byte, error) {
	// Before it is opened: opening a pipe waits for a writer.
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, workflow.MaxSource+1)) // one more, so that too large is told
}
