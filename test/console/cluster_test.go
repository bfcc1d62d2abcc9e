package console

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// TestTheClusterPageTellsWhatNodesDo works one instance on two nodes, and finds it, its commits
// and both nodes on the page of either.
func TestTheClusterPageTellsWhatNodesDo(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	two := s.join("two")
	v := s.as(auth.Admin)
	if status, answer := s.api(http.MethodPost, "/definitions", "id: ticks\nroot:\n  - while: ${{ true }}\n    body: [{event: tick}]\n"); status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	_, started := s.api(http.MethodPost, "/definitions/ticks/dispatch", nil)
	id, _ := started["instanceId"].(string)
	await(t, s, id, "Suspended")
	hot := `">` + id + `</a></td>`
	var p page
	polltest.Within(t, 3*time.Minute, "the instance is hot, and there are rates and a balance", func() bool {
		for range 20 {
			s.api(http.MethodPost, "/events/tick", map[string]any{"instanceId": id})
		}
		p = v.get("/console/cluster")
		_, below, _ := strings.Cut(p.text, "<h2>Hot instances</h2>")
		below, _, _ = strings.Cut(below, "</section>")
		return strings.Contains(below, hot) && !strings.Contains(p.text, "not known yet") && strings.Contains(p.text, "Nothing vanished")
	})
	for _, want := range []string{"<b>one</b>", "<b>two</b>", "<td>committed</td>", "<meter", "of 4.0 GiB", "Session, epoch 1"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(p.text, "Did not tell") {
		t.Error("a node did not tell what it does")
	}
	v.check("/console/cluster", http.StatusOK)
	v.follow(p)
	if other := v.copyOf("http://" + two.HTTPAddr()).get("/console/cluster"); !strings.Contains(other.text, "<b>one</b>") || strings.Contains(other.text, "Did not tell") {
		t.Errorf("the other node's page:\n%s", other.text)
	}
}

// TestDefinitionsAreRefreshedFromThePage indexes triggers again and reads a directory again, and
// shows what was bad and which nodes serve what came of it.
func TestDefinitionsAreRefreshedFromThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, true, func(cfg *node.Config) { cfg.Definitions = dir })
	s.join("two")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("greets.yaml", "id: greets\nroot:\n  - writeLine: hello\n")
	write("bad.yaml", "id: bad\nroot:\n  - writeLin: hello\n")
	v := s.as(auth.Admin)
	form := func() url.Values { return url.Values{"back": {"/console/cluster"}} }
	p := v.post("/console/do/reloadDefinitions", form())
	if p.status != http.StatusOK || !strings.Contains(p.text, "Node one read its directory of definitions again: 1 definitions are in it, 1 could not be.") ||
		!strings.Contains(p.text, "<b>bad.yaml</b>") || !strings.Contains(p.text, "writeLin") || !strings.Contains(p.text, "/console/definitions/greets") || !strings.Contains(p.text, "<td>two</td>") {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	// The second node may have lost its session for a moment, beside other tests.
	polltest.Eventually(t, "a refresh tells of both nodes", func() bool {
		p = v.post("/console/do/refreshDefinitions", form())
		if p.status != http.StatusOK || !strings.Contains(p.text, "The triggers of 1 definitions were indexed again.") {
			t.Fatalf("%d\n%s", p.status, p.text)
		}
		return strings.Contains(p.text, "<td>two</td>")
	})
	_, answer := s.api(http.MethodPost, "/definitions/refresh", nil)
	revision, _ := answer["revision"].(float64)
	if revision < 1 {
		t.Fatalf("%v", answer)
	}
	polltest.Eventually(t, "every node serves it", func() bool {
		return strings.Contains(v.get(fmt.Sprintf("/console/served?revision=%.0f", revision)).text, "Every node serves it.")
	})
	if p = s.as(auth.Operator).post("/console/do/refreshDefinitions", form()); p.status != http.StatusForbidden {
		t.Errorf("an operator refreshes: %d", p.status)
	}
	if p = s.as(auth.Operator).get("/console/cluster"); strings.Count(p.text, "this needs the role designer") < 2 {
		t.Errorf("an operator is not told why:\n%s", p.text)
	}
}

// TestANodeThatCannotBeAskedIsNamed shows what is known of a node that others do not reach, and
// says what is not.
func TestANodeThatCannotBeAskedIsNamed(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	cfg := s.cfg
	cfg.NodeID, cfg.DataDir, cfg.EtcdEndpoints, cfg.AdvertiseAddr = "far", t.TempDir(), s.node.EtcdEndpoints(), "127.0.0.1:1"
	s.start(cfg)
	var p page
	polltest.Eventually(t, "the node is on the page", func() bool {
		p = s.as(auth.Admin).get("/console/cluster")
		return strings.Contains(p.text, "<b>far</b>")
	})
	if p.status != http.StatusOK || !strings.Contains(p.text, "Did not tell what they do: far.") || strings.Count(p.text, `<dt>What it does</dt><dd class="quiet">not known</dd>`) != 1 {
		t.Errorf("%d\n%s", p.status, p.text)
	}
}
