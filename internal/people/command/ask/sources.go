package ask

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-run/weft/pkg/apiclient"
)

// LooksLikeFile tells files from ids: they exist, have a folder, or end as definitions do.
func LooksLikeFile(arg string) bool {
	if arg == "-" || strings.ContainsAny(arg, `/\`) && !strings.HasPrefix(arg, "definitions/") && !strings.HasPrefix(arg, "instances/") {
		return true
	}
	return IsDefinitionFile(arg)
}

// IsDefinitionFile tells definitions by their names from tests and all else.
func IsDefinitionFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return !strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml"), ".test")
	case ".json":
		return true
	}
	return false
}

// ReadDefinition reads a definition from a file or, for -, from standard input. Of a directory it leaves out what declares activity types, and says so.
func (a *Asker) ReadDefinition(name string) ([]byte, error) {
	src, err := a.ReadSmall(name, MaxBody, "a definition")
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(string(src)) == "":
		return nil, Usage("%s is empty", name)
	case bytes.HasPrefix(src, []byte("PK\x03\x04")):
		return nil, Usage("%s is a zip archive: unpack it, and name the directory (weft migrate elsa reads the archive itself)", name)
	}
	return src, nil
}

// ContentType says in which notation a file is.
func ContentType(name string) apiclient.Option {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return apiclient.ContentType("application/json")
	case ".yaml", ".yml":
		return apiclient.ContentType("application/yaml")
	}
	return apiclient.ContentType("application/x-www-form-urlencoded") // told by its look
}

// Source is a definition to be published.
type Source struct {
	Name string // of the file; - is standard input
	Src  []byte
}

// WriteFile leaves what was there or the new content, whole; of an old file the mode stays, a new one is for its owner only.
func WriteFile(name string, content []byte) error {
	if there, err := filepath.EvalSymlinks(name); err == nil {
		name = there // and the link stays
	}
	mode := fs.FileMode(0o600)
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular(): // a terminal, a pipe
		return os.WriteFile(name, content, mode)
	case err == nil:
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".weft-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

// LinkedDirectory is a link to a directory below one of the arguments, of which nothing is read; "" if there is none.
func LinkedDirectory(args []string) (link string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			continue // who reads it says what is wrong
		}
		err := walk(arg, func(path string, linked bool) error {
			if linked {
				link = path
				return filepath.SkipAll
			}
			return nil
		})
		if link != "" || err != nil {
			return link, err
		}
	}
	return "", nil
}

// walk gives what is below a directory and no directory, without what is hidden. linked: a link to a directory.
func walk(dir string, each func(path string, linked bool) error) error {
	top := dir + string(filepath.Separator) // so that it may be a link itself
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink == 0:
			return each(path, false)
		}
		there, err := os.Stat(path)
		return each(path, err == nil && there.IsDir() && !strings.HasPrefix(d.Name(), "."))
	})
}

// Files reads files, those of a directory and of what is below it that are wanted, and standard
// input for -. What is wanted is told where a directory has none. Of links only those to files are
// followed below a directory, and the others are told.
func (a *Asker) Files(args []string, what string, wanted func(name string) bool, read func(name string) ([]byte, error)) ([]Source, error) {
	var out []Source
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			src, err := read(arg)
			if err != nil {
				return nil, err
			}
			out = append(out, Source{arg, src})
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(out)
		err = walk(arg, func(path string, linked bool) error {
			switch {
			case linked:
				a.Note(path + ": links to directories are not followed; name it too, if it is meant")
				return nil
			case !wanted(path):
				return nil
			}
			src, err := read(path)
			out = append(out, Source{path, src})
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, Usage("%s has no %s", arg, what)
		}
	}
	return out, nil
}
