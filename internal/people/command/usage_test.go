package command

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// What is typed wrong ends with 2, whichever command it is, and says what there is.
func TestWrongUsageEndsWith2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, why string }{
		{"test", "requires at least 1 arg"},
		{"test --nope x", "unknown flag: --nope; weft test --help lists what there is"},
		{"test nowhere.test.yaml", "nowhere.test.yaml"},
		{"test --run ( x", "--run is no regular expression"},
		{"fsck now", "unknown command"},
		{"fsck --nope", "weft fsck --help lists what there is"},
		{"health --nope", "weft health --help lists what there is"},
		{"secret", "requires at least 1 arg"},
		{"apikey", "accepts 1 arg"},
		{"completion --nope", "unknown flag"},
		{"serve --help", `unknown command "serve" for "weft" (did you mean server?)`},
		{"instances cancl --help", `unknown command "cancl" for "weft instances" (did you mean cancel?)`},
		{"serve", `unknown command "serve" for "weft" (did you mean server?)`},
	} {
		cmd, stderr := program(t, strings.Fields(c.args)...)
		_ = cmd.Run() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stderr.String(), c.why) || !regexp.MustCompile(`^weft: [^\n]+\n$`).MatchString(stderr.String()) {
			t.Errorf("weft %s ends with %d and %q", c.args, code, stderr)
		}
	}
}

// The tree of commands is there for programs, and has what the page has.
func TestHelpAsJSON(t *testing.T) {
	t.Parallel()
	say := func(args ...string) (code int, out []byte, stderr string) {
		cmd, errs := program(t, append([]string{"help"}, args...)...)
		var b bytes.Buffer
		cmd.Stdout = &b
		_ = cmd.Run() // the exit code says it
		return cmd.ProcessState.ExitCode(), b.Bytes(), errs.String()
	}
	code, raw, stderr := say("--json")
	var tree programHelp
	if err := json.Unmarshal(raw, &tree); code != 0 || err != nil {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	var paths []string
	flags := map[string]string{}
	var walk func(c commandHelp)
	walk = func(c commandHelp) {
		paths = append(paths, c.Command)
		for _, f := range c.Flags {
			flags[c.Command+" --"+f.Name] = f.Type
			if f.Usage == "" {
				t.Errorf("%s --%s says nothing", c.Command, f.Name)
			}
		}
		if c.Short == "" || c.Use == "" {
			t.Errorf("%s says nothing", c.Command)
		}
		for _, sub := range c.Commands {
			walk(sub)
		}
	}
	walk(tree.commandHelp)
	for _, want := range []string{"weft", "weft server", "weft instances list", "weft events send", "weft help", "weft test"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not in it", want)
		}
	}
	for flag, typ := range map[string]string{"weft --http-addr": "string", "weft instances --server": "string", "weft instances list --limit": "int64", "weft test --watch": "bool", "weft apply --watch": "bool"} {
		if flags[flag] != typ {
			t.Errorf("%s is %q", flag, flags[flag])
		}
	}
	if tree.ExitCodes[5] == "" || len(tree.ExitCodes) < 8 {
		t.Errorf("exit codes %v", tree.ExitCodes)
	}
	if code, raw, _ := say("instances", "list", "--json"); code != 0 || !bytes.Contains(raw, []byte(`"command": "weft instances list"`)) || bytes.Contains(raw, []byte("weft events")) {
		t.Errorf("%d %s", code, raw)
	}
	if code, out, _ := say("instances"); code != 0 || !bytes.Contains(out, []byte("weft instances [command]")) {
		t.Errorf("%d %s", code, out)
	}
	if code, _, stderr := say("instnces"); code != 2 || !strings.Contains(stderr, "weft --help lists them") {
		t.Errorf("%d %s", code, stderr)
	}
}

// weft server is weft, and one that is asked for no settings of a node shows none.
func TestServerTakesTheSettingsOfANode(t *testing.T) {
	t.Parallel()
	root := newCommand(io.Discard, io.Discard, func() []string { return nil })
	server, _, err := root.Find([]string{"server"})
	if err != nil {
		t.Fatal(err)
	}
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if got := server.LocalFlags().Lookup(f.Name); f.Name != "help" && f.Name != "version" && (got == nil || got.DefValue != f.DefValue) {
			t.Errorf("weft server has not the same --%s", f.Name)
		}
	})
	fsck, _, err := root.Find([]string{"fsck"})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	fsck.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f.Name)
		}
	})
	if len(shown) > 20 || !slices.Contains(shown, "etcd-endpoints") || !slices.Contains(shown, "data-dir") || slices.Contains(shown, "http-addr") {
		t.Errorf("weft fsck --help shows %v", shown)
	}
}

func TestNearlySettings(t *testing.T) {
	t.Parallel()
	_, fs, err := parseAll(t, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := strays(fs, []string{"WEFT_HTP_ADDR=:1", "WEFT_HTTP_ADDR=:1", "WEFT_SESION_TTL=", "WEFT_SERVER=x", "WEFT_TOKEN=x", "WEFT_CONTEXT=x", "WEFT_CACERT=x", "WEFT_SERVICE_HOST=10.0.0.1",
		"WEFT_PORT=tcp://10.0.0.1:8080", "WEFT_PORT_8080_TCP_ADDR=10.0.0.1", "HTP_ADDR=x"})
	if !maps.Equal(got, map[string]string{"WEFT_HTP_ADDR": "WEFT_HTTP_ADDR"}) {
		t.Errorf("%v", got)
	}
	_, err = checkFile(fs, "weft.yaml", map[string]any{"httpAddr": "x"})
	if err == nil || !strings.Contains(err.Error(), `there is no setting "httpAddr" (did you mean http-addr?)`) {
		t.Errorf("%v", err)
	}
	p := runNodeIn(t, []string{"WEFT_QUEU_TTL=1h"})
	for entry := range p.log {
		if entry["msg"] == "an environment variable is no setting" {
			if entry["name"] != "WEFT_QUEU_TTL" || entry["meant"] != "WEFT_QUEUE_TTL" {
				t.Errorf("%v", entry)
			}
			return
		}
	}
	t.Error("it is not told")
}
