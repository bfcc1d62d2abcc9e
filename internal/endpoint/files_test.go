package endpoint

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

const png = "\x89PNG\r\n\x1a\n"

func TestTypeOfAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ declared, content, want string }{
		{"image/png", png, "image/png"},
		{"image/png", "text", "text/plain"},
		{"image/png", "MZ\x90\x00\x03", "application/octet-stream"},
		{"image/jpg", "\xff\xd8\xff\xe0", "image/jpeg"},
		{"text/plain", "text", "text/plain"},
		{"text/plain; charset=utf-8", "text", "text/plain"},
		{"Text/CSV", "a,b", "text/csv"},
		{"text/csv", "PK\x03\x04", "application/zip"},
		{"text/csv", "MZ\x90\x00\x03", "application/octet-stream"},
		{"text/plain", "<html><script>", "text/html"},
		{"application/json", "{}", "application/json"},
		{"application/json", "<!DOCTYPE HTML>", "text/html"},
		{"application/pdf", "%PDF-1.7", "application/pdf"},
		{"application/pdf", "%!PS-Adobe-", "application/postscript"},
		{"text/plain", "%PDF-1.7", "application/pdf"},
		{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"application/x-zip-compressed", "PK\x03\x04", "application/zip"},
		{"application/gzip", "\x1f\x8b\x08", "application/gzip"},
		{"image/svg+xml", "<?xml version=", "image/svg+xml"},
		{"audio/x-wav", "RIFF\x00\x00\x00\x00WAVE", "audio/x-wav"},
		{"", "MZ\x90\x00\x03", "application/octet-stream"},
		{"", png, "image/png"},
		{"no type", "\x00\x01", "no type"},
		{"audio/webm", "\x1a\x45\xdf\xa3", "audio/webm"},
		{"audio/mpeg", "\x1a\x45\xdf\xa3", "video/webm"},
		{"audio/mp4", "\x00\x00\x00\x14ftypmp42\x00\x00\x00\x00mp42", "audio/mp4"},
		{"audio/x-m4a", "\x00\x00\x00\x14ftypM4A \x00\x00\x00\x00M4A ", "audio/x-m4a"},
		{"image/heic", "\x00\x00\x00\x14ftypheic", "image/heic"},
		{"image/tiff", "II*\x00\x08", "image/tiff"},
		{"audio/mpeg", "\xff\xfb\x90\x00", "audio/mpeg"},
		{"image/svg+xml", "<!-- a --><svg>", "image/svg+xml"},
		{"application/xml", "<!-- a --><a/>", "application/xml"},
		{"text/markdown", "<h1>A</h1>", "text/markdown"},
		{"text/plain", "<h1>A</h1>", "text/html"},
		{"application/vnd.rar", "Rar!\x1a\x07\x00", "application/x-rar-compressed"},
		{"application/pdf", "\r\n%PDF-1.7", "application/pdf"},
		{"text/plain", "\n%PDF-1.7", "application/pdf"},
		{"audio/x-own", "MZ\x90\x00\x03", "application/octet-stream"},
		{"video/mp4", "\x7fELF\x02\x01\x01\x00", "application/octet-stream"},
		{"image/tiff", "MZ\x90\x00\x03", "application/octet-stream"},
		{"font/woff", "MZ\x90\x00\x03", "application/octet-stream"},
		{"application/vnd.own", "MZ\x90\x00\x03", "application/vnd.own"},
	} {
		if got := typeOf(c.declared, []byte(c.content)); got != c.want {
			t.Errorf("%q as %q is %q, want %q", c.content, c.declared, got, c.want)
		}
	}
}

func TestRulesForFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules   *files.Rules
		files   []File
		code    workflow.Code
		says    string
		outcome string
	}{
		"none":                        {rules: &files.Rules{}, files: []File{{Name: "a.exe"}}},
		"of before files were taken":  {files: []File{{Name: "a.exe"}}, code: workflow.CodeInvalid, says: "publish"},
		"that cannot be read":         {rules: &files.Rules{Unreadable: true}, files: []File{{Name: "a.exe"}}, code: workflow.CodeInvalid, says: "cannot be read"},
		"as large as may be":          {rules: &files.Rules{MaxSize: 2}, files: []File{{Content: []byte("ab")}}},
		"none with content":           {rules: &files.Rules{MaxSize: -1}, files: []File{{}, {Content: []byte("a")}}, code: workflow.CodeTooLarge, says: "up to 0"},
		"too large":                   {rules: &files.Rules{MaxSize: 2}, files: []File{{Name: "a.txt"}, {Name: "b.txt", Content: []byte("abc")}}, code: workflow.CodeTooLarge, says: `"b.txt"`},
		"too large, and it goes on":   {rules: &files.Rules{MaxSize: 2, SizeGoesOn: true}, files: []File{{Content: []byte("abc")}}, outcome: files.TooLarge},
		"allowed":                     {rules: &files.Rules{Allowed: []string{" .PDF", "txt"}}, files: []File{{Name: "a.pdf"}, {Name: "b.TXT"}}},
		"not allowed":                 {rules: &files.Rules{Allowed: []string{".pdf"}}, files: []File{{Name: "a.pdf"}, {Name: "pdf"}}, code: workflow.CodeMediaType, says: ".pdf"},
		"an empty extension is none":  {rules: &files.Rules{Allowed: []string{".pdf", " "}}, files: []File{{Name: "a."}}, code: workflow.CodeMediaType, says: ".pdf"},
		"blocked":                     {rules: &files.Rules{Blocked: []string{".exe"}}, files: []File{{Name: "a.pdf.EXE"}}, code: workflow.CodeMediaType, says: ".exe"},
		"blocked without a dot":       {rules: &files.Rules{Blocked: []string{"exe"}}, files: []File{{Name: "a.exe"}}, code: workflow.CodeMediaType},
		"blocked behind dots":         {rules: &files.Rules{Blocked: []string{".exe"}}, files: []File{{Name: "a.exe. ."}}, code: workflow.CodeMediaType},
		"blocked before a colon":      {rules: &files.Rules{Blocked: []string{".exe"}}, files: []File{{Name: "a.exe::$DATA"}}, code: workflow.CodeMediaType},
		"not allowed before a colon":  {rules: &files.Rules{Allowed: []string{".txt"}}, files: []File{{Name: "a.exe. :b.txt"}}, code: workflow.CodeMediaType},
		"allowed behind a colon":      {rules: &files.Rules{Allowed: []string{".txt"}}, files: []File{{Name: "Re: a.txt"}}},
		"rar by both its names":       {rules: &files.Rules{Types: []string{"application/vnd.rar"}}, files: []File{{Type: "application/x-rar-compressed", Content: []byte("Rar!\x1a\x07\x00")}}},
		"blocked, and it goes on":     {rules: &files.Rules{Blocked: []string{".exe"}, ExtensionGoesOn: true}, files: []File{{Name: "a.exe"}}, outcome: files.Extension},
		"of another type":             {rules: &files.Rules{Types: []string{"image/png"}}, files: []File{{Type: "image/png", Content: []byte("text")}}, code: workflow.CodeMediaType, says: "text/plain"},
		"of the type":                 {rules: &files.Rules{Types: []string{"IMAGE/PNG"}}, files: []File{{Type: "image/png; x=y", Content: []byte(png)}}},
		"of the type by content only": {rules: &files.Rules{Types: []string{"image/png"}}, files: []File{{Type: "application/octet-stream", Content: []byte(png)}}, code: workflow.CodeMediaType, says: "application/octet-stream"},
		"of both types that may be":   {rules: &files.Rules{Types: []string{"text/plain", "image/png"}}, files: []File{{Type: "image/png", Content: []byte("text")}}, code: workflow.CodeMediaType, says: "said to be image/png"},
		"any bytes":                   {rules: &files.Rules{Types: []string{"application/octet-stream"}}, files: []File{{Content: []byte(png)}, {Type: "application/octet-stream"}}},
		"said to be another":          {rules: &files.Rules{Types: []string{"text/plain"}}, files: []File{{Type: "application/pdf", Content: []byte("hi")}}, code: workflow.CodeMediaType, says: "application/pdf"},
		"of another type, it goes on": {rules: &files.Rules{Types: []string{"image/png"}, TypeGoesOn: true}, files: []File{{Type: "image/png"}}, outcome: files.Type},
		"the first rule says it":      {rules: &files.Rules{MaxSize: 1, Blocked: []string{".exe"}}, files: []File{{Name: "a.exe", Content: []byte("ab")}}, code: workflow.CodeTooLarge},
	} {
		outcome, err := refusedFiles(c.files, c.rules)
		if outcome != c.outcome || workflow.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, outcome, err)
		}
	}
}

func TestFilesOfARequest(t *testing.T) {
	t.Parallel()
	r := Request{Method: "POST", Path: "a", Body: "--x\xff", Parse: func() (Body, error) {
		return Body{Value: map[string]any{"b": "c"}, Files: []File{{Field: "f", Name: "a.exe", Type: "text/plain", Content: []byte("hi")}}}, nil
	}}
	place := workflow.Endpoint{Method: "POST", Template: "a"}
	place.Files = &files.Rules{}
	in, err := r.Input(&place)
	if err != nil || in["body"] != "" || in["refused"] != "" || !r.HasFiles() || len(in["files"].([]any)) != 1 {
		t.Errorf("taken: %v, %v", in, err)
	}
	place.Files = &files.Rules{Blocked: []string{".exe"}}
	if in, err := r.Input(&place); workflow.CodeOf(err) != workflow.CodeMediaType {
		t.Errorf("refused: %v, %v", in, err)
	}
	place.Files.ExtensionGoesOn = true
	if in, err := r.Input(&place); err != nil || in["refused"] != files.Extension || !reflect.DeepEqual(in["files"], []any{}) || !reflect.DeepEqual(in["parsedBody"], map[string]any{"b": "c"}) {
		t.Errorf("goes on: %v, %v", in, err)
	}
	if r.HasFiles() {
		t.Error("there are files that were refused")
	}
	place.Files = nil
	if in, err := r.Input(&place); workflow.CodeOf(err) != workflow.CodeInvalid {
		t.Errorf("of before: %v, %v", in, err)
	}
}
