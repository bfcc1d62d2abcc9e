package deploy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrapeAll gives, for each series name that any node shows, the labels of each
// series. Histograms appear with the names of their series.
func scrapeAll(t *testing.T) map[string][]map[string]string {
	t.Helper()
	out := map[string][]map[string]string{}
	for _, addr := range theCluster(t) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range families {
			for _, m := range f.GetMetric() {
				labels := map[string]string{}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				names := []string{name}
				if f.GetType() == dto.MetricType_HISTOGRAM {
					names = []string{name + "_bucket", name + "_sum", name + "_count"}
				}
				for _, n := range names {
					out[n] = append(out[n], labels)
				}
			}
		}
	}
	return out
}

// quiet are panels that rightly show nothing on a healthy cluster of three nodes
// without HAProxy and with an etcd of one member.
var quiet = map[string]bool{
	"locks.json: Who holds":                    true, // locks are held for milliseconds
	"locks.json: Who meets a held lock":        true,
	"retries.json: Retries by scope and node":  true,
	"commits.json: All but committed":          true,
	"nodes.json: Up and draining":              true, // the query for draining nodes
	"nodes.json: Certificates end in":          true, // without TLS there are none
	"nodes.json: Answers of 5xx":               true,
	"nodes.json: Servers in the load balancer": true,
	"etcd.json: Round trip between members":    true,
	"work.json: Time that a script waits":      true, // none waits
	"workflows.json: Have work":                true, // bursts are short
}

func TestPrometheusAnswersThePanels(t *testing.T) {
	t.Parallel()
	program := tool(t, "prometheus", "prometheus")
	nodes := theCluster(t)
	dir, addr := t.TempDir(), freeAddr(t)
	// The jobs as in compose; the first node shows the etcd that it embeds.
	config := fmt.Sprintf("global: {scrape_interval: 500ms}\nscrape_configs:\n"+
		"  - job_name: weft\n    static_configs: [{targets: [%s]}]\n  - job_name: etcd\n    static_configs: [{targets: [%s]}]\n", strings.Join(nodes, ", "), nodes[0])
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log("prometheus said:\n" + log.String())
		}
	})
	// Some work between two scrapes, so that rates have something to tell.
	deadline := time.Now().Add(90 * time.Second) // instances are counted every 30 s
	missing := panelExpressions(t, "10s")
	for len(missing) > 0 && time.Now().Before(deadline) {
		if err := cluster().work(); err != nil {
			t.Fatal(err)
		}
		var still []expression
		for _, e := range missing {
			if n, err := answers(t.Context(), addr, e.text); n == 0 || err != nil {
				still = append(still, expression{e.where, e.text})
			}
		}
		if onlyQuiet(still) {
			return
		}
		missing = still
		time.Sleep(500 * time.Millisecond) // one scrape
	}
	for _, e := range missing {
		if !quiet[e.where] {
			_, err := answers(t.Context(), addr, e.text)
			t.Errorf("%s: no data (%v) for %s", e.where, err, e.text)
		}
	}
}

func onlyQuiet(es []expression) bool {
	for _, e := range es {
		if !quiet[e.where] {
			return false
		}
	}
	return true
}

// answers counts the numbers that Prometheus gives for a query.
func answers(ctx context.Context, addr, query string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/v1/query?query="+url.QueryEscape(query), nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, errors.New(answer.Error)
	}
	n := 0
	for _, r := range answer.Data.Result {
		if r.Value[1] != "NaN" { // what comes of nothing at all
			n++
		}
	}
	return n, nil
}
