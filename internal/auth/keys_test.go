package auth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/follow"
	"github.com/weft-run/weft/internal/polltest"
)

// keyFile writes a file with one key.
func keyFile(t *testing.T, role auth.Role, expires *time.Time) (keys *auth.Keys, key string) {
	t.Helper()
	key, entry, err := auth.NewKey("ci", role, expires)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, entry)
	keys, err = auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return keys, key
}

func writeKeys(t *testing.T, path string, entries ...auth.KeyEntry) {
	t.Helper()
	raw, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAPIKeyCountsAndItsFileHasOnlyAHash(t *testing.T) {
	t.Parallel()
	key, entry, err := auth.NewKey("ci", auth.Designer, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, entry)
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), key) || strings.Contains(string(raw), strings.TrimPrefix(key, "weft_")) {
		t.Fatalf("the file has the key: %v", err)
	}
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := &auth.Authenticator{Keys: keys}
	if p, err := ask(t, a, key); err != nil || p.Role != auth.Designer || p.Name != "key:ci" {
		t.Errorf("%+v %v", p, err)
	}
	var refused *auth.RefusedError
	for _, wrong := range []string{key + "A", key[:len(key)-1], key[:len(key)-1] + "!", "weft_", entry.SHA256, "weft_" + entry.SHA256, strings.ToUpper(key)} {
		if _, err := ask(t, a, wrong); !errors.As(err, &refused) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for name, h := range map[string]http.Header{
		"no Bearer":   {"Authorization": {key}},
		"Basic":       {"Authorization": {"Basic " + key}},
		"two headers": {"Authorization": {"Bearer " + key, "Bearer " + key}},
	} {
		if _, err := a.Authenticate(t.Context(), h); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Authenticate(t.Context(), http.Header{"authorization": {"Bearer " + key}}); !errors.Is(err, auth.ErrMissing) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := a.Authenticate(t.Context(), http.Header{"Authorization": {"bearer  " + key}}); err != nil {
		t.Errorf("the scheme in lower case: %v", err)
	}
}

func TestChangedFileCountsWithoutARestart(t *testing.T) {
	t.Parallel()
	first, firstEntry, err := auth.NewKey("first", auth.Viewer, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, secondEntry, err := auth.NewKey("second", auth.Admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, firstEntry)
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := &auth.Authenticator{Keys: keys}
	counts := func(key string) bool { _, err := ask(t, a, key); return err == nil }
	if !counts(first) || counts(second) {
		t.Fatal("at first")
	}
	run(t, keys.Run)
	writeKeys(t, path, secondEntry)
	polltest.Eventually(t, "the second file counts", func() bool { return counts(second) && !counts(first) })
	// What cannot be read changes nothing.
	if err := os.WriteFile(path, []byte("- {name: x, role: king}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.Reread(keys); err == nil || !counts(second) {
		t.Errorf("a bad file: %v, %v", err, counts(second))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.Reread(keys); err == nil || !counts(second) {
		t.Errorf("no file: %v, %v", err, counts(second))
	}
	if err := os.WriteFile(path, []byte("none # key counts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the third file counts", func() bool { return !counts(second) })
}

// What a full disk leaves, or a writer that was interrupted, revokes nobody, and lets no key count for
// longer: a file that is empty or cut at any place but between two entries. It is told, and so is its end.
func TestAFileThatIsEmptyOrCutRevokesNobody(t *testing.T) {
	t.Parallel()
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var tokens []string
	var entries []auth.KeyEntry
	for _, name := range []string{"first", "second", "third"} {
		key, entry, err := auth.NewKey(name, auth.Operator, &expires)
		if err != nil {
			t.Fatal(err)
		}
		tokens, entries = append(tokens, key), append(entries, entry)
	}
	block, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	flow, err := json.Marshal([]map[string]any{
		{"name": "first", "role": "operator", "sha256": entries[0].SHA256, "expires": expires}, {"name": "second", "role": "operator", "sha256": entries[1].SHA256, "expires": expires},
		{"name": "third", "role": "operator", "sha256": entries[2].SHA256, "expires": expires},
	})
	if err != nil {
		t.Fatal(err)
	}
	indented := []byte("# ours\n  " + strings.ReplaceAll(strings.TrimSpace(string(block)), "\n", "\n  ") + "\n# end\n")
	grouped := bytes.ReplaceAll(block, []byte("  expires:"), []byte("  groups:\n    - a\n    - b\n  expires:"))
	for name, whole := range map[string][]byte{"block": block, "grouped": grouped, "flow": flow, "indented": indented, "Windows": bytes.ReplaceAll(block, []byte("\n"), []byte("\r\n"))} {
		damaged := [][]byte{nil, []byte("[]"), []byte("\n \n"), []byte("# only\n"), []byte("null\n"), make([]byte, len(whole)), append(bytes.Clone(whole[:len(whole)/2]), make([]byte, 100)...)}
		for n := range whole {
			damaged = append(damaged, whole[:n])
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keys")
			put := func(content []byte) {
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(whole)
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				keys, err := auth.OpenKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
				if err != nil {
					t.Fatal(err)
				}
				a := &auth.Authenticator{Keys: keys}
				unread := false
				keys.Unread = func(is bool) { unread = is }
				ctx, end := context.WithCancel(t.Context())
				defer end()
				go func() { _ = keys.Run(ctx) }()
				look := func() {
					time.Sleep(follow.Every)
					synctest.Wait()
				}
				put(whole)
				look()
				for _, content := range damaged {
					put(content)
					look()
					// Without the entries at its end, whole otherwise, is how people delete them.
					var is []auth.KeyEntry
					deleted := bytes.HasPrefix(whole, content) && !unread && yaml.Unmarshal(content, &is) == nil
					if deleted && (len(is) == 0 || len(is) == 3 && len(bytes.TrimSpace(bytes.ReplaceAll(whole[len(content):], []byte("# end"), nil))) > 0) {
						t.Errorf("%q counts as a file", content)
					}
					for i, token := range tokens {
						p, err := ask(t, a, token)
						switch {
						case deleted && i >= len(is):
							if err == nil {
								t.Errorf("%q: key %d counts", content, i)
							}
						case err != nil || !p.Expires.Equal(expires):
							t.Errorf("%q: key %d is %+v, %v", content, i, p, err)
						}
					}
					if !deleted && (!unread || !strings.Contains(log.String(), "level=ERROR")) {
						t.Errorf("%q: nobody is told: %s", content, &log)
					}
					put(whole)
					look()
					if unread {
						t.Errorf("after %q: the whole file is not taken", content)
					}
					log.Reset()
				}
			})
		})
	}
}

// A node that begins with such a file would refuse everybody.
func TestAFileWithoutAKeyIsNoFileOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	for src, ok := range map[string]bool{"": false, "[]": false, "# keys\n": false, "null": false, "none": true, "none\n": true, "# nobody\nnone\n": true, "nobody": false} {
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler)); (err == nil) != ok {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestMistakesInTheKeyFileAreTold(t *testing.T) {
	t.Parallel()
	const hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for want, src := range map[string]string{
		`no role "king"`:    "- {name: a, role: king, sha256: " + hash + "}",
		"64 hexadecimal":    "- {name: a, role: admin, sha256: abc}",
		`the group ""`:      "- {name: a, role: admin, groups: [\"\"], sha256: " + hash + "}",
		"there twice":       "- {name: a, role: admin, sha256: " + hash + "}\n- {name: a, role: viewer, sha256: " + strings.Replace(hash, "e", "f", 1) + "}",
		"or the key is":     "- {name: a, role: admin, sha256: " + hash + "}\n- {name: b, role: viewer, sha256: " + strings.ToUpper(hash) + "}",
		"must match":        "- {name: 'a b', role: admin, sha256: " + hash + "}",
		"must be a list":    "admin: " + hash,
		"entry 2":           "- {name: a, role: admin, sha256: " + hash + "}\n- {name: b, role: x, sha256: 00}",
		"expire":            "- {name: a, role: admin, sha256: " + hash + ", expire: 2030-01-01T00:00:00Z}",
		"must be a list of": "- {name: a, role: admin, sha256: " + hash + ", expires: soon}",
		"the one word none": "",
	} {
		_, err := auth.ParseKeyFile([]byte(src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// What every request pays: one hash for a key, and for a token one more look.
func TestCheckingCostsLittle(t *testing.T) {
	keys, key := keyFile(t, auth.Viewer, nil)
	iss, a := provider(t, nil)
	a.Keys = keys
	for name, token := range map[string]string{"key": key, "token": iss.Token(nil)} {
		h := http.Header{"Authorization": {"Bearer " + token}}
		check := func() {
			if _, err := a.Authenticate(t.Context(), h); err != nil {
				t.Error(err)
			}
		}
		check()
		if n := testing.AllocsPerRun(100, check); n > 2 {
			t.Errorf("checking a %s again allocates %v times", name, n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	key, entry, err := auth.NewKey("ci", auth.Viewer, nil)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := yaml.Marshal([]auth.KeyEntry{entry})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "keys")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	a, h := &auth.Authenticator{Keys: keys}, http.Header{"Authorization": {"Bearer " + key}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Authenticate(b.Context(), h); err != nil {
			b.Fatal(err)
		}
	}
}
