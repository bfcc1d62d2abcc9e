package node

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/engine"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  Config
		want string // part of the error; "" for none
	}{
		{"the zero value", Config{}, ""},
		{"IPv6 loopback", Config{HTTPAddr: "[::1]:0"}, ""},
		{"a name for loopback", Config{HTTPAddr: "localhost:0"}, ""},
		{"all interfaces", Config{HTTPAddr: ":8080"}, "--insecure"},
		{"all interfaces, wanted", Config{HTTPAddr: ":8080", Insecure: true}, ""},
		{"all interfaces, with credentials", Config{HTTPAddr: ":8080", AuthKeysFile: "keys"}, ""},
		{"all interfaces, with tokens", Config{HTTPAddr: ":8080", AuthOIDCIssuer: "https://login.example", AuthOIDCAudience: "weft"}, ""},
		{"tokens for anybody", Config{AuthOIDCIssuer: "https://login.example"}, "auth-oidc-audience"},
		{"an audience of nobody", Config{AuthOIDCAudience: "weft"}, "no auth-oidc-issuer"},
		{"a name that may be anything", Config{HTTPAddr: "weft.example:80"}, "--insecure"},
		{"no port", Config{HTTPAddr: "127.0.0.1"}, "http-addr"},
		{"node id with a slash", Config{NodeID: "a/b"}, "node-id"},
		{"cluster with a slash", Config{Cluster: "a/b"}, "cluster"},
		{"too short a session", Config{SessionTTL: time.Second}, "session-ttl"},
		{"JavaScript, half", Config{JavaScript: "maybe"}, "javascript is"},
		{"no JavaScript", Config{JavaScript: JavaScriptOff}, ""},
		{"negative delay", Config{DrainDelay: -1}, "drain-delay"},
		{"user without password", Config{EtcdEndpoints: []string{"x:1"}, EtcdUser: "u"}, "etcd-password-file"},
		{"certificate without etcd", Config{EtcdCACert: "x"}, "etcd-endpoints"},
		{"an empty endpoint", Config{EtcdEndpoints: []string{"a:1", " "}}, "etcd-endpoints"},
		{"no such directory", Config{Definitions: "/does/not/exist"}, "definitions"},
		{"a file as directory", Config{Definitions: "parts_test.go"}, "not a directory"},
		{"a URL as host", Config{Hosts: []string{"https://weft.example"}}, "host is"},
		{"a name as site", Config{CORSOrigins: []string{"shop.example.com"}}, "cors-origin is"},
		{"any site", Config{CORSOrigins: []string{"*"}}, "cors-origin is"},
		{"a site with a path", Config{CORSOrigins: []string{"https://shop.example.com/"}}, "cors-origin is"},
		{"sites", Config{CORSOrigins: []string{"https://shop.example.com", "http://localhost:3000"}}, ""},
		{"places below zero", Config{MaxWaits: -1}, "max-waits is -1; it must be from 1 to 100000"},
		{"one place", Config{MaxWaits: 1}, ""},
		{"as many places as are possible", Config{MaxWaits: engine.MaxWaits}, ""},
		{"one place more", Config{MaxWaits: engine.MaxWaits + 1}, "max-waits is 100001; it must be from 1 to 100000"},
		{"activities of a burst below zero", Config{MaxBurstActivities: -1}, "max-burst-activities is -1; it must be from 1 to 1000000"},
		{"as many activities of a burst as are possible", Config{MaxBurstActivities: engine.MaxBurstActivities}, ""},
		{"one activity more", Config{MaxBurstActivities: engine.MaxBurstActivities + 1}, "max-burst-activities is 1000001; it must be from 1 to 1000000"},
		{"hosts", Config{Hosts: []string{"weft.example", "weft:80"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.cfg.withDefaults()
			if tt.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// A workflow may write much in a loop; a line is bounded, and whole text.
func TestLinesAreBounded(t *testing.T) {
	const maxLine = 8 << 10
	t.Parallel()
	for _, text := range []string{"short", strings.Repeat("x", maxLine), strings.Repeat("é", 300_000), "x" + strings.Repeat("é", 300_000)} {
		var out bytes.Buffer
		(&lineWriter{w: &out}).write(text)
		got := out.String()
		switch cut := strings.HasSuffix(got, fmt.Sprintf("… (%d bytes in all)\n", len(text))); {
		case cut != (len(text) > maxLine), !cut && got != text+"\n", len(got) > maxLine+50, !utf8.ValidString(got), cut && !strings.HasPrefix(text, got[:maxLine-1]):
			t.Errorf("of %d bytes: %d, cut %t", len(text), len(got), cut)
		}
	}
}

func TestMadeNodeIDsDiffer(t *testing.T) {
	t.Parallel()
	a, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if a.NodeID == b.NodeID {
		t.Errorf("both are %s", a.NodeID)
	}
}

func TestWhatIsKeptFreeOfADiskIsChecked(t *testing.T) {
	t.Parallel()
	for reserve, ok := range map[int64]bool{0: true, 64 << 20: true, 1 << 40: true, 64<<20 - 1: false, 1<<40 + 1: false, -1: false} {
		cfg, err := Config{DataDir: t.TempDir(), DiskReserve: reserve}.withDefaults()
		if err == nil {
			err = cfg.checkLimits()
		}
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "disk-reserve-bytes") {
			t.Errorf("%d: %v", reserve, err)
		}
	}
}
