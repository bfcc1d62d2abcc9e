package secrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/secrets"
)

func set(t *testing.T, values map[string]string) *secrets.Set {
	t.Helper()
	s, err := secrets.New(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nAgEAx7Jb1v+9/4u0Zy2c\n-----END KEY-----\n"

func TestEveryFormOfASecretIsFound(t *testing.T) {
	t.Parallel()
	const value = `pa"ss <w&ö>/+?` + "\t" + `'!`
	s := set(t, map[string]string{"db-password": value, "pin": "483920", "tls.key": pem})
	quote := func(v string) string { b, _ := json.Marshal(v); return string(b) }
	for name, text := range map[string]string{
		"plain":         "a " + value + " b",
		"JSON":          quote(value),
		"JSON in JSON":  quote(quote(value)),
		"Go":            fmt.Sprintf("%q", value),
		"query":         "https://x/?k=" + url.QueryEscape(value),
		"path":          "https://x/" + url.PathEscape(value),
		"lower percent": strings.ToLower(url.QueryEscape(value)),
		"any escapes":   "https://x/" + (&url.URL{Path: value}).EscapedPath(),
		"quoted URL":    fmt.Sprintf("%q", (&url.URL{Path: value}).EscapedPath()),
		"HTML":          html.EscapeString(value),
		"hex":           hex.EncodeToString([]byte(value)),
		"basic":         "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+value)),
		"basic 2":       "Basic " + base64.StdEncoding.EncodeToString([]byte("user2:"+value+"more")),
		"basic 3":       "Basic " + base64.URLEncoding.EncodeToString([]byte("user 3:"+value)),
		"a line of it":  "x MIIEvQIBADANBgkqhkiG9w0BAQEFAASC y",
		"number":        "pin=483920.",
	} {
		got := s.Redact(text)
		if s.Find(text) == "" || !strings.Contains(got, "***") {
			t.Errorf("%s: %q stays %q", name, text, got)
		}
		for _, part := range []string{"pa\"ss", "ss <w", "483920", "MIIEvQ"} {
			if strings.Contains(got, part) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	if got := s.Redact("a " + value + " b"); got != "a ***db-password*** b" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"", "pa", "483921", "-----BEGIN KEY-----", strings.Repeat("x", 1000)} {
		if got := s.Redact(text); got != text || s.Find(text) != "" {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Wherever a value stands in a text, and whatever stands around it, it is gone.
func TestASecretIsFoundAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9+/=<>"]{6,40}`).Draw(t, "value")
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		s, err := secrets.New(map[string]string{"it": value, "other": "0ther-secret"})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Redact(before + value + after); strings.Contains(got, value) {
			t.Fatalf("%q", got)
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(before + value + after))
		if got := s.Redact(encoded); !strings.Contains(got, "***it***") {
			t.Fatalf("%q stays %q", encoded, got)
		}
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := set(t, map[string]string{"a": "s3cret-a", "pin": "483920"})
	in := map[string]any{"k": []any{"x s3cret-a", int64(483920), 1.5, nil, true}, "s3cret-a": "key", "typed": map[string]string{"h": "s3cret-a"}, "same": map[string]any{"n": int64(1)}}
	before := fmt.Sprint(in)
	got, found := s.RedactValue(in)
	want := map[string]any{"k": []any{"x ***a***", "***pin***", 1.5, nil, true}, "***a***": "key", "typed": map[string]any{"h": "***a***"}, "same": map[string]any{"n": int64(1)}}
	if !reflect.DeepEqual(got, want) || found == "" {
		t.Errorf("%v %q", got, found)
	}
	if fmt.Sprint(in) != before {
		t.Errorf("the value was changed: %v", in)
	}
	if _, found := s.RedactValue([]any{"x", map[string]any{"y": "z"}}); found != "" {
		t.Errorf("found %q in nothing", found)
	}
	doc, err := s.RedactJSON([]byte(`{"s3cret-a":{"n":483920,"x":12345678901234567890,"t":"a\ns3cret-a"}}`))
	if string(doc) != `{"s3cret-a":{"n":"***pin***","t":"a\n***a***","x":12345678901234567890}}` || err != nil {
		t.Errorf("%s %v", doc, err)
	}
	var none *secrets.Set
	if v, found := none.RedactValue("s3cret-a"); v != "s3cret-a" || found != "" || none.Redact("x") != "x" {
		t.Errorf("no set: %v %q", v, found)
	}
}

func TestWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"short": "12345", "a/b": "long enough", "": "long enough", "large": strings.Repeat("x", secrets.MaxLength+1), "half": "half a ch\xc3", "zero": "\xff\xfe\x00s\x00e"} {
		if _, err := secrets.New(map[string]string{name: value}); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADirectoryIsFollowed(t *testing.T) {
	t.Parallel()
	// The way Kubernetes does it: names link into ..data, which links to a version.
	root := t.TempDir()
	for _, v := range []string{"..v1", "..v2"} {
		if err := os.Mkdir(filepath.Join(root, v), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, map[string]string{"..v1/token": "first-value\n", "..v2/token": "second-value\r\n", "short": "x", ".hidden": "hidden-value", "large": strings.Repeat("y", secrets.MaxLength+1), "bytes.key": "half-value\xc3"})
	link := func(version string) {
		t.Helper()
		tmp := filepath.Join(root, "..tmp")
		if err := errors.Join(os.Symlink(version, tmp), os.Rename(tmp, filepath.Join(root, "..data"))); err != nil {
			t.Fatal(err)
		}
	}
	link("..v1")
	if err := errors.Join(os.Symlink("..data/token", filepath.Join(root, "token")), os.Mkdir(filepath.Join(root, "sub"), 0o700)); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	d, err := secrets.Open(root, log)
	if err != nil {
		t.Fatal(err)
	}
	if names := d.Current().Names(); !reflect.DeepEqual(names, []string{"token"}) {
		t.Errorf("names %v", names)
	}
	if v, ok := d.Current().Get("token"); v != "first-value" || !ok {
		t.Errorf("%q %v", v, ok)
	}
	link("..v2")
	if err := d.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, _ := d.Current().Get("token"); v != "second-value" {
		t.Errorf("after the change: %q", v)
	}
	if got := d.Current().Redact("first-value second-value"); got != "***token*** ***token***" {
		t.Errorf("the former value is not found: %q", got)
	}
	if n := strings.Count(logged.String(), "secret=short"); n != 1 {
		t.Errorf("the short secret was named %d times: %s", n, &logged)
	}
	if !strings.Contains(logged.String(), "secret bytes.key is not UTF-8 text") {
		t.Errorf("the log does not say that a value is no text: %s", &logged)
	}
	for _, bad := range []string{"first-value", "second-value", "hidden-value", "yyyy", "half-value"} {
		if strings.Contains(logged.String(), bad) {
			t.Errorf("%s is in the log: %s", bad, &logged)
		}
	}
	before := maps.Clone(map[string]string{"token": "second-value"})
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := d.Reload(t.Context()); err == nil {
		t.Error("a directory that is gone was read")
	}
	if v, _ := d.Current().Get("token"); v != before["token"] {
		t.Errorf("secrets went with the directory: %q", v)
	}
	if _, err := secrets.Open(root, log); err == nil {
		t.Error("a directory that is not there was opened")
	}
}

// A secret whose file is emptied, cut or spoilt keeps its value; one whose file is gone is gone, but not all at
// once, unless somebody says that this is meant.
func TestDamagedFilesTakeNoSecretAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := map[string]string{"token": "first-value-of-it\n", "other": "another-value"}
	write(t, dir, whole)
	var log bytes.Buffer
	d, err := secrets.Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	look := func(want string, told bool) {
		t.Helper()
		log.Reset()
		err := d.Reload(t.Context())
		got := ""
		for _, name := range d.Current().Names() {
			v, _ := d.Current().Get(name)
			got += name + "=" + v + " "
		}
		if got != want || (err != nil || strings.Contains(log.String(), "level=ERROR")) != told {
			t.Errorf("there is %q, want %q; %v, logged %s", got, want, err, &log)
		}
		if strings.Contains(log.String(), "-value") || err != nil && strings.Contains(err.Error(), "-value") {
			t.Errorf("a value is in the log: %v %s", err, &log)
		}
	}
	const both = "other=another-value token=first-value-of-it "
	for _, content := range []string{"", "\n", "first-value-of", "first", "short", "half-value\xc3", strings.Repeat("y", secrets.MaxLength+1)} {
		write(t, dir, map[string]string{"token": content})
		look(both, true)
		write(t, dir, whole)
		look(both, false)
	}
	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	look("token=first-value-of-it ", false)
	if err := os.Remove(filepath.Join(dir, "token")); err != nil {
		t.Fatal(err)
	}
	look("token=first-value-of-it ", true)
	write(t, dir, map[string]string{".none": ""})
	look("", false)
	write(t, dir, map[string]string{"token": "second-value"})
	look("token=second-value ", false)
}

func TestNothingReachesTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"token": "s3cret-token", "pin": "483920"})
	d, err := secrets.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log := slog.New(d.Handler(slog.NewJSONHandler(&out, nil)))
	log.With("with", "s3cret-token").WithGroup("g").Error("about s3cret-token", "text", "x s3cret-token", "error", fmt.Errorf("call: %w", errors.New("s3cret-token")),
		slog.Group("in", "deep", "s3cret-token"), "any", struct{ A []string }{[]string{"s3cret-token"}}, "n", 483920, "kept", 7, "url", &url.URL{Host: "x", RawQuery: "t=s3cret-token"})
	if s := out.String(); strings.Contains(s, "s3cret") || strings.Contains(s, "483920") || !strings.Contains(s, `"kept":7`) || strings.Count(s, "***token***") < 7 {
		t.Error(s)
	}
}

func BenchmarkRedactNothing(b *testing.B) {
	values := map[string]string{}
	for i := range 50 {
		values[fmt.Sprint("s", i)] = fmt.Sprintf("%032d-secret", i*7919)
	}
	s, err := secrets.New(values)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(`{"orderId":"0199-abc","amount":1250.5,"lines":["one","two"]},`, 40)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if s.Find(text) != "" {
			b.Fatal("found")
		}
	}
}
