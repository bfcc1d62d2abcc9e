package activities_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// TestWhatGoesOut says what a server gets of the inputs of sendHttpRequest: what Elsa and browsers would send.
func TestWhatGoesOut(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	form := "application/x-www-form-urlencoded"
	for _, c := range []struct {
		name    string
		url     string // behind the address of the server
		method  string
		content any
		typ     string // contentType; "": not given
		headers object

		target, body, gotType string // as the server reads them; "-": not looked at
		fault                 string
	}{
		{name: "nothing", url: "/a", target: "/a"},
		{name: "no path", url: "", target: "/"},
		{name: "a space in a path", url: "/a b", target: "/a%20b"},
		{name: "ü in a path", url: "/ü", target: "/%C3%BC"},
		{name: "what is escaped in a path", url: "/a%2Fb%20c", target: "/a%2Fb%20c"},
		{name: "a space in a query", url: "/?q=a b", target: "/?q=a%20b"},
		{name: "ü in a query", url: "/?q=Grüße", target: "/?q=Gr%C3%BC%C3%9Fe"},
		{name: "what is escaped in a query", url: "/?q=a%20b%26c+d", target: "/?q=a%20b%26c+d"},
		{name: "quotes in a query", url: `/?q={"a":"<b>"}`, target: "/?q=%7B%22a%22:%22%3Cb%3E%22%7D"},
		{name: "brackets in a query", url: "/?q[]=1&q[]=2", target: "/?q[]=1&q[]=2"},
		{name: "an emoji in a query", url: "/?q=😀", target: "/?q=%F0%9F%98%80"},
		{name: "an empty query", url: "/?", target: "/?"},
		{name: "a fragment", url: "/a?q=1#part", target: "/a?q=1"},
		{name: "a percent sign in a query", url: "/?q=100%", target: "/?q=100%"},

		{name: "text", method: "POST", content: "Grüße", body: "Grüße", gotType: "text/plain; charset=utf-8"},
		{name: "an object", method: "POST", content: object{"a": int64(1), "b": "<ü>"}, body: "{\"a\":1,\"b\":\"\\u003cü\\u003e\"}", gotType: "application/json"},
		{name: "a list", method: "PUT", content: []any{int64(1), "b"}, body: `[1,"b"]`, gotType: "application/json"},
		{name: "a number", method: "POST", content: int64(5), body: "5", gotType: "application/json"},
		{name: "true", method: "POST", content: true, body: "true", gotType: "application/json"},
		{name: "no content", method: "POST", body: ""},
		{name: "no content with a type", method: "POST", typ: "application/json", body: "", gotType: "application/json"},
		{name: "empty text", method: "POST", content: "", body: ""},
		{name: "JSON as a text", method: "POST", content: `{"a": 1}`, typ: "application/json", body: `{"a": 1}`, gotType: "application/json"},
		{name: "a type of JSON", method: "PATCH", content: object{"a": int64(1)}, typ: "application/merge-patch+json", body: `{"a":1}`, gotType: "application/merge-patch+json"},
		{name: "XML", method: "POST", content: "<a/>", typ: "application/xml", body: "<a/>", gotType: "application/xml"},
		{name: "latin-1", method: "POST", content: "Grüße", typ: "text/plain; charset=iso-8859-1", body: "Gr\xfc\xdfe", gotType: "text/plain; charset=iso-8859-1"},
		{name: "UTF-16", method: "POST", content: "a", typ: "text/plain; charset=utf-16le", body: "a\x00", gotType: "text/plain; charset=utf-16le"},
		{name: "what latin-1 does not have", method: "POST", content: "日本", typ: "text/plain; charset=iso-8859-1", fault: "does not have"},
		{name: "a charset that there is not", method: "POST", content: "a", typ: "text/plain; charset=klingon", fault: "klingon"},

		{name: "a form", method: "POST", content: object{"b": "x y&ü", "a": int64(1), "c": true}, typ: form, body: "a=1&b=x+y%26%C3%BC&c=true", gotType: form},
		{name: "a form with a charset", method: "POST", content: object{"a": "ü"}, typ: form + "; charset=utf-8", body: "a=%C3%BC", gotType: form + "; charset=utf-8"},
		{name: "a list in a form", method: "POST", content: object{"a": []any{int64(1), "2"}}, typ: form, body: "a=1&a=2", gotType: form},
		{name: "nothing in a form", method: "POST", content: object{"a": nil, "b": ""}, typ: form, body: "a=&b=", gotType: form},
		{name: "an empty form", method: "POST", content: object{}, typ: form, body: "", gotType: form},
		{name: "a form as a text", method: "POST", content: "a=1&b=%C3%BC", typ: form, body: "a=1&b=%C3%BC", gotType: form},
		{name: "an object in a form", method: "POST", content: object{"a": object{"b": int64(1)}}, typ: form, fault: `the field "a" of the content is no text`},
		{name: "parts", method: "POST", content: object{"a": int64(1)}, typ: "multipart/form-data", fault: "is not sent as multipart/form-data"},

		{name: "a type in the headers", method: "POST", content: "a", headers: object{"content-type": "text/csv"}, body: "a", gotType: "text/csv"},
		{name: "a header of several values", headers: object{"X-A": []any{"1", "2"}}, target: "-"},
		{name: "DELETE with a body", method: "DELETE", content: object{"a": int64(1)}, body: `{"a":1}`, gotType: "application/json"},
		{name: "HEAD", method: "HEAD", url: "/a", target: "/a"},
		{name: "OPTIONS", method: "OPTIONS", url: "/a", target: "/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var target, body, typ string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				target, body, typ = r.RequestURI, string(raw), r.Header.Get("Content-Type")
				if c.headers["X-A"] != nil && len(r.Header.Values("X-A")) != 2 {
					t.Errorf("%v", r.Header)
				}
				w.WriteHeader(http.StatusNoContent)
			}))
			defer srv.Close()
			in := inputs{"url": lit(srv.URL + c.url), "method": lit(c.method)}
			if c.method == "" {
				in["method"] = lit("GET")
			}
			if c.content != nil {
				in["content"] = expr(func(engine.Scope) (any, error) { return c.content, nil })
			}
			if c.typ != "" {
				in["contentType"] = lit(c.typ)
			}
			if c.headers != nil {
				in["headers"] = lit(c.headers)
			}
			b := start(t, root(act("SendHttpRequest", in)), withHTTP(true))
			if c.fault != "" {
				b.wantStatus(workflow.Faulted)
				if !strings.Contains(b.header.Incidents[0].Message, c.fault) {
					t.Errorf("%v", b.header.Incidents)
				}
				return
			}
			b.wantStatus(workflow.Finished)
			if c.target == "" {
				c.target = "/"
			}
			if c.target != "-" && target != c.target || body != c.body || typ != c.gotType {
				t.Errorf("%s with %q as %q", target, body, typ)
			}
		})
	}
}

// TestWhatComesBack says what parsedContent is of an answer.
func TestWhatComesBack(t *testing.T) {
	t.Parallel()
	packed := func(zip bool, text string) string {
		var b bytes.Buffer
		var w io.WriteCloser = zlib.NewWriter(&b)
		if zip {
			w = gzip.NewWriter(&b)
		}
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	for _, c := range []struct {
		name, typ, coding, body string
		status                  int
		asks                    string // Accept-Encoding that the definition gives
		want                    any
	}{
		{name: "JSON", typ: "application/json", body: `{"a": 1}`, want: map[string]any{"a": int64(1)}},
		{name: "a type of JSON", typ: "application/problem+json; charset=utf-8", body: `{"a": 1}`, want: map[string]any{"a": int64(1)}},
		{name: "text/json", typ: "text/json", body: `[1]`, want: []any{int64(1)}},
		{name: "JSON behind a mark", typ: "application/json", body: "\xef\xbb\xbf{\"a\": 1}", want: map[string]any{"a": int64(1)}},
		{name: "JSON in UTF-16", typ: "application/json", body: "\xff\xfe[\x001\x00]\x00", want: []any{int64(1)}},
		{name: "JSON in latin-1", typ: "application/json; charset=iso-8859-1", body: "[\"\xfc\"]", want: []any{"ü"}},
		{name: "JSON that is none", typ: "application/json", body: "oops", want: "oops"},
		{name: "a large number", typ: "application/json", body: "[12345678901234567890]", want: []any{workflow.Number("12345678901234567890")}},
		{name: "text", typ: "text/plain", body: "Grüße", want: "Grüße"},
		{name: "text behind a mark", typ: "text/plain", body: "\xef\xbb\xbfa", want: "a"},
		{name: "latin-1", typ: "text/html; charset=ISO-8859-1", body: "Gr\xfc\xdfe", want: "Grüße"},
		{name: "windows-1252", typ: "text/csv; charset=windows-1252", body: "5 \x80", want: "5 €"},
		{name: "latin-1 without its name", typ: "text/plain", body: "\xfc", want: "/A=="},
		{name: "a charset that there is not", typ: "text/plain; charset=klingon", body: "a", want: "a"},
		{name: "bytes", typ: "image/png", body: "\x89PNG", want: "iVBORw=="},
		{name: "bytes that look like a mark", typ: "application/octet-stream", body: "\xff\xfea\x00", want: "//5hAA=="},
		{name: "JSON without a type", typ: "", body: `{"a": 1}`, want: `{"a": 1}`},
		{name: "nothing", typ: "application/json", body: "", want: nil},
		{name: "204", status: 204, want: nil},
		{name: "304", status: 304, want: nil},
		{name: "gzip", typ: "text/plain", coding: "gzip", body: packed(true, "Grüße"), want: "Grüße"},
		{name: "gzip that was asked for", typ: "application/json", coding: "gzip", body: packed(true, "[1]"), asks: "gzip", want: []any{int64(1)}},
		{name: "deflate that was asked for", typ: "application/json", coding: "deflate", body: packed(false, "[1]"), asks: "deflate", want: []any{int64(1)}},
		{name: "brotli that was asked for", typ: "text/plain", coding: "br", body: "\x8b\x00", asks: "br", want: "iwA="},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				h := w.Header()
				h["Content-Type"] = nil
				if c.typ != "" {
					h.Set("Content-Type", c.typ)
				}
				if c.coding != "" {
					h.Set("Content-Encoding", c.coding)
				}
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			in := inputs{"url": lit(srv.URL)}
			if c.asks != "" {
				in["headers"] = lit(map[string]any{"Accept-Encoding": c.asks})
			}
			send := named("send", act("SendHttpRequest", in))
			send.Outputs = map[string]string{"parsedContent": "got"}
			def := root(send)
			def.Variables = []workflow.Variable{{Name: "got"}}
			def.Outputs = []workflow.Output{{Name: "got", Value: ptr(varExpr("got"))}}
			b := start(t, def, withHTTP(true)).wantStatus(workflow.Finished)
			if got := b.header.Output["got"]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%#v, want %#v", got, c.want)
			}
		})
	}
}
