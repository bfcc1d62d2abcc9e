package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// Any node tells what an instance is at that another one runs: it asks that node.
func TestExplainTellsWhatAnotherNodeIsAt(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	out := newOutside(t)
	c.publish(t, "id: calling\ninputs: {url: string}\nroot:\n  - sendHttpRequest: {url: \"${{ inputs.url }}\", retries: 2}\n    id: charge\n")
	c.dispatch(t, c.members[0], "calling", "o", fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/o")))
	out.wait(t, "/o", 1)
	holder := c.holder(t, c.members[0], "o")
	if holder == nil {
		t.Fatal("nobody holds it")
	}
	for _, m := range c.members {
		x := c.must(t, m, "GET", "/api/v1/instances/o/explain", "", 200)
		doing, _ := x.body["doing"].(map[string]any)
		if x.text("state") != "running" || doing["activityId"] != "charge" || doing["activityType"] != "Elsa.SendHttpRequest" || doing["attempt"] != 1.0 {
			t.Errorf("%s explains %s", m.id, x)
		}
		owner, _ := x.body["owner"].(map[string]any)
		if owner["nodeId"] != holder.id || owner["self"] != (m == holder) {
			t.Errorf("%s says the owner is %v", m.id, owner)
		}
		if want := "node " + holder.id + " runs it"; !strings.Contains(x.text("summary"), want) || !strings.Contains(x.text("summary"), "it is at activity charge (Elsa.SendHttpRequest), since ") {
			t.Errorf("%s says %q", m.id, x.text("summary"))
		}
		b := objects(c.must(t, m, "GET", "/api/v1/nodes/"+holder.id+"/bursts", "", 200).body["items"])
		if len(b) != 1 || b[0]["instanceId"] != "o" {
			t.Errorf("%s tells of %s: %v", m.id, holder.id, b)
		}
	}
	if a := c.call(t, c.any(), "GET", "/api/v1/nodes/nobody/bursts", ""); a.status != 404 || a.text("code") != "node-not-found" {
		t.Errorf("of a node that is not there: %s", a)
	}
	out.release("/o")
	c.waitFor(t, c.any(), "o", "Finished")
}

// A node whose lock was taken while it called outside commits nothing, and says so: any
// node tells of it, beside the commits of the node that took over.
func TestOwnersTellOfTheNodeThatWasRefused(t *testing.T) {
	t.Parallel()
	c := inProcess(t, func(cfg *node.Config) { cfg.SessionTTL = 10 * time.Second })
	out := newOutside(t)
	c.publish(t, "id: calling\ninputs: {url: string}\nroot:\n  - event: go\n  - sendHttpRequest: \"${{ inputs.url }}\"\n")
	c.execute(t, c.members[0], "calling", "z", fmt.Sprintf(`{"correlationId": "z", "input": {"url": %q}}`, out.hold("/z")))
	c.must(t, c.members[0], "POST", "/api/v1/events/go", `{"correlationId": "z"}`, 202)
	out.wait(t, "/z", 1)
	zombie := c.holder(t, c.any(), "z")
	if zombie == nil {
		t.Fatal("nobody holds it")
	}
	etcd := c.etcd.Client(t)
	resp, err := etcd.Get(t.Context(), c.root()+"lock/instance/z/", clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil || len(resp.Kvs) == 0 {
		t.Fatalf("its lock: %v, %v", resp, err)
	}
	lost := resp.Kvs[0]
	if _, err := etcd.Delete(t.Context(), string(lost.Key)); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "another holding finishes it", func() bool { return c.instance(t, c.any(), "z").text("subStatus") == "Finished" })
	out.release("/z")
	for _, m := range c.members {
		var refusals []map[string]any
		polltest.Eventually(t, m.id+" tells of the refusal", func() bool {
			history, _ := c.must(t, m, "GET", "/api/v1/instances/z/owners", "", 200).body["history"].(map[string]any)
			refusals = objects(history["refusals"])
			return len(refusals) > 0
		})
		refused, _ := refusals[0]["refusal"].(map[string]any)
		if len(refusals) != 1 || refusals[0]["nodeId"] != zombie.id || refused["fence"] != float64(lost.CreateRevision) || refused["sequence"] != 2.0 || refused["instanceId"] != "z" {
			t.Errorf("%s says %v; it was %s with fence %d", m.id, refusals, zombie.id, lost.CreateRevision)
		}
		history, _ := c.must(t, m, "GET", "/api/v1/instances/z/explain", "", 200).body["history"].(map[string]any)
		periods := objects(history["periods"])
		last := periods[len(periods)-1]
		if last["to"] != 2.0 || history["before"] != 0.0 || len(objects(history["refusals"])) != 1 || len(history["unasked"].([]any)) != 0 {
			t.Errorf("%s explains with the history %v", m.id, history)
		}
		if last["takeover"] != true && last["nodeId"] != zombie.id {
			t.Errorf("%s made the commit in the place of %s, and that is no takeover: %v", last["nodeId"], zombie.id, periods)
		}
	}
}

// What another node sent lately is told by any node, and each is asked once for all that it
// knows.
func TestExplainAsksOtherNodesOnceForWhatTheySent(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: asks\nroot:\n  - event: approved\n")
	for _, id := range []string{"one", "two"} {
		c.execute(t, c.any(), "asks", id, fmt.Sprintf(`{"correlationId": "order %s"}`, id))
	}
	sender := c.members[0]
	c.must(t, sender, "POST", "/api/v1/events/approved", `{"correlationId": "order one"}`, 200)
	const miss = `it came for correlation "order one", and this one has "order two", and went to instance one`
	served := func(m *member) float64 {
		n, _ := c.tryMetric(t.Context(), m, "weft_http_requests_total", `route="/api/v1/nodes/{id}/memory"`) // without a request there is no series
		return n
	}
	for _, m := range c.members {
		before := served(sender)
		x := c.must(t, m, "GET", "/api/v1/instances/two/explain", "", 200)
		misses := objects(x.body["nearMisses"])
		if len(misses) != 1 || misses[0]["text"] != miss || misses[0]["where"] != "sent" {
			t.Errorf("%s explains %v", m.id, misses)
		}
		want := 1.0
		if m == sender {
			want = 0
		}
		if got := served(sender) - before; got != want {
			t.Errorf("%s asked %v times, want %v", m.id, got, want)
		}
		sent := objects(c.must(t, m, "GET", "/api/v1/events/aproved", "", 200).body["recent"])
		if len(sent) != 1 || sent[0]["nodeId"] != sender.id || sent[0]["first"] != "one" || sent[0]["met"] != 1.0 {
			t.Errorf("%s tells of %v", m.id, sent)
		}
		of := objects(c.must(t, m, "GET", "/api/v1/nodes/"+sender.id+"/memory?name=approved&instanceId=two", "", 200).body["events"])
		if len(of) != 1 || of[0]["correlationId"] != "order one" {
			t.Errorf("%s tells of %s: %v", m.id, sender.id, of)
		}
	}
	for _, m := range c.others(sender) {
		if a := c.must(t, m, "GET", "/api/v1/nodes/"+m.id+"/events?name=approved", "", 200); len(a.items()) > 0 {
			t.Errorf("%s sent nothing, and tells of %s", m.id, a)
		}
	}
	for _, query := range []string{"", "?instanceId=no%20id", "?name=", "?name=a&name=b&name=c&name=d&name=e&name=f"} {
		if a := c.call(t, sender, "GET", "/api/v1/nodes/"+sender.id+"/memory"+query, ""); a.status != 422 {
			t.Errorf("%q: %s", query, a)
		}
	}
}
