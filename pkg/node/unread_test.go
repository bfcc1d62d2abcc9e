package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// A node whose files were emptied goes on with what it had, and says so: in its metrics, and to who asks what it does.
func TestANodeTellsWhichFilesItCannotTake(t *testing.T) {
	t.Parallel()
	key, entry, err := auth.NewKey("ci", auth.Viewer, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal([]auth.KeyEntry{entry})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	keys, secretsDir := filepath.Join(dir, "keys.yaml"), filepath.Join(dir, "secrets")
	put := func(name string, content []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(secretsDir, "token")
	put(keys, raw)
	put(secret, []byte("a-long-value"))
	n := start(t, node.Config{AuthKeysFile: keys, SecretsDir: secretsDir})
	read := func(path string) string {
		t.Helper()
		resp, err := send(t, http.DefaultClient, http.MethodGet, "http://"+n.HTTPAddr()+path, key)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s, %v", path, resp.Status, text, err)
		}
		return string(text)
	}
	told := func(files ...string) func() bool {
		return func() bool {
			scrape, meters := read("/metrics"), read("/api/v1/nodes/"+n.ID()+"/meters")
			for _, file := range []string{"auth-keys-file", "secrets-dir", "tls-cert"} {
				is := 0
				if slices.Contains(files, file) {
					is = 1
				}
				if !strings.Contains(scrape, fmt.Sprintf("weft_file_unread{cluster=%q,file=%q} %d\n", "default", file, is)) {
					return false
				}
			}
			var v struct{ UnreadFiles []string }
			if err := json.Unmarshal([]byte(meters), &v); err != nil || v.UnreadFiles == nil {
				t.Fatalf("%v: %s", err, meters)
			}
			return slices.Equal(v.UnreadFiles, files)
		}
	}
	polltest.Eventually(t, "all files are well", told())
	put(keys, nil)
	put(secret, nil)
	polltest.Eventually(t, "both files are told, and the key counts", told("auth-keys-file", "secrets-dir"))
	put(keys, raw)
	put(secret, []byte("a-long-value"))
	polltest.Eventually(t, "all files are well again", told())
}
