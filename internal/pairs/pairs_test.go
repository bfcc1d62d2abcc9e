package pairs_test

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/pairs"
)

func TestAllPairsAreReadOrNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]url.Values{
		"":                          {},
		"&":                         {},
		"a=1&b=2&":                  {"a": {"1"}, "b": {"2"}},
		"a=1&&a=2":                  {"a": {"1", "2"}},
		"a":                         {"a": {""}},
		"=x":                        {"": {"x"}},
		"a=b=c":                     {"a": {"b=c"}},
		"a+b=c%20d%2B":              {"a b": {"c d+"}},
		"gr%C3%BC%C3%9Fe=%E2%82%AC": {"grüße": {"€"}},
		"a=%3B%25":                  {"a": {";%"}},
		"a=ü":                       {"a": {"ü"}},
	} {
		got, err := pairs.Read(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"dryRun=true;":                 `pair 1 ("dryRun")`,
		"a=1&b=%":                      `pair 2 ("b")`,
		"a=1&b=%zz&c=3":                "%25",
		"%=1":                          `pair 1 ("%")`,
		"a=1;b=2":                      "%3B",
		"a=100%&b":                     "hexadecimal",
		strings.Repeat("ü", 99) + "=%": "ü…",
	} {
		got, err := pairs.Read(text)
		if err == nil || got != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v, want an error with %q", text, got, err, says)
		}
	}
	if _, err := pairs.Read("token=geheim%"); strings.Contains(err.Error(), "geheim") {
		t.Errorf("the error tells the value: %v", err)
	}
}

// What net/url can read whole is read as it reads it.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a=1&b=2", "a=1;b", "a=%", "%20=+", "&&=&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wrong := url.ParseQuery(text)
		got, err := pairs.Read(text)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, and net/url says %v", text, err, wrong)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v, and net/url gives %v", text, got, want)
		}
	})
}
