package httpapi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow/files"
)

// bytesOf are so many bytes that look like nothing.
func bytesOf(n int) string {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(out)
	return string(out)
}

// formOf is a form with one file and a field.
func formOf(t *testing.T, name, typ, content, field string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, err := w.CreatePart(map[string][]string{"Content-Disposition": {fmt.Sprintf(`form-data; name="doc"; filename=%q`, name)}, "Content-Type": {typ}})
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err == nil {
		err = w.WriteField("note", field)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), w.FormDataContentType()
}

const filesYAML = `
id: files#
variables: {f: object, n: object, got: object}
root:
  - httpEndpoint: {path: up/#, supportedMethods: [POST], fileSizeLimit: 16777216, blockedFileExtensions: [.exe], allowedMimeTypes: [application/pdf, application/octet-stream]}
    trigger: true
    outputs: {file: f}
  - writeHttpResponse: {content: "${{ {file: variables.f} }}"}
  - while: true
    body:
      - httpEndpoint: {path: down/#, supportedMethods: [GET, HEAD]}
      - writeFileHttpResponse: {content: "${{ variables.f }}"}
`

// A file goes in, by a form or as the body, and comes out as it was: whole, in ranges, and not again for who has it.
func TestAFileGoesInAndComesOut(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, filesYAML)
	content := bytesOf(3<<20 + 7)
	form, formType := formOf(t, "report.bin", "application/octet-stream", content, "x")
	for name, sent := range map[string][]string{
		"a form": {form, "Content-Type: " + formType},
		"a body": {content, "Content-Type: application/octet-stream", `Content-Disposition: attachment; filename="report.bin"`},
	} {
		id := strings.ReplaceAll(name, " ", "-") + "-#"
		s.upload(t, http.MethodPost, "/workflows/up/#", sent[0], 200, append(sent[1:], "X-Correlation-Id: "+id)...)
		get := func(want int, headers ...string) answer {
			t.Helper()
			return s.upload(t, http.MethodGet, "/workflows/down/#", "", want, append(headers, "X-Correlation-Id: "+id)...)
		}
		whole := get(200)
		tag := whole.header.Get("ETag")
		if string(whole.body) != content || tag == "" || whole.header.Get("Content-Disposition") != "attachment; filename=report.bin" || whole.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: %d bytes, %v", name, len(whole.body), whole.header)
		}
		if part := get(206, "Range: bytes=1048570-1048600"); string(part.body) != content[1048570:1048601] || part.header.Get("Content-Range") != fmt.Sprintf("bytes 1048570-1048600/%d", len(content)) {
			t.Errorf("%s: a range has %d bytes, %v", name, len(part.body), part.header)
		}
		if part := get(206, "Range: bytes=-7", "If-Range: "+tag); string(part.body) != content[3<<20:] {
			t.Errorf("%s: its end has %d bytes", name, len(part.body))
		}
		get(416, fmt.Sprintf("Range: bytes=%d-", len(content)))
		if again := get(304, "If-None-Match: "+tag); len(again.body) > 0 {
			t.Errorf("%s: %d bytes again", name, len(again.body))
		}
		if whole := get(200, "Range: bytes=0-0", `If-Range: "other"`); len(whole.body) != len(content) {
			t.Errorf("%s: %d bytes of another one", name, len(whole.body))
		}
		if head := s.upload(t, http.MethodHead, "/workflows/down/#", "", 200, "X-Correlation-Id: "+id); len(head.body) > 0 || head.header.Get("Content-Length") != fmt.Sprint(len(content)) {
			t.Errorf("%s: head %v", name, head.header)
		}
	}
}

// What does not keep a rule starts nothing, however it is sent; nor does what is too large.
func TestFilesAreRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, filesYAML)
	var all [][]string
	add := func(want, name, typ, content, field string) {
		body, formType := formOf(t, name, typ, content, field)
		all = append(all, []string{want, body, "Content-Type: " + formType})
	}
	add("415", "a.exe", "application/octet-stream", "x", "")
	add("415", "a.exe::$DATA", "application/octet-stream", "x", "")
	add("415", "a.pdf", "application/pdf", "<html>", "")
	add("413", "a.bin", "application/octet-stream", strings.Repeat("x", files.MaxSize+1), "")
	add("413", "a.bin", "application/octet-stream", "x", strings.Repeat("x", 1<<20))
	all = append(all,
		[]string{"415", "x\xff", "Content-Type: application/octet-stream", "Content-Disposition: attachment; filename=a.EXE"},
		[]string{"415", "\x00not a pdf", "Content-Type: application/pdf"},
		[]string{"415", "\x89PNG\r\n\x1a\n", "Content-Type: image/png"},
		[]string{"422", "x\xff", "Content-Type: application/octet-stream", "Content-Disposition: attachment; filename=\"a.exe"},
		[]string{"413", strings.Repeat("\xff", files.MaxSize+1), "Content-Type: application/octet-stream"},
		[]string{"413", strings.Repeat("\xff", files.MaxSize+1<<20+1), "Content-Type: application/octet-stream"},
		[]string{"413", strings.Repeat("x", 1<<20+1), "Content-Type: text/plain"})
	for _, sent := range all {
		var want int
		_, _ = fmt.Sscan(sent[0], &want)
		s.upload(t, http.MethodPost, "/workflows/up/#", sent[1], want, sent[2:]...)
	}
	if n := len(s.get(t, "/api/v1/instances?definitionId=files#&limit=500").json(t)["items"].([]any)); n > 0 {
		t.Errorf("%d instances were started", n)
	}
}

// A value that names a file of another instance gives nobody that file.
func TestAFileOfAnotherInstanceIsNotGiven(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, filesYAML)
	s.publish(t, "id: thief#\nvariables: {b: object}\nroot:\n  - httpEndpoint: {path: thief/#, supportedMethods: [POST]}\n    trigger: true\n    outputs: {parsedContent: b}\n  - writeFileHttpResponse: {content: \"${{ variables.b }}\"}\n")
	file := s.upload(t, http.MethodPost, "/workflows/up/#", "secret\xff", 200, "Content-Type: application/octet-stream").json(t)["file"].(map[string]any)
	at, _ := file["content"].(string)
	if !strings.HasPrefix(at, "weft-file:") {
		t.Fatalf("the file is %v", file)
	}
	for _, content := range []string{at, "weft-file:nobody/" + file["sha256"].(string), "weft-file:../" + file["sha256"].(string)} {
		a := s.upload(t, http.MethodPost, "/workflows/thief/#", fmt.Sprintf(`{"content": %q, "length": 7}`, content), 500, "Content-Type: application/json")
		if bytes.Contains(a.body, []byte("secret")) {
			t.Errorf("%s gives %s", content, a.body)
		}
	}
}

// upload is do without the replacement of # in the body.
func (s *server) upload(t *testing.T, method, path, body string, want int, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base+s.own(path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(s.own(h), ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	a := answer{resp.StatusCode, resp.Header, []byte(readAll(t, resp))}
	if a.status != want {
		t.Errorf("%s %s, %v: got %d, want %d: %.300s", method, path, slices.Clip(headers), a.status, want, a.body)
	}
	return a
}
