package session

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
)

func TestSessionsAreSealed(t *testing.T) {
	t.Parallel()
	key := func(b byte) []byte { return []byte(strings.Repeat(string(b), 32)) }
	old, err := newSealer([][]byte{key('a')})
	if err != nil {
		t.Fatal(err)
	}
	both, err := newSealer([][]byte{key('b'), key('a')})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := Session{Ticket: "t", Made: now, Seen: now}
	text, err := old.seal(s, forBrowsers)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		by   sealer
		text string
		at   time.Time
		good bool
	}{
		"at once":             {old, text, now, true},
		"after the keys move": {both, text, now, true},
		"rested":              {old, text, now.Add(Idle + time.Second), false},
		"by another key":      {both[:1], text, now, false},
		"empty":               {old, "", now, false},
		"no base64":           {old, "ü", now, false},
		"changed":             {old, text[:9] + map[bool]string{true: "B", false: "A"}[text[9] == 'A'] + text[10:], now, false},
		"cut":                 {old, text[:10], now, false},
		"huge":                {old, strings.Repeat("A", 1<<20), now, false},
	} {
		got, err := c.by.open(c.text, c.at, forBrowsers)
		if (err == nil) != c.good || c.good && got.Ticket != "t" {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	groups := make([]string, 500) // a cookie keeps the first of them
	for i := range groups {
		groups[i] = strings.Repeat("g", 50)
	}
	byProvider := Session{Who: WhoOf(&auth.Principal{Name: "oidc:ada", Role: auth.Viewer, Groups: groups}), Made: now, Seen: now}
	if text, err = old.seal(byProvider, forBrowsers); err != nil {
		t.Fatal(err)
	}
	if got, err := old.open(text, now.Add(providerLife), forBrowsers); err != nil || got.Who.Name != "oidc:ada" || len(got.Who.Groups) != 37 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := old.open(text, now.Add(providerLife+time.Second), forBrowsers); err == nil {
		t.Error("what a provider said counts for ever")
	}
	for i := range groups { // a provider's word, of which each byte takes six
		groups[i] = strings.Repeat("\x01", 50)
	}
	hostile := Session{Who: WhoOf(&auth.Principal{Name: "oidc:ada", Role: auth.Viewer, Groups: groups}), Made: now, Seen: now}
	if text, err = old.seal(hostile, forBrowsers); err != nil {
		t.Fatal(err)
	}
	if _, err := old.open(text, now, forBrowsers); err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if text, err = old.seal(Login{Made: now}, forLogins); err != nil {
		t.Fatal(err)
	}
	if _, err := old.open(text, now, forBrowsers); err == nil {
		t.Error("a sign-in that has begun is a session")
	}
	s.Seen = now.Add(sessionLife)
	if text, err = old.seal(s, forBrowsers); err != nil {
		t.Fatal(err)
	}
	if _, err := old.open(text, now.Add(sessionLife+time.Second), forBrowsers); err == nil {
		t.Error("a session that is used lasts for ever")
	}
	if text, err = old.seal(s, forNodes); err != nil {
		t.Fatal(err)
	}
	if _, err := old.open(text, now, forBrowsers); err == nil {
		t.Error("what is for nodes is a session")
	}
	if _, err := newSealer(nil); err == nil {
		t.Error("sessions without a key")
	}
}

// A pass is as old as the session that it is of: a node that has heard of a sign-out everywhere
// refuses it also if the one that made it has not.
func TestAPassKnowsWhenItsSessionBegan(t *testing.T) {
	t.Parallel()
	seal, err := newSealer([][]byte{[]byte(strings.Repeat("a", 32))})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 11, 23, 12, 0, 0, 123456789, time.UTC)
	now := began.Add(time.Hour)
	s := Session{ID: "one", Ticket: "t", Made: began, Seen: began, Since: began.Add(-time.Hour).UnixMilli()}
	sealed, err := (&Sessions{sealer: seal, cfg: Config{Now: func() time.Time { return now }}}).Pass(s)
	if err != nil {
		t.Fatal(err)
	}
	of, err := seal.open(strings.TrimPrefix(sealed, auth.Pass("")), now, forNodes)
	if err != nil {
		t.Fatal(err)
	}
	is, want := of.known("ada"), s.known("ada")
	if is.ID != want.ID || is.Who != want.Who || !is.Began.Equal(want.Began) || !is.Ends.Equal(want.Ends) || !is.Since.Equal(want.Since) || want.Since.UnixMilli() != s.Since {
		t.Errorf("a pass is of %+v, its session is %+v", is, want)
	}
	if kept, err := seal.seal(s, forBrowsers); err != nil || len(sealed) > len(kept)+32 {
		t.Errorf("a pass has %d characters, a session %d: %v", len(sealed), len(kept), err)
	}
}

// The caller of a session is who its key names, known by the session, until that or the key ends.
func TestASessionTellsWhenItEnds(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second).UTC()
	soon := now.Add(time.Hour)
	for what, c := range map[string]struct {
		keyEnds *time.Time
		want    time.Time
	}{"a key for ever": {nil, now.Add(sessionLife)}, "a key that ends before": {&soon, soon}} {
		key, entry, err := auth.NewKey("ada", auth.Operator, c.keyEnds)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := yaml.Marshal([]auth.KeyEntry{entry})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := auth.OpenKeys(file, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ticket, of, err := keys.SignIn(key)
		if err != nil {
			t.Fatal(err)
		}
		console := &Sessions{cfg: Config{Keys: keys, Now: func() time.Time { return now }}}
		who, err := console.whose(&Session{Ticket: ticket, Made: now, Seen: now})
		if err != nil || who.Name != "key:ada" || who.Role != auth.Operator || who.By != auth.BySession || !who.Expires.Equal(c.want) {
			t.Errorf("%s: %+v, %v; want the end %v", what, who, err, c.want)
		}
		if of.By != auth.ByKey {
			t.Errorf("%s: the caller of the key itself is known by a %s", what, of.By)
		}
	}
}
