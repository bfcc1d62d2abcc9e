package node_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// times finds what a key or a value says about when: dates, and milliseconds
// since 1970.
var times = regexp.MustCompile(`\b(\d{4})-\d\d-\d\dT|[/ "](\d{13})\b`)

// newest are the lists in whose keys a time is what is left to the last that they can have.
var newest = regexp.MustCompile(`/(index|by-parent|by-correlation|label)/`)

// years gives the years that a text speaks of.
func years(text string) []int {
	var out []int
	for _, m := range times.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(m[1]+m[2], 10, 64)
		if m[2] != "" {
			if newest.MatchString(text) {
				n = 9_999_999_999_999 - n
			}
			n = int64(time.UnixMilli(n).UTC().Year())
		}
		out = append(out, int(n))
	}
	return out
}

// TestEveryClockOfANodeIsOne: a node whose clock is years off writes nothing into
// etcd that says otherwise, and its expressions and links go by that clock too.
func TestEveryClockOfANodeIsOne(t *testing.T) {
	for _, off := range []int{-15, 15} {
		t.Run(fmt.Sprint(off, " years"), func(t *testing.T) {
			t.Parallel()
			now := func() time.Time { return time.Now().AddDate(off, 0, 1) } // never New Year's Eve for both
			year := now().UTC().Year()
			etcd := clustertest.Start(t)
			lines := new(syncBuffer)
			n := start(t, node.Config{EtcdEndpoints: etcd.Endpoints(), Now: now, Lines: lines, QueueTTL: time.Second, PublicURL: "http://weft.example"})
			for id, root := range map[string]string{
				"says": "\n  - writeLine: \"${{ string(now()) }}\"\n  - writeLine: {javascript: \"new Date().toISOString()\"}\n  - writeLine: {liquid: \"{{ now | date: '%Y-%m-%d' }}\"}\n",
				"waits": "\n  - fork:\n      - {event: go, id: decision}\n      - runTask: {taskName: mail, payload: {link: \"${{ resumeUrl('decision', '', '1h') }}\"}}\n" +
					"      - delay: 1h\n      - delay: 10ms\n",
				"clockwork": "\n  - {cron: \"0 0 6 * * *\", trigger: true}\n",
				"breaks":    "\n  - fault: broken\n",
			} {
				if code, body := call(t, n, http.MethodPost, "/api/v1/definitions", "id: "+id+"\nroot:"+root); code != http.StatusCreated {
					t.Fatalf("%s: %d %v", id, code, body)
				}
			}
			for _, id := range []string{"says", "waits", "breaks"} {
				status, body, err := keyed(t.Context(), n, "/api/v1/definitions/"+id+"/execute", fmt.Sprintf(`{"instanceId": %q}`, id))
				if err != nil || status >= 300 {
					t.Fatal(id, status, body, err)
				}
			}
			if _, body, err := keyed(t.Context(), n, "/api/v1/events/nobody", `{"payload": {}}`); err != nil || !strings.Contains(body, "queued") {
				t.Fatal(body, err)
			}
			polltest.Eventually(t, "the queued event is a dead letter", func() bool {
				_, page, err := try(t.Context(), n, http.MethodGet, "/api/v1/dead-letters", "")
				items, _ := page["items"].([]any)
				return err == nil && len(items) == 1
			})
			client, err := clientv3.New(clientv3.Config{Endpoints: etcd.Endpoints()})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			all, err := client.Get(t.Context(), "", clientv3.WithPrefix())
			if err != nil {
				t.Fatal(err)
			}
			spoke := 0
			for _, kv := range all.Kvs {
				if strings.Contains(string(kv.Key), "/idem-expiry/") {
					continue // these are ages of the cluster
				}
				for _, text := range []string{string(kv.Key), string(kv.Value)} {
					for _, y := range years(text) {
						if spoke++; y != year && !strings.Contains(string(kv.Key), "/cron/") {
							t.Errorf("year %d, want %d: %s = %s", y, year, kv.Key, kv.Value)
						}
					}
				}
			}
			if spoke < 30 {
				t.Errorf("only %d times are in etcd", spoke)
			}
			said := lines.String()
			if n := strings.Count(said, fmt.Sprintf("%d-", year)); n != 3 {
				t.Errorf("%d of 3 languages know the year:\n%s", n, said)
			}
			_, tasks := call(t, n, http.MethodGet, "/api/v1/tasks", "")
			link := regexp.MustCompile(`http://weft.example(/links/[^ \]]+)`).FindStringSubmatch(fmt.Sprint(tasks))
			if link == nil {
				t.Fatalf("no link: %v", tasks)
			}
			resp, err := http.Get("http://" + n.HTTPAddr() + link[1])
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("the link: %d", resp.StatusCode)
			}
		})
	}
}

// keyed sends a request with an Idempotency-Key.
func keyed(ctx context.Context, n *node.Node, path, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.HTTPAddr()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Idempotency-Key", path)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}
