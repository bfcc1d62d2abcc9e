package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

func apikey(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newCommand(&out, &out, func() []string { return nil })
	cmd.SetArgs(append([]string{"apikey"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return strings.TrimSpace(out.String()), err
}

func TestAPIKeyIsShownOnceAndItsHashIsAdded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(file, []byte("# who may call"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := apikey(t, "shop", "--role", "operator", "--auth-keys-file", file, "--expires-in", "720h")
	if err != nil || !strings.HasPrefix(key, "weft_") {
		t.Fatalf("%q %v", key, err)
	}
	if _, err := apikey(t, "ops", "--role", "admin", "--auth-keys-file", file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), key) || !strings.HasPrefix(string(raw), "# who may call\n") {
		t.Fatalf("%v: %s", err, raw)
	}
	entries, err := auth.ParseKeyFile(raw)
	if err != nil || len(entries) != 2 || entries[0].Name != "shop" || entries[0].Expires == nil || entries[1].Role != "admin" || entries[1].Expires != nil {
		t.Errorf("%+v %v", entries, err)
	}
	for want, args := range map[string][]string{
		"already":          {"shop", "--role", "viewer", "--auth-keys-file", file},
		`no role ""`:       {"x", "--auth-keys-file", file},
		"--auth-keys-file": {"x", "--role", "viewer"},
		"must match":       {"a b", "--role", "viewer", "--auth-keys-file", file},
		"accepts 1 arg":    {"--role", "viewer"},
	} {
		if _, err := apikey(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("a refused key changed the file: %s", now)
	}
}

// A deployment may make its key at every start.
func TestAPIKeyForADeploymentIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "keys.yaml"), filepath.Join(dir, "admin")
	args := []string{"admin", "--role", "admin", "--auth-keys-file", file, "--out", out}
	if said, err := apikey(t, args...); err != nil || said != "wrote "+out {
		t.Fatalf("%q %v", said, err)
	}
	first, err := os.ReadFile(out)
	if err != nil || !bytes.HasPrefix(first, []byte("weft_")) {
		t.Fatalf("%s %v", first, err)
	}
	if said, err := apikey(t, args...); err != nil || said != "kept "+out {
		t.Errorf("%q %v", said, err)
	}
	if now, err := os.ReadFile(out); err != nil || !bytes.Equal(now, first) {
		t.Errorf("the key changed: %v", err)
	}
	// Cut off between the two files: the key that nobody could use is made again.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if said, err := apikey(t, args...); err != nil || said != "wrote "+out {
		t.Errorf("%q %v", said, err)
	}
}

// A file by which no key counts takes the first one.
func TestAKeyIsAddedToAFileWithoutOne(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "[]", "none\n", "# who may call\nnone", "null\n", "# who may call\n"} {
		file := filepath.Join(t.TempDir(), "keys.yaml")
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := apikey(t, "shop", "--role", "operator", "--auth-keys-file", file); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		raw, err := os.ReadFile(file)
		if err != nil || strings.Contains(src, "#") != strings.Contains(string(raw), "# who may call\n") {
			t.Errorf("%q became %s, %v", src, raw, err)
		}
		if entries, err := auth.ParseKeyFile(raw); err != nil || len(entries) != 1 {
			t.Errorf("%q became %s: %v", src, raw, err)
		}
	}
}
