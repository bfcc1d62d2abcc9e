package e2e

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// Who looked at an instance before a restore, as docs/operations/backup.md has it, and comes
// back is told that what was told may be wrong, and how it is: the restored etcd is far ahead
// of the position, and knows less.
func TestAStreamBeginsAgainAfterARestore(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clustertest.Start(t))
	m := c.start(t)
	c.publish(t, "id: waits\nroot:\n  - event: go\n")
	c.execute(t, m, "waits", "one", `{"correlationId": "one"}`)
	file := saveSnapshot(t, c.etcd)
	c.event(t, m, "go", "one")
	c.waitFor(t, m, "one", "Finished")
	text := c.streamUntil(t, m, "instance:one", "", `"subStatus":"Finished"`)
	_, last, _ := strings.Cut(text, "id: ")
	last, _, _ = strings.Cut(last, "\n")
	m.stop(t)

	c.etcd = restoreSnapshot(t, c.etcd, file, revisionBump)
	m = c.start(t, func(cfg *node.Config) { cfg.NodeID = "another" })
	text = c.streamUntil(t, m, "instance:one", last, `"subStatus":"Suspended"`)
	if reset := strings.Index(text, "event: reset"); reset < 0 || reset > strings.Index(text, "event: instance") {
		t.Errorf("after %s: %s", last, text)
	}
	m.stop(t) // before the etcd that the old node's clean-up comes after
}

// streamUntil reads a stream until a line has what is wanted.
func (c *cluster) streamUntil(t *testing.T, m *member, topics, after, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+"/api/v1/stream?topics="+topics, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", after)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), want) {
			return text.String()
		}
	}
	t.Fatalf("the stream of %s after %q ended before %s: %s", topics, after, want, text.String())
	return ""
}
