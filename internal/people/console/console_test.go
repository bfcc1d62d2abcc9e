package console

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

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
	s := session{Ticket: "t", Made: now, Seen: now}
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
		"rested":              {old, text, now.Add(sessionIdle + time.Second), false},
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
	byProvider := session{Who: &who{Name: "oidc:ada", Role: auth.Viewer}, Made: now, Seen: now}
	if text, err = old.seal(byProvider, forBrowsers); err != nil {
		t.Fatal(err)
	}
	if got, err := old.open(text, now.Add(providerLife), forBrowsers); err != nil || got.Who.Name != "oidc:ada" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := old.open(text, now.Add(providerLife+time.Second), forBrowsers); err == nil {
		t.Error("what a provider said counts for ever")
	}
	if text, err = old.seal(login{Made: now}, forLogins); err != nil {
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

// TestAnEndedSessionIsKnown holds that a browser still has a session that has ended, for what
// was typed meanwhile.
func TestAnEndedSessionIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all, err := newSessions(sessionsConfig{secrets: [][]byte{[]byte(strings.Repeat("a", 32))}, now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	c := &desk{sessions: all}
	for _, s := range []session{{Who: &who{Name: "oidc:ada", Role: auth.Viewer}, Made: now, Seen: now}, {Ticket: "t", Made: now, Seen: now}} {
		w := httptest.NewRecorder()
		if err := all.enter(w, s, "ada"); err != nil {
			t.Fatal(err)
		}
		kept := w.Result().Cookies()[0]
		if lasts := time.Duration(kept.MaxAge) * time.Second; lasts < s.life()+time.Hour {
			t.Errorf("the browser keeps a session of %s for %s", s.life(), lasts)
		}
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if c.mayKeep(r) != maxKept {
			t.Error("a stranger may send what is large")
		}
		r.AddCookie(kept)
		if c.mayKeep(r) != maxForm {
			t.Error("what somebody typed is too large to keep")
		}
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
	s := session{ID: "one", Ticket: "t", Made: began, Seen: began, Since: began.Add(-time.Hour).UnixMilli()}
	sealed, err := (&sessions{sealer: seal, cfg: sessionsConfig{now: func() time.Time { return now }}}).pass(s)
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

// The page about oneself shows each key that leads somewhere.
func TestThePageShowsTheKeys(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("app/console.ts")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("templates/me.html")
	if err != nil {
		t.Fatal(err)
	}
	_, places, _ := strings.Cut(string(script), "const places: Record<string, string> = {")
	places, _, _ = strings.Cut(places, "}")
	var keys int
	for entry := range strings.SplitSeq(places, ",") {
		if key, _, is := strings.Cut(strings.TrimSpace(entry), ":"); is {
			keys++
			if row := "<kbd>g</kbd> <kbd>" + key + "</kbd>"; !strings.Contains(string(page), row) {
				t.Errorf("the page does not show g %s", key)
			}
		}
	}
	if shown := strings.Count(string(page), "<kbd>g</kbd>"); keys < 10 || shown != keys {
		t.Errorf("the page shows %d keys, and there are %d", shown, keys)
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
		console := &sessions{cfg: sessionsConfig{keys: keys, now: func() time.Time { return now }}}
		who, err := console.whose(&session{Ticket: ticket, Made: now, Seen: now})
		if err != nil || who.Name != "key:ada" || who.Role != auth.Operator || who.By != auth.BySession || !who.Expires.Equal(c.want) {
			t.Errorf("%s: %+v, %v; want the end %v", what, who, err, c.want)
		}
		if of.By != auth.ByKey {
			t.Errorf("%s: the caller of the key itself is known by a %s", what, of.By)
		}
	}
}

func TestPeopleComeBackToWhereTheyWere(t *testing.T) {
	t.Parallel()
	for host, c := range map[string]struct {
		tls       bool
		url, want string
	}{
		"localhost:8080":    {want: "http://localhost:8080/console/callback"},
		"127.0.0.1:8080":    {want: "http://127.0.0.1:8080/console/callback"},
		"[::1]:8080":        {tls: true, want: "https://[::1]:8080/console/callback"},
		"localhost":         {tls: true, want: "https://localhost/console/callback"},
		"weft.example":      {want: "https://weft.example/console/callback"},
		"weft.example:8443": {tls: true, want: "https://weft.example:8443/console/callback"},
		"node-1":            {url: "https://weft.example/", want: "https://weft.example/console/callback"},
	} {
		r := &http.Request{Host: host}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := (&desk{url: c.url}).comeBack(r); got != c.want {
			t.Errorf("%s: %s, want %s", host, got, c.want)
		}
	}
}

func TestWhatPagesSay(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 12 * time.Millisecond: "12 ms", 1500 * time.Millisecond: "1.5 s", 61 * time.Second: "1 min 1 s",
		45*time.Hour + 3*time.Minute: "45 h 3 min", 73 * time.Hour: "3 days 1 h",
	} {
		if got := lasted(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for text, want := range map[string]string{"o-1": "o-1", "": `""`, "a b": `"a b"`, `a"b`: `"a\"b"`, `\`: `"\\"`} {
		if got := quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for to, want := range map[string]string{
		"/console/queue?x=1": "/console/queue?x=1", "": Path, "//evil.example/console/": Path, "https://evil.example/console/": Path,
		"/api/v1/pause": Path, "javascript:alert(1)": Path, "/console/../api": Path, `/console\@evil.example`: Path,
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
	long := pretty(json.RawMessage(`"`+strings.Repeat("ü", 100)+`"`), 50)
	if long.Cut == 0 || strings.ContainsRune(long.Text, '\uFFFD') {
		t.Errorf("%+v", long)
	}
}

func TestAJournalIsShownByItsCommits(t *testing.T) {
	t.Parallel()
	node := func(name string) *string { return &name }
	j := journal{ItemsBefore: 7, ItemsBehind: 2}
	for i := int64(1); i <= 10; i++ {
		on := node("a")
		if i > 5 {
			on = node("b")
		}
		j.Commits = append(j.Commits, commit{Commit: i, Node: on})
		for range i {
			j.Items = append(j.Items, journalItem{Commit: i})
		}
	}
	groups := byCommit(&j)
	if len(groups) != 10 || groups[0].Commit.Commit != 10 || len(groups[0].Items) != 10 || len(groups[9].Items) != 1 {
		t.Fatalf("%+v", groups)
	}
	taken := 0
	for i, g := range groups {
		if g.Taken {
			taken++
		}
		if before, behind := i == 9, i == 0; before != (g.Before == 7) || behind != (g.Behind == 2) {
			t.Errorf("%d has %d before and %d behind", i, g.Before, g.Behind)
		}
	}
	if taken != 1 || !groups[4].Taken {
		t.Errorf("%d taken over", taken)
	}
	// A commit that is cut on both sides, one without items, and none at all.
	one := journal{Commits: j.Commits[:1], ItemsBefore: 7, ItemsBehind: 2}
	if g := byCommit(&one); len(g) != 1 || g[0].Before != 7 || g[0].Behind != 2 || g[0].Items != nil || g[0].Taken {
		t.Errorf("%+v", g)
	}
	if g := byCommit(&journal{}); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}

// TestDifferencesLeadFromOneTextToTheOther applies what differs to the old text, for any two.
func TestDifferencesLeadFromOneTextToTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c"}), 0, 40)
		old, now := texts.Draw(t, "old"), texts.Draw(t, "now")
		var rest []string
		at := 0
		for _, d := range differ(old, now) {
			rest = append(rest, old[at:at+d.Gap]...)
			at += d.Gap
			switch d.Mark {
			case "-":
				if d.Old != at+1 || old[at] != d.Text {
					t.Fatalf("%+v at %d", d, at)
				}
				at++
			case "+":
				rest = append(rest, d.Text)
				if d.New != len(rest) {
					t.Fatalf("%+v at %d", d, len(rest))
				}
			default:
				rest = append(rest, old[at])
				at++
			}
		}
		rest = append(rest, old[at:]...)
		if !slices.Equal(rest, now) {
			t.Fatalf("%q, want %q", rest, now)
		}
	})
	for _, c := range []struct {
		old, now string
		edits    int
	}{{"a b c d", "a b c d", 0}, {"a b c d", "a x c d", 2}, {"", "a", 1}, {"a b c a b b a", "c b a b a c", 5}} {
		edits := 0
		for _, d := range differ(strings.Fields(c.old), strings.Fields(c.now)) {
			if d.Mark != " " {
				edits++
			}
		}
		if edits != c.edits {
			t.Errorf("%q to %q: %d edits, want %d", c.old, c.now, edits, c.edits)
		}
	}
	var far, other []string
	for i := range 20_000 {
		far, other = append(far, strconv.Itoa(i)), append(other, strconv.Itoa(-i-1))
	}
	if got := differ(far, other); len(got) != 40_000 {
		t.Errorf("two texts that have nothing in common differ in %d lines", len(got))
	}
}

// TestCodeMirrorIsAsItWasRecorded holds the file to what its page says of it.
func TestCodeMirrorIsAsItWasRecorded(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("codemirror/README.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := static.ReadFile("static/codemirror.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(file)); !strings.Contains(string(page), sum) {
		t.Errorf("codemirror/README.md does not have the hash %s", sum)
	}
}

func TestALineIsTurnedRound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"": "sort:created", "status:faulted  def:x": "status:faulted def:x sort:created", "sort:created": "", " status:faulted sort:created def:x": "status:faulted def:x",
		"sort:-created corr:a": "corr:a sort:created", `incident:"a sort:created \" b" sort:created`: `incident:"a sort:created \" b"`,
	} {
		oldest, got := turned(line)
		if got != want || oldest == strings.HasSuffix(want, "sort:created") {
			t.Errorf("%s: %t, %q, want %q", line, oldest, got, want)
		}
	}
}

func TestPeopleReadTheCharactersOfAText(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":"\u003cb\u003e \u0026"}`: `{"a":"<b> &"}`,
		`"\\u003c"`:                    `"\\u003c"`, // a backslash and letters
		`"\\\u003c"`:                   `"\\<"`,
		`"\u00e9\u0000"`:               `"\u00e9\u0000"`,
		`"\u00`:                        `"\u00`, // cut off
		`\`:                            `\`,
		``:                             ``,
	} {
		if is := readable(raw); is != want {
			t.Errorf("%s reads %s", raw, is)
		}
	}
}
