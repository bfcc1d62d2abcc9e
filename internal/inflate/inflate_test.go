package inflate_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/inflate"
)

// compressed writes a body in each of the ways.
func compressed(t *testing.T, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	default:
		w, _ = flate.NewWriter(&b, 6)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlain(t *testing.T) {
	t.Parallel()
	const limit = 1000
	text := strings.Repeat("Grüße ", 20)
	for way, coding := range map[string]string{"gzip": "gzip", "x-gzip": "X-GZIP", "deflate": "deflate", "raw": "deflate"} {
		for text, want := range map[string]string{text: "", "": "", strings.Repeat("x", limit): "", strings.Repeat("x", limit+1): "too large", strings.Repeat("x", 50<<20): "too large"} {
			r, err := inflate.Plain(http.Header{"Content-Encoding": {coding}}, bytes.NewReader(compressed(t, way, text)), limit)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			var big *http.MaxBytesError
			if want == "" && (err != nil || string(got) != text) || want != "" && (!errors.As(err, &big) || len(got) > limit+1) {
				t.Errorf("%s of %d bytes: %d, %v", way, len(text), len(got), err)
			}
		}
	}
	for _, body := range []string{"plain text", "\x1f\x8b\x08broken", string(compressed(t, "gzip", text)[:20])} {
		r, err := inflate.Plain(http.Header{"Content-Encoding": {"gzip"}}, strings.NewReader(body), limit)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err == nil {
			t.Errorf("%q: %q", body, got)
		}
	}
	for _, coding := range []string{"br", "zstd", "gzip, gzip", "compress"} {
		var unknown *inflate.CodingError
		if _, err := inflate.Plain(http.Header{"Content-Encoding": {coding}}, strings.NewReader(""), limit); !errors.As(err, &unknown) {
			t.Errorf("%s: %v", coding, err)
		}
	}
	if r, err := inflate.Plain(http.Header{"Content-Encoding": {"identity"}}, strings.NewReader("a"), limit); err != nil || r == nil {
		t.Error(err)
	}
}
