package auth

import (
	"testing"
	"time"
)

// Ask makes one look at the provider, which has to succeed.
func Ask(t *testing.T, o *OIDC) {
	t.Helper()
	if err := AskOnce(t, o); err != nil {
		t.Fatal(err)
	}
}

// AskOnce makes one look at the provider.
func AskOnce(t *testing.T, o *OIDC) error {
	t.Helper()
	_, err := o.ask(t.Context(), 0)
	return err
}

// LongAgo makes the last look one of yesterday.
func LongAgo(o *OIDC) { o.tried = time.Now().Add(-24 * time.Hour) }

// SeenBefore makes the last answer of the provider older.
func SeenBefore(o *OIDC, by time.Duration) { o.seen.Add(-int64(by / time.Second)) }

// Reread is one look at the file, beside [Keys.Run].
func Reread(k *Keys) (int, error) { return (&Keys{path: k.path}).read() }
