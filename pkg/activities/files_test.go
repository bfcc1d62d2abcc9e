package activities_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// shelf keeps files in memory.
type shelf map[string][]byte

func (s shelf) Keep(_ context.Context, data []byte) (files.Content, error) {
	sum := sha256.Sum256(data)
	c := files.Content{Hash: hex.EncodeToString(sum[:])}
	s[c.Hash] = bytes.Clone(data)
	return c, nil
}

func (s shelf) Read(_ context.Context, ref files.Ref) ([]byte, error) {
	data, ok := s[ref.Hash]
	if !ok || ref.Instance != "i1" {
		return nil, workflow.Fail(workflow.CodeContentNotFound, "no such file")
	}
	return data, nil
}

func (s shelf) Check(ctx context.Context, ref files.Ref) error {
	_, err := s.Read(ctx, ref)
	return err
}

func (s shelf) put(name, typ, text string) any {
	c, _ := s.Keep(context.Background(), []byte(text))
	ref := files.Ref{Instance: "i1", Hash: c.Hash, Bytes: int64(len(text)), Name: name, Type: typ}
	return ref.Value()
}

func TestOneFileIsAnsweredAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs                    map[string]any
		body, as, typ, tag, fails string
	}{
		"text":           {inputs: map[string]any{"content": "a,b", "filename": "x.csv"}, body: "a,b", as: "x.csv", typ: "text/plain"},
		"bytes":          {inputs: map[string]any{"content": []any{int64(0), int64(255)}, "filename": "x.PDF"}, body: "\x00\xff", as: "x.PDF", typ: "application/pdf"},
		"bytes alone":    {inputs: map[string]any{"content": []any{int64(1)}}, body: "\x01", as: "file.bin", typ: "application/octet-stream"},
		"an object":      {inputs: map[string]any{"content": map[string]any{"Filename": "ä.txt", "ContentType": "text/x", "content": "t"}}, body: "t", as: "ä.txt", typ: "text/x"},
		"a path in it":   {inputs: map[string]any{"content": "t", "filename": "../../etc/pass\r\nwd"}, body: "t", as: "passwd", typ: "text/plain"},
		"a tag":          {inputs: map[string]any{"content": "t", "entityTag": "v1"}, body: "t", as: "file.txt", typ: "text/plain", tag: `"v1"`},
		"a weak tag":     {inputs: map[string]any{"content": "t", "entityTag": `W/"v 1"`}, fails: "entityTag"},
		"a type":         {inputs: map[string]any{"content": "t", "contentType": "text/html"}, body: "t", as: "file.txt", typ: "text/html"},
		"no type":        {inputs: map[string]any{"content": "t", "contentType": "a\r\nb: c"}, fails: "content type"},
		"an address":     {inputs: map[string]any{"content": "https://a.example/x"}, fails: "DownloadHttpFile"},
		"a number":       {inputs: map[string]any{"content": int64(5)}, fails: "5 is no file"},
		"no such object": {inputs: map[string]any{"content": map[string]any{"a": "b"}}, fails: "an object is sent as a file if"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shelf{}
			got, wrong := answeredBy(t, s, c.inputs, c.inputs["content"])
			if c.fails != "" {
				if !strings.Contains(wrong, c.fails) {
					t.Errorf("incident %q, want one of %q", wrong, c.fails)
				}
				return
			}
			if wrong != "" || got == nil || got.File == nil {
				t.Fatalf("wrote %+v, incident %q", got, wrong)
			}
			if body := string(s[got.File.Hash]); body != c.body || got.File.Name != c.as || got.ContentType != c.typ || got.File.Bytes != int64(len(body)) {
				t.Errorf("wrote %q as %+v", body, got)
			}
			if tag := got.Headers["ETag"]; tag != c.tag && (c.tag != "" || tag != `"`+got.File.Hash+`"`) {
				t.Errorf("ETag %s", tag)
			}
			if !strings.HasPrefix(got.Headers["Content-Disposition"], "attachment; filename") {
				t.Errorf("Content-Disposition %s", got.Headers["Content-Disposition"])
			}
		})
	}
}

// answeredBy runs writeFileHttpResponse with what it gets as inputs of the workflow, so that publishing does not refuse it: what it
// wrote, and its incident if it is one.
func answeredBy(t *testing.T, s shelf, inputs map[string]any, content any) (*workflow.Response, string) {
	t.Helper()
	a := &workflow.Activity{ID: "w", Type: "Elsa.WriteFileHttpResponse", Inputs: map[string]workflow.Expression{}}
	def := root(a)
	in := map[string]any{}
	for name, v := range inputs {
		a.Inputs[name] = workflow.Expression{Kind: workflow.InputOf, Value: name}
		def.Inputs = append(def.Inputs, workflow.Input{Name: name, Type: "Object"})
		in[name] = v
	}
	in["content"] = content
	b := start(t, def, withInput(in), withEnv(func(e *engine.Env) { e.Files = s }))
	for _, i := range b.header.Incidents {
		return b.response, i.Message
	}
	return b.response, ""
}

// Several files are an archive, the same for the same files; none is an answer without a body.
func TestSeveralFilesAreAnArchive(t *testing.T) {
	t.Parallel()
	s := shelf{}
	list := []any{s.put("a.txt", "", "one"), "two", s.put("A.TXT", "", "three"), map[string]any{"fileName": `c:\d\..\e.txt`, "content": "four"}}
	first, wrong := answeredBy(t, s, map[string]any{"content": nil}, list)
	if wrong != "" || first.File == nil || first.ContentType != "application/zip" || first.File.Name != "download.zip" {
		t.Fatalf("wrote %+v, %q", first, wrong)
	}
	again, _ := answeredBy(t, s, map[string]any{"content": nil}, list)
	if first.File.Hash != again.File.Hash {
		t.Error("the same files are another archive")
	}
	data := s[first.File.Hash]
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		got = append(got, fmt.Sprintf("%s=%s %v", f.Name, text, err))
	}
	if want := []string{"a.txt=one <nil>", "file.txt=two <nil>", "A (1).TXT=three <nil>", "e.txt=four <nil>"}; !slices.Equal(got, want) {
		t.Errorf("the archive has %q, want %q", got, want)
	}
	half := strings.Repeat("x", files.MaxSize/2+1)
	if _, wrong := answeredBy(t, s, map[string]any{"content": nil}, []any{s.put("a", "", half), s.put("b", "", half)}); !strings.Contains(wrong, "together") {
		t.Errorf("too much together: %q", wrong)
	}
	for _, none := range []any{nil, []any{}} {
		if got, wrong := answeredBy(t, s, map[string]any{"content": nil}, none); wrong != "" || got.Status != 204 || got.File != nil {
			t.Errorf("%v: wrote %+v, %q", none, got, wrong)
		}
	}
	other := files.Ref{Instance: "i2", Hash: strings.Repeat("a", 64)}
	if _, wrong := answeredBy(t, s, map[string]any{"content": nil}, other.Value()); !strings.Contains(wrong, "no such file") {
		t.Errorf("a file of another instance: %q", wrong)
	}
}

// What is known to be no file is refused when it is published.
func TestWhatIsNoFileIsRefusedByPublishing(t *testing.T) {
	t.Parallel()
	for _, inputs := range []map[string]any{{"content": "http://a.example"}, {"content": int64(7)}, {"content": "t", "entityTag": "a b"}} {
		a := &workflow.Activity{ID: "w", Type: "Elsa.WriteFileHttpResponse", Inputs: map[string]workflow.Expression{}}
		for name, v := range inputs {
			a.Inputs[name] = workflow.Lit(v)
		}
		if problems := compileProblems(t, root(a)); len(problems) != 1 || problems[0].Code != "bad-literal" {
			t.Errorf("%v: %v", inputs, problems)
		}
	}
}

// A file that was got lies beside the instance, and can be read, answered with and sent on.
func TestADownloadIsAFile(t *testing.T) {
	t.Parallel()
	var sent []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.Header.Get("Content-Type")+" "+string(body))
		switch r.URL.Path {
		case "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="../a.json"`)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"n": 7}`)
		case "/empty":
		case "/large":
			_, _ = w.Write(make([]byte, files.MaxSize+1))
		case "/missing.txt":
			http.Error(w, "no", http.StatusNotFound)
		default:
			_, _ = w.Write([]byte{0, 1, 0xff})
		}
	}))
	defer srv.Close()
	run := func(path string, more ...*workflow.Activity) *bench {
		get := &workflow.Activity{ID: "get", Type: "Elsa.DownloadHttpFile", Inputs: map[string]workflow.Expression{"url": workflow.Lit(srv.URL + path)}, Outputs: map[string]string{"result": "file", "statusCode": "status"}}
		def := root(seq(append([]*workflow.Activity{get}, more...)...))
		def.Variables = []workflow.Variable{{Name: "file", Type: "Object"}, {Name: "status", Type: "Object"}, {Name: "out", Type: "Object"}}
		return start(t, def, withEnv(func(e *engine.Env) { e.Files, e.HTTP = shelf{}, srv.Client() }))
	}
	file := workflow.Expression{Kind: workflow.VariableOf, Value: "file"}
	read := &workflow.Activity{ID: "read", Type: "Elsa.ReadFile", Inputs: map[string]workflow.Expression{"file": file, "as": workflow.Lit("json")}, Outputs: map[string]string{"result": "out"}}
	send := &workflow.Activity{ID: "send", Type: "Elsa.SendHttpRequest", Inputs: map[string]workflow.Expression{"url": workflow.Lit(srv.URL + "/empty"), "method": workflow.Lit("POST"), "content": file}}
	answer := &workflow.Activity{ID: "answer", Type: "Elsa.WriteHttpResponse", Inputs: map[string]workflow.Expression{"content": file}}
	b := run("/named", read, send, answer)
	if len(b.header.Incidents) > 0 {
		t.Fatalf("incidents %+v", b.header.Incidents)
	}
	if len(sent) != 2 || sent[1] != "application/json {\"n\": 7}" {
		t.Errorf("sent %q", sent)
	}
	if r := b.response; r == nil || r.File == nil || r.File.Name != "a.json" || r.ContentType != "application/json" || r.File.Bytes != 8 {
		t.Errorf("answered %+v", r)
	}
	if len(b.last.State) > 4000 {
		t.Errorf("the state has %d bytes", len(b.last.State))
	}
	for path, want := range map[string]string{"/bin/report.pdf": "", "/empty": "", "/missing.txt": "", "/large": "larger than 16777216 bytes"} {
		b := run(path)
		got := ""
		for _, i := range b.header.Incidents {
			got += i.Message + i.Cause
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: incident %q, want %q", path, got, want)
		}
	}
}

// An answer that is too large for a value lies beside the instance, whichever its type, and each output refers to it.
func TestALargeAnswerIsAFile(t *testing.T) {
	t.Parallel()
	text := `{"items": ["` + strings.Repeat("0123456789abcdef", 1<<16) + `"]}` // some more than 1 MiB
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(srv.Close)
	for _, typ := range []string{"Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest", "Elsa.DownloadHttpFile"} {
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			body := "parsedContent"
			if typ == "Elsa.DownloadHttpFile" {
				body = "responseContentStream"
			}
			send := func(id, path string) *workflow.Activity {
				return &workflow.Activity{ID: id, Type: typ, Inputs: map[string]workflow.Expression{"url": workflow.Lit(srv.URL + path)}, Outputs: map[string]string{body: "file", "result": "all"}}
			}
			read := &workflow.Activity{ID: "read", Type: "Elsa.ReadFile", Inputs: map[string]workflow.Expression{"file": varExpr("file"), "as": workflow.Lit("json")}, Outputs: map[string]string{"result": "out"}}
			answer := &workflow.Activity{ID: "answer", Type: "Elsa.WriteFileHttpResponse", Inputs: map[string]workflow.Expression{"content": varExpr("file")}}
			var list []*workflow.Activity
			for n := range 40 { // more than there are places for at once
				list = append(list, send(fmt.Sprintf("send%d", n), "/orders"))
			}
			def := root(seq(append(list, send("send", "/missing"), read, answer)...))
			def.Variables = []workflow.Variable{{Name: "file", Type: "Object"}, {Name: "all", Type: "Object"}, {Name: "out", Type: "Object"}}
			def.Outputs = []workflow.Output{{Name: "out", Value: ptr(varExpr("out"))}, {Name: "all", Value: ptr(varExpr("all"))}}
			s := shelf{}
			b := start(t, def, withEnv(func(e *engine.Env) { e.Files, e.HTTP = s, srv.Client() })).wantStatus(workflow.Finished)
			all, _ := b.header.Output["all"].(map[string]any)
			if typ != "Elsa.DownloadHttpFile" {
				all, _ = all["body"].(map[string]any)
			}
			if ref, ok := files.RefOf(all); !ok || ref.Bytes != int64(len(text)) || ref.Type != "application/json" || len(s) != 1 {
				t.Errorf("the output is %v, and %d files are kept", all, len(s))
			}
			if out, _ := b.header.Output["out"].(map[string]any); len(out) != 1 {
				t.Errorf("read were %d members", len(out))
			}
			if b.response == nil || b.response.File == nil || b.response.File.Bytes != int64(len(text)) {
				t.Errorf("answered %+v", b.response)
			}
			if kept := slices.ContainsFunc(b.journal, func(it workflow.JournalItem) bool { return it.Event == "Kept" }); kept != (typ != "Elsa.DownloadHttpFile") {
				t.Errorf("the journal says that it was kept: %v", kept)
			}
		})
	}
}

// What becomes a part of the instance is bounded by what it is read as.
func TestAFileIsReadUpToASize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		as    string
		size  int
		fails bool
	}{{"text", 4 << 20, false}, {"text", 4<<20 + 1, true}, {"json", 4<<20 + 1, true}, {"base64", 1 << 20, false}, {"base64", 1<<20 + 1, true}, {"bytes", 1<<20 + 1, true}} {
		s := shelf{}
		def := root(&workflow.Activity{ID: "read", Type: "Elsa.ReadFile", Inputs: map[string]workflow.Expression{"file": workflow.Lit(s.put("a.txt", "text/plain", strings.Repeat("a", c.size))), "as": workflow.Lit(c.as)}})
		b := start(t, def, withEnv(func(e *engine.Env) { e.Files = s }))
		if got := len(b.header.Incidents) > 0; got != c.fails {
			t.Errorf("%d bytes as %s: incidents %+v", c.size, c.as, b.header.Incidents)
		}
	}
}
