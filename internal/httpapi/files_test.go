package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
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

// An export has the files of its instance, and an import brings them: after a delete they are as they were. What misses
// one, or has another in its place, brings nothing.
func TestAnExportHasItsFiles(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, strings.NewReplacer("files#", "moves#", "up/#", "moves-up/#", "down/#", "moves-down/#").Replace(filesYAML))
	noise := bytesOf(3<<20 + 5)
	s.upload(t, http.MethodPost, "/workflows/moves-up/#", noise, 200, "Content-Type: application/octet-stream", "X-Correlation-Id: moves-#")
	id := s.get(t, "/api/v1/instances?definitionId=moves#").json(t)["items"].([]any)[0].(map[string]any)["instanceId"].(string)
	path := "/api/v1/instances/" + id + "/state"
	exported := s.do(t, "GET", path, "")
	whole := exported.json(t)
	list, _ := whole["files"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d files: %.300s", len(list), exported.body)
	}
	file := list[0].(map[string]any)
	if text, err := base64.StdEncoding.DecodeString(file["content"].(string)); err != nil || string(text) != noise || file["bytes"] != float64(len(noise)) {
		t.Errorf("the file has %d bytes and %v, %v", len(text), file["bytes"], err)
	}
	if a := s.do(t, "DELETE", "/api/v1/instances/"+id, ""); a.status != 204 {
		t.Fatalf("delete: %d %s", a.status, a.body)
	}
	with := func(files any) string {
		other := maps.Clone(whole)
		if other["files"] = files; files == nil {
			delete(other, "files")
		}
		raw, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	changed := func(name string, v any) []any {
		other := maps.Clone(file)
		other[name] = v
		return []any{other}
	}
	hash := file["sha256"].(string)
	for what, c := range map[string]struct {
		body, code, says string
	}{
		"an export of before":      {with(nil), "missing-file", hash},
		"one that is left out":     {with(changed("leftOut", true)), "missing-file", hash},
		"another file":             {with(changed("content", base64.StdEncoding.EncodeToString([]byte("other")))), "damaged-file", hash},
		"another size":             {with(changed("bytes", 3)), "damaged-file", hash},
		"a hash that is none":      {with(changed("sha256", "../x")), "damaged-file", "../x"},
		"what is no base64":        {with(changed("content", "%")), "wrong-type", "base64"},
		"a file that is no object": {with([]any{1}), "wrong-type", "files"},
	} {
		a := s.do(t, "PUT", path, c.body, "Content-Type: application/json")
		if a.status != 422 || !strings.Contains(string(a.body), `"`+c.code+`"`) || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s: %d %.600s", what, a.status, a.body)
		}
		if a := s.do(t, "GET", "/api/v1/instances/"+id, ""); a.status != 404 {
			t.Errorf("%s: it is there: %d", what, a.status)
		}
	}
	a := s.do(t, "PUT", path, string(exported.body), "Content-Type: application/json")
	if _, has := a.json(t)["files"]; a.status != 200 || has {
		t.Fatalf("import: %d %.300s", a.status, a.body)
	}
	if a := s.upload(t, http.MethodGet, "/workflows/moves-down/#", "", 200, "X-Correlation-Id: moves-#"); string(a.body) != noise {
		t.Errorf("after the import: %d bytes", len(a.body))
	}
	if a := s.do(t, "PUT", path, with(changed("leftOut", true)), "Content-Type: application/json"); a.status != 200 { // it lies there
		t.Errorf("over the instance: %d %.300s", a.status, a.body)
	}
}
