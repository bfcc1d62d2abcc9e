package command

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-run/weft/pkg/node"
)

// parseAll does what the command does with its settings.
func parseAll(t *testing.T, args, environ []string) (settings, *pflag.FlagSet, error) {
	t.Helper()
	var s settings
	fs := pflag.NewFlagSet("weft", pflag.ContinueOnError)
	s.flags(fs)
	if err := fs.Parse(args); err != nil {
		return s, fs, err
	}
	return s, fs, layer(fs, func() []string { return environ })
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "weft.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "node-id: from-file\ncluster: from-file\nhttp-addr: 127.0.0.1:1\nsession-ttl: 7s\nallow-private-addresses: true\netcd-endpoints: [a:1, b:2]\n")
	environ := []string{"WEFT_CLUSTER=from-env", "WEFT_HTTP_ADDR=127.0.0.1:2", "WEFT_DRAIN_DELAY=0s", "WEFT_SERVICE_HOST=10.0.0.1", "OTHER=1", "WEFT_NODE_ID="}
	s, fs, err := parseAll(t, []string{"--config", file, "--http-addr", "127.0.0.1:3"}, environ)
	if err != nil {
		t.Fatal(err)
	}
	n := s.node
	if n.HTTPAddr != "127.0.0.1:3" {
		t.Errorf("http-addr is %s, want the flag's", n.HTTPAddr)
	}
	if n.Cluster != "from-env" || n.DrainDelay != 0 {
		t.Errorf("cluster is %s, drain-delay %v, want the environment's", n.Cluster, n.DrainDelay)
	}
	if n.NodeID != "from-file" || n.SessionTTL != 7*time.Second || !n.AllowPrivateAddresses || strings.Join(n.EtcdEndpoints, " ") != "a:1 b:2" {
		t.Errorf("got %+v, want the file's values", n)
	}
	if n.DataDir != "./weft-data" {
		t.Errorf("data-dir is %s, want the default", n.DataDir)
	}
	if got := resolved(fs); len(got) != 8 { // those that differ, with the file's name
		t.Errorf("%d settings are shown: %v", len(got), got)
	}
}

func TestConfigFileFromTheEnvironment(t *testing.T) {
	t.Parallel()
	s, _, err := parseAll(t, nil, []string{"WEFT_CONFIG=" + writeFile(t, `{"cluster": "json"}`)})
	if err != nil || s.node.Cluster != "json" {
		t.Errorf("cluster is %q, %v", s.node.Cluster, err)
	}
}

func TestWrongSettingsEndTheStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		args    []string
		environ []string
		file    string
		want    []string
	}{
		{name: "unknown keys, all of them", file: "htp-addr: x\nclustr: y\n", want: []string{`"clustr"`, `"htp-addr"`, "--help"}},
		{name: "a file that names another", file: "config: other.yaml\n", want: []string{`"config"`}},
		{name: "not a setting", file: "version: 1\n", want: []string{`"version"`}},
		{name: "a mapping", file: "cluster: {a: b}\n", want: []string{"cluster", "mapping"}},
		{name: "no value", file: "cluster:\n", want: []string{"cluster", "no value"}},
		{name: "broken YAML", file: "a: [", want: []string{"weft.yaml"}},
		{name: "a wrong value in the file", file: "session-ttl: soon\n", want: []string{"session-ttl", "soon", "weft.yaml"}},
		{name: "a wrong value in the environment", environ: []string{"WEFT_SESSION_TTL=soon"}, want: []string{"WEFT_SESSION_TTL", "soon"}},
		{name: "a wrong flag", args: []string{"--session-ttl", "soon"}, want: []string{"session-ttl", "soon"}},
		{name: "an unknown flag", args: []string{"--htp-addr", "x"}, want: []string{"htp-addr"}},
		{name: "a missing file", args: []string{"--config", "/does/not/exist"}, want: []string{"/does/not/exist"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := tt.args
			if tt.file != "" {
				args = append(args, "--config", writeFile(t, tt.file))
			}
			_, _, err := parseAll(t, args, tt.environ)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestDefaultsAreTheNodes(t *testing.T) {
	t.Parallel()
	s, _, err := parseAll(t, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := node.DefaultConfig()
	want.DrainDelay = s.node.DrainDelay
	if !reflect.DeepEqual(s.node, want) || s.node.DrainDelay == 0 {
		t.Errorf("without settings the node is\n%+v\nwant\n%+v\nand a delay of the drain", s.node, want)
	}
}

// What pkg/node says of its configuration is read by people who set flags, and by
// programs that set fields of [node.Config] that no flag has.
func TestErrorsNameSettingsThatExist(t *testing.T) {
	t.Parallel()
	_, fs, err := parseAll(t, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "pkg", "node", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	setting := regexp.MustCompile(`(?:^|[\s"(])(?:--)?([a-z]+(?:-[a-z]+)+|[A-Z][a-z]+[A-Z]\w*)`)
	named := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			for _, m := range setting.FindAllStringSubmatch(lit.Value, -1) {
				_, isField := reflect.TypeFor[node.Config]().FieldByName(m[1])
				if named++; fs.Lookup(m[1]) == nil && !isField && !notSettings[m[1]] {
					t.Errorf("%s: %s names %q, which is neither a flag nor a field", file, lit.Value, m[1])
				}
			}
			return true
		})
	}
	if named < 30 {
		t.Errorf("%d names of settings found", named)
	}
}

// notSettings are words of those texts that look like a setting.
var notSettings = map[string]bool{"OpenID": true, "GiB": true, "MiB": true, "TiB": true, "data-binary": true}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	_, fs, err := parseAll(t, []string{"--etcd-endpoints", "https://root:hunter2@a:1,b:2", "--public-url", "https://u:hunter2@weft.example"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range resolved(fs) {
		if strings.Contains(attrText(a), "hunter2") {
			t.Errorf("a password is shown: %v", a)
		}
	}
}

func TestCommandRefusesBeforeItStarts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"beyond loopback", []string{"--http-addr", "0.0.0.0:0"}, "--insecure"},
		{"an unknown level", []string{"--log-level", "loud"}, "log-level"},
		{"an unknown format", []string{"--log-format", "xml"}, "log-format"},
		{"an unknown coordination", []string{"--coordination", "solo"}, "coordination"},
		{"half a certificate", []string{"--tls-cert", "x"}, "tls-key"},
		{"no such directory", []string{"--definitions", "/does/not/exist"}, "/does/not/exist"},
		{"an argument", []string{"start"}, "unknown command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, log bytes.Buffer
			cmd := newCommand(&out, &log, func() []string { return nil })
			cmd.SetArgs(append(tt.args, "--data-dir", t.TempDir()))
			err := cmd.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
			if out.Len() > 0 {
				t.Errorf("standard output has %q", out.String())
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	cmd := newCommand(&out, &log, func() []string { return nil })
	cmd.SetArgs([]string{"--version"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(out.String(), "weft version ") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func attrText(a any) string {
	if s, ok := a.(interface{ String() string }); ok {
		return s.String()
	}
	return ""
}
