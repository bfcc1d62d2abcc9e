package httpapi_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/node"
)

// TestRealClients sends with curl, Python and Node.js what people send with them, to an endpoint that says what its workflow
// got. It is skipped where a program is not, unless WEFT_REQUIRE_TOOLS=1 says that it must be there.
func TestRealClients(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{NodeID: "node-1"})
	s.publish(t, echoYAML)
	dir := t.TempDir()
	for name, text := range map[string]string{"order.json": `{"a": [1, "ü"]}`, "note.txt": "Grüße\nda\n", "latin.txt": "Gr\xfc\xdfe"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const python = "import json, sys, urllib.request as u, urllib.parse as p\nurl = sys.argv[1]\ndef send(*a, **k):\n    print(u.urlopen(u.Request(*a, **k)).read().decode())\n"
	const requests = "import sys\ntry:\n    import requests\nexcept ImportError:\n    sys.exit(77)\ndef send(**k):\n    print(requests.post(sys.argv[1], **k).text)\n"
	for _, c := range []struct {
		name, tool string
		args       []string // $URL is the endpoint
		want       any      // what was parsed
		says       string   // or a part of the answer
		status     string   // of a refusal
	}{
		{name: "-d", tool: "curl", args: []string{"-d", "a=1&b=x y"}, want: map[string]any{"a": "1", "b": "x y"}},
		{name: "-d with JSON", tool: "curl", args: []string{"-d", `{"a": 1}`}, want: map[string]any{"a": 1.0}},
		{name: "-d twice", tool: "curl", args: []string{"-d", "a=1", "-d", "a=2"}, want: map[string]any{"a": []any{"1", "2"}}},
		{name: "-d from a file", tool: "curl", args: []string{"-d", "@order.json"}, want: map[string]any{"a": []any{1.0, "ü"}}},
		{name: "--data-urlencode", tool: "curl", args: []string{"--data-urlencode", "a=x & ü"}, want: map[string]any{"a": "x & ü"}},
		{name: "--data-urlencode of a file", tool: "curl", args: []string{"--data-urlencode", "a@note.txt"}, want: map[string]any{"a": "Grüße\nda\n"}},
		{name: "--data-raw", tool: "curl", args: []string{"--data-raw", "a=@b"}, want: map[string]any{"a": "@b"}},
		{name: "--data-binary", tool: "curl", args: []string{"--data-binary", "@note.txt", "-H", "Content-Type: text/plain"}, want: "Grüße\nda\n"},
		{name: "--data-binary in latin-1", tool: "curl", args: []string{"--data-binary", "@latin.txt", "-H", "Content-Type: text/plain; charset=iso-8859-1"}, want: "Grüße"},
		{name: "--json", tool: "curl", args: []string{"--json", `{"a": "ü"}`}, want: map[string]any{"a": "ü"}},
		{name: "-F", tool: "curl", args: []string{"-F", "a=1", "-F", "b=x y", "-F", "a=ü"}, want: map[string]any{"a": []any{"1", "ü"}, "b": "x y"}},
		{name: "-F with the text of a file", tool: "curl", args: []string{"-F", "a=<note.txt"}, want: map[string]any{"a": "Grüße\nda\n"}},
		{name: "-F with a file", tool: "curl", args: []string{"-F", "photo=@note.txt"}, says: `"fileName":"note.txt"`},
		{name: "-T", tool: "curl", args: []string{"-T", "note.txt"}, want: "Grüße\nda\n"},
		{name: "-G", tool: "curl", args: []string{"-G", "--data-urlencode", "q=x & ü"}, says: `"query":{"q":"x \u0026 ü"}`},
		{name: "Expect", tool: "curl", args: []string{"-H", "Expect: 100-continue", "-d", "a=1"}, want: map[string]any{"a": "1"}},
		{name: "chunked", tool: "curl", args: []string{"-H", "Transfer-Encoding: chunked", "-d", "a=1"}, want: map[string]any{"a": "1"}},
		{name: "--compressed", tool: "curl", args: []string{"--compressed", "-d", "a=1"}, want: map[string]any{"a": "1"}},
		{name: "-I", tool: "curl", args: []string{"-I"}, says: "HTTP/1.1 200"},
		{name: "-X OPTIONS", tool: "curl", args: []string{"-X", "OPTIONS"}, says: `"method":"OPTIONS"`},
		{name: "HTTP/1.0", tool: "curl", args: []string{"--http1.0", "-d", "a=1"}, want: map[string]any{"a": "1"}},
		{name: "no body", tool: "curl", args: []string{"-X", "POST"}, want: nil},

		{name: "urllib with JSON", tool: "python3", args: []string{python + `send(url, data=json.dumps({"a": "ü"}).encode(), headers={"Content-Type": "application/json"})`}, want: map[string]any{"a": "ü"}},
		{name: "urllib with a form", tool: "python3", args: []string{python + `send(url, data=p.urlencode({"a": "x & ü", "b": 1}).encode())`}, want: map[string]any{"a": "x & ü", "b": "1"}},
		{name: "urllib with gzip", tool: "python3", args: []string{python + "import gzip\n" + `send(url, data=gzip.compress(b'{"a": 1}'), headers={"Content-Type": "application/json", "Content-Encoding": "gzip"})`}, want: map[string]any{"a": 1.0}},
		{name: "urllib with zlib", tool: "python3", args: []string{python + "import zlib\n" + `send(url, data=zlib.compress(b'hello'), headers={"Content-Type": "text/plain", "Content-Encoding": "deflate"})`}, want: "hello"},
		{name: "urllib with UTF-16", tool: "python3", args: []string{python + `send(url, data=json.dumps({"a": 1}).encode("utf-16"), headers={"Content-Type": "application/json"})`}, want: map[string]any{"a": 1.0}},
		{name: "urllib with a mark", tool: "python3", args: []string{python + `send(url, data=json.dumps({"a": 1}).encode("utf-8-sig"), headers={"Content-Type": "application/json"})`}, want: map[string]any{"a": 1.0}},
		{name: "urllib with latin-1", tool: "python3", args: []string{python + `send(url, data="Grüße".encode("latin-1"), headers={"Content-Type": "text/plain; charset=latin-1"})`}, want: "Grüße"},
		{name: "http.client with PUT", tool: "python3", args: []string{python + `send(url, data=b"a", method="PUT", headers={"Content-Type": "text/plain"})`}, want: "a"},

		{name: "requests with JSON", tool: "python3", args: []string{requests + `send(json={"a": "ü"})`}, want: map[string]any{"a": "ü"}},
		{name: "requests with a form", tool: "python3", args: []string{requests + `send(data={"a": ["1", "2"], "b": "x & ü"})`}, want: map[string]any{"a": []any{"1", "2"}, "b": "x & ü"}},
		{name: "requests with a text", tool: "python3", args: []string{requests + `send(data="Grüße".encode())`}, want: "Grüße"},
		{name: "requests with parts", tool: "python3", args: []string{requests + `send(files={"a": (None, "x & ü")})`}, want: map[string]any{"a": "x & ü"}},
		{name: "requests with a file", tool: "python3", args: []string{requests + `send(files={"photo": ("me.png", b"\x89PNG", "image/png")})`}, says: `"fileName":"me.png"`},
		{name: "requests with a query", tool: "python3", args: []string{requests + `send(params={"q": "x & ü"})`}, says: `"query":{"q":"x \u0026 ü"}`},

		{name: "fetch with JSON", tool: "node", args: []string{`fetch(process.argv[1], {method: "POST", body: JSON.stringify({a: "ü"}), headers: {"content-type": "application/json"}}).then(r => r.text()).then(console.log)`}, want: map[string]any{"a": "ü"}},
		{name: "fetch with a text", tool: "node", args: []string{`fetch(process.argv[1], {method: "POST", body: "Grüße"}).then(r => r.text()).then(console.log)`}, want: "Grüße"},
		{name: "fetch with a form", tool: "node", args: []string{`fetch(process.argv[1], {method: "POST", body: new URLSearchParams({a: "x & ü"})}).then(r => r.text()).then(console.log)`}, want: map[string]any{"a": "x & ü"}},
		{name: "fetch with parts", tool: "node", args: []string{`const f = new FormData(); f.append("a", "x & ü"); f.append("b", "1"); fetch(process.argv[1], {method: "POST", body: f}).then(r => r.text()).then(console.log)`}, want: map[string]any{"a": "x & ü", "b": "1"}},
		{name: "fetch with a file", tool: "node", args: []string{`const f = new FormData(); f.append("photo", new Blob(["x"]), "me.png"); fetch(process.argv[1], {method: "POST", body: f}).then(r => r.text()).then(console.log)`}, says: `"fileName":"me.png"`},
	} {
		t.Run(c.tool+" "+c.name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(c.tool)
			if err != nil {
				if os.Getenv("WEFT_REQUIRE_TOOLS") == "1" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			url, args := s.base+"/workflows/echo/x", c.args
			switch c.tool {
			case "curl":
				args = append([]string{"-sS", url}, args...)
			case "python3":
				args = append([]string{"-c"}, append(args, url)...)
			case "node":
				args = append([]string{"-e"}, append(args, url)...)
			}
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "no_proxy=*", "NO_PROXY=*")
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
				t.Skip("Python has no requests here")
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if c.says != "" || c.status != "" {
				if !strings.Contains(string(out), c.says) && !strings.Contains(strings.ReplaceAll(string(out), `\"`, `"`), c.says) || c.status != "" && !strings.Contains(string(out), `"status":`+c.status) {
					t.Errorf("%s", out)
				}
				return
			}
			var got map[string]any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !reflect.DeepEqual(got["parsed"], c.want) {
				t.Errorf("%#v, want %#v: %s", got["parsed"], c.want, out)
			}
		})
	}
}
