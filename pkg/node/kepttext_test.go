package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestASecretThatIsEmptiedOrCutCountsAsBefore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	unread := false
	k := &keptText{setting: "auth-oidc-client-secret-file", file: file, log: slog.New(slog.DiscardHandler), unread: func(is bool) { unread = is }}
	if got, err := k.read(); err == nil || got != "" {
		t.Errorf("there is none: %q, %v", got, err)
	}
	for _, c := range []struct {
		content, want string
		told          bool
	}{{"", "", true}, {"first-secret\n", "first-secret", false}, {"", "first-secret", true}, {" \n", "first-secret", true}, {"first-sec", "first-secret", true}, {"second", "second", false}} {
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := k.read(); got != c.want || (err != nil) != (c.want == "") || unread != c.told {
			t.Errorf("with %q it is %q, %v, told: %v", c.content, got, err, unread)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got, err := k.read(); got != "second" || err != nil || !unread {
		t.Errorf("without a file it is %q, %v, told: %v", got, err, unread)
	}
}
