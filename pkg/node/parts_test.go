package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
)

func TestCleanupsRunAllInOppositeOrder(t *testing.T) {
	t.Parallel()
	var got []string
	c := cleanups{log: slog.New(slog.DiscardHandler)}
	boom := errors.New("boom")
	for _, name := range []string{"first", "second", "third"} {
		c.add(name, func(context.Context) error {
			got = append(got, name)
			if name == "second" {
				return boom
			}
			return nil
		})
	}
	err := c.run(t.Context())
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "second") {
		t.Errorf("error %v, want one that names the step", err)
	}
	if strings.Join(got, " ") != "third second first" {
		t.Errorf("order: %v", got)
	}
	if err := c.run(t.Context()); err != nil || len(got) != 3 {
		t.Errorf("a second run did something: %v %v", got, err)
	}
}

func TestCleanupsLeaveBehindWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ran := false
		c := cleanups{log: slog.New(slog.DiscardHandler)}
		c.add("after it", func(context.Context) error { ran = true; return nil })
		c.add("stubborn", func(context.Context) error { <-release; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		err := c.run(ctx)
		if !errors.Is(err, errNotStopped) || !strings.Contains(err.Error(), "stubborn") || !ran {
			t.Errorf("error %v, ran %v", err, ran)
		}
		if took := time.Since(begin); took > time.Minute+2*stepGrace {
			t.Errorf("it took %v", took)
		}
		close(release)
	})
}

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

func TestEtcdLogGoesThroughSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	quiet := &atomic.Bool{}
	etcdLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), quiet).Debug("Apply", zap.String("raftReq", "value"))
	log := etcdLogger(slog.New(slog.NewJSONHandler(&out, nil)), quiet)
	log.Info("compacted")
	log.With(zap.String("member", "a")).Warn("slow fdatasync", zap.Duration("took", time.Second), zap.Error(errors.New("disk")))
	log.Warn("simple token is not cryptographically signed")
	quiet.Store(true)
	log.Error("use of closed network connection")
	got := out.String()
	if n := strings.Count(got, "\n"); n != 1 {
		t.Errorf("%d entries, want the one that matters: %s", n, got)
	}
	for _, want := range []string{`"level":"WARN"`, `"msg":"slow fdatasync"`, `"component":"etcd"`, `"member":"a"`, `"error":"disk"`, `"took"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
