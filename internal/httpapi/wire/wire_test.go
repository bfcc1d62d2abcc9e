package wire_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/httpapi/wire"
)

func TestTight(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, ` { "a" : [ 1 , 2 ] } `: `{"a":[1,2]}`, `{"a b": "c \" d\\"}`: `{"a b":"c \" d\\"}`, "": "", " ": " ", "a b": "a b",
		`{"a": `: `{"a": `, `"a b"`: `"a b"`, "[\n]": "[]", "{ not json }": "{ not json }", `{"a":"x\`: `{"a":"x\`, "{ \"a\": \"\\": "{ \"a\": \"\\",
	} {
		if got := wire.Tight(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestGzipped(t *testing.T) {
	t.Parallel()
	large := []byte(strings.Repeat(`{"a": 1}, `, 1000))
	for _, c := range []struct {
		accepts, cookie string
		body            []byte
		want            bool
	}{
		{"gzip", "", large, true}, {"deflate, gzip;q=0.5", "", large, true}, {"*", "", large, true}, {"x-gzip", "", large, true},
		{"gzip;q=0", "", large, false}, {"gzip;q=0, *", "", large, false}, {"*;q=0", "", large, false}, {"br", "", large, false}, {"", "", large, false}, {"gzip;q=much", "", large, false},
		{"gzip", "a=b", large, false}, {"gzip", "", large[:2000], false},
	} {
		r, h := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), http.Header{}
		if c.accepts != "" {
			r.Header.Set("Accept-Encoding", c.accepts)
		}
		if c.cookie != "" {
			r.Header.Set("Cookie", c.cookie)
		}
		got := wire.Gzipped(r, h, c.body)
		if (h.Get("Content-Encoding") == "gzip") != c.want || (h.Get("Vary") != "") != (len(c.body) == len(large)) {
			t.Errorf("%+v: %v", c.accepts, h)
		}
		if c.want {
			z, err := gzip.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, c.body) {
			t.Errorf("%+v: another body", c.accepts)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{`"3"`: true, `W/"3"`: true, `"2", "3"`: true, `*`: true, `"2"`: false, `3`: false, "": false} {
		if got := wire.Known(http.Header{"If-None-Match": {header}}, `"3"`); got != want {
			t.Errorf("%s: %t", header, got)
		}
	}
	if wire.Known(http.Header{"If-None-Match": {"*"}}, "") {
		t.Error("there is no ETag")
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	const head = "multipart/form-data; boundary=x"
	part := func(disposition, body string, more ...string) string {
		return "--x\r\nContent-Disposition: form-data; " + disposition + "\r\n" + strings.Join(append(more, ""), "\r\n") + "\r\n" + body + "\r\n"
	}
	for _, c := range []struct {
		body, typ string
		want      map[string][]string
		files     []wire.File
		says      string
	}{
		{body: part(`name="a"`, "1") + part(`name="b c"`, "zwei\r\nZeilen ü") + part(`name="a"`, "2") + "--x--\r\n", typ: head, want: map[string][]string{"a": {"1", "2"}, "b c": {"zwei\r\nZeilen ü"}}},
		{body: part(`name="a"`, "Gr\xfc\xdfe", "Content-Type: text/plain; charset=iso-8859-1") + "--x--\r\n", typ: head, want: map[string][]string{"a": {"Grüße"}}},
		{body: part(`name="a"`, "", "Content-Type: text/plain") + "--x--\r\n", typ: head, want: map[string][]string{"a": {""}}},
		{body: "--x--\r\n", typ: head, want: map[string][]string{}},
		{body: part(`name="photo"; filename="me.png"`, "\x89PNG", "Content-Type: image/png") + part(`name="a"`, "1") + "--x--\r\n", typ: head, want: map[string][]string{"a": {"1"}}, files: []wire.File{{Field: "photo", Name: "me.png", Type: "image/png", Content: []byte("\x89PNG")}}},
		{body: part(`name="photo"; filename*=UTF-8''m%C3%A4.png`, "x") + "--x--\r\n", typ: head, want: map[string][]string{}, files: []wire.File{{Field: "photo", Name: "mä.png", Content: []byte("x")}}},
		{body: part(`name="photo"; filename="../../etc/me.png"`, "x") + "--x--\r\n", typ: head, want: map[string][]string{}, files: []wire.File{{Field: "photo", Name: "me.png", Content: []byte("x")}}},
		{body: part(`name="photo"; filename*=ISO-8859-1''m%E4.exe`, "MZ") + "--x--\r\n", typ: head, says: `"photo" cannot be read`},
		{body: part(`name="photo"; filename=""; FileName*=latin''a.exe`, "MZ") + "--x--\r\n", typ: head, says: `"photo" cannot be read`},
		{body: part(`name="photo"; filename="a.exe"; filename*=ISO-8859-1''m%E4.png`, "x") + "--x--\r\n", typ: head, want: map[string][]string{}, files: []wire.File{{Field: "photo", Name: "a.exe", Content: []byte("x")}}},
		{body: part(`name="filename*"`, "x") + "--x--\r\n", typ: head, want: map[string][]string{"filename*": {"x"}}},
		{body: part(`name="photo"; filename=""`, "", "Content-Type: application/octet-stream") + "--x--\r\n", typ: head, want: map[string][]string{"photo": {""}}},
		{body: part("name=\"photo\"; filename=\"\xff.png\"", "x") + "--x--\r\n", typ: head, says: "is not UTF-8"},
		{body: part(`name="a"`, "\xff") + "--x--\r\n", typ: head, says: `"a" is not UTF-8`},
		{body: part(`filename`, "1") + "--x--\r\n", typ: head, says: "has no name"},
		{body: part(`name="a"`, "1"), typ: head, says: "EOF"},
		{body: "a=1", typ: "multipart/form-data", says: "boundary"},
		{body: strings.Repeat(part(`name="a"`, "1"), 1001) + "--x--\r\n", typ: head, says: "more than 1000"},
	} {
		got, files, err := wire.Multipart([]byte(c.body), c.typ)
		if c.says == "" && (err != nil || !reflect.DeepEqual(map[string][]string(got), c.want) || !reflect.DeepEqual(files, c.files)) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%.80q: %v, %v", c.body, got, err)
		}
	}
	for _, c := range []struct {
		body, charset string
		want          map[string][]string
		says          string
	}{
		{body: "a=1&a=2&b=Gr%C3%BC%C3%9Fe+da", want: map[string][]string{"a": {"1", "2"}, "b": {"Grüße da"}}},
		{body: "a=Gr%FC%DFe", charset: "; charset=iso-8859-1", want: map[string][]string{"a": {"Grüße"}}},
		{body: "a=Gr%FC%DFe", says: `"a" is not UTF-8`},
		{body: "%FC=1", says: "name"},
		{body: "a=%", says: "pair 1"},
		{body: "a=1", charset: "; charset=klingon", says: "klingon"},
	} {
		got, err := wire.Form(c.body, "application/x-www-form-urlencoded"+c.charset)
		if c.says == "" && (err != nil || !reflect.DeepEqual(map[string][]string(got), c.want)) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %v, %v", c.body, got, err)
		}
	}
}

func TestAFormWithoutItsBoundary(t *testing.T) {
	t.Parallel()
	form := func(boundary, name, file, typ, content string) string {
		part := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + file + "\"\r\nContent-Type: " + typ + "\r\n\r\n" + content + "\r\n"
		return string(wire.Unbound([]byte(part+"--"+boundary+"--\r\n"), "multipart/form-data; boundary="+boundary))
	}
	first := form("x", "a", "b.txt", "text/plain", "1")
	if again := form("yy", "a", "b.txt", "text/plain", "1"); again != first {
		t.Errorf("with another boundary: %q and %q", first, again)
	}
	for _, other := range []string{form("x", "b", "b.txt", "text/plain", "1"), form("x", "a", "c.txt", "text/plain", "1"), form("x", "a", "b.txt", "text/csv", "1"), form("x", "a", "b.txt", "text/plain", "2")} {
		if other == first {
			t.Errorf("another form is the same: %q", other)
		}
	}
	for _, typ := range []string{"multipart/form-data", "multipart/form-data; boundary=x"} {
		if got := wire.Unbound([]byte("--x\r\nno form"), typ); string(got) != "--x\r\nno form" {
			t.Errorf("%s: %q", typ, got)
		}
	}
}

func TestCross(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example.com"
	ask := func(method, origin, asks string, origins ...string) (*httptest.ResponseRecorder, bool) {
		r, w := httptest.NewRequestWithContext(t.Context(), method, "/", nil), httptest.NewRecorder()
		r.Header.Set("Origin", origin)
		if asks != "" {
			r.Header.Set("Access-Control-Request-Method", asks)
		}
		return w, wire.Cross(w, r, origins)
	}
	if w, answered := ask("OPTIONS", shop, "POST"); answered || len(w.Header()) != 0 {
		t.Errorf("without a setting: %v", w.Header())
	}
	if w, answered := ask("OPTIONS", shop, "POST", shop); !answered || w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != shop || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Idempotency-Key") || w.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w, answered := ask("GET", shop, "", shop); answered || w.Header().Get("Access-Control-Allow-Origin") != shop || w.Header().Get("Vary") != "Origin" {
		t.Errorf("%v", w.Header())
	}
	if w, answered := ask("OPTIONS", "https://evil.example.com", "POST", shop); answered || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another site: %v", w.Header())
	}
}
