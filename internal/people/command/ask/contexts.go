package ask

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/apiclient"
)

// Place is a cluster that a person works with.
type Place struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token,omitempty"`
	CACert string `yaml:"cacert,omitempty"`
}

// Contexts is the file with the clusters of a person.
type Contexts struct {
	Current  string           `yaml:"current,omitempty"`
	Contexts map[string]Place `yaml:"contexts"`
}

// contextsFile is where contexts are kept.
func (a *Asker) contextsFile() (string, error) {
	dir := a.environ["XDG_CONFIG_HOME"]
	if dir == "" {
		home := cmp.Or(a.environ["HOME"], a.environ["USERPROFILE"])
		if home == "" {
			return "", Usage("there is no home directory for contexts: set XDG_CONFIG_HOME, or use WEFT_SERVER and WEFT_TOKEN")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "weft", "config.yaml"), nil
}

// ReadContexts reads the file; without one there are no contexts. It has tokens, so that
// nobody else may read it.
func (a *Asker) ReadContexts() (Contexts, error) {
	none := Contexts{Contexts: map[string]Place{}}
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
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // there the folder says who may read it, and no mode does
		return none, Usage("%s has tokens, and others may read it: chmod 600 %s", name, Quote(name))
	}
	raw, err := readSmall(name, 1<<20, "the file of contexts")
	if err != nil {
		return none, err
	}
	var out Contexts
	loader, err := yaml.NewLoader(bytes.NewReader(raw), yaml.WithKnownFields())
	if err != nil {
		return none, err
	}
	if err := loader.Load(&out); err != nil && !errors.Is(err, io.EOF) { // a misspelt server is not the default one
		return none, Usage("%s cannot be read: %w", name, err)
	}
	if out.Contexts == nil {
		out.Contexts = map[string]Place{}
	}
	return out, nil
}

// WriteContexts leaves the old file or the new one, whole, and for its owner only.
func (a *Asker) WriteContexts(c Contexts) error {
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
	if linked, err := filepath.EvalSymlinks(name); err == nil {
		name = linked // and the link stays
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
func (a *Asker) chosen() (Place, error) {
	all, err := a.ReadContexts()
	if err != nil {
		return Place{}, err
	}
	name := a.Used(all)
	if name == "" {
		return Place{}, nil
	}
	return all.Get(name)
}

// Used is the name of the context that is used: by flag, by environment, or the current one.
func (a *Asker) Used(all Contexts) string {
	return cmp.Or(a.context, a.environ["WEFT_CONTEXT"], all.Current)
}

// ContextName is the name of the context whose server is asked, once a client was made; "" if
// that is no context's.
func (a *Asker) ContextName() (string, error) {
	all, err := a.ReadContexts()
	if err != nil {
		return "", err
	}
	name := a.Used(all)
	if at, ok := all.Contexts[name]; !ok || !sameServer(at.Server, a.server) {
		return "", nil
	}
	return name, nil
}

// Get is the context of a name.
func (c Contexts) Get(name string) (Place, error) {
	at, ok := c.Contexts[name]
	switch {
	case name == "":
		return Place{}, Usage("no context is used: name one; weft context list has them")
	case !ok:
		known := "weft login makes one"
		if len(c.Contexts) > 0 {
			known = fmt.Sprintf("there are %v", slices.Sorted(maps.Keys(c.Contexts)))
		}
		return Place{}, Usage("there is no context %q; %s", name, known)
	case at.Server == "":
		return Place{}, Usage("the context %q has no server; weft context set %s --server URL gives it one", name, Quote(name))
	}
	return at, nil
}

// Amended is a place with what flags say of it. A token stays with the server that it was given for.
func (a *Asker) Amended(at Place) (Place, error) {
	var token string
	var err error
	caCert := at.CACert
	if a.tokenFile != "" {
		if token, err = a.givenToken(at.Server); err != nil {
			return at, err
		}
	}
	if a.caCert != "" {
		if caCert, err = filepath.Abs(a.caCert); err != nil {
			return at, err
		}
	}
	out := Place{Server: cmp.Or(a.server, at.Server), Token: cmp.Or(token, at.Token), CACert: caCert}
	if token == "" && !sameServer(out.Server, at.Server) {
		out.Token = ""
	}
	if out.Server == "" {
		return at, Usage("say with --server where it is")
	}
	if _, err := apiclient.New(apiclient.Config{Server: out.Server, Token: out.Token}); err != nil {
		return at, Usage("%w", err)
	}
	return out, nil
}

// SignIn tries the server and the token that the user named, and gives them with the name of
// their context: that of --context, else the server's host.
func (a *Asker) SignIn(ctx context.Context) (string, Place, error) {
	at := Place{Server: cmp.Or(a.server, a.environ["WEFT_SERVER"]), CACert: cmp.Or(a.caCert, a.environ["WEFT_CACERT"])}
	if at.Server == "" {
		return "", at, Usage("say with --server where to sign in")
	}
	var err error
	if at.CACert != "" {
		if at.CACert, err = filepath.Abs(at.CACert); err != nil {
			return "", at, err
		}
	}
	if at.Token, err = a.givenToken(at.Server); err != nil {
		return "", at, err
	}
	a.server, a.caCert, a.token, a.resolved = at.Server, at.CACert, at.Token, true
	c, err := a.Client()
	if err != nil {
		return "", at, err
	}
	_, err = c.ListNodes(ctx)
	var p *apiclient.ProblemError
	if errors.As(err, &p) && p.Status == http.StatusUnauthorized {
		return "", at, Exit(ExitCredentials, errors.New(p.Detail+a.noToken("; give a key or token that counts with --token-file (- is standard input) or WEFT_TOKEN")))
	}
	if err != nil {
		return "", at, err
	}
	u, _ := url.Parse(at.Server)
	return cmp.Or(a.context, u.Host), at, nil
}
