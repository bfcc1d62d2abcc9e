package deploy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"
)

// expression is one query that somebody relies on.
type expression struct{ where, text string }

type alert struct {
	Alert       string
	Record      string // the name of a series that other rules ask for, and then it is no alert
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

// rules are the alerts, or what is recorded for them.
func rules(t *testing.T, recorded bool) []alert {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	decode(t, filepath.Join(root, "deploy/prometheus/alerts.yml"), yaml.Unmarshal, &file)
	var out []alert
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if (r.Record != "") == recorded {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("there are none (recorded: %v)", recorded)
	}
	return out
}

func alerts(t *testing.T) []alert { return rules(t, false) }

type dashboard struct {
	UID, Title string
	Panels     []struct {
		Title   string
		Targets []struct{ Expr string }
		GridPos struct{ X, Y, W, H int }

		Datasource  struct{ UID string }
		FieldConfig struct {
			Defaults struct{ NoValue string }
		}
	}
	Templating struct {
		List []struct{ Name string }
	}
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "deploy/grafana/dashboards/*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("dashboards: %d, %v", len(names), err)
	}
	out := map[string]dashboard{}
	for _, name := range names {
		var d dashboard
		decode(t, name, json.Unmarshal, &d)
		out[filepath.Base(name)] = d
	}
	return out
}

func decode(t *testing.T, name string, how func([]byte, any) error, to any) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err == nil {
		err = how(raw, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// panelExpressions are the queries of every panel, with Grafana's variables
// filled in.
func panelExpressions(t *testing.T, interval string) []expression {
	t.Helper()
	var out []expression
	for file, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				out = append(out, expression{file + ": " + p.Title, variables(interval).Replace(q.Expr)})
			}
		}
	}
	return out
}

// variables fills in what a reader of a dashboard chooses.
func variables(interval string) *strings.Replacer {
	return strings.NewReplacer("$__rate_interval", interval, "$cluster", "default", "$namespace", "", "$node", ".*", "$etcd", "")
}

// expressions are all of them.
func expressions(t *testing.T) []expression {
	t.Helper()
	out := panelExpressions(t, "1m")
	for _, a := range alerts(t) {
		out = append(out, expression{"alert " + a.Alert, a.Expr})
	}
	for _, r := range rules(t, true) {
		out = append(out, expression{"record " + r.Record, r.Expr})
	}
	return out
}

// selectors are the series that an expression asks for.
func selectors(t *testing.T, e expression) []*parser.VectorSelector {
	t.Helper()
	tree, err := parser.ParseExpr(e.text)
	if err != nil {
		t.Errorf("%s: %v", e.where, err)
		return nil
	}
	var out []*parser.VectorSelector
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			out = append(out, s)
		}
		return nil
	})
	return out
}

func TestEveryMetricExists(t *testing.T) {
	t.Parallel()
	scrape := scrapeAll(t)
	recorded := map[string]bool{}
	for _, r := range rules(t, true) {
		recorded[r.Record] = true
	}
	for _, e := range expressions(t) {
		for _, s := range selectors(t, e) {
			if elsewhere(s.Name) || recorded[s.Name] {
				continue
			}
			series, ok := scrape[s.Name]
			if !ok {
				t.Errorf("%s: no node shows %s", e.where, s.Name)
				continue
			}
			if !anySeries(series, s) {
				t.Errorf("%s: %s exists, and no series of it matches %s", e.where, s.Name, s)
			}
		}
	}
}

// Sums and maxima over two clusters of one name would tell of neither, and an alert of both never ends.
func TestNoExpressionIsOfTwoClusters(t *testing.T) {
	t.Parallel()
	for _, e := range panelExpressions(t, "1m") {
		for _, s := range selectors(t, e) {
			asked := map[string]bool{}
			for _, m := range s.LabelMatchers {
				asked[m.Name] = m.Name != "job" || m.Value != "haproxy" // one may stand in front of several
			}
			if !asked["namespace"] || asked["cluster"] == (s.Name == "up" || strings.HasPrefix(s.Name, "etcd_") || strings.HasPrefix(s.Name, "haproxy_")) {
				t.Errorf("%s: %s is not of the cluster that was chosen", e.where, s)
			}
		}
	}
	for _, r := range append(alerts(t), rules(t, true)...) {
		tree, err := parser.ParseExpr(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
			a, ok := n.(*parser.AggregateExpr)
			if !ok {
				return nil
			}
			by := map[string]bool{}
			for _, label := range a.Grouping {
				by[label] = true
			}
			if a.Without || !by["namespace"] || !by["cluster"] && !strings.Contains(r.Expr, `job="etcd"`) {
				t.Errorf("%s%s: %s is over clusters of several namespaces, or names", r.Alert, r.Record, a)
			}
			return nil
		})
	}
}

// elsewhere says which metrics a node does not show: Prometheus makes them
// itself, HAProxy shows them, etcd shows them only in a cluster of its own, or a node
// only with certificates (the tests of pkg/node look for that one).
func elsewhere(name string) bool {
	return name == "weft_certificate_expiry_timestamp_seconds" || name == "up" || name == "ALERTS" || strings.HasPrefix(name, "haproxy_") || name == "etcd_network_peer_round_trip_time_seconds_bucket"
}

// anySeries tells whether a live series has the labels that are asked for. Job, namespace
// and instance are Prometheus' own; outcomes that did not happen here are there
// at zero, but status codes and types of activities are not.
func anySeries(series []map[string]string, s *parser.VectorSelector) bool {
	for _, labels := range series {
		ok := true
		for _, m := range s.LabelMatchers {
			switch m.Name {
			case "__name__", "job", "instance", "namespace", "code":
				continue
			}
			value, there := labels[m.Name]
			ok = ok && there && m.Matches(value)
		}
		if ok {
			return true
		}
	}
	return false
}
