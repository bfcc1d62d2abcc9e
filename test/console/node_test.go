package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// site is a node with a console, and how to look at it.
type site struct {
	t    testing.TB
	base string
	file string // of the API keys; "": nobody is asked
	keys map[auth.Role]string
	cfg  node.Config
	node *node.Node
}

// roles that somebody can sign in with.
var roles = []auth.Role{auth.Viewer, auth.Operator, auth.Designer, auth.Admin}

// open starts a node; with credentials it has a key for each role.
func open(t testing.TB, credentials bool, change ...func(*node.Config)) *site {
	t.Helper()
	s := &site{t: t, keys: map[auth.Role]string{}}
	cfg := node.DefaultConfig()
	cfg.HTTPAddr, cfg.DataDir, cfg.NodeID, cfg.Cluster = "127.0.0.1:0", t.TempDir(), "one", "shop"
	cfg.SessionTTL, cfg.DrainTimeout, cfg.ReplyWait = 20*time.Second, 20*time.Second, time.Minute
	if credentials {
		s.file = filepath.Join(t.TempDir(), "keys.yaml")
		var lines strings.Builder
		for _, role := range roles {
			key, entry, err := auth.NewKey("the-"+role.String(), role, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.keys[role] = key
			fmt.Fprintf(&lines, "- name: %s\n  role: %s\n  sha256: %s\n", entry.Name, entry.Role, entry.SHA256)
		}
		if err := os.WriteFile(s.file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.AuthKeysFile = s.file
	}
	for _, c := range change {
		c(&cfg)
	}
	s.cfg = cfg
	s.node = s.start(cfg)
	s.base = "http://" + s.node.HTTPAddr()
	return s
}

func (s *site) start(cfg node.Config) *node.Node {
	s.t.Helper()
	n, err := full.New(s.t.Context(), cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(s.t.Context())) })
	if err := n.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// join starts another node of the same cluster.
func (s *site) join(id string) *node.Node {
	s.t.Helper()
	cfg := s.cfg
	cfg.NodeID, cfg.DataDir, cfg.EtcdEndpoints = id, s.t.TempDir(), s.node.EtcdEndpoints()
	return s.start(cfg)
}

// api calls the API as the admin.
func (s *site) api(method, path string, body any) (status int, answer map[string]any) {
	s.t.Helper()
	raw, isText := body.(string)
	if body != nil && !isText {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		raw = string(b)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+"/api/v1"+path, strings.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil && !isText {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := s.keys[auth.Admin]; key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&answer) // some answers have none
	if resp.StatusCode >= 500 {
		s.t.Fatalf("%s %s: %d %v", method, path, resp.StatusCode, answer)
	}
	return resp.StatusCode, answer
}

// visitor is a browser without scripts. It keeps cookies as if the site were encrypted:
// a browser does so for localhost.
type visitor struct {
	*site
	client *http.Client
}

func (s *site) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{s, &http.Client{Jar: asLocalhost{jar}}}
}

// asLocalhost lets a jar keep cookies that want encryption.
type asLocalhost struct{ jar http.CookieJar }

func (j asLocalhost) SetCookies(u *url.URL, c []*http.Cookie) { j.jar.SetCookies(secure(u), c) }

func (j asLocalhost) Cookies(u *url.URL) []*http.Cookie { return j.jar.Cookies(secure(u)) }

func secure(u *url.URL) *url.URL {
	to := *u
	to.Scheme = "https"
	return &to
}

// as signs in with the key of a role.
func (s *site) as(role auth.Role) *visitor {
	s.t.Helper()
	v := s.visitor()
	if s.file == "" {
		return v
	}
	p := v.post("/console/sign-in", url.Values{"apikey": {s.keys[role]}, "next": {"/console/me"}})
	if p.status != http.StatusOK || !strings.Contains(p.text, "key:the-"+role.String()) {
		s.t.Fatalf("signed in as %s: %d\n%s", role, p.status, p.text)
	}
	return v
}

type page struct {
	status int
	url    *url.URL
	head   http.Header
	text   string
}

func (v *visitor) get(path string) page {
	v.t.Helper()
	return v.do(http.MethodGet, path, nil, nil)
}

func (v *visitor) post(path string, form url.Values) page {
	v.t.Helper()
	return v.do(http.MethodPost, path, form, nil)
}

func (v *visitor) do(method, path string, form url.Values, head http.Header) page {
	v.t.Helper()
	var body io.Reader
	if form != nil {
		body = bytes.NewBufferString(form.Encode())
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range head {
		req.Header[name] = values
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return page{resp.StatusCode, resp.Request.URL, resp.Header, string(raw)}
}

// revokeAll takes all keys away but one that nobody here has.
func (s *site) revokeAll() {
	s.t.Helper()
	_, entry, err := auth.NewKey("other", auth.Viewer, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.file, fmt.Appendf(nil, "- name: %s\n  role: %s\n  sha256: %s\n", entry.Name, entry.Role, entry.SHA256), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

var next = regexp.MustCompile(`href="([^"]*)" rel="next"`)

// nextPage is the address of the next page of a list; "": there is none.
func nextPage(p page) string {
	if m := next.FindStringSubmatch(p.text); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}
