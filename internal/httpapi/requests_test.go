package httpapi_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/node"
)

// wireRow is a row of testdata/requests.yaml, which says what each field is.
type wireRow struct {
	Name, Ask    string
	Head         []string
	Text, Bytes  string
	Times        int
	Packed       string
	Status       int
	Parsed, Body any
	Files        any
	Query, Route any
	Method       string
	Says, Hides  string
	Gives        string
	has          map[string]any
}

const echoYAML = `
id: echo
variables:
  got: {type: object}
root:
  - httpEndpoint: {path: "echo/{*rest}", supportedMethods: [GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS]}
    trigger: true
    result: got
  - writeHttpResponse:
      content:
        parsed: ${{ variables.got.parsedBody }}
        body: ${{ variables.got.body }}
        files: ${{ variables.got.files }}
        query: ${{ variables.got.query }}
        route: ${{ variables.got.routeData }}
        method: ${{ variables.got.method }}
        headers: ${{ variables.got.headers }}
`

const wroteYAML = `
id: wrote
variables:
  got: {type: object}
root:
  - httpEndpoint: "wrote/{status}"
    trigger: true
    result: got
  - writeHttpResponse:
      statusCode: ${{ int(variables.got.routeData.status) }}
      content: Grüße
      responseHeaders: {Location: "https://shop.example/done?q=%C3%BC"}
`

// body is what is sent.
func (r *wireRow) body(t *testing.T) []byte {
	t.Helper()
	raw := []byte(r.Text)
	if r.Bytes != "" {
		raw = nil
		for _, char := range r.Bytes {
			raw = append(raw, byte(char))
		}
	}
	if r.Times > 0 {
		raw = bytes.Repeat(raw, r.Times)
	}
	var out bytes.Buffer
	var w io.WriteCloser
	switch r.Packed {
	case "":
		return raw
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	default:
		w, _ = flate.NewWriter(&out, 6)
	}
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRequestsAsClientsWriteThem(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/requests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rows []wireRow
	var fields []map[string]any
	if err := yaml.Load(raw, &rows, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(raw, &fields); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 120 {
		t.Errorf("the table has %d rows", len(rows))
	}
	s := ownServer(t, node.Config{NodeID: "node-1", CORSOrigins: []string{"https://shop.example"}})
	s.publish(t, echoYAML)
	s.publish(t, wroteYAML)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	for i := range rows {
		row := &rows[i]
		row.has = fields[i]
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			row.try(t, s, client)
		})
	}
}

func (r *wireRow) try(t *testing.T, s *server, client *http.Client) {
	t.Helper()
	method, target, _ := strings.Cut(r.Ask, " ")
	if strings.HasPrefix(target, "/echo/") || strings.HasPrefix(target, "/wrote/") {
		target = "/workflows" + target
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.base, bytes.NewReader(r.body(t)))
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(target, "?")
	req.URL.Opaque, req.URL.RawQuery = "//"+req.URL.Host+path, query
	for _, h := range r.Head {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer := readAll(t, resp)
	want := r.Status
	if want == 0 {
		want = http.StatusOK
	}
	if resp.StatusCode != want || !strings.Contains(answer, r.Says) || r.Hides != "" && strings.Contains(answer, r.Hides) {
		t.Fatalf("%d %s", resp.StatusCode, answer)
	}
	if name, value, ok := strings.Cut(r.Gives, ": "); ok && resp.Header.Get(name) != value {
		t.Errorf("%s is %q", name, resp.Header.Values(name))
	}
	if (want == http.StatusNoContent || want == http.StatusNotModified) && (answer != "" || resp.Header.Get("Content-Type") != "") {
		t.Errorf("%d with a body: %v %s", want, resp.Header, answer)
	}
	var got map[string]any
	for name := range r.has {
		switch name {
		case "parsed", "body", "files", "query", "route", "method":
		default:
			continue
		}
		if got == nil {
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatalf("%v: %s", err, answer)
			}
			list, _ := got["files"].([]any)
			for _, f := range list {
				if at, _ := f.(map[string]any)["content"].(string); !strings.HasPrefix(at, "weft-file:") {
					t.Errorf("a file has the content %q", at)
				}
				delete(f.(map[string]any), "content") // another for each instance
			}
		}
		wanted, err := json.Marshal(r.has[name])
		if err != nil {
			t.Fatal(err)
		}
		var as any
		if err := json.Unmarshal(wanted, &as); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got[name], as) && !(name == "body" && as == "" && got[name] == nil) {
			t.Errorf("%s is %#v, want %#v", name, got[name], as)
		}
	}
}

// A page is a fifth of its size or less for who takes it compressed.
func TestAPageIsCompressed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: paged#\ninputs: {n: integer}\nroot:\n  - event: paged#\n")
	for i := range 60 {
		s.post(t, "/api/v1/definitions/paged#/execute", fmt.Sprintf(`{"correlationId": "page-%d", "input": {"n": %d}}`, i, i), 200)
	}
	const path = "/api/v1/instances?limit=500&definitionId=paged#"
	get := func(accepts, cookie string) (http.Header, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+s.own(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", accepts)
		if cookie != "" {
			req.Header.Set("Cookie", cookie)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header, []byte(readAll(t, resp))
	}
	of, plain := get("identity", "")
	h, packed := get("gzip", "")
	if h.Get("Content-Encoding") != "gzip" || h.Get("Vary") != "Accept-Encoding" || of.Get("Content-Encoding") != "" || 5*len(packed) > len(plain) {
		t.Errorf("%d bytes of %d, %v", len(packed), len(plain), h)
	}
	if h, _ := get("gzip", "a=b"); h.Get("Content-Encoding") != "" {
		t.Errorf("with a cookie: %v", h)
	}
	t.Logf("%d bytes of %d", len(packed), len(plain))
}
