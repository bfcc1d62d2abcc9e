package remote

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"
)

// place is a cluster that a person works with.
type place struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token,omitempty"`
	CACert string `yaml:"cacert,omitempty"`
}

// contexts is the file with the clusters of a person.
type contexts struct {
	Current  string           `yaml:"current,omitempty"`
	Contexts map[string]place `yaml:"contexts"`
}

// contextsFile is where contexts are kept.
func (a *app) contextsFile() (string, error) {
	dir := a.environ["XDG_CONFIG_HOME"]
	if dir == "" {
		home := cmp.Or(a.environ["HOME"], a.environ["USERPROFILE"])
		if home == "" {
			return "", usage("there is no home directory for contexts: set XDG_CONFIG_HOME, or use WEFT_SERVER and WEFT_TOKEN")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "weft", "config.yaml"), nil
}

// readContexts reads the file; without one there are no contexts. It has tokens, so that
// nobody else may read it.
func (a *app) readContexts() (contexts, error) {
	none := contexts{Contexts: map[string]place{}}
	name, err := a.contextsFile()
	if err != nil {
		return none, nil //nolint:nilerr // without a home there are no contexts
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return none, usage("%s has tokens, and others may read it: chmod 600 %s", name, shellQuote(name))
	}
	raw, err := readSmall(name, 1<<20, "the file of contexts")
	if err != nil {
		return none, err
	}
	var out contexts
	if err := yaml.Unmarshal(raw, &out); err != nil {
		return none, usage("%s cannot be read: %w", name, err)
	}
	if out.Contexts == nil {
		out.Contexts = map[string]place{}
	}
	return out, nil
}

// writeContexts leaves the old file or the new one, whole, and for its owner only.
func (a *app) writeContexts(c contexts) error {
	name, err := a.contextsFile()
	if err != nil {
		return err
	}
	raw, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// chosen is the context that is used; the zero one if there is none.
func (a *app) chosen() (place, error) {
	all, err := a.readContexts()
	if err != nil {
		return place{}, err
	}
	name := cmp.Or(a.context, a.environ["WEFT_CONTEXT"], all.Current)
	if name == "" {
		return place{}, nil
	}
	at, ok := all.Contexts[name]
	if !ok {
		return place{}, usage("there is no context %q; %s", name, known(all))
	}
	return at, nil
}

func known(all contexts) string {
	if len(all.Contexts) == 0 {
		return "weft login makes one"
	}
	return fmt.Sprintf("there are %v", slices.Sorted(maps.Keys(all.Contexts)))
}
