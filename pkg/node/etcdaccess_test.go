package node_test

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// secured is an etcd that wants certificates and a password.
type secured struct {
	etcd *clustertest.Etcd
	ca   *authority
	root *clientv3.Client
	cfg  node.Config // of a node that may
}

const nodePassword, rootPassword = "weft's password", "root's password"

// startSecured starts an etcd with TLS on both sides, and with the users and
// roles that docs/operations/etcd.md advises.
func startSecured(t *testing.T, change func(*embed.Config)) *secured {
	t.Helper()
	s := &secured{ca: newAuthority(t)}
	year := time.Now().Add(time.Hour)
	cert, key := s.ca.issue(t, "etcd", year)
	s.etcd = clustertest.Start(t, func(c *embed.Config) {
		free := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = cert, key
		c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = s.ca.file, true
		c.BcryptCost = 4 // the cost is not tested
		if change != nil {
			change(c)
		}
	})
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(nodePassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cfg = node.Config{EtcdEndpoints: s.etcd.Endpoints(), EtcdCACert: s.ca.file, EtcdUser: "weft", EtcdPasswordFile: password, SessionTTL: 20 * time.Second}
	s.cfg.EtcdCert, s.cfg.EtcdKey = s.ca.issue(t, "node", year)
	s.setUp(t)
	return s
}

// setUp does what docs/operations/etcd.md tells to do with etcdctl.
func (s *secured) setUp(t *testing.T) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(s.cfg.EtcdCert, s.cfg.EtcdKey)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.ca.cert)
	dial := func(user, password string) *clientv3.Client {
		c, err := clientv3.New(clientv3.Config{
			Endpoints: s.etcd.Endpoints(), Username: user, Password: password, DialTimeout: 10 * time.Second,
			TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	c := dial("", "")
	page, err := os.ReadFile("../../docs/operations/etcd.md")
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for lines := bufio.NewScanner(strings.NewReader(string(page))); lines.Scan(); {
		args := strings.Fields(lines.Text())
		if len(args) < 3 || args[0] != "etcdctl" {
			continue
		}
		var err error
		switch command := strings.Join(args[1:3], " "); command {
		case "user add":
			name, _, _ := strings.Cut(args[3], ":")
			_, err = c.UserAdd(t.Context(), name, map[string]string{"root": rootPassword, "weft": nodePassword}[name])
		case "user grant-role":
			_, err = c.UserGrantRole(t.Context(), args[3], args[4])
		case "role add":
			_, err = c.RoleAdd(t.Context(), args[3])
		case "role grant-permission":
			if len(args) != 7 || args[3] != "--prefix=true" || args[5] != "readwrite" {
				t.Fatalf("cannot do %q", args)
			}
			_, err = c.RoleGrantPermission(t.Context(), args[4], args[6], clientv3.GetPrefixRangeEnd(args[6]), clientv3.PermissionType(clientv3.PermReadWrite))
		case "auth enable":
			_, err = c.AuthEnable(t.Context())
		default:
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		done++
	}
	if done != 7 {
		t.Fatalf("docs/operations/etcd.md has %d of 7 commands", done)
	}
	s.root = dial("root", rootPassword)
}

// A node with the role of docs/operations/etcd.md does its work and nothing else.
func TestLeastPrivilegeIsEnough(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil)
	if _, err := s.root.Put(t.Context(), "/weft/other/meta/x", "kept from others"); err != nil {
		t.Fatal(err)
	}
	n := start(t, s.cfg)
	if status, v := call(t, n, "POST", "/api/v1/definitions", hello); status != http.StatusCreated {
		t.Fatalf("publish: %d %v", status, v)
	}
	if status, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", "{}"); status != http.StatusOK {
		t.Errorf("execute: %d %v", status, v)
	}
	pair, err := tls.LoadX509KeyPair(s.cfg.EtcdCert, s.cfg.EtcdKey)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`weft_certificate_expiry_timestamp_seconds{certificate="etcd"} %v`, float64(pair.Leaf.NotAfter.Unix()))
	if got := scraped(t, n.HTTPAddr()); !strings.Contains(got, want) {
		t.Errorf("metrics have no %s: %s", want, got)
	}
	other := s.cfg
	other.Cluster, other.HTTPAddr, other.EtcdDialTimeout = "other", "127.0.0.1:0", 5*time.Second
	if _, err := full.New(t.Context(), other); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("the keys of another cluster: %v", err)
	}
}

// A repair needs a user with the role root: a node's own is told so where it begins, and root's is enough.
func TestARepairWantsRoot(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil)
	var lines []string
	tell := func(line string) { lines = append(lines, line) }
	err := node.RepairStore(t.Context(), s.cfg, false, tell)
	if err == nil || !strings.Contains(err.Error(), "role root") || !strings.Contains(err.Error(), "--etcd-user") {
		t.Errorf("with the user of a node: %v", err)
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "defragment") {
			t.Errorf("with the user of a node: %q", lines)
		}
	}
	password := filepath.Join(t.TempDir(), "root")
	if err := os.WriteFile(password, []byte(rootPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := s.cfg
	root.EtcdUser, root.EtcdPasswordFile, lines = "root", password, nil
	if err := node.RepairStore(t.Context(), root, false, tell); err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "defragment member") }) {
		t.Errorf("with root: %v, %q", err, lines)
	}
}

func TestWrongAccessToEtcdIsTold(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil)
	stranger := newAuthority(t)
	wrongPassword := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(wrongPassword, []byte("guessed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*node.Config)
		want   string
	}{
		"an expired client certificate": {func(c *node.Config) {
			c.EtcdCert, c.EtcdKey = s.ca.issue(t, "node", time.Now().Add(-time.Hour))
		}, "expired"},
		"a client certificate of another authority": {func(c *node.Config) {
			c.EtcdCert, c.EtcdKey = stranger.issue(t, "node", time.Now().Add(time.Hour))
		}, "bad certificate|unknown certificate authority"},
		"no client certificate":   {func(c *node.Config) { c.EtcdCert, c.EtcdKey = "", "" }, "certificate required"},
		"another authority":       {func(c *node.Config) { c.EtcdCACert = stranger.file }, "signed by unknown authority"},
		"a wrong password":        {func(c *node.Config) { c.EtcdPasswordFile = wrongPassword }, "authentication failed"},
		"nobody":                  {func(c *node.Config) { c.EtcdUser, c.EtcdPasswordFile = "", "" }, "user name is empty|permission denied"},
		"a key that is not its":   {func(c *node.Config) { _, c.EtcdKey = s.ca.issue(t, "x", time.Now()) }, "etcd-cert and etcd-key"},
		"no authority in the PEM": {func(c *node.Config) { c.EtcdCACert = wrongPassword }, "no certificate in PEM form"},
	} {
		cfg := s.cfg
		cfg.HTTPAddr, cfg.EtcdDialTimeout = "127.0.0.1:0", 10*time.Second
		c.change(&cfg)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := full.New(t.Context(), cfg)
			if err == nil {
				_ = n.Stop(t.Context())
				t.Fatal("it starts")
			}
			told := false
			for _, want := range strings.Split(c.want, "|") {
				told = told || strings.Contains(err.Error(), want)
			}
			if !told || strings.Contains(err.Error(), nodePassword) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

func TestExpiredCertificateOfEtcdIsRefused(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue(t, "etcd", time.Now().Add(-time.Hour))
	e := clustertest.Start(t, func(c *embed.Config) {
		free := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = cert, key
	})
	_, err := full.New(t.Context(), node.Config{HTTPAddr: "127.0.0.1:0", EtcdEndpoints: e.Endpoints(), EtcdCACert: ca.file, EtcdDialTimeout: 10 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("got %v", err)
	}
}

// Tokens of etcd expire under the feet of two nodes: those of the kind jwt every
// three seconds whatever happens (a request takes less, also on a busy machine), the simple ones when nobody uses them, and all of them
// at once when users change. Nothing is lost by that: no request, no session.
func TestClusterOutlivesTheTokensOfEtcd(t *testing.T) {
	t.Parallel()
	for kind, change := range map[string]func(*embed.Config){
		"simple": func(c *embed.Config) { c.AuthTokenTTL = 1 },
		"jwt":    func(c *embed.Config) { c.AuthToken = jwtTokens(t, 3*time.Second) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startSecured(t, change)
			logs := &syncBuffer{}
			s.cfg.Logger = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelWarn}))
			nodes := []*node.Node{start(t, s.cfg), start(t, s.cfg)}
			if status, v := call(t, nodes[0], "POST", "/api/v1/definitions", waitsAndSleeps); status != http.StatusCreated {
				t.Fatalf("publish: %d %v", status, v)
			}
			begin := time.Now()
			for i := 0; time.Since(begin) < 7*time.Second; i++ {
				id := fmt.Sprint("i", i)
				if status, v := call(t, nodes[i%2], "POST", "/api/v1/definitions/waits/execute", `{"instanceId": "`+id+`", "correlationId": "`+id+`"}`); status != http.StatusOK && status != http.StatusAccepted {
					t.Fatalf("%v after the start, execute: %d %v\n%s", time.Since(begin), status, v, logs)
				}
				if status, v := call(t, nodes[(i+1)%2], "POST", "/api/v1/events/go", `{"correlationId": "`+id+`"}`); status != http.StatusOK && status != http.StatusAccepted {
					t.Fatalf("%v after the start, event: %d %v\n%s", time.Since(begin), status, v, logs)
				}
				polltest.Eventually(t, "the timer of "+id+" fires", func() bool {
					_, v := call(t, nodes[i%2], "GET", "/api/v1/instances/"+id, "")
					return v["status"] == "Finished"
				})
				time.Sleep(time.Duration(i%3) * 700 * time.Millisecond) // what is tested: tokens that nobody uses
			}
			// Every token at once, also by a change of users.
			if _, err := s.root.AuthDisable(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.root.AuthEnable(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.root.RoleGrantPermission(t.Context(), "weft", "/unused", "", clientv3.PermissionType(clientv3.PermRead)); err != nil {
				t.Fatal(err)
			}
			before := nodes[1].Catalog().Revision()
			if status, v := call(t, nodes[0], "POST", "/api/v1/definitions", hello); status != http.StatusCreated {
				t.Errorf("publish: %d %v", status, v)
			}
			polltest.Eventually(t, "the other node hears of it", func() bool { return nodes[1].Catalog().Revision() > before })
			for _, n := range nodes {
				if lost := metric(t, n, "weft_sessions_lost_total"); lost != "0" {
					t.Errorf("%s lost %s sessions\n%s", n.ID(), lost, logs)
				}
			}
			if strings.Contains(logs.String(), nodePassword) {
				t.Error("the log has the password")
			}
		})
	}
}

const waitsAndSleeps = `
id: waits
root:
  - event: go
  - delay: 300ms
  - writeLine: done
`

// jwtTokens is the setting of an etcd whose tokens expire by the clock.
func jwtTokens(t *testing.T, ttl time.Duration) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writePEM(t, filepath.Join(dir, "public.pem"), "PUBLIC KEY", public)
	writePEM(t, filepath.Join(dir, "private.pem"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
	return fmt.Sprintf("jwt,pub-key=%s,priv-key=%s,sign-method=RS256,ttl=%s", filepath.Join(dir, "public.pem"), filepath.Join(dir, "private.pem"), ttl)
}

// metric reads one number that a node shows.
func metric(t *testing.T, n *node.Node, name string) string {
	t.Helper()
	for line := range strings.Lines(scraped(t, n.HTTPAddr())) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("there is no metric %s", name)
	return ""
}
