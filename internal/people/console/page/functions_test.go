package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestWhatPagesSay(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 12 * time.Millisecond: "12 ms", 1500 * time.Millisecond: "1.5 s", 61 * time.Second: "1 min 1 s",
		45*time.Hour + 3*time.Minute: "45 h 3 min", 73 * time.Hour: "3 days 1 h",
	} {
		if got := Lasted(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for text, want := range map[string]string{"o-1": "o-1", "": `""`, "a b": `"a b"`, `a"b`: `"a\"b"`, `\`: `"\\"`} {
		if got := Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for to, want := range map[string]string{
		"/console/queue?x=1": "/console/queue?x=1", "": Path, "//evil.example/console/": Path, "https://evil.example/console/": Path,
		"/api/v1/pause": Path, "javascript:alert(1)": Path, "/console/../api": Path, `/console\@evil.example`: Path,
	} {
		if got := Local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
	long := Pretty(json.RawMessage(`"`+strings.Repeat("ü", 100)+`"`), 50)
	if long.Cut == 0 || strings.ContainsRune(long.Text, '\uFFFD') {
		t.Errorf("%+v", long)
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

// Numbers and sizes are written for people.
func TestNumbersAreWritten(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 4 << 30: "4.0 GiB", 5 << 50: "5120.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
