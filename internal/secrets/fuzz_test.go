package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRedact writes a secret in each form that the package promises to find, between
// any two texts: the form is found, and is gone from what Redact gives.
func FuzzRedact(f *testing.F) {
	for _, s := range [][3]string{
		{"", "correct horse", ""}, {"%1", "00%25 secret", ""}, {"%", "10 secret", "%"}, {"%2", "5abcdef!", "0"}, {"%25", "%41%42 x", "%"},
		{"a", "line one is long enough\nline two is long enough", "z"}, {"\\", "\"quoted\" <b>", "\""}, {"***", "***NAME***", "***"}, {"+", "a+b c+d", "%20"},
		{"0", "0Ś0ſ", "0"},
	} {
		f.Add(s[0], s[1], s[2])
		f.Add(s[0], s[1]+"\xc3", s[2])
	}
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		set, err := New(map[string]string{"NAME": secret})
		if ok := utf8.ValidString(secret); !ok && err == nil {
			t.Fatalf("%q was taken", secret)
		}
		if err != nil || strings.TrimSpace(secret) != secret || strings.Contains("***NAME***", strings.ToUpper(secret)) {
			return
		}
		quoted, _ := json.Marshal(secret)
		for _, c := range [][2]string{
			{"itself", secret}, {"path", url.PathEscape(secret)}, {"query", url.QueryEscape(secret)}, {"html", html.EscapeString(secret)},
			{"json", string(quoted[1 : len(quoted)-1])}, {"go", inside(strconv.Quote(secret))}, {"hex", hex.EncodeToString([]byte(secret))},
			{"capitals", strings.ToUpper(secret)}, {"small", strings.ToLower(secret)},
		} {
			what, form := c[0], c[1]
			if len(form) < MinLength {
				continue // ſ has two bytes, and its capital S has one: no form is looked for that is shorter than a secret may be
			}
			text := before + form + after
			if set.Find(text) != "NAME" {
				t.Errorf("%s: not found in %q", what, text)
			}
			if got := set.Redact(text); !strings.Contains(got, "***NAME***") || set.Find(strings.ReplaceAll(got, "***NAME***", "\xff")) != "" {
				t.Errorf("%s: %q became %q", what, text, got)
			}
		}
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte(before + secret + after))
			if len(secret) >= 8 && set.Find(text) != "NAME" {
				t.Errorf("base64: not found in %q", text)
			}
		}
	})
}

// A method is written in capitals, and a host may be written small.
func TestASecretAsAMethodOrHost(t *testing.T) {
	t.Parallel()
	set, err := New(map[string]string{"NAME": "Ab3-xYz-9q"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"AB3-XYZ-9Q https://a/", "https://ab3-xyz-9q.example/"} {
		if got := set.Redact(text); set.Find(text) != "NAME" || !strings.Contains(got, "***NAME***") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestASecretBehindAPercentSign(t *testing.T) {
	t.Parallel()
	for secret, texts := range map[string][]string{
		"00%25 secret":  {"%100%2525+secret", "%1" + url.PathEscape("00%25 secret") + "%1" + url.QueryEscape("00%25 secret")},
		"5abcdef!":      {"%25abcdef%21", "%25abcdef!"},
		"ab cd ef":      {"%ab%20cd%20ef", "%%ab%20cd%20ef%"},
		"plain-secret7": {"%plain%2Dsecret7", "%70lain-secret7"},
	} {
		set, err := New(map[string]string{"NAME": secret})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if got := set.Redact(text); set.Find(text) != "NAME" || set.Find(got) != "" || !strings.Contains(got, "***NAME***") {
				t.Errorf("%q became %q", text, got)
			}
		}
		if text := "%10 of 100% %ab%20"; set.Redact(text) != text {
			t.Errorf("%q became %q", text, set.Redact(text))
		}
	}
}
